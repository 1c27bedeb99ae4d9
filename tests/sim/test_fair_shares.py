"""Max-min fair rates worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sim.fluid_flows import rows

from railfab.sim.fluid import fluid_rates


@pytest.mark.parametrize(
    ("paths", "capacity", "rates"),
    [
        ([[0], [0, 1], [1]], [10.0, 4.0], [8.0, 2.0, 2.0]),
        ([[0], [1]], [100.0, 100.01], [100.0, 100.01]),
        ([[0], [0], [0], [1]], [1.0, 0.1 + 0.2], [1 / 3, 1 / 3, 1 / 3, 0.3]),
        ([[0], [1]], [0.0, 5.0], [0.0, 5.0]),
        ([[0, 1], [0], [1]], [9.0, 9.0], [4.5, 4.5, 4.5]),
        ([[], [0]], [7.0], [np.inf, 7.0]),
        ([], [7.0], []),
    ],
    ids=["bottleneck", "nearly equal links", "rounding", "no capacity", "two full links", "no link", "no flow"],
)
@pytest.mark.timeout(20)
def test_a_link_that_is_full_stops_its_flows_and_no_other(
    paths: list[list[int]], capacity: list[float], rates: list[float]
) -> None:
    assert fluid_rates(rows(paths), np.array(capacity)).tolist() == pytest.approx(rates, rel=1e-9)
