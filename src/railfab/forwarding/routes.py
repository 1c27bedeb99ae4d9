"""BGP: which routes every switch has, and over which next hops.

A switch's best path to a group of prefixes is the shortest AS path that its peers announce to it; peers at equal
length are equal-cost next hops (multipath with AS-path relax). The routes are the one stable state of these equations,
and are reached by computing switches again until none differs: after a change only those that it concerns. A route of
length k rests on routes of length k - 1, down to an originator, so there is exactly one stable state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.interning import NO_HOPS, NO_PATH, AsPaths, NextHopGroups
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import Configs, PortStates
from railfab.forwarding.prefixes import NO_GROUPS, Connected, Policies, Prefix, PrefixGroups, prefix_groups
from railfab.forwarding.sessions import Sessions

Peers = tuple[tuple[str, int], ...]
"""The established peers of a switch and its egress link to each, in the order of its interfaces."""

UNREACHED = np.int16(30_000)
"""Distance where there is no route."""

MOST_ROUNDS = 8
"""After this many rounds the routes that still change are computed from their originators again.

Only routes whose path to an originator is gone take that long: switches offer them to each other along ever longer
paths. A change in a fabric of three tiers settles in four rounds.
"""

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


def routes(
    links: LinkTable,
    configs: Configs,
    ports: PortStates,
    sessions: Sessions,
    nodes: Collection[str],
    before: Routes,
    before_configs: Configs,
) -> Routes:
    """The routes after a change. nodes: those with another configuration, port or session than before.

    The same object as before when no route and no number of prefixes differs.
    """
    connected = _connected(links, configs, ports, nodes, before.connected)
    peers = _peers(links, configs, sessions, nodes, before.peers)
    groups = before.groups
    if connected is not before.connected or _policies(configs) != _policies(before_configs):
        groups = prefix_groups(connected, before.tables.policies, _policies(configs))
    speakers = {name for name in nodes if _speaker(configs.get(name)) != _speaker(before_configs.get(name))}
    speakers |= {name for name in nodes if peers.get(name) != before.peers.get(name)}
    announcers = {name for name in nodes if _announcer(configs.get(name)) != _announcer(before_configs.get(name))}
    if not speakers and not announcers and groups is before.groups:
        return before
    draft, origins = _draft(before, connected, peers, groups)
    convergence = _Convergence(draft, configs)
    convergence.mark_origins(origins)
    convergence.mark(speakers | {peer for name in announcers for peer, _ in peers.get(name, ())})
    convergence.run()
    if np.array_equal(groups.sizes, before.groups.sizes):
        touched = convergence.computed
        draft.counts.update({name: held for name, held in before.counts.items() if name not in touched})
    return draft


def _policies(configs: Configs) -> tuple[int, ...]:
    used = {number for config in configs.values() for number in (config.import_policy, config.export_policy)}
    return tuple(sorted(used))


def _connected(
    links: LinkTable, configs: Configs, ports: PortStates, nodes: Iterable[str], before: Connected
) -> Connected:
    """The loopbacks, and the subnets of numbered ports that are up. The same object when nothing differs."""
    fresh = {name: _own_prefixes(links, configs[name], ports) if name in configs else None for name in nodes}
    if all(before.get(name) == own for name, own in fresh.items()):
        return before
    kept = {**before, **fresh}
    return {name: own for name, own in sorted(kept.items()) if own is not None}


def _own_prefixes(links: LinkTable, config: SwitchConfig, ports: PortStates) -> dict[Prefix, int | None]:
    name = config.model.name
    own: dict[Prefix, int | None] = {(int(config.model.loopback), 32): None}
    for interface, prefix in config.subnets:
        state = ports.get(name, {}).get(interface)
        if state is not None and state.oper_up:
            own[prefix] = links.egress[name, interface]
    return own


def _peers(
    links: LinkTable, configs: Configs, sessions: Sessions, nodes: Iterable[str], before: Mapping[str, Peers]
) -> Mapping[str, Peers]:
    """The established peers. Of a switch that has the same as before, the same object."""
    found = dict(before)
    for name in nodes:
        if name not in configs:
            found.pop(name, None)
            continue
        places = configs[name].places
        up = sorted(
            (places.get(interface, len(places)), session.peer_device or "", links.egress[name, interface])
            for interface, session in sessions[name].items()
            if session.established
        )
        fresh = tuple((peer, link) for _, peer, link in up)
        if found.get(name) != fresh:
            found[name] = fresh
    return found


def _draft(
    before: Routes, connected: Connected, peers: Mapping[str, Peers], groups: PrefixGroups
) -> tuple[Routes, list[tuple[int, set[str]]]]:
    """A copy to converge in, with a column for each group, and the columns whose originators differ, with these.

    A group takes over the routes of the group that its first prefix was in: they are where its own are reached from.
    """
    old = np.array([before.groups.numbers.get(prefix, -1) for prefix in groups.examples], np.int64)
    known = np.flatnonzero(old >= 0)
    shape = (len(before.rows), len(old))
    distance = np.full(shape, UNREACHED, np.int16)
    path, hops = np.full(shape, NO_PATH, np.int32), np.full(shape, NO_HOPS, np.int32)
    distance[:, known] = before.distance[:, old[known]]
    path[:, known], hops[:, known] = before.path[:, old[known]], before.hops[:, old[known]]
    draft = replace(
        before, connected=connected, groups=groups, peers=peers, distance=distance, path=path, hops=hops, counts={}
    )
    differing = [
        (column, set(names).symmetric_difference(before.groups.keys[place][0] if place >= 0 else ()))
        for column, ((names, _), place) in enumerate(zip(groups.keys, old.tolist(), strict=True))
        if place < 0 or names != before.groups.keys[place][0]
    ]
    return draft, differing


class _Convergence:
    """Computes switches again until none differs, in the arrays of a draft. computed: the switches that were."""

    def __init__(self, draft: Routes, configs: Configs) -> None:
        self._draft, self._configs = draft, configs
        self._count = len(draft.groups.keys)
        self._permits = {number: draft.groups.permitted_by(number) for number in _policies(configs)}
        self._origins = self._originated()
        self._dirty: dict[str, Columns] = {}
        self.computed: set[str] = set()

    def _originated(self) -> dict[str, Columns]:
        """By switch, the groups that it originates."""
        columns: dict[str, list[int]] = defaultdict(list)
        for column, (names, _) in enumerate(self._draft.groups.keys):
            for name in names:
                columns[name].append(column)
        return {name: self._only(own) for name, own in columns.items()}

    def _only(self, columns: list[int]) -> Columns:
        found = np.zeros(self._count, bool)
        found[columns] = True
        return found

    def mark(self, names: Iterable[str]) -> None:
        """Have all routes of these switches computed."""
        for name in names:
            self._mark(name, np.ones(self._count, bool))

    def mark_origins(self, differing: Iterable[tuple[int, set[str]]]) -> None:
        """Have these columns of switches that became or ceased to be originators computed."""
        columns: dict[str, list[int]] = defaultdict(list)
        for column, names in differing:
            for name in names:
                columns[name].append(column)
        for name, own in columns.items():
            self._mark(name, self._only(own))

    def run(self) -> None:
        """Compute until nothing differs."""
        for _ in range(MOST_ROUNDS):
            if not self._round():
                return
        self._restart()
        while self._round():
            pass

    def _mark(self, name: str, columns: Columns) -> None:
        if columns.any():
            held = self._dirty.get(name)
            self._dirty[name] = columns if held is None else held | columns

    def _round(self) -> bool:
        """Compute every switch that is marked, and mark the peers of those that differ."""
        dirty, self._dirty = self._dirty, {}
        for name, columns in dirty.items():
            self.computed.add(name)
            differs = self._compute(name, columns)
            if differs is not None:
                for peer, _ in self._draft.peers.get(name, ()):
                    self._mark(peer, differs)
        return bool(self._dirty)

    def _restart(self) -> None:
        """Drop the routes that still change, everywhere, and have their originators announce them."""
        columns = np.zeros(self._count, bool)
        for marked in self._dirty.values():
            columns |= marked
        draft = self._draft
        draft.distance[:, columns], draft.path[:, columns], draft.hops[:, columns] = UNREACHED, NO_PATH, NO_HOPS
        self._dirty = {name: own & columns for name, own in self._origins.items() if (own & columns).any()}
        self.computed.update(draft.rows)

    def _compute(self, name: str, columns: Columns) -> Columns | None:
        """Compute a switch's routes of these groups; the groups whose distance or path differs, None for none."""
        draft, row = self._draft, self._draft.rows[name]
        at = np.flatnonzero(columns)
        distance, path, hops = self._best(name, at)
        own = self._origins.get(name)
        if own is not None:
            mine = own[at]
            distance[mine], path[mine], hops[mine] = 0, NO_PATH, NO_HOPS
        differs = (distance != draft.distance[row, at]) | (path != draft.path[row, at])
        draft.distance[row, at], draft.path[row, at], draft.hops[row, at] = distance, path, hops
        if not differs.any():
            return None
        result = np.zeros(self._count, bool)
        result[at[differs]] = True
        return result

    def _best(self, name: str, at: NDArray[np.int64]) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int32]]:
        """Best distance, path and next-hop group of the groups in these columns, from what the peers announce."""
        draft, config, peers = self._draft, self._configs.get(name), self._draft.peers.get(name, ())
        none = np.full(len(at), UNREACHED), np.full(len(at), NO_PATH, np.int32), np.full(len(at), NO_HOPS, np.int32)
        if config is None or not peers:
            return none
        offered, paths = announced(draft, self._configs, name, at, self._permits)
        offers = np.where(offered, draft.distance[_peer_rows(draft, peers), at] + np.int16(1), UNREACHED)
        offers[:, ~self._permits[config.import_policy][at]] = UNREACHED
        distance = offers.min(axis=0)
        members = (offers == distance) & (distance < UNREACHED)
        if len(peers) > config.max_paths:
            members &= np.cumsum(members, axis=0) <= config.max_paths
        reached = np.flatnonzero(distance < UNREACHED)
        path = none[1]
        if len(reached):
            first = members[:, reached].argmax(axis=0)
            asn = np.array([self._configs[peer].asn for peer, _ in peers], np.int64)
            path[reached] = draft.tables.paths.prepend(asn[first], paths[first, reached])
        links = np.array([link for _, link in peers], np.int64)
        return distance, path, draft.tables.hops.numbers(members, links)


def _speaker(config: SwitchConfig | None) -> tuple[int, int, int] | None:
    """What a switch's own routes depend on, beside its peers."""
    return None if config is None else (config.asn, config.import_policy, config.max_paths)


def _announcer(config: SwitchConfig | None) -> tuple[int, int] | None:
    """What the routes of a switch's peers depend on."""
    return None if config is None else (config.asn, config.export_policy)


def _peer_rows(table: Routes, peers: Peers) -> NDArray[np.int64]:
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
    rows = _peer_rows(table, peers)
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
