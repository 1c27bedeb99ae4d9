"""The gate of the telemetry: what the counters of a wave's switches, the rails and the jobs show must not get worse."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite
from time import monotonic
from typing import Any

from railfab.deploy.gates.checks import CHECKS, STEP_TIME, TelemetryCheck
from railfab.deploy.gates.contract import GateFailure, Source, TelemetryReading, TelemetrySeries
from railfab.deploy.gates.measures import (
    OF_FABRIC,
    OF_SWITCHES,
    SENT,
    Measures,
    rail_measures,
    step_measures,
    switch_measures,
)
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.intent.gates import GateLimits
from railfab.text.counted import counted
from railfab.topology import CabledPort

ARRIVES_WITHIN_S = 60.0
"""Time in which new samples arrive beside those of the windows: the sessions of a collector come back after it [s]."""
POLLS = 10
"""Looks at the clocks of the samples in the time of a window."""
SHOWN = 8
"""Series of a check that are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class SampleWindow:
    """Readings at the begin and the end of a window. late: switches of the wave without samples of a whole window."""

    before: TelemetryReading
    after: TelemetryReading
    late: Mapping[str, str]


@dataclass
class TelemetryGate:
    """Compares a window of samples after a wave with one before it.

    The window after it begins with the first sample of each switch that comes after the wave, so that the gate takes
    up to two windows and arrives_within_s. stop_requested: ends every wait, and fails the gate.
    """

    fabric: Design
    source: Source
    stop_requested: threading.Event = field(default_factory=threading.Event)
    arrives_within_s: float = ARRIVES_WITHIN_S
    name: str = "telemetry"
    before_undrain: bool = False
    _before: Measures = field(default_factory=dict, init=False)

    @property
    def limits(self) -> GateLimits:
        return self.fabric.intent.change.gates

    def baseline(self, switches: Sequence[str]) -> None:
        self._before = self._measures(self._window(switches), switches)

    def failures(self, switches: Sequence[str]) -> tuple[GateFailure, ...]:
        try:
            window = self._window(switches)
            measured = self._measures(window, switches)
        except RailfabError as error:
            return (GateFailure(self.name, error.where, "", "", "", f"{error.problem}. {error.remedy}"),)
        return (*self._unobserved(window, switches), *self._exceeded(measured))

    def saved(self) -> Any:
        return {
            check: {series: value for series, value in values.items() if value and isfinite(value)}
            for check, values in self._before.items()
        }

    def restore(self, value: Any) -> None:
        try:
            self._before = {
                check: {series: float(number) for series, number in values.items()} for check, values in value.items()
            }
        except (AttributeError, TypeError, ValueError):
            problem = "what was read before the wave is damaged"
            raise RailfabError(f"gate {self.name}", problem, "Run railfab deploy --abort") from None

    def _window(self, switches: Sequence[str]) -> SampleWindow:
        """Readings that are a window apart. Raises RailfabError where the source cannot be read."""
        first = self.source.read((), switches).updated_s
        silent = self._wait(switches, first, 0.0, self.arrives_within_s)
        before = self._read(switches)
        live = [name for name in switches if name not in silent]
        late = self._wait(live, before.updated_s, self.limits.window_s, 2 * self.limits.window_s)
        return SampleWindow(before, self._read(switches), {**silent, **late})

    def _wait(
        self, switches: Sequence[str], since_s: Mapping[str, float], window_s: float, within_s: float
    ) -> Mapping[str, str]:
        """Wait for samples more than window_s after those; returns the switches that have none then, with the reason.

        A switch that has no sample at all is waited for, as its session may come back.
        """
        end = monotonic() + within_s
        while True:
            updated_s = self.source.read((), switches).updated_s
            late = {
                name: _reason(since_s.get(name), updated_s.get(name))
                for name in switches
                if not updated_s.get(name, -inf) > since_s.get(name, 0.0) + window_s
            }
            if not late or monotonic() >= end:
                return late
            if self.stop_requested.wait(self.limits.window_s / POLLS):
                raise RailfabError(f"gate {self.name}", "a stop was requested", "Continue with railfab deploy --resume")

    def _read(self, switches: Sequence[str]) -> TelemetryReading:
        """The series of the wave's switches, of the ports that lead to them, of the rails and of the jobs."""
        facing = {(peer.node, peer.name) for name in switches for _, peer, _ in self.fabric.topology.ports_of(name)}
        beside = {node for node, _ in facing if node in self.fabric.models} - set(switches)
        near = self.source.read(OF_SWITCHES, sorted({*switches, *beside}))
        wide = self.source.read(OF_FABRIC)
        if not wide.updated_s:
            problem = f"has no series of switches of the fabric {self.fabric.intent.fabric}"
            raise RailfabError(self.source.name, problem, "Correct the URL, and check that railfab collect runs")
        values = dict(wide.values)
        for series, value in near.values.items():
            port = (series.device, series["interface"])
            if series.device in switches or port in facing or not series["interface"]:
                values[series] = value
        return TelemetryReading(values, {**wide.updated_s, **near.updated_s})

    def _measures(self, window: SampleWindow, switches: Collection[str]) -> Measures:
        usual_s = self._before.get(STEP_TIME.name, {})
        return {
            **switch_measures(window.before, window.after, switches),
            **rail_measures(window.before, window.after, self._rails),
            **step_measures(window.before, window.after, usual_s),
        }

    @cached_property
    def _rails(self) -> Mapping[int, list[CabledPort]]:
        """The ports of rail switches towards hosts, by rail."""
        rails: dict[int, list[CabledPort]] = defaultdict(list)
        for node in self.fabric.topology.switches():
            for port, _, _ in self.fabric.topology.ports_of(node.name):
                if port.rail is not None:
                    rails[port.rail].append(port)
        return rails

    def _unobserved(self, window: SampleWindow, switches: Sequence[str]) -> Iterator[GateFailure]:
        """Switches and ports of the intent without series: what is not seen is not known to be in order."""
        for name, reason in window.late.items():
            yield GateFailure(self.name, name, "", "", "", f"{reason}. Check railfab collect and the switch")
        sent = {(series.device, series["interface"]) for series in window.after.values if series.metric == SENT}
        for name in (name for name in switches if name not in window.late):
            ports = [port.name for port, _, _ in self.fabric.topology.ports_of(name) if port.cage]
            missing = [port for port in ports if (name, port) not in sent]
            if missing:
                problem = f"{len(missing)} of {counted(len(ports), 'port')} have no series. Check railfab collect"
                series = TelemetrySeries(SENT, (("device", name), ("interface", missing[0])))
                yield GateFailure(self.name, str(series), "", "", "", problem)

    def _exceeded(self, measured: Measures) -> Iterator[GateFailure]:
        """Values above their limits, of each check the worst first."""
        for check in CHECKS:
            before = self._before.get(check.name, {})
            above = [
                (value, limit, series)
                for series, value in measured.get(check.name, {}).items()
                if (limit := check.limit(self.limits, before.get(series))) is not None and value > limit
            ]
            above.sort(reverse=True)
            for number, (value, limit, series) in enumerate(above[:SHOWN], start=1):
                more = f" (and {len(above) - SHOWN} more series)" if SHOWN == number < len(above) else ""
                yield self._failure(check, series, before.get(series, 0.0), value, limit, more)

    def _failure(
        self, check: TelemetryCheck, series: str, before: float, after: float, limit: float, more: str
    ) -> GateFailure:
        key = f" by change.gates.{check.key}" if check.key else ""
        return GateFailure(
            gate=self.name,
            series=series,
            before=check.text(before),
            after=check.text(after),
            limit=f"{check.text(limit)}{key}",
            problem=f"{check.problem}{more}",
        )


def _reason(before_s: float | None, after_s: float | None) -> str:
    if after_s is None:
        return "has no telemetry"
    if before_s is None or after_s > before_s:
        return "has telemetry of less than a window"
    return "has no new sample since the wave"
