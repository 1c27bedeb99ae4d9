"""The last 30 minutes of every port, switch and rail, in memory of a fixed size."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.page.columns import Numbers
from railfab.page.plan import PagePlan
from railfab.page.rates import PortRates

HISTORY_S = 1800.0
"""Time that is kept [s]."""
MOST_BYTES = 64 << 20
"""Of all rows together; of a large fabric a row lasts longer than a tick, and has the highest values of its time."""


class Kept(NamedTuple):
    """A number that is kept of each port. Half precision has 3 digits and ends at 65,504: `packed` brings it there."""

    unit: str
    of: Callable[[PortRates], Numbers]
    packed: Callable[[Numbers], Numbers]
    unpacked: Callable[[Numbers], Numbers]


def _as_it_is(values: Numbers) -> Numbers:
    return values


KEPT: dict[str, Kept] = {
    "transmit_gbps": Kept("Gb/s", lambda rates: rates.transmit_gbps, _as_it_is, _as_it_is),
    "receive_gbps": Kept("Gb/s", lambda rates: rates.receive_gbps, _as_it_is, _as_it_is),
    "queue_bytes": Kept("bytes", lambda rates: rates.queue_bytes, np.log1p, np.expm1),
    "ecn_share": Kept("ratio", lambda rates: rates.ecn_share, _as_it_is, _as_it_is),
    "pause_frames_per_s": Kept("frames/s", lambda rates: rates.pause_frames_per_s, np.log1p, np.expm1),
    "drops_per_s": Kept("packets/s", lambda rates: rates.drops_per_s, np.log1p, np.expm1),
}


@dataclass(frozen=True, slots=True)
class PastValues:
    """A series of the past. at_s: Unix times. values: NaN where nothing was known."""

    unit: str
    at_s: Numbers
    values: Numbers


class History:
    """A ring of rows of equal length in time; written by one thread, read by others."""

    def __init__(self, plan: PagePlan, tick_s: float) -> None:
        self._plan = plan
        row_bytes = 2 * (len(KEPT) * len(plan.ports) + len(plan.switches) + len(plan.rails))
        self.rows = max(2, min(round(HISTORY_S / tick_s), MOST_BYTES // max(1, row_bytes)))
        self.row_s = HISTORY_S / self.rows
        self._at_s = np.full(self.rows, np.nan)
        self._ports = np.full((self.rows, len(KEPT), len(plan.ports)), np.nan, np.float16)
        self._sessions_up = np.full((self.rows, len(plan.switches)), np.nan, np.float16)
        self._rail_gbps = np.full((self.rows, len(plan.rails)), np.nan, np.float32)
        self._count, self._began_s = 0, -np.inf
        self._lock = threading.Lock()

    def add(self, rates: PortRates) -> None:
        """Keep what is known now: a new row, or the higher value of the row that is being written."""
        packed = np.array([kept.packed(kept.of(rates)) for kept in KEPT.values()]).astype(np.float16)
        sessions_up = self._sessions_of(rates)
        with self._lock:
            if rates.at_s - self._began_s >= 0.98 * self.row_s or rates.at_s < self._began_s:
                self._count, self._began_s = self._count + 1, rates.at_s
                place = (self._count - 1) % self.rows
                self._ports[place], self._sessions_up[place] = packed, sessions_up
                self._rail_gbps[place] = rates.rail_gbps
            else:
                place = (self._count - 1) % self.rows
                np.fmax(self._ports[place], packed, out=self._ports[place])
                self._sessions_up[place] = sessions_up
                np.fmax(self._rail_gbps[place], rates.rail_gbps.astype(np.float32), out=self._rail_gbps[place])
            self._at_s[place] = rates.at_s

    def of_port(self, name: str, port: int) -> PastValues:
        """The past of a number of a port, by the names of `KEPT`, and `utilisation`. Raises KeyError."""
        if name == "utilisation":
            sent, received = (self.of_port(side, port) for side in ("transmit_gbps", "receive_gbps"))
            return PastValues("ratio", sent.at_s, np.fmax(sent.values, received.values) / self._plan.rate_gbps[port])
        kept = KEPT[name]
        at_s, values = self._read(self._ports[:, list(KEPT).index(name), port])
        return PastValues(kept.unit, at_s, kept.unpacked(values))

    def of_switch(self, name: str, switch: int) -> PastValues:
        """The past of a number of a switch: `sessions_up`, or `sent_gbps` of all its ports. Raises KeyError."""
        if name == "sessions_up":
            return PastValues("sessions", *self._read(self._sessions_up[:, switch]))
        if name != "sent_gbps":
            raise KeyError(name)
        ports = np.flatnonzero(self._plan.switch_of_port == switch)
        at_s, values = self._read(self._ports[:, list(KEPT).index("transmit_gbps"), ports])
        return PastValues("Gb/s", at_s, np.where(np.isnan(values).all(axis=1), np.nan, np.nansum(values, axis=1)))

    def of_rail(self, rail: int) -> PastValues:
        """What was sent to the hosts of a rail. Raises ValueError."""
        return PastValues("Gb/s", *self._read(self._rail_gbps[:, self._plan.rails.index(rail)]))

    def _sessions_of(self, rates: PortRates) -> Numbers:
        """The number of sessions that are up, by switch; NaN of one that is stale."""
        switches = np.array([session.switch for session in self._plan.sessions], np.int64)
        up = np.bincount(switches, np.nan_to_num(rates.sessions_up), minlength=len(self._plan.switches))
        return np.where(rates.stale, np.nan, up)

    def _read(self, column: NDArray[np.floating]) -> tuple[Numbers, Numbers]:
        """Times and values of a column, oldest first."""
        with self._lock:
            count = min(self._count, self.rows)
            order = (np.arange(self._count - count, self._count)) % self.rows
            return self._at_s[order], column[order].astype(float)
