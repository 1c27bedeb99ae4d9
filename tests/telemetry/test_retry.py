"""How long the collector waits before it dials a target again."""

from __future__ import annotations

import random

import pytest

from railfab.telemetry.retry import Policy


@pytest.mark.parametrize(
    ("failures", "refused", "bound_s"),
    [(1, False, 1.0), (2, False, 2.0), (4, False, 8.0), (9, False, 60.0), (1, True, 30.0), (99, True, 300.0)],
)
def test_the_wait_is_uniform_below_a_bound_that_doubles_with_each_failure(
    failures: int, refused: bool, bound_s: float
) -> None:
    draw = random.Random(1)
    waits = [Policy().delay_s(failures, refused=refused, draw=draw) for _ in range(1000)]
    assert 0 <= min(waits) < 0.05 * bound_s
    assert 0.95 * bound_s < max(waits) <= bound_s
    assert sum(waits) / len(waits) == pytest.approx(bound_s / 2, rel=0.1)
