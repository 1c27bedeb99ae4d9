"""The announcements of BGP sessions: which prefix groups a sender announces to a receiver, with which attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding.attributes import UNREACHED, Numbers, RouteAttributes
from railfab.forwarding.peers import FAMILIES, Directions
from railfab.forwarding.policies import ACCEPTED, ADDED, COUNTED, DENIED
from railfab.forwarding.prefix_groups import PrefixGroups
from railfab.forwarding.route_table import Routes


class Best(NamedTuple):
    """Best routes of senders: numbers of their attributes, and costs, (session, group), and the verdicts on them."""

    numbers: Numbers
    costs: NDArray[np.int32]
    verdict: NDArray[np.int32]


class Announced(NamedTuple):
    """Axes (session, group). offered: whether the sender announces the groups.

    numbers, costs: with which attributes, as they leave it, its AS number not yet prepended, and their cost.
    bandwidth: the link bandwidths, 0 for none; None if no policy sets any.
    """

    offered: NDArray[np.bool_]
    numbers: Numbers
    costs: NDArray[np.int32]
    bandwidth: NDArray[np.int32] | None


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
    """The announcements of the groups in these columns, with their attributes. Adds to the tables."""
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
    return Announced(passing, numbers, costs, _bandwidth(table, directions, at, best, passing))


def _bandwidth(
    table: Routes, directions: Directions, at: NDArray[np.int64], best: Best, passing: NDArray[np.bool_]
) -> NDArray[np.int32] | None:
    """(session, group) the link bandwidths that are announced, 0 for none; None if no policy sets any.

    A switch announces only a value that its policy sets.
    """
    policies = table.tables.policies
    if not policies.sets_link_bandwidth:
        return None
    verdicts = np.broadcast_to(best.verdict, passing.shape)[passing]
    kinds = policies.link_bandwidths(verdicts, best.numbers[passing], table.tables.attributes)
    rows, columns = np.nonzero(passing)
    place = directions.rows[rows], at[columns]
    next_hops = np.maximum(table.tables.hops.sizes(table.hops[place]), 1)
    found = np.zeros(passing.shape, np.int32)
    found[passing] = np.select([kinds == COUNTED, kinds == ADDED], [next_hops, table.bandwidth[place]], 0)
    return found


def best_of(table: Routes, directions: Directions, at: NDArray[np.int64], verdicts: Verdicts) -> Best:
    """The best routes of the senders to the groups in these columns."""
    numbers, costs = (_cells(held, directions.rows, at) for held in (table.best, table.cost))
    return Best(numbers, costs, verdicts.of(directions.filters, at))


def _cells(table: NDArray[np.int32], rows: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int32]:
    """(row, column) a copy of some rows and columns of a table: whole rows where all columns are wanted."""
    chosen = table[rows]
    return chosen if len(at) == table.shape[1] else chosen[:, at]


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
