"""Counters of ports whose cables have been exchanged: a port keeps them, but other links lead from it and to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding import LinkTable
from railfab.sim import QUEUES
from railfab.twin.readings import RECEIVED, Arrays, Places


@dataclass(frozen=True, slots=True)
class Recabling:
    """Where the counters of each port were: axis (link,) of the present links, places among the links before.

    sent: of what leaves the port that a link leaves. received: of what comes in at the port that a link leads to.
    """

    sent: Places
    received: Places

    def of(self, arrays: Arrays) -> Arrays:
        """Arrays of the links before, on the present ones."""
        return {name: self._moved(name, held) for name, held in arrays.items()}

    def _moved(self, name: str, held: NDArray[np.float64]) -> NDArray[np.float64]:
        places = self.received if name in RECEIVED else self.sent
        wide = held.reshape(len(places), -1)
        assert wide.shape[1] in (1, QUEUES)
        return np.asarray(wide[places].ravel())


def recabling(before: LinkTable, now: LinkTable) -> Recabling:
    """The counters of two tables of the same ports."""
    sent = np.array([before.egress[key] for key in now.keys], np.int64)
    return Recabling(sent, sent.reshape(-1, 2)[:, ::-1].ravel() ^ 1)
