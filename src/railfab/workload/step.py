"""Duration of a training step in closed form: 1F1B, or interleaved with chunks, over the stages of the pipeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from railfab.workload.graph import Communication, Computation, StageGraph, WorkPhase
from railfab.workload.ranks import Group

BUCKET_PARAMETERS = 40_000_000
"""Least parameters of a bucket of gradients (Megatron's default, general knowledge); the first and last are exposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Duration of a call of each kind of work [s]."""

    computation_s: Callable[[Computation], float]
    communication_s: Callable[[Communication], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Duration of a step [s]: compute_s, exposed_s by group, and bubble_s make total_s.

    stage: the slowest one, whose computation and communication these are; from 0.
    """

    stage: int
    compute_s: float
    exposed_s: Mapping[Group, float]
    bubble_s: float

    @property
    def total_s(self) -> float:
        return self.compute_s + sum(self.exposed_s.values()) + self.bubble_s


@dataclass(frozen=True, slots=True, kw_only=True)
class _StageTime:
    """Times of a stage over all micro-batches, and once a step [s]."""

    computed: Mapping[WorkPhase, float]
    exposed: Mapping[Group, float]
    once: Mapping[Group, float]

    @property
    def pipelined_s(self) -> float:
        return self.computed["forward"] + self.computed["backward"] + sum(self.exposed.values())


def step_time(graphs: Sequence[StageGraph], costs: Costs, *, micro_batches: int, vpp: int = 1) -> StepTime:
    """The step of a pipeline of these stages: every micro-batch passes the slowest stage, the first one all others too.

    The others are the bubble: (p - 1) / (m v) of the time of a stage where all are alike (Narayanan et al., 2021).
    """
    times = [_stage_time(graph, costs, micro_batches) for graph in graphs]
    slowest = max(range(len(times)), key=lambda stage: times[stage].pipelined_s)
    others_s = sum(time.pipelined_s for stage, time in enumerate(times) if stage != slowest)
    once = max((time.once for time in times), key=lambda exposed: sum(exposed.values()))
    time = times[slowest]
    return StepTime(
        stage=graphs[slowest].stage,
        compute_s=sum(time.computed.values()),
        exposed_s=_added(time.exposed, once),
        bubble_s=others_s / (micro_batches * vpp),
    )


def _added(*parts: Mapping[Group, float]) -> Mapping[Group, float]:
    groups = dict.fromkeys(group for part in parts for group in part)
    return {group: sum(part.get(group, 0.0) for part in parts) for group in groups}


def _stage_time(graph: StageGraph, costs: Costs, micro_batches: int) -> _StageTime:
    computed: dict[WorkPhase, float] = {"forward": 0.0, "backward": 0.0, "step": 0.0}
    spare: defaultdict[tuple[str, str], float] = defaultdict(float)
    for work in graph.computations:
        duration_s = work.calls * costs.computation_s(work)
        computed[work.phase] += duration_s
        spare[work.phase, work.part] += duration_s
    exposed: defaultdict[Group, float] = defaultdict(float)
    for talk in graph.communications:
        if talk.phase != "step":
            exposed[talk.group] += _exposed_s(talk, talk.calls * costs.communication_s(talk), spare)
    return _StageTime(computed=computed, exposed=exposed, once=_once(graph, costs, computed, micro_batches))


def _exposed_s(talk: Communication, duration_s: float, spare: dict[tuple[str, str], float]) -> float:
    """Remainder of a communication beside the computation that it shares with others [s]."""
    parts = ("mlp", "attention") if talk.beside == "layer" else (talk.beside,) if talk.beside else ()
    for part in parts:
        hidden_s = min(duration_s, spare[talk.phase, part])
        spare[talk.phase, part] -= hidden_s
        duration_s -= hidden_s
    return duration_s


def _once(
    graph: StageGraph, costs: Costs, computed: Mapping[WorkPhase, float], micro_batches: int
) -> Mapping[Group, float]:
    """Exposed communication of gradients and parameters: gradients travel beside one backward pass, parameters beside
    one forward pass, but for a bucket each."""
    spare = {phase: computed[phase] / micro_batches for phase in ("forward", "backward")}
    exposed: defaultdict[Group, float] = defaultdict(float)
    for talk in graph.communications:
        if talk.phase != "step":
            continue
        duration_s = talk.calls * costs.communication_s(talk)
        if talk.beside is not None:
            side = "forward" if talk.op == "allgather" else "backward"
            hidden_s = min(duration_s * (1 - _bucket_share(talk)), spare[side])
            spare[side] -= hidden_s
            duration_s -= hidden_s
        exposed[talk.group] += duration_s
    return exposed


def _bucket_share(talk: Communication) -> float:
    """The share of a bucket, of two bytes a parameter at least, in a communication."""
    return min(1.0, BUCKET_PARAMETERS * 2 / talk.size_bytes)
