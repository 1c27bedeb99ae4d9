"""The simulator's counters as the arrays that samples are read from; gauges over windows, as switches keep them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from railfab.forwarding import ForwardingState
from railfab.sim import QUEUES, Engine
from railfab.units import NS_PER_S

MEAN_WINDOW_NS = NS_PER_S
"""Queue depth is the mean over the last of these."""

PEAK_WINDOWS = 5
"""Peaks are the highest of the present and the last of these many mean windows."""

Values = np.ndarray[tuple[int], np.dtype[np.float64]]
Arrays = Mapping[str, Values]
"""Values by source: axis (link,) or (link * QUEUES + number,)."""


class Readings:
    """Counters of one engine, and gauges over windows of it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        counters = engine.counters()
        self._waiting = counters.waiting_byte_ns.copy()
        self._depth = np.zeros_like(self._waiting)
        self._old_peak = np.zeros_like(counters.peak_bytes)
        self._old_headroom = np.zeros_like(counters.headroom_peak_bytes)
        self._windows = 0

    def next_window_ns(self, now_ns: int) -> int:
        """End of the present window [simulated ns]."""
        return (now_ns // MEAN_WINDOW_NS + 1) * MEAN_WINDOW_NS

    def pass_time(self, now_ns: int) -> None:
        """Time has passed; close the window if it ends here."""
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

    def arrays(self) -> Arrays:
        """The counters of the engine now, in arrays that do not change any more."""
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


def port_arrays(state: ForwardingState, before: ForwardingState | None = None, held: Arrays | None = None) -> Arrays:
    """State of ports that changes with convergence only. held: the arrays of the state `before`, to begin from."""
    links = len(state.links.near)
    arrays = {name: np.zeros(links) if held is None else held[name].copy() for name in ("oper_up", "admin_up", "speed")}
    for node, states in state.ports.items():
        if before is not None and states is before.ports[node]:
            continue
        for interface, port in states.items():
            link = state.links.egress[node, interface]
            arrays["oper_up"][link], arrays["admin_up"][link] = port.oper_up, port.admin_up
            arrays["speed"][link] = port.rate_gbps * NS_PER_S / 8
    return {**arrays, "headroom_size": np.rint(state.network.headroom_bytes)}


def _by_link(values: Values) -> Values:
    """(link * QUEUES + number,) summed to (link,)."""
    return np.asarray(values.reshape(-1, QUEUES).sum(axis=1))
