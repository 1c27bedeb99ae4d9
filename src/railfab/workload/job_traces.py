"""A step of a job as traces of its ranks: computations and communications that wait for each other.

Rank r is GPU r % gpus_per_host of the r // gpus_per_host-th host of the job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from railfab.errors import IntentError
from railfab.intent import Collective, FabricIntent, Job, Phase, Traffic
from railfab.topology import Topology
from railfab.workload.group_calls import GroupCall
from railfab.workload.group_flows import Places
from railfab.workload.job_hosts import gpu_nics, hosts_of, refusal
from railfab.workload.ranks import Span
from railfab.workload.recorded.chakra import MOST_NODES
from railfab.workload.recorded.nodes import SENDRECV, NodeKind, TraceNode
from railfab.workload.stages import in_phase, incast_ends
from railfab.workload.step_transfers import add_step
from railfab.workload.training_stages import step_work
from railfab.workload.training_work import training_work


def job_traces(job: Job, intent: FabricIntent, topology: Topology) -> list[list[TraceNode]]:
    """The trace of each rank. Raises IntentError, or Problems, for a job that a trace cannot say or that does not fit.

    Algorithms that a job states are left to the reader. Operations of a pass that are alike are one, with the bytes of
    all.
    """
    for key in ("background", "checkpoint"):
        if getattr(job, key) is not None:
            raise refusal(job, key, f"a trace has no {key}", "Leave it out")
    hosts = hosts_of(job, topology)
    graph = RankGraph(len(hosts) * intent.hosts.gpus)
    if job.model is not None:
        add_step(step_work(training_work(job, intent, hosts)), graph)
        return graph.ranks
    phases = _Phases(graph, job, intent, topology)
    for number, phase in enumerate(job.phases):
        with in_phase(job, number):
            phases.add(phase, number)
    return graph.ranks


@dataclass(slots=True)
class RankGraph:
    """Traces that grow. ranks: the nodes of each; places: the nodes of each joint operation, by rank; groups: names.

    It is a list of steps and their groups in one (see `step_transfers`): a place is an operation or a computation.
    """

    count: int
    ranks: list[list[TraceNode]] = field(init=False)
    places: list[dict[int, int]] = field(default_factory=list)
    groups: dict[tuple[int, ...], str] = field(default_factory=dict)
    nodes: int = 0

    def __post_init__(self) -> None:
        self.ranks = [[] for _ in range(self.count)]

    @property
    def to(self) -> RankGraph:
        return self

    def place(self, ranks: tuple[int, ...]) -> tuple[int, ...]:
        return ranks

    def inside_s(self, call: GroupCall) -> None:
        """None: every operation is a node, also one inside a host."""

    def rest(self, port: tuple[int, ...], after: Places, seconds: float) -> int:
        """Add a computation of ranks, a node each."""
        return self._added({rank: self._node(rank, after, NodeKind.COMPUTE, seconds=seconds) for rank in port})

    def joined(self, port: tuple[int, ...], after: Iterable[int]) -> Places:
        """Operations to wait for; a node names those of its rank."""
        del port
        return tuple(dict.fromkeys(after))

    def begin(self, call: GroupCall, ranks: tuple[int, ...], ready: Sequence[Places]) -> list[Places]:
        """Add an operation; what ends it for each rank. ready: what each rank waits for."""
        size_bytes = max(1, round(call.size_bytes))
        if call.one_way:
            place = self.transfer(ranks[0], ranks[-1], size_bytes, ready[0])
            return [(place,)] * len(ranks)
        if call.op == "allgather":
            size_bytes = max(1, round(call.size_bytes / len(ranks)))
        group = "" if len(ranks) == self.count else self.groups.setdefault(ranks, str(len(self.groups)))
        place = self._added(
            {
                rank: self._node(
                    rank, after, NodeKind.COLLECTIVE, op=call.op, size_bytes=size_bytes, group=group, name=call.op
                )
                for rank, after in zip(ranks, ready, strict=True)
            }
        )
        return [(place,)] * len(ranks)

    def transfer(
        self, source: int, target: int, size_bytes: int, ready: Places, after: Places = (), tag: int = 0
    ) -> int:
        """Add a transfer. after: what its target waits for."""
        sent = self._node(source, ready, NodeKind.SEND, op=SENDRECV, size_bytes=size_bytes, peer=target, tag=tag)
        received = self._node(target, after, NodeKind.RECEIVE, op=SENDRECV, peer=source, tag=tag)
        return self._added({source: sent, target: received})

    def _node(
        self,
        rank: int,
        after: Places,
        kind: NodeKind,
        *,
        name: str = "",
        seconds: float = 0.0,
        op: str = "",
        size_bytes: int = 0,
        group: str = "",
        peer: int = -1,
        tag: int = 0,
    ) -> int:
        """Add a node to the trace of a rank; its place there."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            problem = f"the traces of a step would have more than {MOST_NODES:,} nodes"
            raise IntentError("hosts", problem, "Use fewer hosts or micro-batches")
        trace, waits = self.ranks[rank], [self.places[place] for place in after]
        trace.append(
            TraceNode(
                number=len(trace),
                name=name or kind,
                kind=kind,
                after=tuple(dict.fromkeys(nodes[rank] for nodes in waits if rank in nodes)),
                seconds=seconds,
                op=op,
                size_bytes=size_bytes,
                group=group,
                peer=peer,
                tag=tag,
            )
        )
        return len(trace) - 1

    def _added(self, nodes: dict[int, int]) -> int:
        self.places.append(nodes)
        return len(self.places) - 1


class _Phases:
    """The phases of a job, each rank's behind its last operations. ends: those."""

    def __init__(self, graph: RankGraph, job: Job, intent: FabricIntent, topology: Topology) -> None:
        self._graph, self._hosts = graph, hosts_of(job, topology)
        self._nics = gpu_nics(topology, self._hosts)
        places = {host: number * intent.hosts.gpus for number, host in enumerate(self._hosts)}
        self._ranks = {(host, rail): places[host] + (rail - 1) * intent.hosts.gpus_per_nic for host, rail in self._nics}
        self._ends: list[Places] = [()] * graph.count

    def add(self, phase: Phase, number: int) -> None:
        first = len(self._graph.places)
        if phase.compute is not None:
            self._compute(phase.compute.ms / 1000)
        elif phase.traffic is not None:
            self._traffic(phase.traffic, number)
        elif phase.collective is not None:
            self._collective(phase.collective)
        ends: defaultdict[int, list[int]] = defaultdict(list)
        for place in range(first, len(self._graph.places)):
            for rank in self._graph.places[place]:
                ends[rank].append(place)
        for rank, places in ends.items():
            self._ends[rank] = tuple(places)

    def _compute(self, seconds: float) -> None:
        alike: defaultdict[Places, list[int]] = defaultdict(list)
        for rank, places in enumerate(self._ends):
            alike[places].append(rank)
        for places, ranks in alike.items():
            self._graph.rest(tuple(ranks), places, seconds)

    def _traffic(self, traffic: Traffic, number: int) -> None:
        senders, receivers = incast_ends(traffic, self._hosts, self._nics)
        for sender, receiver in product(senders, receivers):
            source, target = self._ranks[sender], self._ranks[receiver]
            self._graph.transfer(source, target, traffic.bytes, self._ends[source], self._ends[target], number)

    def _collective(self, collective: Collective) -> None:
        """One of all ranks, or one for each rail, of the first GPU of each NIC."""
        groups = [tuple(range(self._graph.count))]
        if collective.group == "rail":
            rails: defaultdict[int, list[int]] = defaultdict(list)
            for (_, rail), rank in self._ranks.items():
                rails[rail].append(rank)
            groups = [tuple(ranks) for _, ranks in sorted(rails.items())]
        for ranks in groups:
            if len(ranks) > 1:
                span = Span(ranks=len(ranks), hosts=len(self._hosts), ranks_per_host=1)
                call = GroupCall(op=collective.op, size_bytes=collective.bytes, span=span)
                self._graph.begin(call, ranks, [self._ends[rank] for rank in ranks])
