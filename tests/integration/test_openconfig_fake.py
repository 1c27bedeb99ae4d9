"""The collector and the fake target of openconfig/gnmi (`fake_server`): another gRPC and another gNMI server."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gnmi.test_ways_to_connect import client_files
from tests.integration.faulty_targets import mappings
from tests.ports import free_port
from tests.telemetry.rack import QUICK, eventually
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import Endpoint, Endpoints, save_endpoints
from railfab.gnmi.certificates import Authority
from railfab.platforms.telemetry_files import telemetry_maps
from railfab.telemetry import Collector
from railfab.telemetry.targets import TargetSpec

pytestmark = pytest.mark.fake_server

OCTETS, PACKETS = "fabric_interface_receive_bytes_total", "fabric_interface_receive_packets_total"
OPER_UP = "fabric_interface_oper_up"
FIRST, LAST, EVERY_S = 7, 11, 0.2


def notification(at_ns: int, *parts: str) -> str:
    return f"responses {{ update {{ timestamp: {at_ns} {' '.join(parts)} }} }}"


def path(*names: str) -> str:
    """A path in the text format of protobuf; the interface is eth1."""
    key = {"interface": '{ name: "interface" key { key: "name" value: "eth1" } }'}
    return " ".join(f'elem {key.get(name, f"""{{ name: "{name}" }}""")}' for name in names)


def update(value: str, *names: str) -> str:
    return f"update {{ path {{ {path(*names)} }} val {{ {value} }} }}"


def sent() -> str:
    """Counters that rise for a while, a state, and a delete at the end."""
    now_ns, counters = time.time_ns(), ("interfaces", "interface", "state", "counters")
    prefix = f"prefix {{ {path(*counters[:2])} }}"
    first = notification(
        now_ns,
        prefix,
        update("uint_val: 7", "state", "counters", "in-octets"),
        update("int_val: 40", "state", "counters", "in-unicast-pkts"),
        update('string_val: "UP"', "state", "oper-status"),
    )
    rising = [
        notification(now_ns + int(step * EVERY_S * 1e9), update(f"uint_val: {FIRST + step}", *counters, "in-octets"))
        for step in range(1, LAST - FIRST + 1)
    ]
    gone = f'delete {{ {path(*counters)} elem {{ name: "in-unicast-pkts" }} }}'
    ended = notification(now_ns + int((LAST - FIRST + 1) * EVERY_S * 1e9), gone)
    return "\n".join((first, "responses { sync_response: true }", *rising, ended))


@contextmanager
def fake_target(folder: Path, *options: str, holds: bool = True, known: bool = True) -> Iterator[Endpoint]:
    authority = Authority("fake")
    server = authority.issue("leaf1")
    (folder / "server.pem").write_bytes(server.certificate)
    (folder / "server.key").write_bytes(server.key)
    ca, config = folder / "ca.pem", folder / "fake.pb.txt"
    ca.write_bytes(authority.certificate)
    settings = f'target: "leaf1" client_type: GRPC_GNMI disable_sync: true enable_delay: true disable_eof: {holds}'
    config.write_text(f"{settings.lower().replace('grpc_gnmi', 'GRPC_GNMI')}\nfixed {{\n{sent()}\n}}\n")
    port = free_port()
    files = ["-server_crt", str(folder / "server.pem"), "-server_key", str(folder / "server.key")]
    command = ["fake_server", "-text", "-config", str(config), "-port", str(port), "-ca_crt", str(ca), *files]
    log = folder / "fake.log"
    found = Endpoint(name="leaf1", platform="eos", host="127.0.0.1", gnmi_port=port, ca=str(ca), credentials="none")
    with log.open("w") as said, subprocess.Popen([*command, "-logtostderr", *options], stderr=said) as process:
        try:
            _listens(port, process, log)
            yield replace(found, **client_files(folder, authority)) if known else found
        finally:
            process.kill()


def _listens(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until_s = time.monotonic() + 20
    while time.monotonic() < until_s and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())


def collector(folder: Path, endpoint: Endpoint, receiver: str = "fast") -> Collector:
    telemetry = telemetry_maps([mappings(folder)])["eos"]
    spec = TargetSpec(name="leaf1", platform="eos", endpoint=endpoint, telemetry=telemetry)
    return Collector([spec], interval_s=2.0, policy=QUICK, receiver=receiver)


@pytest.mark.parametrize("receiver", ["fast", "grpc"])
def test_what_the_fake_target_sends_is_served(tmp_path: Path, receiver: str) -> None:
    with fake_target(tmp_path) as endpoint, collector(tmp_path, endpoint, receiver) as running:
        first = eventually(running, lambda now: now.select(PACKETS))
        assert first.value(PACKETS, interface="eth1", cast="unicast") == 40
        assert first.value(OPER_UP, interface="eth1") == 1
        last = eventually(running, lambda now: now.value(OCTETS, interface="eth1") == LAST)
        assert last.value("fabric_collector_session_up") == 1
        eventually(running, lambda now: not now.select(PACKETS))
        assert running.value("fabric_collector_errors_total") == 0


def test_its_end_of_updates_is_an_end_of_the_stream(tmp_path: Path) -> None:
    with (
        fake_target(tmp_path, "-allow_no_client_auth", holds=False, known=False) as endpoint,
        collector(tmp_path, endpoint) as running,
    ):
        eventually(running, lambda now: now.value("fabric_collector_errors_total", reason="closed") >= 1, 20)
        eventually(running, lambda now: now.value("fabric_collector_session_up") == 1)


@pytest.mark.parametrize("receiver", ["fast", "grpc"])
def test_a_client_without_its_certificate_is_refused_in_one_line(
    tmp_path: Path, receiver: str, caplog: pytest.LogCaptureFixture
) -> None:
    with fake_target(tmp_path, known=False) as endpoint, collector(tmp_path, endpoint, receiver) as running:
        eventually(running, lambda now: now.value("fabric_collector_errors_total"))
        reasons = {
            labels["reason"] for labels, count in running.snapshot().select("fabric_collector_errors_total") if count
        }
    assert reasons == {"login_refused"}
    assert "requires a client certificate" in caplog.text


def test_a_check_finds_what_it_has_and_that_it_has_no_capabilities(tmp_path: Path) -> None:
    with fake_target(tmp_path) as endpoint:
        listed = tmp_path / "targets.json"
        save_endpoints(listed, Endpoints(fabric="fake", backend="inventory", nodes=(endpoint,)))
        command = ["targets", "check", "--targets", str(listed), "--map", str(mappings(tmp_path)), "--output", "json"]
        done = CliRunner().invoke(app, command)
    (target,) = json.loads(done.output)["targets"]
    assert (target["reachable"], target["logged_in"], target["tls_verified"], target["encodings"]) == (
        True,
        True,
        True,
        None,
    )
