"""Memory of a GPU that a training job needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from railfab.errors import IntentError
from railfab.intent import ModelShape
from railfab.workload.graph import PARAMETER_BYTES, activation_bytes, stage_parameters, state_units
from railfab.workload.plan import TrainingPlan
from railfab.workload.shapes import head_size, is_expert_layer, kv_width, padded_vocabulary

OPTIMIZER_BYTES = 12
"""State of Adam for a parameter: the parameter and two moments, in FP32."""
LOGIT_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMemory:
    """Memory of a GPU of a stage [bytes]: parameters with gradients, state of the optimiser, activations."""

    stage: int
    parameters: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        return self.parameters + self.optimizer + self.activations


def gpu_memory(plan: TrainingPlan) -> GpuMemory:
    """The memory of the stage that needs most. Buffers of libraries and fragmentation come on top."""
    return max((_stage_memory(plan, stage) for stage in range(plan.parallelism.pp)), key=lambda stage: stage.total)


def _stage_memory(plan: TrainingPlan, stage: int) -> GpuMemory:
    parallelism = plan.parallelism
    parameters = _held(plan, stage, PARAMETER_BYTES, spread=parallelism.zero >= 3, whole_layers=2)
    gradients = _held(plan, stage, parallelism.gradient_bytes, spread=parallelism.zero >= 2, whole_layers=1)
    return GpuMemory(
        stage=stage,
        parameters=parameters + gradients,
        optimizer=_held(plan, stage, OPTIMIZER_BYTES, spread=parallelism.zero >= 1, whole_layers=0),
        activations=_activations(plan, stage),
    )


def _held(plan: TrainingPlan, stage: int, width: int, *, spread: bool, whole_layers: int) -> int:
    """Memory for `width` bytes of each parameter of a stage, or of the share of a replica where they are spread, with
    those of the largest layers that are whole while they are used [bytes]."""
    counts = stage_parameters(plan, stage)
    if not spread:
        return width * sum(counts)
    ranks = [plan.ranks.group_size(group) for group in ("dp", "edp")]
    shares = sum(width * count // size for count, size in zip(counts, ranks, strict=True))
    largest = max(map(sum, zip(*state_units(plan, stage), strict=True)))
    return shares + whole_layers * width * largest


def _activations(plan: TrainingPlan, stage: int) -> int:
    """Values that the backward pass needs of the micro-batches that have begun and not ended.

    Stage s of p holds p - s micro-batches, with chunks p (1 + (p - 1) / (p v)) (Korthikanti et al., 2022, appendix C).
    """
    parallelism, shape, tp = plan.parallelism, plan.shape, plan.parallelism.tp
    pp, batches = parallelism.pp, parallelism.micro_batches
    begun = float(min(batches, pp - stage))
    if parallelism.vpp > 1:
        begun = min(float(batches), pp * (1 + (pp - 1) / (pp * parallelism.vpp)))
    layers = plan.layers(stage)
    kept = sum(_layer_bytes(shape, layer, recompute=parallelism.recompute) for layer in layers)
    total = begun * kept * plan.rank_tokens / tp
    if parallelism.recompute and layers:
        total += _layer_bytes(shape, layers[-1], recompute=False) * plan.rank_tokens / tp
    if stage == pp - 1:
        total += LOGIT_BYTES * plan.rank_tokens * padded_vocabulary(shape, tp) / tp
    if not parallelism.sequence_parallel:
        total += begun * len(layers) * 2 * activation_bytes(plan) * (1 - 1 / tp)
    return round(total)


def _layer_bytes(shape: ModelShape, layer: int, *, recompute: bool) -> int:
    """Bytes of a token that a layer keeps, over all tensor-parallel ranks, with an attention that keeps no scores.

    Inputs of both norms and of what follows them, query, keys, values and output of the attention, and of the MLP all
    that its matrices and its activation had as input. With recomputation, the input of the layer alone.
    """
    if recompute:
        return 2 * shape.hidden
    latent = shape.latent_attention
    if latent is None:
        width = 2 * shape.heads * head_size(shape) + 2 * kv_width(shape)
    else:
        width = shape.heads * (2 * (latent.nope_size + latent.rope_size) + 2 * latent.value_size)
    experts, matrices = shape.experts, 3 if shape.gated else 2
    inner = shape.ffn
    if experts is not None and is_expert_layer(shape, layer):
        inner = (experts.per_token + experts.shared) * experts.ffn
        width += experts.per_token * shape.hidden
    return 2 * (4 * shape.hidden + width + matrices * inner)


def check_memory(plan: TrainingPlan, gpu_gb: int) -> GpuMemory:
    """The memory of the job. Raises IntentError, with a change that was checked, where a GPU has less."""
    needed = gpu_memory(plan)
    if needed.total > gpu_gb * 10**9:
        problem = f"a GPU of stage {needed.stage + 1} needs {needed.total / 1e9:,.0f} GB, and has {gpu_gb}"
        raise IntentError("parallelism", problem, _remedy(plan, gpu_gb * 10**9))
    return needed


def _remedy(plan: TrainingPlan, limit: int) -> str:
    """A change with which the job fits: recomputation, a smaller micro-batch, both, or ZeRO 3."""
    for change, words in (
        ({"recompute": True}, "recompute: true"),
        ({"micro_batch": 1}, "micro_batch: 1"),
        ({"micro_batch": 1, "recompute": True}, "micro_batch: 1 with recompute: true"),
        ({"optimizer": "zero-3"}, "optimizer: zero-3"),
    ):
        parallelism = plan.parallelism.model_copy(update=change)
        if gpu_memory(replace(plan, parallelism=parallelism)).total <= limit:
            return f"Use {words}"
    return "Spread the model over more GPUs, with a larger tp or pp"
