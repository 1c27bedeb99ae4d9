"""Jobs that other tools wrote down, on the twin: as long as `simulate` says, and slower where a host is slow."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.forwarding.fabrics import MS
from tests.twin.small_fabric import small
from tests.twin.test_training_job import HOST, fabric
from tests.twin.twins import until
from tests.workload.test_recorded_layers import HEAD
from tests.workload.test_recorded_stages import layers, written
from tests.workload.test_recorded_traces import COMPUTE, RECEIVE, SEND, collective, node, traced

from railfab.errors import DeviceError
from railfab.simulate import faults, simulate_job
from railfab.twin import Twin
from railfab.twin.job_metrics import JobMetrics, registry
from railfab.workload import RecordedJob, Step
from railfab.workload.recorded import load_any_job

MB = 10**6


def trace(folder: Path, *, sends: bool = True) -> Path:
    """Eight ranks on four hosts: an AllReduce of all beside computation, then each rank sends to one four ranks on."""
    ranks = []
    for rank in range(8):
        nodes = [node(1, COMPUTE, us=4000), collective(2, size=32 * MB), node(3, COMPUTE, 1, 2, us=1000)]
        peer = (rank + 4) % 8
        sent = [node(4, SEND, 3, comm_dst=peer, comm_size=16 * MB)]
        received = [node(4, RECEIVE, comm_src=peer), node(5, COMPUTE, 3, 4, us=1000)]
        ranks.append([*nodes, *((sent if rank < 4 else received) if sends else [])])
    return traced(folder, *ranks)


def text(folder: Path) -> Path:
    """Two ranks of tensors, two stages and two replicas, which reduce their gradients at the end."""
    header = HEAD.replace(": 8 ep", ": 2 ep").replace("pp: 1 vpp: 1 ga: 1", "pp: 2 vpp: 1 ga: 4").replace("64", "8")
    optimizer = ["optimizer", "-1", *["1", "NONE", "0"] * 2, "1", "ALLREDUCE", str(32 * MB), "100"]
    return written(folder / "text.txt", f"{header} pp_comm: {2 * MB}", *[layers(MB // 2)] * 8, optimizer)


JOBS = {"trace": trace, "text": text}


def one_step(wanted: RecordedJob) -> tuple[Step, JobMetrics]:
    """The first step of a job on the small fabric, and its metrics."""
    running, metrics = fabric(), JobMetrics("small")
    metrics.begin(running.start(wanted))
    while running.job_status().steps < 1:
        running.advance(MS)
    metrics.take(running.finished_steps())
    step = running.job_status().recent[0]
    running.stop()
    return step, metrics


@pytest.mark.parametrize("kind", JOBS)
def test_a_recorded_step_takes_as_long_as_simulate_says_and_has_its_metrics(kind: str, tmp_path: Path) -> None:
    wanted, _ = load_any_job(JOBS[kind](tmp_path))
    step, metrics = one_step(wanted)
    assert step.duration_s == pytest.approx(simulate_job(wanted, small()).step.step_s, rel=0.06)
    assert step.duration_s == pytest.approx(step.ideal_s, rel=0.03)
    read = registry(metrics).get_sample_value
    labels = {"fabric": "small", "job_id": wanted.job}
    assert read("training_step_duration_seconds_count", {**labels, "host": HOST}) == 1
    assert read("training_step_ideal_seconds_total", labels) == step.ideal_s
    calls = read("training_collective_duration_seconds_count", {**labels, "host": HOST, "op": "allreduce"})
    assert calls == {"trace": 1, "text": 2}[kind]


@pytest.mark.parametrize("sends", [False, True])
def test_a_slow_host_makes_a_recorded_step_slow_as_simulate_says(sends: bool, tmp_path: Path) -> None:
    """Its AllReduce is beside 4 ms of computation no more; what it sends to a host that is not slow is not late."""
    wanted, _ = load_any_job(trace(tmp_path, sends=sends))
    fabric().set_host_rate(HOST, None, 20.0)
    try:
        step, _ = one_step(wanted)
    finally:
        fabric().set_host_rate(HOST, None, float("inf"))
    change = faults([f"slow-host={HOST}:20"], small().topology)
    assert step.duration_s > 1.2 * step.ideal_s
    assert step.duration_s == pytest.approx(simulate_job(wanted, small(), change=change).step.step_s, rel=0.12)


def test_a_running_twin_reads_a_recorded_job_itself(tmp_path: Path) -> None:
    """It has the path alone, and says so where the files are not as they were; the former job goes on."""
    wanted, _ = load_any_job(trace(tmp_path))
    with Twin(small(), state=tmp_path / "state", base_port=0, configured=True) as twin:
        twin.control.switch_job(wanted)
        until(lambda: twin.control.status().steps >= 1)
        status = twin.control.status()
        assert (status.job, status.step_ideal_s) == ("job", pytest.approx(status.last_step_s, rel=0.05))
        (tmp_path / "job.3.et").unlink()
        with pytest.raises(DeviceError, match=r"job\.3\.et: there is no trace of rank 3, and one of rank 7"):
            twin.control.switch_job(wanted)
        assert twin.control.status().job == "job"
