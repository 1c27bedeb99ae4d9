"""The work of a pipeline stage in a training step: computations and communications, with their calls and bytes.

Volumes as in Megatron: an activation A has 2 x tokens x hidden bytes (BF16) of a micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from railfab.intent import ModelShape
from railfab.workload.plan import TrainingPlan
from railfab.workload.ranks import Group
from railfab.workload.shapes import (
    attention_flop,
    is_expert_layer,
    kv_width,
    mlp_flop,
    padded_vocabulary,
    replicated,
    routed,
)

WorkPhase = str
"""forward or backward, of each micro-batch; step: once in a step."""
Part = Literal["embedding", "attention", "mlp", "layer", "logits", "state"]
"""Place in the model; layer: attention and MLP; state: gradients and parameters."""
ACTIVATION_BYTES = 2
PARAMETER_BYTES = 2
BACKWARD_WORK = 2
"""Work of the backward pass over that of the forward pass: gradients of inputs and of weights."""
BUCKET_PARAMETERS = 40_000_000
"""Least parameters of a bucket of gradients, which are reduced together (Megatron's default, general knowledge)."""
CROSS_ENTROPY_REDUCTIONS = 3
"""Maximum, predicted logit and sum of exponentials, of 4 bytes a token (Megatron's vocabulary-parallel loss)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computation:
    """Work of one GPU. calls: in a step. flop: of a call; seconds: its duration, where that was measured."""

    phase: WorkPhase
    part: Part
    calls: int
    flop: float = 0.0
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Communication:
    """An operation of one GPU with its group. calls: in a step. size_bytes: of a call, the whole array.

    beside: the computation of the phase beside which it runs; None where the GPU waits for it. pieces: of a call once
    in a step, each of which goes with its part of the layers.
    """

    phase: WorkPhase
    part: Part
    group: Group
    op: str
    calls: int
    size_bytes: int
    beside: Part | None = None
    pieces: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StageGraph:
    """The work of a stage, from 0, in a step."""

    stage: int
    computations: tuple[Computation, ...]
    communications: tuple[Communication, ...]


def stage_graph(plan: TrainingPlan, stage: int) -> StageGraph:
    """The work of one rank of a pipeline stage; groups of one rank communicate nothing."""
    talks = (
        talk
        for talk in _communications(plan, stage)
        if talk.calls and talk.size_bytes and plan.ranks.group_size(talk.group) > 1
    )
    return StageGraph(stage=stage, computations=tuple(_computations(plan, stage)), communications=tuple(talks))


def _computations(plan: TrainingPlan, stage: int) -> Iterator[Computation]:
    shape, tp = plan.shape, plan.parallelism.tp
    batches, tokens = plan.parallelism.micro_batches, plan.rank_tokens
    works: list[tuple[Part, int, float]] = []
    for layer in plan.layers(stage):
        works.append(("attention", batches, tokens * attention_flop(shape) / tp))
        works.append(("mlp", batches, tokens * mlp_flop(shape, layer) / tp))
    if stage == plan.parallelism.pp - 1:
        works.append(("logits", batches, tokens * 2 * shape.hidden * padded_vocabulary(shape, tp) / tp))
    backward = BACKWARD_WORK + plan.parallelism.recompute
    for (part, calls, flop), count in _counted(works):
        yield Computation(phase="forward", part=part, calls=calls * count, flop=flop)
        again = BACKWARD_WORK if part == "logits" else backward
        yield Computation(phase="backward", part=part, calls=calls * count, flop=again * flop)


def _counted(works: list[tuple[Part, int, float]]) -> Iterator[tuple[tuple[Part, int, float], int]]:
    for work in dict.fromkeys(works):
        yield work, works.count(work)


def _communications(plan: TrainingPlan, stage: int) -> Iterator[Communication]:
    layers = plan.layers(stage)
    experts = sum(is_expert_layer(plan.shape, layer) for layer in layers)
    yield from _tensor_talk(plan, "attention", len(layers))
    yield from _tensor_talk(plan, "mlp", len(layers) - experts)
    yield from _expert_talk(plan, experts)
    yield from _context_talk(plan, len(layers))
    yield from _end_talk(plan, stage)
    yield from _pipeline_talk(plan, stage)
    yield from _state_talk(plan, stage)


def activation_bytes(plan: TrainingPlan) -> int:
    """Output of a layer for a micro-batch, of which a tensor-parallel rank has a part with sequence parallelism."""
    return ACTIVATION_BYTES * plan.rank_tokens * plan.shape.hidden


def _tensor_talk(plan: TrainingPlan, part: Part, layers: int) -> Iterator[Communication]:
    """Around a column-parallel and a row-parallel matrix: gather and scatter with sequence parallelism, else reduce.

    The backward pass gathers the inputs of the column once more, beside the gradients of the weights.
    """
    calls, size_bytes = layers * plan.parallelism.micro_batches, activation_bytes(plan)
    again = calls * plan.parallelism.recompute

    def talk(phase: WorkPhase, op: str, calls: int, beside: Part | None = None) -> Communication:
        return Communication(
            phase=phase, part=part, group="tp", op=op, calls=calls, size_bytes=size_bytes, beside=beside
        )

    if not plan.parallelism.sequence_parallel:
        yield talk("forward", "allreduce", calls)
        yield talk("backward", "allreduce", calls + again)
        return
    yield talk("forward", "allgather", calls)
    yield talk("forward", "reducescatter", calls)
    yield talk("backward", "allgather", calls + again)
    yield talk("backward", "reducescatter", calls + again)
    yield talk("backward", "allgather", calls, beside=part)


def _expert_talk(plan: TrainingPlan, layers: int) -> Iterator[Communication]:
    """Dispatch and combine of tokens, each to top-k experts, and the tensor parallelism of these and of shared ones."""
    experts = plan.shape.experts
    if experts is None or not layers:
        return
    if experts.shared:
        yield from _tensor_talk(plan, "mlp", layers)
    parallelism = plan.parallelism
    calls, routed_bytes = layers * parallelism.micro_batches, experts.per_token * activation_bytes(plan)
    again = calls * parallelism.recompute
    for phase, turns in (("forward", calls), ("backward", calls + again)):
        for op, group, size_bytes, count in (
            ("alltoall", "ep", routed_bytes // parallelism.tp, 2 * turns),
            ("allgather", "tp", routed_bytes, turns),
            ("reducescatter", "tp", routed_bytes, turns),
        ):
            yield Communication(phase=phase, part="mlp", group=group, op=op, calls=count, size_bytes=size_bytes)


def _context_talk(plan: TrainingPlan, layers: int) -> Iterator[Communication]:
    """Keys and values pass around the context ranks beside the attention; backward with their gradients."""
    shape, parallelism = plan.shape, plan.parallelism
    calls = layers * parallelism.micro_batches * (parallelism.cp - 1)
    size_bytes = 2 * ACTIVATION_BYTES * plan.rank_tokens * _cached_width(shape) // parallelism.tp
    for phase, blocks in (("forward", 1), ("backward", 2 + parallelism.recompute)):
        yield Communication(
            phase=phase,
            part="attention",
            group="cp",
            op="sendrecv",
            calls=calls,
            size_bytes=blocks * size_bytes,
            beside="attention",
        )


def _cached_width(shape: ModelShape) -> int:
    """Half of the width that attention keeps of a token: keys and values."""
    latent = shape.latent_attention
    if latent is None:
        return kv_width(shape)
    return shape.heads * (latent.nope_size + latent.rope_size + latent.value_size) // 2


def _end_talk(plan: TrainingPlan, stage: int) -> Iterator[Communication]:
    """Embedding of the first stage; logits and loss of the last one."""
    batches, size_bytes = plan.parallelism.micro_batches, activation_bytes(plan)
    if stage == 0:
        yield Communication(
            phase="forward", part="embedding", group="tp", op="allreduce", calls=batches, size_bytes=size_bytes
        )
    if stage < plan.parallelism.pp - 1:
        return
    ops = (("forward", "allgather"), ("backward", "reducescatter"))
    for phase, op in ops if plan.parallelism.sequence_parallel else (("backward", "allreduce"),):
        yield Communication(phase=phase, part="logits", group="tp", op=op, calls=batches, size_bytes=size_bytes)
    if plan.parallelism.sequence_parallel:
        yield Communication(
            phase="backward",
            part="logits",
            group="tp",
            op="allgather",
            calls=batches,
            size_bytes=size_bytes,
            beside="logits",
        )
    yield Communication(
        phase="forward",
        part="logits",
        group="tp",
        op="allreduce",
        calls=CROSS_ENTROPY_REDUCTIONS * batches,
        size_bytes=4 * plan.rank_tokens,
    )


def boundary_bytes(plan: TrainingPlan) -> int:
    """Bytes that a rank sends to the next stage for a micro-batch."""
    return activation_bytes(plan) // (plan.parallelism.tp if plan.parallelism.sequence_parallel else 1)


def _pipeline_talk(plan: TrainingPlan, stage: int) -> Iterator[Communication]:
    """Activations to the next stage, gradients to the one before, for each chunk.

    With chunks Megatron sends them beside the computation of the next one.
    """
    pp, vpp, batches = plan.parallelism.pp, plan.parallelism.vpp, plan.parallelism.micro_batches
    beside: Part | None = "mlp" if vpp > 1 else None
    for phase, end in (("forward", pp - 1), ("backward", 0)):
        sent = vpp - 1 if stage == end else vpp
        yield Communication(
            phase=phase,
            part="mlp",
            group="pp",
            op="sendrecv",
            calls=sent * batches,
            size_bytes=boundary_bytes(plan),
            beside=beside,
        )


def stage_parameters(plan: TrainingPlan, stage: int) -> tuple[int, int]:
    """Parameters of a rank of a stage: those of all replicas, and those of its experts."""
    shape, tp, ep = plan.shape, plan.parallelism.tp, plan.parallelism.ep
    layers, experts = _layer_parameters(plan, stage)
    shared = sum(layers)
    table = padded_vocabulary(shape, tp) // tp * shape.hidden
    if stage == 0:
        shared += table + shape.positions * shape.hidden
    if stage == plan.parallelism.pp - 1:
        shared += shape.hidden + (0 if shape.tied_embeddings and stage == 0 else table)
    return shared, sum(experts) // (tp * ep)


def _layer_parameters(plan: TrainingPlan, stage: int) -> tuple[list[int], list[int]]:
    """Parameters of each layer of a stage: those of a rank without experts, and those of all experts."""
    layers = plan.layers(stage)
    kinds = {is_expert_layer(plan.shape, layer): layer for layer in layers}
    counts = {
        kind: (replicated(plan.shape, layer).of_rank(plan.parallelism.tp), routed(plan.shape, layer))
        for kind, layer in kinds.items()
    }
    pairs = [counts[is_expert_layer(plan.shape, layer)] for layer in layers]
    return [shared for shared, _ in pairs], [experts for _, experts in pairs]


def state_units(plan: TrainingPlan, stage: int) -> tuple[list[int], list[int]]:
    """Parameters that are gathered and reduced together, shared and of experts: of each layer, and of the rest."""
    tp, ep = plan.parallelism.tp, plan.parallelism.ep
    shared, whole = _layer_parameters(plan, stage)
    experts = [count // (tp * ep) for count in whole]
    counts = stage_parameters(plan, stage)
    return [*shared, counts[0] - sum(shared)], [*experts, counts[1] - sum(experts)]


def _state_talk(plan: TrainingPlan, stage: int) -> Iterator[Communication]:
    """Gradients and parameters once a step; with overlap in buckets, beside the backward pass of the last micro-batch
    and the forward pass of the first one. With ZeRO 2 and 3 some of them with every layer and micro-batch."""
    parallelism = plan.parallelism
    beside: Part | None = "state" if parallelism.overlap else None
    for group, count in zip(("dp", "edp"), stage_parameters(plan, stage), strict=True):
        gradients = parallelism.gradient_bytes * count
        ops = [("reducescatter", gradients), ("allgather", PARAMETER_BYTES * count)]
        if parallelism.zero == 0:
            ops = [("allreduce", gradients)]
        for op, size_bytes in ops[max(0, parallelism.zero - 1) :]:
            yield Communication(
                phase="step",
                part="state",
                group=group,
                op=op,
                calls=1,
                size_bytes=size_bytes,
                beside=beside,
                pieces=max(1, count // BUCKET_PARAMETERS),
            )
    yield from _layer_state_talk(plan, stage)


def _layer_state_talk(plan: TrainingPlan, stage: int) -> Iterator[Communication]:
    """Gradients of each layer and micro-batch with ZeRO 2; with 3 the parameters, too, before each pass (Rajbhandari et
    al., ZeRO: Memory optimizations toward training trillion parameter models, 2020, section 7)."""
    parallelism = plan.parallelism
    gathered = (("forward", "allgather", PARAMETER_BYTES), ("backward", "allgather", PARAMETER_BYTES))
    reduced = (("backward", "reducescatter", parallelism.gradient_bytes),)
    kinds = {2: reduced, 3: (*gathered, *reduced)}.get(parallelism.zero, ())
    for group, units in zip(("dp", "edp"), state_units(plan, stage), strict=True):
        for count in dict.fromkeys(units):
            for phase, op, width in kinds:
                yield Communication(
                    phase=phase,
                    part="state",
                    group=group,
                    op=op,
                    calls=units.count(count) * parallelism.micro_batches,
                    size_bytes=width * count,
                    beside="layer" if parallelism.overlap else None,
                )
