"""The Subscribe RPCs of a target: paths of one mode, interval, encoding, origin and target go together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pygnmi.spec.v080 import gnmi_pb2

from railfab.platforms import (
    SIMULATED_TIME,
    SubscriptionMode,
    TelemetrySubscription,
    of_twin,
    platform,
    platform_names,
)
from railfab.telemetry.health import Stream
from railfab.telemetry.retry import SILENT_INTERVALS
from railfab.telemetry.subscriptions import SUBSCRIBE_MODES, SubscribeMode, SubscribeRpc, subscribe_rpcs

LISTS: Any = gnmi_pb2.SubscriptionList
PROTO, SAMPLED = SUBSCRIBE_MODES[0], SubscribeMode(gnmi_pb2.JSON_IETF, False)
SAMPLE, ON_CHANGE = SubscriptionMode.SAMPLE, SubscriptionMode.ON_CHANGE


def rpcs(*subscriptions: TelemetrySubscription, mode: SubscribeMode = PROTO) -> tuple[SubscribeRpc, ...]:
    return subscribe_rpcs(subscriptions, 2.0, mode)


def entry(path: str, mode: SubscriptionMode = SAMPLE, **fields: object) -> TelemetrySubscription:
    return TelemetrySubscription(path=path, mode=mode, **fields)  # type: ignore[arg-type]


def test_sr_linux_has_one_rpc_of_samples_one_of_changes_one_of_optics_and_those_that_it_may_refuse() -> None:
    found = subscribe_rpcs(platform("srlinux").telemetry.subscriptions, 2.0, PROTO)
    sample, change, optics = (rpc for rpc in found if not rpc.optional)
    assert (sample.stream, sample.subscription.interval_s) == (Stream.SAMPLE, 2.0)
    assert (change.stream, change.subscription.interval_s) == (Stream.ON_CHANGE, None)
    assert (optics.stream, optics.subscription.interval_s) == (Stream.SAMPLE, 10)
    assert (sample.lasts_s, change.lasts_s) == (2.0 * SILENT_INTERVALS, math.inf)
    assert {sample.subscription.encoding, change.subscription.encoding} == {gnmi_pb2.PROTO}


def test_a_target_that_refuses_changes_is_sampled() -> None:
    (one,) = rpcs(entry("/a"), entry("/b", ON_CHANGE), mode=SAMPLED)
    assert (one.subscription.paths, one.subscription.interval_s) == (("/a", "/b"), 2.0)
    assert one.subscription.encoding == gnmi_pb2.JSON_IETF


def test_a_path_with_its_own_interval_is_sampled_at_that_one() -> None:
    usual, slow = rpcs(entry("/a"), entry("/optics", interval_s=30.0))
    assert (usual.subscription.interval_s, slow.subscription.interval_s) == (2.0, 30.0)
    assert slow.lasts_s == 30.0 * SILENT_INTERVALS


@pytest.mark.parametrize(("interval_s", "every_s"), [(2.0, 10.0), (10.0, 10.0), (60.0, 60.0)])
def test_a_path_that_is_sampled_seldom_is_never_sampled_more_often_than_all_else(
    interval_s: float, every_s: float
) -> None:
    subscriptions = (entry("/a"), entry("/optics", min_interval_s=10.0))
    slowest = max(subscribe_rpcs(subscriptions, interval_s, PROTO), key=lambda rpc: rpc.subscription.interval_s or 0.0)
    assert (slowest.subscription.interval_s, slowest.lasts_s) == (every_s, every_s * SILENT_INTERVALS)
    assert "/optics" in slowest.subscription.paths


@pytest.mark.parametrize("name", platform_names())
def test_no_path_of_a_platform_is_sampled_more_often_than_the_collector_was_told(name: str) -> None:
    subscriptions = subscribe_rpcs(platform(name).telemetry.subscriptions, 60.0, PROTO)
    assert {rpc.subscription.interval_s for rpc in subscriptions} <= {60.0, None}


def test_a_path_that_a_target_may_lack_has_an_rpc_of_its_own() -> None:
    found = rpcs(entry("/a"), entry("/drops", optional=True), entry("/fec", optional=True), entry("/b"))
    assert [rpc.subscription.paths for rpc in found] == [("/a", "/b"), ("/drops",), ("/fec",)]
    assert [rpc.optional for rpc in found] == [False, True, True]


def test_encodings_origins_and_targets_do_not_share_an_rpc() -> None:
    """A SubscriptionList has one encoding and one prefix (gNMI specification, 3.5.1.2.1)."""
    found = rpcs(
        entry("/interfaces"),
        entry("/Sysdb", origin="eos_native"),
        entry("/COUNTERS/Ethernet*", encoding="json_ietf", target="COUNTERS_DB"),
        entry("/qos"),
    )
    paths = [rpc.subscription.paths for rpc in found]
    assert paths == [("/interfaces", "/qos"), ("eos_native:/Sysdb",), ("/COUNTERS/Ethernet*",)]
    requests = [rpc.subscription.request().subscribe for rpc in found]
    assert [request.encoding for request in requests] == [gnmi_pb2.PROTO, gnmi_pb2.PROTO, gnmi_pb2.JSON_IETF]
    assert [request.prefix.target for request in requests] == ["", "", "COUNTERS_DB"]
    assert [one.path.origin for one in requests[1].subscription] == ["eos_native"]


def test_tables_that_a_sonic_switch_may_not_have_do_not_end_the_others() -> None:
    """sonic-gnmi refuses a request with a table that has no row."""
    found = subscribe_rpcs(platform("sonic").telemetry.subscriptions, 2.0, PROTO)
    needed = [path for rpc in found if not rpc.optional for path in rpc.subscription.paths]
    assert needed == ["/COUNTERS/Ethernet*", "/COUNTERS/Ethernet*/Queues", "/PORT_TABLE"]


@pytest.mark.parametrize("name", platform_names())
@pytest.mark.parametrize("mode", SUBSCRIBE_MODES)
def test_the_simulated_time_of_a_twin_comes_after_the_counters_in_their_rpc(name: str, mode: SubscribeMode) -> None:
    counters = platform(name).telemetry.subscriptions[0].path
    (one,) = (
        found.subscription.paths
        for found in subscribe_rpcs(of_twin(platform(name).telemetry).subscriptions, 2.0, mode)
        if SIMULATED_TIME in found.subscription.paths
    )
    assert (one[0], one[-1]) == (counters, SIMULATED_TIME)


@pytest.mark.parametrize("mode", SUBSCRIBE_MODES)
def test_a_stated_encoding_is_never_negotiated(mode: SubscribeMode) -> None:
    (one,) = rpcs(entry("/a", encoding="ascii"), mode=mode)
    assert one.subscription.encoding == gnmi_pb2.ASCII


@pytest.mark.parametrize(
    ("mode", "fields", "lasts_s"),
    [
        (SAMPLE, {}, 6.0),
        (SAMPLE, {"interval_s": 5.0}, 15.0),
        (SAMPLE, {"suppress_redundant": True}, math.inf),
        (SAMPLE, {"suppress_redundant": True, "heartbeat_s": 60.0}, 180.0),
        (ON_CHANGE, {}, math.inf),
        (ON_CHANGE, {"heartbeat_s": 60.0}, 180.0),
        (SubscriptionMode.TARGET_DEFINED, {}, math.inf),
        (SubscriptionMode.TARGET_DEFINED, {"heartbeat_s": 30.0}, 90.0),
        (SubscriptionMode.POLL, {"interval_s": 30.0}, 90.0),
        (SubscriptionMode.ONCE, {}, 6.0),
    ],
)
def test_a_value_is_true_for_three_of_what_its_target_sends_in_any_case(
    mode: SubscriptionMode, fields: dict[str, object], lasts_s: float
) -> None:
    (one,) = rpcs(entry("/a", mode, **fields))
    assert one.lasts_s == lasts_s


def test_a_request_says_what_the_subscription_says() -> None:
    defined, polled, quiet = (
        rpc.subscription.request().subscribe
        for rpc in rpcs(
            entry("/a", SubscriptionMode.TARGET_DEFINED, heartbeat_s=30.0, updates_only=True),
            entry("/b", SubscriptionMode.POLL, interval_s=9.0),
            entry("/c", suppress_redundant=True, heartbeat_s=60.0),
        )
    )
    (one,) = defined.subscription
    modes: Any = gnmi_pb2.SubscriptionMode
    assert (one.mode, one.heartbeat_interval, defined.updates_only) == (modes.TARGET_DEFINED, 30_000_000_000, True)
    assert (polled.mode, polled.subscription[0].sample_interval) == (LISTS.POLL, 0)
    (one,) = quiet.subscription
    assert (one.mode, one.suppress_redundant, one.heartbeat_interval) == (modes.SAMPLE, True, 60_000_000_000)


def test_a_stated_mode_is_never_negotiated() -> None:
    stated = (SubscriptionMode.TARGET_DEFINED, SubscriptionMode.POLL, SubscriptionMode.ONCE)
    found = rpcs(*(entry(f"/{mode}", mode) for mode in stated), mode=SAMPLED)
    assert [rpc.subscription.mode for rpc in found] == [LISTS.STREAM, LISTS.POLL, LISTS.ONCE]
    assert found[0].subscription.target_defined
