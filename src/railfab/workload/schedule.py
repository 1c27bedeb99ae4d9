"""The end of a pipeline: 1F1B, or interleaved with chunks, executed with the gathers and reductions of its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MOST_PASSES = 20_000
"""Passes of chunks that are followed; micro-batches beyond them add one turn of the slowest stage each."""
FORWARD, BACKWARD = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTransfers:
    """Gathers of parameters, or reductions of gradients, of a stage in a step [s].

    waited_s: for which all computation waits. beside_s: that travel beside the first or last pass of each chunk, in
    `pieces`, each with its part of the layers.
    """

    waited_s: float = 0.0
    beside_s: float = 0.0
    pieces: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StageWork:
    """Passes of a micro-batch over all chunks of a stage, with all communication for which they wait [s]."""

    forward_s: float
    backward_s: float
    gathers: StateTransfers = StateTransfers()
    reductions: StateTransfers = StateTransfers()


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePass:
    """A pass of a micro-batch over a chunk of a stage, all from 0 [s]. waits_s: for parameters, at its beginning."""

    stage: int
    direction: int
    chunk: int
    batch: int
    begin_s: float
    end_s: float
    waits_s: float


def followed_batches(stages: int, *, micro_batches: int, vpp: int, most_passes: int) -> int:
    """Micro-batches that are followed: all, or those of as many whole groups as have so many passes, at least two."""
    return min(micro_batches, max(2, most_passes // (2 * stages**2 * vpp)) * stages)


def pipeline_passes(stages: Sequence[StageWork], *, micro_batches: int, vpp: int) -> tuple[StagePass, ...]:
    """The passes of a pipeline, each stage's in their order. micro_batches, vpp: see `pipeline_s`."""
    run = _ExecutedSchedule(stages, micro_batches, vpp)
    run.ends()
    return tuple(sorted(run.passes, key=lambda each: (each.stage, each.begin_s)))


def pipeline_s(stages: Sequence[StageWork], *, micro_batches: int, vpp: int) -> float:
    """End of the last stage of a pipeline in a step [s].

    Beyond MOST_PASSES every micro-batch takes as long as in the slowest stage, which is at most what they take.
    micro_batches: a multiple of the stages if there are several chunks (vpp). Raises ValueError where it is not, and
    stages wait for each other.
    """
    followed = followed_batches(len(stages), micro_batches=micro_batches, vpp=vpp, most_passes=MOST_PASSES)
    slowest_s = max(stage.forward_s + stage.backward_s for stage in stages)
    return _ExecutedSchedule(stages, followed, vpp).ends() + (micro_batches - followed) * slowest_s


def order(stage: int, stages: int, micro_batches: int, vpp: int) -> Iterator[tuple[int, int, int]]:
    """Direction, chunk and micro-batch of the passes of a stage, from 0, in their order (Megatron's schedules).

    Narayanan et al., Efficient large-scale language model training on GPU clusters, 2021, section 2.2: a stage begins
    with the forward passes of as many micro-batches as there are stages behind it, then does one forward and one
    backward pass in turn. With chunks it does those of as many micro-batches as stages, then those of the next chunk.
    """
    groups = [range(first, min(first + stages, micro_batches)) for first in range(0, micro_batches, stages)]
    forward = [(chunk, batch) for group in groups for chunk in range(vpp) for batch in group]
    backward = [(chunk, batch) for group in groups for chunk in reversed(range(vpp)) for batch in group]
    behind = stages - stage - 1
    warm = min(len(forward), behind if vpp == 1 else 2 * behind + (vpp - 1) * stages)
    for turn in range(len(forward) + warm):
        if turn < len(forward):
            yield FORWARD, *forward[turn]
        if turn >= warm:
            yield BACKWARD, *backward[turn - warm]


@dataclass(slots=True)
class _ExecutedSchedule:
    """An executed schedule. done: ends of passes by direction, place and micro-batch [s], negative before.

    free: when each stage has done its passes so far; link: when its transfers of state have ended.
    """

    stages: Sequence[StageWork]
    micro_batches: int
    vpp: int
    done: list[list[list[float]]] = field(init=False)
    free: list[float] = field(init=False)
    link: list[float] = field(init=False)
    passes: list[StagePass] = field(default_factory=list)

    def __post_init__(self) -> None:
        places = len(self.stages) * self.vpp
        self.done = [[[-1.0] * self.micro_batches for _ in range(places)] for _ in (FORWARD, BACKWARD)]
        self.free = [stage.gathers.waited_s for stage in self.stages]
        self.link = [0.0] * len(self.stages)

    def ends(self) -> float:
        """The end of all stages [s]: each does its passes as soon as those that they need are done."""
        count = len(self.stages)
        queues = [order(stage, count, self.micro_batches, self.vpp) for stage in range(count)]
        heads = [next(queue, None) for queue in queues]
        while any(head is not None for head in heads):
            done = len(self.passes)
            for stage, queue in enumerate(queues):
                while (head := heads[stage]) is not None and (ready := self._ready(stage, *head)) >= 0.0:
                    self._do(stage, *head, ready)
                    heads[stage] = next(queue, None)
            if len(self.passes) == done:
                raise ValueError(f"{self.micro_batches} micro-batches of {self.vpp} chunks on {count} stages wait")
        last = (
            max(free + stage.reductions.waited_s, link)
            for stage, free, link in zip(self.stages, self.free, self.link, strict=True)
        )
        return max(last)

    def _ready(self, stage: int, direction: int, chunk: int, batch: int) -> float:
        """End of the pass that comes before in the model [s]; negative while it has not ended."""
        place, last = chunk * len(self.stages) + stage, len(self.stages) * self.vpp - 1
        if direction == FORWARD:
            return self.done[FORWARD][place - 1][batch] if place else 0.0
        return self.done[BACKWARD][place + 1][batch] if place < last else self.done[FORWARD][place][batch]

    def _do(self, stage: int, direction: int, chunk: int, batch: int, ready: float) -> None:
        work = self.stages[stage]
        begin = max(self.free[stage], ready)
        pass_s = (work.backward_s if direction else work.forward_s) / self.vpp
        end = begin + pass_s
        if direction == FORWARD and batch == 0:
            end = self._gathered(stage, begin, pass_s)
        self.passes.append(
            StagePass(
                stage=stage,
                direction=direction,
                chunk=chunk,
                batch=batch,
                begin_s=begin,
                end_s=end,
                waits_s=end - begin - pass_s,
            )
        )
        self.free[stage] = self.done[direction][chunk * len(self.stages) + stage][batch] = end
        if direction == BACKWARD and batch == self.micro_batches - 1:
            self._reduce(stage, begin, pass_s)

    def _gathered(self, stage: int, begin: float, pass_s: float) -> float:
        """The end of the first pass of a chunk, each part of whose layers waits for its piece of the parameters."""
        gathers = self.stages[stage].gathers
        pieces, whole_s = max(1, gathers.pieces // self.vpp), gathers.beside_s / self.vpp
        first = self.link[stage] + whole_s / pieces
        self.link[stage] += whole_s
        if not whole_s:
            return begin + pass_s
        return max(begin + pass_s, first + pass_s, self.link[stage] + pass_s / pieces)

    def _reduce(self, stage: int, begin: float, pass_s: float) -> None:
        """Reduce the gradients of a chunk: each piece when the last pass has done its part of the layers."""
        reductions = self.stages[stage].reductions
        pieces, whole_s = max(1, reductions.pieces // self.vpp), reductions.beside_s / self.vpp
        if whole_s:
            first = max(self.link[stage], begin + pass_s / pieces)
            self.link[stage] = max(first + whole_s, begin + pass_s + whole_s / pieces)
