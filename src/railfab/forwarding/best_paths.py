"""The best paths of every switch, computed again where a change concerns them until none differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding.interning import NO_HOPS, NO_PATH
from railfab.forwarding.ports import Configs
from railfab.forwarding.route_table import UNREACHED, Columns, Routes, announced, peer_rows, policies_in_use

MOST_ROUNDS = 8
"""After this many rounds the routes that still change are computed from their originators again.

Only routes whose path to an originator is gone take that long: switches offer them to each other along ever longer
paths. A change in a fabric of three tiers settles in four rounds.
"""


class BestPaths:
    """Computes switches again until none differs, in the arrays of a draft.

    computed: the switches that were computed.
    """

    def __init__(self, draft: Routes, configs: Configs) -> None:
        self._draft, self._configs = draft, configs
        self._count = len(draft.groups.keys)
        self._permits = {number: draft.groups.permitted_by(number) for number in policies_in_use(configs)}
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
        offers = np.where(offered, draft.distance[peer_rows(draft, peers), at] + np.int16(1), UNREACHED)
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
