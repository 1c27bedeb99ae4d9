"""Queue depths and sent bytes over time, with as many samples as fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.engine import Engine
from railfab.sim.network import Floats, Ints
from railfab.sim.replay.scenario import PRIORITY

FIRST_INTERVAL_NS = 1000.0
MOST_SAMPLES = 1024
MOST_VALUES = 1 << 22
"""Most samples times links."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """times_ns: (sample,). depth_bytes: (sample, link) in the queue of the link; sent_bytes: (sample, link) since the
    start."""

    times_ns: Floats
    depth_bytes: Ints
    sent_bytes: Ints


class Sampler:
    """Takes a sample at each multiple of an interval; when it has too many, it drops every second one and doubles the
    interval. Intervals are multiples of the engine's window, so that sampling changes no result."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._most = max(16, min(MOST_SAMPLES, MOST_VALUES // engine.network.links))
        window = engine.window_ns
        self.interval_ns = max(1, round(FIRST_INTERVAL_NS / window)) * window
        self._times: list[float] = []
        self._depths: list[Ints] = []
        self._sent: list[Ints] = []
        self.take()

    @property
    def next_ns(self) -> float:
        """When the next sample is due."""
        return self._times[-1] + self.interval_ns

    def take(self) -> None:
        depth, sent = self._engine.depths()
        self._times.append(self._engine.now_ns)
        self._depths.append(depth[:, PRIORITY])
        self._sent.append(sent[:, PRIORITY])
        if len(self._times) > self._most:
            for kept in (self._times, self._depths, self._sent):
                del kept[1::2]
            self.interval_ns *= 2

    def finish(self) -> None:
        """Take a last sample where the run has ended."""
        if self._engine.now_ns > self._times[-1]:
            self.take()

    def samples(self) -> Samples:
        return Samples(
            times_ns=np.array(self._times), depth_bytes=np.array(self._depths), sent_bytes=np.array(self._sent)
        )
