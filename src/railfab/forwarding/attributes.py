"""Attributes of BGP routes: each distinct combination is stored once and named by its number."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GRACEFUL_SHUTDOWN = "graceful-shutdown"
"""The community of a route that is used only where there is no other (RFC 8326)."""

LENGTH, DRAINED = 1 << 8, 1 << 24
"""Parts of a cost: one AS number of the path, and graceful shutdown. Below them are the hops inside an AS."""

UNREACHED = np.int32(1 << 30)
"""Cost where there is no route."""

NO_PATH = 0
"""Number of the attributes that an originator gives its routes."""

DEFAULT_PREFERENCE = 100
"""Local preference of a route for which no policy sets one (srl_nokia-bgp, local-preference)."""

_FIRST_ROWS, _FIRST_COLUMNS = 1024, 8
_NUMBER_BITS = 31
"""Of a number. With the 32 of an AS number (RFC 6793) it fits a signed 64-bit integer."""

Numbers = NDArray[np.int32]


class Attributes(NamedTuple):
    """Attributes of a route. path: AS numbers, the nearest first. internal: hops since it entered the AS, 0 outside.

    from_client: it came from a client of this route reflector. clusters: of the reflectors that it passed. preference:
    the local preference, which no other AS sees.
    """

    path: tuple[int, ...] = ()
    communities: frozenset[str] = frozenset()
    med: int = 0
    internal: int = 0
    from_client: bool = False
    clusters: frozenset[int] = frozenset()
    preference: int = DEFAULT_PREFERENCE

    @property
    def cost(self) -> int:
        """A switch prefers routes in this order: drained ones last, then by length, internal ones after external."""
        return DRAINED * (GRACEFUL_SHUTDOWN in self.communities) + LENGTH * len(self.path) + self.internal


class RouteAttributes:
    """The distinct attributes. The table only grows, so that numbers stay valid, and only by convergence.

    has_med, has_internal, has_preference: whether any attributes have a MED, come from inside an AS, or have a local
    preference other than the default.
    """

    def __init__(self) -> None:
        self.values: list[Attributes] = []
        self._numbers: dict[Attributes, int] = {}
        self._prepended: dict[tuple[int, int], int] = {}
        self._members = np.full((_FIRST_ROWS, _FIRST_COLUMNS), -1, np.int64)
        self._costs = np.zeros(_FIRST_ROWS, np.int32)
        self._reflected = np.zeros(_FIRST_ROWS, bool)
        self._containing: dict[int, NDArray[np.bool_]] = {}
        self.has_med = self.has_internal = self.has_preference = False
        self.number(Attributes())

    def number(self, attributes: Attributes) -> int:
        """The number of attributes; new ones are appended."""
        found = self._numbers.get(attributes)
        if found is None:
            found = self._numbers[attributes] = self._append(attributes)
        return found

    def costs_outside(self, costs: NDArray[np.int32]) -> NDArray[np.int32]:
        """Costs after a session with another AS, by those before it."""
        return (costs & -LENGTH) + LENGTH if self.has_internal else costs + LENGTH

    def costs(self, numbers: Numbers) -> NDArray[np.int32]:
        return np.asarray(self._costs[numbers])

    def for_all_internal(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Whether routes may be passed on to every internal neighbour: own, external ones, and those of clients."""
        return np.asarray(self._reflected[numbers])

    def meds(self, numbers: Numbers) -> NDArray[np.int64]:
        return np.array([held.med for held in self.values], np.int64)[numbers]

    def preferences(self, numbers: Numbers) -> NDArray[np.int64]:
        return np.array([held.preference for held in self.values], np.int64)[numbers]

    def neighbor_as(self, numbers: Numbers) -> NDArray[np.int64]:
        """The nearest AS number of each path; -1 for a path without any."""
        return np.asarray(self._members[numbers, 0])

    def containing(self, asn: int) -> NDArray[np.bool_]:
        """(number,) whether each path has this AS number in it."""
        count, found = len(self.values), self._containing.get(asn)
        if found is None or len(found) < count:
            found = self._containing[asn] = np.asarray((self._members[:count] == asn).any(axis=1))
        return found

    def external(self, asn: NDArray[np.int64], numbers: Numbers) -> Numbers:
        """Attributes after a session with another AS, by the AS numbers of their senders."""
        pairs, place = np.unique(asn << _NUMBER_BITS | numbers, return_inverse=True)
        found = [self._prepend(pair >> _NUMBER_BITS, pair & (1 << _NUMBER_BITS) - 1) for pair in pairs.tolist()]
        return np.array(found, np.int32)[place]

    def internal(self, numbers: Numbers, *, from_client: bool) -> Numbers:
        """Attributes after a session inside the AS."""
        return self._each(numbers, lambda held: held._replace(internal=held.internal + 1, from_client=from_client))

    def reflected(self, numbers: Numbers, cluster: int) -> Numbers:
        """Attributes after a reflector of this cluster has passed on what it learned inside the AS (RFC 4456)."""
        return self._each(
            numbers, lambda held: held._replace(clusters=held.clusters | {cluster}) if held.internal else held
        )

    def passed(self, numbers: Numbers, cluster: int) -> NDArray[np.bool_]:
        """Whether routes have passed a reflector of this cluster."""
        distinct, place = np.unique(numbers, return_inverse=True)
        found = np.array([cluster in self.values[number].clusters for number in distinct.tolist()], bool)
        return np.asarray(found[place].reshape(numbers.shape))

    def is_internal(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Whether routes come from inside the AS."""
        return np.asarray(self._costs[numbers] % LENGTH != 0)

    def without_med(self, numbers: Numbers) -> Numbers:
        """Attributes before they leave the AS: a MED is for the AS that it was sent to."""
        return self._each(numbers, lambda held: held._replace(med=0)) if self.has_med else numbers

    def _prepend(self, asn: int, number: int) -> int:
        found = self._prepended.get((asn, number))
        if found is None:
            held = self.values[number]
            after = Attributes(path=(asn, *held.path), communities=held.communities, med=held.med)
            found = self._prepended[asn, number] = self.number(after)
        return found

    def _each(self, numbers: Numbers, change: Callable[[Attributes], Attributes]) -> Numbers:
        distinct, place = np.unique(numbers, return_inverse=True)
        changed = np.array([self.number(change(self.values[number])) for number in distinct.tolist()], np.int32)
        return changed[place].reshape(numbers.shape)

    def _append(self, attributes: Attributes) -> int:
        number, length = len(self.values), len(attributes.path)
        self._grow(rows=number + 1, columns=length)
        self._members[number, :length] = attributes.path
        self._costs[number] = attributes.cost
        self._reflected[number] = attributes.from_client or not attributes.internal
        self.has_med |= attributes.med != 0
        self.has_internal |= attributes.internal != 0
        self.has_preference |= attributes.preference != DEFAULT_PREFERENCE
        self.values.append(attributes)
        return number

    def _grow(self, *, rows: int, columns: int) -> None:
        """Make room for at least so many rows and columns."""
        held_rows, held_columns = self._members.shape
        if rows <= held_rows and columns <= held_columns:
            return
        rows = 2 * held_rows if rows > held_rows else held_rows
        columns = columns + _FIRST_COLUMNS if columns > held_columns else held_columns
        members, costs, reflected = (
            np.full((rows, columns), -1, np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, bool),
        )
        members[:held_rows, :held_columns] = self._members
        costs[:held_rows], reflected[:held_rows] = self._costs, self._reflected
        self._members, self._costs, self._reflected = members, costs, reflected
