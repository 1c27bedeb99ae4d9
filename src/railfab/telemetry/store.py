"""The newest value of every series of one target, bounded, and only as long as it is true."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from railfab.gnmi.paths import Element, matches_elements, wire_elements
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.budget import SeriesBudget, table_size
from railfab.telemetry.estimate import PauseEstimates
from railfab.telemetry.health import MOST_ROOTS, OTHER_ROOTS, Drop, Health
from railfab.telemetry.kernel.columns import NO_RATE, At, SeriesColumns
from railfab.telemetry.kernel.take import put
from railfab.telemetry.mapping import Steps
from railfab.telemetry.notification import Decoded, Known
from railfab.telemetry.resets import BOOT_TIME, Resets
from railfab.telemetry.series import Series
from railfab.telemetry.table import SeriesTable, target_text
from railfab.units import NS_PER_S

logger = logging.getLogger(__name__)

FOREVER_NS = 1 << 62
NO_SPEEDS: Mapping[str, float] = MappingProxyType({})
RATE_WINDOW_S = 15.0
"""Length of a window of rates [s]; the highest of the present and of the last window is exposed."""
MOST_REMEMBERED = 1 << 16
"""Series of paths that protobuf decodes, whose rows are remembered."""
RPC_BITS = 12
"""Low bits of a generation: the number of the RPC that brings a series. Those above count sessions."""
MOST_SESSIONS = 1 << (31 - RPC_BITS)
"""From which on sessions are counted from 0 again."""
ROWS_PER_SERIES = 4
"""Rows that a table may have for each series that may be present, before those that ended are dropped."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of a table at one moment. rates: the highest rate of each in the last windows [1/s], NO_RATE where
    none is known. count: of living series, without estimates.
    """

    table: SeriesTable
    live: NDArray[np.bool_]
    values: NDArray[np.float64]
    rates: NDArray[np.float64]
    count: int


class TargetStore:
    """Series of one target. Written by the collector's loop, read by scrapes from other threads.

    While the session lives, a sampled series vanishes when its target has sent newer samples of others for as long as a
    sample lasts, but none of it; an on-change series lives as long as the session. A target that sends nothing keeps
    all of them until its session ends, so that they vanish together. fabric: of the target, or empty.
    expiry_s: how long the samples of most paths last. grace_s: how long after the end of a session its series stay;
    they vanish together. designed_gbps: speeds of ports. max_series: of this target. budget: of all targets of the
    process; what passes either is counted, and not stored. skew_s: a time stamp that is further from our clock is not
    used, so that neither order nor rates follow from it; 0 for any. wall_ns: our clock [ns].
    """

    def __init__(
        self,
        device: str,
        health: Health,
        *,
        fabric: str = "",
        expiry_s: float,
        grace_s: float,
        max_series: int,
        budget: SeriesBudget | None = None,
        designed_gbps: Mapping[str, float] = NO_SPEEDS,
        skew_s: float = 0.0,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._health = health
        self._expiry_s = expiry_s
        self._grace_s = grace_s
        self._max_series = max_series
        self._most_rows = ROWS_PER_SERIES * max_series + MOST_ROOTS
        self._budget = budget or SeriesBudget(self._most_rows)
        self._charged = 0
        self._warnings = RepeatedWarnings(logger, device, prefix=f"{device}: ")
        self.table = SeriesTable(target_text(device, fabric))
        self.at = np.zeros(len(At), np.int64)
        self.at[At.MOST_SERIES], self.at[At.LAST_KEY] = max_series, -1
        self.at[At.SKEW_NS] = int(skew_s * NS_PER_S)
        self._at, self._wall_ns = self.at.data, wall_ns
        self._resets = Resets(health.resets, expiry_s)
        self.roots = np.zeros(MOST_ROOTS + 1, np.int64)
        self._root_names: list[str] = []
        self._rows: dict[Series, int] = {}
        self._estimates = PauseEstimates(designed_gbps)
        self._key_steps: list[Steps] = []
        self._elements: dict[Element, Element] = {}
        self._session = 0
        self._kept: tuple[int, ...] = ()
        self._open = False
        self._down_since_s: float | None = 0.0
        self._heard_s = 0.0

    def begin(self, kept: Iterable[int] = ()) -> None:
        """A new session: what it does not bring again is swept at its sync; its device times start afresh.

        kept: the numbers of RPCs of which a session does not bring what has not changed, so that nothing is swept.
        """
        self._session = (self._session + 1) % MOST_SESSIONS
        self._kept = tuple(kept)
        self._open = True
        if self.table.series_count > ROWS_PER_SERIES * max(len(self), 256):
            self.table = self.table.compacted()
            self.at[At.LAST_KEY] = -1
            self._rows.clear()
            self._key_steps.clear()
            self._elements.clear()
            self._charge()

    def release(self) -> None:
        """Leave the budget to the other targets; from now on nothing new is stored."""
        self._budget.charge(self._charged, 0)
        self._budget, self._charged = SeriesBudget(0), 0

    def synced(self) -> None:
        """The session has sent every leaf once: drop the samples of earlier sessions."""
        self._down_since_s = None
        rows = self.table.present_rows()
        generation = self.table.series.generation[rows]
        earlier = generation >> RPC_BITS != self._session
        self._drop(rows[earlier & ~np.isin(generation & ((1 << RPC_BITS) - 1), self._kept)])

    def answered(self, rpc: int, began_s: float) -> None:
        """An RPC has sent every leaf since this time: drop those of its series that it has not brought."""
        series, rows = self.table.series, self.table.present_rows()
        own = series.generation[rows] == self._generation(rpc)
        self._drop(rows[own & (series.arrival_ns[rows] < int(began_s * NS_PER_S))])

    def _generation(self, rpc: int) -> int:
        return self._session << RPC_BITS | rpc

    def down(self, now_s: float, *, grace: bool = True) -> None:
        """The session ended; the grace begins, unless one runs already. Without a grace all series end now."""
        self._open = False
        if not grace:
            self._drop(self.table.present_rows())
        if self._down_since_s is None:
            self._down_since_s = now_s

    def begin_batch(self, now_s: float, lasts_s: float, rpc: int = 0) -> NDArray[np.int64]:
        """Set what holds for all samples of a batch, and its counts to zero; return the array of `At`.

        rpc: the number of the one that has brought it, below 1 << RPC_BITS.
        """
        at = self._at
        at[At.GENERATION] = self._generation(rpc)
        at[At.NOW_NS] = int(now_s * NS_PER_S)
        at[At.WALL_NS] = self._wall_ns()
        at[At.LASTS_NS] = FOREVER_NS if math.isinf(lasts_s) else int(lasts_s * NS_PER_S)
        at[At.WINDOW] = int(now_s // RATE_WINDOW_S)
        self.at[At.PENDING :] = 0
        return self.at

    def end_batch(self) -> list[int]:
        """Count what the batch dropped, and estimate what it brought; return the numbers of `At`."""
        if self._at[At.FRESH] and self._at[At.LASTS_NS] != FOREVER_NS:
            self._heard_s = self._at[At.NOW_NS] / NS_PER_S
        self._estimates.extend(self.table)
        counts: list[int] = self.at.tolist()
        self._count(counts)
        self._charge()
        if counts[At.SERIES_LIMIT]:
            self._warnings.warning(
                f"has more series than --max-series-per-target {self._max_series} or, with all other targets,"
                f" --max-series {self._budget.most} allow. The others are counted, and not stored."
            )
        return counts

    def _count(self, counts: list[int]) -> None:
        health = self._health
        health.drops[Drop.OUT_OF_ORDER] += counts[At.OUT_OF_ORDER]
        health.drops[Drop.SERIES_LIMIT] += counts[At.SERIES_LIMIT]
        health.skewed += counts[At.SKEWED]
        if counts[At.RESETS] or counts[At.WRAPS]:
            now_s = counts[At.NOW_NS] / NS_PER_S
            self._resets.add(counts[At.RESETS], counts[At.WRAPS], now_s, self._boot_s())

    def _boot_s(self) -> float | None:
        """The boot time of the device as last read; None where it has sent none."""
        table = self.table
        number = next((place for place, metric in enumerate(table.metrics) if metric.name == BOOT_TIME), None)
        rows = () if number is None else np.flatnonzero(table.lines.metric[: table.series_count] == number).tolist()
        return next((float(table.series.value[row]) for row in rows if table.series.present[row]), None)

    def believed_ns(self, device_ns: int | None) -> int | None:
        """A time stamp that is to be used; None, counted, where it is too far from our clock."""
        at = self._at
        if not device_ns or not at[At.SKEW_NS] or abs(device_ns - at[At.WALL_NS]) <= at[At.SKEW_NS]:
            return device_ns
        at[At.SKEWED] += 1
        return None

    def apply(self, decoded: Decoded) -> bool:
        """Take in what protobuf has decoded; whether it brought anything but samples."""
        self.remove(decoded.removed)
        rows, values = [], []
        for series, value in decoded.samples:
            row = self._row(series)
            if row is not None:
                rows.append(row)
                values.append(value)
        if rows:
            put(np.array(rows, np.int64), np.array(values), decoded.device_ns or 0, self.table.series, self.at)
        return bool(decoded.unmapped or decoded.removed or decoded.undecodable)

    def remove(self, gone: Iterable[Series]) -> None:
        """End series by name."""
        rows = [row for series in gone if (row := self.table.find(series)) is not None]
        self._drop(np.array([row for row in rows if self.table.series.present[row]], np.int64))

    def delete(self, paths: Sequence[Steps]) -> None:
        """End the series at or below deleted paths, which may hold wildcards."""
        table = self.table
        while len(self._key_steps) < table.key_count:
            prefix, path = table.key(len(self._key_steps))
            steps = (*wire_elements(prefix), *wire_elements(path))
            self._key_steps.append(tuple(self._elements.setdefault(step, step) for step in steps))
        for gone in paths:
            keys = [row for row, steps in enumerate(self._key_steps) if matches_elements(gone, steps)]
            rows = np.unique(table.bindings.series[table.bindings_of(keys)])
            self._drop(rows[table.series.present[rows] != 0])

    def has_room(self, known: Known, series: int, paths: int) -> bool:
        """Whether the series of a path are known or may be added, and the path too. series, paths: about to come."""
        table = self.table
        if table.is_full or table.key_count + paths >= self._most_rows:
            return False
        if not self._has_room_among_all(series + len(known.plain), paths + 1):
            return False
        return len(self) + series < self._max_series or all(table.find(one) is not None for _, one in known.plain)

    def _has_room_among_all(self, series: int, paths: int) -> bool:
        """Whether so many more rows are within the budget of all targets."""
        table = self.table
        size = table_size(table.series_count + series, table.key_count + paths, table.text_bytes)
        return self._budget.has_room(self._charged, size)

    def _charge(self) -> None:
        table = self.table
        size = table_size(table.series_count, table.key_count, table.text_bytes)
        self._charged = self._budget.charge(self._charged, size)

    def root_number(self, name: str) -> int:
        """The place of a path root among those that are counted; the last one is for all beyond MOST_ROOTS."""
        if name not in self._root_names and len(self._root_names) < MOST_ROOTS:
            self._root_names.append(name)
        return self._root_names.index(name) if name in self._root_names else MOST_ROOTS

    def take_unmapped(self) -> Counter[str]:
        """The unmapped leaves that were counted since the last call."""
        counts = self.roots
        if not counts.any():
            return Counter()
        found = Counter({name: int(count) for name, count in zip(self._root_names, counts, strict=False) if count})
        if counts[MOST_ROOTS]:
            found[OTHER_ROOTS] = int(counts[MOST_ROOTS])
        counts[:] = 0
        return found

    def live(self, now_s: float) -> NDArray[np.bool_]:
        """Whether each row has a value that is true now."""
        return self._live(self.table.series, now_s)

    def _live(self, series: SeriesColumns, now_s: float) -> NDArray[np.bool_]:
        """Whether each row has a value that is true now. Any thread."""
        down_s = self._down_since_s
        live: NDArray[np.bool_] = series.present != 0
        if down_s is None:
            return _both(live, int(self._heard_s * NS_PER_S) <= series.expires_ns)
        if now_s - down_s <= self._grace_s:
            return live
        latest_ns = int(max(down_s, now_s - max(self._grace_s, self._expiry_s)) * NS_PER_S)
        own = series.generation >> RPC_BITS == self._session if self._open else np.zeros(len(live), bool)
        return _both(live, (series.arrival_ns > latest_ns) | own)

    def read(self, now_s: float) -> list[tuple[Series, float]]:
        """Every living series and its value."""
        table = self.table
        rows = np.flatnonzero(self.live(now_s)).tolist()
        return [(table.series_of(row), float(table.series.value[row])) for row in rows]

    def sample(self, now_s: float) -> Sample:
        """Copies of what is true now, the estimates included. Any thread."""
        table = self.table  # the loop may replace it, and its columns, meanwhile: each is read once, estimates first
        estimates, series = self._estimates.of(table), table.series
        live, values = self._live(series, now_s), series.value.copy()
        count = int(live.sum())
        estimates.apply(live, values)
        return Sample(table, live, values, _rates(series, now_s), count)

    def expire(self, now_s: float) -> None:
        """Forget what is no longer true."""
        rows = self.table.present_rows()
        self._drop(rows[~self.live(now_s)[rows]])
        self._resets.settle(now_s, self._boot_s())

    def __len__(self) -> int:
        return self._at[At.PRESENT]

    def _row(self, series: Series) -> int | None:
        """The row of a series that protobuf decoded; None where there are too many."""
        row = self._rows.get(series)
        if row is None:
            row = self.table.find(series)
            if row is None and not self._has_room_for_one():
                self.at[At.SERIES_LIMIT] += 1
                self.at[At.FRESH] += 1
                return None
            row = self.table.add_series([series])[0] if row is None else row
            if len(self._rows) >= MOST_REMEMBERED:
                self._rows.clear()
            self._rows[series] = row
        return row

    def _has_room_for_one(self) -> bool:
        """Whether one more series may be added."""
        if self.table.is_full or len(self) >= self._max_series or self.table.series_count >= self._most_rows:
            return False
        return self._has_room_among_all(1, 0)

    def _drop(self, rows: NDArray[np.int64]) -> None:
        self.table.series.present[rows] = 0
        self.at[At.PRESENT] -= len(rows)


def _both(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return one & other


def _rates(series: SeriesColumns, now_s: float) -> NDArray[np.float64]:
    """The highest rates of the present window and the last; of samples that come less often, that of the last one.

    What is sent on change has not grown since.
    """
    age = int(now_s // RATE_WINDOW_S) - series.window
    in_two = np.maximum(series.rate, series.earlier)
    other = np.where(series.expires_ns >= FOREVER_NS, 0.0, NO_RATE)
    rates = np.where(age == 0, in_two, np.where(age == 1, series.rate, other))
    old = np.flatnonzero((age > 1) & (series.rate > 0.0))
    lasts_ns = series.expires_ns[old] - series.arrival_ns[old]
    due = (series.arrival_ns[old] + lasts_ns // 2 > int(now_s * NS_PER_S)) & (lasts_ns < FOREVER_NS)
    rates[old[due]] = series.rate[old[due]]
    return rates
