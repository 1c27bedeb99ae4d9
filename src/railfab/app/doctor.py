"""Observation of a fabric for a diagnosis: switches over their sessions, telemetry, and the journal of deploys."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time

from prometheus_client.parser import text_string_to_metric_families

from railfab.deploy import Journal, nornir_of
from railfab.deploy.gates import Source, TelemetryReading, TelemetrySeries
from railfab.deploy.gates.contract import CLOCKS, UPDATED
from railfab.deploy.run import readings_of
from railfab.deploy.tasks import inspect
from railfab.diagnosis import METRICS, FabricDiagnosis, Observations, diagnose, read_window
from railfab.endpoints import Endpoints
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.telemetry import Collector, fabric_collector
from railfab.twin.control import metrics_text

STEP_S = 2.0
"""Time between two readings of the telemetry [s]."""
INTERVAL_S = 1.0
"""Sample interval of a collector that runs for a diagnosis [s]."""
BEGINS_WITHIN_S = 30.0
"""Time that the first samples may take [s]; what has none then is silent."""


class CollectorSource:
    """Telemetry of a collector in this process. jobs: text of the metrics of a twin's jobs, where there is a twin."""

    name = "a collector of its own"

    def __init__(self, collector: Collector, fabric: str, jobs: Callable[[], str]) -> None:
        self._collector, self._fabric, self._jobs = collector, fabric, jobs

    def read(self, metrics: Collection[str], devices: Collection[str] | None = None) -> TelemetryReading:
        """The last values of these metrics and of the clocks, see `Source.read`."""
        wanted = frozenset((*metrics, *CLOCKS))
        values: dict[TelemetrySeries, float] = {}
        updated_s: dict[str, float] = {}
        for name, labels, value in self._samples(wanted):
            device = labels.get("device", "")
            if devices is not None and device not in devices:
                continue
            if name == UPDATED:
                if value > 0:
                    updated_s[device] = min(value, updated_s.get(device, value))
            else:
                kept = sorted((key, text) for key, text in labels.items() if text and key != "fabric")
                values[TelemetrySeries(name, tuple(kept))] = value
        return TelemetryReading(values, updated_s)

    def _samples(self, wanted: frozenset[str]) -> Iterator[tuple[str, Mapping[str, str], float]]:
        for name, labels, value in self._collector.snapshot():
            if name in wanted:
                yield name, labels, value
        for family in text_string_to_metric_families(self._jobs()):
            yield from ((each.name, each.labels, each.value) for each in family.samples if each.name in wanted)


@contextmanager
def collected(fabric: Design, endpoints: Endpoints, state: Path, *, has_twin: bool) -> Iterator[Source]:
    """Collect from the switches while a diagnosis reads their telemetry."""

    def jobs() -> str:
        with suppress(RailfabError):
            return metrics_text(state, fabric.intent.fabric) if has_twin else ""
        return ""

    collector = fabric_collector(fabric.topology, endpoints, classes=fabric.traffic_classes, interval_s=INTERVAL_S)
    with collector:
        collector.wait_until_up(BEGINS_WITHIN_S)
        yield CollectorSource(collector, fabric.intent.fabric, jobs)


def diagnosed(
    fabric: Design,
    endpoints: Endpoints,
    source: Source,
    *,
    window_s: float,
    state: Path,
    words: Mapping[str, str],
    without_address: Sequence[RailfabError] = (),
    on_done: Callable[[str], None] = lambda _name: None,
) -> FabricDiagnosis:
    """Read the switches and window_s of telemetry at the same time, and rank the causes of what they show.

    words: `intent` and `on` of next commands, such as ` --on twin`.

    Raises RailfabError for telemetry that cannot be read.
    """
    stop_requested = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        window = pool.submit(read_window, source, METRICS, window_s, STEP_S, wait=stop_requested.wait)
        try:
            read = readings_of(nornir_of(fabric, endpoints), inspect, on_done)
        finally:
            if window.done():
                window.result()
        seen = Observations(
            fabric=fabric,
            inspected=read.answers,
            unread={**{error.where: error for error in without_address}, **read.unread},
            window=window.result(),
            deploys=Journal(state, fabric.intent.fabric).deploys(),
        )
    return diagnose(seen, words, time())
