"""What the live view shows: one reading of the whole fabric, from the collector's series and the twin's job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from railfab.units import gbps

Labels = Mapping[str, str]
Series = Iterable[tuple[str, Labels, float]]
"""(metric, labels, value) of every series that the collector holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counters of the whole fabric, added up, and the gauges of the moment.

    rail_bytes: transmitted to hosts, by rail. at_s: when, on the monotonic clock [s].
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


def totals(series: Series, host_rails: Mapping[tuple[str, str], int], at_s: float) -> Totals:
    """Add up a snapshot. host_rails: (device, interface) of every host-facing port to the rail it serves."""
    sums: dict[str, float] = defaultdict(float)
    rails: dict[int, float] = dict.fromkeys(sorted(set(host_rails.values())), 0.0)
    count, deepest = 0, 0.0
    for metric, labels, value in series:
        count += 1
        if metric == "fabric_interface_transmit_bytes_total":
            rail = host_rails.get((labels["device"], labels["interface"]))
            if rail is not None:
                rails[rail] += value
        elif metric in _COUNTERS:
            sums[_COUNTERS[metric]] += value
        elif metric == "fabric_queue_depth_peak_bytes":
            deepest = max(deepest, value)
        elif metric in ("fabric_bgp_session_up", "fabric_collector_session_up"):
            sums[f"{metric}:up"] += value
            sums[metric] += 1
    return Totals(
        at_s=at_s,
        rail_bytes=rails,
        marks=sums["marks"],
        pauses=sums["pauses"],
        drops=sums["drops"],
        sessions_up=round(sums["fabric_bgp_session_up:up"]),
        sessions=round(sums["fabric_bgp_session_up"]),
        targets_up=round(sums["fabric_collector_session_up:up"]),
        targets=round(sums["fabric_collector_session_up"]),
        deepest_bytes=deepest,
        series=count,
    )


def reading(before: Totals, after: Totals) -> Reading:
    """Rates between two totals; a counter that began again counts as nothing, as in Prometheus."""
    seconds = max(after.at_s - before.at_s, 1e-9)

    def rate(later: float, earlier: float) -> float:
        return max(0.0, later - earlier) / seconds

    return Reading(
        rail_gbps={
            rail: gbps(rate(now, before.rail_bytes.get(rail, now))) for rail, now in sorted(after.rail_bytes.items())
        },
        marks_per_s=rate(after.marks, before.marks),
        pauses_per_s=rate(after.pauses, before.pauses),
        drops_per_s=rate(after.drops, before.drops),
        totals=after,
    )
