"""Groups of next hops: each distinct one is stored once and named by its number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_HOPS = 0
"""Number of the empty next-hop group."""


class NextHopGroups:
    """Egress links over which a switch spreads traffic, each as often as its weight.

    It only grows, so that numbers stay valid.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {(): NO_HOPS}
        self.links: list[tuple[int, ...]] = [()]
        self._sizes = np.zeros(1, np.int32)

    def sizes(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """The number of links of groups, whatever their weights."""
        sizes = self._sizes
        if grown := [len(set(links)) for links in self.links[len(sizes) :]]:
            self._sizes = sizes = np.concatenate([sizes, np.array(grown, np.int32)])
        return np.asarray(sizes[numbers])

    def numbers(self, members: NDArray[np.bool_], links: NDArray[np.int64]) -> NDArray[np.int32]:
        """(group,) number of the next-hop group that holds the links of which `members`, (link, group), is true."""
        packed = np.ascontiguousarray(np.packbits(members, axis=0).T)
        rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        found = [self._number(_distinct(links[members[:, column]])) for column in first]
        return np.array(found, np.int32)[place]

    def weighted_numbers(self, weights: NDArray[np.int32], links: NDArray[np.int64]) -> NDArray[np.int32]:
        """(group,) number of the next-hop group with these weights, (link, group); a link of weight 0 is not in it."""
        divisor = np.maximum(np.gcd.reduce(weights, axis=0), 1)
        rows, place = np.unique((weights // divisor).T, axis=0, return_inverse=True)
        found = [
            self._number(tuple(np.repeat(links, row).tolist()) if row.max(initial=0) > 1 else _distinct(links[row > 0]))
            for row in rows
        ]
        return np.array(found, np.int32)[place.ravel()]

    def _number(self, links: tuple[int, ...]) -> int:
        found = self._numbers.get(links)
        if found is None:
            found = self._numbers[links] = len(self.links)
            self.links.append(links)
        return found


def _distinct(links: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(links.tolist()))
