"""Counters and gauges of the fabric that an intent describes, from the series that the collector holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

Labels = Mapping[str, str]
Series = Iterable[tuple[str, Labels, float]]
"""(metric, labels, value) of METRICS, and of the collector itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """The parts of a fabric that its intent has.

    switches: by name. host_rails: rail of every host-facing port, by (switch, interface). sessions: (switch, peer) of
    every end of a BGP session. port_gbps: rate of every port that has a cable, by (switch, interface).
    """

    switches: Set[str]
    host_rails: Mapping[tuple[str, str], int]
    sessions: Set[tuple[str, str]]
    port_gbps: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def switches_of_rail(self) -> Mapping[int, Set[str]]:
        """The switches that serve each rail, by rail in ascending order."""
        found: dict[int, set[str]] = {rail: set() for rail in sorted(set(self.host_rails.values()))}
        for (switch, _), rail in self.host_rails.items():
            found[rail].add(switch)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchTotals:
    """Counters of one switch since the first snapshot. rail_bytes: transmitted to hosts, by rail; port_bytes: by
    interface.

    sampled_s: when it took the last sample [s, Unix time]; 0 before the first. counted_s: simulated time of the
    counters [s]. sessions, sessions_up: its BGP session ends in the intent, and those that are up. is_up: whether it
    streams.
    """

    sampled_s: float = 0.0
    counted_s: float = 0.0
    rail_bytes: Mapping[int, float] = field(default_factory=dict)
    port_bytes: Mapping[str, float] = field(default_factory=dict)
    marks: float = 0.0
    pauses: float = 0.0
    drops: float = 0.0
    sessions: int = 0
    sessions_up: int = 0
    is_up: bool = False

    @property
    def sent_bytes(self) -> float:
        """Bytes transmitted by all ports."""
        return sum(self.port_bytes.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counters and gauges of all switches of the intent at one moment.

    at_s: of the snapshot [s, Unix time]. sessions, targets: BGP session ends and switches of the intent; sessions_up,
    targets_up: of these. depth_bytes: of the deepest queue, as its switch averages it. peak_bytes: the highest of the
    peaks that rose since `FabricTotals.begin_job`, 0 without any. Both are None where no switch sends them. lag_s: the
    largest lateness of the collector itself in the last 30 s; overloaded: whether it was late for so much of them
    that no switch is judged.
    """

    at_s: float
    switches: Mapping[str, SwitchTotals] = field(default_factory=dict)
    sessions_up: int = 0
    sessions: int = 0
    targets_up: int = 0
    targets: int = 0
    depth_bytes: float | None = None
    peak_bytes: float | None = None
    series: int = 0
    lag_s: float = 0.0
    overloaded: bool = False

    @property
    def complete(self) -> bool:
        """Whether every session and every switch of the intent is up. A fabric of one switch has no sessions."""
        return self.sessions_up == self.sessions and self.targets_up == self.targets > 0

    @property
    def sent_bytes(self) -> float:
        """Bytes transmitted to the hosts of all rails."""
        return sum(sum(switch.rail_bytes.values()) for switch in self.switches.values())

    @property
    def marks(self) -> float:
        return sum(switch.marks for switch in self.switches.values())

    @property
    def pauses(self) -> float:
        return sum(switch.pauses for switch in self.switches.values())

    @property
    def drops(self) -> float:
        return sum(switch.drops for switch in self.switches.values())

    def counted_since(self, simulated_s: float) -> bool:
        """Whether the counters of every switch are of this simulated time, or later."""
        return all(switch.counted_s >= simulated_s for switch in self.switches.values())


_COUNTERS = {
    "fabric_queue_ecn_marked_packets_total": "marks",
    "fabric_pfc_transmit_frames_total": "pauses",
    "fabric_pfc_dropped_packets_total": "drops",
    "fabric_queue_dropped_packets_total": "drops",
}
_DEPTH = "fabric_queue_depth_bytes"
_PEAK = "fabric_queue_depth_peak_bytes"
_SENT = "fabric_interface_transmit_bytes_total"
_SESSION = "fabric_bgp_session_up"
_COUNTED = "fabric_twin_simulated_seconds_total"
METRICS = frozenset((*_COUNTERS, _DEPTH, _PEAK, _SENT, _SESSION, _COUNTED))
"""The metrics of switches that totals are made of."""

_ARRIVED = "fabric_collector_last_update_timestamp_seconds"
_INGEST_LAG = "fabric_collector_ingest_lag_seconds"
_TARGET = "fabric_collector_session_up"
_SERIES = "fabric_collector_series"
_LAG = "fabric_collector_lag_seconds"
_OVERLOADED = "fabric_collector_overloaded"

_Key = tuple[str, frozenset[tuple[str, str]]]


class _Counters:
    """Sums of the counters of one switch. A sum rises by what each of its series rose: one that vanishes for a while
    lowers nothing.

    rails: of its ports to hosts. sessions: of the intent.
    """

    def __init__(self, rails: Mapping[str, int], sessions: int) -> None:
        self._rails = rails
        self.sessions, self.sessions_up, self.is_up = sessions, 0, False
        self.port_bytes: dict[str, float] = defaultdict(float)
        self.sums = dict.fromkeys(_COUNTERS.values(), 0.0)
        self.counted_s = 0.0
        self._seen: dict[_Key, float] = {}

    def rise(self, metric: str, labels: Labels, value: float) -> float:
        """The increase of a counter since the last snapshot that had it; after a reset, its value."""
        key = metric, frozenset(labels.items())
        before = self._seen.get(key)
        self._seen[key] = value
        if before is None:
            return 0.0
        return value - before if value >= before else value

    def rail_bytes(self) -> dict[int, float]:
        """Bytes transmitted to hosts, by rail in ascending order."""
        found = dict.fromkeys(sorted(set(self._rails.values())), 0.0)
        for interface, rail in self._rails.items():
            found[rail] += self.port_bytes.get(interface, 0.0)
        return found


class FabricTotals:
    """Adds snapshots up, for the switches and sessions of the intent alone; counters begin at the first snapshot."""

    def __init__(self, intended: Intended) -> None:
        self._intended = intended
        rails: dict[str, dict[str, int]] = {switch: {} for switch in sorted(intended.switches)}
        for (switch, interface), rail in intended.host_rails.items():
            rails[switch][interface] = rail
        sessions = Counter(switch for switch, _ in intended.sessions)
        self._counters = {switch: _Counters(served, sessions[switch]) for switch, served in rails.items()}
        self._peaks: dict[_Key, float] = {}
        self._old_peaks: dict[_Key, float] = {}

    def begin_job(self) -> None:
        """Ignore the present peaks from now on, since a switch reports one for a while after it has passed."""
        self._old_peaks = dict(self._peaks)

    def read(self, series: Series, at_s: float) -> Totals:
        """Add a snapshot."""
        gauges: dict[str, float] = defaultdict(float)
        sampled_s: dict[str, float] = defaultdict(float)
        self._peaks.clear()
        for counters in self._counters.values():
            counters.sessions_up, counters.is_up = 0, False
        for metric, labels, value in series:
            device = labels.get("device", "")
            if metric == _LAG:
                gauges["lag"] = value
            elif device in self._counters:
                self._add(metric, labels, value, gauges)
                if metric == _ARRIVED and value:
                    sampled_s[device] += value
                elif metric == _INGEST_LAG:
                    sampled_s[device] -= value
        return self._totals(at_s, sampled_s, gauges)

    def _add(self, metric: str, labels: Labels, value: float, gauges: dict[str, float]) -> None:
        """Add one series of a switch of the intent."""
        switch = labels["device"]
        counters = self._counters[switch]
        if metric == _SENT:
            counters.port_bytes[labels["interface"]] += counters.rise(metric, labels, value)
        elif metric in _COUNTERS:
            counters.sums[_COUNTERS[metric]] += counters.rise(metric, labels, value)
        elif metric == _COUNTED:
            counters.counted_s = value
        elif metric == _DEPTH:
            gauges["depth"] = max(gauges["depth"], value)
        elif metric == _PEAK:
            self._peaks[metric, frozenset(labels.items())] = value
        elif metric == _SESSION:
            counters.sessions_up += round(value) if (switch, labels["peer"]) in self._intended.sessions else 0
        elif metric == _TARGET:
            counters.is_up = bool(value)
        elif metric == _SERIES:
            gauges["series"] += value
        elif metric == _OVERLOADED:
            gauges["overloaded"] = value

    def _totals(self, at_s: float, sampled_s: Mapping[str, float], gauges: Mapping[str, float]) -> Totals:
        switches = {
            name: SwitchTotals(
                sampled_s=max(0.0, sampled_s.get(name, 0.0)),
                counted_s=counters.counted_s,
                rail_bytes=counters.rail_bytes(),
                port_bytes=dict(counters.port_bytes),
                sessions=counters.sessions,
                sessions_up=counters.sessions_up,
                is_up=counters.is_up,
                **counters.sums,
            )
            for name, counters in self._counters.items()
        }
        risen = (value for key, value in self._peaks.items() if value > self._old_peaks.get(key, 0.0))
        return Totals(
            at_s=at_s,
            switches=switches,
            sessions_up=sum(switch.sessions_up for switch in switches.values()),
            sessions=len(self._intended.sessions),
            targets_up=sum(switch.is_up for switch in switches.values()),
            targets=len(self._intended.switches),
            depth_bytes=gauges.get("depth"),
            peak_bytes=max(risen, default=0.0) if self._peaks else None,
            series=round(gauges["series"]),
            lag_s=gauges["lag"],
            overloaded=bool(gauges["overloaded"]),
        )
