"""A job on a design in closed form: what the parts of a step are, and that each key of a job or design changes it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.errors import RailfabError
from railfab.intent import Job
from railfab.topology import Node, Role, Topology, wire
from railfab.workload import JobEstimate, estimate

ROOMY = {"gpus": 8, "nic_ports": 2, "rate_gbps": 200, "gpu_memory_gb": 192}


def estimated(design: dict[str, Any] | None = None, **fields: Any) -> JobEstimate:
    """Llama 3 8B on 8 hosts, where nothing else is said."""
    intent = fabric(hosts=design or ROOMY)
    written = {"version": 1, "job": "made", **({} if "phases" in fields else {"model": "llama3-8b"}), **fields}
    return estimate(Job.model_validate(written), intent, wire(intent))


def with_parallelism(algorithm: dict[str, Any] | None = None, **parallelism: Any) -> JobEstimate:
    return estimated(parallelism={"micro_batches": 8, **parallelism}, algorithm=algorithm)


def test_the_parts_of_a_step_make_its_duration() -> None:
    step = with_parallelism(tp=4, pp=2)
    assert step.step_s == pytest.approx(step.compute_s + step.bubble_s + sum(step.exposed_s.values()))
    assert min(step.bubble_s, *step.exposed_s.values()) > 0
    assert (step.tier, step.gpus) == ("closed form", 64)
    assert "failures" in step.not_seen


def test_the_share_of_the_peak_is_the_stated_one_where_nothing_waits() -> None:
    """But for the padding of the vocabulary."""
    step = estimated(hosts=1, parallelism={"micro_batches": 2}, gpu={"efficiency": 0.5})
    assert step.flop_share == pytest.approx(0.5 * step.compute_s / step.step_s, rel=1e-3)
    assert step.compute_s / step.step_s > 0.99


def test_chunks_shrink_the_bubble_and_more_micro_batches_its_share() -> None:
    plain, chunks, more = (with_parallelism(tp=4, pp=2, **each) for each in ({}, {"vpp": 4}, {"micro_batches": 16}))
    assert chunks.bubble_s == pytest.approx(plain.bubble_s / 4, rel=0.05)
    assert more.bubble_s / more.step_s == pytest.approx(plain.bubble_s / plain.step_s / 2, rel=0.1)


def test_gradients_are_exposed_without_overlap() -> None:
    hidden, exposed = with_parallelism(tp=2), with_parallelism(tp=2, overlap=False)
    assert exposed.exposed_s["dp"] > 10 * hidden.exposed_s["dp"]
    assert exposed.compute_s == hidden.compute_s


def test_zero_3_waits_for_parameters_that_computation_does_not_hide() -> None:
    """Each rank gathers 2 GB of parameters by its NIC before each pass of a micro-batch, which is shorter."""
    once, always, alone = (
        with_parallelism(tp=8, optimizer=name, overlap=overlap)
        for name, overlap in (("distributed", True), ("zero-3", True), ("zero-3", False))
    )
    assert once.exposed_s["dp"] < always.exposed_s["dp"] < alone.exposed_s["dp"]
    assert once.compute_s == always.compute_s
    assert always.memory_bytes is not None
    assert once.memory_bytes is not None
    assert always.memory_bytes < once.memory_bytes


def test_recomputation_adds_a_forward_pass() -> None:
    """The output layer is not computed again."""
    plain, again = with_parallelism(tp=8), with_parallelism(tp=8, recompute=True)
    assert 1.2 < again.compute_s / plain.compute_s < 4 / 3
    assert again.memory_bytes < plain.memory_bytes


def test_a_faster_nic_shortens_what_leaves_the_host_and_nothing_else() -> None:
    slow, fast = (
        estimated(design={**ROOMY, "rate_gbps": rate}, parallelism={"tp": 8, "overlap": False}) for rate in (100, 200)
    )
    assert slow.exposed_s["dp"] == pytest.approx(2 * fast.exposed_s["dp"], rel=0.01)
    assert (slow.compute_s, slow.exposed_s["tp"]) == (fast.compute_s, fast.exposed_s["tp"])


def test_tensor_ranks_without_a_scale_up_network_wait_for_the_nic() -> None:
    joined, apart = (
        estimated(design={**ROOMY, "scale_up": up}, parallelism={"tp": 8}) for up in ({"gbps_per_gpu": 3600}, False)
    )
    assert apart.exposed_s["tp"] > 5 * joined.exposed_s["tp"]


def test_the_order_of_the_ranks_decides_which_groups_leave_the_host() -> None:
    usual, spread = (
        estimated(parallelism={"tp": 8}, placement={"order": order})
        for order in (["tp", "cp", "ep", "dp", "pp"], ["dp", "cp", "ep", "pp", "tp"])
    )
    hosts = [{turn.group: turn.hosts for turn in step.collectives} for step in (usual, spread)]
    assert [counts["tp"] for counts in hosts] == [1, 8]
    assert spread.step_s > usual.step_s


def test_an_algorithm_by_name_is_that_of_its_operations_and_of_no_others() -> None:
    """A group comes before an operation; those of other groups, and other operations, are as before."""
    chosen, named = (
        with_parallelism(tp=8, pp=2, **each)
        for each in ({}, {"algorithm": {"tp": {"allgather": "direct"}, "allgather": "hierarchical"}})
    )
    before, after = ({(turn.group, turn.op): turn for turn in step.collectives} for step in (chosen, named))
    assert after["tp", "allgather"].algorithm == "direct"
    assert after["dp", "allgather"].algorithm == "hierarchical"
    same = [key for key in before if key[1] != "allgather"]
    assert [after[key] for key in same] == [before[key] for key in same]


def test_to_name_what_nccl_chooses_changes_nothing() -> None:
    chosen = with_parallelism(tp=8, pp=2)
    names = {(turn.group, turn.op): turn.algorithm for turn in chosen.collectives}
    assert {names["dp", op] for op in ("allgather", "reducescatter")} == {"ring"}
    assert with_parallelism(tp=8, pp=2, algorithm={"dp": "ring", "tp": {"allgather": "ring"}}) == chosen


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (
            {"ep": "direct"},
            "algorithm.ep: the step of this job has no such operation among several GPUs. Leave it out.",
        ),
        ({"dp": "tree"}, "algorithm.dp: the step of this job has no such operation among several GPUs. Leave it out."),
        (
            {"dp": "recursive-doubling"},
            "algorithm.dp: recursive-doubling needs a power of two ranks, and there are 6. Use ring.",
        ),
    ],
)
def test_an_algorithm_that_cannot_be_is_one_line(algorithm: dict[str, str], message: str) -> None:
    with pytest.raises(RailfabError) as refused:
        estimated(hosts=6, parallelism={"tp": 8}, algorithm=algorithm)
    assert str(refused.value).startswith(message)


def test_experts_wait_for_one_nic_between_hosts() -> None:
    step = estimated(model="mixtral-8x7b", parallelism={"ep": 8, "tp": 4, "micro_batches": 2})
    (turn,) = (turn for turn in step.collectives if turn.op == "alltoall")
    assert (turn.group, turn.ranks, turn.hosts) == ("ep", 8, 4)
    assert 0.9 * 48.8e9 * 7 / 6 < turn.bus_bytes_per_s < 48.8e9 * 7 / 6


def test_phases_are_added_up() -> None:
    """3.6 GB at 200 Gb/s a GPU, of which NCCL takes 24 GB/s less headers: 2 x 7/8 of it cross each NIC."""
    phases = [{"compute": {"ms": 150}}, {"collective": {"op": "allreduce", "bytes": "3.6GB"}}]
    step = estimated(design={**ROOMY, "rate_gbps": 100}, phases=phases)
    assert step.compute_s == 0.15
    assert step.exposed_s == {"rail": pytest.approx(2 * 7 / 8 * 3.6e9 / 23.44e9, rel=0.01)}
    assert (step.step_s, step.tokens_per_s) == (pytest.approx(0.15 + step.exposed_s["rail"]), None)


def test_a_phase_of_all_gpus_uses_the_scale_up_network_and_every_nic() -> None:
    """NCCL's choice for 64 GPUs, or an algorithm by name."""
    fields = {"op": "allreduce", "bytes": "3.6GB", "group": "all"}
    chosen, ring, direct = (
        estimated(phases=[{"collective": {**fields, **each}}]).collectives[0]
        for each in ({}, {"algorithm": "ring"}, {"algorithm": "hierarchical"})
    )
    assert [turn.algorithm for turn in (chosen, ring, direct)] == ["nvls-tree", "ring", "hierarchical"]
    assert (chosen.group, chosen.ranks, chosen.hosts) == ("all", 64, 8)
    assert chosen.call_s < ring.call_s < direct.call_s
    assert ring.nic_bytes_per_s == pytest.approx(ring.bus_bytes_per_s / 8)


def test_an_incast_waits_for_the_port_of_its_receiver() -> None:
    incast = {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "1.5MB"}
    step = estimated(design={**ROOMY, "rate_gbps": 100}, phases=[{"traffic": incast}])
    assert step.exposed_s["incast"] == pytest.approx(31 * 1.5e6 / 12.2e9, rel=0.01)


def test_a_job_that_the_design_cannot_hold_is_refused() -> None:
    with pytest.raises(RailfabError) as refused:
        estimated(design={**ROOMY, "gpu_memory_gb": 40}, parallelism={"tp": 1, "micro_batch": 1})
    assert str(refused.value).startswith("parallelism: a GPU of stage 1 needs ")


def test_a_step_of_16384_gpus_is_estimated() -> None:
    hosts = (Node(name=f"host{index}", role=Role.HOST, pod=1, segment=1, index=index) for index in range(1, 2049))
    topology = Topology(fabric="large", nodes=tuple(hosts), links=())
    parallelism = {"tp": 8, "pp": 16, "micro_batches": 16, "recompute": True}
    job = Job.model_validate({"version": 1, "job": "made", "model": "llama3-405b", "parallelism": parallelism})
    assert estimate(job, fabric(hosts=ROOMY), topology).gpus == 16384
