"""Totals and rates of the whole fabric, from the series that the collector holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from railfab.units import gbps

Labels = Mapping[str, str]
Series = Iterable[tuple[str, Labels, float]]
"""(metric, labels, value) of METRICS, and of the collector itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counters of the whole fabric since the first snapshot, and its gauges at one moment.

    at_s: of the snapshot [s, monotonic]. rail_bytes: transmitted to hosts, by rail. sessions, targets: BGP session ends
    and switches that the intent has. oldest_sample_s: the smallest time of last sample of all switches [s, Unix time];
    0 until each has sent one. series: held for all switches. lag_s: lateness of the collector itself.
    """

    at_s: float
    rail_bytes: Mapping[int, float] = field(default_factory=dict)
    marks: float = 0
    pauses: float = 0
    drops: float = 0
    sessions_up: int = 0
    sessions: int = 0
    targets_up: int = 0
    targets: int = 0
    deepest_bytes: float = 0
    series: int = 0
    oldest_sample_s: float = 0
    lag_s: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Rates between two totals, and the gauges of the later one. Rates per second; rail_gbps by rail."""

    rail_gbps: Mapping[int, float]
    marks_per_s: float
    pauses_per_s: float
    drops_per_s: float
    totals: Totals


_COUNTERS = {
    "fabric_queue_ecn_marked_packets_total": "marks",
    "fabric_pfc_transmit_frames_total": "pauses",
    "fabric_pfc_dropped_packets_total": "drops",
    "fabric_queue_dropped_packets_total": "drops",
}
_PEAK = "fabric_queue_depth_peak_bytes"
_SENT = "fabric_interface_transmit_bytes_total"
_UP = {"fabric_bgp_session_up": "sessions", "fabric_collector_session_up": "targets"}
METRICS = frozenset((*_COUNTERS, *_UP, _PEAK, _SENT))
"""The metrics of switches that totals are made of."""


class FabricTotals:
    """Sums snapshots up. A total rises by what each of its series rose: one that vanishes for a while lowers nothing.

    host_rails: (device, interface) of every host-facing port to the rail it serves. sessions, targets: as of Totals.
    """

    def __init__(self, host_rails: Mapping[tuple[str, str], int], *, sessions: int, targets: int) -> None:
        self._host_rails = host_rails
        self._sessions, self._targets = sessions, targets
        self._seen: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
        self._rails: dict[int, float] = dict.fromkeys(sorted(set(host_rails.values())), 0.0)
        self._sums: dict[str, float] = dict.fromkeys(_COUNTERS.values(), 0.0)

    def read(self, series: Series, at_s: float) -> Totals:
        """Add a snapshot; counters begin at the first one."""
        gauges: dict[str, float] = defaultdict(float)
        last_samples_s: list[float] = []
        for metric, labels, value in series:
            if metric == _SENT:
                rail = self._host_rails.get((labels["device"], labels["interface"]))
                if rail is not None:
                    self._rails[rail] += self._rise(metric, labels, value)
            elif metric in _COUNTERS:
                self._sums[_COUNTERS[metric]] += self._rise(metric, labels, value)
            elif metric == _PEAK:
                gauges["deepest"] = max(gauges["deepest"], value)
            elif metric == "fabric_collector_last_update_timestamp_seconds":
                last_samples_s.append(value)
            elif metric == "fabric_collector_series":
                gauges["series"] += value
            elif metric == "fabric_collector_lag_seconds":
                gauges["lag"] = value
            elif metric in _UP:
                gauges[_UP[metric]] += value
        return Totals(
            at_s=at_s,
            rail_bytes=dict(self._rails),
            **self._sums,
            sessions_up=round(gauges["sessions"]),
            sessions=self._sessions,
            targets_up=round(gauges["targets"]),
            targets=self._targets,
            deepest_bytes=gauges["deepest"],
            series=round(gauges["series"]),
            oldest_sample_s=min(last_samples_s, default=0.0),
            lag_s=gauges["lag"],
        )

    def _rise(self, metric: str, labels: Labels, value: float) -> float:
        """The increase of a counter since the last snapshot that had it; after a reset, its value."""
        key = metric, frozenset(labels.items())
        before = self._seen.get(key)
        self._seen[key] = value
        if before is None:
            return 0.0
        return value - before if value >= before else value


def reading(before: Totals, after: Totals) -> Reading:
    """Rates between two totals."""
    seconds = max(after.at_s - before.at_s, 1e-9)

    def rate(later: float, earlier: float) -> float:
        return (later - earlier) / seconds

    return Reading(
        rail_gbps={
            rail: gbps(rate(now, before.rail_bytes.get(rail, now))) for rail, now in sorted(after.rail_bytes.items())
        },
        marks_per_s=rate(after.marks, before.marks),
        pauses_per_s=rate(after.pauses, before.pauses),
        drops_per_s=rate(after.drops, before.drops),
        totals=after,
    )
