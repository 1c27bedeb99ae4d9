"""A job as traces of its ranks: computations and communications that wait for each other, which a replay follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.errors import IntentError
from railfab.intent import FabricIntent
from railfab.text.counted import counted
from railfab.topology import Topology
from railfab.workload.closed_form import CLOSED_FORM, Calls, CollectiveTime, JobEstimate, collective_time
from railfab.workload.ranks import Span, widest
from railfab.workload.rates import CallTime, LinkRates, link_rates
from railfab.workload.recorded.matches import matches
from railfab.workload.recorded.nodes import JointOperation, NodeKind, Part, Traces, is_pair, pair, place_of
from railfab.workload.recorded.replay import TraceCosts, TraceRun, replay

if TYPE_CHECKING:
    from railfab.workload.group_calls import StepTransfers
    from railfab.workload.mapping import HostPorts


@dataclass(frozen=True, kw_only=True)
class RankTraces:
    """The traces of all ranks of a job, by rank. path: as the user names them.

    not_modelled: kinds of nodes that take no time here, with their counts over all ranks.
    """

    path: Path
    job: str
    traces: Traces
    not_modelled: Mapping[str, int]

    def ranks(self, gpus: int) -> int:
        """Number of ranks, a GPU each."""
        count = len(self.traces)
        if count > gpus:
            problem = f"there are traces of {count:,} ranks, and the fabric has {gpus:,} GPUs"
            raise IntentError(str(self.path), problem, f"Use a design with {counted(count, 'GPU')} or more")
        return count

    def groups(self, ranks: int) -> Mapping[str, Sequence[Sequence[int]]]:
        """The ranks of every group, by kind: groups of equally many ranks that share none run at once."""
        del ranks
        return {kind: [self.members[name] for name in names] for kind, names in self._kinds.items()}

    @cached_property
    def members(self) -> Mapping[str, tuple[int, ...]]:
        """The ranks of each process group, those whose traces name it; `A>B` of rank A that sends to rank B."""
        members: dict[str, list[int]] = {}
        for rank, trace in enumerate(self.traces):
            for name in dict.fromkeys(node.group for node in trace if node.kind is NodeKind.COLLECTIVE):
                members.setdefault(name, []).append(rank)
            for peer in dict.fromkeys(node.peer for node in trace if node.kind is NodeKind.SEND):
                members[pair(rank, peer)] = [rank, peer]
        return {name: tuple(ranks) for name, ranks in members.items()}

    @cached_property
    def kind_of(self) -> Mapping[str, str]:
        """The kind of each process group."""
        return {name: kind for kind, names in self._kinds.items() for name in names}

    @cached_property
    def _kinds(self) -> Mapping[str, Sequence[str]]:
        kinds: dict[str, list[str]] = {}
        places: dict[tuple[int, ...], list[tuple[str, set[int]]]] = {}
        for name, ranks in self.members.items():
            shape = (is_pair(name), *(rank - ranks[0] for rank in ranks))
            room = next(((kind, taken) for kind, taken in places.get(shape, []) if taken.isdisjoint(ranks)), None)
            if room is None:
                room = (_label(name), set())
                places.setdefault(shape, []).append(room)
            room[1].update(ranks)
            kinds.setdefault(room[0], []).append(name)
        return kinds

    def estimate(self, intent: FabricIntent, topology: Topology, calls: Calls) -> JobEstimate:
        """A step on a design: a replay, of the rank that ends last."""
        count = self.ranks(len(topology.hosts()) * intent.hosts.gpus)
        costs = _TraceCalls(self, link_rates(intent), calls, intent.hosts.gpus)
        run = self._replayed(costs)
        if not run.end_s:
            kinds = "".join(f", {count:,} {kind}" for kind, count in self.not_modelled.items())
            raise IntentError(str(self.path), f"nothing takes any time{kinds}", "Use traces with durations or bytes")
        compute_s, exposed_s, idle_s = run.parts()
        return JobEstimate(
            tier=calls.tier,
            not_seen=calls.not_seen,
            gpus=count,
            stage=0,
            compute_s=compute_s,
            exposed_s=exposed_s,
            bubble_s=idle_s,
            step_s=run.end_s,
            collectives=costs.table(run),
            not_modelled=self.not_modelled,
        )

    def step_transfers(self, intent: FabricIntent, hosts: HostPorts) -> StepTransfers:
        """A step as transfers: computations and operations in the order of a replay in closed form."""
        from railfab.workload.recorded import trace_transfers as numeric  # needs numpy, the closed form does not

        rates = link_rates(intent)
        ordered = numeric.OrderedTraces(
            path=self.path,
            traces=self.traces,
            matches=self.matches,
            spans=self._spans(hosts),
            order=self._replayed(_TraceCalls(self, rates, CLOSED_FORM, intent.hosts.gpus)).order,
        )
        return numeric.trace_transfers(ordered, rates, hosts)

    def _spans(self, hosts: HostPorts) -> Mapping[str, Span]:
        """The hosts of each process group."""
        return {name: Span.of(hosts.gpus[rank][0] for rank in ranks) for name, ranks in self.members.items()}

    @cached_property
    def matches(self) -> Mapping[Part, JointOperation]:
        """The operation of each communication."""
        return matches(self.traces, self.path)

    def _replayed(self, costs: _TraceCalls) -> TraceRun:
        return replay(
            self.traces,
            self.matches,
            TraceCosts(seconds=costs.seconds, kind_of=self.kind_of),
            where=lambda rank, node: place_of(self.path, rank, node),
        )


def _label(name: str) -> str:
    """The name of a kind of groups, after the first of them."""
    return name if is_pair(name) else f"pg {name}" if name else "all"


def span_of(groups: Sequence[Sequence[int]], gpus_per_host: int) -> Span:
    """The hosts of the group that is spread most."""
    return widest(Span.of(rank // gpus_per_host for rank in members) for members in groups)


class _TraceCalls:
    """Durations of the operations of traces on a design."""

    def __init__(self, job: RankTraces, rates: LinkRates, calls: Calls, gpus_per_host: int) -> None:
        self._job, self._rates, self._calls = job, rates, calls
        self._spans = {kind: span_of(groups, gpus_per_host) for kind, groups in job.groups(0).items()}
        self._times: dict[tuple[str, str, int], CallTime] = {}

    def _call(self, kind: str, op: str, size_bytes: int) -> CallTime:
        key = kind, op, size_bytes
        if key not in self._times:
            self._times[key] = self._calls.call(self._rates, kind, op, size_bytes, self._spans[kind])
        return self._times[key]

    def seconds(self, match: JointOperation) -> float:
        """Duration of an operation; 0 for what is not modelled, and of a rank with itself [s]."""
        kind = self._job.kind_of[match.group]
        if not match.op or not match.size_bytes or self._spans[kind].ranks < 2:
            return 0.0
        return self._call(kind, match.op, match.size_bytes).seconds

    def table(self, run: TraceRun) -> tuple[CollectiveTime, ...]:
        """The operations of the rank that ends last."""
        counts: Counter[tuple[str, str, int, bool]] = Counter()
        for match, hidden in run.operations():
            if self.seconds(match):
                counts[self._job.kind_of[match.group], match.op, match.size_bytes, hidden] += 1
        return tuple(
            collective_time(kind, op, size, count, self._spans[kind], self._call(kind, op, size), hidden=hidden)
            for (kind, op, size, hidden), count in counts.items()
        )
