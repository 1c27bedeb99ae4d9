"""What the collector counts of a target, and how much of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from railfab.endpoints import Endpoint
from railfab.platforms import SubscriptionMode, TelemetrySubscription, platform
from railfab.telemetry import Collector
from railfab.telemetry.health import MOST_ROOTS, OTHER_ROOTS, Health
from railfab.telemetry.targets import TargetSpec

WHERE = Endpoint(name="leaf1", platform="eos", host="127.0.0.1", gnmi_port=1, credentials="none", plaintext=True)
ON_CHANGE = TelemetrySubscription(path="/a", mode=SubscriptionMode.ON_CHANGE)
SAMPLE = TelemetrySubscription(path="/b", mode=SubscriptionMode.SAMPLE)


def test_leaves_without_a_rule_are_counted_by_root_and_beyond_a_bound_together() -> None:
    health = Health(tls_verified=True)
    roots = [f"/root{number}" for number in range(MOST_ROOTS + 2)]
    for _ in range(2):
        health.count_unmapped(Counter(roots))
    assert [root for root in health.unmapped if root != OTHER_ROOTS] == roots[:MOST_ROOTS]
    assert {health.unmapped[root] for root in roots[:MOST_ROOTS]} == {2}
    assert health.unmapped[OTHER_ROOTS] == 4


@pytest.mark.parametrize(
    ("subscriptions", "interval_s"),
    [
        ([SAMPLE], [120.0]),
        ([SAMPLE, replace(SAMPLE, interval_s=30.0), replace(ON_CHANGE, heartbeat_s=5.0)], [30.0]),
        ([replace(SAMPLE, suppress_redundant=True, heartbeat_s=300.0)], [300.0]),
        ([replace(SAMPLE, mode=SubscriptionMode.POLL, interval_s=90.0)], [90.0]),
        ([replace(SAMPLE, suppress_redundant=True), replace(ON_CHANGE, heartbeat_s=5.0)], []),
    ],
)
def test_the_time_in_which_a_sample_is_due_is_exposed_where_one_is(
    subscriptions: list[TelemetrySubscription], interval_s: list[float]
) -> None:
    telemetry = replace(platform("eos").telemetry, subscriptions=tuple(subscriptions))
    spec = TargetSpec(name="leaf1", platform="eos", endpoint=WHERE, telemetry=telemetry)
    snapshot = Collector([spec], interval_s=120.0).snapshot()
    found = snapshot.select("fabric_collector_sample_interval_seconds", device="leaf1", subscription="sample")
    assert [value for _, value in found] == interval_s
