"""Laws of a training plan: published sizes, groups of ranks, stages, memory, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.errors import RailfabError
from railfab.intent import Job
from railfab.intent.training import ORDER
from railfab.workload.graph import stage_graph, stage_parameters, state_units
from railfab.workload.memory import check_memory, gpu_memory
from railfab.workload.plan import TrainingPlan, training_plan
from railfab.workload.ranks import GROUPS, Ranks
from railfab.workload.shapes import parameters, presets


def job(model: object = "llama3-70b", **parallelism: Any) -> Job:
    return Job.model_validate({"version": 1, "job": "made", "model": model, "parallelism": parallelism})


def plan(hosts: int = 8, model: object = "llama3-70b", **parallelism: Any) -> TrainingPlan:
    return training_plan(job(model, **parallelism), hosts=hosts, gpus_per_host=8)


@pytest.mark.parametrize("name", presets())
def test_a_preset_has_its_published_number_of_parameters_and_a_source(name: str) -> None:
    preset = presets()[name]
    assert parameters(preset.shape) == pytest.approx(preset.parameters, rel=0.01)
    assert len(preset.source) > 20


SIZES = st.integers(1, 4)
RANKS = st.builds(
    lambda tp, cp, ep, dp, pp, order, gpus: Ranks(
        sizes={"tp": tp, "cp": cp, "ep": ep, "dp": dp, "pp": pp}, order=tuple(order), gpus_per_host=gpus
    ),
    *([SIZES] * 5),
    st.permutations(ORDER),
    st.integers(1, 8),
)


@given(RANKS)
@settings(max_examples=examples(60), deadline=None)
def test_each_rank_is_in_one_group_of_each_kind(ranks: Ranks) -> None:
    for group in GROUPS:
        groups = list(ranks.groups(group))
        assert sorted(rank for members in groups for rank in members) == list(range(ranks.count))
        assert {len(members) for members in groups} == {ranks.group_size(group)}


@given(RANKS)
@settings(max_examples=examples(60), deadline=None)
def test_a_span_is_that_of_the_group_on_most_hosts(ranks: Ranks) -> None:
    for group in GROUPS:
        hosts = [[ranks.gpu(rank)[0] for rank in members] for members in ranks.groups(group)]
        most = max(len(set(named)) for named in hosts)
        fewest = min(min(map(named.count, named)) for named in hosts if len(set(named)) == most)
        span = ranks.span(group)
        assert (span.ranks, span.hosts, span.ranks_per_host) == (ranks.group_size(group), most, fewest)


def test_tensor_ranks_share_a_host_and_replicas_a_rail_by_default() -> None:
    ranks = plan(tp=8, pp=4).ranks
    assert all(len({ranks.gpu(rank)[0] for rank in members}) == 1 for members in ranks.groups("tp"))
    assert all(len({ranks.gpu(rank)[1] for rank in members}) == 1 for members in ranks.groups("dp"))


@given(pp=st.integers(1, 16), vpp=st.integers(1, 4))
@settings(max_examples=examples(40), deadline=None)
def test_the_stages_share_the_layers_evenly(pp: int, vpp: int) -> None:
    vpp = 1 if pp == 1 else vpp
    made = plan(hosts=pp, pp=pp, vpp=vpp, micro_batches=pp)
    stages = [made.layers(stage) for stage in range(pp)]
    assert sorted(layer for stage in stages for layer in stage) == list(range(80))
    assert max(map(len, stages)) - min(map(len, stages)) <= vpp


@pytest.mark.parametrize("name", ["gpt3-175b", "llama3-70b", "llama3-405b", "deepseek-v3"])
def test_the_stages_and_ranks_hold_all_parameters(name: str) -> None:
    """But for the padding of the vocabulary, which is below a hundredth."""
    made = plan(hosts=16, model=name, tp=8, pp=4, ep=2 if name == "deepseek-v3" else 1)
    held = sum(
        8 * (shared + made.parallelism.ep * experts)
        for shared, experts in (stage_parameters(made, s) for s in range(4))
    )
    assert held == pytest.approx(parameters(made.shape), rel=0.02)


def test_one_rank_communicates_nothing() -> None:
    alone = training_plan(job("llama3-8b"), hosts=1, gpus_per_host=1)
    assert stage_graph(alone, 0).communications == ()


def test_context_ranks_pass_keys_and_values_and_reduce_gradients_together() -> None:
    graph = stage_graph(plan(tp=4, cp=2), 0)
    talk = {(each.group, each.op, each.phase): each for each in graph.communications}
    passed = talk["cp", "sendrecv", "forward"]
    keys_and_values = 2 * 2 * (8192 // 2) * (8 * 128) // 4
    assert (passed.calls, passed.size_bytes, passed.beside) == (80, keys_and_values, "attention")
    assert talk["cp", "sendrecv", "backward"].size_bytes == 2 * keys_and_values
    assert plan(tp=4, cp=2).ranks.group_size("dp") == 16


def test_without_sequence_parallelism_activations_are_reduced() -> None:
    graph = stage_graph(plan(tp=8, sequence_parallel=False), 0)
    layers = [each for each in graph.communications if each.group == "tp" and each.part in ("attention", "mlp")]
    assert {(each.op, each.phase) for each in layers} == {("allreduce", "forward"), ("allreduce", "backward")}
    assert sum(each.calls for each in layers) == 4 * 80


def test_a_replicated_optimizer_reduces_all_gradients() -> None:
    graph = stage_graph(plan(tp=8, optimizer="replicated", gradient_bytes=2), 0)
    state = [(each.op, each.size_bytes) for each in graph.communications if each.group == "dp"]
    assert state == [("allreduce", 2 * stage_parameters(plan(tp=8), 0)[0])]


@pytest.mark.parametrize(
    ("optimizer", "gathered", "reduced"), [("distributed", 1, 1), ("zero-2", 1, 5), ("zero-3", 2 * 5, 5)]
)
@pytest.mark.parametrize("model", ["llama3-70b", "mixtral-8x7b"])
def test_zero_gathers_and_reduces_all_parameters_as_often_as_they_are_needed(
    model: str, optimizer: str, gathered: int, reduced: int
) -> None:
    """Of 5 micro-batches: gradients of each with ZeRO 2, parameters before each pass of each with ZeRO 3."""
    made = plan(model=model, tp=4, pp=2, micro_batches=5, optimizer=optimizer, ep=2 if model == "mixtral-8x7b" else 1)
    for stage in (0, 1):
        state = [each for each in stage_graph(made, stage).communications if each.group in ("dp", "edp")]
        sent = {
            op: sum(each.calls * each.size_bytes for each in state if each.op == op)
            for op in ("allgather", "reducescatter")
        }
        count = sum(stage_parameters(made, stage))
        assert sent == {"allgather": gathered * 2 * count, "reducescatter": reduced * 4 * count}
        assert {each.op for each in state} == set(sent)


def test_each_stage_of_zero_needs_less_memory_than_the_one_before() -> None:
    """With 16 replicas ZeRO 3 holds a sixteenth, and two layers of parameters and one of gradients as long as used."""
    plans = [plan(hosts=16, tp=8, optimizer=name) for name in ("replicated", "distributed", "zero-2", "zero-3")]
    memories = [gpu_memory(made) for made in plans]
    states = [memory.total - memory.activations for memory in memories]
    assert states == sorted(states, reverse=True)
    count = sum(stage_parameters(plans[0], 0))
    layer = max(map(sum, zip(*state_units(plans[0], 0), strict=True)))
    assert states[0] == 18 * count
    assert states[3] == pytest.approx(18 * count / 16 + (2 * 2 + 4) * layer)


@pytest.mark.parametrize(
    ("hosts", "model", "parallelism", "message"),
    [
        (8, "llama3-70b", {"tp": 3}, "parallelism.tp: 64 heads do not divide into 3 ranks. Use tp 2."),
        (
            8,
            "llama3-70b",
            {"tp": 8, "pp": 3},
            "parallelism.pp: tp 8 x cp 1 x pp 3 = 24 does not divide the 64 GPUs of the job. Use tp 8, cp 1, pp 2.",
        ),
        (
            1,
            "llama3-70b",
            {"tp": 8, "pp": 4},
            "parallelism.tp: tp 8 x cp 1 x pp 4 = 32 GPUs, and the job has 8. Use tp 8, cp 1, pp 1.",
        ),
        (
            8,
            "llama3-70b",
            {"tp": 8, "pp": 4, "dp": 4},
            "parallelism.dp: tp 8 x cp 1 x pp 4 x dp 4 = 128 GPUs, and the job has 64. Use dp 2, or leave it out.",
        ),
        (8, "llama3-70b", {"ep": 2}, "parallelism.ep: the model has no experts. Use ep 1, or leave it out."),
        (8, "mixtral-8x7b", {"ep": 3}, "parallelism.ep: 8 experts do not divide into 3 ranks. Use ep 2."),
        (
            8,
            "mixtral-8x7b",
            {"tp": 16, "ep": 8},
            "parallelism.ep: 4 replicas do not divide into groups of 8. Use ep 4.",
        ),
        (
            128,
            "llama3-8b",
            {"pp": 64},
            "parallelism.pp: pp 64 x vpp 1 = 64 chunks are more than 32 layers. Use pp up to 32.",
        ),
        (8, "lama3-8b", {}, "model: no preset is named 'lama3-8b'. Use llama3-8b."),
    ],
)
def test_what_does_not_fit_is_refused_with_a_remedy(
    hosts: int, model: str, parallelism: dict[str, Any], message: str
) -> None:
    with pytest.raises(RailfabError) as refused:
        plan(hosts, model, **parallelism)
    assert message in str(refused.value).splitlines()


def test_a_model_that_does_not_fit_the_memory_is_refused_with_a_change_that_makes_it_fit() -> None:
    made = plan(hosts=2048, model="llama3-405b", tp=8, pp=16, micro_batches=16)
    with pytest.raises(RailfabError) as refused:
        check_memory(made, 80)
    assert str(refused.value) == "parallelism: a GPU of stage 2 needs 83 GB, and has 80. Use recompute: true."
    smaller = plan(hosts=2048, model="llama3-405b", tp=8, pp=16, micro_batches=16, recompute=True)
    assert check_memory(smaller, 80).total < 80e9


def test_a_model_that_no_setting_makes_fit_asks_for_more_gpus() -> None:
    with pytest.raises(RailfabError) as refused:
        check_memory(plan(model="llama3-405b", tp=8), 80)
    assert str(refused.value).endswith("Spread the model over more GPUs, with a larger tp or pp.")


def test_a_model_that_fits_with_zero_3_is_refused_with_that() -> None:
    with pytest.raises(RailfabError) as refused:
        check_memory(plan(hosts=16, tp=8), 40)
    assert str(refused.value).endswith("Use optimizer: zero-3.")


def test_memory_is_that_of_the_published_formulas() -> None:
    """16 bytes a parameter with FP32 gradients, of which 12 are spread over the replicas; 32 bytes a token and hidden
    unit of GPT's layers, on one of 8 ranks, for as many micro-batches as there are stages."""
    made = plan(hosts=128, model="gpt3-175b", tp=8, pp=8, micro_batches=96)
    memory = gpu_memory(made)
    count = sum(stage_parameters(made, 0))
    assert (memory.parameters, memory.optimizer) == (6 * count, 12 * count // 16)
    assert memory.activations == 8 * 12 * 32 * 12288 * 2048 // 8
