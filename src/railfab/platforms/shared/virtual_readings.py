"""Readings of a virtual switch, by their labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from railfab.platforms.twin_face import VirtualDevice

Values = Mapping[tuple[str, ...], float]
"""Values by labels."""


class SwitchReadings:
    """The present readings of a switch."""

    def __init__(self, device: VirtualDevice) -> None:
        self._series: dict[str, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
        for reading in device.readings():
            self._series[reading.metric].append((reading.labels, reading.value))

    def by(self, metric: str, *labels: str, **where: str) -> Values:
        """Values of a metric by these labels, each the sum over the others. where: labels that have one value."""
        summed: dict[tuple[str, ...], float] = defaultdict(float)
        for held, value in self._matching(metric, where):
            summed[tuple(held[label] for label in labels)] += value
        return summed

    def of_port(self, metric: str, port: str) -> float:
        """The value of a metric of a port; 0 without one."""
        return sum(value for _, value in self._matching(metric, {"interface": port}))

    def _matching(self, metric: str, where: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], float]]:
        for held, value in self._series[metric]:
            if all(held.get(label) == wanted for label, wanted in where.items()):
                yield held, value
