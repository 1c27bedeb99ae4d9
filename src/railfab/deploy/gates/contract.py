"""A gate of a roll-out: it compares a fabric after a wave of changes with what was read before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class GateFailure:
    """One reason why a wave must not stay. series: what was compared. before, after, limit: its values, with units."""

    gate: str
    series: str
    before: str
    after: str
    limit: str
    problem: str

    @property
    def line(self) -> str:
        """The failure as commands print it."""
        values = (("before", self.before), ("after", self.after), ("limit", self.limit))
        stated = ", ".join(f"{name} {value}" for name, value in values if value)
        return f"gate {self.gate}: {self.series}: {self.problem}{f' ({stated})' if stated else ''}"


class Gate(Protocol):
    """A check of the switches of a wave. A gate that cannot be read is a failed gate.

    A roll-out that is killed between a change and its gate is continued by another process, which takes back what was
    read before the change.

    before_undrain: whether it also judges drained switches before they get their traffic back.
    """

    name: str
    before_undrain: bool

    def baseline(self, switches: Sequence[str]) -> None:
        """Read what `failures` compares with. Raises RailfabError where it cannot be read."""
        ...

    def failures(self, switches: Sequence[str]) -> tuple[GateFailure, ...]:
        """The failures of these switches, after a wait with a bound that each gate states."""
        ...

    def saved(self) -> Any:
        """The baseline as a JSON value."""
        ...

    def restore(self, value: Any) -> None:
        """Take back the baseline that another process has saved. Raises RailfabError for what is none."""
        ...


SIMULATED = "fabric_twin_simulated_seconds_total"
UPDATED = "fabric_collector_last_update_timestamp_seconds"
CLOCKS = (SIMULATED, UPDATED)
"""Metrics of the time of samples, which every reading has of the switches that are asked for."""
NOT_OF_SERIES = ("fabric", "__name__")
"""Labels that tell no two series of a fabric apart."""


@dataclass(frozen=True, slots=True)
class TelemetrySeries:
    """A series of the metric catalogue. labels: those that have values, sorted, without that of the fabric."""

    metric: str
    labels: tuple[tuple[str, str], ...]

    def __getitem__(self, label: str) -> str:
        """The value of a label, empty where it has none."""
        return next((value for name, value in self.labels if name == label), "")

    @property
    def device(self) -> str:
        return self["device"]

    def __str__(self) -> str:
        labels = ", ".join(f'{name}="{value}"' for name, value in self.labels)
        return f"{self.metric}{{{labels}}}"


@dataclass(frozen=True, slots=True)
class TelemetryReading:
    """The last values of series. updated_s: when the last sample of each switch came, by the clock of its collector."""

    values: Mapping[TelemetrySeries, float]
    updated_s: Mapping[str, float]

    @classmethod
    def of(cls, samples: Iterable[tuple[str, Mapping[str, str], float]]) -> TelemetryReading:
        """The reading of samples: metric, labels and value of each. A switch before its first sample has no time."""
        values: dict[TelemetrySeries, float] = {}
        updated_s: dict[str, float] = {}
        for metric, labels, value in samples:
            if metric != UPDATED:
                kept = ((name, text) for name, text in labels.items() if text and name not in NOT_OF_SERIES)
                values[TelemetrySeries(metric, tuple(sorted(kept)))] = value
            elif value > 0:
                device = labels.get("device", "")
                updated_s[device] = min(value, updated_s.get(device, value))
        return cls(values, updated_s)


class Source(Protocol):
    """Telemetry of a fabric. name: its URL, without secrets."""

    name: str

    def read(self, metrics: Collection[str], devices: Collection[str] | None = None) -> TelemetryReading:
        """The last values of these metrics and of CLOCKS, of these switches, else of all series of the fabric.

        Raises RailfabError.
        """
        ...
