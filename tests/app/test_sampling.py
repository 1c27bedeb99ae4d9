"""The sample interval follows from the size of the fabric and the cores of the machine."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.app import sampling
from railfab.app.sampling import (
    CPU_S_PER_LEAF,
    CPU_SHARE,
    INTERVALS_S,
    USED_CORES,
    choose_sampling,
    shortest_interval_s,
)
from railfab.app.up import Options, up
from railfab.errors import LabError
from railfab.fabric import Design, design
from railfab.intent import load_job


@pytest.fixture(scope="module")
def pod64(repository: Path) -> Design:
    return design(repository / "inventory" / "fabrics" / "pod64.yml")


@given(st.integers(0, 10_000_000), st.integers(1, 128))
def test_the_interval_is_the_shortest_that_leaves_the_simulation_its_share(leaves: int, cores: int) -> None:
    chosen_s = shortest_interval_s(leaves, cores)
    budget_s = min(cores, USED_CORES) * CPU_SHARE * (1 + 1e-9)
    fitting = [interval_s for interval_s in INTERVALS_S if leaves * CPU_S_PER_LEAF <= interval_s * budget_s]
    assert chosen_s == min(fitting, default=INTERVALS_S[-1])


@pytest.mark.parametrize(
    ("cores", "text"),
    [(2, "sampling every 1 s: 8 switches on 2 cores"), (1, "sampling every 1 s: 8 switches on 1 core")],
)
def test_pod64_is_sampled_every_second(pod64: Design, monkeypatch: pytest.MonkeyPatch, cores: int, text: str) -> None:
    monkeypatch.setattr(sampling, "usable_cores", lambda: cores)
    assert str(choose_sampling(pod64, None)) == text


def test_72_switches_are_sampled_less_often(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "usable_cores", lambda: 2)
    fabric = design(repository / "benchmarks" / "fabrics" / "multi-pod-72.yml")
    assert str(choose_sampling(fabric, None)) == "sampling every 5 s: 72 switches on 2 cores"


def test_a_stated_interval_is_taken(pod64: Design) -> None:
    assert str(choose_sampling(pod64, 0.5)).startswith("sampling every 0.5 s: 8 switches on ")


def test_a_turn_shorter_than_the_samples_of_a_job_is_refused(pod64: Design, repository: Path, tmp_path: Path) -> None:
    job = load_job(repository / "inventory" / "jobs" / "ring.yml")
    options = Options(jobs=(job,), state=tmp_path, sampling=choose_sampling(pod64, 5.0), turn_s=10.0)
    problem = r"--turn 10: is too short: samples every 5 s measure a job after 15 s\. Use 15 or more, or a shorter --i"
    with pytest.raises(LabError, match=problem):
        up(pod64, options, show=print, report=print, stop_requested=None)  # type: ignore[arg-type]


def test_a_single_job_without_an_end_runs_on(pod64: Design, repository: Path, tmp_path: Path) -> None:
    """Started again in every turn, the step of a large model would never end."""
    ring, model = (load_job(repository / "inventory" / "jobs" / f"{name}.yml") for name in ("ring", "llama3-70b"))
    ending = ring.model_copy(update={"repeat": 3})
    turns_s = [
        Options(jobs=jobs, state=tmp_path, sampling=choose_sampling(pod64, 1.0)).job_turn_s
        for jobs in ((model,), (ring,), (ending,), (model, ring))
    ]
    assert turns_s == [inf, inf, 10.0, 10.0]


def test_a_turn_is_long_enough_for_the_interval(pod64: Design, tmp_path: Path) -> None:
    turns_s = [
        Options(jobs=(), state=tmp_path, sampling=choose_sampling(pod64, interval_s)).job_turn_s
        for interval_s in (0.5, 1.0, 5.0)
    ]
    assert turns_s == [10.0, 10.0, 25.0]
