"""Jobs of other tools as transfers: a step takes what the closed form says, in the order of its dependencies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.topology.fabric_intents import fabric
from tests.workload.references import REFERENCE
from tests.workload.test_recorded_layers import HEAD, NOTHING
from tests.workload.test_recorded_traces import COMPUTE, RECEIVE, SEND, collective, node, traced

from railfab.errors import RailfabError
from railfab.topology import wire
from railfab.workload import Stage, estimate, stages
from railfab.workload.recorded import load_any_job

INTENT = fabric(hosts={"gpus": 4, "nic_ports": 2, "rate_gbps": 100})
TOPOLOGY = wire(INTENT)
"""Eight hosts with 4 GPUs on two segments."""
MB = 10**6


def staged(path: Path) -> tuple[Stage, float]:
    """The step of a job, and its duration in closed form [s]."""
    job, _ = load_any_job(path)
    (stage,) = stages(job, TOPOLOGY, INTENT)
    return stage, estimate(job, INTENT, TOPOLOGY).step_s


def sent_bytes(stage: Stage, source: str, target: str) -> float:
    return sum(each.payload_bytes for each in stage.transfers if (each.source[0], each.target[0]) == (source, target))


def test_a_trace_inside_a_host_takes_what_its_replay_does() -> None:
    stage, closed_s = staged(REFERENCE / "traces" / "layers")
    assert stage.ideal_s == pytest.approx(closed_s, rel=1e-4)
    assert stage.calls == (), "nothing crosses the network"


def test_operations_over_the_network_are_waited_for_or_hidden(tmp_path: Path) -> None:
    """Of eight ranks on two hosts: one AllReduce beside a longer computation, then one that is waited for."""
    rank = [node(1, COMPUTE, us=30_000), collective(2, size=64 * MB), collective(3, 1, 2, size=64 * MB)]
    stage, closed_s = staged(traced(tmp_path, *[rank] * 8))
    assert stage.ideal_s == pytest.approx(closed_s, rel=0.03)
    assert [(call.op, call.ranks, len(call.hosts)) for call in stage.calls] == [("allreduce", 8, 2)] * 2


def test_a_gpu_does_one_computation_after_another_in_the_order_of_the_replay(tmp_path: Path) -> None:
    """Node 1 is ready last and so comes last, though its number is the least; the processor computes beside."""
    rank = [node(1, COMPUTE, 4, us=5000), node(2, COMPUTE, us=3000), node(3, COMPUTE, us=7000)]
    rank += [node(4, COMPUTE, us=9000, is_cpu_op=True)]
    stage, closed_s = staged(traced(tmp_path, rank))
    assert stage.ideal_s == pytest.approx(closed_s) == pytest.approx(0.015)
    waits = {
        each.gap_ns // 10**6: [stage.transfers[place].gap_ns // 10**6 for place in each.after]
        for each in stage.transfers
    }
    assert waits == {3: [], 7: [3], 9: [], 5: [9, 7]}


def test_a_send_does_not_wait_for_its_receiver_and_the_receiver_does_for_it(tmp_path: Path) -> None:
    """Two sends of 50 MB one after another, over the two ports of a NIC; the receiver is busy for 1 ms at first."""
    first = [node(number, SEND, comm_dst=4, comm_size=50 * MB, comm_tag=number) for number in (1, 2)]
    second = [node(1, COMPUTE, us=1000)]
    second += [node(number, RECEIVE, 1, comm_src=0, comm_tag=number - 1) for number in (2, 3)]
    second += [node(4, COMPUTE, 3, us=2000)]
    stage, closed_s = staged(traced(tmp_path, first, [], [], [], second))
    hosts = [each.name for each in TOPOLOGY.hosts()]
    assert stage.ideal_s == pytest.approx(closed_s, rel=0.03)
    assert sent_bytes(stage, hosts[0], hosts[1]) == 100 * MB
    assert len(stage.calls) == 2


def test_what_takes_no_time_is_waited_for(tmp_path: Path) -> None:
    """A Barrier: all ranks go on when the slowest is there."""
    ranks = [
        [node(1, COMPUTE, us=us), collective(2, 1, kind=9), node(3, COMPUTE, 2, us=1000)] for us in (1000, 5000, 2000)
    ]
    stage, closed_s = staged(traced(tmp_path, *ranks))
    assert stage.ideal_s == pytest.approx(closed_s) == pytest.approx(0.006)


def written(path: Path, header: str, *rows: list[str]) -> Path:
    path.write_text("\n".join([header, str(len(rows)), *map("\t".join, rows)]) + "\n")
    return path


def layers(ns: int, op: str = "NONE", size_bytes: int = 0) -> list[str]:
    """A row of a layer: in each pass computation, and an operation of the forward and the backward pass."""
    passes = [str(ns), op, str(size_bytes)]
    return ["attention_row", "-1", *passes, *passes, str(ns), "NONE", "0", "100"]


@pytest.mark.parametrize(("tp", "pp", "vpp"), [(8, 1, 1), (4, 4, 1), (8, 2, 2)])
def test_a_text_of_layers_takes_what_the_closed_form_says(tmp_path: Path, tp: int, pp: int, vpp: int) -> None:
    """With rows of each micro-batch, gradients once in a step, and computation before them."""
    header = HEAD.replace(": 8 ep", f": {tp} ep").replace("pp: 1 vpp: 1 ga: 1", f"pp: {pp} vpp: {vpp} ga: 4")
    rows = [layers(2 * MB, "ALLGATHER", 8 * MB)] * 4
    rows += [["optimizer", "-1", *NOTHING, "5000000", "NONE", "0", "1", "REDUCESCATTER", str(64 * MB), "100"]]
    stage, closed_s = staged(written(tmp_path / "job.txt", f"{header.replace('64', '32')} pp_comm: {MB}", *rows))
    assert stage.ideal_s == pytest.approx(closed_s, rel=0.05)
    calls = Counter(call.op for call in stage.calls)
    assert calls["sendrecv"] == 2 * 4 * (pp * vpp - 1) * 32 // pp
    assert calls["reducescatter"] == tp * pp


def test_the_sample_of_aicb_is_a_job_of_a_twin() -> None:
    """Its 32 chunks are of one stage, which has nothing to interleave."""
    job, _ = load_any_job(REFERENCE / "aicb_mixtral_8x7b_head.txt")
    segments = {"count": 2, "hosts": 8, "rail_switches": 8, "model": "7220-ixr-d5"}
    hosts = {"gpus": 8, "nic_ports": 1, "rate_gbps": 400}
    intent = fabric(hosts=hosts, backend__segments=segments, backend__spines__count=8)
    topology = wire(intent)
    (stage,) = stages(job, topology, intent)
    assert stage.ideal_s == pytest.approx(estimate(job, intent, topology).step_s, rel=0.05)


def test_a_step_of_too_many_transfers_names_the_file_and_what_to_do(tmp_path: Path) -> None:
    rows = [layers(1, "ALLTOALL_EP", MB)]
    header = HEAD.replace(": 8 ep: 1", ": 1 ep: 32").replace("64", "32").replace("ga: 1", "ga: 2000")
    path = written(tmp_path / "job.txt", header, *rows)
    with pytest.raises(RailfabError) as raised:
        staged(path)
    assert str(raised.value) == (
        f"{path}: a step has more than 200,000 computations and transfers, which is the most of a twin. "
        "Use fewer hosts, micro-batches or steps, or `railfab simulate`."
    )
