"""`railfab targets check`: what is wrong with targets before anything is collected from them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import Result
from pygnmi.spec.v080 import gnmi_pb2_grpc
from tests.docs.schemas import conforming
from tests.telemetry.odd import Odd
from tests.telemetry.rack import CREDENTIALS, Rack
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import Endpoint, Endpoints, save_endpoints
from railfab.gnmi import certificates
from railfab.gnmi.certificates import Authority
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.platforms import platform

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
KEPT = ("/interface[name=*]/statistics", "/interface[name=*]/oper-state")
"""Paths that the rack serves."""


@pytest.fixture
def mappings(tmp_path: Path) -> Path:
    """Drop every subscription of SR Linux but two."""
    path = tmp_path / "only.yml"
    dropped = [one.path for one in platform("srlinux").telemetry.subscriptions if one.path not in KEPT]
    lines = "".join(f"      - {{path: '{one}', drop: true}}\n" for one in dropped)
    path.write_text(f"version: 1\nplatforms:\n  srlinux:\n    subscriptions:\n{lines}")
    return path


def checked(rack: Rack, folder: Path, mappings: Path, *arguments: str, **changes: object) -> Result:
    """The check of the rack, of which the leaf is changed."""
    path = folder / "endpoints.json"
    nodes = (rack.endpoint(LEAF, **changes), rack.endpoint(SPINE))
    save_endpoints(path, Endpoints(fabric="pod64", backend="inventory", nodes=nodes))
    command = ["targets", "check", "--targets", str(path), "--map", str(mappings), *arguments]
    return CliRunner().invoke(app, command, env={"COLUMNS": "80"})


def test_targets_that_are_well_are_a_table_and_exit_0(rack: Rack, tmp_path: Path, mappings: Path) -> None:
    done = checked(rack, tmp_path, mappings)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[1].split() == ["target", "login", "TLS", "until", "encodings", "skew", "paths"]
    assert lines[2].split()[:2] == [LEAF, "ok"]
    assert "2 of 2" in lines[2]
    assert lines[-1] == "2 of 2 targets without findings"
    assert max(map(len, lines)) <= 80


def test_a_document_has_what_each_path_gave(rack: Rack, tmp_path: Path, mappings: Path) -> None:
    document = conforming("targets-check", checked(rack, tmp_path, mappings, "--output", "json").output)
    target = document["targets"][0]
    assert (target["target"], target["reachable"], target["logged_in"], target["tls_verified"]) == (LEAF, *[True] * 3)
    assert abs(target["skew_s"]) < 2
    assert "PROTO" in target["encodings"]
    statistics, state = target["paths"]
    assert (statistics["path"], statistics["leaves"], statistics["unmapped"]) == (KEPT[0], 4, 2)
    assert (state["path"], state["mode"], state["leaves"]) == (KEPT[1], "on_change", 2)
    assert document["findings"] == []


@pytest.mark.parametrize(
    ("changes", "row", "finding"),
    [
        ({"credentials": "env:CHECK_TEST"}, "refused", "rejects the login of admin"),
        (
            {"gnmi_port": 1},
            "unreachable",
            "no answer from 127.0.0.1:1 (connection refused). Check that the switch is up",
        ),
        ({"ca": None}, "-", "is not trusted (unable to get local issuer certificate). Set the endpoint's ca"),
        ({"credentials": "env:CHECK_NOT_SET"}, "not", "the environment lacks CHECK_NOT_SET_USERNAME and"),
        ({"platform": "sros"}, "ok", "platform 'sros' has no telemetry map. Correct it, or describe it with --map"),
        ({"plaintext": True, "ca": None}, "unreachable", "speaks TLS, and the endpoint says plaintext"),
    ],
)
def test_a_fault_of_one_target_is_one_line_and_the_others_are_checked(
    rack: Rack,
    tmp_path: Path,
    mappings: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    row: str,
    finding: str,
) -> None:
    monkeypatch.setenv("CHECK_TEST_USERNAME", "admin")
    monkeypatch.setenv("CHECK_TEST_PASSWORD", "a wrong secret")
    done = checked(rack, tmp_path, mappings, **changes)
    assert done.exit_code == 1, done.output
    table = done.output.splitlines()
    assert table[2].split()[1] == row
    assert "2 of 2" in table[3]
    (line,) = [line for line in table if line.startswith(f"{LEAF}: ")]
    assert finding in line
    assert "a wrong secret" not in done.output
    assert CREDENTIALS.password not in done.output


def test_an_expired_certificate_is_shown_with_its_date(
    rack: Rack, server_loop: ServerLoop, tmp_path: Path, mappings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "VALID_DAYS", -1 / 1440)
    authority = Authority("expired")
    server = GnmiServer(rack.switches[LEAF], server_loop, credentials=CREDENTIALS, identity=authority.issue(LEAF))
    done = checked(rack, tmp_path, mappings, "--output", "json", gnmi_port=server.start())
    server.stop()
    target = json.loads(done.output)["targets"][0]
    assert target["tls_until"] < json.loads(done.output)["targets"][1]["tls_until"]
    assert (target["reachable"], target["logged_in"]) == (True, None)
    assert "certificate" in json.loads(done.output)["findings"][0]["problem"]


def test_a_certificate_that_ends_soon_is_a_finding(
    rack: Rack, server_loop: ServerLoop, tmp_path: Path, mappings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "VALID_DAYS", 3)
    authority = Authority("soon")
    ca = tmp_path / "soon.pem"
    ca.write_bytes(authority.certificate)
    server = GnmiServer(rack.switches[LEAF], server_loop, credentials=CREDENTIALS, identity=authority.issue(LEAF))
    done = checked(rack, tmp_path, mappings, gnmi_port=server.start(), ca=str(ca))
    server.stop()
    assert done.exit_code == 1
    assert "the certificate expires on 20" in done.output


def test_paths_without_data_are_named_and_counted(rack: Rack, tmp_path: Path, mappings: Path) -> None:
    lines = mappings.read_text().splitlines(keepends=True)
    mappings.write_text("".join(line for line in lines if "/interface[name=*]/admin-state" not in line))
    done = checked(rack, tmp_path, mappings)
    assert done.exit_code == 1
    assert f"{SPINE}: has no data at /interface[name=*]/admin-state." in done.output
    assert "/interface[name=*]/admin-state     0     2        0" in done.output
    assert "0 of 2 targets without findings" in done.output


def test_a_target_that_tells_no_capabilities_is_asked_for_its_paths_all_the_same(
    tmp_path: Path, mappings: Path
) -> None:
    authority = Authority("odd")
    identity = authority.issue(LEAF)
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    odd = Odd(encodings=("JSON_IETF",), lacks="oper-state", stamp=lambda: time.time_ns() - 60 * 10**9)
    gnmi_pb2_grpc.add_gNMIServicer_to_server(odd, server)
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(identity.key, identity.certificate)]))
    server.start()
    node = Endpoint(
        name=LEAF, platform="srlinux", host="127.0.0.1", gnmi_port=port, ca=str(tmp_path / "ca.pem"), credentials="none"
    )
    save_endpoints(tmp_path / "odd.json", Endpoints(fabric="pod64", backend="inventory", nodes=(node,)))
    command = [
        "targets",
        "check",
        "--targets",
        str(tmp_path / "odd.json"),
        "--map",
        str(mappings),
        "--output",
        "json",
    ]
    done = CliRunner().invoke(app, command)
    server.stop(0.1).wait()
    (target,) = json.loads(done.output)["targets"]
    assert (done.exit_code, target["encodings"], target["logged_in"]) == (1, None, True)
    assert [path["leaves"] for path in target["paths"]] == [1, 0]
    said = [finding["problem"] for finding in json.loads(done.output)["findings"]]
    assert said[0] == "its clock is 60 s behind ours. Synchronise both with NTP"
    refusal = "Path not valid - unknown element 'oper-state'\x1b[0m"
    assert said[1].startswith(f"refuses /interface[name=*]/oper-state ({refusal})")


class LosesLogin(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """A target that lacks the first path, and then takes the login no more."""

    asked = 0

    def Subscribe(self, requests: Any, context: Any) -> None:
        self.asked += 1
        if self.asked == 1:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such path")
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "the session has expired")


def odd_check(folder: Path, mappings: Path, servicer: Any, names: Sequence[str] = (LEAF,)) -> Result:
    """The check of targets with these names, all at one server without TLS. servicer: None for one without gNMI."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    if servicer is not None:
        gnmi_pb2_grpc.add_gNMIServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    at = {"host": "127.0.0.1", "gnmi_port": port, "plaintext": True, "credentials": "none"}
    nodes = tuple(Endpoint(name=name, platform="srlinux", **at) for name in names)
    save_endpoints(folder / "odd.json", Endpoints(fabric="pod64", backend="inventory", nodes=nodes))
    command = ["targets", "check", "--targets", str(folder / "odd.json"), "--map", str(mappings)]
    done = CliRunner().invoke(app, command)
    server.stop(0.1).wait()
    return done


def findings_of(done: Result) -> list[str]:
    return [line for line in done.output.splitlines() if line.startswith((f"{LEAF}: ", "pod1-seg1-leaf["))]


def test_a_login_that_is_refused_says_nothing_about_the_paths(tmp_path: Path, mappings: Path) -> None:
    done = odd_check(tmp_path, mappings, LosesLogin())
    (line,) = findings_of(done)
    assert "(the session has expired). Check the user name and password" in line
    assert "Drop" not in done.output


def test_a_server_without_gnmi_is_one_finding_of_all_targets_that_have_it(tmp_path: Path, mappings: Path) -> None:
    done = odd_check(tmp_path, mappings, None, ["pod1-seg1-leaf1", "pod1-seg1-leaf2"])
    (line,) = findings_of(done)
    assert line.startswith("pod1-seg1-leaf[1-2]: refuses all 2 paths (Method not found!). Check that it serves gNMI")
    assert done.exit_code == 1


def test_a_check_where_no_target_answers_ends_with_2(rack: Rack, tmp_path: Path, mappings: Path) -> None:
    path = tmp_path / "dead.json"
    dead = replace(rack.endpoint(LEAF), gnmi_port=1)
    save_endpoints(path, Endpoints(fabric="pod64", backend="inventory", nodes=(dead,)))
    done = CliRunner().invoke(app, ["targets", "check", "--targets", str(path), "--map", str(mappings)])
    assert done.exit_code == 2
    assert "0 of 1 target without findings" in done.output


def test_a_check_needs_an_intent_or_a_list() -> None:
    done = CliRunner().invoke(app, ["targets", "check"])
    assert (done.exit_code, "Name the fabric's intent, or targets" in done.output) == (2, True)
