"""A training job: the shape of its model, how its GPUs share the work, and where its ranks are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import Count, KeyFault, Listed, Model
from railfab.text.counted import listed

Size = Annotated[int, Field(ge=1, le=10**7)]
Batches = Annotated[int, Field(ge=1, le=100_000)]
Dimension = Literal["tp", "cp", "ep", "dp", "pp"]
ORDER: tuple[Dimension, ...] = ("tp", "cp", "ep", "dp", "pp")
"""Dimensions of the ranks, the one first whose neighbours have neighbouring ranks; the order of Megatron."""


class Experts(Model):
    """The experts of the layers behind the first `dense_layers`. ffn: width of one. shared: used by every token."""

    count: Size
    per_token: Size
    ffn: Size
    shared: Annotated[int, Field(ge=0, le=1000)] = 0
    dense_layers: Annotated[int, Field(ge=0, le=10_000)] = 0

    def _faults(self) -> Iterator[KeyFault]:
        if self.per_token > self.count:
            problem = f"{self.per_token} experts per token are more than the {self.count} that there are"
            yield KeyFault("per_token", problem, f"Use 1 to {self.count}")


class LatentAttention(Model):
    """Multi-head latent attention: ranks of the compressed query and key-value, and the sizes of a head's parts."""

    query_rank: Size
    kv_rank: Size
    nope_size: Size
    rope_size: Size
    value_size: Size


class ModelShape(Model):
    """A transformer. ffn: width of the dense layers. gated: a third matrix per MLP (SwiGLU). sequence: tokens.

    positions: learned position embeddings. tied_embeddings: the output layer has the weights of the embedding.
    """

    layers: Annotated[int, Field(ge=1, le=10_000)]
    hidden: Size
    heads: Size
    kv_heads: Size | None = None
    head_size: Size | None = None
    ffn: Size
    gated: bool = True
    vocabulary: Size
    sequence: Size
    positions: Annotated[int, Field(ge=0, le=10**7)] = 0
    tied_embeddings: bool = False
    experts: Experts | None = None
    latent_attention: LatentAttention | None = None

    def _faults(self) -> Iterator[KeyFault]:
        if self.head_size is None and self.hidden % self.heads:
            problem = f"a hidden size of {self.hidden} does not divide into {self.heads} heads"
            yield KeyFault("heads", problem, "Use a divisor, or state head_size")
        if self.heads % (self.kv_heads or self.heads):
            problem = f"{self.heads} heads do not divide into {self.kv_heads} groups of keys and values"
            yield KeyFault("kv_heads", problem, f"Use a divisor of {self.heads}")
        if self.experts is not None and self.experts.dense_layers > self.layers:
            problem = f"{self.experts.dense_layers} dense layers are more than the {self.layers} layers"
            yield KeyFault("experts.dense_layers", problem, f"Use 0 to {self.layers}")


Optimizer = Literal["replicated", "distributed", "zero-2", "zero-3"]
OPTIMIZERS: tuple[Optimizer, ...] = ("replicated", "distributed", "zero-2", "zero-3")
"""Stages 0 to 3 of ZeRO: replicas hold all; they share the state of Adam; gradients, too; parameters, too."""


class Parallelism(Model):
    """Division of a step among the GPUs of a job. micro_batch: sequences. vpp: chunks of layers per pipeline stage.

    dp: by default the GPUs that are left; experts are spread over ep of them. optimizer: what is spread over dp, one of
    OPTIMIZERS. overlap: gradients and parameters travel beside the computation.
    recompute: the backward pass computes each layer again instead of keeping its activations.
    """

    tp: Count = 1
    pp: Count = 1
    vpp: Count = 1
    cp: Count = 1
    ep: Count = 1
    dp: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    micro_batches: Batches = 1
    micro_batch: Batches = 1
    sequence_parallel: bool = True
    optimizer: Optimizer = "distributed"
    gradient_bytes: Literal[2, 4] = 4
    recompute: bool = False
    overlap: bool = True

    @property
    def zero(self) -> int:
        """Stage of ZeRO, 0 to 3."""
        return OPTIMIZERS.index(self.optimizer)

    def _faults(self) -> Iterator[KeyFault]:
        if self.vpp > 1 and self.pp == 1:
            yield KeyFault("vpp", f"{self.vpp} chunks need more than one stage", "Use vpp 1, or pp of at least 2")
        elif self.vpp > 1 and self.micro_batches % self.pp:
            problem = f"{self.micro_batches} micro-batches do not divide into groups of {self.pp}, which vpp needs"
            yield KeyFault("micro_batches", problem, f"Use a multiple of {self.pp}, or vpp 1")
        if self.dp is not None and self.dp % self.ep:
            problem = f"{self.dp} replicas do not divide into groups of {self.ep} for the experts"
            yield KeyFault("dp", problem, f"Use a multiple of {self.ep}, or an ep that divides {self.dp}")


Spread = Literal["packed", "scattered"]
"""Hosts of a job: segment after segment, or the next one of each segment in turn."""


class Placement(Model):
    """Ranks on the GPUs: they fill the hosts one after another. order: whose neighbours come first. hosts: the order
    of the hosts, of which a job takes all or the first ones."""

    order: Listed[Dimension] = ORDER
    hosts: Spread = "packed"

    def _faults(self) -> Iterator[KeyFault]:
        if sorted(self.order) != sorted(ORDER):
            problem = f"the order is not one of all of {listed(ORDER)}"
            yield KeyFault("order", problem, f"Name each once, for example [{listed(ORDER)}]")


class Accelerator(Model):
    """Computing rate of a GPU. tflops: dense BF16 peak, by default of the host model. efficiency: the used share."""

    tflops: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    efficiency: Annotated[float, Field(gt=0, le=1)] = 0.45
