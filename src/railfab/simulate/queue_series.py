"""Queues of a component over time: the longest ones before ports of switches, and the buffers that fill most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim import QUEUES
from railfab.sim.fast_forward import FastForward
from railfab.sim.network import Bools
from railfab.simulate.ordered import Floats, Numbers

MOST_LINES = 3
"""Queues of a series, and buffers: those that were longest."""
MOST_SAMPLES = 600
MOST_VALUES = 1 << 22
"""Most samples times links."""
FIRST_INTERVAL_NS = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PortQueue:
    """The queue before a link of the fabric. peak_bytes: (sample,). kmin_bytes: infinite where nothing is marked."""

    link: int
    peak_bytes: Numbers
    kmin_bytes: float
    kmax_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PortBuffer:
    """What a switch holds of the lossless priority that came in by a link. peak_bytes: (sample,). xoff_bytes: (sample,)
    at which it sends XOFF, at the end of the interval."""

    link: int
    peak_bytes: Numbers
    xoff_bytes: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueueSeries:
    """Queues and buffers, the longest first: the most in each interval that ends at a time. times_s: (sample,).

    part: of the component that was simulated, empty for all of it.
    """

    times_s: Floats
    queues: tuple[PortQueue, ...]
    buffers: tuple[PortBuffer, ...]
    part: str = ""


class QueueRecorder:
    """Runs an engine, and takes a sample at each multiple of an interval.

    Of too many samples two become one, and the interval doubles. Intervals are multiples of the window of the engine,
    so that a run gives what it gives without samples.
    """

    def __init__(self) -> None:
        self._interval_ns, self._number = 0.0, 1
        self._times_ns: list[float] = []
        self._queues: list[Numbers] = []
        self._buffers: list[Numbers] = []
        self._xoff: list[Floats] = []
        self._engine: FastForward | None = None

    def run(self, engine: FastForward, until_ns: float) -> bool:
        """Advance to this time, or until all flows are done. Whether they are."""
        if self._engine is None:
            self._engine, window = engine, engine.window_ns
            self._interval_ns = max(1, round(FIRST_INTERVAL_NS / window)) * window
        while True:
            next_ns = self._number * self._interval_ns
            done = engine.run(min(until_ns, next_ns))
            if done or next_ns <= until_ns:
                self._take(engine)
            if done or next_ns >= until_ns:
                return done

    def _take(self, engine: FastForward) -> None:
        """Take a sample of what has happened since the one before."""
        state = engine.engine.state
        groups, nodes = state.ingress, state.nodes[engine.network.far.repeat(QUEUES)]
        free, is_share = nodes.shared - nodes.used, groups.alpha > 0
        shares = np.multiply(groups.alpha, np.maximum(0.0, free), out=np.zeros(len(free)), where=is_share)
        xoff = np.where(is_share, shares, groups.xoff)
        self._times_ns.append(engine.now_ns)
        self._queues.append(state.queues.peak.reshape(-1, QUEUES).max(axis=1))
        rows = np.arange(engine.network.links) * QUEUES + np.maximum(0, engine.network.priority_of[:, 0])
        self._buffers.append(groups.peak[rows])
        self._xoff.append(xoff[rows])
        engine.reset_peaks()
        self._number += 1
        if len(self._times_ns) > max(16, min(MOST_SAMPLES, MOST_VALUES // len(rows))):
            self._halve()

    def _halve(self) -> None:
        """Make one sample of two; a last one stays."""
        self._interval_ns, self._number = 2 * self._interval_ns, (self._number + 1) // 2
        pairs = range(0, len(self._times_ns) - 1, 2)
        last = len(pairs) * 2
        for peaks in (self._queues, self._buffers):
            peaks[:] = [np.maximum(peaks[first], peaks[first + 1]) for first in pairs] + peaks[last:]
        self._times_ns = self._times_ns[1:last:2] + self._times_ns[last:]
        self._xoff = self._xoff[1:last:2] + self._xoff[last:]

    def series(self, links: Numbers, part: str = "") -> QueueSeries:
        """What was recorded. links: of the fabric, (link,) of the engine; it may have further ones behind these."""
        assert self._engine is not None
        network = self._engine.network
        queues, buffers, xoff = np.stack(self._queues), np.stack(self._buffers), np.stack(self._xoff)
        sent = self._engine.counters().sent_bytes.argmax(axis=1)
        is_lossless = network.is_switch[network.far] & (network.priority_of[:, 0] >= 0)
        return QueueSeries(
            times_s=np.array(self._times_ns) / 1e9,
            queues=tuple(
                PortQueue(
                    link=int(links[link]),
                    peak_bytes=queues[:, link],
                    kmin_bytes=float(network.kmin_bytes[link, sent[link]]),
                    kmax_bytes=float(network.kmax_bytes[link, sent[link]]),
                )
                for link in _longest(queues, network.is_switch[network.near])
            ),
            buffers=tuple(
                PortBuffer(link=int(links[link]), peak_bytes=buffers[:, link], xoff_bytes=xoff[:, link])
                for link in _longest(buffers, is_lossless)
            ),
            part=part,
        )


def _longest(peaks: Numbers, chosen: Bools) -> list[int]:
    """Links with the largest peaks, (sample, link), among the chosen ones, (link,)."""
    most = np.where(chosen, peaks.max(axis=0), 0)
    order = np.argsort(-most, kind="stable")[:MOST_LINES]
    return [int(link) for link in order if most[link] > 0]
