"""Metrics of the job and of the twin, in the exposition of the twin's collector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from railfab.errors import EndpointError
from railfab.twin.control import metrics_text

COLLECTED = "fabric_twin_simulated_seconds"
"""Of each switch the collector has it from its samples."""


class TwinMetricsRelay(Collector):
    """What a running twin serves of its job and of itself, read at each scrape; nothing while it does not answer.

    state: the directory with the twin's files. A twin that was started again is found by them.
    """

    def __init__(self, state: Path, fabric: str) -> None:
        self._state, self._fabric = state, fabric

    def describe(self) -> Iterable[Family]:
        """No metric: the twin need not answer yet."""
        return []

    def collect(self) -> Iterator[Family]:
        try:
            text = metrics_text(self._state, self._fabric)
        except EndpointError:
            return
        yield from (family for family in text_string_to_metric_families(text) if family.name != COLLECTED)
