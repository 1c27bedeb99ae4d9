"""Sets of next hops: each distinct one is stored once and named by its number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_HOPS = 0
"""Number of the empty next-hop group."""


class NextHopGroups:
    """Sets of egress links over which a switch spreads traffic. It only grows, so that numbers stay valid."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {(): NO_HOPS}
        self.links: list[tuple[int, ...]] = [()]

    def numbers(self, members: NDArray[np.bool_], links: NDArray[np.int64]) -> NDArray[np.int32]:
        """(group,) number of the next-hop group that holds the links of which `members`, (link, group), is true."""
        packed = np.ascontiguousarray(np.packbits(members, axis=0).T)
        rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        found = [self._number(tuple(dict.fromkeys(links[members[:, column]].tolist()))) for column in first]
        return np.array(found, np.int32)[place]

    def _number(self, links: tuple[int, ...]) -> int:
        found = self._numbers.get(links)
        if found is None:
            found = self._numbers[links] = len(self.links)
            self.links.append(links)
        return found
