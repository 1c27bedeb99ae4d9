"""A collector in this process: its columns are read as they are, without a text between."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from prometheus_client.registry import Collector as Registered

from railfab.page.columns import METRICS, Numbers, VectorLayout
from railfab.page.sources.contract import FabricReading, reading_of
from railfab.telemetry import Collector
from railfab.telemetry.session import TargetSession
from railfab.telemetry.table import SeriesTable


class CollectedSource:
    """Reads a collector of this process. name: of what it streams from. others: what else its exposition has."""

    def __init__(
        self,
        layout: VectorLayout,
        collector: Collector,
        *,
        name: str,
        interval_s: float,
        others: Sequence[Registered] = (),
    ) -> None:
        self._layout, self._collector, self._others = layout, collector, others
        self._name, self._interval_s = name, interval_s
        self._rows: dict[str, _CountedRows] = {}

    @property
    def name(self) -> str:
        """What the collector streams from."""
        return self._name

    @property
    def interval_s(self) -> float:
        """Time between two samples of a switch [s]."""
        return self._interval_s

    def read(self) -> FabricReading:
        """What is true now."""
        parts = [self._of_session(session) for session in self._collector.fleet.sessions]
        parts.append(self._of_collector())
        places, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        return reading_of(self._layout, self._layout.folded(places, values), time.time())

    def _of_session(self, session: TargetSession) -> tuple[NDArray[np.int64], Numbers]:
        """Places and values of the samples of a switch."""
        sample = session.sample()
        rows = self._rows.get(session.name)
        if rows is None or rows.table is not sample.table:
            rows = self._rows[session.name] = _CountedRows(sample.table, self._layout)
        rows.learn()
        known = rows.row < len(sample.live)
        row, place = rows.row[known], rows.place[known]
        live = sample.live[row]
        return place[live], sample.values[row[live]]

    def _of_collector(self) -> tuple[NDArray[np.int64], Numbers]:
        """Places and values of what the collector itself knows."""
        pairs = [
            (place, value)
            for metric, labels, value in (*self._collector.exposition.own_samples(), *self._further())
            if metric in METRICS
            for place in self._layout.places(metric, labels)
        ]
        return np.array([place for place, _ in pairs], np.int64), np.array([value for _, value in pairs], float)

    def _further(self) -> Iterator[tuple[str, dict[str, str], float]]:
        for registered in self._others:
            for family in registered.collect():
                yield from ((sample.name, sample.labels, sample.value) for sample in family.samples)


class _CountedRows:
    """The rows of a table that count, and their places; one row may count at several."""

    def __init__(self, table: SeriesTable, layout: VectorLayout) -> None:
        self.table = table
        self.row = self.place = np.empty(0, np.int64)
        self._layout, self._known = layout, 0

    def learn(self) -> None:
        """Take the series that were added since."""
        count = self.table.series_count
        if count == self._known:
            return
        pairs = [
            (row, place)
            for row in range(self._known, count)
            for place in self._layout.places(*_described(self.table, row))
        ]
        self._known = count
        self.row = np.append(self.row, np.array([row for row, _ in pairs], np.int64))
        self.place = np.append(self.place, np.array([place for _, place in pairs], np.int64))


def _described(table: SeriesTable, row: int) -> tuple[str, dict[str, str]]:
    metric, labels = table.describe(row)
    return metric.name, labels
