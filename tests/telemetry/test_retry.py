"""How long the collector waits before it dials a target again."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from tests.telemetry.rack import INTERVAL_S, Rack, eventually

from railfab.telemetry import fabric_collector
from railfab.telemetry.retry import RetryPolicy
from railfab.topology import Topology

LEAF = "pod1-seg1-leaf1"


@dataclass(frozen=True, kw_only=True)
class Recording(RetryPolicy):
    """Waits a tenth of a second each time. failures: in a row, as it was told before each wait."""

    failures: list[int] = field(default_factory=list)

    def delay_s(self, failures: int, *, refused: bool, draw: random.Random) -> float:
        self.failures.append(failures)
        return 0.1


@pytest.mark.parametrize(
    ("failures", "refused", "bound_s"),
    [(1, False, 1.0), (2, False, 2.0), (4, False, 8.0), (9, False, 60.0), (1, True, 30.0), (99, True, 300.0)],
)
def test_the_wait_is_uniform_below_a_bound_that_doubles_with_each_failure(
    failures: int, refused: bool, bound_s: float
) -> None:
    draw = random.Random(1)
    waits = [RetryPolicy().delay_s(failures, refused=refused, draw=draw) for _ in range(1000)]
    assert 0 <= min(waits) < 0.05 * bound_s
    assert 0.95 * bound_s < max(waits) <= bound_s
    assert sum(waits) / len(waits) == pytest.approx(bound_s / 2, rel=0.1)


def test_failures_are_counted_from_one_again_after_a_session_that_was_up_long_enough(
    topology: Topology, rack: Rack
) -> None:
    policy = Recording(healthy_s=0.0, dial_timeout_s=2.0)
    with fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=policy) as collector:
        assert collector.wait_until_up(10)
        for _ in range(2):
            begun = len(policy.failures)
            rack.kill(LEAF)
            eventually(collector, lambda _, begun=begun: len(policy.failures) >= begun + 3)  # type: ignore[misc]
            assert policy.failures[begun : begun + 3] == [1, 2, 3]
            rack.revive(LEAF)
            eventually(collector, lambda now: now.value("fabric_collector_session_up", device=LEAF))
