"""A gate of a roll-out: it compares a fabric after a wave of changes with what was read before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
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
    """

    name: str

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


@dataclass(frozen=True, slots=True)
class TelemetrySeries:
    """A series of the metric catalogue: its name, and its labels without that of the fabric."""

    metric: str
    labels: Mapping[str, str] = field(hash=False)

    @property
    def device(self) -> str:
        return self.labels.get("device", "")

    def __str__(self) -> str:
        labels = ", ".join(f'{name}="{value}"' for name, value in sorted(self.labels.items()))
        return f"{self.metric}{{{labels}}}"


@dataclass(frozen=True, slots=True)
class TelemetryReading:
    """Values of series at one time. at_s: when they were read, by the clock of the source [Unix time].

    updated_s: when the last sample of each switch arrived, by the same clock.
    """

    at_s: float
    values: Mapping[TelemetrySeries, float]
    updated_s: Mapping[str, float]


class Source(Protocol):
    """Telemetry of a fabric. name: its URL, without secrets."""

    name: str

    def read(self, metrics: Collection[str], devices: Collection[str] = ()) -> TelemetryReading:
        """The last values of these metrics, of these switches where any are named, else of all. Raises RailfabError."""
        ...
