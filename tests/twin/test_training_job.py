"""The step of a model on the twin: as long as `railfab simulate` says, and slower where something is slow."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from tests.forwarding.fabrics import MS
from tests.twin.small_fabric import LEAF, UPLINK, oversubscribed, small, stored
from tests.twin.twins import REPOSITORY

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.routed import models_in_effect
from railfab.forwarding import Marking
from railfab.intent import Job
from railfab.simulate import faults, simulate_job
from railfab.topology import PortKey, Role
from railfab.twin.ideal_steps import DesignLinks
from railfab.twin.job_metrics import JobMetrics, registry
from railfab.twin.live import LiveFabric
from railfab.twin.served import require_served, require_traffic
from railfab.workload import Step, stages
from railfab.workload.ideal_times import between_host_ports

HOST, OTHER_HOST = "pod1-seg1-host1", "pod1-seg2-host1"
MODEL = {"layers": 8, "hidden": 1024, "heads": 8, "ffn": 2816, "vocabulary": 8192, "sequence": 1024}
PARALLELISM = {"tp": 2, "pp": 2, "micro_batches": 4}


def job(**fields: Any) -> Job:
    return Job.model_validate({"version": 1, "job": "made", "model": MODEL, "parallelism": PARALLELISM, **fields})


def live(planned: Design) -> LiveFabric:
    made = LiveFabric(planned.topology, design=planned, at_once=True)
    made.configure_all(models_in_effect(planned, planned.models))
    return made


@cache
def fabric() -> LiveFabric:
    return live(small())


def steps(running: LiveFabric, wanted: Job, count: int = 1, metrics: JobMetrics | None = None) -> tuple[Step, ...]:
    """The first steps of a job."""
    begun = running.start(wanted.model_copy(update={"repeat": count}))
    if metrics is not None:
        metrics.begin(begun)
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
    metrics = JobMetrics("small")
    steps(running, wanted, 2, metrics)
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
    metrics = JobMetrics("small")
    (step,) = steps(fabric(), job(), metrics=metrics)
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


SPREAD = {"tp": 2, "micro_batches": 1}
"""Replicas on all hosts, which reduce their gradients over the spines."""


def fair_s(planned: Design, wanted: Job) -> float:
    """The ideal before a step was measured."""
    links = DesignLinks(planned, Marking().seed)
    return stages(wanted, planned.topology, planned.intent, ideal=links.seconds)[0].ideal_s or 0.0


def test_the_ideal_of_a_job_is_that_on_its_design_with_few_uplinks() -> None:
    """Between the ports of hosts alone the step would be half as long again as it should."""
    planned, wanted = oversubscribed(), job(parallelism=SPREAD)
    (step,) = steps(live(planned), wanted)
    ports = between_host_ports(planned.intent, planned.topology)
    assert step.duration_s > 1.4 * ports(stages(wanted, planned.topology, planned.intent)[0].transfers)
    assert fair_s(planned, wanted) < step.duration_s < 1.2 * fair_s(planned, wanted)
    assert step.ideal_s == step.duration_s, "the fabric is as it is designed"


def test_a_step_that_lost_an_uplink_is_slow_and_one_on_the_mended_fabric_is_not() -> None:
    running, wanted = live(oversubscribed()), job(parallelism=SPREAD)
    running.start(wanted)

    def next_step() -> Step:
        """The step after the present one."""
        count = running.job_status().steps + 2
        while running.job_status().steps < count:
            running.advance(5 * MS)
        return running.job_status().recent[-1]

    healthy = next_step()
    running.set_link(LEAF, UPLINK, up=False)
    slow = next_step()
    running.set_link(LEAF, UPLINK, up=True)
    mended = next_step()
    assert slow.duration_s > 1.2 * slow.ideal_s
    assert slow.ideal_s == pytest.approx(healthy.ideal_s, rel=0.05)
    assert mended.duration_s < 1.05 * mended.ideal_s


def test_an_uplink_that_is_missing_from_the_first_step_on_makes_it_slow() -> None:
    running = live(oversubscribed())
    running.set_link(LEAF, UPLINK, up=False)
    (step,) = steps(running, job(parallelism=SPREAD))
    assert step.duration_s > 1.2 * step.ideal_s


LAW_JOBS: dict[str, dict[str, Any]] = {
    "packed": {"parallelism": {"tp": 8, "micro_batches": 4}},
    "scattered": {"parallelism": {"tp": 8, "pp": 2, "micro_batches": 4}, "placement": {"hosts": "scattered"}},
    "stages in a host": {"parallelism": {"tp": 4, "pp": 4, "micro_batches": 4}},
}
FABRICS = {path.stem: path for path in (REPOSITORY / "inventory" / "fabrics").glob("*.yml")}
LARGE = {"gpu131072", "gpu16384", "gpu32768"}
"""Whose step has too many transfers for a twin, or takes hours."""


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if (name, kind) == ("pod64", "scattered") else pytest.mark.matrix)
        for name in sorted(FABRICS.keys() - LARGE)
        for kind in LAW_JOBS
    ],
)
def test_no_job_is_slow_on_a_healthy_design(name: str, kind: str) -> None:
    """Neither against the ideal that is computed, nor against that of the steps that were measured."""
    planned = design(FABRICS[name])
    try:
        require_served(planned)
        require_traffic(planned)
    except RailfabError:
        pytest.skip("the twin does not serve it")
    wanted = job(**LAW_JOBS[kind], hosts=min(16, len(planned.topology.hosts())))
    for step in steps(live(planned), wanted, 2):
        assert step.duration_s < 1.2 * step.ideal_s
        assert step.duration_s < 1.2 * fair_s(planned, wanted)


def collective_counts(metrics: JobMetrics) -> dict[str, float]:
    read = registry(metrics).get_sample_value
    labels = {"fabric": "small", "job_id": "made", "host": HOST}
    counts = {
        op: read("training_collective_duration_seconds_count", {**labels, "op": op})
        for op in ("sendrecv", "reducescatter")
    }
    return {op: count or 0.0 for op, count in counts.items()}


def test_operations_are_counted_while_their_step_runs_and_once() -> None:
    """A step of a large model takes minutes of a core, and a mistake shows in its operations before."""
    metrics, running = JobMetrics("small"), fabric()
    wanted = job().model_copy(update={"repeat": 2})
    metrics.begin(running.start(wanted))
    during: list[dict[str, float]] = []
    while running.job_status().steps < 1:
        running.advance(MS)
        if running.job_status().steps == 0:
            metrics.take_calls(running.ended_calls())
            during.append(collective_counts(metrics))
    metrics.take(running.finished_steps())
    step_of = collective_counts(metrics)
    assert step_of["sendrecv"] == 2 * 2 * 4
    assert any(0 < counts["sendrecv"] < step_of["sendrecv"] for counts in during)
    assert sum(during[-1].values()) < sum(step_of.values())
    while running.job_status().steps < 2:
        running.advance(MS)
        metrics.take(running.finished_steps())
        metrics.take_calls(running.ended_calls())
    assert collective_counts(metrics) == {op: 2 * count for op, count in step_of.items()}


def to_servers(planned: Design) -> set[PortKey]:
    """The ports of the storage network that lead to servers."""
    return {
        (near.node, near.name)
        for near, far, _ in planned.topology.ports()
        if planned.topology.node(far.node).role is Role.SERVER
    }


def sent_bytes(running: LiveFabric, ports: set[PortKey]) -> float:
    """Bytes that the leaves of the storage network have sent to servers."""
    return sum(
        sample.value
        for leaf in {node for node, _ in ports}
        for sample in running.samples(leaf)
        if sample.metric == "fabric_interface_transmit_bytes_total" and (leaf, sample.labels["interface"]) in ports
    )


@pytest.mark.parametrize("protocol", ["roce", "nvme-tcp"])
def test_a_checkpoint_is_written_to_the_storage_servers(protocol: str) -> None:
    """Its bytes cross the ports of servers in every second step, which takes as long as the ports and servers need."""
    planned, wanted = stored(protocol), job(checkpoint={"every_steps": 2, "bytes": "400MB"})
    running, servers = live(planned), to_servers(planned)
    (first,) = steps(running, wanted, 1)
    assert sent_bytes(running, servers) == 0
    first, second = steps(running, wanted, 2)
    write_s = 400e6 / (2 * 2 * 100e9 / 8)
    assert second.duration_s - first.duration_s == pytest.approx(write_s, rel=0.6 if protocol == "roce" else 0.1)
    assert sent_bytes(running, servers) == pytest.approx(400e6, rel=0.03)


def test_the_progress_of_a_step_is_shown_from_its_beginning_to_its_end() -> None:
    """With what it should take, known before a step has ended; a job of phases, whose ideal is not, has none."""
    running = fabric()
    metrics = JobMetrics("small", lambda: running.job_status().progress)
    metrics.begin(running.start(job().model_copy(update={"repeat": 1})))
    seen: list[tuple[float, float]] = []
    while running.job_status().steps < 1:
        read = registry(metrics).get_sample_value
        values = [
            read(f"training_step_{name}", {"fabric": "small", "job_id": "made"})
            for name in ("progress_ratio", "present_elapsed_seconds", "present_ideal_seconds")
        ]
        share, elapsed_s, ideal_s = (value for value in values if value is not None)
        seen.append((share, elapsed_s))
        running.advance(MS)
    (step,) = running.job_status().recent
    assert seen == sorted(seen)
    assert seen[0] == (0.0, 0.0)
    assert 0.7 < seen[-1][0] < 1.0
    assert step.duration_s - seen[-1][1] < 0.002
    assert ideal_s == pytest.approx(step.duration_s, rel=0.05)
    assert running.job_status().progress is None, "it has ended"
    phases = [{"collective": {"op": "allreduce", "bytes": 10**6}}]
    running.start(Job.model_validate({"version": 1, "job": "made", "phases": phases}))
    assert running.job_status().progress is None
    running.stop()


def mean_s(running: LiveFabric, wanted: Job, count: int) -> float:
    """Mean duration of the last steps of a job, of which each second one ends with a checkpoint."""
    recent = steps(running, wanted, count)
    return sum(step.duration_s for step in recent[-2:]) / 2


@pytest.mark.parametrize("protocol", ["nvme-tcp", pytest.param("roce", marks=pytest.mark.matrix)])
def test_an_asynchronous_checkpoint_is_written_beside_the_next_steps(protocol: str) -> None:
    """GPUs wait for the copy to their hosts, and for the checkpoint before where its write takes longer than two steps:
    as `railfab simulate` says."""
    planned = stored(protocol)
    running = live(planned)
    for size, storage_gbps in (("40MB", 400), ("200MB", 20)):
        stated = {"bytes": size, "storage_gbps": storage_gbps, "asynchronous": True, "copy_gbps": 100}
        wanted = job(checkpoint={"every_steps": 2, **stated})
        told = simulate_job(wanted, planned).step
        assert told.checkpoint is not None
        assert (told.checkpoint.waits_s > 5 * told.checkpoint.copy_s) == (storage_gbps == 20), "what the case is about"
        assert mean_s(running, wanted, 6) == pytest.approx(told.step_s, rel=0.03)


def test_a_checkpoint_in_the_background_has_its_ideal_and_all_of_its_bytes() -> None:
    planned = stored("roce")
    running, servers = live(planned), to_servers(planned)
    before = sent_bytes(running, servers)
    made = steps(running, job(checkpoint={"every_steps": 1, "bytes": "40MB", "asynchronous": True}), 4)
    for step in made:
        assert step.duration_s == pytest.approx(step.ideal_s, rel=0.05)
    running.advance(50 * MS)
    assert sent_bytes(running, servers) - before == pytest.approx(4 * 40e6, rel=0.03)
