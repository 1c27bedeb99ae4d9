"""Observation of a fabric for a diagnosis: switches over their sessions, telemetry, and the journal of deploys."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from time import time

from railfab.app.twin_metrics import TwinMetricsRelay
from railfab.deploy import Journal, nornir_of
from railfab.deploy.gates import Source, TelemetryReading
from railfab.deploy.gates.contract import CLOCKS
from railfab.deploy.run import Readings, readings_of
from railfab.deploy.tasks import inspect
from railfab.device import Observed
from railfab.diagnosis import METRICS, FabricDiagnosis, Observations, diagnose, read_window
from railfab.endpoints import Endpoints
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.nic_agreement import NicStates
from railfab.platforms import Running
from railfab.telemetry import Collector, fabric_collector

STEP_S = 2.0
"""Time between two readings of the telemetry [s]."""
INTERVAL_S = 1.0
"""Sample interval of a collector that runs for a diagnosis [s]."""
BEGINS_WITHIN_S = 30.0
"""Time that the first samples may take [s]; what has none then is silent."""


class CollectorSource:
    """Telemetry of a collector in this process. state: of the twin whose jobs it has too; None without a twin."""

    name = "the collector of this process"

    def __init__(self, collector: Collector, fabric: str, state: Path | None) -> None:
        self._collector, self._fabric, self._state = collector, fabric, state

    def read(self, metrics: Collection[str], devices: Collection[str] | None = None) -> TelemetryReading:
        """The last values of these metrics and of the clocks, see `Source.read`."""
        return TelemetryReading.of(self._samples(frozenset((*metrics, *CLOCKS)), devices))

    def _samples(
        self, wanted: frozenset[str], devices: Collection[str] | None
    ) -> Iterator[tuple[str, Mapping[str, str], float]]:
        for name, labels, value in chain(self._collector.snapshot(), self._of_jobs()):
            if name in wanted and (devices is None or labels.get("device") in devices):
                yield name, labels, value

    def _of_jobs(self) -> Iterator[tuple[str, Mapping[str, str], float]]:
        """The samples of a twin of its jobs; none while it does not answer."""
        for family in TwinMetricsRelay(self._state, self._fabric).collect() if self._state else ():
            yield from ((sample.name, sample.labels, sample.value) for sample in family.samples)


@contextmanager
def collected(fabric: Design, endpoints: Endpoints, state: Path, *, has_twin: bool) -> Iterator[Source]:
    """Collect from the switches while a diagnosis reads their telemetry."""
    collector = fabric_collector(fabric.topology, endpoints, classes=fabric.traffic_classes, interval_s=INTERVAL_S)
    with collector:
        collector.wait_until_up(BEGINS_WITHIN_S)
        yield CollectorSource(collector, fabric.intent.fabric, state if has_twin else None)


def diagnosed(
    fabric: Design,
    endpoints: Endpoints | None,
    source: Source,
    *,
    window_s: float,
    state: Path,
    words: Mapping[str, str],
    without_address: Sequence[RailfabError] = (),
    nics: NicStates | None = None,
    on_done: Callable[[str], None] = lambda _name: None,
) -> FabricDiagnosis:
    """Read the switches and window_s of telemetry at the same time, and rank the causes of what they show.

    endpoints: None where only the telemetry is read. words: `intent`, `on` and `hosts` of next commands, such
    as ` --on twin`. nics: of hosts.

    Raises RailfabError for telemetry that cannot be read.
    """
    stop_requested = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        window = pool.submit(read_window, source, METRICS, window_s, STEP_S, wait=stop_requested.wait)
        try:
            read: Readings[tuple[Running, Observed]] = Readings({}, {})
            if endpoints is not None:
                read = readings_of(nornir_of(fabric, endpoints), inspect, on_done)
            telemetry = window.result()
        finally:
            stop_requested.set()
        seen = Observations(
            fabric=fabric,
            inspected=read.answers,
            unread={**{error.where: error for error in without_address}, **read.unread},
            window=telemetry,
            deploys=Journal(state, fabric.intent.fabric).deploys(),
            nics=nics,
        )
    return diagnose(seen, words, time())
