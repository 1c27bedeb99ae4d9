"""Telemetry of a fabric over a window of time: growth and rates of counters, last values of gauges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from railfab.deploy.gates import Source, TelemetryReading, TelemetrySeries
from railfab.deploy.gates.rates import growth, seconds


class TelemetryWindow:
    """Readings of the same series, the oldest first."""

    def __init__(self, readings: Sequence[TelemetryReading]) -> None:
        self.readings = tuple(readings)

    @property
    def last(self) -> Mapping[TelemetrySeries, float]:
        """The values at the end of the window."""
        return self.readings[-1].values if self.readings else {}

    @cached_property
    def second_half(self) -> TelemetryWindow:
        """The later readings: what began or ended shortly before the window is in both ends of a link by then."""
        return TelemetryWindow(self.readings[(len(self.readings) - 1) // 2 :])

    @cached_property
    def growth(self) -> Mapping[TelemetrySeries, float]:
        """What each counter has grown by in the whole window, resets left out."""
        grown: dict[TelemetrySeries, float] = {}
        for before, after in pairwise(self.readings):
            for series, value in growth(before, after).items():
                grown[series] = grown.get(series, 0.0) + value
        return grown

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """Time between the first and the last sample of each switch; on a twin, simulated time [s]."""
        passed: dict[str, float] = {}
        for before, after in pairwise(self.readings):
            for switch, value in seconds(before, after).items():
                passed[switch] = passed.get(switch, 0.0) + value
        return passed

    def grown(self, metric: str) -> Iterator[tuple[TelemetrySeries, float]]:
        """The series of a counter that have grown, and by how much."""
        return ((series, value) for series, value in self._of(self.growth, metric) if value > 0)

    def rates(self, metric: str) -> Iterator[tuple[TelemetrySeries, float]]:
        """The series of a counter that have grown, and their growth a second."""
        for series, value in self.grown(metric):
            if passed := self.seconds.get(series.device):
                yield series, value / passed

    def latest(self, metric: str) -> Iterator[tuple[TelemetrySeries, float]]:
        """The last value of each series of a metric."""
        return self._of(self.last, metric)

    def port_growth(self, metrics: Collection[str]) -> Mapping[tuple[str, str], float]:
        """The sum of the growth of counters by port; 0 for a port that counts and did not grow."""
        sums: dict[tuple[str, str], float] = {}
        for metric in metrics:
            for series, value in self._of(self.growth, metric):
                port = series.device, series["interface"]
                sums[port] = sums.get(port, 0.0) + value
        return sums

    def port_values(self, metric: str) -> Mapping[tuple[str, str], float]:
        """The last value of a gauge by port; of lanes the highest one."""
        values: dict[tuple[str, str], float] = {}
        for series, value in self.latest(metric):
            port = series.device, series["interface"]
            values[port] = max(value, values.get(port, value))
        return values

    def _of(self, values: Mapping[TelemetrySeries, float], metric: str) -> Iterator[tuple[TelemetrySeries, float]]:
        return ((series, values[series]) for series in self._series(metric) if series in values)

    def _series(self, metric: str) -> Sequence[TelemetrySeries]:
        return self._by_metric.get(metric, ())

    @cached_property
    def _by_metric(self) -> Mapping[str, Sequence[TelemetrySeries]]:
        by_metric: dict[str, list[TelemetrySeries]] = {}
        for series in self.last:
            by_metric.setdefault(series.metric, []).append(series)
        return by_metric


def read_window(
    source: Source, metrics: Collection[str], window_s: float, step_s: float, *, wait: Callable[[float], bool]
) -> TelemetryWindow:
    """Read the telemetry each step_s for window_s. wait: sleeps, and says whether a stop is requested."""
    readings = [source.read(metrics)]
    passed_s = 0.0
    while passed_s < window_s and not wait(step_s):
        readings.append(source.read(metrics))
        passed_s += step_s
    return TelemetryWindow(readings)
