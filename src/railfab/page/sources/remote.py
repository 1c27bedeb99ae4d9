"""A Prometheus, or the exposition of a collector, behind a URL."""

from __future__ import annotations

import time

import numpy as np

from railfab.deploy.gates.source import TelemetrySource
from railfab.errors import EndpointError
from railfab.page.columns import METRICS, VectorLayout
from railfab.page.sources.contract import FabricReading, SourceUnreadable, reading_of

SHOW_AGAIN = "Check that it runs; the page goes on by itself"


class RemoteSource:
    """Reads the telemetry of a URL. interval_s: between two samples of a switch there, with the time of a scrape."""

    name = "prometheus"

    def __init__(self, layout: VectorLayout, telemetry: TelemetrySource, *, interval_s: float) -> None:
        self._layout, self._telemetry, self._interval_s = layout, telemetry, interval_s
        self._places: dict[tuple[str, ...], tuple[int, ...]] = {}

    @property
    def interval_s(self) -> float:
        """Time between two samples of a switch [s]."""
        return self._interval_s

    def read(self) -> FabricReading:
        """What the server knows now. Raises SourceUnreadable."""
        places: list[int] = []
        values: list[float] = []
        try:
            for metric, labels, value in self._telemetry.samples(METRICS):
                key = (metric, *labels.values())
                known = self._places.get(key)
                if known is None:
                    known = self._places[key] = tuple(self._layout.places(metric, labels))
                for place in known:
                    places.append(place)
                    values.append(value)
        except EndpointError as error:
            raise SourceUnreadable(error.where, error.problem, SHOW_AGAIN) from None
        vector = self._layout.folded(np.array(places, np.int64), np.array(values, float))
        return reading_of(self._layout, vector, time.time())
