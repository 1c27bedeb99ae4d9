"""A collective of one group as transfers between host ports, each after what its ranks have sent and received."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from railfab.errors import IntentError
from railfab.topology import PortKey
from railfab.units import NS_PER_S
from railfab.workload.algorithms import ALGORITHMS, TransferRounds, transfer_rounds
from railfab.workload.algorithms.rounds import ROW
from railfab.workload.mapping import HostPorts, MappedRounds, mapped
from railfab.workload.ranks import RanksByHost
from railfab.workload.rates import CALL_S, NETWORK_STEP_S, SCALE_UP_STEP_S, CallTime
from railfab.workload.transfer import Transfer

MOST_FOLLOWED = 512
"""Transfers of a collective that follow each other round by round; one with more has a single flow for each connection,
all at once, with the latency of the call, and takes as long as in closed form or longer."""
MOST_TRANSFERS = 200_000
"""Transfers and computations of a step, for which an engine has about 200 MB."""
FEW = 4
"""Transfers that others wait for one by one; where they are more, one that takes no time joins them."""

Places = tuple[int, ...]
"""Transfers by their places in a step."""


@dataclass(slots=True, eq=False)
class TransferList:
    """The transfers of a step. where: the place of its job in an error."""

    where: str = "model"
    transfers: list[Transfer] = field(default_factory=list)

    def add(self, transfer: Transfer) -> int:
        """Add a transfer; its place. Raises IntentError for one too many."""
        if len(self.transfers) >= MOST_TRANSFERS:
            problem = f"a step has more than {MOST_TRANSFERS:,} computations and transfers, which is the most of a twin"
            raise IntentError(self.where, problem, "Use fewer hosts, micro-batches or steps, or `railfab simulate`")
        self.transfers.append(transfer)
        return len(self.transfers) - 1

    def rest(self, port: PortKey, after: Places, seconds: float) -> int:
        """Let time pass at the host of a port."""
        gap_ns = round(seconds * NS_PER_S)
        return self.add(Transfer(source=port, target=port, payload_bytes=0, after=after, gap_ns=gap_ns))

    def joined(self, port: PortKey, after: Sequence[int]) -> Places:
        """Transfers to wait for in place of these."""
        places = tuple(dict.fromkeys(after))
        return places if len(places) <= FEW else (self.rest(port, places, 0.0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTransfer:
    """A transfer between two ranks of a group in a round. flows: source, target, stream and bytes of each.

    copy_s: of what passes the scale-up network beside them; None where nothing does.
    """

    source: int
    target: int
    channel: int
    flows: tuple[tuple[PortKey, PortKey, int, float], ...]
    copy_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFlows:
    """A collective of a group. rounds: each waits for the one before. begin_s, network_s, latency_s: latency before the
    first round, of what crosses the network in each, and of the whole. least_s: least duration of a call for each rank.
    ports: of each rank, where it computes.
    """

    rounds: tuple[tuple[RankTransfer, ...], ...]
    begin_s: float
    network_s: float
    latency_s: float
    least_s: float
    ports: tuple[PortKey, ...]

    @property
    def crosses(self) -> bool:
        """Whether something crosses the network."""
        return any(transfer.flows for transfers in self.rounds for transfer in transfers)

    def begin(self, to: TransferList, ready: Sequence[Places], calls: float = 1.0) -> list[Places]:
        """Add the collective, and what ends it for each rank. ready: what each rank waits for.

        calls: whose latencies it has.
        """
        run = _GroupRun(self, to, ready, calls)
        for transfers in self.rounds:
            run.add_round(transfers)
        return run.ends()


def group_rounds(op: str, size_bytes: float, ranks: RanksByHost, *, algorithm: str, channels: int) -> TransferRounds:
    """The rounds of an operation by an algorithm, or by the first one where ranks lack what it needs."""
    able = ALGORITHMS[op]
    name = next(iter(able)) if able[algorithm].obstacle(ranks) else algorithm
    return transfer_rounds(op, name, ranks, size_bytes, channels=channels)


def one_way(rounds: TransferRounds) -> TransferRounds:
    """Keep what the first rank sends."""
    return replace(rounds, table=rounds.table[rounds.table["source"] == 0])


def group_flows(rounds: TransferRounds, ranks: Sequence[int], hosts: HostPorts, call: CallTime) -> GroupFlows:
    """The flows of a collective of these ranks of a job. call: its duration in closed form."""
    at_once = rounds.table["times"].sum() > MOST_FOLLOWED
    followed = _in_one(rounds) if at_once else rounds
    gpus = [hosts.gpus[rank] for rank in ranks]
    parts = _RowParts(mapped(followed, gpus, hosts.nics, scale_up=hosts.scale_up is not None), hosts.scale_up or np.inf)
    rows = [
        [parts.transfer(number) for number in transfers.tolist()]
        for times, transfers in followed.intervals()
        for _ in range(times)
    ]
    return GroupFlows(
        rounds=tuple(tuple(_without_copies(transfers) if at_once else transfers) for transfers in rows),
        begin_s=0.0 if at_once else CALL_S,
        network_s=call.latency_s if at_once else NETWORK_STEP_S,
        latency_s=call.latency_s,
        least_s=call.seconds if at_once else 0.0,
        ports=tuple(hosts.nics[gpu][0] for gpu in gpus),
    )


def _without_copies(transfers: Sequence[RankTransfer]) -> Iterator[RankTransfer]:
    """Transfers that cross the network; all channels wait for the same."""
    return (replace(transfer, channel=0, copy_s=None) for transfer in transfers if transfer.flows)


def _in_one(rounds: TransferRounds) -> TransferRounds:
    """All rounds as one, in which a pair of ranks has one transfer on each channel."""
    names = ["source", "target", "channel", "reduces", "in_switch"]
    keys, first, number = np.unique(rounds.table[names], return_index=True, return_inverse=True)
    table = np.zeros(len(keys), ROW)
    table[:] = rounds.table[first]
    pieces = rounds.table["count"].astype(np.int64) * rounds.table["times"]
    table["begin"], table["times"], table["count"] = 0, 1, np.bincount(number, pieces).astype(np.int32)
    return replace(rounds, table=table)


class _RowParts:
    """Flows and copies of each row of rounds."""

    def __init__(self, flows: MappedRounds, scale_up: float) -> None:
        self._table, self._sizes, self._scale_up = flows.rounds.table, flows.rounds.payload_bytes, scale_up
        self._flows: defaultdict[int, list[tuple[PortKey, PortKey, int, float]]] = defaultdict(list)
        for flow, size in zip(flows.flows.tolist(), flows.payload_bytes.tolist(), strict=True):
            transfer, source, target, stream, _ = flow
            self._flows[transfer].append((flows.ports[source], flows.ports[target], stream, size))
        self._copies = {transfer: (source, target) for transfer, source, target in flows.copies.tolist()}
        self._sharing = self._shares()

    def _shares(self) -> Counter[tuple[int, str, int]]:
        """Copies that share a link of a rank in a round, by begin of the round, direction and rank.

        What a switch adds up or copies crosses the link of its rank once.
        """
        once: set[Any] = set()
        shares: Counter[tuple[int, str, int]] = Counter()
        for transfer, (source, target) in self._copies.items():
            row = self._table[transfer]
            for way, rank, shared in (("out", source, not row["reduces"]), ("in", target, bool(row["reduces"]))):
                key = (int(row["begin"]), way, rank)
                piece = (*key, int(row["channel"]), int(row["first"]))
                if not (row["in_switch"] and shared and piece in once):
                    shares[key] += 1
                once.add(piece)
        return shares

    def transfer(self, number: int) -> RankTransfer:
        row = self._table[number]
        copy_s = None
        if number in self._copies:
            source, target = self._copies[number]
            begin = int(row["begin"])
            sharing = max(self._sharing[begin, "out", source], self._sharing[begin, "in", target])
            copy_s = SCALE_UP_STEP_S + sharing * float(self._sizes[number]) / self._scale_up
        return RankTransfer(
            source=int(row["source"]),
            target=int(row["target"]),
            channel=int(row["channel"]),
            flows=tuple(self._flows.get(number, ())),
            copy_s=copy_s,
        )


class _GroupRun:
    """A collective that is added round by round. last: by rank and channel, what it has sent and received so far."""

    def __init__(self, flows: GroupFlows, to: TransferList, ready: Sequence[Places], calls: float) -> None:
        self._flows, self._to, self._ready = flows, to, ready
        self._last: dict[tuple[int, int], Places] = {}
        self._first_s = flows.begin_s + max(0.0, calls - 1) * flows.latency_s

    def add_round(self, transfers: Sequence[RankTransfer]) -> None:
        fresh: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        senders = {(transfer.source, transfer.channel) for transfer in transfers}
        for transfer in transfers:
            places = list(self._added(transfer))
            for rank in (transfer.source, transfer.target):
                fresh[rank, transfer.channel] += places
        for key, places in fresh.items():
            before = () if key in senders else self._last.get(key, ())
            self._last[key] = self._to.joined(self._flows.ports[key[0]], (*before, *places))

    def _added(self, transfer: RankTransfer) -> Iterator[int]:
        source, target = (transfer.source, transfer.channel), (transfer.target, transfer.channel)
        first_s = 0.0 if source in self._last else self._first_s
        after = self._last.get(source, self._ready[transfer.source])
        if target not in self._last:
            after = tuple(dict.fromkeys((*after, *self._ready[transfer.target])))
        for near, far, stream, size in transfer.flows:
            gap_ns = round((first_s + self._flows.network_s) * NS_PER_S)
            yield self._to.add(
                Transfer(source=near, target=far, payload_bytes=size, stream=stream, after=after, gap_ns=gap_ns)
            )
        if transfer.copy_s is not None:
            yield self._to.rest(self._flows.ports[transfer.source], after, first_s + transfer.copy_s)

    def ends(self) -> list[Places]:
        """Transfers that end the part of each rank."""
        ports, least_s = self._flows.ports, self._first_s + self._flows.least_s
        ends: list[list[int]] = [
            [self._to.rest(port, ready, least_s)] if self._flows.least_s else []
            for port, ready in zip(ports, self._ready, strict=True)
        ]
        for (rank, _), places in self._last.items():
            ends[rank] += places
        return [
            self._to.joined(port, places) if places else ready
            for port, places, ready in zip(self._flows.ports, ends, self._ready, strict=True)
        ]
