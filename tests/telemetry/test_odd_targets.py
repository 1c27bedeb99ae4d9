"""Targets as they are: some know one encoding, some no ON_CHANGE, some never say sync, some count time in seconds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc
from tests.telemetry.rack import INTERVAL_S, QUICK, eventually

from railfab.endpoints import Endpoint, Endpoints
from railfab.gnmi.certificates import Authority
from railfab.telemetry import Collector, State, fabric_collector
from railfab.topology import Topology

LEAF = "pod1-seg1-leaf1"
OCTETS = "fabric_interface_receive_bytes_total"
OPER_UP = "fabric_interface_oper_up"


@dataclass
class Odd(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """A target that takes some subscriptions and refuses others; all others of gNMI it does not know.

    lacks: an element that its chassis does not have.
    """

    encodings: tuple[str, ...] = ("PROTO", "JSON_IETF")
    on_change: bool = True
    sync: bool = True
    refusal: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT
    stamp: Callable[[], int] = time.time_ns
    ends_after: int | None = None
    lacks: str = ""
    silent: bool = False

    def Subscribe(self, requests: Any, context: Any) -> Iterator[Any]:
        wish = next(requests).subscribe
        while self.silent and context.is_active():
            time.sleep(INTERVAL_S)
        if gnmi_pb2.Encoding.Name(wish.encoding) not in self.encodings:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such encoding here")
        changing = wish.subscription[0].mode == gnmi_pb2.ON_CHANGE
        if changing and not self.on_change:
            context.abort(self.refusal, "ON_CHANGE is not supported")
        if self.lacks in [step.name for subscription in wish.subscription for step in subscription.path.elem]:
            context.abort(self.refusal, f"Path not valid - unknown element '{self.lacks}'")
        asked = [subscription.path.elem[-1].name for subscription in wish.subscription]
        leaves = {"/interface[name=e1]/statistics/in-octets": 5} if "statistics" in asked else {}
        if "oper-state" in asked:
            leaves["/interface[name=e1]/oper-state"] = "up"  # type: ignore[assignment]
        yield self._said(leaves, wish.encoding)
        if self.sync:
            yield gnmi_pb2.SubscribeResponse(sync_response=True)
        sent = 0
        while context.is_active() and sent != self.ends_after:
            time.sleep(INTERVAL_S / 2)
            if not changing:
                yield self._said(leaves, wish.encoding)
                sent += 1

    def _said(self, leaves: dict[str, Any], encoding: int) -> gnmi_pb2.SubscribeResponse:
        update = [
            gnmi_pb2.Update(path=gnmi_path_generator(path), val=typed(value, encoding))
            for path, value in leaves.items()
        ]
        return gnmi_pb2.SubscribeResponse(update=gnmi_pb2.Notification(timestamp=self.stamp(), update=update))


def typed(value: object, encoding: int) -> gnmi_pb2.TypedValue:
    if encoding != gnmi_pb2.PROTO:
        return gnmi_pb2.TypedValue(json_ietf_val=f'"{value}"'.encode())
    if isinstance(value, int):
        return gnmi_pb2.TypedValue(uint_val=value)
    return gnmi_pb2.TypedValue(string_val=str(value))


@contextmanager
def collected(topology: Topology, folder: Path, target: Odd) -> Iterator[Collector]:
    """A collector of one such target."""
    authority = Authority("odd")
    identity = authority.issue(LEAF)
    server = grpc.server(futures.ThreadPoolExecutor(8))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(target, server)
    pair = grpc.ssl_server_credentials([(identity.key, identity.certificate)])
    port = server.add_secure_port("127.0.0.1:0", pair)
    server.start()
    (folder / "ca.pem").write_bytes(authority.certificate)
    (folder / "secret.yml").write_text("{username: a, password: b}")
    files = {"ca": str(folder / "ca.pem"), "credentials": str(folder / "secret.yml")}
    node = Endpoint(name=LEAF, platform="srlinux", host="127.0.0.1", gnmi_port=port, **files)
    endpoints = Endpoints(fabric="pod64", backend="inventory", nodes=(node,))
    try:
        with fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=QUICK) as collector:
            yield collector
    finally:
        server.stop(0.1).wait()


@pytest.mark.parametrize(
    "target",
    [
        Odd(),
        Odd(encodings=("PROTO",)),
        Odd(encodings=("JSON_IETF",)),
        Odd(on_change=False),
        Odd(on_change=False, refusal=grpc.StatusCode.UNIMPLEMENTED),
        Odd(encodings=("JSON_IETF",), on_change=False),
        Odd(sync=False),
    ],
    ids=["plain", "proto", "json_ietf", "no on_change", "unimplemented", "json_ietf, no on_change", "no sync"],
)
def test_a_way_is_found_to_ask(topology: Topology, tmp_path: Path, target: Odd) -> None:
    with collected(topology, tmp_path, target) as collector:
        assert collector.wait_until_up(10)
        now = eventually(collector, lambda now: now.select(OPER_UP) and now.select(OCTETS))
        assert (now.value(OCTETS, interface="e1"), now.value(OPER_UP, interface="e1")) == (5, 1)
        assert now.value("fabric_collector_errors_total") == 0


@pytest.mark.parametrize("encodings", [("PROTO", "JSON_IETF"), ("JSON_IETF",)])
@pytest.mark.parametrize("lacks", ["drop-counters", "host-if-fec-router"])
def test_a_chassis_without_a_feature_is_collected_without_its_counters(
    topology: Topology, tmp_path: Path, caplog: pytest.LogCaptureFixture, lacks: str, encodings: tuple[str, ...]
) -> None:
    caplog.set_level("INFO")
    with collected(topology, tmp_path, Odd(lacks=lacks, encodings=encodings)) as collector:
        assert collector.wait_until_up(10)
        now = eventually(collector, lambda now: now.select(OPER_UP) and now.select(OCTETS))
        assert now.value("fabric_collector_errors_total") == 0
    assert re.search(rf"unknown element '{lacks}'.*The target does not serve /\S*{lacks}", caplog.text)


def test_a_target_that_refuses_every_way_is_told_apart(
    topology: Topology, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with collected(topology, tmp_path, Odd(encodings=("ASCII",))) as collector:
        refused = {"device": LEAF, "reason": "unimplemented"}
        eventually(collector, lambda now: now.value("fabric_collector_errors_total", **refused))
        assert collector.states()[LEAF] is not State.UP
    assert f"{LEAF}: refused a gNMI Subscribe (no such encoding here). Check that the target serves" in caplog.text


@pytest.mark.parametrize("unit_ns", [1, 1_000, 1_000_000, 1_000_000_000])
def test_the_lag_does_not_depend_on_the_unit_of_time_stamps(topology: Topology, tmp_path: Path, unit_ns: int) -> None:
    with collected(topology, tmp_path, Odd(stamp=lambda: time.time_ns() // unit_ns)) as collector:
        assert collector.wait_until_up(10)
        assert -0.1 < collector.value("fabric_collector_ingest_lag_seconds") < 5


def test_a_device_clock_that_is_wrong_shows_and_hides_nothing(topology: Topology, tmp_path: Path) -> None:
    hour_ns = 3_600_000_000_000
    with collected(topology, tmp_path, Odd(stamp=lambda: time.time_ns() - hour_ns)) as collector:
        assert collector.wait_until_up(10)
        assert collector.value("fabric_collector_ingest_lag_seconds") == pytest.approx(3600, abs=5)
        assert collector.value(OCTETS) == 5


def test_a_target_that_ends_its_stream_is_asked_again(topology: Topology, tmp_path: Path) -> None:
    with collected(topology, tmp_path, Odd(ends_after=2)) as collector:
        closed = {"device": LEAF, "reason": "closed"}
        eventually(collector, lambda now: now.value("fabric_collector_errors_total", **closed) >= 2)
        eventually(collector, lambda now: now.value("fabric_collector_session_up") == 1)


def test_a_target_that_accepts_subscriptions_and_sends_nothing_is_stalled(topology: Topology, tmp_path: Path) -> None:
    with collected(topology, tmp_path, Odd(silent=True)) as collector:
        stalled = {"device": LEAF, "reason": "stalled"}
        eventually(collector, lambda now: now.value("fabric_collector_errors_total", **stalled) >= 2)
        assert collector.value("fabric_collector_session_up") == 0
