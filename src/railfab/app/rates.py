"""Rates by simulated time: the increase of a counter between two samples, over the time simulated between them."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from railfab.app.reading import Intended, SwitchTotals, Totals
from railfab.units import gbps

MOST_POINTS = 2000
"""Readings of the clock that are kept, more than enough for its pace."""


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
class Reading:
    """Rates of the fabric per simulated second, and the totals that they end with.

    rail_gbps: transmitted to the hosts of each rail; None as long as no switch of the rail has sent two samples.
    stale: switches whose last sample is too old, and its age [s], None of a switch that has sent none; stale_rails:
    rails that one of these serves.
    """

    totals: Totals
    rail_gbps: Mapping[int, float | None]
    marks_per_s: float | None
    pauses_per_s: float | None
    drops_per_s: float | None
    stale: Mapping[str, float | None]
    stale_rails: frozenset[int]


class Rates:
    """Rates of every switch between two of its own samples, up to window_s apart [wall time].

    The rates of a switch that sends nothing any more stay as they were; the reading says that they are stale, once the
    last sample is older than window_s.
    """

    def __init__(self, intended: Intended, window_s: float) -> None:
        self._window_s = window_s
        self._switches_of_rail = intended.switches_of_rail
        self._points: dict[str, deque[SwitchTotals]] = {name: deque() for name in sorted(intended.switches)}

    def restart(self) -> None:
        """Compute rates from the newest samples on: what came before was another job's."""
        for points in self._points.values():
            while len(points) > 1:
                points.popleft()

    def add(self, totals: Totals) -> Reading:
        """Add totals; the reading that they end with."""
        for name, points in self._points.items():
            switch = totals.switches[name]
            if switch.counted_s > (points[-1].counted_s if points else 0.0):
                points.append(switch)
                while len(points) > 2 and switch.sampled_s - points[0].sampled_s > self._window_s:
                    points.popleft()
        stale = self._stale(totals)
        return Reading(
            totals=totals,
            rail_gbps={rail: self._rail_gbps(rail) for rail in self._switches_of_rail},
            marks_per_s=self._sum(lambda switch: switch.marks),
            pauses_per_s=self._sum(lambda switch: switch.pauses),
            drops_per_s=self._sum(lambda switch: switch.drops),
            stale=stale,
            stale_rails=frozenset(rail for rail, serving in self._switches_of_rail.items() if serving & stale.keys()),
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
        rates = [
            (counter(points[-1]) - counter(points[0])) / seconds
            for points in map(self._points.__getitem__, switches or self._points)
            if len(points) > 1 and (seconds := points[-1].counted_s - points[0].counted_s) > 0
        ]
        return sum(rates) if rates else None
