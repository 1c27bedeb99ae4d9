"""Collectives and sends of groups of ranks, as the transfers of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from railfab.topology import PortKey
from railfab.workload.group_flows import GroupFlows, Places, TransferList, group_flows, group_rounds, one_way
from railfab.workload.mapping import HostPorts, ranks_by_host
from railfab.workload.ranks import Span
from railfab.workload.rates import LinkRates
from railfab.workload.transfer import StageCall, Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTransfers:
    """A training step. calls: its collectives and sends over the network."""

    transfers: tuple[Transfer, ...]
    calls: tuple[StageCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCall:
    """An operation of a group. span: its hosts. algorithm: None for NCCL's choice. calls: whose latencies it has.

    one_way: only the first rank sends.
    """

    op: str
    size_bytes: float
    span: Span
    algorithm: str | None = None
    calls: float = 1.0
    one_way: bool = False


@dataclass(slots=True, eq=False)
class GroupCalls:
    """Operations of groups that are added to a step. added: those over the network. known: flows by ranks and call."""

    rates: LinkRates
    hosts: HostPorts
    to: TransferList
    added: list[StageCall] = field(default_factory=list)
    known: dict[tuple[tuple[int, ...], GroupCall], GroupFlows] = field(default_factory=dict)

    def place(self, ranks: tuple[int, ...]) -> PortKey:
        """The port of the first rank."""
        return self.hosts.port(ranks[0])

    def inside_s(self, call: GroupCall) -> float | None:
        """Duration of a call inside a host [s]; None for one over the network: on several hosts, or on a host without a
        scale-up network."""
        if self.rates.scale_up is None or call.span.hosts > 1:
            return None
        return call.calls * self.rates.call(call.op, call.size_bytes / call.calls, call.span, call.algorithm).seconds

    def begin(self, call: GroupCall, ranks: tuple[int, ...], ready: Sequence[Places]) -> list[Places]:
        """Add an operation over the network; what ends it for each rank. ready: what each rank waits for."""
        flows = self._flows(call, ranks)
        first = len(self.to.transfers)
        ends = flows.begin(self.to, ready, call.calls)
        if flows.crosses:
            places = range(first, len(self.to.transfers))
            hosts = tuple(dict.fromkeys(self.hosts.gpus[rank][0] for rank in ranks))
            self.added.append(
                StageCall(op=call.op, size_bytes=call.size_bytes, ranks=len(ranks), hosts=hosts, places=places)
            )
        return ends

    def step(self) -> StepTransfers:
        """The step of all that was added."""
        return StepTransfers(transfers=tuple(self.to.transfers), calls=tuple(self.added))

    def _flows(self, call: GroupCall, ranks: tuple[int, ...]) -> GroupFlows:
        key = (ranks, call)
        if key not in self.known:
            by_host = ranks_by_host(ranks, self.hosts)
            time = self.rates.call(call.op, call.size_bytes, call.span, call.algorithm)
            channels = self.rates.channels(call.op, call.span)
            rounds = group_rounds(call.op, call.size_bytes, by_host, algorithm=time.algorithm, channels=channels)
            kept = one_way(rounds) if call.one_way else rounds
            self.known[key] = group_flows(kept, ranks, self.hosts, time)
        return self.known[key]
