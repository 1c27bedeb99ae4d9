"""What a collector does when a target, a login or a certificate is not what it was, or never was right."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.telemetry.rack import CREDENTIALS, INTERVAL_S, QUICK, UPLINK, Rack, eventually
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import Credentials, Endpoint, Endpoints, save_endpoints
from railfab.gnmi import certificates
from railfab.gnmi.certificates import Authority
from railfab.gnmi.paths import to_text_elements
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.platforms import platform
from railfab.telemetry import Collector, SessionState, Snapshot, fabric_collector
from railfab.telemetry.receive.choice import receiver
from railfab.telemetry.receive.contract import Ask, ignored
from railfab.telemetry.receive.fast import KEEPALIVE_S
from railfab.telemetry.retry import SILENT_INTERVALS, RetryPolicy
from railfab.topology import Topology

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
OCTETS = "fabric_interface_receive_bytes_total"
ERRORS = "fabric_collector_errors_total"


def of_leaf(topology: Topology, node: Endpoint, policy: RetryPolicy = QUICK, receiver: str = "auto") -> Collector:
    endpoints = Endpoints(fabric="pod64", backend="twin", nodes=(node,))
    return fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=policy, receiver=receiver)


def test_a_target_that_comes_back_with_another_ca_and_password_is_up_at_the_next_dial(
    topology: Topology, rack: Rack, server_loop: ServerLoop
) -> None:
    node = rack.endpoint(LEAF)
    with of_leaf(topology, node) as collector:
        assert collector.wait_until_up(10)
        rack.kill(LEAF)
        authority = Authority("another")
        server = GnmiServer(
            rack.switches[LEAF],
            server_loop,
            port=node.gnmi_port or 0,
            credentials=Credentials("admin", "rotated"),
            identity=authority.issue(LEAF),
        )
        server.start()
        try:
            eventually(collector, lambda now: now.value(ERRORS, reason="tls"))
            rack.ca.write_bytes(authority.certificate)
            eventually(collector, lambda now: now.value(ERRORS, reason="login_refused"))
            rack.secret.write_text("{username: admin, password: rotated}")
            eventually(collector, lambda now: now.value("fabric_collector_session_up") == 1)
        finally:
            server.stop()


def test_a_switch_of_the_intent_without_address_has_all_health_metrics_before_anything_runs(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture
) -> None:
    endpoints = Endpoints(fabric="pod64", backend="twin", nodes=(rack.endpoint(LEAF),))
    collector = fabric_collector(topology, endpoints, among=(LEAF, SPINE), interval_s=INTERVAL_S, policy=QUICK)
    before = collector.snapshot()
    names = {name for name, labels, _ in before if labels.get("device") == SPINE and "collector" in name}
    assert names == {name for name, labels, _ in before if labels.get("device") == LEAF and "collector" in name}
    assert before.value("fabric_collector_session_up", device=SPINE) == 0
    with collector:
        eventually(collector, lambda now: now.value(ERRORS, device=SPINE, reason="no_endpoint") == 1)
    assert f"{SPINE}: no list of targets has it. Add its address, or leave it out with --limit." in caplog.text


@dataclass(frozen=True, kw_only=True)
class Told(RetryPolicy):
    """failures: in a row, as it was told before each wait."""

    failures: list[int] = field(default_factory=list)

    def delay_s(self, failures: int, *, refused: bool, draw: Random) -> float:
        self.failures.append(failures)
        return 0.05


@pytest.mark.parametrize(("lived_intervals", "failures"), [(0, 3), (SILENT_INTERVALS + 2, 1)])
def test_a_session_that_lived_for_3_intervals_in_sync_ends_the_backoff(
    topology: Topology, rack: Rack, lived_intervals: int, failures: int
) -> None:
    policy = Told(dial_timeout_s=2.0)
    rack.kill(LEAF)
    with of_leaf(topology, rack.endpoint(LEAF), policy) as collector:
        eventually(collector, lambda _: len(policy.failures) >= 2)
        rack.revive(LEAF)
        assert collector.wait_until_up(10)
        time.sleep(lived_intervals * INTERVAL_S)
        told = len(policy.failures)
        rack.kill(LEAF)
        eventually(collector, lambda _: len(policy.failures) > told)
    assert policy.failures[told] == (1 if failures == 1 else told + 1)


def test_the_first_refusal_of_a_target_that_did_not_answer_begins_the_backoff_anew(
    topology: Topology, rack: Rack
) -> None:
    policy = Told(dial_timeout_s=2.0)
    rack.secret.write_text("username: admin\npassword: wrong\n")
    rack.kill(LEAF)
    with of_leaf(topology, rack.endpoint(LEAF), policy) as collector:
        eventually(collector, lambda _: len(policy.failures) >= 3)
        rack.revive(LEAF)
        eventually(collector, lambda now: now.value(ERRORS, reason="login_refused") >= 2)
    assert policy.failures[:3] == [1, 2, 3]
    assert policy.failures[3:].count(1) == 1


def test_when_series_are_gone_the_session_was_down_before(topology: Topology, rack: Rack) -> None:
    policy = RetryPolicy(first_s=0.1, most_s=0.2, grace_s=1.0, dial_timeout_s=2.0)
    seen = []

    def look(now: Snapshot) -> bool:
        seen.append((now.value("fabric_collector_session_up"), len(now.select(OCTETS))))
        return seen[-1] == (0, 0)

    with of_leaf(topology, rack.endpoint(LEAF), policy) as collector:
        assert collector.wait_until_up(10)
        assert not look(collector.snapshot())
        rack.kill(LEAF)
        eventually(collector, look)
    assert list(dict.fromkeys(seen)) == [(1, 2), (0, 2), (0, 0)]


def test_a_target_that_streams_nothing_with_a_metric_is_not_up(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture
) -> None:
    switch = rack.switches[LEAF]
    for found in switch.refresh().select(()):
        if "a-leaf-nobody-maps" not in str(found.leaf.path):
            switch.leaves.drop([to_text_elements(found.leaf.path)])
    switch.refresh = switch.leaves.publish  # type: ignore[method-assign]
    with of_leaf(topology, rack.endpoint(LEAF)) as collector:
        eventually(collector, lambda now: now.value("fabric_collector_unmapped_updates_total") > 4)
        assert collector.value("fabric_collector_session_up") == 0
        assert collector.states()[LEAF] is not SessionState.UP
    assert f"{LEAF}: streams nothing that has a metric. Check its platform, and --map" in caplog.text


def test_a_burst_between_two_scrapes_is_in_the_highest_rate(topology: Topology, rack: Rack) -> None:
    switch = rack.switches[LEAF]
    with of_leaf(topology, rack.endpoint(LEAF)) as collector:
        assert collector.wait_until_up(10)
        time.sleep(3 * INTERVAL_S)
        quiet = highest_rate(collector)
        switch._octets += 1_000_000_000
        time.sleep(4 * INTERVAL_S)
        assert highest_rate(collector) > 1000 * quiet > 0


def highest_rate(collector: Collector) -> float:
    text = collector.exposition.render(openmetrics=False).decode()
    wanted = f'fabric_interface_receive_bytes_rate_max{{device="{LEAF}",fabric="pod64",interface="{UPLINK}"}} (\\S+)'
    found = re.search(wanted, text)
    assert found
    return float(found[1])


class Defective:
    """A receiver with a defect, which one target shows."""

    def __init__(self) -> None:
        self._receiver = receiver("fast")

    needs_login = True

    def name_of(self, endpoint: Endpoint) -> str:
        return self._receiver.name_of(endpoint)

    async def stream(self, endpoint: Endpoint, *arguments: Any) -> AsyncGenerator[Any]:
        async with aclosing(self._receiver.stream(endpoint, *arguments)) as stream:
            async for event in stream:
                yield event
                if endpoint.name == LEAF:
                    raise ZeroDivisionError("secret detail")


def test_a_defect_that_one_target_shows_ends_the_session_of_that_target_alone(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture
) -> None:
    endpoints = Endpoints(fabric="pod64", backend="twin", nodes=(rack.endpoint(LEAF), rack.endpoint(SPINE)))
    options = {"interval_s": INTERVAL_S, "policy": QUICK, "receiver": Defective()}
    with fabric_collector(topology, endpoints, **options) as collector:
        eventually(collector, lambda now: now.value(ERRORS, device=LEAF, reason="defect") > 2)
        eventually(collector, lambda now: now.value("fabric_collector_session_up", device=SPINE) == 1)
        assert collector.healthy() == {"collecting": True}
    text = f"{LEAF}: an error of the collector itself ended the session (ZeroDivisionError). Report it with"
    logged = [record for record in caplog.records if record.getMessage().startswith(text)]
    assert logged
    assert all(record.exc_info for record in logged)


def test_each_kind_of_subscription_is_up_when_all_of_it_streams(topology: Topology, rack: Rack) -> None:
    endpoints = Endpoints(fabric="pod64", backend="twin", nodes=(rack.endpoint(LEAF),))
    up = "fabric_collector_subscription_up"
    with fabric_collector(topology, endpoints, among=(LEAF, SPINE), interval_s=INTERVAL_S, policy=QUICK) as collector:
        eventually(collector, lambda now: now.value("fabric_collector_session_up") == 1)
        found = {(labels["device"], labels["subscription"]): value for labels, value in collector.snapshot().select(up)}
        assert found == {
            (device, kind): float(device == LEAF) for device in (LEAF, SPINE) for kind in ("sample", "on_change")
        }
        rack.kill(LEAF)
        eventually(collector, lambda now: now.value(up) == 0)


class Asked:
    """A receiver that keeps what is asked for, and receives nothing."""

    def __init__(self) -> None:
        self.targets: list[str] = []

    needs_login = True

    def name_of(self, _: Endpoint) -> str:
        return "asked"

    async def stream(
        self, _: Endpoint, __: Credentials, requests: Sequence[Any], ___: Callable[[Ask], object] = ignored
    ) -> AsyncGenerator[Any]:
        self.targets += [request.subscribe.prefix.target for request in requests]
        await asyncio.Event().wait()
        yield


def test_a_switch_behind_a_gateway_is_named_in_each_subscription(topology: Topology, rack: Rack) -> None:
    asked, node = Asked(), rack.endpoint(LEAF, gnmi_target="leaf7")
    endpoints = Endpoints(fabric="pod64", backend="twin", nodes=(node,))
    with fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=QUICK, receiver=asked) as collector:
        eventually(collector, lambda _: asked.targets)
    assert set(asked.targets) == {"leaf7"}


def test_a_ping_is_sent_after_half_a_minute_of_silence() -> None:
    assert KEEPALIVE_S == 30


class Http1(BaseHTTPRequestHandler):
    """A web server, as it is on the port of a switch's API."""

    default_request_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...


@contextmanager
def web_server(context: ssl.SSLContext | None) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Http1)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None  # type: ignore[method-assign, assignment]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@contextmanager
def changed(case: str, rack: Rack, loop: ServerLoop, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint that is wrong, or whose target is."""
    authority = Authority("case")
    (folder / "case.pem").write_bytes(authority.certificate)
    node, own = rack.endpoint(LEAF), {"ca": str(folder / "case.pem")}
    if case == "untrusted":
        yield rack.endpoint(LEAF, **own)
    elif case == "another name":
        yield rack.endpoint(LEAF, tls_name="leaf7.example.net")
    elif case == "password":
        (folder / "wrong.yml").write_text("{username: admin, password: wrong secret}")
        yield rack.endpoint(LEAF, credentials=str(folder / "wrong.yml"))
    elif case == "TLS on a plaintext endpoint":
        yield rack.endpoint(LEAF, ca=None, plaintext=True)
    elif case in ("HTTP/1", "HTTP/1 behind TLS"):
        context = None
        if case != "HTTP/1":
            identity = authority.issue(LEAF)
            (folder / "web.pem").write_bytes(identity.certificate + identity.key)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder / "web.pem")
        with web_server(context) as port:
            tls = {"ca": None, "plaintext": True} if context is None else own
            yield rack.endpoint(LEAF, gnmi_port=port, **tls)
    else:
        identity = None
        if case == "expired":
            patch.setattr(certificates, "VALID_DAYS", -1 / 1440)
            identity = authority.issue(LEAF)
            patch.undo()
        server = GnmiServer(rack.switches[LEAF], loop, credentials=CREDENTIALS, identity=identity)
        yield rack.endpoint(LEAF, gnmi_port=server.start(), **own)
        server.stop()
    assert node


FAULTS = {
    "untrusted": ("tls", "is not trusted (unable to get local issuer certificate). Set the endpoint's ca"),
    "expired": ("tls", "certificate has expired"),
    "another name": ("tls", "leaf7.example.net"),
    "password": ("login_refused", "rejects the login of admin"),
    "TLS on a plaintext endpoint": ("protocol", "speaks TLS, and the endpoint says plaintext"),
    "plaintext on a TLS endpoint": ("protocol", "does not speak TLS"),
    "HTTP/1": ("protocol", "speaks HTTP/1, not HTTP/2"),
    "HTTP/1 behind TLS": ("protocol", "speaks HTTP/1, not HTTP/2"),
}


@pytest.mark.parametrize("receiver", ["auto", "grpc"])
@pytest.mark.parametrize("case", FAULTS)
def test_each_fault_of_a_connection_has_its_reason_and_one_line(
    topology: Topology,
    rack: Rack,
    server_loop: ServerLoop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    case: str,
    receiver: str,
) -> None:
    reason, said = FAULTS[case]
    with changed(case, rack, server_loop, tmp_path, monkeypatch) as node:
        with of_leaf(topology, node, receiver=receiver) as collector:
            now = eventually(collector, lambda now: now.value(ERRORS) >= 2)
            state = collector.states()[LEAF]
        checked = check(node, tmp_path)
    counts = {labels["reason"]: count for labels, count in now.select(ERRORS, device=LEAF) if count}
    assert list(counts) == [reason]
    assert state in (SessionState.REFUSED, SessionState.CONNECTING, SessionState.SYNCING)
    assert now.value("fabric_collector_session_up") == 0
    lines = [record.getMessage() for record in caplog.records if said in record.getMessage()]
    assert len(lines) == 1
    assert lines[0].startswith(f"{LEAF}: ")
    assert said in checked["problem"], checked
    assert "secret" not in caplog.text + json.dumps(checked)


def check(node: Endpoint, folder: Path) -> dict[str, str]:
    """The one finding of `targets check`."""
    listed, only = folder / "listed.json", folder / "only.yml"
    save_endpoints(listed, Endpoints(fabric="pod64", backend="inventory", nodes=(node,)))
    kept = "/interface[name=*]/statistics"
    dropped = [one.path for one in platform("srlinux").telemetry.subscriptions if one.path != kept]
    lines = "".join(f"      - {{path: '{one}', drop: true}}\n" for one in dropped)
    only.write_text(f"version: 1\nplatforms:\n  srlinux:\n    subscriptions:\n{lines}")
    command = ["targets", "check", "--targets", str(listed), "--map", str(only), "--output", "json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    (finding,) = json.loads(done.output)["findings"]
    found: dict[str, str] = finding
    return found
