"""Rates by simulated time: the increase of a counter between two samples, over the time simulated between them."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import NamedTuple

from railfab.app.reading import Intended, SwitchTotals, Totals
from railfab.units import gbps

MOST_POINTS = 2000
"""Readings of the clock that are kept, more than enough for its pace."""
MOST_BUSIEST = 60


class SimulatedClock:
    """The pace of a twin, from readings of its simulated time."""

    def __init__(self) -> None:
        self._at_s: list[float] = []
        self._simulated_s: list[float] = []
        self._first_s: tuple[float, float] | None = None

    def add(self, at_s: float, simulated_s: float) -> None:
        """Add a reading. at_s: Unix time; readings come in its order."""
        self._first_s = self._first_s or (at_s, simulated_s)
        self._at_s.append(at_s)
        self._simulated_s.append(simulated_s)
        if len(self._at_s) > MOST_POINTS:
            del self._at_s[: MOST_POINTS // 2], self._simulated_s[: MOST_POINTS // 2]

    @property
    def simulated_s(self) -> float:
        """Simulated time at the last reading."""
        return self._simulated_s[-1]

    def pace(self, over_s: float | None = None) -> float:
        """Simulated seconds a second, over this time before the last reading, or since the first."""
        if self._first_s is None:
            return 1.0
        began_s, simulated_s = self._first_s
        if over_s is not None and self._at_s[-1] - over_s > began_s:
            place = bisect_right(self._at_s, self._at_s[-1] - over_s) - 1
            began_s, simulated_s = self._at_s[place], self._simulated_s[place]
        passed_s = self._at_s[-1] - began_s
        return (self._simulated_s[-1] - simulated_s) / passed_s if passed_s > 0 else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchRates:
    """Rates of one switch per simulated second. sent_gbps: of all its ports together."""

    sent_gbps: float
    marks_per_s: float
    pauses_per_s: float
    drops_per_s: float


class PortRate(NamedTuple):
    """What a port transmits. share: of its rate."""

    switch: str
    interface: str
    gbps: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricRates:
    """Rates of the fabric per simulated second, and the totals that they end with.

    rail_gbps: transmitted to the hosts of each rail; None as long as no switch of the rail has sent two samples.
    stale: switches whose last sample is too old, and its age [s], None of a switch that has sent none; stale_rails:
    rails that one of these serves. switches: those that have sent two samples. busiest: ports by their share, the
    highest first, at most MOST_BUSIEST.
    """

    totals: Totals
    rail_gbps: Mapping[int, float | None]
    marks_per_s: float | None
    pauses_per_s: float | None
    drops_per_s: float | None
    stale: Mapping[str, float | None]
    stale_rails: frozenset[int]
    switches: Mapping[str, SwitchRates] = field(default_factory=dict)
    busiest: tuple[PortRate, ...] = ()


class Rates:
    """Rates of every switch between two of its own samples, up to window_s apart [wall time].

    The rates of a switch that sends nothing any more stay as they were; the reading says that they are stale, once the
    last sample is older than window_s.
    """

    def __init__(self, intended: Intended, window_s: float) -> None:
        self._window_s = window_s
        self._switches_of_rail = intended.switches_of_rail
        self._port_gbps = intended.port_gbps
        self._points: dict[str, deque[SwitchTotals]] = {name: deque() for name in sorted(intended.switches)}

    def restart(self) -> None:
        """Compute rates from the newest samples on: what came before was another job's."""
        for points in self._points.values():
            while len(points) > 1:
                points.popleft()

    def add(self, totals: Totals) -> FabricRates:
        """Add totals; the reading that they end with."""
        for name, points in self._points.items():
            switch = totals.switches[name]
            if switch.counted_s > (points[-1].counted_s if points else 0.0):
                points.append(switch)
                while len(points) > 2 and switch.sampled_s - points[0].sampled_s > self._window_s:
                    points.popleft()
        stale = self._stale(totals)
        return FabricRates(
            totals=totals,
            rail_gbps={rail: self._rail_gbps(rail) for rail in self._switches_of_rail},
            marks_per_s=self._sum(lambda switch: switch.marks),
            pauses_per_s=self._sum(lambda switch: switch.pauses),
            drops_per_s=self._sum(lambda switch: switch.drops),
            stale=stale,
            stale_rails=frozenset(rail for rail, serving in self._switches_of_rail.items() if serving & stale.keys()),
            switches={name: found for name in self._points if (found := self._switch(name)) is not None},
            busiest=self._busiest(),
        )

    def _stale(self, totals: Totals) -> dict[str, float | None]:
        """The switches whose last sample is too old, and its age."""
        ages_s = {
            name: totals.at_s - switch.sampled_s if switch.sampled_s else None
            for name, switch in totals.switches.items()
        }
        return {name: age_s for name, age_s in ages_s.items() if age_s is None or age_s > self._window_s}

    def _rail_gbps(self, rail: int) -> float | None:
        sent = self._sum(lambda switch: switch.rail_bytes.get(rail, 0.0), self._switches_of_rail[rail])
        return None if sent is None else gbps(sent)

    def _sum(self, counter: Callable[[SwitchTotals], float], switches: Iterable[str] | None = None) -> float | None:
        """The rate of a counter of these switches, or of all, together; None when it is known of none of them."""
        spans = [span for name in switches or self._points if (span := self._span(name)) is not None]
        return sum(span.rate(counter) for span in spans) if spans else None

    def _span(self, name: str) -> _Span | None:
        """The samples of a switch that its rates are of; None where there are no two."""
        points = self._points[name]
        return _Span(points[0], points[-1]) if len(points) > 1 else None

    def _switch(self, name: str) -> SwitchRates | None:
        span = self._span(name)
        if span is None:
            return None
        return SwitchRates(
            sent_gbps=gbps(span.rate(lambda switch: switch.sent_bytes)),
            marks_per_s=span.rate(lambda switch: switch.marks),
            pauses_per_s=span.rate(lambda switch: switch.pauses),
            drops_per_s=span.rate(lambda switch: switch.drops),
        )

    def _busiest(self) -> tuple[PortRate, ...]:
        """The ports with the highest shares of their rates."""
        spans = {name: span for name in self._points if (span := self._span(name)) is not None}
        rates = {key: spans[key[0]].port_gbps(key[1]) for key in self._port_gbps if key[0] in spans}
        found = (PortRate(*key, rate, rate / self._port_gbps[key]) for key, rate in rates.items())
        return tuple(nlargest(MOST_BUSIEST, found, key=lambda port: port.share))


class _Span(NamedTuple):
    """Two samples of a switch, at different simulated times."""

    first: SwitchTotals
    last: SwitchTotals

    def rate(self, counter: Callable[[SwitchTotals], float]) -> float:
        """The increase of a counter per simulated second."""
        return (counter(self.last) - counter(self.first)) / (self.last.counted_s - self.first.counted_s)

    def port_gbps(self, interface: str) -> float:
        """What a port has transmitted in a simulated second."""
        return gbps(self.rate(lambda switch: switch.port_bytes.get(interface, 0.0)))
