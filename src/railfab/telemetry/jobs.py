"""What training jobs say about themselves: durations as histograms, bandwidth as gauges."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from railfab.metrics import CATALOGUE, Kind, metric

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Key = tuple[str, tuple[str, ...]]


class JobMetrics(Collector):
    """The training_* metrics; a collector for a prometheus-client registry. Any thread may feed it."""

    def __init__(self) -> None:
        self._counts: dict[Key, list[int]] = {}
        self._sums: dict[Key, float] = {}
        self._gauges: dict[Key, float] = {}
        self._lock = threading.Lock()

    def step(self, duration_s: float, *, job_id: str, host: str) -> None:
        """One step took this long on this host."""
        self._observe("training_step_duration_seconds", duration_s, (job_id, host))

    def barrier_wait(self, wait_s: float, *, job_id: str, host: str) -> None:
        """The host waited this long for the others."""
        self._observe("training_barrier_wait_seconds", wait_s, (job_id, host))

    def collective(self, duration_s: float, bus_bytes_per_s: float, *, job_id: str, host: str, op: str) -> None:
        """One collective operation took this long at this bus bandwidth."""
        self._observe("training_collective_duration_seconds", duration_s, (job_id, host, op))
        with self._lock:
            self._gauges["training_collective_bus_bandwidth_bytes_per_second", (job_id, host, op)] = bus_bytes_per_s

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            for entry in CATALOGUE.values():
                if entry.kind is Kind.HISTOGRAM:
                    yield self._histogram(entry.name)
            name = "training_collective_bus_bandwidth_bytes_per_second"
            bandwidth = GaugeMetricFamily(name, metric(name).help, labels=metric(name).labels)
            for (_, labels), value in self._gauges.items():
                bandwidth.add_metric(labels, value)
            yield bandwidth

    def _observe(self, name: str, value: float, labels: tuple[str, ...]) -> None:
        key = (name, labels)
        with self._lock:
            counts = self._counts.setdefault(key, [0] * (len(BUCKETS_S) + 1))
            counts[bisect_left(BUCKETS_S, value)] += 1
            self._sums[key] = self._sums.get(key, 0.0) + value

    def _histogram(self, name: str) -> Metric:
        family = HistogramMetricFamily(name, metric(name).help, labels=metric(name).labels)
        for (own, labels), counts in self._counts.items():
            if own == name:
                family.add_metric(labels, _cumulative(counts), sum_value=self._sums[own, labels])
        return family


def _cumulative(counts: list[int]) -> list[tuple[str, float]]:
    """Buckets as Prometheus has them: each with all that is smaller."""
    bounds = (*map(str, BUCKETS_S), "+Inf")
    return [(bound, float(sum(counts[: place + 1]))) for place, bound in enumerate(bounds)]
