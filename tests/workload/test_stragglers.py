"""Laws of stragglers: who waits for them, and what they leave as it is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import fabric
from tests.workload.test_plan import plan

from railfab.errors import RailfabError
from railfab.intent import Job
from railfab.topology import wire
from railfab.workload import JobEstimate, estimate
from railfab.workload.graph import Communication, Computation, StageGraph
from railfab.workload.step import Costs, step_time
from railfab.workload.stragglers import gpu_factors, link_factors, slowed, slowed_pipelines

INTENT = fabric(hosts={"gpus": 8, "nic_ports": 2, "rate_gbps": 200, "gpu_memory_gb": 192})
TOPOLOGY = wire(INTENT)
HOSTS = [host.name for host in TOPOLOGY.hosts()]
FIRST = HOSTS[0]


def job(*stragglers: dict[str, Any], **parallelism: Any) -> Job:
    asked = {"micro_batches": 8, "tp": 4, "pp": 2, **parallelism}
    document = {"version": 1, "job": "made", "model": "llama3-8b", "parallelism": asked}
    return Job.model_validate({**document, **({"stragglers": list(stragglers)} if stragglers else {})})


def step(*stragglers: dict[str, Any], **parallelism: Any) -> JobEstimate:
    return estimate(job(*stragglers, **parallelism), INTENT, TOPOLOGY)


def drawn(**fields: Any) -> dict[int, float]:
    return gpu_factors(job({"every": "gpu", "factor": 1.5, **fields}), HOSTS, 8)


def test_a_factor_of_1_changes_nothing() -> None:
    assert step({"host": FIRST, "factor": 1}, {"every": "gpu", "factor": 1.0}) == step()


@given(st.lists(st.floats(1.0, 4.0), min_size=2, max_size=3))
@settings(max_examples=examples(15), deadline=None)
def test_a_step_is_never_shorter_with_a_slower_straggler(factors: list[float]) -> None:
    steps = [step({"host": FIRST, "gpu": 3, "factor": factor}).step_s for factor in (1.0, *sorted(factors))]
    assert all(before <= after * (1 + 1e-12) for before, after in pairwise(steps))


def test_a_slow_gpu_slows_the_computation_of_its_whole_stage_once_that_is_the_slowest() -> None:
    """Its tensor group waits for it in each layer: it is as if all of that were slow, and all replicas of it."""
    one, group = (
        step({"host": FIRST, "gpu": 1, "factor": 2}),
        [{"host": FIRST, "gpu": g, "factor": 2} for g in range(1, 5)],
    )
    assert step(*group).step_s == one.step_s
    assert step({"host": FIRST, "gpu": 1, "factor": 2}, {"host": HOSTS[1], "gpu": 5, "factor": 2}).step_s == one.step_s
    assert (one.slow_gpus, one.slow_factor, one.stage) == (1, 2.0, 0)
    assert one.step_s > 1.5 * step().step_s


def test_what_waits_for_a_slower_one_anyway_changes_nothing() -> None:
    """The same stage of another replica, or a rank of the same group, that is less slow."""
    slow = {"host": FIRST, "gpu": 1, "factor": 2}
    for less in ({"host": FIRST, "gpu": 2, "factor": 1.9}, {"host": HOSTS[1], "gpu": 1, "factor": 1.9}):
        assert step(slow, less).step_s == step(slow).step_s


def test_a_straggler_beside_communication_that_takes_longer_changes_nothing_until_it_does_not() -> None:
    work = Computation(phase="forward", part="mlp", calls=4, flop=10)
    talk = Communication(phase="forward", part="mlp", group="tp", op="allgather", calls=4, size_bytes=15, beside="mlp")
    graph = StageGraph(stage=0, computations=(work,), communications=(talk,))
    costs = Costs(computation_s=lambda work: work.flop, communication_s=lambda talk: talk.size_bytes)
    times = [step_time(slowed([graph], (factor,)), costs, micro_batches=4).total_s for factor in (1.0, 1.4, 1.5, 2.0)]
    assert times == [60.0, 60.0, 60.0, 80.0]


def test_stages_of_different_pipelines_do_not_make_one_slow_pipeline() -> None:
    """A slow first stage of a replica and a slow last stage of another are faster than both in one."""
    ranks = plan(hosts=8, model="llama3-8b", tp=4, pp=2).ranks
    pipelines = sorted(members for members in ranks.groups("pp") if members[0] % 4 == 0)

    def slow(rank: int) -> dict[str, Any]:
        host, gpu = ranks.gpu(rank)
        return {"host": HOSTS[host], "gpu": gpu + 1, "factor": 2}

    apart = step(slow(pipelines[0][0]), slow(pipelines[1][1]))
    assert (
        step(slow(pipelines[0][0])).step_s <= apart.step_s < step(slow(pipelines[0][0]), slow(pipelines[0][1])).step_s
    )


@pytest.mark.parametrize(
    ("parallelism", "pipelines"),
    [
        ({"model": "llama3-8b"}, {(2.0, 1.0), (1.0, 3.0)}),
        ({"model": "llama3-8b", "optimizer": "zero-3"}, {(2.0, 3.0)}),
        ({"model": "mixtral-8x7b", "ep": 8}, {(2.0, 3.0)}),
    ],
)
def test_replicas_wait_in_each_layer_where_they_share_parameters_or_experts(
    parallelism: dict[str, Any], pipelines: set[tuple[float, ...]]
) -> None:
    """A slow rank of the first stage of the first replica, and one of the last stage of the second."""
    made = plan(hosts=8, tp=4, pp=2, **parallelism)
    first, second = sorted(members for members in made.ranks.groups("pp") if members[0] % 4 == 0)[:2]
    assert set(slowed_pipelines(made, {first[0]: 2.0, second[1]: 3.0})) == pipelines


def test_ranks_that_share_a_sequence_wait_for_each_other_in_each_layer() -> None:
    made = plan(hosts=8, model="llama3-8b", tp=2, cp=2, pp=2)
    first, second = next(made.ranks.groups("cp"))
    assert slowed_pipelines(made, {first: 2.0, second: 3.0}) == ((3.0, 1.0),)
    third = next(members for members in made.ranks.groups("cp") if first not in members)[0]
    assert max(map(max, slowed_pipelines(made, {third: 2.0, first: 1.5}))) == 2.0
    stages = next(members for members in made.ranks.groups("pp") if second in members)
    assert slowed_pipelines(made, {first: 2.0, stages[1]: 3.0}) == ((2.0, 3.0),)


def test_what_is_drawn_has_its_share_its_range_and_its_seed() -> None:
    half = drawn(probability=0.5)
    assert 16 < len(half) < 48
    assert set(half.values()) == {1.5}
    assert drawn(probability=0.5) == half != drawn(probability=0.5, seed=2)
    assert drawn(probability=0) == {}
    assert len(drawn()) == 64
    spread = drawn(factor={"least": 1.2, "most": 1.4}).values()
    assert 1.2 <= min(spread) < 1.25
    assert 1.35 < max(spread) <= 1.4


def test_more_probable_stragglers_are_the_same_and_others() -> None:
    few, many = drawn(probability=0.2), drawn(probability=0.6)
    assert few.items() < many.items()


def test_a_slow_host_is_all_of_its_gpus_and_causes_multiply() -> None:
    factors = gpu_factors(job({"host": FIRST, "factor": 2}, {"host": FIRST, "gpu": 8, "factor": 1.5}), HOSTS, 8)
    assert factors == {**dict.fromkeys(range(7), 2.0), 7: 3.0}


def test_a_slow_cable_is_slow_at_both_ends() -> None:
    (link, *_) = TOPOLOGY.links
    ends = {(end.node, end.name) for end in (link.a, link.z)}
    for node, name in ends:
        assert link_factors(job({"link": f"{node}:{name}", "factor": 4}), TOPOLOGY) == dict.fromkeys(ends, 4.0)
    every = link_factors(job({"every": "link", "factor": 4}), TOPOLOGY)
    assert len(every) == 2 * len(TOPOLOGY.links)


@pytest.mark.parametrize(
    ("straggler", "message"),
    [
        ({"host": "x"}, f"stragglers.0.host: the job does not run on a host x. Use a name such as {FIRST}."),
        ({"host": FIRST, "gpu": 9}, "stragglers.0.gpu: a host has 8 GPUs. Use 1 to 8."),
        ({"every": "link"}, "stragglers.0.every: a closed form sees no links. Leave it out, or use --tier max-min."),
        ({"link": "a:b"}, "stragglers.0.link: a closed form sees no links. Leave it out, or use --tier max-min."),
    ],
)
def test_a_straggler_that_cannot_be_is_one_line(straggler: dict[str, Any], message: str) -> None:
    with pytest.raises(RailfabError) as refused:
        step({**straggler, "factor": 2})
    assert str(refused.value) == message


def test_a_link_that_is_not_there_is_one_line() -> None:
    with pytest.raises(RailfabError) as refused:
        link_factors(job({"link": f"{FIRST}:x", "factor": 2}), TOPOLOGY)
    assert str(refused.value).startswith(
        f"stragglers.0.link: the fabric has no cabled port {FIRST}:x. Use a port such as"
    )
