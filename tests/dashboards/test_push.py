"""Boards reach a Grafana through grafana-api, over HTTP, and every way to fail is one clear line."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.dashboards.grafana_server import PASSWORD, TOKEN, Grafana, serve
from typer.testing import CliRunner, Result

from railfab.cli.dashboards import app
from railfab.dashboards import Datasource, Delivery, DeliveryError, board_document, boards, push
from railfab.dashboards.grafana import GrafanaLogin, GrafanaSink, grafana_login
from railfab.gnmi.certificates import Authority

OURS = board_document(boards()["overview"])
UID = OURS["uid"]
ACCOUNT = GrafanaLogin(TOKEN)


@pytest.fixture(autouse=True)
def no_login_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRAFANA_TOKEN", "GRAFANA_USERNAME", "GRAFANA_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def _pushed(url: str, login: GrafanaLogin = ACCOUNT, *, overwrite: bool = False) -> list[Delivery]:
    datasource = Datasource(url="http://prometheus:9090")
    return list(push(GrafanaSink(url, login), boards(), datasource=datasource, overwrite=overwrite))


def test_folder_datasource_and_board_arrive(grafana: Grafana) -> None:
    assert [(one.kind, one.changed) for one in _pushed(grafana.url)] == [
        ("folder", True),
        ("datasource", True),
        ("dashboard", True),
    ]
    assert grafana.folders["railfab"]["title"] == "railfab"
    assert grafana.datasources["railfab"]["url"] == "http://prometheus:9090"
    assert grafana.placed == {UID: "railfab"}
    assert grafana.dashboards[UID] == {**OURS, "id": 1, "version": 1}


def test_pushing_twice_changes_nothing(grafana: Grafana) -> None:
    _pushed(grafana.url)
    before = len(grafana.requests)
    assert not any(one.changed for one in _pushed(grafana.url))
    assert {request.partition(" ")[0] for request in grafana.requests[before:]} == {"GET"}


def test_a_user_with_a_password_may_push_too(grafana: Grafana) -> None:
    assert all(one.changed for one in _pushed(grafana.url, GrafanaLogin(PASSWORD, "admin")))


def test_a_datasource_that_points_elsewhere_is_corrected(grafana: Grafana) -> None:
    _pushed(grafana.url)
    grafana.datasources["railfab"]["url"] = "http://elsewhere:9090"
    assert [one.kind for one in _pushed(grafana.url) if one.changed] == ["datasource"]
    assert grafana.datasources["railfab"]["url"] == "http://prometheus:9090"


def test_a_board_that_somebody_changed_is_kept_unless_told_otherwise(grafana: Grafana) -> None:
    _pushed(grafana.url)
    grafana.save_by_hand(UID, title="Mine")
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: dashboard {UID} is there (version 2) and differs from ours. "
        "Use --overwrite to replace it; Grafana keeps the old version in its history."
    )
    assert grafana.dashboards[UID]["title"] == "Mine"
    assert [one.kind for one in _pushed(grafana.url, overwrite=True) if one.changed] == ["dashboard"]
    assert grafana.dashboards[UID] == {**OURS, "id": 1, "version": 3}


def test_a_board_that_is_saved_while_we_push_is_not_lost(grafana: Grafana) -> None:
    _pushed(grafana.url)
    grafana.save_by_hand(UID, title="Mine")
    grafana.before_saving = lambda: grafana.save_by_hand(UID, title="Mine, newer")
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url, overwrite=True)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: it answered 412 The dashboard has been changed by someone else. "
        "Somebody else saved it meanwhile; look at it, then run again."
    )
    assert grafana.dashboards[UID]["title"] == "Mine, newer"


def test_a_wrong_token_is_refused(grafana: Grafana) -> None:
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url, GrafanaLogin("wrong"))
    assert str(caught.value) == (
        f"Grafana {grafana.url}: the login was refused. Check GRAFANA_TOKEN, or the user and password."
    )


def test_a_closed_port_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DeliveryError) as caught:
        _pushed(url)
    assert str(caught.value) == (
        f"Grafana {url}: not reachable: Connection refused. Check the URL, and that Grafana runs."
    )


def test_a_name_that_does_not_exist_is_said() -> None:
    with pytest.raises(DeliveryError, match=r"not reachable: .*(Name or service|name resolution|No address)"):
        _pushed("http://grafana.invalid")


@pytest.mark.parametrize("page", ["<html>Please log in</html>", '"a message"', "[]"])
@pytest.mark.parametrize("status", [200, 502])
def test_something_else_than_grafana_is_recognised(grafana: Grafana, status: int, page: str) -> None:
    grafana.page = (status, page)
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url)
    assert str(caught.value).startswith(f"Grafana {grafana.url}: ")
    assert "\n" not in str(caught.value)


def test_a_page_for_people_is_no_answer(grafana: Grafana) -> None:
    grafana.page = (502, "<html>no message for you</html>")
    with pytest.raises(DeliveryError, match=r"the answer is not one of Grafana's\. Check the URL, and that no proxy"):
        _pushed(grafana.url)


def test_a_wrong_path_is_said(grafana: Grafana) -> None:
    with pytest.raises(DeliveryError, match=r"it answered 404 Not found\. Check the URL, its path included\."):
        _pushed(f"{grafana.url}/elsewhere")


def test_an_account_that_may_not_is_told_what_it_needs(grafana: Grafana) -> None:
    grafana.page = (403, json.dumps({"message": "You'll need additional permissions"}))
    with pytest.raises(DeliveryError, match=r"it answered 403 You'll need .* Give the account the role Editor"):
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


def test_a_certificate_of_a_stranger_is_not_trusted(secure_grafana: tuple[Grafana, Path]) -> None:
    grafana, _ = secure_grafana
    with pytest.raises(DeliveryError) as caught:
        _pushed(grafana.url)
    assert str(caught.value) == (
        f"Grafana {grafana.url}: its certificate is not trusted: unable to get local issuer certificate. "
        "Name the authority's PEM file with --ca."
    )
    assert grafana.requests == []


def test_a_certificate_of_a_named_authority_is_trusted(secure_grafana: tuple[Grafana, Path]) -> None:
    grafana, authority = secure_grafana
    sink = GrafanaSink(grafana.url, GrafanaLogin(TOKEN), ca=authority)
    assert sink.ensure_folder("railfab", "railfab")


def test_an_authority_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DeliveryError, match=r"absent.pem: there is no such file\. Name the authority's PEM file"):
        GrafanaSink("https://grafana", GrafanaLogin(TOKEN), ca=tmp_path / "absent.pem")


@pytest.mark.parametrize("url", ["grafana:3000", "ftp://grafana", "https://", "grafana", "http://grafana:port"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(DeliveryError, match="is no address of a Grafana"):
        GrafanaSink(url, GrafanaLogin(TOKEN))


def test_a_secret_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(DeliveryError, match="it holds a login") as caught:
        GrafanaSink("https://admin:hunter2@grafana", GrafanaLogin(TOKEN))
    assert "hunter2" not in str(caught.value)


def test_the_login_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    everything = {"GRAFANA_TOKEN": "t", "GRAFANA_USERNAME": "u", "GRAFANA_PASSWORD": "p"}
    assert grafana_login(everything, tmp_path / "token") == GrafanaLogin("from-file")
    assert grafana_login(everything) == GrafanaLogin("t")
    assert grafana_login({"GRAFANA_USERNAME": "u", "GRAFANA_PASSWORD": "p"}) == GrafanaLogin("p", "u")
    assert "hunter2" not in repr(GrafanaLogin("hunter2", "admin"))


def test_no_login_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(DeliveryError, match=r"Grafana: there is no login. Set GRAFANA_TOKEN"):
        grafana_login({})
    with pytest.raises(DeliveryError, match=r"absent: cannot be read: No such file.* Name a file that holds the token"):
        grafana_login({}, tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(DeliveryError, match=r"binary: is no text\. Name a file that holds the token\."):
        grafana_login({}, tmp_path / "binary")
    with pytest.raises(DeliveryError, match=r"empty: is empty\. Put the token of a service account into it"):
        grafana_login({}, tmp_path / "empty")


def _command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["push", *arguments])


def test_the_command_pushes_and_prints_what_changed(grafana: Grafana, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAFANA_TOKEN", TOKEN)
    first = _command("--url", grafana.url, "--output", "json")
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout) == [
        {"kind": "folder", "name": "railfab", "changed": True},
        {"kind": "dashboard", "name": "Fabric overview", "changed": True},
    ]
    second = _command("--url", grafana.url, "--prometheus", "http://prometheus:9090", "--interval", "5")
    assert second.stdout.count("unchanged") == 2
    assert grafana.datasources["railfab"]["jsonData"]["timeInterval"] == "5s"


def _railfab(*arguments: str, token: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if token is None else {"GRAFANA_TOKEN": token})}
    command = [sys.executable, "-m", "railfab", "dashboards", "push", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def test_what_goes_wrong_is_one_line_and_exit_code_2(grafana: Grafana) -> None:
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
    assert nobody.stderr.startswith("railfab: Grafana: there is no login.")
