"""The numbers of the whole fabric, in the form of an event."""

from __future__ import annotations

from typing import Any

import numpy as np

from railfab.page.columns import Numbers
from railfab.page.plan import PagePlan
from railfab.page.rates import PortRates

PACE_S = 5.0
"""Time over which the pace of simulated time is averaged."""
MOST_POINTS = 100


class PaceMeter:
    """Simulated seconds a second, over the last PACE_S."""

    def __init__(self) -> None:
        self._points: list[tuple[float, float]] = []

    def add(self, at_s: float, simulated_s: float) -> float | None:
        """The pace; None without simulated time, and before there are two points."""
        if np.isnan(simulated_s):
            return None
        if self._points and simulated_s < self._points[-1][1]:
            self._points.clear()
        self._points.append((at_s, simulated_s))
        while len(self._points) > 2 and (at_s - self._points[1][0] >= PACE_S or len(self._points) > MOST_POINTS):
            del self._points[0]
        began_s, first_s = self._points[0]
        return (simulated_s - first_s) / (at_s - began_s) if at_s > began_s else None


def totals_document(plan: PagePlan, rates: PortRates, pace: float | None, source_error: str | None) -> dict[str, Any]:
    """The event `totals`. pace: simulated seconds a second."""
    streaming = (rates.switches["is_streaming"] > 0) & ~rates.stale
    return {
        "at_s": round(rates.at_s, 3),
        "targets_up": int(streaming.sum()),
        "targets": len(plan.switches),
        "sessions_up": int(np.nansum(rates.sessions_up)),
        "sessions": len(plan.sessions),
        "rail_gbps": [number(value) for value in rates.rail_gbps.tolist()],
        "rail_capacity_gbps": plan.rail_capacity_gbps.tolist(),
        "marks_per_s": _sum(rates.marks_per_s),
        "pauses_per_s": _sum(rates.pause_frames_per_s),
        "drops_per_s": _sum(rates.drops_per_s),
        "pace": None if pace is None else round(pace, 3),
        "stale": [plan.switches[place].name for place in np.flatnonzero(rates.stale).tolist()],
        "overloaded": rates.overloaded,
        "source_error": source_error,
    }


def number(value: float) -> float | None:
    """A number for JSON, of four digits; None for NaN."""
    return None if np.isnan(value) else float(f"{value:.4g}")


def _sum(values: Numbers) -> float | None:
    """The sum of what is known; None where nothing is."""
    return None if np.isnan(values).all() else number(float(np.nansum(values)))
