"""The routes of all switches, as arrays over switches and prefix groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding.interning import NO_HOPS, AsPaths, NextHopGroups
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import Configs
from railfab.forwarding.prefixes import NO_GROUPS, Connected, Policies, PrefixGroups

Peers = tuple[tuple[str, int], ...]
"""The established peers of a switch and its egress link to each, in the order of its interfaces."""

UNREACHED = np.int16(30_000)
"""Distance where there is no route."""

Columns = NDArray[np.bool_]
"""(group,) which groups are meant."""


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """Prefixes of one session."""

    received: int
    sent: int
    installed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """What every state of a fabric shares: numbered policies, AS paths and next-hop groups."""

    policies: Policies = field(default_factory=Policies)
    paths: AsPaths = field(default_factory=AsPaths)
    hops: NextHopGroups = field(default_factory=NextHopGroups)


@dataclass(frozen=True, kw_only=True, eq=False)
class Routes:
    """Routes of all switches. Axes of the arrays: (switch, group).

    connected: per switch, the egress link of each of its own prefixes (None for the loopback).
    rows: row of each switch. distance: length of the best AS path. path, hops: its number, and the number of the
    next-hop group, in `tables`. counts: numbers of prefixes by switch, as far as they were asked for.
    """

    tables: Tables
    rows: Mapping[str, int]
    connected: Connected
    groups: PrefixGroups
    peers: Mapping[str, Peers]
    distance: NDArray[np.int16]
    path: NDArray[np.int32]
    hops: NDArray[np.int32]
    counts: dict[str, Mapping[str, SessionCounts]]

    def egress(self, switch: str, address: IPv4Address) -> tuple[int, ...]:
        """The links by which a packet to this address may leave; none without a route, or to the switch itself."""
        own, row = self.connected.get(switch, {}), self.rows[switch]
        for length in self.groups.lengths:
            prefix = (int(address) >> (32 - length) << (32 - length), length)
            if prefix in own:
                link = own[prefix]
                return () if link is None else (link,)
            group = self.groups.numbers.get(prefix)
            if group is not None and (number := int(self.hops[row, group])) != NO_HOPS:
                return self.tables.hops.links[number]
        return ()

    def session_counts(self, links: LinkTable, configs: Configs, switch: str) -> Mapping[str, SessionCounts]:
        """Prefixes that each established session of a switch receives, sends and installs, by interface."""
        found = self.counts.get(switch)
        if found is None:
            found = self.counts[switch] = _counted(self, links, configs, switch)
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
        distance=np.zeros(shape, np.int16),
        path=np.zeros(shape, np.int32),
        hops=np.zeros(shape, np.int32),
        counts={},
    )


def policies_in_use(configs: Configs) -> tuple[int, ...]:
    """The numbers of the policies that a switch imports or exports by."""
    used = {number for config in configs.values() for number in (config.import_policy, config.export_policy)}
    return tuple(sorted(used))


def peer_rows(table: Routes, peers: Peers) -> NDArray[np.int64]:
    """(peer, 1) rows of these peers."""
    return np.array([table.rows[peer] for peer, _ in peers], np.int64)[:, None]


def announced(
    table: Routes,
    configs: Configs,
    name: str,
    at: NDArray[np.int64],
    permits: Mapping[int, Columns],
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """(peer, group) whether each peer announces the groups in these columns to a switch, and over which AS path.

    A peer announces what it has, its export policy permits, and does not have the switch's AS number in its path.
    """
    peers = table.peers[name]
    rows = peer_rows(table, peers)
    paths = table.path[rows, at]
    looped = table.tables.paths.containing(configs[name].asn)[paths]
    exports = np.array([permits[configs[peer].export_policy][at] for peer, _ in peers])
    return (table.distance[rows, at] < UNREACHED) & exports & ~looped, paths


def _counted(table: Routes, links: LinkTable, configs: Configs, name: str) -> dict[str, SessionCounts]:
    peers = table.peers.get(name, ())
    if not peers:
        return {}
    at = np.arange(len(table.groups.keys))
    permits = _Permits(table.groups)
    offered, _ = announced(table, configs, name, at, permits)
    sizes, row = table.groups.sizes, table.rows[name]
    received = offered @ sizes
    looped = [table.tables.paths.containing(configs[peer].asn) for peer, _ in peers]
    has = (table.distance[row] < UNREACHED) & permits[configs[name].export_policy]
    sent = np.array([(has & ~loops[table.path[row]]) @ sizes for loops in looped])
    installed = _installed(table, name)
    return {
        links.keys[link][1]: SessionCounts(int(received[place]), int(sent[place]), installed.get(link, 0))
        for place, (_, link) in enumerate(peers)
    }


def _installed(table: Routes, name: str) -> dict[int, int]:
    """Prefixes that use each egress link of a switch."""
    totals = np.bincount(table.hops[table.rows[name]], weights=table.groups.sizes)
    found: dict[int, int] = {}
    for number in np.flatnonzero(totals):
        for link in table.tables.hops.links[number]:
            found[link] = found.get(link, 0) + int(totals[number])
    return found


class _Permits(dict[int, Columns]):
    """Columns that each policy permits, computed when first asked for."""

    def __init__(self, groups: PrefixGroups) -> None:
        super().__init__()
        self._groups = groups

    def __missing__(self, number: int) -> Columns:
        found = self[number] = self._groups.permitted_by(number)
        return found
