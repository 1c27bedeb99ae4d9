"""Targets as they are: some know one encoding, some no ON_CHANGE, some never say sync, some count time in seconds."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from tests.telemetry.odd import LEAF, Odd, serving
from tests.telemetry.rack import INTERVAL_S, QUICK, eventually

from railfab.endpoints import Endpoints
from railfab.telemetry import Collector, SessionState, fabric_collector
from railfab.telemetry.retry import SILENT_INTERVALS
from railfab.topology import Topology

OCTETS = "fabric_interface_receive_bytes_total"
ERRORS, SUBSCRIPTION_UP = "fabric_collector_errors_total", "fabric_collector_subscription_up"
OPER_UP = "fabric_interface_oper_up"


@contextmanager
def collected(topology: Topology, folder: Path, target: Odd, receiver: str = "auto") -> Iterator[Collector]:
    """A collector of one such target."""
    with serving(target, folder) as node:
        endpoints = Endpoints(fabric="pod64", backend="inventory", nodes=(node,))
        options = {"interval_s": INTERVAL_S, "policy": QUICK, "receiver": receiver}
        with fabric_collector(topology, endpoints, **options) as collector:
            yield collector


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


def test_a_target_that_sends_more_slowly_than_it_samples_is_lagging_and_subscribed_again_once(
    topology: Topology, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its values are ever older, though its messages come all the time; its clock is a day behind ours."""
    caplog.set_level("INFO")
    monkeypatch.setattr("railfab.telemetry.session.LATE_S", 0.0)
    began_ns, slow = time.time_ns(), 5
    target = Odd(stamp=lambda: began_ns - 86400 * 10**9 + (time.time_ns() - began_ns) // slow)
    with collected(topology, tmp_path, target) as collector:
        now = eventually(collector, lambda now: now.value(ERRORS, reason="lagging") >= 2, within_s=60)
        assert now.value("fabric_collector_backlog_seconds") > 0
        assert now.value(SUBSCRIPTION_UP, subscription="sample") == 0
        assert now.value("fabric_collector_session_up") == 1
    said = [record.getMessage() for record in caplog.records if "late" in record.getMessage()]
    assert "ever later: it sends more slowly than it samples. It is subscribed again; if that does" in said[0]
    assert said[1].endswith("Sample less often (gnmi_interval_s)")


def test_a_subscription_without_samples_is_made_again_once_and_logged_while_others_continue(
    topology: Topology, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    sampled = {"subscription": "sample"}
    with collected(topology, tmp_path, Odd(stops=("interface", "statistics"))) as collector:
        assert collector.wait_until_up(10)
        now = eventually(collector, lambda now: now.value(ERRORS, reason="stalled") == 2 and not now.select(OCTETS), 60)
        assert now.value(SUBSCRIPTION_UP, **sampled) == 0
        assert now.value("fabric_collector_session_up") == 1, "its other series are true"
        assert now.select("fabric_interface_fec_uncorrected_codewords_total")
    said = [text for text in caplog.messages if "/interface[name=*]/statistics" in text]
    assert len(said) == 2
    assert "It is subscribed again" in said[0]
    assert said[1].endswith("all other subscriptions continue")


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
    assert "\x1b" not in caplog.text


@pytest.mark.parametrize("receiver", ["auto", "grpc"])
def test_a_target_that_is_busy_beside_another_rpc_is_asked_again_on_the_same_connection(
    topology: Topology, tmp_path: Path, caplog: pytest.LogCaptureFixture, receiver: str
) -> None:
    target = Odd(busy_s=0.05)
    with collected(topology, tmp_path, target, receiver) as collector:
        assert collector.wait_until_up(20)
        now = eventually(
            collector,
            lambda now: now.select(OPER_UP) and now.select(OCTETS) and target.taken == target.wished,
            within_s=20,
        )
        assert now.value("fabric_collector_errors_total") == 0
        assert now.value("fabric_collector_reconnects_total") == 0
    assert caplog.text.count(f"{LEAF}: is too busy for a gNMI Subscribe (System is busy). It is asked again") == 1


def test_a_target_that_refuses_every_way_is_told_apart(
    topology: Topology, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with collected(topology, tmp_path, Odd(encodings=("ASCII",))) as collector:
        refused = {"device": LEAF, "reason": "unimplemented"}
        eventually(collector, lambda now: now.value("fabric_collector_errors_total", **refused))
        assert collector.states()[LEAF] is not SessionState.UP
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


def test_a_target_that_reads_its_leaves_for_longer_than_three_intervals_is_waited_for_in_the_end(
    topology: Topology, tmp_path: Path
) -> None:
    """As long as twice the first time, as one that serves many others at once: it would else begin to read for ever."""
    with collected(topology, tmp_path, Odd(reads_s=1.5 * SILENT_INTERVALS * INTERVAL_S)) as collector:
        now = eventually(collector, lambda now: now.value("fabric_collector_session_up") == 1)
        assert now.value(ERRORS, reason="stalled") >= 1
