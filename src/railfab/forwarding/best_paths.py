"""The best paths of every switch, computed again where a change concerns them until none differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from railfab.device import BgpSpeaker
from railfab.forwarding.announcements import Verdicts, announced
from railfab.forwarding.attributes import LENGTH, NO_PATH, UNREACHED, Numbers, RouteAttributes
from railfab.forwarding.next_hop_groups import NO_HOPS
from railfab.forwarding.peers import Peers, inward
from railfab.forwarding.policies import ACCEPTED, DENIED, REJECTED
from railfab.forwarding.ports import Configs
from railfab.forwarding.route_table import Columns, Routes

MOST_ROUNDS = 8
"""After this many rounds the routes that still change are computed from their originators again.

Only routes whose path to an originator is gone take that long: switches offer them to each other along ever longer
paths. A change in a fabric of three tiers settles in four rounds.
"""

MOST_ROUNDS_WITH_PREFERENCES = 64
"""After so many more rounds the routes stay as they are, where policies set local preferences: with these there may be
no stable state (RFC 4264), and switches would change their routes without end.
"""


class BestPaths:
    """Computes switches again until none differs, in the arrays of a draft.

    computed: the switches that were computed. hung: those that are not, whatever they are sent.
    """

    def __init__(self, draft: Routes, configs: Configs, hung: frozenset[str] = frozenset()) -> None:
        self._draft, self._configs, self._hung = draft, configs, hung
        self._count = len(draft.groups.keys)
        self._verdicts = Verdicts(draft.groups)
        self._origins = self._originated()
        self._dirty: dict[str, Columns] = {}
        self.computed: set[str] = set()

    def _originated(self) -> dict[str, Columns]:
        """By switch, the groups that it originates."""
        columns: dict[str, list[int]] = defaultdict(list)
        for column, (names, _, _) in enumerate(self._draft.groups.keys):
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
            self.mark_columns(name, np.ones(self._count, bool))

    def mark_origins(self, differing: Iterable[tuple[int, set[str]]]) -> None:
        """Have these columns of switches that became or ceased to be originators computed."""
        columns: dict[str, list[int]] = defaultdict(list)
        for column, names in differing:
            for name in names:
                columns[name].append(column)
        for name, own in columns.items():
            self.mark_columns(name, self._only(own))

    def run(self) -> None:
        """Compute until nothing differs."""
        for _ in range(MOST_ROUNDS):
            if not self._round():
                return
        self._restart()
        rounds = MOST_ROUNDS_WITH_PREFERENCES if self._draft.tables.attributes.has_preference else None
        while self._round() and rounds != 0:
            rounds = None if rounds is None else rounds - 1

    def mark_columns(self, name: str, columns: Columns) -> None:
        """Have these groups of a switch computed."""
        if columns.any() and name not in self._hung:
            held = self._dirty.get(name)
            self._dirty[name] = columns if held is None else held | columns

    def compute_marked(self) -> dict[str, Columns]:
        """Compute every switch that is marked; by switch, the groups whose announcements differ."""
        dirty, self._dirty = self._dirty, {}
        self.computed.update(dirty)
        found = {name: self._compute(name, columns) for name, columns in dirty.items()}
        return {name: differs for name, differs in found.items() if differs is not None}

    def _round(self) -> bool:
        """Compute every switch that is marked, and mark the peers of those that differ."""
        for name, differs in self.compute_marked().items():
            for peer in self._draft.peers.get(name, Peers()).devices:
                self.mark_columns(peer, differs)
        return bool(self._dirty)

    def _restart(self) -> None:
        """Drop the routes that still change, everywhere, and have their originators announce them."""
        columns = np.zeros(self._count, bool)
        for marked in self._dirty.values():
            columns |= marked
        draft = self._draft
        draft.cost[:, columns], draft.best[:, columns], draft.hops[:, columns] = UNREACHED, NO_PATH, NO_HOPS
        draft.bandwidth[:, columns] = 0
        self._dirty = {name: own & columns for name, own in self._origins.items() if (own & columns).any()}
        self.computed.update(draft.rows)

    def _compute(self, name: str, columns: Columns) -> Columns | None:
        """Compute a switch's routes of these groups; the groups whose cost or attributes differ, None for none."""
        draft, row = self._draft, self._draft.rows[name]
        at = np.flatnonzero(columns)
        cost, best, hops, bandwidth = self._best(name, at)
        own = self._origins.get(name)
        if own is not None:
            mine = own[at]
            cost[mine], best[mine], hops[mine], bandwidth[mine] = 0, NO_PATH, NO_HOPS, 0
        differs = (cost != draft.cost[row, at]) | (best != draft.best[row, at])
        if draft.tables.policies.sets_link_bandwidth:
            differs |= bandwidth != draft.bandwidth[row, at]
            differs |= draft.tables.hops.sizes(hops) != draft.tables.hops.sizes(draft.hops[row, at])
        draft.cost[row, at], draft.best[row, at], draft.hops[row, at] = cost, best, hops
        draft.bandwidth[row, at] = bandwidth
        if not differs.any():
            return None
        result = np.zeros(self._count, bool)
        result[at[differs]] = True
        return result

    def _best(self, name: str, at: NDArray[np.int64]) -> tuple[NDArray[np.int32], Numbers, NDArray[np.int32], Numbers]:
        """Cost, attributes, next-hop group and bandwidth of the best routes to these groups, by what peers announce."""
        draft, peers = self._draft, self._draft.peers.get(name, Peers())
        config = self._configs.get(name)
        bgp = config.model.bgp if config else None
        best, count = np.full(len(at), NO_PATH, np.int32), len(at)
        if bgp is None or not peers.members:
            return np.full(count, UNREACHED), best, np.full(count, NO_HOPS, np.int32), np.zeros(count, np.int32)
        received = self._received(name, peers, at)
        costs = received.preferred_costs()
        cost = costs.min(axis=0)
        members = (costs == cost) & (cost < UNREACHED)
        reached = np.flatnonzero(cost < UNREACHED)
        members = self._equal(received, members, bgp, peers.router_ids)
        if len(reached):
            best[reached] = received.at(members[:, reached].argmax(axis=0), reached)
        members = _bounded(members, bgp, cost)
        if received.bandwidth is None:
            return cost, best, draft.tables.hops.numbers(members, peers.links), np.zeros(count, np.int32)
        weights = np.where(members, received.bandwidth, 0)
        equal = (members & (weights == 0)).any(axis=0)
        hops = draft.tables.hops.weighted_numbers(np.where(equal, members, weights).astype(np.int32), peers.links)
        return cost, best, hops, weights.sum(axis=0, dtype=np.int32)

    def _received(self, name: str, peers: Peers, at: NDArray[np.int64]) -> _Received:
        """The announcements to a switch after its import filters."""
        draft, config = self._draft, self._configs[name]
        announcement = announced(draft, inward(self._configs, name, peers), at, self._verdicts)
        attributes = draft.tables.attributes
        verdict = self._verdicts.of([(config.imports[peer.key], peer.received) for peer in peers.members], at)
        usable = announcement.offered & (verdict != DENIED)
        if peers.has_kept_next_hops:
            usable &= ~peers.keep_next_hop[:, None] | (draft.cost[peers.rows[:, None], at] == 0)
        costs = attributes.costs_outside(announcement.costs)
        if peers.has_internal:
            costs = np.where(peers.internal[:, None], announcement.costs + 1, costs)
        costs = np.where(usable, costs, UNREACHED)
        received = _Received(attributes, peers, announcement.numbers, costs, announcement.bandwidth)
        if (verdict > ACCEPTED).any():
            special = usable & (verdict > ACCEPTED)
            verdict = np.broadcast_to(verdict, special.shape)
            rows, columns = np.nonzero(special)
            asn = np.full(len(rows), config.asn or 0, np.int64)
            entered = received.at(rows, columns)
            received.replace(special, draft.tables.policies.apply(verdict[special], entered, attributes, asn))
        return received

    def _equal(self, received: _Received, members: Columns, bgp: BgpSpeaker, router_ids: NDArray[np.int64]) -> Columns:
        """The members between which the AS path and the MED do not decide.

        Where they may only be of one neighbour AS, it is that of the best one: the peer with the lowest router ID
        (RFC 4271, 9.1.2.2 f).
        """
        attributes = self._draft.tables.attributes
        if not members.any() or (bgp.multiple_as and not attributes.has_med):
            return members
        numbers = np.full(members.shape, NO_PATH, np.int32)
        numbers[members] = received.at(*np.nonzero(members))
        neighbor_as = attributes.neighbor_as(numbers)
        if attributes.has_med:
            members = _lowest_med(members, neighbor_as, attributes.meds(numbers))
        if not bgp.multiple_as:
            lowest = np.where(members, router_ids[:, None], np.iinfo(np.int64).max).argmin(axis=0)
            members = members & (neighbor_as == np.take_along_axis(neighbor_as, lowest[None, :], axis=0))
        return members


class _Received:
    """Routes as they reach a switch. Axes (peer, group). costs: `UNREACHED` where there is none. bandwidth: the link
    bandwidths, 0 for none; None if no policy sets any.
    """

    def __init__(
        self,
        attributes: RouteAttributes,
        peers: Peers,
        numbers: Numbers,
        costs: NDArray[np.int32],
        bandwidth: NDArray[np.int32] | None,
    ) -> None:
        self._attributes, self._peers, self._numbers, self.costs = attributes, peers, numbers, costs
        self.bandwidth = bandwidth
        self._imported: Numbers | None = None

    def at(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Numbers:
        """Attributes of the routes at these places."""
        if self._imported is None:
            return self._entered(rows, self._numbers[rows, columns])
        imported = self._imported[rows, columns]
        return np.where(imported != REJECTED, imported, self._entered(rows, self._numbers[rows, columns]))

    def preferred_costs(self) -> NDArray[np.int32]:
        """(peer, group) the costs; `UNREACHED` also where another peer's route has a higher local preference."""
        usable = self.costs < UNREACHED
        if not self._attributes.has_preference or not usable.any():
            return self.costs
        preferences = np.full(usable.shape, -1, np.int64)
        preferences[usable] = self._attributes.preferences(self.at(*np.nonzero(usable)))
        return np.where(preferences == preferences.max(axis=0), self.costs, UNREACHED)

    def replace(self, places: Columns, numbers: Numbers) -> None:
        """Take these attributes at these places; `REJECTED` leaves no route."""
        self._imported = np.full(places.shape, REJECTED, np.int32)
        self._imported[places] = numbers
        costs = self._attributes.costs(np.maximum(numbers, NO_PATH))
        self.costs[places] = np.where(numbers == REJECTED, UNREACHED, costs)

    def _entered(self, rows: NDArray[np.int64], numbers: Numbers) -> Numbers:
        """Attributes after the session with these peers."""
        peers = self._peers
        if not peers.has_internal:
            return self._attributes.external(peers.asn[rows], numbers)
        found = np.zeros(len(rows), np.int32)
        for client in (False, True):
            inside = peers.internal[rows] & (peers.from_client[rows] == client)
            found[inside] = self._attributes.internal(numbers[inside], from_client=client)
        outside = ~peers.internal[rows]
        found[outside] = self._attributes.external(peers.asn[rows][outside], numbers[outside])
        return found


def _lowest_med(members: Columns, neighbor_as: NDArray[np.int64], meds: NDArray[np.int64]) -> Columns:
    """The members without those that another one of the same neighbour AS has a lower MED than."""
    result = members.copy()
    for asn in np.unique(neighbor_as[members]):
        same = members & (neighbor_as == asn)
        lowest = np.where(same, meds, np.iinfo(np.int64).max).min(axis=0)
        result &= ~same | (meds == lowest)
    return result


def _bounded(members: Columns, bgp: BgpSpeaker, cost: NDArray[np.int32]) -> Columns:
    """The first members, as many as a switch uses."""
    most = np.where(cost % LENGTH == 0, bgp.max_paths, bgp.max_paths_internal)
    if (members.sum(axis=0, dtype=np.int32) <= most).all():
        return members
    return members & (np.cumsum(members, axis=0) <= most)
