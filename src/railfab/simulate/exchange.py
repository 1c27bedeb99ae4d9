"""Collectives of all groups of a kind at once, on the links of a fabric: durations at max-min fair rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from railfab.fabric.route_links import RouteLinks
from railfab.fabric.routed import RoutedFabric
from railfab.forwarding import Connections, PortUse
from railfab.sim import Balancing
from railfab.sim.fluid import fluid_ends
from railfab.simulate.component_groups import FairTimes
from railfab.simulate.contention import BusyLink, PacketSample
from railfab.simulate.endless import EndlessFlows
from railfab.simulate.link_loads import SlowestInterval, alone_bytes_per_s, slowest_interval
from railfab.simulate.ordered import Carriers, Numbers, ordered_flows
from railfab.simulate.packets import NotSimulated, PacketTier
from railfab.simulate.queue_series import QueueSeries
from railfab.topology import PortKey
from railfab.workload import MappedRounds, TransferRounds, mapped
from railfab.workload.algorithms import check_transfers
from railfab.workload.mapping import HostPorts
from railfab.workload.rates import NETWORK_STEP_S, SCALE_UP_STEP_S
from railfab.workload.transfer import Gpu

Floats = NDArray[np.float64]
MOST_FOLLOWED = 1 << 20
"""Transfers of all groups, for which a process has 4 GB."""
MOST_TRANSFERS = 100_000
"""Carriers of transfers that one run follows; equal rounds in a row are counted from two runs of fewer of them."""
LEAST_ROUNDS = 4
"""Equal rounds in a row that are always followed: the first ones are unlike the others."""
QUANTA = (0.001, 0.02)
"""Shares of the duration of a carrier within which events are one, and of rates that count as equal: the least, and
that of 20,000 carriers and more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FollowedFlows:
    """The flows of a call of every group, as they were followed.

    carriers: each flow apart. group_of: (transfer,). capacity: (link,) [bytes/s], the links of ranks to the scale-up
    network behind those of the fabric. rank_s, rank_ideal_s: (rank,) when a rank has sent and received all, and where
    only NICs and hosts limit it [s]; 0 for ranks without transfers. peak: (link,) largest share of its capacity that a
    link carries in a round whose flows are all active.
    """

    rounds: TransferRounds
    carriers: Carriers
    group_of: Numbers
    connections: Connections
    capacity: Floats
    rank_s: Floats
    rank_ideal_s: Floats
    peak: Floats
    slowest: SlowestInterval | None

    def used(self, links: int) -> NDArray[np.bool_]:
        """(link,) whether a flow crosses each of the links of the fabric, which has so many."""
        paths = self.carriers.paths[np.unique(self.carriers.route)]
        is_used = np.zeros(len(self.capacity), np.bool_)
        is_used[paths[paths >= 0]] = True
        return is_used[:links]

    def active(self, links: int) -> EndlessFlows:
        """The flows on the network in the rounds in which the slowest group spends most time."""
        transfers = () if self.slowest is None else self.slowest.transfers
        route = self.carriers.route[np.isin(self.carriers.transfer, transfers)]
        on_network = route[(self.carriers.paths[route] < links).all(axis=1)]
        return EndlessFlows.of(
            RouteLinks(links=self.carriers.paths[on_network], shares=self.carriers.shares[on_network])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTime:
    """Durations of a collective. seconds: (group,) [s]; ideal_s: where only NICs and hosts limit it.

    busiest: the link on which the slowest group waits at max-min fair rates; None where nothing but its own ports
    limits it. followed: its flows. sample: the packets that were simulated, and queues, which runs the slowest of them
    again; None: none were, and why not, if they were asked for.
    """

    seconds: Floats
    ideal_s: float
    busiest: BusyLink | None
    followed: FollowedFlows
    sample: PacketSample | None = None
    queues: Callable[[], QueueSeries] | None = None
    why: str = ""


def together(
    kinds: Sequence[tuple[TransferRounds, Sequence[Sequence[int]]]], ranks: int
) -> tuple[TransferRounds, Numbers]:
    """The rounds of several groups as those of all at once, and the group of each transfer.

    kinds: rounds of one group, and the ranks of the job by position for each group that has them; pieces of all kinds
    have equally many bytes.
    """
    check_transfers(sum(len(rounds.table) * len(groups) for rounds, groups in kinds), MOST_FOLLOWED)
    tables, numbers, count = [], [], 0
    for rounds, groups in kinds:
        members = np.asarray(groups, np.int64)
        table = np.tile(rounds.table, len(members))
        group = np.repeat(np.arange(len(members)), len(rounds.table))
        for end in ("source", "target"):
            table[end] = members[group, table[end]]
        tables.append(table)
        numbers.append(count + group)
        count += len(members)
    return replace(kinds[0][0], ranks=ranks, table=np.concatenate(tables)), np.concatenate(numbers)


def _combined(*columns: Numbers) -> Numbers:
    """A number for each row of columns of numbers from 0: equal rows have equal ones."""
    keys = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        keys = keys * (int(column.max(initial=0)) + 1) + column
    return keys


def merged(rounds: TransferRounds, carriers: Carriers, group_of: Numbers) -> Carriers:
    """Carriers of which each stands for those of its group that are equal, where no round comes after that of all.

    As an AllToAll at once has many: flows of all GPUs of a host to a GPU leave by one NIC (PXN).
    """
    if rounds.count > 1 or not len(carriers.transfer):
        return carriers
    _, payload = np.unique(carriers.share * rounds.payload_bytes[carriers.transfer], return_inverse=True)
    keys = _combined(group_of[carriers.transfer], carriers.route, payload)
    _, first, alike = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(first)
    kept = first[order]
    return Carriers(
        transfer=carriers.transfer[kept],
        route=carriers.route[kept],
        share=carriers.share[kept],
        latency_s=carriers.latency_s[kept],
        alike=alike[order],
        paths=carriers.paths,
        shares=carriers.shares,
    )


def exchange(
    kinds: Sequence[tuple[TransferRounds, Sequence[Sequence[int]]]],
    hosts: HostPorts,
    fabric: RoutedFabric,
    packets: PacketTier | None = None,
) -> ExchangeTime | None:
    """Run a collective of several groups at once; None where nothing crosses the network.

    kinds: see `together`. packets: simulates packets, where it can. Raises RailfabError for ranks that do not reach
    each other, and packets that wait for each other; TooManyTransfers.
    """
    whole, group_of = together(kinds, len(hosts.gpus))
    scale_up = np.full(2 * len(hosts.gpus), hosts.scale_up or np.inf)
    planned = _mapped(whole, hosts, hosts.nics)
    if not len(planned.flows):
        return None
    connections, route = _connections(planned)
    ends = merged(whole, _carriers(planned, fabric, fabric.ends(connections), route), group_of)
    planned_there = fabric.without_faults.in_use(partial(_port_use, whole, ends, fabric.links_count))
    planned_bytes_per_s = np.concatenate((planned_there.payload_bytes_per_s, scale_up))
    ideal_s, rank_ideal_s, _ = _seconds(whole, ends, planned_bytes_per_s, group_of)
    flows = _mapped(whole, hosts, fabric.ports_up(hosts.nics))
    connections, route = _connections(flows)
    apart = _carriers(flows, fabric, fabric.paths(connections), route)
    carriers = merged(whole, apart, group_of)
    fabric = fabric.in_use(partial(_port_use, whole, apart, fabric.links_count))
    capacity = np.concatenate((fabric.payload_bytes_per_s, scale_up))
    seconds, rank_s, carrier_s = _seconds(whole, carriers, capacity, group_of)
    is_slowest = group_of == seconds.argmax()
    peak, slowest = slowest_interval(whole, carriers, capacity, is_slowest, connections, fabric)
    fair = ExchangeTime(
        seconds=seconds,
        ideal_s=float(ideal_s.max()),
        busiest=None if slowest is None else slowest.busiest,
        followed=FollowedFlows(
            rounds=whole,
            carriers=apart,
            group_of=group_of,
            connections=connections,
            capacity=capacity,
            rank_s=rank_s,
            rank_ideal_s=rank_ideal_s,
            peak=peak,
            slowest=slowest,
        ),
    )
    if packets is None:
        return fair
    if Balancing.FLOWLET in fabric.balancing:
        carriers = merged(whole, _carriers(flows, fabric, fabric.candidates(connections), route), group_of)
    if fabric is not packets.fabric:
        packets = replace(packets, fabric=fabric)
    return _in_packets(fair, carriers, carrier_s, packets, hosts.scale_up)


def _port_use(rounds: TransferRounds, carriers: Carriers, links: int) -> PortUse:
    """The payload of all rounds that leaves host ports, and that comes in by them."""
    paths = carriers.paths[carriers.route]
    first, last = paths[:, 0], paths[np.arange(len(paths)), (paths >= 0).sum(axis=1) - 1]
    on_network = first < links
    payload = carriers.share * carriers.alike * (rounds.payload_bytes * rounds.table["times"])[carriers.transfer]
    payload = payload[on_network]
    sent = np.bincount(first[on_network], payload, minlength=links).astype(float)
    received = np.bincount(last[on_network] ^ 1, payload, minlength=links).astype(float)
    return sent, received


def _in_packets(
    fair: ExchangeTime, carriers: Carriers, carrier_s: Floats, packets: PacketTier, scale_up: float | None
) -> ExchangeTime:
    """The result in packets; that at max-min fair rates, with the reason, where none are simulated."""
    times = FairTimes(seconds=fair.seconds, carrier_s=carrier_s, peak=fair.followed.peak)
    try:
        in_packets = packets.seconds(fair.followed.rounds, carriers, fair.followed.group_of, times, scale_up)
    except NotSimulated as error:
        return replace(fair, why=str(error))
    return replace(fair, seconds=in_packets.seconds, sample=in_packets.sample, queues=in_packets.queues)


def exchange_beside(result: ExchangeTime, endless: EndlessFlows, fabric: RoutedFabric) -> tuple[float, BusyLink | None]:
    """The duration of a collective beside flows of other jobs [s], and the link on which its slowest group waits."""
    followed = result.followed
    whole, group_of, capacity = followed.rounds, followed.group_of, followed.capacity
    carriers = merged(whole, followed.carriers, group_of)
    seconds, *_ = _seconds(whole, carriers, capacity, group_of, endless)
    is_slowest = group_of == seconds.argmax()
    _, slowest = slowest_interval(whole, carriers, capacity, is_slowest, followed.connections, fabric, endless)
    return float(seconds.max()), None if slowest is None else slowest.busiest


def _mapped(rounds: TransferRounds, hosts: HostPorts, nics: Mapping[Gpu, Sequence[PortKey]]) -> MappedRounds:
    return mapped(rounds, hosts.gpus, nics, scale_up=hosts.scale_up is not None)


def _connections(flows: MappedRounds) -> tuple[Connections, Numbers]:
    """The connections of flows, and the connection of each flow."""
    columns = [flows.flows[name].astype(np.int64) for name in ("source", "target", "stream")]
    _, first, number = np.unique(_combined(*columns), return_index=True, return_inverse=True)
    source, target, stream = (column[first] for column in columns)
    return Connections(ports=flows.ports, source=source, target=target, stream=stream), number


def _carriers(flows: MappedRounds, fabric: RoutedFabric, network: RouteLinks, route: Numbers) -> Carriers:
    """Flows and copies, by transfer; a route is a connection, or the links of two ranks to the scale-up network.

    network: of the connections. route: (flow,) the connection of each flow.
    """
    first, ranks, copies = fabric.links_count, flows.rounds.ranks, flows.copies
    inside = np.full((len(copies), network.links.shape[1]), -1, np.int64)
    if len(copies):
        inside[:, 0], inside[:, 1] = first + copies["source"], first + ranks + copies["target"]
    transfer = np.concatenate((flows.flows["transfer"], copies["transfer"])).astype(np.int64)
    order = np.argsort(transfer, kind="stable")
    routes = np.concatenate((route, len(network.links) + np.arange(len(copies))))
    share = np.concatenate((flows.flows["share"], np.ones(len(copies))))
    latency_s = np.concatenate((np.full(len(route), NETWORK_STEP_S), np.full(len(copies), SCALE_UP_STEP_S)))
    return Carriers(
        transfer=transfer[order],
        route=routes[order],
        share=share[order],
        latency_s=latency_s[order],
        alike=np.ones(len(order), np.int64),
        paths=np.concatenate((network.links, inside)),
        shares=np.concatenate((network.shares, np.ones(inside.shape))),
    )


def _seconds(
    rounds: TransferRounds,
    carriers: Carriers,
    capacity: Floats,
    group_of: Numbers,
    endless: EndlessFlows | None = None,
) -> tuple[Floats, Floats, Floats]:
    """When each group, each rank and each carrier has ended [s], (group,), (rank,) and (carrier,).

    Equal rounds in a row beyond the first ones take as long as the last. endless: flows of other jobs.
    """

    def run(most: int) -> Floats:
        return _run(rounds, carriers, capacity, group_of, most, endless)

    followed = max(LEAST_ROUNDS, MOST_TRANSFERS // max(1, len(carriers.transfer)))
    longest = max(times for times, _ in rounds.intervals())
    ends = run(min(longest, followed))
    if longest > followed:
        left = sum(max(0, times - followed) for times, _ in rounds.intervals())
        repeated = sum(times > followed for times, _ in rounds.intervals())
        ends += (ends - run(followed // 2)) / (repeated * (followed - followed // 2)) * left
    groups = int(group_of.max()) + 1
    seconds, rank_s, carrier_s = np.split(ends, [groups, groups + rounds.ranks])
    return seconds, rank_s, carrier_s


def _run(
    rounds: TransferRounds,
    carriers: Carriers,
    capacity: Floats,
    group_of: Numbers,
    most: int,
    endless: EndlessFlows | None,
) -> Floats:
    """When each group, then each rank, then each carrier has ended [s], of which up to `most` equal rounds in a row."""
    flows, carrier = ordered_flows(rounds, carriers, times=lambda times: min(times, most))
    if endless is not None:
        flows = endless.beside(flows)
    quantum = min(max(QUANTA[0], len(carriers.transfer) / 1e6), QUANTA[1])
    ends = fluid_ends(flows, capacity, quantum_s=quantum * _least_s(rounds, carriers, capacity), slack=quantum)
    ends, carrier = ends[: len(carrier)][carrier >= 0], carrier[carrier >= 0]
    transfer, groups = carriers.transfer[carrier], int(group_of.max()) + 1
    others = groups + rounds.ranks
    seconds = np.zeros(others + len(carriers.transfer))
    for number in (group_of, groups + rounds.table["source"], groups + rounds.table["target"]):
        np.maximum.at(seconds, number[transfer], ends)
    np.maximum.at(seconds, others + carrier, ends)
    return seconds


def _least_s(rounds: TransferRounds, carriers: Carriers, capacity: Floats) -> float:
    """Median duration of carriers that have all links for themselves [s]."""
    most = alone_bytes_per_s(carriers.paths, carriers.shares, capacity)[carriers.route]
    payload = carriers.share * rounds.payload_bytes[carriers.transfer]
    return float(np.median(payload / most))
