"""Batches of all samples for the sinks: each series with a number of its own for as long as it lives."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import BURSTS, Metric, metric, rate_max_name
from railfab.telemetry.exposition import FabricExposition, Found
from railfab.telemetry.kernel.columns import HAS_RATES, NO_RATE
from railfab.telemetry.session import TargetSession
from railfab.telemetry.sinks.contract import Labels, SampleBatch, Sink
from railfab.telemetry.table import SeriesTable
from railfab.units import NS_PER_S

NS_PER_MS = 1_000_000
_Ids = NDArray[np.int64]


class Pusher:
    """Emits a batch of all samples to each sink at intervals.

    The number of a series is that of its row; that of its highest rate is the same, negative. Those of the intent and
    of the collector itself are even further below zero. shard: label of the metrics that are of no target, since those
    of several collectors would be one series. labels: of all series, but those that have a label of the name already.
    """

    def __init__(
        self, exposition: FabricExposition, sinks: Sequence[Sink], *, shard: str = "", labels: Labels = ()
    ) -> None:
        self._exposition, self._sinks = exposition, sinks
        self._shard = {"shard": shard} if shard else {}
        self._labels = dict(labels)
        self._others: dict[tuple[str, Labels], int] = {}
        self._others_by_id: dict[int, tuple[str, Labels]] = {}
        self._next_other = itertools.count(-(1 << 62))
        self._rows: dict[int, tuple[SeriesTable, int]] = {}
        self._before: _Ids = np.zeros(0, np.int64)

    async def run(self, every_s: float) -> None:
        """Push until cancelled, in a thread, since encoding takes its time."""
        while True:
            await asyncio.sleep(every_s)
            await asyncio.to_thread(self.push, time.time_ns())

    def push(self, now_ns: int) -> None:
        """Emit one batch. now_ns: Unix time of it [ns]."""
        batch = self.batch(now_ns)
        for sink in self._sinks:
            sink.emit(batch)
        for gone in batch.gone.tolist():
            self._rows.pop(abs(gone), None)
            if (other := self._others_by_id.pop(gone, None)) is not None:
                del self._others[other]

    def batch(self, now_ns: int) -> SampleBatch:
        """All samples that are true now."""
        parts = [*(part for session in self._exposition.sessions for part in self._of(session, now_ns))]
        parts.append(self._of_others(now_ns))
        ids, values, at_ms = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        gone = np.setdiff1d(self._before, ids, assume_unique=True)
        self._before = ids
        return SampleBatch(ids, values, at_ms, gone, now_ns // NS_PER_MS, self._describe)

    def _of(self, session: TargetSession, now_ns: int) -> Iterator[tuple[_Ids, NDArray[np.float64], _Ids]]:
        """Numbers, values and times [ms] of a target's samples, and of its rates."""
        sample = session.sample()
        table, rows = sample.table, np.flatnonzero(sample.live)
        series = table.series
        arrived_ns = series.arrival_ns[rows] + (now_ns - int(session.now_s() * NS_PER_S))
        at_ns = np.where(series.device_ns[rows] > 0, series.device_ns[rows], arrived_ns)
        at_ns = np.where(series.arrival_ns[rows] > 0, at_ns, now_ns)  # an estimate has no time of its own
        ids = table.lines.ids[rows]
        self._rows.update(zip(ids.tolist(), ((table, row) for row in rows.tolist()), strict=True))
        yield ids, sample.values[rows], at_ns // NS_PER_MS
        rates = sample.rates[rows]
        bursts = np.flatnonzero((series.counter[rows] & HAS_RATES != 0) & (rates != NO_RATE))
        yield -ids[bursts], rates[bursts], np.full(len(bursts), now_ns // NS_PER_MS)

    def _of_others(self, now_ns: int) -> tuple[_Ids, NDArray[np.float64], _Ids]:
        found = [*self._exposition.intended_samples(), *self._exposition.own_samples()]
        ids = np.array([self._other(one) for one in found], np.int64)
        return ids, np.array([value for _, _, value in found]), np.full(len(ids), now_ns // NS_PER_MS)

    def _other(self, found: Found) -> int:
        labels = found[1] if "device" in found[1] else {**found[1], **self._shard}
        key = found[0], tuple(sorted(labels.items()))
        number = self._others.get(key)
        if number is None:
            number = self._others[key] = next(self._next_other)
            self._others_by_id[number] = key
        return number

    def _describe(self, number: int) -> tuple[Metric, Labels]:
        if (other := self._others_by_id.get(number)) is not None:
            return metric(other[0]), self._with_labels(dict(other[1]))
        table, row = self._rows[abs(number)]
        found, labels = table.describe(row)
        if number < 0:
            assert found.name in BURSTS
            found = metric(rate_max_name(found.name))
        return found, self._with_labels(labels)

    def _with_labels(self, labels: Mapping[str, str]) -> Labels:
        return tuple(sorted({**self._labels, **labels}.items()))
