"""Samples, the intended fabric and the collector's own health as typed families, for scrapes and the live view."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics import exposition as openmetrics_exposition
from prometheus_client.registry import Collector

from railfab.metrics import CATALOGUE, Kind, Metric
from railfab.telemetry.families import families
from railfab.telemetry.fleet import Fleet
from railfab.telemetry.health import Stream
from railfab.telemetry.intended import IntendedSeries
from railfab.telemetry.lines import Chunks
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.session import TargetSession
from railfab.telemetry.sinks.health import sink_samples
from railfab.telemetry.sinks.queued import QueuedSink
from railfab.telemetry.table import escaped, line_text, target_text
from railfab.telemetry.targets.health import loader_samples
from railfab.telemetry.targets.loader import Loader

NO_METRICS: Mapping[str, Metric] = MappingProxyType({})
Labels = dict[str, str]
Samples = dict[str, list[tuple[Labels, float]]]
Parts = Iterable[bytes | memoryview]
Found = tuple[str, Labels, float]
"""Metric, labels and value of a sample."""
END = b"# EOF\n"


class Exposition(Protocol):
    """What a scrape gets."""

    def parts(self, *, openmetrics: bool, names: Collection[str] | None = None) -> Parts:
        """The text of all families, or of those that have samples of these names, in parts.

        A part is valid until the next one is asked for.
        """
        ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every sample at one moment. at_s: monotonic time. samples: by metric, labels (device included) and value."""

    at_s: float
    samples: Samples

    def __iter__(self) -> Iterator[tuple[str, Labels, float]]:
        """Metric, labels and value of every sample."""
        return ((name, labels, value) for name, found in self.samples.items() for labels, value in found)

    def select(self, name: str, **labels: str) -> list[tuple[Labels, float]]:
        """The samples of a metric whose labels include these. Raises KeyError for a name not in the catalogue."""
        wanted = labels.items()
        return [found for found in self.samples.get(CATALOGUE[name].name, ()) if wanted <= found[0].items()]

    def value(self, name: str, **labels: str) -> float:
        """The sum over those samples, 0 when there are none."""
        return sum(value for _, value in self.select(name, **labels))


class RegistryExposition:
    """The metrics of a prometheus-client registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def parts(self, *, openmetrics: bool, names: Collection[str] | None = None) -> Parts:
        """The text of the registry."""
        return [self.render(openmetrics=openmetrics, names=names)]

    def render(self, *, openmetrics: bool, names: Collection[str] | None = None) -> bytes:
        """The text of the registry."""
        registry = self._registry
        if names is not None:
            registry = CollectorRegistry()
            registry.register(_Selection(self._registry, names))
        if openmetrics:
            return openmetrics_exposition.generate_latest(registry)  # type: ignore[no-untyped-call, no-any-return]
        return generate_latest(registry)


class _Selection(Collector):
    """The samples of these names, also of collectors that do not say beforehand which metrics they have."""

    def __init__(self, registry: CollectorRegistry, names: Collection[str]) -> None:
        self._registry, self._names = registry, frozenset(names)

    def describe(self) -> Iterable[Family]:
        return []

    def collect(self) -> Iterator[Family]:
        for family in self._registry.collect():
            samples = [sample for sample in family.samples if sample.name in self._names]
            if samples:
                selected = Family(family.name, family.documentation, family.type, family.unit)
                selected.samples = samples
                yield selected


class FabricExposition:
    """The samples of all targets, without time stamps, so that staleness works.

    fleet: the targets at present. intended: exposed for every switch, whether it answers or not. clock: of the
    loop that the sessions run in. others: further metrics, which stand behind those of the fabric.
    own: metrics of users. loaders, sinks: whose health is exposed too.
    """

    def __init__(
        self,
        fleet: Fleet,
        intended: IntendedSeries,
        clock: LoopClock,
        others: CollectorRegistry,
        own: Mapping[str, Metric] = NO_METRICS,
        *,
        loaders: Sequence[Loader] = (),
        sinks: Sequence[QueuedSink] = (),
    ) -> None:
        self._metrics = {**CATALOGUE, **own}
        self._fleet, self._loaders, self._sinks = fleet, loaders, sinks
        self._clock = clock
        self._intended = intended
        self._fabric_label = {"fabric": intended.fabric} if intended.fabric else {}
        self._intended_lines: Chunks = {}
        for device, found in intended.series.items():
            target = target_text(device, intended.fabric)
            for series in found:
                self._intended_lines.setdefault(series.metric.name, []).append(line_text(target, series) + b"1\n")
        self._others = RegistryExposition(others)

    @property
    def sessions(self) -> Sequence[TargetSession]:
        """The sessions of the targets at present."""
        return self._fleet.sessions

    def render(self, *, openmetrics: bool, names: Collection[str] | None = None) -> bytes:
        """The text of all families, or of those of these names."""
        return b"".join(map(bytes, self.parts(openmetrics=openmetrics, names=names)))

    def parts(self, *, openmetrics: bool, names: Collection[str] | None = None) -> Parts:
        """The same in parts, all of one moment; lines of targets are written only when their part is asked for."""
        wanted = [name for name in self._metrics if names is None or name in names]
        pages = [session.page() for session in self._fleet.sessions]
        chunks = self._chunks()
        for name, lines in families(wanted, pages):
            first = next(lines, None)
            if first is None and name not in chunks:
                continue
            yield _header(self._metrics[name], openmetrics)
            yield from self._intended_lines.get(name, ())
            if first is not None:
                yield first
                yield from lines
            yield from chunks.get(name, ())
        yield self._others.render(openmetrics=openmetrics, names=names)

    def snapshot(self, names: Collection[str] | None = None) -> Snapshot:
        """Every sample that is true now. names: only those metrics of the switches, and the collector's own."""
        samples: Samples = {}
        for name, labels, value in self.intended_samples():
            if names is None or name in names:
                samples.setdefault(name, []).append((labels, value))
        for session in self._fleet.sessions:
            for metric, labels, value in session.samples(names):
                samples.setdefault(metric.name, []).append((labels, value))
        for name, labels, value in self.own_samples():
            samples.setdefault(name, []).append((labels, value))
        return Snapshot(time.monotonic(), samples)

    def intended_samples(self) -> Iterator[Found]:
        """What is known from the intent alone."""
        for device, series in self._intended.series.items():
            target = {"device": device, **self._fabric_label}
            for one in series:
                yield one.metric.name, {**target, **dict(one.labels)}, 1.0

    def _chunks(self) -> Chunks:
        """The lines of the collector's own metrics."""
        chunks: Chunks = {name: [] for name in self._intended_lines}
        for name, labels, value in self.own_samples():
            text = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
            text = f"{{{text}}}" if text else ""
            chunks.setdefault(name, []).append(f"{name}{text} {_short(value)}\n".encode())
        return chunks

    def own_samples(self) -> Iterator[Found]:
        """The collector's own metrics, and what is known of targets that are of no intent."""
        is_overloaded = float(self._clock.is_overloaded)
        for session in self._fleet.sessions:
            for name, labels, value in _health_samples(session):
                yield name, {**session.target_labels, **labels}, value
            yield "fabric_collector_overloaded", session.target_labels, is_overloaded
            yield "fabric_collector_receiver_info", {**session.target_labels, "receiver": session.receiver}, 1.0
            if session.name not in self._intended.series:
                yield "fabric_target_info", {"device": session.name, **session.labels}, 1.0
        yield "fabric_collector_lag_seconds", self._fabric_label, self._clock.lag_s()
        for name, labels, value in (*loader_samples(self._loaders), *sink_samples(self._sinks)):
            yield name, {**self._fabric_label, **labels}, value


def _short(value: float) -> str:
    """A number as the kernel writes it: integers without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


class _One(Collector):
    """A family without samples."""

    def __init__(self, found: Family) -> None:
        self._family = found

    def collect(self) -> Iterator[Family]:
        yield self._family


@cache
def _header(metric: Metric, openmetrics: bool) -> bytes:
    """The lines before the samples of a metric: help, type and, in OpenMetrics, unit."""
    registry = CollectorRegistry()
    registry.register(_One(family(metric, ())))
    return RegistryExposition(registry).render(openmetrics=openmetrics).removesuffix(END)


def family(entry: Metric, samples: Iterable[tuple[Labels, float]]) -> Family:
    """A metric family of prometheus-client: kind, unit and help from the catalogue."""
    base = entry.name.removesuffix("_total") if entry.kind is Kind.COUNTER else entry.name
    base = base.removesuffix("_info") if entry.kind is Kind.INFO else base
    found = Family(base, entry.help, entry.kind.value, entry.unit if base.endswith(f"_{entry.unit}") else "")
    for labels, value in samples:
        found.add_sample(entry.name, labels, value)
    return found


def _health_samples(session: TargetSession) -> Iterator[tuple[str, Labels, float]]:
    """The collector's own metrics of one target; all of them, also while it is down."""
    prefix, health, series = "fabric_collector", session.health, session.living
    yield f"{prefix}_session_up", {}, float(session.is_up)
    for stream, is_up in session.subscriptions.items():
        yield f"{prefix}_subscription_up", {"subscription": stream.value}, float(is_up)
    yield f"{prefix}_session_state", {}, float(health.state)
    yield f"{prefix}_tls_verified", {}, float(health.tls_verified)
    yield f"{prefix}_last_update_timestamp_seconds", {"subscription": Stream.SAMPLE.value}, health.last_update_s
    if (interval_s := session.sample_interval_s) is not None:
        yield f"{prefix}_sample_interval_seconds", {"subscription": Stream.SAMPLE.value}, interval_s
    yield f"{prefix}_ingest_lag_seconds", {}, health.ingest_lag_s
    yield f"{prefix}_backlog_seconds", {}, health.backlog_s
    yield f"{prefix}_clock_skew_seconds", {}, health.clock_skew_s
    yield f"{prefix}_skewed_notifications_total", {}, float(health.skewed)
    yield f"{prefix}_held_back_seconds_total", {}, health.held_back_s
    yield f"{prefix}_reconnects_total", {}, float(health.reconnects)
    yield f"{prefix}_series", {}, float(series)
    for stream, count in health.updates.items():
        yield f"{prefix}_updates_total", {"subscription": stream.value}, float(count)
    for reason, count in health.errors.items():
        yield f"{prefix}_errors_total", {"reason": reason.value}, float(count)
    for drop, count in health.drops.items():
        yield f"{prefix}_dropped_updates_total", {"reason": drop.value}, float(count)
    for reset, count in health.resets.items():
        yield f"{prefix}_resets_total", {"reason": reset.value}, float(count)
    for root, count in sorted(dict(health.unmapped).items()):
        yield f"{prefix}_unmapped_updates_total", {"path_root": root}, float(count)
