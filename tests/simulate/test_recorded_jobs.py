"""Jobs of other tools on the links of a fabric: the same operation waits on the same link, from any file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workload.test_recorded_traces import COLLECTIVE, RECEIVE, SEND, node, traced

from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import SweepRun, faults, simulate_job
from railfab.workload import RecordedJob
from railfab.workload.recorded import load_any_job

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
ALL_TO_ALL = 6
SIZE_BYTES = 64_000_000


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


def text(folder: Path, ranks: int) -> Job | RecordedJob:
    row = f"one\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLTOALL\t{SIZE_BYTES}\t1"
    (folder / "job.txt").write_text(f"MICRO all_gpus: {ranks}\n1\n{row}\n")
    return load_any_job(folder / "job.txt")[0]


def traces(folder: Path, ranks: int) -> Job | RecordedJob:
    whole = [node(1, COLLECTIVE, comm_type=ALL_TO_ALL, comm_size=SIZE_BYTES)]
    return load_any_job(traced(folder, *[whole] * ranks))[0]


@pytest.mark.parametrize("recorded", [text, traces])
@pytest.mark.parametrize("hosts", [6, 8])
def test_an_operation_waits_on_the_link_of_a_job_file(
    recorded: Callable[[Path, int], Job | RecordedJob], hosts: int, tmp_path: Path, pod64: Design
) -> None:
    """On one spine of four, with all hosts and with the first six."""
    narrow = faults([f"switch=pod1-spine{number}" for number in (1, 2, 3)], pod64.topology)
    phases = [{"collective": {"op": "alltoall", "bytes": SIZE_BYTES, "group": "all"}}]
    job = Job.model_validate({"version": 1, "job": "made", "hosts": hosts, "phases": phases})
    here = simulate_job(recorded(tmp_path, 8 * hosts), pod64, change=narrow)
    there = simulate_job(job, pod64, change=narrow)
    for held, same in zip(here.contentions, there.contentions, strict=True):
        assert (held.slowest_s, held.ideal_s, held.link) == (same.slowest_s, same.ideal_s, same.link)
        assert "pod1-spine4" in held.link
    assert [turn.call_s for turn in here.step.collectives] == [turn.call_s for turn in there.step.collectives]


def test_a_run_of_a_sweep_is_another_one_when_the_trace_of_any_rank_changes(tmp_path: Path) -> None:
    traces(tmp_path, 4)
    runs = [SweepRun(str(FABRICS / "pod64.yml"), str(tmp_path / "job")) for _ in range(2)]
    before = runs[0].key
    (tmp_path / "job.3.et").write_bytes((tmp_path / "job.3.et").read_bytes() + b"\0")
    assert runs[1].key != before


def test_a_slow_host_delays_the_sends_that_it_receives_and_no_others(tmp_path: Path, pod64: Design) -> None:
    """Rank 0 sends to rank 8 on the next host."""
    sender = [node(1, SEND, comm_dst=8, comm_size=SIZE_BYTES)]
    receiver = [node(1, RECEIVE, comm_src=0)]
    job = load_any_job(traced(tmp_path, sender, *[[]] * 7, receiver))[0]
    source, target = (host.name for host in pod64.topology.hosts()[:2])

    def step_s(*named: str) -> float:
        return simulate_job(job, pod64, change=faults(named, pod64.topology)).step.step_s

    healthy_s = step_s()
    assert step_s(f"slow-host={source}:20") == healthy_s
    assert step_s(f"slow-host={target}:20") > 2 * healthy_s
