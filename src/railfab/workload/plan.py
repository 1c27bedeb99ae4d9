"""The plan of a training job: shape, parallelism and ranks that fit each other and the GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from railfab.errors import IntentError, raise_all
from railfab.intent import Job, ModelShape, Parallelism, Placement
from railfab.intent.training import Dimension
from railfab.workload.ranks import Ranks
from railfab.workload.shapes import is_expert_layer, shape_named


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """A training job on a number of GPUs. dp: replicas of all parameters but those of experts, context ranks apart."""

    shape: ModelShape
    parallelism: Parallelism
    ranks: Ranks
    dp: int

    @property
    def chunks(self) -> int:
        """Chunks of layers that follow each other in the pipeline."""
        return self.parallelism.pp * self.parallelism.vpp

    @property
    def rank_tokens(self) -> int:
        """Tokens of a micro-batch that a context rank has."""
        return self.parallelism.micro_batch * self.shape.sequence // self.parallelism.cp

    @property
    def step_tokens(self) -> int:
        """Tokens of a step, over all replicas."""
        each = self.parallelism.micro_batches * self.parallelism.micro_batch * self.shape.sequence
        return self.dp * each

    def layers(self, stage: int) -> tuple[int, ...]:
        """The layers of a pipeline stage, from 0. Its chunks are `pp` apart; the first and last chunks of all are those
        that have a layer less, where layers do not divide evenly."""
        bounds = _bounds(self.shape.layers, self.chunks)
        pp = self.parallelism.pp
        return tuple(
            layer for chunk in range(stage, self.chunks, pp) for layer in range(bounds[chunk], bounds[chunk + 1])
        )


def _bounds(layers: int, chunks: int) -> list[int]:
    """First layer of each chunk, and the number of layers."""
    most = -(-layers // chunks)
    sizes = [most] * chunks
    for turn in range(most * chunks - layers):
        sizes[turn // 2 if turn % 2 == 0 else chunks - 1 - turn // 2] -= 1
    bounds = [0]
    for size in sizes:
        bounds.append(bounds[-1] + size)
    return bounds


def training_plan(job: Job, *, hosts: int, gpus_per_host: int) -> TrainingPlan:
    """The plan of a job with a model on these hosts. Raises IntentError, or Problems, with the keys that do not fit."""
    assert job.model is not None
    shape = shape_named(job.model)
    parallelism = job.parallelism or Parallelism()
    gpus = hosts * gpus_per_host
    raise_all([*_shape_faults(shape, parallelism), *_rank_faults(parallelism, gpus)])
    dp = gpus // (parallelism.tp * parallelism.cp * parallelism.pp)
    sizes: dict[Dimension, int] = {
        "tp": parallelism.tp,
        "cp": parallelism.cp,
        "ep": parallelism.ep,
        "dp": dp // parallelism.ep,
        "pp": parallelism.pp,
    }
    ranks = Ranks(sizes=sizes, order=(job.placement or Placement()).order, gpus_per_host=gpus_per_host)
    return TrainingPlan(shape=shape, parallelism=parallelism, ranks=ranks, dp=dp)


def _fault(key: str, problem: str, remedy: str) -> IntentError:
    return IntentError(f"parallelism.{key}", problem, remedy)


def _rank_faults(parallelism: Parallelism, gpus: int) -> Iterator[IntentError]:
    tp, cp, pp, ep = parallelism.tp, parallelism.cp, parallelism.pp, parallelism.ep
    replica = tp * cp * pp
    product = f"tp {tp} x cp {cp} x pp {pp}"
    if replica > gpus:
        yield _fault("tp", f"{product} = {replica:,} GPUs, and the job has {gpus:,}", _smaller(parallelism, gpus))
        return
    if gpus % replica:
        problem = f"{product} = {replica:,} does not divide the {gpus:,} GPUs of the job"
        yield _fault("pp", problem, _smaller(parallelism, gpus))
        return
    dp = gpus // replica
    if parallelism.dp not in (None, dp):
        whole = replica * (parallelism.dp or 1)
        problem = f"{product} x dp {parallelism.dp} = {whole:,} GPUs, and the job has {gpus:,}"
        yield _fault("dp", problem, f"Use dp {dp}, or leave it out")
    elif dp % ep:
        fit = max(divisor for divisor in range(1, ep + 1) if dp % divisor == 0)
        yield _fault("ep", f"{dp} replicas do not divide into groups of {ep}", f"Use ep {fit}")


def _smaller(parallelism: Parallelism, gpus: int) -> str:
    """The largest parallelism up to the stated one that divides the GPUs, pipeline first."""
    for cp in range(parallelism.cp, 0, -1):
        for tp in range(parallelism.tp, 0, -1):
            for pp in range(parallelism.pp, 0, -1):
                if gpus % (tp * cp * pp) == 0 and parallelism.tp % tp == 0 and parallelism.cp % cp == 0:
                    return f"Use tp {tp}, cp {cp}, pp {pp}"
    return "Use tp 1, cp 1, pp 1"


def _shape_faults(shape: ModelShape, parallelism: Parallelism) -> Iterator[IntentError]:
    tp, ep, cp = parallelism.tp, parallelism.ep, parallelism.cp
    chunks = parallelism.pp * parallelism.vpp
    if shape.heads % tp:
        yield _fault("tp", f"{shape.heads} heads do not divide into {tp} ranks", f"Use tp {_divisor(shape.heads, tp)}")
    elif shape.sequence % (tp * cp):
        whole = tp * cp
        problem = f"{shape.sequence} tokens do not divide into {whole} parts (tp x cp)"
        yield _fault("cp", problem, f"Use cp {_divisor(shape.sequence // tp, cp)}")
    if chunks > shape.layers:
        problem = f"pp {parallelism.pp} x vpp {parallelism.vpp} = {chunks} chunks are more than {shape.layers} layers"
        key, most = ("vpp", shape.layers // parallelism.pp) if parallelism.vpp > 1 else ("pp", shape.layers)
        yield _fault(key, problem, f"Use {key} up to {most}" if most else f"Use vpp 1 and pp up to {shape.layers}")
    experts = shape.experts
    if experts is None or not is_expert_layer(shape, shape.layers - 1):
        if ep > 1:
            yield _fault("ep", "the model has no experts", "Use ep 1, or leave it out")
    elif experts.count % ep:
        yield _fault(
            "ep", f"{experts.count} experts do not divide into {ep} ranks", f"Use ep {_divisor(experts.count, ep)}"
        )


def _divisor(number: int, most: int) -> int:
    """The largest divisor of a number up to a limit."""
    return max(divisor for divisor in range(1, min(number, most) + 1) if number % divisor == 0)
