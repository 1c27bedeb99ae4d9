"""The routes of all switches, as arrays over switches and prefix groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.device import Family, IpAddress, NextHop
from railfab.forwarding.attributes import UNREACHED, Numbers, RouteAttributes
from railfab.forwarding.links import LinkTable
from railfab.forwarding.next_hop_groups import NO_HOPS, NextHopGroups
from railfab.forwarding.policies import ACCEPTED, DENIED, REJECTED, Policies
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

    link: the egress link to it. key: of the session here. peer_key: of the session there.
    families: bits of those that it carries. internal: whether both ends are of one AS.
    """

    device: str
    link: int
    key: str
    peer_key: str
    families: int
    internal: bool


Peers = tuple[Peer, ...]
"""The established peers of a switch, in the order of its interfaces."""


class Direction(NamedTuple):
    """One direction of a session. key: of the session at the sender."""

    sender: str
    key: str
    receiver: str
    families: int
    internal: bool


class Announced(NamedTuple):
    """Axes (direction, group). offered: whether the sender announces the groups. numbers: with which attributes, as
    they leave it, its AS number not yet prepended. usable: whether they are offered and the next hop can be resolved.
    """

    offered: NDArray[np.bool_]
    usable: NDArray[np.bool_]
    numbers: Numbers


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


class Verdicts(dict[tuple[int, int], NDArray[np.int32]]):
    """(group,) The verdict of a filter on each group, by its number and the bits of the families that are carried."""

    def __init__(self, groups: PrefixGroups) -> None:
        super().__init__()
        self._groups = groups

    def __missing__(self, key: tuple[int, int]) -> NDArray[np.int32]:
        number, families = key
        carried = np.isin(self._groups.bits, [bits for flag, bits in FAMILIES.values() if flag & families])
        found = self[key] = np.where(carried, self._groups.verdicts[number], np.int32(DENIED))
        return found


def announced(
    table: Routes, configs: Configs, directions: Sequence[Direction], at: NDArray[np.int64], verdicts: Verdicts
) -> Announced:
    """What is announced of the groups in these columns.

    A switch announces what it has and its export filter permits, unless the receiver's AS number is in the path.
    """
    rows = np.array([table.rows[direction.sender] for direction in directions], np.int64)[:, None]
    numbers = table.best[rows, at]
    verdict = np.array([verdicts[configs[d.sender].exports[d.key], d.families][at] for d in directions])
    offered = (table.cost[rows, at] < UNREACHED) & (verdict != DENIED) & ~_looped(table, configs, directions, numbers)
    usable = offered
    if any(_keeps_next_hop(configs, direction) or direction.internal for direction in directions):
        offered = offered & _reflected(table, configs, directions, numbers)
        usable = offered & _resolvable(configs, directions, table.cost[rows, at])
    return _exported(table, configs, directions, verdict, Announced(offered, usable, numbers))


def _looped(table: Routes, configs: Configs, directions: Sequence[Direction], numbers: Numbers) -> NDArray[np.bool_]:
    """Whether the receiver's AS number is in the path."""
    receivers = [configs[direction.receiver].asn or 0 for direction in directions]
    contains = {asn: table.tables.attributes.containing(asn) for asn in set(receivers)}
    if len(contains) == 1:
        return np.asarray(contains[receivers[0]][numbers])
    return np.asarray([contains[asn][row] for asn, row in zip(receivers, numbers, strict=True)])


def _keeps_next_hop(configs: Configs, direction: Direction) -> bool:
    """Whether the receiver is told the next hop that the sender uses, not the sender itself."""
    next_hop = configs[direction.sender].neighbors[direction.key].next_hop
    return next_hop is NextHop.UNCHANGED or (direction.internal and next_hop is NextHop.DEFAULT)


def _resolvable(configs: Configs, directions: Sequence[Direction], costs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the receiver has a route to the next hop: only to the sender, which it is of its own routes at least."""
    kept = np.array([_keeps_next_hop(configs, direction) for direction in directions])
    return np.asarray(~kept[:, None] | (costs == 0))


def _reflected(table: Routes, configs: Configs, directions: Sequence[Direction], numbers: Numbers) -> NDArray[np.bool_]:
    """Whether routes from inside an AS may be passed on in it: from clients to all, from the others to clients."""
    free = np.array([not d.internal or configs[d.sender].neighbors[d.key].reflector_client for d in directions], bool)
    return free[:, None] | table.tables.attributes.for_all_internal(numbers)


def _exported(
    table: Routes,
    configs: Configs,
    directions: Sequence[Direction],
    verdict: NDArray[np.int32],
    found: Announced,
) -> Announced:
    """The announcements after the settings and the other conditions of the export filters."""
    attributes = table.tables.attributes
    numbers, special = found.numbers, found.offered & (verdict != ACCEPTED)
    if attributes.has_med:
        external = np.array([not direction.internal for direction in directions])[:, None]
        numbers = np.where(external, attributes.without_med(numbers), numbers)
    if not special.any():
        return Announced(found.offered, found.usable, numbers)
    asn = np.array([configs[direction.sender].asn or 0 for direction in directions], np.int64)
    after = table.tables.policies.apply(verdict[special], numbers[special], attributes, asn[np.nonzero(special)[0]])
    permitted, changed = np.ones_like(special), numbers.copy()
    permitted[special], changed[special] = after != REJECTED, np.maximum(after, 0)
    return Announced(found.offered & permitted, found.usable & permitted, changed)


def _counted(table: Routes, configs: Configs, name: str) -> dict[str, SessionCounts]:
    peers = table.peers.get(name, ())
    if not peers:
        return {}
    at, verdicts = np.arange(len(table.groups.keys)), Verdicts(table.groups)
    into = [Direction(peer.device, peer.peer_key, name, peer.families, peer.internal) for peer in peers]
    out = [Direction(name, peer.key, peer.device, peer.families, peer.internal) for peer in peers]
    received = announced(table, configs, into, at, verdicts).offered
    sent = announced(table, configs, out, at, verdicts).offered
    installed = {peer.link: _installed(table, name, peer.link) for peer in peers}
    sizes = {
        (family, flag): table.groups.sizes * (table.groups.bits == bits) for family, (flag, bits) in FAMILIES.items()
    }
    return {
        peer.key: {
            family: PrefixCounts(int(received[place] @ size), int(sent[place] @ size), int(installed[peer.link] @ size))
            for (family, flag), size in sizes.items()
            if flag & peer.families
        }
        for place, peer in enumerate(peers)
    }


def _installed(table: Routes, name: str, link: int) -> NDArray[np.bool_]:
    """(group,) whether a switch uses an egress link."""
    hops = table.hops[table.rows[name]]
    using = [number for number in np.unique(hops).tolist() if link in table.tables.hops.links[number]]
    return np.asarray(np.isin(hops, using))
