"""Pause time where a platform counts pause frames but not the time they took: an upper bound, under its own name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import DIRECTIONS, metric
from railfab.telemetry.series import Series
from railfab.telemetry.table import Table
from railfab.units import gbps, pause_frame_seconds

SPEED = "fabric_interface_speed_bytes_per_second"
_FRAMES = {f"fabric_pfc_{way}_frames_total": way for way in DIRECTIONS}
_MEASURED = {f"fabric_pfc_{way}_pause_seconds_total": way for way in DIRECTIONS}
_GBPS = gbps(1.0)
_SECONDS_OF_ONE_GBPS = pause_frame_seconds(1.0)
NONE = -1


class PauseEstimates:
    """The estimates of one target, as rows of its table whose values follow those of others.

    A frame stands for 65535 quanta of 512 bit times at the port's speed: the one that the port reports, else the
    designed one; without either there is no estimate, nor where the platform measures the time. Frames that end a pause
    count too, so this is an upper bound. Source of the quantum: IEEE 802.1Qbb.

    designed_gbps: by interface.
    """

    def __init__(self, designed_gbps: Mapping[str, float]) -> None:
        self._designed_gbps = designed_gbps
        self._table: Table | None = None
        self._seen = 0
        self._speeds: dict[str, int] = {}
        self._measured: dict[tuple[str, str, str], int] = {}
        self._frames: dict[tuple[str, str, str], tuple[int, int]] = {}
        self._columns = _columns([])

    def extend(self, table: Table) -> None:
        """Take in the rows that are new in a table; in the thread that writes it."""
        if table is not self._table:
            self._table, self._seen = table, 0
            self._speeds, self._measured, self._frames, self._columns = {}, {}, {}, _columns([])
        first, self._seen = self._seen, table.series_count
        if sum(self._add(table, row) for row in range(first, self._seen)):
            self._columns = _columns([self._row(key, *rows) for key, rows in self._frames.items()])
            self._seen = table.series_count

    def apply(self, live: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
        """Set value and life of the estimates among copies of all; any thread."""
        frames, estimate, speed, measured, designed = self._columns
        if not len(frames) or estimate.max() >= len(live):
            return
        reported = np.where((speed != NONE) & live[speed], values[speed] * _GBPS, 0.0)
        rate = np.where(reported > 0, reported, designed)
        live[estimate] = live[frames] & (rate > 0) & ~((measured != NONE) & live[measured])
        values[estimate] = values[frames] * _SECONDS_OF_ONE_GBPS / np.where(rate > 0, rate, 1.0)

    def _add(self, table: Table, row: int) -> bool:
        """Take in a row; whether it concerns estimates."""
        name = table.metrics[table.lines.metric[row]].name
        if name not in _FRAMES and name not in _MEASURED and name != SPEED:
            return False
        labels = {label: value for label, value in table.describe(row)[1].items() if label != "device"}
        if name == SPEED:
            self._speeds[labels["interface"]] = row
        elif name in _MEASURED:
            self._measured[(_MEASURED[name], labels["interface"], labels["priority"])] = row
        else:
            way = _FRAMES[name]
            estimate = Series(metric(f"fabric_pfc_{way}_pause_estimated_seconds_total"), labels)
            self._frames[(way, labels["interface"], labels["priority"])] = row, table.add_series([estimate])[0]
        return True

    def _row(self, key: tuple[str, str, str], frames: int, estimate: int) -> tuple[int, int, int, int, float]:
        interface = key[1]
        designed = self._designed_gbps.get(interface, 0.0)
        return frames, estimate, self._speeds.get(interface, NONE), self._measured.get(key, NONE), designed


def _columns(rows: list[tuple[int, int, int, int, float]]) -> tuple[NDArray[np.int64], ...]:
    """Rows of frames, of their estimates, of speeds and measured times (or NONE), and designed speeds [Gb/s]."""
    *places, designed = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return (*(np.array(place, np.int64) for place in places), np.array(designed, np.float64))
