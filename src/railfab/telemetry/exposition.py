"""Samples, the intended fabric and the collector's own health as typed families, for scrapes and the live view."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from railfab.metrics import CATALOGUE, Kind, Metric
from railfab.telemetry.estimate import estimates
from railfab.telemetry.health import Health, State, Stream
from railfab.telemetry.intended import IntendedSeries
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.series import Series
from railfab.telemetry.session import TargetSession

Samples = dict[str, list[tuple[dict[str, str], float]]]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every sample at one moment. at_s: monotonic time. samples: by metric, labels (device included) and value."""

    at_s: float
    samples: Samples

    def __iter__(self) -> Iterator[tuple[str, dict[str, str], float]]:
        """Metric, labels and value of every sample."""
        return ((name, labels, value) for name, found in self.samples.items() for labels, value in found)

    def select(self, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
        """The samples of a metric whose labels include these. Raises KeyError for a name not in the catalogue."""
        wanted = labels.items()
        return [found for found in self.samples.get(CATALOGUE[name].name, ()) if wanted <= found[0].items()]

    def value(self, name: str, **labels: str) -> float:
        """The sum over those samples, 0 when there are none."""
        return sum(value for _, value in self.select(name, **labels))


class FabricCollector(Collector):
    """Exposes samples to a prometheus-client registry, without time stamps, so that staleness works.

    intended: exposed for every switch, whether it answers or not. clock: of the loop that the sessions run in.
    """

    def __init__(self, sessions: Sequence[TargetSession], intended: IntendedSeries, clock: LoopClock) -> None:
        self._clock = clock
        self._sessions = sessions
        self._intended = intended

    def collect(self) -> Iterator[Family]:
        samples = self.snapshot().samples
        for entry in CATALOGUE.values():
            if entry.name in samples:
                yield family(entry, samples[entry.name])

    def describe(self) -> Iterable[Family]:
        """No metric: which ones there are is known once switches answer."""
        return []

    def snapshot(self, names: Collection[str] | None = None) -> Snapshot:
        """Every sample that is true now. names: only those metrics of the switches, and the collector's own."""
        samples: Samples = {}
        for device, series in self._intended.series.items():
            _add(samples, device, ((one, 1.0) for one in series if names is None or one.metric.name in names))
        for session in self._sessions:
            stored = session.series()
            if names is None:
                _add(samples, session.name, stored)
                _add(samples, session.name, estimates(stored, self._intended.speeds_gbps.get(session.name, {})))
            else:
                _add(samples, session.name, (found for found in stored if found[0].metric.name in names))
            for name, labels, value in _health_samples(session.health, len(stored)):
                samples.setdefault(name, []).append(({"device": session.name, **labels}, value))
        samples["fabric_collector_lag_seconds"] = [({}, self._clock.lag_s())]
        return Snapshot(time.monotonic(), samples)


def family(entry: Metric, samples: Iterable[tuple[dict[str, str], float]]) -> Family:
    """A metric family of prometheus-client: kind, unit and help from the catalogue."""
    base = entry.name.removesuffix("_total") if entry.kind is Kind.COUNTER else entry.name
    base = base.removesuffix("_info") if entry.kind is Kind.INFO else base
    found = Family(base, entry.help, entry.kind.value, entry.unit if base.endswith(f"_{entry.unit}") else "")
    for labels, value in samples:
        found.add_sample(entry.name, labels, value)
    return found


def _add(samples: Samples, device: str, found: Iterable[tuple[Series, float]]) -> None:
    for series, value in found:
        samples.setdefault(series.metric.name, []).append(({"device": device, **dict(series.labels)}, value))


def _health_samples(health: Health, series: int) -> Iterator[tuple[str, dict[str, str], float]]:
    """The collector's own metrics of one target; all of them, also while it is down."""
    prefix = "fabric_collector"
    yield f"{prefix}_session_up", {}, float(health.state is State.UP)
    yield f"{prefix}_session_state", {}, float(health.state)
    yield f"{prefix}_tls_verified", {}, float(health.tls_verified)
    yield f"{prefix}_last_update_timestamp_seconds", {"subscription": Stream.SAMPLE.value}, health.last_update_s
    yield f"{prefix}_ingest_lag_seconds", {}, health.ingest_lag_s
    yield f"{prefix}_reconnects_total", {}, float(health.reconnects)
    yield f"{prefix}_series", {}, float(series)
    for stream, count in health.updates.items():
        yield f"{prefix}_updates_total", {"subscription": stream.value}, float(count)
    for reason, count in health.errors.items():
        yield f"{prefix}_errors_total", {"reason": reason.value}, float(count)
    for drop, count in health.drops.items():
        yield f"{prefix}_dropped_updates_total", {"reason": drop.value}, float(count)
    for root, count in sorted(dict(health.unmapped).items()):
        yield f"{prefix}_unmapped_updates_total", {"path_root": root}, float(count)
