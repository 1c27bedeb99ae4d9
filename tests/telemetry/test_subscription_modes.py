"""The modes of subscriptions, end to end: our server, a receiver, a session, and what is exposed."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests.telemetry.rack import HOST_PORT, INTERVAL_S, PFC, QUICK, UPLINK, Rack, eventually
from tests.telemetry.receive.pygnmi_receiver import PygnmiReceiver

from railfab.platforms import SubscriptionMode, TelemetrySubscription, platform
from railfab.telemetry import Collector, RetryPolicy
from railfab.telemetry.targets import TargetSpec

LEAF = "pod1-seg1-leaf1"
COUNTERS, STATES = "/interface[name=*]/statistics", "/interface[name=*]/oper-state"
OCTETS, OPER_UP = "fabric_interface_receive_bytes_total", "fabric_interface_oper_up"
PAUSES = "fabric_pfc_receive_frames_total"
INTERVALS = 4
"""More than those after which a sample is not true any more."""


def collector(
    rack: Rack, *wanted: TelemetrySubscription, receiver: str = "fast", policy: RetryPolicy = QUICK, **endpoint: str
) -> Collector:
    """A collector of one switch with these subscriptions."""
    telemetry = replace(platform("srlinux").telemetry, subscriptions=wanted)
    where = rack.endpoint(LEAF, **endpoint)
    spec = TargetSpec(name=LEAF, platform="srlinux", endpoint=where, telemetry=telemetry)
    return Collector([spec], interval_s=INTERVAL_S, policy=policy, receiver=receiver)


def wanted(path: str, mode: SubscriptionMode, **fields: object) -> TelemetrySubscription:
    return TelemetrySubscription(path=path, mode=mode, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("receiver", ["fast", "grpc", "pygnmi"])
@pytest.mark.parametrize("mode", [SubscriptionMode.POLL, SubscriptionMode.ONCE])
def test_a_target_is_asked_again_and_again_on_one_connection(rack: Rack, receiver: str, mode: SubscriptionMode) -> None:
    by = PygnmiReceiver() if receiver == "pygnmi" else receiver
    with collector(rack, wanted(COUNTERS, mode), wanted(STATES, SubscriptionMode.SAMPLE), receiver=by) as running:
        assert running.wait_until_up(10)
        before = running.value(OCTETS, interface=UPLINK)
        eventually(running, lambda now: now.value(OCTETS, interface=UPLINK) > before)
        rack.switches[LEAF].stop_counting()
        now = eventually(running, lambda now: not now.select(OCTETS))
        assert now.value(OPER_UP) == 2
        assert now.value("fabric_collector_reconnects_total") == 0
        assert now.select("fabric_collector_receiver_info", receiver=receiver)


@pytest.mark.parametrize("mode", ["poll", "once"])
def test_a_target_that_streams_nothing_is_asked_for_all_of_its_paths(rack: Rack, mode: str) -> None:
    paths = wanted(COUNTERS, SubscriptionMode.SAMPLE), wanted(STATES, SubscriptionMode.ON_CHANGE, heartbeat_s=9.0)
    with collector(rack, *paths, gnmi_mode=mode, gnmi_encoding="json") as running:
        assert running.wait_until_up(10)
        before = running.value(OCTETS)
        now = eventually(running, lambda now: now.value(OCTETS) > before)
        assert now.value(OPER_UP) == 2
        assert not now.value("fabric_collector_updates_total", subscription="on_change")


@pytest.mark.parametrize(
    ("path", "metric", "mode", "fields"),
    [
        (STATES, OPER_UP, SubscriptionMode.TARGET_DEFINED, {}),
        (PFC.format(HOST_PORT), PAUSES, SubscriptionMode.SAMPLE, {"suppress_redundant": True}),
        (
            PFC.format(HOST_PORT),
            PAUSES,
            SubscriptionMode.SAMPLE,
            {"suppress_redundant": True, "heartbeat_s": 2 * INTERVAL_S},
        ),
        (STATES, OPER_UP, SubscriptionMode.ON_CHANGE, {"heartbeat_s": 2 * INTERVAL_S}),
    ],
    ids=["target_defined", "suppress_redundant", "suppress_redundant, heartbeat", "on_change, heartbeat"],
)
def test_what_does_not_change_stays_though_no_sample_comes(
    rack: Rack, path: str, metric: str, mode: SubscriptionMode, fields: dict[str, object]
) -> None:
    counting = wanted(COUNTERS, SubscriptionMode.SAMPLE)
    with collector(rack, counting, wanted(path.rstrip("/"), mode, **fields)) as running:
        assert running.wait_until_up(10)
        kept, until_s = len(running.snapshot().select(metric)), time.monotonic() + INTERVALS * INTERVAL_S
        assert kept
        while time.monotonic() < until_s:
            assert len(running.snapshot().select(metric)) == kept
            time.sleep(0.05)
        assert running.value("fabric_collector_reconnects_total") == 0


def test_with_updates_only_a_session_begins_without_series_and_removes_none(rack: Rack) -> None:
    only = wanted(STATES, SubscriptionMode.ON_CHANGE, updates_only=True)
    with collector(rack, only, policy=replace(QUICK, grace_s=60.0)) as running:
        assert running.wait_until_up(10)
        assert not running.snapshot().select(OPER_UP)
        rack.switches[LEAF].leaves.put(f"/interface[name={UPLINK}]/oper-state", "down", on_change=True)
        eventually(running, lambda now: now.select(OPER_UP, interface=UPLINK))
        rack.kill(LEAF)
        eventually(running, lambda now: not now.value("fabric_collector_session_up"))
        rack.revive(LEAF)
        now = eventually(running, lambda now: now.value("fabric_collector_session_up"))
        assert now.select(OPER_UP) == [({"device": LEAF, "interface": UPLINK}, 0.0)]
