"""The step of traces as transfers: what each GPU, processor and group does follows in the order of a replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railfab.workload.group_calls import GroupCall, GroupCalls, StepTransfers
from railfab.workload.group_flows import Places, TransferList
from railfab.workload.mapping import HostPorts
from railfab.workload.ranks import Span
from railfab.workload.rates import LinkRates
from railfab.workload.recorded.nodes import SENDRECV, JointOperation, NodeKind, Part, Traces

Queue = tuple[str, int]
"""What does one thing after another: the GPU or the processor of a rank, its sends, or its operations in a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedTraces:
    """The traces of all ranks of a job, and their nodes in an order, each behind those that it waits for.

    matches: the operation of each communication. spans: the hosts of each process group. path: for errors.
    """

    path: Path
    traces: Traces
    matches: Mapping[Part, JointOperation]
    spans: Mapping[str, Span]
    order: Iterable[Part]


def trace_transfers(job: OrderedTraces, rates: LinkRates, hosts: HostPorts) -> StepTransfers:
    """The transfers of a step.

    What is ready at once on a GPU, or in a group, runs in this order whatever the fabric is like. Raises IntentError
    for a step with too many transfers.
    """
    step = _TraceStep(job, GroupCalls(rates, hosts, TransferList(str(job.path))))
    for part in job.order:
        step.add(part)
    return step.groups.step()


class _TraceStep:
    """A step that is put together. ends: what ends each node; last: what each queue does last."""

    def __init__(self, job: OrderedTraces, groups: GroupCalls) -> None:
        self.groups, self._to, self._job = groups, groups.to, job
        self._ends: dict[Part, Places] = {}
        self._last: dict[Queue, Places] = {}

    def add(self, part: Part) -> None:
        """Add a node; with the first of an operation all of its ranks, with a send what its receiver waits for."""
        rank, place = part
        node = self._job.traces[rank][place]
        if node.kind is NodeKind.COMPUTE:
            self._compute(part, ("processor" if node.on_host else "GPU", rank), node.seconds)
        elif node.kind is NodeKind.MARK:
            self._ends[part] = self._ready(part)
        elif node.kind is NodeKind.RECEIVE:
            self._ends[part] = self._joined(rank, self._ready(part), self._ends[self._job.matches[part].parts[0]])
        elif node.kind is NodeKind.SEND:
            self._send(self._job.matches[part])
        elif part not in self._ends:
            self._collective(self._job.matches[part])

    def _joined(self, rank: int, *places: Sequence[int]) -> Places:
        return self._to.joined(self.groups.hosts.port(rank), [place for held in places for place in held])

    def _ready(self, part: Part, *queues: Queue) -> Places:
        """What a node waits for: the nodes that it names, and the last ones of its queues."""
        rank, place = part
        before = [self._ends[rank, earlier] for earlier in self._job.traces[rank][place].after]
        return self._joined(rank, *before, *(self._last.get(queue, ()) for queue in queues))

    def _compute(self, part: Part, queue: Queue, seconds: float) -> None:
        ready = self._ready(part, queue)
        port = self.groups.hosts.port(part[0])
        ends = (self._to.rest(port, ready, seconds),) if seconds > 0 else ready
        self._ends[part] = self._last[queue] = ends

    def _send(self, operation: JointOperation) -> None:
        """A rank sends without waiting for its receiver, one transfer after another."""
        sender, (receiver, _) = operation.parts
        queue = ("sends", sender[0])
        ends = self._operate(operation, (sender[0], receiver), (self._ready(sender, queue), ()))
        self._ends[sender] = self._last[queue] = ends[0]

    def _collective(self, operation: JointOperation) -> None:
        """The collectives of a group follow each other on every rank."""
        queues = [(f"group {operation.group}", rank) for rank, _ in operation.parts]
        ready = [self._ready(part, queue) for part, queue in zip(operation.parts, queues, strict=True)]
        ranks = tuple(rank for rank, _ in operation.parts)
        for part, queue, ends in zip(operation.parts, queues, self._operate(operation, ranks, ready), strict=True):
            self._ends[part] = self._last[queue] = ends

    def _operate(self, operation: JointOperation, ranks: tuple[int, ...], ready: Sequence[Places]) -> list[Places]:
        """Add an operation: over the network, or inside a host, where all begin together; what takes no time is only
        waited for."""
        call = self._call(operation)
        inside_s = 0.0 if call is None else self.groups.inside_s(call)
        if call is not None and inside_s is None:
            return self.groups.begin(call, ranks, ready)
        together = self._joined(ranks[0], *ready)
        if inside_s:
            together = (self._to.rest(self.groups.hosts.port(ranks[0]), together, inside_s),)
        return [together] * len(ranks)

    def _call(self, operation: JointOperation) -> GroupCall | None:
        """An operation with bytes among several ranks; None for another."""
        span = self._job.spans[operation.group]
        if not operation.op or not operation.size_bytes or span.ranks < 2:
            return None
        return GroupCall(op=operation.op, size_bytes=operation.size_bytes, span=span, one_way=operation.op == SENDRECV)
