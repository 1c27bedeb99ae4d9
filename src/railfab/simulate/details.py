"""Ranks and links of a call of an operation in numbers: when each rank ends, what each link carries, and who waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.fabric.routed import RoutedFabric
from railfab.simulate.contention import BusyLink
from railfab.simulate.exchange import ExchangeTime, FollowedFlows
from railfab.simulate.link_loads import SlowestInterval, alone_bytes_per_s
from railfab.simulate.link_places import ROLE_NAMES
from railfab.simulate.queue_series import QueueSeries
from railfab.topology import PortKey
from railfab.workload.mapping import HostPorts

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_LINKS = 10
"""Links of an operation on which flows wait that are described: those whose flows take longest."""
MOST_RANKS = 20
"""Ranks of an operation that are described: those that end last."""
WAITS = 0.99
"""Share of the rate that NICs would give a flow, below which it waits for a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPlace:
    """A rank of a job. gpu: in its host, from 0."""

    host: str
    gpu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CollidingFlows:
    """Equal flows on a link, between two NIC ports. bytes_per_s: payload of each; alone: with no other on its path."""

    source: str
    target: str
    flows: int
    bytes_per_s: float
    alone_bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWait:
    """A link on which flows of an operation wait. flows: that cross it at once, in `collisions` by their ports.

    bytes_per_s: payload that it carries when it is full. ranks: those that send or receive what waits there.
    """

    link: str
    tier: str
    reason: str
    flows: int
    bytes_per_s: float
    collisions: tuple[CollidingFlows, ...]
    ranks: tuple[RankPlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankWait:
    """A rank in a call of an operation. seconds: until it has sent and received all; ideal_s: where only NICs and hosts
    limit it."""

    rank: RankPlace
    seconds: float
    ideal_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationWait:
    """A call of an operation [s]: of the slowest group, and where only NICs and hosts limit it.

    extra_s: what the fabric adds to its calls in a step, hidden ones included. ranks: the slowest ones. links: on which
    flows wait, that of the slowest group first.
    """

    group: str
    op: str
    size_bytes: int
    seconds: float
    ideal_s: float
    extra_s: float
    ranks: tuple[RankWait, ...]
    links: tuple[LinkWait, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperationDetail:
    """A call of an operation of every group at once, of `size_bytes`.

    seconds: of the slowest group. link_bytes: (link,) payload that each link of the fabric carries [bytes]; capacity:
    (link,) that it can carry [bytes/s]; peak: (link,) the largest share of it in a round whose flows are all active.
    ranks: places of the ranks of the job; rank_s, rank_ideal_s: (rank,) as in RankWait, 0 for a rank without transfers;
    group_of_rank: (rank,) -1 for none. waits: the links on which flows wait, the slowest group's first. queues: runs
    the packets of the slowest component again, where packets were simulated.
    """

    group: str
    op: str
    size_bytes: int
    seconds: float
    ideal_s: float
    link_bytes: Floats
    capacity: Floats
    peak: Floats
    ranks: Sequence[RankPlace]
    rank_s: Floats
    rank_ideal_s: Floats
    group_of_rank: Numbers
    waits: tuple[LinkWait, ...]
    queues: Callable[[], QueueSeries] | None

    @property
    def load(self) -> Floats:
        """(link,) mean share of its capacity that each link carries until the slowest group has ended."""
        whole = self.capacity * self.seconds
        share: Floats = np.divide(self.link_bytes, whole, out=np.zeros(len(whole)), where=whole > 0)
        return share

    def slowest_ranks(self) -> tuple[RankWait, ...]:
        """The ranks that end last, up to MOST_RANKS of them."""
        order = np.argsort(-self.rank_s, kind="stable")[:MOST_RANKS].tolist()
        return tuple(
            RankWait(rank=self.ranks[rank], seconds=float(self.rank_s[rank]), ideal_s=float(self.rank_ideal_s[rank]))
            for rank in order
            if self.rank_s[rank] > 0
        )


def operation_detail(
    group: str, op: str, size_bytes: int, result: ExchangeTime, hosts: HostPorts, fabric: RoutedFabric
) -> OperationDetail:
    """The detail of a call whose flows were followed."""
    followed, links = result.followed, fabric.links_count
    ranks = rank_places(hosts)
    groups = np.full(len(ranks), -1, np.int64)
    for end in ("source", "target"):
        groups[followed.rounds.table[end]] = followed.group_of
    waits = _Waits(followed, followed.slowest, hosts, fabric, ranks).links() if followed.slowest is not None else ()
    return OperationDetail(
        group=group,
        op=op,
        size_bytes=size_bytes,
        seconds=float(result.seconds.max()),
        ideal_s=result.ideal_s,
        link_bytes=_link_bytes(followed)[:links],
        capacity=followed.capacity[:links],
        peak=followed.peak[:links],
        ranks=ranks,
        rank_s=followed.rank_s,
        rank_ideal_s=followed.rank_ideal_s,
        group_of_rank=groups,
        waits=tuple(waits),
        queues=result.queues,
    )


def rank_places(hosts: HostPorts) -> tuple[RankPlace, ...]:
    """The place of each rank: ranks fill the hosts in their order."""
    counts: Counter[str] = Counter()
    places = []
    for host, _ in hosts.gpus:
        places.append(RankPlace(host=host, gpu=counts[host]))
        counts[host] += 1
    return tuple(places)


def tier_of(fabric: RoutedFabric, link: int) -> str:
    """Roles of both ends of a link, such as `leaf > spine`."""
    nodes = fabric.links.nodes
    near, far = nodes[fabric.links.keys[link][0]], nodes[fabric.links.far_key(link)[0]]
    return f"{ROLE_NAMES[near.role]} > {ROLE_NAMES[far.role]}"


def _link_bytes(followed: FollowedFlows) -> Floats:
    """(link,) payload of all rounds [bytes]."""
    carriers, table = followed.carriers, followed.rounds.table
    payload = carriers.share * (followed.rounds.payload_bytes * table["times"])[carriers.transfer]
    by_route = np.bincount(carriers.route, payload, minlength=len(carriers.paths))
    on_path = carriers.paths >= 0
    weights: Floats = carriers.shares[on_path] * np.repeat(by_route, on_path.sum(axis=1))
    return np.bincount(carriers.paths[on_path], weights, minlength=len(followed.capacity)).astype(float)


class _Waits:
    """Flows that wait in the rounds in which the slowest group spends most time.

    bottleneck: (route,) the link between two switches, or into a slow host, on which its flows wait, -1 for none.
    """

    def __init__(
        self,
        followed: FollowedFlows,
        interval: SlowestInterval,
        hosts: HostPorts,
        fabric: RoutedFabric,
        ranks: Sequence[RankPlace],
    ) -> None:
        self._followed, self._interval, self._fabric, self._ranks = followed, interval, fabric, ranks
        self._paths = followed.carriers.paths[: len(followed.connections)]
        rates = interval.route_bytes_per_s[: len(self._paths)]
        used = rates > 0
        self._carriers = np.flatnonzero(np.isin(followed.carriers.transfer, interval.transfers))
        self._reduced = self._reduced_ends(hosts)
        self._bottleneck = np.where(used, self._bottlenecks(rates), -1)

    def _reduced_ends(self, hosts: HostPorts) -> dict[int, str]:
        """Why links of NIC ports carry less than planned, by link."""
        fabric = self._fabric
        reasons: dict[int, str] = {}
        planned, now = fabric.planned_bytes_per_s, fabric.payload_bytes_per_s
        for ports in hosts.nics.values():
            down = [port for port in ports if not fabric.state.port(port).oper_up]
            for port in ports:
                for link in (fabric.links.egress[port], fabric.links.egress[port] ^ 1):
                    if 0 < now[link] < WAITS * planned[link]:
                        reasons[link] = f"it carries {now[link] / 1e9:.1f} of {planned[link] / 1e9:.1f} GB/s"
                    elif down and port not in down:
                        reasons[link] = f"{down[0][1]} of the NIC is down"
        return reasons

    def _bottlenecks(self, rates: Floats) -> Numbers:
        """(route,) the full link that most flows cross, where the flow has less than its NICs would give it."""
        capacity, crossing, full = self._followed.capacity, self._interval.crossing, self._interval.full
        paths, hops = self._paths, (self._paths >= 0).sum(axis=1)
        count = np.arange(len(paths))
        ends = np.stack((paths[:, 0], paths[count, hops - 1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            fair = (capacity[ends] / crossing[ends]).min(axis=0)
        hop = np.arange(paths.shape[1])
        inner = (hop > 0) & (hop < hops[:, None] - 1) & full[paths] & (rates < WAITS * fair)[:, None]
        is_reduced = np.zeros(len(capacity), np.bool_)
        is_reduced[list(self._reduced)] = True
        candidate = inner | (full & is_reduced)[paths] & (paths >= 0)
        weight = np.where(candidate, crossing[paths] + 1, 0)
        most = weight.argmax(axis=1)
        return np.where(weight[count, most] > 0, paths[count, most], -1)

    def links(self) -> Iterator[LinkWait]:
        """The links on which flows wait, that of the slowest group first, then by the time of their slowest flow."""
        carriers, rounds = self._followed.carriers, self._followed.rounds
        used = self._carriers[carriers.route[self._carriers] < len(self._paths)]
        route = carriers.route[used]
        payload = carriers.share[used] * rounds.payload_bytes[carriers.transfer[used]]
        bottleneck = self._bottleneck[route]
        seconds = np.zeros(len(self._followed.capacity))
        waiting = bottleneck >= 0
        rates = self._interval.route_bytes_per_s[route[waiting]]
        np.maximum.at(seconds, bottleneck[waiting], payload[waiting] / rates)
        busiest = self._interval.busiest
        first = -1 if busiest is None else busiest.link
        links = sorted(
            np.flatnonzero(seconds).tolist(),
            key=lambda link: (link != first, -seconds[link], -self._interval.crossing[link], link),
        )
        for link in links[:MOST_LINKS]:
            yield self._wait(link, used[bottleneck == link])

    def _wait(self, link: int, waiting: Numbers) -> LinkWait:
        """A link, and the carriers that wait there."""
        table = self._followed.rounds.table[self._followed.carriers.transfer[waiting]]
        ranks = np.unique(np.concatenate((table["source"], table["target"]))).tolist()
        return LinkWait(
            link=self._fabric.name_of(link),
            tier=tier_of(self._fabric, link),
            reason=self._reduced.get(link) or self._reason(link, waiting),
            flows=int(self._interval.crossing[link]),
            bytes_per_s=float(self._followed.capacity[link]),
            collisions=tuple(self._collisions(link)),
            ranks=tuple(self._ranks[rank] for rank in ranks),
        )

    def _reason(self, link: int, waiting: Numbers) -> str:
        """Whether the link would limit its flows if they were spread evenly, and whether they are not."""
        carriers, capacity, crossing = self._followed.carriers, self._followed.capacity, self._interval.crossing
        routes = np.unique(carriers.route[waiting])
        rates = self._interval.route_bytes_per_s[routes]
        ends = self._paths[routes][:, 0], self._paths[routes, (self._paths[routes] >= 0).sum(axis=1) - 1]
        share = rates / np.minimum(*(capacity[end] / crossing[end] for end in ends))
        slowest = int(share.argmin())
        target = self._followed.connections[int(routes[slowest])][1]
        choices = list(self._fabric.choices(link, target))
        return BusyLink(
            link=link,
            flows=int(crossing[link]),
            fair_flows=float(crossing[choices].mean()),
            share=float(share[slowest]),
        ).reason

    def _collisions(self, link: int) -> Iterator[CollidingFlows]:
        """The flows that cross a link, by their ports; those with the lowest rate first."""
        carriers, capacity = self._followed.carriers, self._followed.capacity
        routes = np.flatnonzero((self._paths == link).any(axis=1))
        counts = np.bincount(carriers.route[self._carriers], minlength=len(carriers.paths))[routes]
        rates = self._interval.route_bytes_per_s[routes]
        alone = alone_bytes_per_s(self._paths[routes], carriers.shares[routes], capacity)
        flows: dict[tuple[str, str, float, float], int] = {}
        for place in np.flatnonzero(counts).tolist():
            source, target, _ = self._followed.connections[int(routes[place])]
            key = _port_name(source), _port_name(target), float(rates[place]), float(alone[place])
            flows[key] = flows.get(key, 0) + int(counts[place])
        for (source_name, target_name, rate, alone_rate), count in sorted(
            flows.items(), key=lambda each: (each[0][2], -each[1])
        ):
            yield CollidingFlows(
                source=source_name,
                target=target_name,
                flows=count,
                bytes_per_s=rate,
                alone_bytes_per_s=alone_rate,
            )


def _port_name(port: PortKey) -> str:
    return " ".join(port)
