"""The routes of all switches, as arrays over switches and prefix groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.device import Family, IpAddress
from railfab.forwarding.attributes import UNREACHED, Numbers, RouteAttributes
from railfab.forwarding.links import LinkTable
from railfab.forwarding.next_hop_groups import NO_HOPS, NextHopGroups
from railfab.forwarding.policies import ACCEPTED, DENIED, Policies
from railfab.forwarding.ports import Configs
from railfab.forwarding.prefix_groups import NO_GROUPS, Connected, PrefixGroups
from railfab.forwarding.prefixes import covering
from railfab.forwarding.sessions import PrefixCounts

SessionCounts = Mapping[Family, PrefixCounts]
"""Numbers of prefixes of one session."""


Columns = NDArray[np.bool_]
"""(group,) which groups are meant."""

FAMILIES = {Family.IPV4: (1, 32), Family.IPV6: (2, 128)}
"""The bit that stands for a family, and the bits of its addresses."""


class Peer(NamedTuple):
    """The other end of an established session of a switch.

    row: of the peer. link: the egress link to it. key: of the session here. peer_key: of the session there.
    families: bits of those that it carries. internal: whether both ends are of one AS. keeps_next_hop: whether its
    routes have the next hop that it uses itself. to_client, from_client: whether it reflects to this end, or this end
    to it.
    """

    device: str
    row: int
    asn: int
    link: int
    key: str
    peer_key: str
    families: int
    internal: bool
    keeps_next_hop: bool
    to_client: bool
    from_client: bool


@dataclass(frozen=True)
class Peers:
    """The established peers of a switch, in the order of its interfaces, and columns of them, (peer,)."""

    members: tuple[Peer, ...] = ()

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(peer.device for peer in self.members))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        return np.array([peer.row for peer in self.members], np.int64)

    @cached_property
    def asn(self) -> NDArray[np.int64]:
        return np.array([peer.asn for peer in self.members], np.int64)

    @cached_property
    def links(self) -> NDArray[np.int64]:
        return np.array([peer.link for peer in self.members], np.int64)

    @cached_property
    def internal(self) -> NDArray[np.bool_]:
        return np.array([peer.internal for peer in self.members], bool)

    @cached_property
    def has_internal(self) -> bool:
        return any(peer.internal for peer in self.members)

    @cached_property
    def has_kept_next_hops(self) -> bool:
        return any(peer.keeps_next_hop for peer in self.members)

    @cached_property
    def keep_next_hop(self) -> NDArray[np.bool_]:
        return np.array([peer.keeps_next_hop for peer in self.members], bool)

    @cached_property
    def to_client(self) -> NDArray[np.bool_]:
        return np.array([peer.to_client for peer in self.members], bool)

    @cached_property
    def from_client(self) -> NDArray[np.bool_]:
        return np.array([peer.from_client for peer in self.members], bool)


@dataclass(frozen=True, slots=True)
class Directions:
    """One direction of the sessions of a switch. Columns (session,).

    rows, sender_asn: of the senders. filters: number of each sender's export filter, and the bits of the families.
    receiver_asn: of the receivers, or of the only one. unrestricted: whether a sender may pass on all that it has.
    clusters: those of sender and receiver, None for one that reflects nothing.
    """

    rows: NDArray[np.int64]
    sender_asn: NDArray[np.int64]
    filters: Sequence[tuple[int, int]]
    receiver_asn: Sequence[int]
    internal: NDArray[np.bool_]
    has_internal: bool
    unrestricted: NDArray[np.bool_]
    clusters: Sequence[tuple[int | None, int | None]]


def inward(configs: Configs, name: str, peers: Peers) -> Directions:
    """What the peers of a switch announce to it."""
    return Directions(
        rows=peers.rows,
        sender_asn=peers.asn,
        filters=[(configs[peer.device].exports[peer.peer_key], peer.families) for peer in peers.members],
        receiver_asn=(configs[name].asn or 0,),
        internal=peers.internal,
        has_internal=peers.has_internal,
        unrestricted=~peers.internal | peers.to_client,
        clusters=[(configs[peer.device].cluster, configs[name].cluster) for peer in peers.members],
    )


def outward(configs: Configs, name: str, row: int, peers: Peers) -> Directions:
    """What a switch announces to its peers."""
    config, count = configs[name], len(peers.members)
    return Directions(
        rows=np.full(count, row, np.int64),
        sender_asn=np.full(count, config.asn or 0, np.int64),
        filters=[(config.exports[peer.key], peer.families) for peer in peers.members],
        receiver_asn=peers.asn.tolist(),
        internal=peers.internal,
        has_internal=peers.has_internal,
        unrestricted=~peers.internal | peers.from_client,
        clusters=[(config.cluster, configs[peer.device].cluster) for peer in peers.members],
    )


class Best(NamedTuple):
    """Best routes of senders: numbers of their attributes, and costs, (session, group), and the verdicts on them."""

    numbers: Numbers
    costs: NDArray[np.int32]
    verdict: NDArray[np.int32]


class Announced(NamedTuple):
    """Axes (session, group). offered: whether the sender announces the groups.

    numbers, costs: with which attributes, as they leave it, its AS number not yet prepended, and their cost.
    """

    offered: NDArray[np.bool_]
    numbers: Numbers
    costs: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """Shared by all states of a fabric: numbered filters, attributes and next-hop groups."""

    policies: Policies = field(default_factory=Policies)
    attributes: RouteAttributes = field(default_factory=RouteAttributes)
    hops: NextHopGroups = field(default_factory=NextHopGroups)


@dataclass(frozen=True, kw_only=True, eq=False)
class Routes:
    """Routes of all switches. Axes of the arrays: (switch, group).

    connected: per switch, the egress link of each of its own prefixes (None for loopbacks and aggregates).
    rows: row of each switch. cost: of the best route, `UNREACHED` without one. best, hops: the number of its
    attributes, and of the next-hop group, in `tables`. counts: numbers of prefixes by switch, as far as they were
    asked for.
    """

    tables: Tables
    rows: Mapping[str, int]
    connected: Connected
    groups: PrefixGroups
    peers: Mapping[str, Peers]
    cost: NDArray[np.int32]
    best: Numbers
    hops: NDArray[np.int32]
    counts: dict[str, Mapping[str, SessionCounts]]

    def egress(self, switch: str, address: IpAddress) -> tuple[int, ...]:
        """The links by which a packet to this address may leave; none without a route, or to the switch itself."""
        own, row = self.connected.get(switch, {}), self.rows[switch]
        for length in self.groups.lengths.get(address.max_prefixlen, ()):
            prefix = covering(address, length)
            if prefix in own:
                link = own[prefix]
                return () if link is None else (link,)
            group = self.groups.numbers.get(prefix)
            if group is not None and (number := int(self.hops[row, group])) != NO_HOPS:
                return self.tables.hops.links[number]
        return ()

    def session_counts(self, configs: Configs, switch: str) -> Mapping[str, SessionCounts]:
        """Prefixes that each established session of a switch receives, sends and installs, by its key."""
        found = self.counts.get(switch)
        if found is None:
            found = self.counts[switch] = _counted(self, configs, switch)
        return found


def no_routes(links: LinkTable) -> Routes:
    """The routes of a fabric in which no switch is configured."""
    names = [node.name for node in links.topology.switches()]
    shape = (len(names), 0)
    return Routes(
        tables=Tables(),
        rows={name: row for row, name in enumerate(names)},
        connected={},
        groups=NO_GROUPS,
        peers={},
        cost=np.zeros(shape, np.int32),
        best=np.zeros(shape, np.int32),
        hops=np.zeros(shape, np.int32),
        counts={},
    )


def filters_in_use(configs: Configs) -> tuple[int, ...]:
    """The numbers of the filters of all sessions."""
    return tuple(sorted(frozenset[int]().union(*(config.filters for config in configs.values()))))


class Verdicts:
    """The verdicts of filters on the groups, each column made when it is first asked for."""

    def __init__(self, groups: PrefixGroups) -> None:
        self._groups = groups
        self._columns: dict[tuple[int, int], NDArray[np.int32]] = {}

    def of(self, filters: Sequence[tuple[int, int]], at: NDArray[np.int64]) -> NDArray[np.int32]:
        """Verdicts on the groups in these columns, by filter and bits of the families.

        (session, group), or (1, group) where all sessions have the same filter.
        """
        distinct = filters[:1] if len(set(filters)) == 1 else filters
        return np.array([self._column(found)[at] for found in distinct], np.int32)

    def _column(self, found: tuple[int, int]) -> NDArray[np.int32]:
        """(group,) the verdict of a filter; it denies the families that are not carried."""
        if found not in self._columns:
            number, families = found
            carried = np.isin(self._groups.bits, [bits for flag, bits in FAMILIES.values() if flag & families])
            self._columns[found] = np.where(carried, self._groups.verdicts[number], np.int32(DENIED))
        return self._columns[found]


def announced(table: Routes, directions: Directions, at: NDArray[np.int64], verdicts: Verdicts) -> Announced:
    """What is announced of the groups in these columns, with its attributes. Adds to the tables."""
    attributes, best = table.tables.attributes, best_of(table, directions, at, verdicts)
    numbers, costs, verdict = best
    passing = offered(table, directions, best)
    if directions.has_internal:
        numbers = _reflected(attributes, directions, numbers)
    if attributes.has_med:
        numbers = np.where(directions.internal[:, None], numbers, attributes.without_med(numbers))
    if (verdict > ACCEPTED).any():
        special = passing & (verdict > ACCEPTED)
        verdict = np.broadcast_to(verdict, special.shape)
        sender_asn = directions.sender_asn[np.nonzero(special)[0]]
        numbers = numbers.copy()
        numbers[special] = table.tables.policies.apply(verdict[special], numbers[special], attributes, sender_asn)
        costs[special] = attributes.costs(numbers[special])
    return Announced(passing, numbers, costs)


def best_of(table: Routes, directions: Directions, at: NDArray[np.int64], verdicts: Verdicts) -> Best:
    """What the senders have of the groups in these columns."""
    rows = directions.rows[:, None]
    return Best(table.best[rows, at], table.cost[rows, at], verdicts.of(directions.filters, at))


def offered(table: Routes, directions: Directions, best: Best) -> NDArray[np.bool_]:
    """(session, group) whether the groups are announced. Only reads.

    A switch announces what it has and its export filter permits, unless the receiver's AS number is in the path, and
    inside an AS only what it may pass on.
    """
    attributes, (numbers, costs, verdict) = table.tables.attributes, best
    found = (costs < UNREACHED) & (verdict != DENIED)
    found &= ~_looped(attributes, directions.receiver_asn, numbers)
    if directions.has_internal:
        found &= directions.unrestricted[:, None] | attributes.for_all_internal(numbers)
        found &= ~_returned(attributes, directions, numbers)
    if (verdict > ACCEPTED).any():
        special = found & (verdict > ACCEPTED)
        verdict = np.broadcast_to(verdict, special.shape)
        found[special] = table.tables.policies.permits(verdict[special], numbers[special], attributes)
    return np.asarray(found)


def _reflected(attributes: RouteAttributes, directions: Directions, numbers: Numbers) -> Numbers:
    """Attributes after the reflectors."""
    numbers = numbers.copy()
    for place in np.flatnonzero(directions.internal).tolist():
        sender, _ = directions.clusters[place]
        if sender is not None:
            numbers[place] = attributes.reflected(numbers[place], sender)
    return numbers


def _returned(attributes: RouteAttributes, directions: Directions, numbers: Numbers) -> NDArray[np.bool_]:
    """Which routes have passed a reflector of the receiver's cluster, the sender included."""
    found = np.zeros(numbers.shape, bool)
    for place in np.flatnonzero(directions.internal).tolist():
        sender, receiver = directions.clusters[place]
        if receiver is not None:
            found[place] = attributes.passed(numbers[place], receiver)
            if sender == receiver:
                found[place] |= attributes.is_internal(numbers[place])
    return found


def _looped(attributes: RouteAttributes, receiver_asn: Sequence[int], numbers: Numbers) -> NDArray[np.bool_]:
    """Whether the receiver's AS number is in the path. receiver_asn: one for all rows, or one for each."""
    contains = {asn: attributes.containing(asn) for asn in set(receiver_asn)}
    if len(receiver_asn) == 1:
        return np.asarray(contains[receiver_asn[0]][numbers])
    return np.asarray([contains[asn][row] for asn, row in zip(receiver_asn, numbers, strict=True)])


def _counted(table: Routes, configs: Configs, name: str) -> Mapping[str, SessionCounts]:
    peers = table.peers.get(name, Peers())
    if not peers.members:
        return {}
    at, verdicts = np.arange(len(table.groups.keys)), Verdicts(table.groups)
    into, out = inward(configs, name, peers), outward(configs, name, table.rows[name], peers)
    received = offered(table, into, best_of(table, into, at, verdicts))
    sent = offered(table, out, best_of(table, out, at, verdicts))
    sizes = {
        family: (flag, table.groups.sizes * (table.groups.bits == bits)) for family, (flag, bits) in FAMILIES.items()
    }
    counts: dict[str, dict[Family, PrefixCounts]] = {peer.key: {} for peer in peers.members}
    for family, (flag, size) in sizes.items():
        installed = _installed(table, name, size)
        columns = ((received @ size).tolist(), (sent @ size).tolist())
        for peer, came, went in zip(peers.members, *columns, strict=True):
            if flag & peer.families:
                counts[peer.key][family] = PrefixCounts(came, went, installed.get(peer.link, 0))
    return counts


def _installed(table: Routes, name: str, sizes: NDArray[np.int64]) -> dict[int, int]:
    """Prefixes that use each egress link of a switch. sizes: prefixes of each group."""
    totals = np.bincount(table.hops[table.rows[name]], weights=sizes)
    found: dict[int, int] = {}
    for number in np.flatnonzero(totals).tolist():
        for link in table.tables.hops.links[number]:
            found[link] = found.get(link, 0) + int(totals[number])
    return found
