"""The step of a model on the twin: as long as `railfab simulate` says, and slower where something is slow."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from tests.forwarding.fabrics import MS
from tests.twin.small_fabric import small

from railfab.intent import Job
from railfab.simulate import faults, simulate_job
from railfab.twin.job_metrics import JobMetrics, registry
from railfab.twin.live import LiveFabric
from railfab.workload import Step

HOST, OTHER_HOST = "pod1-seg1-host1", "pod1-seg2-host1"
MODEL = {"layers": 8, "hidden": 1024, "heads": 8, "ffn": 2816, "vocabulary": 8192, "sequence": 1024}
PARALLELISM = {"tp": 2, "pp": 2, "micro_batches": 4}


def job(**fields: Any) -> Job:
    return Job.model_validate({"version": 1, "job": "made", "model": MODEL, "parallelism": PARALLELISM, **fields})


@cache
def fabric() -> LiveFabric:
    made = LiveFabric(small().topology, intent=small().intent, at_once=True)
    made.configure_all(dict(small().models))
    return made


def steps(running: LiveFabric, wanted: Job, count: int = 1) -> tuple[Step, ...]:
    """The first steps of a job."""
    running.start(wanted.model_copy(update={"repeat": count}))
    while running.job_status().steps < count:
        running.advance(5 * MS)
    return running.job_status().recent


def test_a_step_takes_as_long_as_simulate_says() -> None:
    (step,) = steps(fabric(), job())
    assert step.duration_s == pytest.approx(simulate_job(job(), small()).step.step_s, rel=0.03)
    assert step.duration_s == pytest.approx(step.ideal_s, rel=0.03)
    assert 0.1 * step.duration_s < step.communication_s < step.duration_s


def test_a_step_on_a_slow_host_takes_as_long_as_simulate_says() -> None:
    """A host that takes a fifth of the rate of its NICs."""
    running = fabric()
    running.set_host_rate(HOST, None, 20.0)
    try:
        (step,) = steps(running, job())
    finally:
        running.set_host_rate(HOST, None, float("inf"))
    change = faults([f"slow-host={HOST}:20"], small().topology)
    assert step.duration_s == pytest.approx(simulate_job(job(), small(), change=change).step.step_s, rel=0.1)
    assert step.duration_s > 1.2 * step.ideal_s


def over_ideal(running: LiveFabric, wanted: Job) -> float:
    """Duration of two steps over their ideal, from the metrics that `FabricJobSlow` reads."""
    metrics = JobMetrics("small", tuple(node.name for node in small().topology.hosts()))
    metrics.begin(wanted)
    steps(running, wanted, 2)
    metrics.take(running.finished_steps())
    read = registry(metrics).get_sample_value
    labels = {"fabric": "small", "job_id": "made"}
    seconds = read("training_step_duration_seconds_sum", {**labels, "host": HOST})
    ideal = read("training_step_ideal_seconds_total", labels)
    assert seconds is not None
    assert ideal
    return seconds / ideal


def test_a_healthy_job_is_as_fast_as_its_ideal_and_stragglers_are_slower() -> None:
    links = [{"link": f"{OTHER_HOST}:rail{rail}-p0", "factor": 5} for rail in (1, 2)]
    assert over_ideal(fabric(), job()) < 1.05
    assert over_ideal(fabric(), job(stragglers=[{"host": HOST, "factor": 6}])) > 1.2
    assert over_ideal(fabric(), job(stragglers=links)) > 1.2
    assert over_ideal(fabric(), job()) < 1.05


def test_the_operations_of_a_step_are_measured_on_their_hosts() -> None:
    metrics = JobMetrics("small", tuple(node.name for node in small().topology.hosts()))
    metrics.begin(job())
    (step,) = steps(fabric(), job())
    metrics.take(fabric().finished_steps())
    read = registry(metrics).get_sample_value
    labels = {"fabric": "small", "job_id": "made", "host": HOST}
    counts = {
        op: read("training_collective_duration_seconds_count", {**labels, "op": op})
        for op in ("sendrecv", "reducescatter", "allgather", "allreduce")
    }
    calls = {op: sum(len(each.seconds) for each in step.calls if each.op == op and HOST in each.hosts) for op in counts}
    assert counts == {op: count or None for op, count in calls.items()}
    assert counts["sendrecv"] == 2 * 2 * 4
    bandwidth = read("training_collective_bus_bandwidth_bytes_per_second", {**labels, "op": "reducescatter"})
    assert bandwidth is not None
    assert 6e9 < bandwidth < 12.5e9
