"""Rates of counters between two readings."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.deploy.gates.contract import SIMULATED, TelemetryReading, TelemetrySeries
from railfab.metrics import CATALOGUE, Kind

COUNTED = frozenset(
    name
    for metric in CATALOGUE.values()
    if metric.kind in (Kind.COUNTER, Kind.HISTOGRAM)
    for name in metric.exposed_names()
)
"""Names of series that only grow."""


def growth(before: TelemetryReading, after: TelemetryReading) -> Mapping[TelemetrySeries, float]:
    """What each counter that is in both readings has grown by; one that was reset, by its value."""
    grown = {}
    for series, value in after.values.items():
        if series.metric in COUNTED and (former := before.values.get(series)) is not None:
            grown[series] = value - former if value >= former else value
    return grown


def seconds(before: TelemetryReading, after: TelemetryReading) -> Mapping[str, float]:
    """Time between the samples of each switch that has new ones; of a switch of a twin, simulated time [s]."""
    passed = {
        device: updated - before.updated_s[device]
        for device, updated in after.updated_s.items()
        if updated > before.updated_s.get(device, updated)
    }
    for series, simulated in growth(before, after).items():
        if series.metric == SIMULATED and series.device in passed and simulated > 0:
            passed[series.device] = simulated
    return passed


def rates(before: TelemetryReading, after: TelemetryReading) -> Mapping[TelemetrySeries, float]:
    """Growth of the counters of switches with new samples, a second."""
    passed = seconds(before, after)
    return {
        series: grown / passed[series.device]
        for series, grown in growth(before, after).items()
        if series.device in passed
    }
