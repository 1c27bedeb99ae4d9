"""BGP in steps of time: switches compute what they have received by then, and tell their peers. Times in ns."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from railfab.forwarding.attributes import UNREACHED
from railfab.forwarding.best_paths import BestPaths
from railfab.forwarding.peers import Peer, Peers
from railfab.forwarding.pending import PendingUpdates, Programming, Update
from railfab.forwarding.ports import Configs
from railfab.forwarding.route_table import Columns, Routes
from railfab.forwarding.routes import Draft, RoutingInputs, aggregating, drafted, keep_counts
from railfab.units import NS_PER_MS, NS_PER_S

PROCESSING_NS = 10 * NS_PER_MS
"""From a change of a route to the same change at a peer: the update is made, sent and evaluated; an estimate."""

PROGRAMMING_NS = 10 * NS_PER_MS
"""From a route to the hardware, whatever it changes; an estimate."""

PROGRAMMING_PREFIX_NS = NS_PER_MS // 10
"""For each prefix whose next hops change: 10,000 a second, of the order of this class of switch (an estimate)."""

AGGREGATION_NS = 100 * NS_PER_MS
"""From a route to an aggregate that it contributes to; an estimate."""

ADVERTISEMENT_S = 5
"""Least time between two updates to a peer where none is configured (srl_nokia-bgp, minimum-advertisement-interval)."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """Routes after a step, and what follows from them."""

    routes: Routes
    pending: PendingUpdates


def step(
    now: RoutingInputs,
    nodes: Collection[str],
    before: Routes,
    before_configs: Configs,
    pending: PendingUpdates,
    now_ns: int,
) -> Stepped:
    """The routes at this time. nodes: switches with another configuration, port or session than before."""
    due = [update for update in pending.updates if update.due_ns <= now_ns]
    nodes = {*nodes, *aggregating(now, before)}
    if not due and not nodes:
        return _programmed(before, pending, now_ns)
    draft = drafted(now, nodes, before, before_configs, anyway=bool(due))
    if draft is None:
        return _programmed(before, pending, now_ns)
    draft = replace(draft, routes=replace(draft.routes, programmed=_mapped(before, draft)))
    later = [_moved(update, draft) for update in pending.updates if update.due_ns > now_ns]
    best_paths = BestPaths(draft.routes, now.configs, now.hung)
    best_paths.mark_origins(draft.origins)
    best_paths.mark(draft.speakers)
    for update in (_moved(update, draft) for update in due):
        best_paths.mark_columns(update.switch, update.columns)
    differing = best_paths.compute_marked()
    every = draft.routes.every
    differing.update(dict.fromkeys(draft.announcers, every))
    announcing = _Announcing(now.configs, draft.routes, dict(pending.announced_ns), now_ns)
    later += [update for name, columns in differing.items() for update in announcing.updates(name, columns)]
    later += [Update(now_ns + PROCESSING_NS, peer, every) for peer in _new_peers(draft, before)]
    later += [Update(now_ns + AGGREGATION_NS, name, ~every) for name in aggregating(now, draft.routes)]
    keep_counts(draft, before, best_paths.computed)
    programming = [*pending.programming, *_programming(draft.routes, best_paths.computed, now_ns)]
    following = replace(
        pending, updates=tuple(later), programming=tuple(programming), announced_ns=announcing.announced_ns
    )
    return _programmed(draft.routes, following, now_ns)


def _new_peers(draft: Draft, before: Routes) -> set[str]:
    """The peers of sessions that have come up, which receive all routes."""
    return {
        peer
        for name in draft.speakers
        for peer in draft.routes.peers.get(name, Peers()).devices
        if peer not in before.peers.get(name, Peers()).devices
    }


def _mapped(before: Routes, draft: Draft) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """What the hardware has, by the groups of a draft; a group that is new has what its routes say."""
    if draft.routes.groups is before.groups:
        return before.programmed
    known = np.flatnonzero(draft.columns >= 0)
    found = draft.routes.hops.copy()
    found[:, known] = before.programmed[:, draft.columns[known]]
    return found


def _moved(update: Update, draft: Draft) -> Update:
    """An update by the groups of a draft."""
    if len(update.columns) == len(draft.columns) and (draft.columns == np.arange(len(draft.columns))).all():
        return update
    columns = np.zeros(len(draft.columns), bool)
    known = np.flatnonzero(draft.columns >= 0)
    columns[known] = update.columns[draft.columns[known]]
    return update._replace(columns=columns)


@dataclass(slots=True)
class _Announcing:
    """Sends the updates of a step."""

    configs: Configs
    routes: Routes
    announced_ns: dict[tuple[str, str], int]
    now_ns: int

    def updates(self, name: str, columns: Columns) -> Iterator[Update]:
        """What the peers of a switch receive of these groups, and when."""
        config = self.configs.get(name)
        if config is None or config.model.bgp is None:
            return
        lost = columns & (self.routes.cost[self.routes.rows[name]] >= UNREACHED)
        rapid = lost if config.model.bgp.rapid_withdrawal else np.zeros_like(lost)
        peers = {peer.device: peer for peer in self.routes.peers.get(name, Peers()).members}
        for peer in peers.values():
            if rapid.any():
                yield Update(self.now_ns + PROCESSING_NS, peer.device, rapid)
            if (columns & ~rapid).any():
                yield Update(self._next_ns(name, peer), peer.device, columns & ~rapid)

    def _next_ns(self, name: str, peer: Peer) -> int:
        """When the next update can be with a peer; two are apart by the advertisement interval (RFC 4271, 9.2.1.1)."""
        key = name, peer.device
        last_ns = self.announced_ns.get(key)
        if last_ns is not None and last_ns > self.now_ns:
            return last_ns
        due_ns = self.now_ns + PROCESSING_NS
        if last_ns is not None:
            interval_s = self.configs[name].neighbors[peer.key].timers.advertisement_interval_s
            due_ns = max(due_ns, last_ns + (ADVERTISEMENT_S if interval_s is None else interval_s) * NS_PER_S)
        self.announced_ns[key] = due_ns
        return due_ns


def _programming(routes: Routes, computed: Collection[str], now_ns: int) -> Iterator[Programming]:
    """When the hardware of these switches has their routes."""
    for name in computed:
        row = routes.rows[name]
        differing = routes.hops[row] != routes.programmed[row]
        if differing.any():
            prefixes = int(routes.groups.sizes[differing].sum())
            yield Programming(now_ns + PROGRAMMING_NS + prefixes * PROGRAMMING_PREFIX_NS, name)


def _programmed(routes: Routes, pending: PendingUpdates, now_ns: int) -> Stepped:
    """Have the hardware of switches take what is due."""
    due = {held.switch for held in pending.programming if held.due_ns <= now_ns}
    rows = [routes.rows[name] for name in due]
    rows = [row for row in rows if not np.array_equal(routes.programmed[row], routes.hops[row])]
    if due:
        left = tuple(held for held in pending.programming if held.due_ns > now_ns)
        pending = replace(pending, programming=left)
    if rows:
        found = routes.programmed.copy()
        found[rows] = routes.hops[rows]
        routes = replace(routes, programmed=found)
    return Stepped(routes, pending)
