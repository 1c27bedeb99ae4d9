"""A training step as transfers: the passes of every pipeline, with the collectives and sends of their ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from railfab.workload.graph import Communication, WorkPhase
from railfab.workload.group_flows import GroupFlows, Places, TransferList, group_flows, group_rounds, one_way
from railfab.workload.mapping import HostPorts, ranks_by_host
from railfab.workload.ranks import Group
from railfab.workload.rates import LinkRates
from railfab.workload.schedule import BACKWARD, FORWARD, StagePass, StageWork, pipeline_passes
from railfab.workload.step import exposed_s, parts_beside
from railfab.workload.training_work import TrainingWork
from railfab.workload.transfer import StageCall, Transfer

PHASES: tuple[WorkPhase, WorkPhase] = ("forward", "backward")
"""By direction."""
Replicas = list[Places]
"""Transfers that each replica of a stage has done, or waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTransfers:
    """A training step. calls: its collectives and sends over the network."""

    transfers: tuple[Transfer, ...]
    calls: tuple[StageCall, ...]


def step_transfers(
    work: TrainingWork, rates: LinkRates, hosts: HostPorts, slow: Mapping[int, float] | None = None
) -> StepTransfers:
    """The transfers of a step, whose stages do their passes in the order of the schedule.

    slow: multiples of the duration of computation by rank, by default those of the job. Operations of one kind that a
    pass waits for, or has beside one of its computations, are one, with the bytes and latencies of all.
    Raises IntentError for a step with too many transfers.
    """
    run = _Step(work, rates, hosts, work.slow if slow is None else slow)
    run.gather()
    for each in _in_order(work):
        run.add_pass(each)
    run.reduce_at_end()
    return StepTransfers(transfers=tuple(run.to.transfers), calls=tuple(run.groups.calls))


def _in_order(work: TrainingWork) -> list[StagePass]:
    """The passes of all stages, each behind those that it waits for."""
    parallelism = work.plan.parallelism
    alike = [StageWork(forward_s=1.0, backward_s=1.0)] * parallelism.pp
    passes = pipeline_passes(alike, micro_batches=parallelism.micro_batches, vpp=parallelism.vpp)
    return sorted(passes, key=lambda each: each.begin_s)


@dataclass(slots=True, eq=False)
class _Groups:
    """Collectives of the groups of a stage, or sends between two stages. known: flows by ranks, operation and size."""

    work: TrainingWork
    rates: LinkRates
    hosts: HostPorts
    to: TransferList
    calls: list[StageCall] = field(default_factory=list)
    known: dict[tuple[tuple[int, ...], str, str | None, float], GroupFlows] = field(default_factory=dict)

    def begin(
        self, group: Group, op: str, size_bytes: float, ranks: tuple[int, ...], ready: Sequence[Places], calls: float
    ) -> list[Places]:
        """Add a collective of these ranks; what ends it for each."""
        flows = self._flows(group, op, size_bytes, ranks)
        first = len(self.to.transfers)
        ends = flows.begin(self.to, ready, calls)
        if flows.crosses:
            places = range(first, len(self.to.transfers))
            hosts = tuple(dict.fromkeys(self.hosts.gpus[rank][0] for rank in ranks))
            self.calls.append(StageCall(op=op, size_bytes=size_bytes, ranks=len(ranks), hosts=hosts, places=places))
        return ends

    def _flows(self, group: Group, op: str, size_bytes: float, ranks: tuple[int, ...]) -> GroupFlows:
        name, _ = self.work.algorithms.stated(group, op) or (None, "")
        key = (ranks, op, name, size_bytes)
        if key not in self.known:
            by_host, span = ranks_by_host(ranks, self.hosts), self.work.plan.ranks.span(group)
            call, channels = self.rates.call(op, size_bytes, span, name), self.rates.channels(op, span)
            rounds = group_rounds(op, size_bytes, by_host, algorithm=call.algorithm, channels=channels)
            kept = one_way(rounds) if group == "pp" else rounds
            self.known[key] = group_flows(kept, ranks, self.hosts, call)
        return self.known[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassWork:
    """A pass of a stage. beside: operations over the network, with the calls of a pass, that run one after another
    beside a computation, and how long that takes each replica; rest_s: the rest of its computation, with what it waits
    for inside its hosts; after: operations over the network that it waits for then."""

    beside: Sequence[tuple[Sequence[tuple[Communication, float]], Sequence[float]]]
    rest_s: Sequence[float]
    after: Sequence[tuple[Communication, float]]


class _Step:
    """A step that is put together. free, link: what each replica of a stage has done, and has moved of its state."""

    def __init__(self, work: TrainingWork, rates: LinkRates, hosts: HostPorts, slow: Mapping[int, float]) -> None:
        self.to = TransferList()
        self.groups = _Groups(work, rates, hosts, self.to)
        self._work, self._rates = work, rates
        parallelism = work.plan.parallelism
        self._pp, self._vpp, self._batches = parallelism.pp, parallelism.vpp, parallelism.micro_batches
        self._members = _members(work)
        self._factors = [[max(slow.get(rank, 1.0) for rank in ranks) for ranks in stage] for stage in self._members]
        self._ports = [[hosts.nics[hosts.gpus[ranks[0]]][0] for ranks in stage] for stage in self._members]
        self._pipelines = {rank: ranks for ranks in work.plan.ranks.groups("pp") for rank in ranks}
        self._passes = {(stage, phase): self._pass_work(stage, phase) for stage in range(self._pp) for phase in PHASES}
        none: Replicas = [()] * len(self._members[0])
        self._none = none
        self._free, self._link = [none] * self._pp, [none] * self._pp
        self._arrived: dict[tuple[int, int, int], Replicas] = {}
        self._sent: defaultdict[tuple[int, int], Replicas] = defaultdict(lambda: none)
        self._gathered: defaultdict[tuple[int, int], list[tuple[Replicas, Replicas, float]]] = defaultdict(list)

    # Communication

    def _crosses(self, group: Group) -> bool:
        """Whether groups of a kind are on several hosts, or on hosts without a scale-up network."""
        return self._rates.scale_up is None or self._work.plan.ranks.span(group).hosts > 1

    def _call_s(self, talk: Communication) -> float:
        """Duration of a call inside a host [s]."""
        name, _ = self._work.algorithms.stated(talk.group, talk.op) or (None, "")
        span = self._work.plan.ranks.span(talk.group)
        return self._rates.call(talk.op, talk.size_bytes, span, name).seconds

    def _call(self, stage: int, talk: Communication, calls: float, ready: Replicas) -> Replicas:
        """Add calls of an operation of all groups of a stage; what ends them for each replica."""
        if not self._crosses(talk.group):
            return self._rest(stage, ready, [calls * self._call_s(talk)] * len(ready))
        replica = {rank: number for number, ranks in enumerate(self._members[stage]) for rank in ranks}
        ends: Replicas = [()] * len(ready)
        for ranks in self._work.plan.ranks.groups(talk.group):
            if ranks[0] not in replica:
                continue
            waits = [ready[replica[rank]] for rank in ranks]
            done = self.groups.begin(talk.group, talk.op, calls * talk.size_bytes, ranks, waits, calls)
            for rank, places in zip(ranks, done, strict=True):
                ends[replica[rank]] += places
        return self._joined(stage, ends)

    def _joined(self, stage: int, *ends: Replicas) -> Replicas:
        """Transfers that each replica of a stage waits for, those of several at once."""
        return [
            self.to.joined(port, [place for places in parts for place in places])
            for port, *parts in zip(self._ports[stage], *ends, strict=True)
        ]

    def _rest(self, stage: int, ready: Replicas, seconds: Sequence[float]) -> Replicas:
        """Let each replica of a stage compute for a time."""
        return [
            (self.to.rest(port, after, lasting_s),) if lasting_s > 0 else after
            for port, after, lasting_s in zip(self._ports[stage], ready, seconds, strict=True)
        ]

    # Passes

    def _pass_work(self, stage: int, phase: WorkPhase) -> _PassWork:
        """The work of a pass: each operation has the calls of a pass in the mean."""
        graph, passes = self._work.graphs[stage], self._batches * self._vpp
        spare: list[dict[str, float]] = [{} for _ in self._factors[stage]]
        for computation in graph.computations:
            if computation.phase == phase:
                seconds = computation.calls * computation.flop / self._work.flop_per_s / passes
                for parts, factor in zip(spare, self._factors[stage], strict=True):
                    parts[computation.part] = parts.get(computation.part, 0.0) + factor * seconds
        rest_s = [sum(parts.values()) for parts in spare]
        beside: defaultdict[tuple[str, ...], list[tuple[Communication, float]]] = defaultdict(list)
        for talk in graph.communications:
            if talk.phase != phase or talk.group == "pp":
                continue
            if self._crosses(talk.group):
                beside[parts_beside(talk)].append((talk, talk.calls / passes))
                continue
            seconds = talk.calls / passes * self._call_s(talk)
            rest_s = [whole + exposed_s(talk, seconds, parts) for whole, parts in zip(rest_s, spare, strict=True)]
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
        """Send what a pass has computed to the next stage; the last one turns around."""
        following = place - 1 if each.direction else place + 1
        if each.direction == FORWARD and following == self._pp * self._vpp:
            self._arrived[BACKWARD, place, each.batch] = ends
        if not 0 <= following < self._pp * self._vpp:
            return
        talk = next(
            talk
            for talk in self._work.graphs[each.stage].communications
            if talk.group == "pp" and talk.phase == PHASES[each.direction]
        )
        target = following % self._pp
        ready = self._joined(each.stage, ends, self._sent[each.stage, each.direction])
        sent: Replicas = [()] * len(ends)
        for number, ranks in enumerate(self._members[each.stage]):
            for rank in ranks:
                pair = (rank, self._pipelines[rank][target])
                done = self.groups.begin("pp", talk.op, talk.size_bytes, pair, (ready[number], ()), 1.0)
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
                self._free[stage] = self._call(stage, talk, 1.0, self._free[stage])
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

    def reduce_at_end(self) -> None:
        """Reduce the gradients that nothing hides, when all passes are done."""
        for stage in range(self._pp):
            for talk in self._state(stage, gathers=False, beside=False):
                self._free[stage] = self._call(stage, talk, 1.0, self._free[stage])


def _members(work: TrainingWork) -> list[list[tuple[int, ...]]]:
    """The ranks of each replica of each stage, which wait for each other in every layer (tp, cp)."""
    stages: list[defaultdict[tuple[int, int], list[int]]] = [defaultdict(list) for _ in range(work.plan.parallelism.pp)]
    for rank in range(work.plan.ranks.count):
        place = work.plan.ranks.place(rank)
        stages[place["pp"]][place["dp"], place["ep"]].append(rank)
    return [[tuple(ranks) for _, ranks in sorted(stage.items())] for stage in stages]
