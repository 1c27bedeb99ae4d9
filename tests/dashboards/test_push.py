"""Delivery to Grafana through grafana-api over HTTP; every failure is a one-line error."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.commands import run
from tests.dashboards.grafana_operations import problem_of
from tests.dashboards.grafana_server import PASSWORD, TOKEN, Grafana, serve
from tests.docs.schemas import conforming
from typer.testing import CliRunner, Result

from railfab.cli.dashboards import app
from railfab.dashboards import ALERTS, BOARDS, Datasource, Delivery, DeliveryError, board_document, push
from railfab.dashboards.grafana import GrafanaLogin, GrafanaSink, grafana_login
from railfab.gnmi.certificates import Authority

OURS = board_document(BOARDS["fabric"])
UID = OURS["uid"]
ACCOUNT = GrafanaLogin(TOKEN)


@pytest.fixture(autouse=True)
def no_login_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRAFANA_TOKEN", "GRAFANA_USERNAME", "GRAFANA_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def _pushed(url: str, login: GrafanaLogin = ACCOUNT, *, overwrite: bool = False) -> list[Delivery]:
    datasource = Datasource(url="http://prometheus:9090")
    return list(push(GrafanaSink(url, login), BOARDS, datasource=datasource, overwrite=overwrite))


def test_folder_datasource_and_board_arrive(grafana: Grafana) -> None:
    assert [(one.kind, one.changed) for one in _pushed(grafana.url)] == [
        ("folder", True),
        ("datasource", True),
        *[("dashboard", True)] * len(BOARDS),
    ]
    assert grafana.folders["railfab"]["title"] == "railfab"
    assert grafana.datasources["railfab"]["url"] == "http://prometheus:9090"
    assert grafana.placed == {board.uid: "railfab" for board in BOARDS.values()}
    assert grafana.dashboards[UID] == {**OURS, "id": 1, "version": 1}


def test_pushing_twice_changes_nothing(grafana: Grafana) -> None:
    _pushed(grafana.url)
    before = len(grafana.requests)
    assert not any(one.changed for one in _pushed(grafana.url))
    assert {request.partition(" ")[0] for request in grafana.requests[before:]} == {"GET"}


def test_a_user_with_a_password_may_push_too(grafana: Grafana) -> None:
    assert all(one.changed for one in _pushed(grafana.url, GrafanaLogin(PASSWORD, "admin")))


def test_a_request_that_the_api_does_not_describe_is_noticed() -> None:
    assert problem_of("PUT", "/datasources/1", {}, 200, {}) == (
        "PUT /datasources/1 is no operation that is described and not deprecated"
    )
    assert problem_of("POST", "/folders", {"id": 1}, 200, {}) == "POST /folders takes no id"
    assert problem_of("POST", "/datasources", {}, 200, {"id": 1, "name": "a"}) == (
        "POST /datasources answers with datasource, message"
    )
    assert problem_of("GET", "/folders/a", None, 412, {}) == "GET /folders/{uid} does not answer 412"
    assert problem_of("GET", "/annotations?tag=a", None, 200, []) == "GET /annotations has no filter tag"


def test_a_datasource_that_points_elsewhere_is_corrected(grafana: Grafana) -> None:
    _pushed(grafana.url)
    grafana.datasources["railfab"]["url"] = "http://elsewhere:9090"
    assert [one.kind for one in _pushed(grafana.url) if one.changed] == ["datasource"]
    assert grafana.datasources["railfab"]["url"] == "http://prometheus:9090"


def test_a_changed_board_is_kept_without_overwrite(grafana: Grafana) -> None:
    _pushed(grafana.url)
    grafana.save_by_hand(UID, title="Mine")
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: dashboard {UID} exists (version 2) and differs from the built one. "
        "Use --overwrite to replace it; Grafana keeps the old version in its history."
    )
    assert grafana.dashboards[UID]["title"] == "Mine"
    assert [one.kind for one in _pushed(grafana.url, overwrite=True) if one.changed] == ["dashboard"]
    assert grafana.dashboards[UID] == {**OURS, "id": 1, "version": 3}


def test_a_board_saved_during_the_push_is_not_overwritten(grafana: Grafana) -> None:
    _pushed(grafana.url)
    grafana.save_by_hand(UID, title="Mine")
    grafana.before_saving = lambda: grafana.save_by_hand(UID, title="Mine, newer")
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url, overwrite=True)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: it responded 412 The dashboard has been changed by someone else. "
        "The dashboard was saved by another user since it was read; check it, then push again."
    )
    assert grafana.dashboards[UID]["title"] == "Mine, newer"


def _with_alerts(grafana: Grafana, *, overwrite: bool = False, interval_s: int = 15) -> dict[str, bool]:
    source = Datasource(url="http://prometheus:9090", interval_s=interval_s)
    pushed = push(
        GrafanaSink(grafana.url, ACCOUNT),
        {},
        datasource=source,
        alerts=ALERTS,
        runbooks="https://runbooks.example",
        overwrite=overwrite,
    )
    return {each.kind: each.changed for each in pushed}


def test_alerts_become_rules_of_grafana_and_a_second_push_changes_nothing(grafana: Grafana) -> None:
    assert _with_alerts(grafana) == {"folder": True, "datasource": True, "alerts": True}
    before = len(grafana.requests)
    assert not any(_with_alerts(grafana).values())
    assert {request.partition(" ")[0] for request in grafana.requests[before:]} == {"GET"}
    group = grafana.rules["railfab"]
    assert (group["interval"], len(group["rules"])) == (20, len(ALERTS))
    down = next(rule for rule in group["rules"] if rule["title"] == "FabricLinkDown")
    query, condition = down["data"]
    (alert,) = (alert for alert in ALERTS if alert.alert == "FabricLinkDown")
    assert (query["model"]["expr"], query["datasourceUid"]) == (alert.expr, Datasource().uid)
    assert condition["model"]["expression"] == "is_number($A)", "a port that is down has the value 0"
    assert (down["for"], down["keep_firing_for"], down["labels"]) == ("1m", "2m", {"severity": "critical"})
    assert down["annotations"]["runbook_url"] == "https://runbooks.example/FabricLinkDown.md"
    texts = [text for rule in group["rules"] for text in rule["annotations"].values()]
    assert not [text for text in texts if "$value " in text or "| query" in text]


def test_changed_alert_rules_are_kept_without_overwrite(grafana: Grafana) -> None:
    _with_alerts(grafana)
    grafana.rules["railfab"]["rules"][0]["for"] = "1h"
    with pytest.raises(DeliveryError) as caught:
        _with_alerts(grafana)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: the alert rules railfab exist and differ from the built ones. "
        "Use --overwrite to replace them."
    )
    assert _with_alerts(grafana, overwrite=True)["alerts"]
    assert not _with_alerts(grafana)["alerts"]


def test_alert_rules_that_are_missing_or_too_many_are_noticed(grafana: Grafana) -> None:
    _with_alerts(grafana)
    rules = grafana.rules["railfab"]["rules"]
    grafana.rules["railfab"]["rules"] = rules[:-1]
    assert _with_alerts(grafana, overwrite=True)["alerts"]
    grafana.rules["railfab"]["rules"].append({**rules[0], "uid": "other", "title": "other"})
    assert _with_alerts(grafana, overwrite=True)["alerts"]
    assert len(grafana.rules["railfab"]["rules"]) == len(ALERTS)


def test_a_wrong_token_is_refused(grafana: Grafana) -> None:
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url, GrafanaLogin("wrong"))
    assert str(caught.value) == (
        f"Grafana {grafana.url}: the login was refused. Check GRAFANA_TOKEN, or the user and password."
    )


def test_a_closed_port_is_an_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DeliveryError) as caught:
        _pushed(url)
    assert str(caught.value) == (
        f"Grafana {url}: not reachable: Connection refused. Check the URL, and that Grafana is running."
    )


def test_an_unknown_host_name_is_an_error() -> None:
    with pytest.raises(DeliveryError, match=r"not reachable: .*(Name or service|name resolution|No address)"):
        _pushed("http://grafana.invalid")


@pytest.mark.parametrize("page", ["<html>Please log in</html>", '"a message"', "[]"])
@pytest.mark.parametrize("status", [200, 502])
def test_a_response_of_another_server_is_an_error(grafana: Grafana, status: int, page: str) -> None:
    grafana.page = (status, page)
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url)
    assert str(caught.value).startswith(f"Grafana {grafana.url}: ")
    assert "\n" not in str(caught.value)


def test_an_html_page_is_an_error(grafana: Grafana) -> None:
    grafana.page = (502, "<html>no message for you</html>")
    with pytest.raises(
        DeliveryError, match=r"the response is not from Grafana's API\. Check the URL, and whether a proxy"
    ):
        _pushed(grafana.url)


def test_a_wrong_path_is_an_error(grafana: Grafana) -> None:
    with pytest.raises(DeliveryError, match=r"it responded 404 Not found\. Check the URL including its path\."):
        _pushed(f"{grafana.url}/elsewhere")


def test_an_account_without_permission_is_an_error_with_the_role(grafana: Grafana) -> None:
    grafana.page = (403, json.dumps({"message": "You'll need additional permissions"}))
    with pytest.raises(DeliveryError, match=r"it responded 403 You'll need .* Give the account the role Editor"):
        _pushed(grafana.url)


@pytest.fixture
def secure_grafana(tmp_path: Path) -> Iterator[tuple[Grafana, Path]]:
    """A Grafana behind TLS, and the file of the authority that signed its certificate."""
    authority = Authority("test")
    identity = authority.issue("grafana")
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    (tmp_path / "server.pem").write_bytes(identity.certificate + identity.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    grafana = Grafana()
    with serve(grafana, context):
        yield grafana, tmp_path / "ca.pem"


def test_a_certificate_of_an_unknown_ca_is_refused(secure_grafana: tuple[Grafana, Path]) -> None:
    grafana, _ = secure_grafana
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: its certificate is not trusted: unable to get local issuer certificate. "
        "Use --ca with the PEM file of its CA."
    )
    assert grafana.requests == []


def test_a_certificate_of_the_given_ca_is_accepted(secure_grafana: tuple[Grafana, Path]) -> None:
    grafana, authority = secure_grafana
    sink = GrafanaSink(grafana.url, GrafanaLogin(TOKEN), ca=authority)
    assert sink.ensure_folder("railfab", "railfab")


def test_a_missing_ca_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DeliveryError, match=r"absent.pem: does not exist\. Use the PEM file of the CA"):
        GrafanaSink("https://grafana", GrafanaLogin(TOKEN), ca=tmp_path / "absent.pem")


@pytest.mark.parametrize("url", ["grafana:3000", "ftp://grafana", "https://", "grafana", "http://grafana:port"])
def test_an_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(DeliveryError, match="is not a Grafana URL"):
        GrafanaSink(url, GrafanaLogin(TOKEN))


def test_a_login_in_the_url_is_refused_and_not_printed() -> None:
    with pytest.raises(DeliveryError, match="it contains a login") as caught:
        GrafanaSink("https://admin:hunter2@grafana", GrafanaLogin(TOKEN))
    assert "hunter2" not in str(caught.value)


def test_the_login_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    everything = {"GRAFANA_TOKEN": "t", "GRAFANA_USERNAME": "u", "GRAFANA_PASSWORD": "p"}
    assert grafana_login(everything, tmp_path / "token") == GrafanaLogin("from-file")
    assert grafana_login(everything) == GrafanaLogin("t")
    assert grafana_login({"GRAFANA_USERNAME": "u", "GRAFANA_PASSWORD": "p"}) == GrafanaLogin("p", "u")
    assert "hunter2" not in repr(GrafanaLogin("hunter2", "admin"))


def test_no_login_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(DeliveryError, match=r"Grafana: no login is set. Set GRAFANA_TOKEN"):
        grafana_login({})
    with pytest.raises(
        DeliveryError, match=r"absent: cannot be read: No such file.* Use a file that contains the token"
    ):
        grafana_login({}, tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(DeliveryError, match=r"binary: is not a text file\. Use a file that contains the token\."):
        grafana_login({}, tmp_path / "binary")
    with pytest.raises(DeliveryError, match=r"empty: is empty\. Write the token of a service account to it"):
        grafana_login({}, tmp_path / "empty")


def _command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["push", *arguments])


def test_the_command_pushes_and_prints_what_changed(grafana: Grafana, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAFANA_TOKEN", TOKEN)
    first = _command("--url", grafana.url, "--output", "json")
    assert first.exit_code == 0, first.output
    assert conforming("dashboards-push", first.stdout) == [
        {"kind": "folder", "name": "railfab", "changed": True},
        *({"kind": "dashboard", "name": board.title, "changed": True} for board in BOARDS.values()),
    ]
    second = _command("--url", grafana.url, "--prometheus", "http://prometheus:9090", "--interval", "5", "--alerts")
    assert second.stdout.count("unchanged") == 1 + len(BOARDS)
    assert grafana.datasources["railfab"]["jsonData"]["timeInterval"] == "5s"
    assert grafana.rules["railfab"]["interval"] == 10
    without = _command("--url", grafana.url, "--alerts")
    assert (without.exit_code, "Add --prometheus, or leave out --alerts" in " ".join(without.output.split())) == (
        2,
        True,
    )


def _railfab(*arguments: str, token: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if token is None else {"GRAFANA_TOKEN": token})}
    return run("dashboards", "push", *arguments, environment=environment)


def test_an_error_is_one_line_and_exit_code_2(grafana: Grafana) -> None:
    refused = _railfab("--url", grafana.url, token="wrong")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"railfab: Grafana {grafana.url}: the login was refused. Check GRAFANA_TOKEN, or the user and password.\n"
    )
    closed = _railfab("--url", "http://127.0.0.1:1", token="any")
    assert closed.returncode == 2
    assert closed.stderr.count("\n") == 1
    assert "Connection refused" in closed.stderr
    nobody = _railfab("--url", grafana.url, token=None)
    assert nobody.returncode == 2
    assert nobody.stderr.startswith("railfab: Grafana: no login is set.")
