"""Shapes of models: presets with their sources, parameters, and the work of a layer."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from railfab.errors import IntentError
from railfab.intent import ModelShape
from railfab.text.counted import listed
from railfab.text.display import display
from railfab.yaml_reader.packaged import packaged

VOCABULARY_STEP = 128
"""Megatron pads the vocabulary to a multiple of this number times tp (make-vocab-size-divisible-by)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A published model. parameters: as published."""

    shape: ModelShape
    parameters: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Parameters of a part of a model. divided: what tensor parallelism splits. whole: what each of its ranks holds."""

    divided: int
    whole: int = 0

    @property
    def total(self) -> int:
        return self.divided + self.whole

    def of_rank(self, tp: int) -> int:
        return -(-self.divided // tp) + self.whole


@cache
def presets() -> Mapping[str, Preset]:
    """Every published model, by name."""
    return {
        name: Preset(shape=ModelShape.model_validate(row["shape"]), parameters=row["parameters"], source=row["source"])
        for name, row in packaged(__package__, "models.yml").items()
    }


def shape_named(model: str | ModelShape) -> ModelShape:
    """The shape that a job states, by name or in full. Raises IntentError."""
    if isinstance(model, ModelShape):
        return model
    known = presets()
    if model not in known:
        close = difflib.get_close_matches(model, known, 1)
        remedy = f"Use {close[0]}" if close else f"Use one of {listed(tuple(known))}, or state its shape"
        raise IntentError("model", f"no preset is named {display(model)}", remedy)
    return known[model].shape


def head_size(shape: ModelShape) -> int:
    return shape.head_size or shape.hidden // shape.heads


def kv_width(shape: ModelShape) -> int:
    """Width of the keys of a token, and of its values, without latent attention."""
    return (shape.kv_heads or shape.heads) * head_size(shape)


def attention(shape: ModelShape) -> Weights:
    """Projections of the attention of a layer."""
    hidden, heads, latent = shape.hidden, shape.heads, shape.latent_attention
    if latent is None:
        return Weights(divided=hidden * (2 * heads * head_size(shape) + 2 * kv_width(shape)))
    query = latent.query_rank * heads * (latent.nope_size + latent.rope_size)
    keys_values = latent.kv_rank * heads * (latent.nope_size + latent.value_size)
    return Weights(
        divided=query + keys_values + heads * latent.value_size * hidden,
        whole=hidden * (latent.query_rank + latent.kv_rank + latent.rope_size),
    )


def mlp(shape: ModelShape, width: int) -> Weights:
    """The matrices of an MLP of this width."""
    return Weights(divided=(3 if shape.gated else 2) * shape.hidden * width)


def norms(shape: ModelShape) -> Weights:
    """Scales of the two norms of a layer."""
    return Weights(divided=0, whole=2 * shape.hidden)


def is_expert_layer(shape: ModelShape, layer: int) -> bool:
    """Whether a layer, from 0, has experts."""
    return shape.experts is not None and layer >= shape.experts.dense_layers


def replicated(shape: ModelShape, layer: int) -> Weights:
    """The parameters of a layer but its routed experts: attention, norms, and MLP or shared experts with the router."""
    parts = [attention(shape), norms(shape)]
    if shape.experts is not None and is_expert_layer(shape, layer):
        experts = shape.experts
        parts.append(mlp(shape, experts.shared * experts.ffn))
        parts.append(Weights(divided=0, whole=shape.hidden * experts.count))
    else:
        parts.append(mlp(shape, shape.ffn))
    return Weights(divided=sum(part.divided for part in parts), whole=sum(part.whole for part in parts))


def routed(shape: ModelShape, layer: int) -> int:
    """The parameters of all routed experts of a layer."""
    if shape.experts is None or not is_expert_layer(shape, layer):
        return 0
    return shape.experts.count * mlp(shape, shape.experts.ffn).total


def parameters(shape: ModelShape) -> int:
    """All parameters of a model."""
    layers = sum(replicated(shape, layer).total + routed(shape, layer) for layer in range(shape.layers))
    tables = shape.vocabulary * (1 if shape.tied_embeddings else 2) + shape.positions
    return layers + (tables + 1) * shape.hidden


def padded_vocabulary(shape: ModelShape, tp: int) -> int:
    """Rows of the embedding, which tp ranks share evenly."""
    step = VOCABULARY_STEP * tp
    return -(-shape.vocabulary // step) * step


def attention_flop(shape: ModelShape) -> int:
    """Forward work of the attention of a layer for a token, of a sequence without causal saving.

    As in Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021.
    """
    latent, heads = shape.latent_attention, shape.heads
    if latent is None:
        scores = 2 * heads * head_size(shape)
    else:
        scores = heads * (latent.nope_size + latent.rope_size + latent.value_size)
    return 2 * attention(shape).total + 2 * shape.sequence * scores


def mlp_flop(shape: ModelShape, layer: int) -> int:
    """Forward work of the MLP of a layer, or of the experts that a token uses, for a token."""
    experts = shape.experts
    if experts is not None and is_expert_layer(shape, layer):
        return 2 * mlp(shape, (experts.per_token + experts.shared) * experts.ffn).total
    return 2 * mlp(shape, shape.ffn).total
