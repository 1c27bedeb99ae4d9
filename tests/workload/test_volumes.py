"""Calls and bytes of a training step against AICB, to the byte, where AICB is right; its errors are named beside."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.workload.references import MODELS, reference_plan, rows

from railfab.workload.graph import StageGraph, stage_graph, stage_parameters
from railfab.workload.plan import TrainingPlan
from railfab.workload.shapes import attention_flop, is_expert_layer, mlp_flop, padded_vocabulary

DENSE = [name for name, model in MODELS.items() if "moe" not in model]
MEGATRON = [name for name, model in MODELS.items() if model.get("frame") != "DeepSeek"]
EXPERTS = [name for name, model in MODELS.items() if "moe" in model]
TALK = {"ALLGATHER": ("tp", "allgather"), "REDUCESCATTER": ("tp", "reducescatter"), "ALLTOALL_EP": ("ep", "alltoall")}
LAYER = ("attention_", "mlp_")
Calls = Counter[tuple[str, str, str, int]]


def aicb(name: str) -> list[dict[str, str]]:
    return [row for row in rows("layers_aicb.csv") if row["model"] == name]


def aicb_calls(name: str) -> Calls:
    """Phase, group, operation and bytes of what AICB's layers send.

    AICB states the backward ReduceScatter of columns with 0 bytes; the exchange of token counts, of some kB, is apart.
    """
    calls: Calls = Counter()
    for row in aicb(name):
        if not row["layer"].startswith(LAYER):
            continue
        for phase, column in (("forward", "fwd"), ("backward", "input_grad")):
            size_bytes = int(row[f"{column}_bytes"])
            if row[f"{column}_comm"] in TALK and size_bytes >= 2**20:
                calls[(phase, *TALK[row[f"{column}_comm"]], size_bytes)] += int(row["calls_per_step"])
    return calls


def layer_calls(graph: StageGraph) -> Calls:
    """The same of a graph, without what AICB leaves out: backward ReduceScatter, and the AllGather beside it."""
    calls: Calls = Counter()
    for talk in graph.communications:
        if talk.part not in ("attention", "mlp") or talk.group not in ("tp", "ep") or talk.beside is not None:
            continue
        calls[talk.phase, talk.group, talk.op, talk.size_bytes] += talk.calls
    return calls


@pytest.mark.parametrize("name", MEGATRON)
def test_layers_communicate_what_those_of_aicb_do(name: str) -> None:
    plan = reference_plan(name)
    here, there = layer_calls(stage_graph(plan, 0)), aicb_calls(name)
    columns = 2 * len(plan.layers(0)) * plan.parallelism.micro_batches
    experts = sum(is_expert_layer(plan.shape, layer) for layer in plan.layers(0)) * plan.parallelism.micro_batches
    activation = 2 * plan.shape.sequence * plan.shape.hidden
    left_out = {("backward", "tp", "reducescatter", activation): columns - experts}
    assert here - Counter(left_out) == there
    assert there - here == Counter()


def test_experts_without_tensor_parallelism_exchange_what_those_of_aicb_do() -> None:
    """AICB dispatches in FP8 in the forward pass of its DeepSeek: 0.516 of the bytes of the others."""
    here, there = layer_calls(stage_graph(reference_plan("deepseek_v3_2048"), 0)), aicb_calls("deepseek_v3_2048")
    (size_bytes,) = {key[3] for key in here}
    dispatch = int(size_bytes * (1 + 4 / 128) / 2)
    forward = there.pop(("forward", "ep", "alltoall", dispatch)) + there["forward", "ep", "alltoall", size_bytes]
    assert here == {**there, ("forward", "ep", "alltoall", size_bytes): forward}


@pytest.mark.parametrize("name", MEGATRON)
def test_embedding_and_logits_communicate_what_those_of_aicb_do(name: str) -> None:
    """AICB writes the end of the pipeline into its first stage."""
    plan, model = reference_plan(name), MODELS[name]
    calls: Counter[tuple[str, str]] = Counter()
    for row in aicb(name):
        if row["layer"] in ("embedding_layer", "final_column"):
            assert int(row["fwd_bytes"]) == 2 * model["seq"] * model["h"]
            calls[row["layer"], row["fwd_comm"].lower()] += int(row["calls_per_step"])
    ends = {0: ("embedding", "allreduce"), plan.parallelism.pp - 1: ("logits", "allgather")}
    here = {
        (talk.part, talk.op): (talk.calls, talk.size_bytes)
        for stage in ends
        for talk in stage_graph(plan, stage).communications
        if talk.part in ("embedding", "logits") and talk.phase == "forward" and talk.size_bytes > 2**20
    }
    size_bytes = 2 * model["seq"] * model["h"]
    assert here == {
        ("embedding", "allreduce"): (calls["embedding_layer", "allreduce"], size_bytes),
        ("logits", "allgather"): (calls["final_column", "allgather"], size_bytes),
    }


def aicb_bytes(name: str, layer: str) -> int:
    return next(int(row["weight_grad_bytes"]) for row in aicb(name) if row["layer"] == layer)


def counted_by_aicb(plan: TrainingPlan) -> int:
    """Parameters of the first stage with AICB's differences: the embedding four times, the output layer on every stage,
    no router and no last norm."""
    shape, tp = plan.shape, plan.parallelism.tp
    table = padded_vocabulary(shape, tp) // tp * shape.hidden
    is_last = plan.parallelism.pp == 1
    count = stage_parameters(plan, 0)[0] + (3 if is_last else 4) * table - is_last * shape.hidden
    if shape.experts is not None:
        count -= len(plan.layers(0)) * shape.hidden * shape.experts.count
    return count


@pytest.mark.parametrize("name", MEGATRON)
def test_gradients_and_parameters_have_the_bytes_of_aicb(name: str) -> None:
    """AICB knows no gate of an MLP; its DeepSeek counts shared experts among the others, and is left out."""
    plan = reference_plan(name, gated=False)
    dense, experts = counted_by_aicb(plan), stage_parameters(plan, 0)[1]
    assert (aicb_bytes(name, "grad_param_comm"), aicb_bytes(name, "grad_gather")) == (4 * dense, 2 * dense)
    assert (aicb_bytes(name, "moe_grad_norm2"), aicb_bytes(name, "moe_grad_norm1")) == (4 * experts, 2 * experts)


@pytest.mark.parametrize("name", MODELS)
def test_a_layer_has_the_work_that_was_put_into_aicb(name: str) -> None:
    plan, model = reference_plan(name), MODELS[name]
    tokens = model["seq"] / model["tp"]
    assert tokens * attention_flop(plan.shape) == pytest.approx(model["att_flop"], rel=1e-12)
    assert tokens * mlp_flop(plan.shape, model["L"] - 1) == pytest.approx(model["mlp_flop"], rel=1e-12)


def test_a_stage_sends_its_activations_to_the_next_one() -> None:
    """AICB's pp_comm of GPT-3 with tp 8 is 6,291,456 bytes."""
    plan = reference_plan("gpt3_175b_1024")
    sent = [
        {
            talk.phase: (talk.calls, talk.size_bytes)
            for talk in stage_graph(plan, stage).communications
            if talk.group == "pp"
        }
        for stage in (0, 1, plan.parallelism.pp - 1)
    ]
    each = (plan.parallelism.micro_batches, 6_291_456)
    assert sent == [{"forward": each}, {"forward": each, "backward": each}, {"backward": each}]
