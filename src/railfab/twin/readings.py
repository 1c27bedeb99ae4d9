"""The simulator's counters as the arrays that samples are read from; gauges over windows, as switches keep them."""

from __future__ import annotations

import numpy as np

from railfab.forwarding.converge import Conclusion
from railfab.forwarding.wiring import Wiring
from railfab.sim import QUEUES, Engine
from railfab.twin.samples import Arrays
from railfab.twin.transitions import TransitionCounters
from railfab.units import NS_PER_S

MEAN_WINDOW_NS = NS_PER_S
"""Queue depth is the mean over the last of these."""

PEAK_WINDOWS = 5
"""Peaks are the highest of the present and the last of these many mean windows."""

Values = np.ndarray[tuple[int], np.dtype[np.float64]]


class Readings:
    """Windows over one engine."""

    def __init__(self, engine: Engine, wiring: Wiring) -> None:
        self._engine, self._wiring = engine, wiring
        counters = engine.counters()
        self._waiting = counters.waiting_byte_ns.copy()
        self._depth = np.zeros_like(self._waiting)
        self._old_peak = np.zeros_like(counters.peak_bytes)
        self._old_headroom = np.zeros_like(counters.headroom_peak_bytes)
        self._windows = 0
        self._arrays: Arrays | None = None
        self._of: Conclusion | None = None

    def next_window_ns(self, now_ns: int) -> int:
        """When the present window ends."""
        return (now_ns // MEAN_WINDOW_NS + 1) * MEAN_WINDOW_NS

    def pass_time(self, now_ns: int) -> None:
        """Time has passed; close the window if it ends here."""
        self._arrays = None
        if now_ns % MEAN_WINDOW_NS:
            return
        counters = self._engine.counters()
        self._depth = (counters.waiting_byte_ns - self._waiting) / MEAN_WINDOW_NS
        self._waiting = counters.waiting_byte_ns.copy()
        self._windows += 1
        if self._windows % PEAK_WINDOWS == 0:
            self._old_peak = counters.peak_bytes.copy()
            self._old_headroom = counters.headroom_peak_bytes.copy()
            counters.reset_peaks()

    def arrays(self, conclusion: Conclusion, transitions: TransitionCounters, started_s: float) -> Arrays:
        """Every array a sample may point into."""
        if self._arrays is None or self._of is not conclusion:
            self._arrays = {**self._counted(), **self._stated(conclusion, transitions, started_s)}
            self._of = conclusion
        return self._arrays

    def _counted(self) -> dict[str, Values]:
        counters, framing = self._engine.counters(), self._engine.framing
        octets, packets = counters.octets(framing), counters.packets(framing)
        dropped = np.floor(counters.dropped_bytes / framing.frame_bytes)
        marked = np.floor(counters.marked_packets)
        return {
            "octets": np.floor(_by_link(octets)),
            "packets": _by_link(packets),
            "tail_drops": _by_link(dropped),
            "refused": np.floor(counters.refused_in_bytes / framing.frame_bytes),
            "queue_octets": np.floor(octets),
            "queue_packets": packets,
            "queue_dropped": dropped,
            "queue_dropped_octets": np.floor(counters.dropped_bytes),
            "queue_marked": marked,
            "queue_marked_octets": marked * framing.frame_bytes,
            "queue_depth": np.rint(self._depth),
            "queue_peak": np.rint(np.maximum(counters.peak_bytes, self._old_peak)),
            "pause_frames": np.floor(counters.pause_frames),
            "xoffs": np.floor(counters.xoffs),
            "paused": counters.paused_ns / NS_PER_S,
            "headroom": np.rint(counters.headroom_bytes),
            "headroom_peak": np.rint(np.maximum(counters.headroom_peak_bytes, self._old_headroom)),
        }

    def _stated(self, conclusion: Conclusion, transitions: TransitionCounters, started_s: float) -> dict[str, Values]:
        keys = [(port.node, port.name) for port in self._wiring.near]
        states = [conclusion.ground.ports[key] for key in keys]
        return {
            "oper_up": np.array([float(state.oper_up) for state in states]),
            "admin_up": np.array([float(state.admin_up) for state in states]),
            "speed": np.array([state.rate_gbps * NS_PER_S / 8 for state in states]),
            "transitions": np.array([float(transitions.transitions.get(key, 0)) for key in keys]),
            "last_change": np.array([transitions.last_change_s.get(key, started_s) for key in keys]),
            "headroom_size": np.rint(conclusion.network.headroom_bytes),
        }


def _by_link(values: Values) -> Values:
    """(link * QUEUES + number,) summed to (link,)."""
    return np.asarray(values.reshape(-1, QUEUES).sum(axis=1))
