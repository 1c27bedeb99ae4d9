"""A training step as transfers: the passes of every pipeline, with the collectives and sends of their ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from railfab.intent.algorithms import StepAlgorithms
from railfab.workload.graph import Communication, Computation, StageGraph, WorkPhase
from railfab.workload.group_calls import GroupCall, GroupCalls, StepTransfers
from railfab.workload.group_flows import Places, TransferList
from railfab.workload.mapping import HostPorts
from railfab.workload.ranks import GROUPS, Group, Ranks
from railfab.workload.rates import LinkRates
from railfab.workload.schedule import BACKWARD, FORWARD, StagePass, StageWork, pipeline_passes
from railfab.workload.step import exposed_s, parts_beside

PHASES: tuple[WorkPhase, WorkPhase] = ("forward", "backward")
"""By direction."""
Replicas = list[Places]
"""Transfers that each replica of a stage has done, or waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWork:
    """The work of a step on its ranks. graphs: of each stage. computation_s: duration of a call of a computation [s].

    slow: multiples of the duration of computation, by slow rank.
    """

    ranks: Ranks
    graphs: Sequence[StageGraph]
    micro_batches: int
    vpp: int
    computation_s: Callable[[Computation], float]
    algorithms: StepAlgorithms
    slow: Mapping[int, float]


Place = TypeVar("Place")
"""Place of the ranks of a replica."""


At = TypeVar("At", contravariant=True)


class StepList(Protocol[At]):
    """Parts of a step: transfers, or nodes of a graph."""

    def rest(self, port: At, after: Places, seconds: float) -> int: ...
    def joined(self, port: At, after: Sequence[int]) -> Places: ...


class StepGroups(Protocol[Place]):
    """Operations of groups, as `GroupCalls` has them. place: of the ranks of a replica."""

    @property
    def to(self) -> StepList[Place]: ...
    def place(self, ranks: tuple[int, ...]) -> Place: ...
    def inside_s(self, call: GroupCall) -> float | None: ...
    def begin(self, call: GroupCall, ranks: tuple[int, ...], ready: Sequence[Places]) -> list[Places]: ...


def add_step(work: StepWork, groups: StepGroups[Place]) -> None:
    """Add the passes and operations of a step to those of groups, in the order of its schedule."""
    run = _Step(work, groups)
    run.gather()
    for each in _in_order(work):
        run.add_pass(each)
    run.finish()


def step_transfers(work: StepWork, rates: LinkRates, hosts: HostPorts, *, where: str = "model") -> StepTransfers:
    """The transfers of a step, whose stages do their passes in the order of the schedule.

    Operations of one kind that a pass waits for, or has beside one of its computations, are one, with the bytes and
    latencies of all. Raises IntentError at `where` for a step with too many transfers.
    """
    groups = GroupCalls(rates, hosts, TransferList(where))
    add_step(work, groups)
    return groups.step()


def _in_order(work: StepWork) -> list[StagePass]:
    """The passes of all stages, each behind those that it waits for."""
    alike = [StageWork(forward_s=1.0, backward_s=1.0)] * len(work.graphs)
    passes = pipeline_passes(alike, micro_batches=work.micro_batches, vpp=work.vpp)
    return sorted(passes, key=lambda each: each.begin_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassWork:
    """A pass of a stage. beside: operations over the network, with the calls of a pass, that run one after another
    beside a computation, and how long that takes each replica; rest_s: the rest of its computation, with what it waits
    for inside its hosts; after: operations over the network that it waits for then."""

    beside: Sequence[tuple[Sequence[tuple[Communication, float]], Sequence[float]]]
    rest_s: Sequence[float]
    after: Sequence[tuple[Communication, float]]


class _Step(Generic[Place]):
    """A step that is put together. free, link: what each replica of a stage has done, and has moved of its state."""

    def __init__(self, work: StepWork, groups: StepGroups[Place]) -> None:
        self.groups, self._to, self._work = groups, groups.to, work
        self._pp, self._vpp, self._batches = len(work.graphs), work.vpp, work.micro_batches
        self._members = _members(work.ranks)
        self._factors = [
            [max(work.slow.get(rank, 1.0) for rank in ranks) for ranks in stage] for stage in self._members
        ]
        self._ports = [[groups.place(ranks) for ranks in stage] for stage in self._members]
        self._pipelines = {rank: ranks for ranks in work.ranks.groups("pp") for rank in ranks}
        self._spans = {group: work.ranks.span(group) for group in GROUPS}
        self._passes = {(stage, phase): self._pass_work(stage, phase) for stage in range(self._pp) for phase in PHASES}
        none: Replicas = [()] * len(self._members[0])
        self._none = none
        self._free, self._link = [none] * self._pp, [none] * self._pp
        self._arrived: dict[tuple[int, int, int], Replicas] = {}
        self._sent: defaultdict[tuple[int, int], Replicas] = defaultdict(lambda: none)
        self._gathered: defaultdict[tuple[int, int], list[tuple[Replicas, Replicas, float]]] = defaultdict(list)

    # Communication

    def _group_call(self, group: Group, op: str, size_bytes: float, calls: float) -> GroupCall:
        """Calls of an operation as one, of this size each."""
        name, _ = self._work.algorithms.stated(group, op) or (None, "")
        return GroupCall(
            op=op,
            size_bytes=calls * size_bytes,
            span=self._spans[group],
            algorithm=name,
            calls=calls,
            one_way=group == "pp",
        )

    def _call(self, stage: int, talk: Communication, calls: float, ready: Replicas) -> Replicas:
        """Add calls of an operation of all groups of a stage; what ends them for each replica."""
        call = self._group_call(talk.group, talk.op, talk.size_bytes, calls)
        inside_s = self.groups.inside_s(call)
        if inside_s is not None:
            return self._rest(stage, ready, [inside_s] * len(ready))
        replica = {rank: number for number, ranks in enumerate(self._members[stage]) for rank in ranks}
        ends: Replicas = [()] * len(ready)
        for ranks in self._work.ranks.groups(talk.group):
            if ranks[0] not in replica:
                continue
            waits = [ready[replica[rank]] for rank in ranks]
            done = self.groups.begin(call, ranks, waits)
            for rank, places in zip(ranks, done, strict=True):
                ends[replica[rank]] += places
        return self._joined(stage, ends)

    def _joined(self, stage: int, *ends: Replicas) -> Replicas:
        """Transfers that each replica of a stage waits for, those of several at once."""
        return [
            self._to.joined(port, [place for places in parts for place in places])
            for port, *parts in zip(self._ports[stage], *ends, strict=True)
        ]

    def _rest(self, stage: int, ready: Replicas, seconds: Sequence[float]) -> Replicas:
        """Let each replica of a stage compute for a time."""
        return [
            (self._to.rest(port, after, lasting_s),) if lasting_s > 0 else after
            for port, after, lasting_s in zip(self._ports[stage], ready, seconds, strict=True)
        ]

    # Passes

    def _pass_work(self, stage: int, phase: WorkPhase) -> _PassWork:
        """The work of a pass: each operation has the calls of a pass in the mean."""
        graph, passes = self._work.graphs[stage], self._batches * self._vpp
        spare: list[dict[str, float]] = [{} for _ in self._factors[stage]]
        for computation in graph.computations:
            if computation.phase == phase:
                seconds = computation.calls * self._work.computation_s(computation) / passes
                for parts, factor in zip(spare, self._factors[stage], strict=True):
                    parts[computation.part] = parts.get(computation.part, 0.0) + factor * seconds
        rest_s = [sum(parts.values()) for parts in spare]
        beside: defaultdict[tuple[str, ...], list[tuple[Communication, float]]] = defaultdict(list)
        for talk in graph.communications:
            if talk.phase != phase or talk.group == "pp":
                continue
            calls = talk.calls / passes
            inside_s = self.groups.inside_s(self._group_call(talk.group, talk.op, talk.size_bytes, calls))
            if inside_s is None:
                beside[parts_beside(talk)].append((talk, calls))
                continue
            rest_s = [whole + exposed_s(talk, inside_s, parts) for whole, parts in zip(rest_s, spare, strict=True)]
        after = beside.pop((), [])
        taken = [
            (talks, [sum(each.pop(part, 0.0) for part in parts) for each in spare]) for parts, talks in beside.items()
        ]
        for _, seconds_of in taken:
            rest_s = [whole - part for whole, part in zip(rest_s, seconds_of, strict=True)]
        return _PassWork(beside=taken, rest_s=rest_s, after=after)

    def add_pass(self, each: StagePass) -> None:
        """Add a pass of a stage in all replicas, and the send of what it has computed."""
        stage, place = each.stage, each.chunk * self._pp + each.stage
        ready = self._joined(
            stage, self._free[stage], self._arrived.pop((each.direction, place, each.batch), self._none)
        )
        if each.direction == FORWARD and each.batch == 0:
            ends = self._gathering_pass(each, ready)
        elif each.direction == BACKWARD and each.batch == self._batches - 1:
            ends = self._reducing_pass(each, ready)
        else:
            ends = self._compute(each, ready)
        self._free[stage] = ends
        self._send(each, place, ends)

    def _compute(self, each: StagePass, ready: Replicas, share: float = 1.0) -> Replicas:
        """The operations of a pass, and a share of the computation that none of them is beside."""
        work = self._passes[each.stage, PHASES[each.direction]]
        for talks, seconds in work.beside:
            moved = ready
            for talk, calls in talks:
                moved = self._call(each.stage, talk, calls, moved)
            ready = self._joined(each.stage, self._rest(each.stage, ready, seconds), moved)
        ready = self._rest(each.stage, ready, [share * seconds for seconds in work.rest_s])
        for talk, calls in work.after:
            ready = self._call(each.stage, talk, calls, ready)
        return ready

    def _part(self, each: StagePass, ready: Replicas, share: float) -> Replicas:
        """A share of the computation of a pass that no operation is beside."""
        seconds = self._passes[each.stage, PHASES[each.direction]].rest_s
        return self._rest(each.stage, ready, [share * lasting_s for lasting_s in seconds])

    def _send(self, each: StagePass, place: int, ends: Replicas) -> None:
        """Send what a pass has computed to the next stage; without bytes it is there at once. The last turns around."""
        following = place - 1 if each.direction else place + 1
        if each.direction == FORWARD and following == self._pp * self._vpp:
            self._arrived[BACKWARD, place, each.batch] = ends
        if not 0 <= following < self._pp * self._vpp:
            return
        talks = self._work.graphs[each.stage].communications
        talk = next((talk for talk in talks if talk.group == "pp" and talk.phase == PHASES[each.direction]), None)
        if talk is None:
            self._arrived[each.direction, following, each.batch] = ends
            return
        target = following % self._pp
        ready = self._joined(each.stage, ends, self._sent[each.stage, each.direction])
        sent: Replicas = [()] * len(ends)
        call = self._group_call("pp", talk.op, talk.size_bytes, 1.0)
        for number, ranks in enumerate(self._members[each.stage]):
            for rank in ranks:
                pair = (rank, self._pipelines[rank][target])
                done = self.groups.begin(call, pair, (ready[number], ()))
                sent[number] += done[0]
        self._sent[each.stage, each.direction] = sent = self._joined(each.stage, sent)
        self._arrived[each.direction, following, each.batch] = sent
        if talk.beside is None:
            self._free[each.stage] = sent

    # State

    def _state(self, stage: int, *, gathers: bool, beside: bool) -> list[Communication]:
        """Gathers of parameters, or reductions of gradients, once in a step, which computation waits for or hides."""
        return [
            talk
            for talk in self._work.graphs[stage].communications
            if talk.phase == "step" and (talk.op == "allgather") == gathers and (talk.beside is not None) == beside
        ]

    def gather(self) -> None:
        """Gather the parameters: all, or those of a chunk after those of another beside the computation."""
        for stage in range(self._pp):
            for talk in self._state(stage, gathers=True, beside=False):
                self._free[stage] = self._call(stage, talk, talk.calls, self._free[stage])
            for chunk in range(self._vpp):
                for talk in self._state(stage, gathers=True, beside=True):
                    share = 1 / max(1, talk.pieces // self._vpp)
                    first = self._call(stage, talk, share / self._vpp, self._link[stage])
                    whole = self._call(stage, talk, (1 - share) / self._vpp, first) if share < 1 else first
                    self._link[stage] = whole
                    self._gathered[stage, chunk].append((first, whole, share))

    def _gathering_pass(self, each: StagePass, ready: Replicas) -> Replicas:
        """The first pass of a chunk: it begins with the first piece of the parameters, and ends with the last."""
        gathered = self._gathered[each.stage, each.chunk]
        if not gathered:
            return self._compute(each, ready)
        share = min(piece for _, _, piece in gathered)
        ready = self._joined(each.stage, ready, *(first for first, _, _ in gathered))
        ends = self._compute(each, ready, 1 - share)
        return self._part(each, self._joined(each.stage, ends, *(whole for _, whole, _ in gathered)), share)

    def _reducing_pass(self, each: StagePass, ready: Replicas) -> Replicas:
        """The last pass of a chunk: gradients are reduced piece by piece as it computes them."""
        talks = self._state(each.stage, gathers=False, beside=True)
        if not talks:
            return self._compute(each, ready)
        share = min(1 / max(1, talk.pieces // self._vpp) for talk in talks)
        begun = self._part(each, ready, share)
        ends = self._compute(each, begun, 1 - share)
        for talk in talks:
            waits = self._joined(each.stage, self._link[each.stage], begun)
            most = self._call(each.stage, talk, (1 - share) / self._vpp, waits) if share < 1 else waits
            last = self._joined(each.stage, most, ends)
            self._link[each.stage] = self._call(each.stage, talk, share / self._vpp, last)
        return ends

    def finish(self) -> None:
        """Do what is once in a step when all passes are done: computation, and reductions that nothing hides."""
        for stage, graph in enumerate(self._work.graphs):
            once = [work for work in graph.computations if work.phase == "step"]
            seconds = sum(work.calls * self._work.computation_s(work) for work in once)
            self._free[stage] = self._rest(
                stage, self._free[stage], [factor * seconds for factor in self._factors[stage]]
            )
            for talk in self._state(stage, gathers=False, beside=False):
                self._free[stage] = self._call(stage, talk, talk.calls, self._free[stage])


def _members(ranks: Ranks) -> list[list[tuple[int, ...]]]:
    """The ranks of each replica of each stage, which wait for each other in every layer (tp, cp)."""
    stages: list[defaultdict[tuple[int, int], list[int]]] = [defaultdict(list) for _ in range(ranks.sizes["pp"])]
    for rank in range(ranks.count):
        place = ranks.place(rank)
        stages[place["pp"]][place["dp"], place["ep"]].append(rank)
    return [[tuple(members) for _, members in sorted(stage.items())] for stage in stages]
