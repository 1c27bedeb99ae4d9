"""A fast part of the comparison with ns-3; `benchmarks/bench_simulator.py` makes all of it.

Bounds are those of the physics, not of the benchmark: wide enough for another order of random draws (the spread over
seeds is in `benchmarks/simulator.md`), and much narrower than what a wrong threshold, timer or order of packets does.
"""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import fmean

import pytest

from railfab.sim.replay.run import run
from railfab.sim.replay.scenario import load

SCENARIOS = Path(__file__).resolve().parents[1] / "reference" / "simulator" / "scenarios"


def reference(name: str, column: str) -> float:
    with (SCENARIOS / name / "seeds.csv").open(newline="") as lines:
        return fmean(float(row[column]) for row in csv.DictReader(lines))


def ours(name: str, seeds: int) -> dict[str, float]:
    scenario = load(SCENARIOS / name)
    rows = [run(scenario, seed=seed).result.row() for seed in range(1, seeds + 1)]
    return {column: fmean(row[column] or 0.0 for row in rows) for column in rows[0]}


@pytest.mark.parametrize("name", ["incast2_pfconly", "incast8_pfconly", "ls16_victim_pfconly"])
def test_without_draws_a_run_is_the_references(name: str) -> None:
    """Fixed rates and PFC: times to 0.2 %, the longest queue to a packet or two, pauses to a few in a hundred."""
    found = ours(name, seeds=1)
    for column in ("jct_ns", "fct_mean_ns", "paused_ns"):
        assert found[column] == pytest.approx(reference(name, column), rel=0.002), column
    assert found["q_max_bytes"] == pytest.approx(reference(name, "q_max_bytes"), abs=2100)
    assert found["pause_rx"] == pytest.approx(reference(name, "pause_rx"), rel=0.04)
    assert found["ecn_marked"] == found["drops"] == 0


@pytest.mark.parametrize(
    "name", ["incast2_dcqcn_paper", "incast8_dcqcn_shallow", "incast16_dcqcn_pfc", "ls16_perm_ecmp", "ls64_perm_ecmp"]
)
def test_dcqcn_has_the_times_marks_and_queues_of_the_reference(name: str) -> None:
    found = ours(name, seeds=3)
    assert found["jct_ns"] == pytest.approx(reference(name, "jct_ns"), rel=0.06)
    assert found["fct_mean_ns"] == pytest.approx(reference(name, "fct_mean_ns"), rel=0.04)
    assert found["ecn_marked"] == pytest.approx(reference(name, "ecn_marked"), rel=0.2)
    assert found["q_max_bytes"] == pytest.approx(reference(name, "q_max_bytes"), rel=0.15)
    assert found["drops"] == 0


def test_pauses_beside_dcqcn_are_as_many_as_in_the_reference() -> None:
    name = "incast16_dcqcn_pfc"
    assert ours(name, seeds=3)["pause_rx"] == pytest.approx(reference(name, "pause_rx"), rel=0.25)


def test_all_to_all_at_once_keeps_queues_short() -> None:
    """64 hosts send to all others in the same order: a model that lets packets of one moment collide has 223 kB."""
    found = ours("ls64_a2a", seeds=1)
    assert found["jct_ns"] == pytest.approx(reference("ls64_a2a", "jct_ns"), rel=0.01)
    assert found["q_max_bytes"] == pytest.approx(reference("ls64_a2a", "q_max_bytes"), rel=0.25)
    assert found["ecn_marked"] == 0
