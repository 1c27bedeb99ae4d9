"""Pause time where a platform counts pause frames but not the time they took: an upper bound, under its own name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import DIRECTIONS, metric
from railfab.telemetry.series import Series
from railfab.telemetry.table import SeriesTable
from railfab.units import gbps, pause_frame_seconds

SPEED = "fabric_interface_speed_bytes_per_second"
_FRAMES = {f"fabric_pfc_{way}_frames_total": way for way in DIRECTIONS}
_MEASURED = {f"fabric_pfc_{way}_pause_seconds_total": way for way in DIRECTIONS}
ESTIMATED = {way: metric(f"fabric_pfc_{way}_pause_estimated_seconds_total") for way in DIRECTIONS}
_GBPS = gbps(1.0)
_SECONDS_OF_ONE_GBPS = pause_frame_seconds(1.0)
NONE = -1


@dataclass(frozen=True, slots=True)
class Estimates:
    """Rows of frames, of their estimates, of speeds and measured times (or NONE), and designed speeds [Gb/s]."""

    frames: NDArray[np.int64]
    estimate: NDArray[np.int64]
    speed: NDArray[np.int64]
    measured: NDArray[np.int64]
    designed: NDArray[np.float64]

    @classmethod
    def from_rows(cls, rows: list[tuple[int, int, int, int, float]]) -> Estimates:
        """The columns of these rows."""
        *places, designed = zip(*rows, strict=True) if rows else ((), (), (), (), ())
        frames, estimate, speed, measured = (np.array(place, np.int64) for place in places)
        return cls(frames, estimate, speed, measured, np.array(designed, np.float64))

    def apply(self, live: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
        """Set value and life of the estimates among copies of all."""
        reported = np.where((self.speed != NONE) & live[self.speed], values[self.speed] * _GBPS, 0.0)
        rate = np.where(reported > 0, reported, self.designed)
        is_measured = (self.measured != NONE) & live[self.measured]
        live[self.estimate] = live[self.frames] & (rate > 0) & ~is_measured
        values[self.estimate] = values[self.frames] * _SECONDS_OF_ONE_GBPS / np.where(rate > 0, rate, 1.0)


_NO_ESTIMATES = Estimates.from_rows([])


class PauseEstimates:
    """The estimates of one target, as rows of its table whose values follow those of others.

    A frame stands for 65535 quanta of 512 bit times at the port's speed: the one that the port reports, else the
    designed one; without either there is no estimate, nor where the platform measures the time. Frames that end a pause
    count too, so this is an upper bound. Source of the quantum: IEEE 802.1Qbb.

    designed_gbps: by interface.
    """

    def __init__(self, designed_gbps: Mapping[str, float]) -> None:
        self._designed_gbps = designed_gbps
        self._table: SeriesTable | None = None
        self._seen = 0
        self._speeds: dict[str, int] = {}
        self._measured: dict[tuple[str, str, str], int] = {}
        self._frames: dict[tuple[str, str, str], tuple[int, int]] = {}
        self._newest: tuple[SeriesTable | None, Estimates] = None, _NO_ESTIMATES

    def extend(self, table: SeriesTable) -> None:
        """Take in the rows that are new in a table; in the thread that writes it."""
        if table is not self._table:
            self._table, self._seen = table, 0
            self._speeds, self._measured, self._frames = {}, {}, {}
        first, self._seen = self._seen, table.series_count
        names = [entry.name for entry in table.metrics]
        wanted = [name == SPEED or name in _FRAMES or name in _MEASURED for name in names]
        of_new = table.lines.metric[first : self._seen]
        rows = first + np.flatnonzero(np.array(wanted, bool)[of_new])
        if not len(rows):
            return
        frames = {}
        for row, number in zip(rows.tolist(), table.lines.metric[rows].tolist(), strict=True):
            labels, name = table.describe(row)[1], names[number]
            if name == SPEED:
                self._speeds[labels["interface"]] = row
            elif name in _MEASURED:
                self._measured[(_MEASURED[name], labels["interface"], labels["priority"])] = row
            else:
                frames[row] = _FRAMES[name], labels
        estimates = table.add_series(Series(ESTIMATED[way], labels) for way, labels in frames.values())
        for (row, (way, labels)), estimate in zip(frames.items(), estimates, strict=True):
            self._frames[(way, labels["interface"], labels["priority"])] = row, estimate
        self._newest = table, Estimates.from_rows([self._row(key, *pair) for key, pair in self._frames.items()])
        self._seen = table.series_count

    def of(self, table: SeriesTable) -> Estimates:
        """Those of a table now, for its columns that are read afterwards; any thread."""
        newest, columns = self._newest
        return columns if newest is table else _NO_ESTIMATES

    def _row(self, key: tuple[str, str, str], frames: int, estimate: int) -> tuple[int, int, int, int, float]:
        interface = key[1]
        designed = self._designed_gbps.get(interface, 0.0)
        return frames, estimate, self._speeds.get(interface, NONE), self._measured.get(key, NONE), designed
