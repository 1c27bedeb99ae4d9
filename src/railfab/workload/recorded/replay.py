"""Replay of the traces of ranks: computations one after another, operations when all of their ranks are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from railfab.errors import IntentError
from railfab.workload.recorded.nodes import SENDRECV, JointOperation, NodeKind, Part, TraceNode, Traces

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCosts:
    """Duration of an operation [s], and the kind of a group."""

    seconds: Callable[[JointOperation], float]
    kind_of: Mapping[str, str]


@dataclass(slots=True)
class TraceRun:
    """A run of traces. end_s: when the last rank ends [s]. computed, spoken: intervals of each rank [s].

    order: the nodes as they begin, those of an operation together when the last of its ranks is there; a receive comes
    behind its send.
    """

    costs: TraceCosts
    end_s: float = 0.0
    last: int = 0
    computed: dict[int, list[Interval]] = field(default_factory=dict)
    spoken: dict[int, list[tuple[float, float, JointOperation]]] = field(default_factory=dict)
    order: list[Part] = field(default_factory=list)

    def parts(self) -> tuple[float, dict[str, float], float]:
        """Seconds of the rank that ends last: computation, operations beside which nothing is computed, by kind of
        group, and neither."""
        computed = self.computed.get(self.last, [])
        spoken = sorted(self.spoken.get(self.last, []), key=lambda entry: entry[:2])
        exposed: dict[str, float] = {}
        until_s = 0.0
        for start_s, end_s, match in spoken:
            kind, begin_s = self.costs.kind_of[match.group], max(start_s, until_s)
            if end_s > begin_s:
                exposed[kind] = exposed.get(kind, 0.0) + end_s - begin_s - _overlap(computed, begin_s, end_s)
                until_s = end_s
        compute_s = sum(end - start for start, end in computed)
        return compute_s, exposed, max(0.0, self.end_s - compute_s - sum(exposed.values()))

    def operations(self) -> Iterator[tuple[JointOperation, bool]]:
        """The operations of the rank that ends last, and whether most of each is beside computation."""
        computed = self.computed.get(self.last, [])
        for start_s, end_s, match in self.spoken.get(self.last, []):
            yield match, 2 * _overlap(computed, start_s, end_s) > end_s - start_s


def _overlap(intervals: list[Interval], begin_s: float, end_s: float) -> float:
    return sum(max(0.0, min(end, end_s) - max(start, begin_s)) for start, end in intervals)


def replay(
    traces: Traces, matches: Mapping[Part, JointOperation], costs: TraceCosts, where: Callable[[int, TraceNode], str]
) -> TraceRun:
    """Run the traces of all ranks. matches: the operation of each communication. where: names a node in an error.

    Raises IntentError where ranks wait for each other for ever.
    """
    run = _Events(traces, matches, costs)
    run.start()
    run.finish()
    if waiting := run.waiting():
        (rank, place), missing = waiting
        problem = f"it waits for rank {missing}, which waits for another operation of these ranks"
        raise IntentError(where(rank, traces[rank][place]), problem, "Record all ranks over the same steps")
    return run.result


class _Events:
    """Nodes that are ready, run or wait. heap: ends of nodes, with a number that keeps equal times in order."""

    def __init__(self, traces: Traces, matches: Mapping[Part, JointOperation], costs: TraceCosts) -> None:
        self.result = TraceRun(costs)
        self._traces, self._matches, self._costs = traces, matches, costs
        self._heap: list[tuple[float, int, Part]] = []
        self._done = 0
        self._left = [[len(set(node.after)) for node in trace] for trace in traces]
        self._later: list[list[list[int]]] = [[[] for _ in trace] for trace in traces]
        for rank, trace in enumerate(traces):
            for place, node in enumerate(trace):
                for before in set(node.after):
                    self._later[rank][before].append(place)
        self._queues: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        self._busy: set[tuple[int, bool]] = set()
        self._arrived: dict[int, set[Part]] = {}
        self._free_s: dict[str | int, float] = {}
        self._delivered_s: dict[Part, float] = {}

    def start(self) -> None:
        """Make the nodes ready that wait for nothing."""
        for rank, left in enumerate(self._left):
            for place, count in enumerate(left):
                if not count:
                    self._ready((rank, place), 0.0)

    def finish(self) -> None:
        """Run to the end."""
        while self._heap:
            now_s, _, part = heappop(self._heap)
            self._end(part, now_s)

    def waiting(self) -> tuple[Part, int] | None:
        """A node that waits for ever, and the rank for which it does; None where all have ended."""
        if self._done == sum(map(len, self._traces)):
            return None
        for match in self._matches.values():
            present = self._arrived.get(id(match), set())
            absent = [part for part in match.parts if part not in present]
            if absent and present and (match.op != SENDRECV or absent == [match.parts[0]]):
                return next(iter(present)), absent[0][0]
        return None

    def _schedule(self, part: Part, end_s: float) -> None:
        self.result.order.append(part)
        heappush(self._heap, (end_s, len(self.result.order), part))

    def _end(self, part: Part, now_s: float) -> None:
        rank, place = part
        self._done += 1
        if now_s > self.result.end_s:
            self.result.end_s, self.result.last = now_s, rank
        node = self._traces[rank][place]
        if node.kind is NodeKind.COMPUTE:
            self._busy.discard((rank, node.on_host))
            self._next(rank, now_s, on_host=node.on_host)
        for later in self._later[rank][place]:
            self._left[rank][later] -= 1
            if not self._left[rank][later]:
                self._ready((rank, later), now_s)

    def _ready(self, part: Part, now_s: float) -> None:
        rank, place = part
        node = self._traces[rank][place]
        if node.kind is NodeKind.COMPUTE:
            heappush(self._queues.setdefault((rank, node.on_host), []), (node.number, place))
            self._next(rank, now_s, on_host=node.on_host)
        elif node.kind is NodeKind.MARK:
            self._schedule(part, now_s)
        else:
            self._arrive(part, now_s)

    def _next(self, rank: int, now_s: float, *, on_host: bool) -> None:
        """Begin the first computation that is ready, if none runs."""
        queue = self._queues.get((rank, on_host))
        if not queue or (rank, on_host) in self._busy:
            return
        _, place = heappop(queue)
        end_s = now_s + self._traces[rank][place].seconds
        self._busy.add((rank, on_host))
        if not on_host and end_s > now_s:
            self.result.computed.setdefault(rank, []).append((now_s, end_s))
        self._schedule((rank, place), end_s)

    def _arrive(self, part: Part, now_s: float) -> None:
        match = self._matches[part]
        present = self._arrived.setdefault(id(match), set())
        present.add(part)
        if match.op == SENDRECV:
            self._transfer(match, part, now_s)
        elif len(present) == len(match.parts):
            end_s = self._operate(match, match.group, now_s)
            for each in match.parts:
                self._schedule(each, end_s)

    def _transfer(self, match: JointOperation, part: Part, now_s: float) -> None:
        """A rank sends without waiting for its receiver, one transfer after another."""
        sender, receiver = match.parts
        if part == sender:
            end_s = self._operate(match, sender[0], now_s)
            self._delivered_s[receiver] = end_s
            self._schedule(sender, end_s)
            if receiver in self._arrived[id(match)]:
                self._schedule(receiver, end_s)
        elif receiver in self._delivered_s:
            self._schedule(receiver, max(now_s, self._delivered_s[receiver]))

    def _operate(self, match: JointOperation, stream: str | int, now_s: float) -> float:
        """The end of an operation that begins when those before it on its stream have ended."""
        start_s = max(now_s, self._free_s.get(stream, 0.0))
        end_s = self._free_s[stream] = start_s + self._costs.seconds(match)
        if end_s > start_s:
            for rank, _ in match.parts:
                self.result.spoken.setdefault(rank, []).append((start_s, end_s, match))
        return end_s
