"""Duration of a training step: computations with what they wait for, in the schedule of the pipeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from railfab.workload.graph import Communication, Computation, Part, StageGraph, WorkPhase
from railfab.workload.ranks import Group
from railfab.workload.schedule import StageWork, StateTransfers, pipeline_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Duration of a call of each kind of work [s]."""

    computation_s: Callable[[Computation], float]
    communication_s: Callable[[Communication], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageParts:
    """A micro-batch in a stage, over all of its chunks [s]: `compute`, then by group the communication for which it
    waits. gathers, reductions: of parameters and gradients, once a step."""

    forward: dict[str, float]
    backward: dict[str, float]
    gathers: StateTransfers
    reductions: StateTransfers

    @property
    def work(self) -> StageWork:
        """The stage as the schedule sees it."""
        return StageWork(
            forward_s=sum(self.forward.values()),
            backward_s=sum(self.backward.values()),
            gathers=self.gathers,
            reductions=self.reductions,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineTime:
    """The stages of a pipeline, the first one first, and how many micro-batches and chunks each has."""

    micro_batches: int
    vpp: int
    stages: tuple[StageParts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Duration of a step [s]: compute_s, exposed_s by group, and bubble_s make total_s.

    stage: the slowest one, whose computation and communication these are; from 0. pipeline: all stages.
    """

    stage: int
    compute_s: float
    exposed_s: Mapping[Group, float]
    bubble_s: float
    pipeline: PipelineTime

    @property
    def total_s(self) -> float:
        return self.compute_s + sum(self.exposed_s.values()) + self.bubble_s


@dataclass(slots=True)
class _State:
    """Transfers of parameters and gradients of a stage in a step, by group [s], and as a pipeline has them."""

    by_group: defaultdict[Group, float] = field(default_factory=lambda: defaultdict(float))
    gathers: StateTransfers = field(default_factory=StateTransfers)
    reductions: StateTransfers = field(default_factory=StateTransfers)

    def add(self, talk: Communication, duration_s: float) -> None:
        """Add a transfer; one after another they take the network of the stage."""
        self.by_group[talk.group] += duration_s
        before = self.gathers if talk.op == "allgather" else self.reductions
        added = StateTransfers(
            waited_s=before.waited_s + (duration_s if talk.beside is None else 0.0),
            beside_s=before.beside_s + (0.0 if talk.beside is None else duration_s),
            pieces=talk.pieces + (before.pieces if before.beside_s else 0),
        )
        if talk.op == "allgather":
            self.gathers = added
        else:
            self.reductions = added


@dataclass(frozen=True, slots=True, kw_only=True)
class _StageTime:
    """Times of a stage over all micro-batches [s]. passes_s: computation and what it waits for, by phase; parts: of
    these, `compute` and by group."""

    computed: Mapping[WorkPhase, float]
    passes_s: Mapping[WorkPhase, float]
    exposed: Mapping[Group, float]
    parts: Mapping[WorkPhase, Mapping[str, float]]
    state: _State

    @property
    def pipelined_s(self) -> float:
        return self.passes_s["forward"] + self.passes_s["backward"]


def _work(time: _StageTime, micro_batches: int, *, state: bool) -> StageWork:
    """A stage as the schedule sees it, with its transfers of state or without."""
    none = StateTransfers()
    return StageWork(
        forward_s=time.passes_s["forward"] / micro_batches,
        backward_s=time.passes_s["backward"] / micro_batches,
        gathers=time.state.gathers if state else none,
        reductions=time.state.reductions if state else none,
    )


def step_time(graphs: Sequence[StageGraph], costs: Costs, *, micro_batches: int, vpp: int = 1) -> StepTime:
    """The step of a pipeline of these stages, whose schedule is executed.

    The parts are those of the slowest stage. What the schedule adds to its passes is the bubble: (p - 1) / (m v) of
    them where all stages are alike (Narayanan et al., 2021); what gathers and reductions of state add to it is exposed.
    """
    times = [_stage_time(graph, costs) for graph in graphs]
    slowest = max(range(len(times)), key=lambda stage: times[stage].pipelined_s)
    time = times[slowest]
    passes_s, whole_s = (
        pipeline_s([_work(each, micro_batches, state=state) for each in times], micro_batches=micro_batches, vpp=vpp)
        for state in (False, True)
    )
    state_s = _added(*(each.state.by_group for each in times))
    exposed_share = (whole_s - passes_s) / sum(state_s.values()) if any(state_s.values()) else 0.0
    return StepTime(
        stage=graphs[slowest].stage,
        compute_s=sum(time.computed.values()),
        exposed_s=_added(time.exposed, {group: exposed_share * seconds for group, seconds in state_s.items()}),
        bubble_s=max(0.0, passes_s - time.pipelined_s),
        pipeline=PipelineTime(
            micro_batches=micro_batches, vpp=vpp, stages=tuple(_parts(each, micro_batches) for each in times)
        ),
    )


def _parts(time: _StageTime, micro_batches: int) -> StageParts:
    forward, backward = (
        {part: seconds / micro_batches for part, seconds in time.parts[phase].items()}
        for phase in ("forward", "backward")
    )
    return StageParts(forward=forward, backward=backward, gathers=time.state.gathers, reductions=time.state.reductions)


def _added(*parts: Mapping[Group, float]) -> Mapping[Group, float]:
    groups = dict.fromkeys(group for part in parts for group in part)
    return {group: sum(part.get(group, 0.0) for part in parts) for group in groups}


def _stage_time(graph: StageGraph, costs: Costs) -> _StageTime:
    computed: dict[WorkPhase, float] = {"forward": 0.0, "backward": 0.0, "step": 0.0}
    spare: defaultdict[WorkPhase, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for work in graph.computations:
        duration_s = work.calls * costs.computation_s(work)
        computed[work.phase] += duration_s
        spare[work.phase][work.part] += duration_s
    passes_s = dict(computed)
    parts: dict[WorkPhase, dict[str, float]] = {phase: {"compute": seconds} for phase, seconds in computed.items()}
    exposed: defaultdict[Group, float] = defaultdict(float)
    state = _State()
    for talk in graph.communications:
        duration_s = talk.calls * costs.communication_s(talk)
        if talk.phase == "step":
            state.add(talk, duration_s)
            continue
        left_s = exposed_s(talk, duration_s, spare[talk.phase])
        exposed[talk.group] += left_s
        passes_s[talk.phase] += left_s
        if left_s:
            parts[talk.phase][talk.group] = parts[talk.phase].get(talk.group, 0.0) + left_s
    return _StageTime(computed=computed, passes_s=passes_s, exposed=exposed, parts=parts, state=state)


def parts_beside(talk: Communication) -> tuple[Part, ...]:
    """The computations beside which a communication runs."""
    if talk.beside == "layer":
        return ("mlp", "attention")
    return (talk.beside,) if talk.beside else ()


def exposed_s(talk: Communication, duration_s: float, spare: dict[str, float]) -> float:
    """Remainder of a communication beside the computation that it shares with others [s].

    spare: what is left of each part of its phase, less what this one takes when it returns.
    """
    for part in parts_beside(talk):
        hidden_s = min(duration_s, spare.get(part, 0.0))
        spare[part] = spare.get(part, 0.0) - hidden_s
        duration_s -= hidden_s
    return duration_s
