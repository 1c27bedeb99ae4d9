"""Tables of AS paths and next-hop groups: each distinct one is stored once and named by its number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_PATH = 0
"""Number of the empty AS path, that of an originator."""
NO_HOPS = 0
"""Number of the empty next-hop group."""
_FIRST_ROWS, _FIRST_COLUMNS = 1024, 8
_PATH_BITS = 31
"""Of a path's number. With the 32 of an AS number (RFC 6793) it fits a signed 64-bit integer."""


class AsPaths:
    """AS paths. A path is an AS number before an earlier path. Only ever grows, so that numbers stay valid."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self._count = 1
        self._members = np.full((_FIRST_ROWS, _FIRST_COLUMNS), -1, np.int64)

    def prepend(self, asn: NDArray[np.int64], path: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of the paths that begin with these AS numbers and go on as these paths."""
        pairs, place = np.unique(asn << _PATH_BITS | path, return_inverse=True)
        numbers = [self._number(pair >> _PATH_BITS, pair & (1 << _PATH_BITS) - 1) for pair in pairs.tolist()]
        return np.array(numbers, np.int32)[place]

    def containing(self, asn: int) -> NDArray[np.bool_]:
        """(path,) whether each path has this AS number in it."""
        return np.asarray((self._members[: self._count] == asn).any(axis=1))

    def _number(self, asn: int, path: int) -> int:
        found = self._numbers.get((asn, path))
        if found is None:
            found = self._numbers[asn, path] = self._append(asn, path)
        return found

    def _append(self, asn: int, path: int) -> int:
        number, row = self._count, self._members[path]
        if row[-1] >= 0 or number == len(self._members):
            rows, columns = self._members.shape
            larger = np.full((2 * rows, columns + _FIRST_COLUMNS * bool(row[-1] >= 0)), -1, np.int64)
            larger[:rows, :columns] = self._members
            self._members, row = larger, larger[path]
        self._members[number, 0], self._members[number, 1:] = asn, row[:-1]
        self._count += 1
        return number


class NextHopGroups:
    """Sets of egress links over which a switch spreads traffic. Only ever grows, so that numbers stay valid."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {(): NO_HOPS}
        self.links: list[tuple[int, ...]] = [()]

    def numbers(self, members: NDArray[np.bool_], links: NDArray[np.int64]) -> NDArray[np.int32]:
        """(group,) number of the next-hop group that holds the links of which `members`, (link, group), is true."""
        packed = np.ascontiguousarray(np.packbits(members, axis=0).T)
        rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        found = [self._number(tuple(links[members[:, column]].tolist())) for column in first]
        return np.array(found, np.int32)[place]

    def _number(self, links: tuple[int, ...]) -> int:
        found = self._numbers.get(links)
        if found is None:
            found = self._numbers[links] = len(self.links)
            self.links.append(links)
        return found
