"""Priority flow control: who asks for a pause, when it takes effect, and what finds no room."""

from __future__ import annotations

import numpy as np

from railfab.sim.layout import Layout
from railfab.sim.network import Bools, Floats, Network
from railfab.sim.tally import Tally

REFRESH_QUANTA = 65535 / 2
"""A pause is repeated when half of it is over; its quanta are of 512 bit times (IEEE 802.1Qbb)."""


class Pauses:
    """The ingress buffers of one layout. Axis (ingress + 1,); the last place stands for traffic PFC does not know."""

    def __init__(self, layout: Layout, network: Network, step_ns: int) -> None:
        links, self.layout, self.step_ns = layout.ingress_links, layout, step_ns
        self.xoff = np.append(network.xoff_bytes[links], np.inf)
        self.gap = np.append(network.xon_gap_bytes[links], 0.0)
        self.share = np.append(network.xoff_share[links], 0.0)
        self.sends = np.append(network.pfc_sent[links], False)
        self.honoured = np.append(network.pfc_honoured[links], False)
        self.headroom = np.where(self.sends, np.append(network.headroom_bytes[links], 0.0), 0.0)
        self.chip = np.append(network.chip[links], -1) + 1
        self.shared = np.append(network.shared_bytes[links], 0.0)
        self.dynamic = bool((self.share > 0).any())
        rate = np.append(network.rate_gbps[links], 1.0) / 8
        self.landing_bytes = rate * step_ns
        self.refresh_ns = REFRESH_QUANTA * 512 / 8 / rate
        self.occupancy = np.zeros(layout.ingresses + 1)
        self.headroom_peak = np.zeros(layout.ingresses + 1)
        self.asking = np.zeros(layout.ingresses + 1, bool)
        self.since_frame_ns = np.zeros(layout.ingresses + 1)
        slots, places = int(layout.pause_steps.max()) + 1, layout.ingresses + 1
        self._wheel = np.zeros((slots, places), bool)
        self._index = ((np.arange(slots)[:, None] + layout.pause_steps) % slots) * places + np.arange(places)
        self.busy = False
        self._limit()
        self._thresholds()
        self.calm_bytes = 0.0 if self.dynamic else self._calm_bytes()

    def _calm_bytes(self) -> float:
        """While no queue is deeper than this, no ingress can be near a threshold."""
        nearest = float(np.minimum(self.xoff, self.near_limit).min())
        return max(0.0, nearest / (self.layout.queues + 1))

    def _thresholds(self) -> None:
        if self.dynamic:
            used = np.bincount(self.chip, np.minimum(self.occupancy, self.xoff))
            self.xoff = np.where(self.share > 0, self.share * np.maximum(0.0, self.shared - used[self.chip]), self.xoff)
            self._limit()

    def _limit(self) -> None:
        self.limit = self.xoff + self.headroom
        self.near_limit = self.limit - self.landing_bytes

    def adopt(self, other: Pauses) -> float:
        """Take over who is paused; returns how many pauses ended because their ingress is no longer in use."""
        places = {int(link): place for place, link in enumerate(self.layout.ingress_links)}
        ended = 0
        for place in np.flatnonzero(other.asking):
            mine = places.get(int(other.layout.ingress_links[place]))
            if mine is None or not self.sends[mine]:
                ended += 1
                continue
            self.asking[mine] = True
            self.since_frame_ns[mine] = other.since_frame_ns[place]
        self._wheel[:] = self.asking & self.honoured
        self.busy = bool(self.asking.any())
        return float(ended)

    def refused(self, incoming: Floats) -> Floats | None:
        """(cell,) what of the arrivals finds no room at its ingress; None when there is room for all."""
        if not np.count_nonzero(self.occupancy > self.near_limit):
            return None
        arriving = self.layout.by_ingress(incoming)
        excess = np.clip(self.occupancy + arriving - self.limit, 0.0, arriving)
        if not excess[:-1].any():
            return None
        share = excess / np.maximum(arriving, 1e-9)
        share[-1] = 0.0
        return np.asarray(incoming * share[self.layout.ingress_of])

    def act(self, held: Floats, tick: int, tally: Tally) -> Bools:
        """Count what is held, ask and let go; returns (ingress + 1,) the pauses in effect at their near ends."""
        self.occupancy = self.layout.by_ingress(held)
        self._thresholds()
        beyond = self.occupancy - self.xoff
        asking = ((beyond > 0) | (self.asking & (beyond > -self.gap))) & self.sends
        if np.count_nonzero(asking):
            np.maximum(self.headroom_peak, np.minimum(beyond, self.headroom), out=self.headroom_peak)
        self._count_frames(asking, tally)
        self.asking = asking
        slots = len(self._wheel)
        paused: Bools = self._wheel[tick % slots].copy()
        self._wheel.ravel()[self._index[tick % slots]] = asking & self.honoured
        pausing = np.count_nonzero(paused)
        if pausing:
            tally.paused_ns[paused] += self.step_ns
        self.busy = bool(pausing or np.count_nonzero(asking) or np.count_nonzero(self._wheel))
        return paused

    def _count_frames(self, asking: Bools, tally: Tally) -> None:
        changed = asking != self.asking
        if np.count_nonzero(changed):
            tally.frames += changed
            tally.xoffs += changed & asking
            self.since_frame_ns[changed] = 0.0
        if np.count_nonzero(asking):
            self.since_frame_ns[asking] += self.step_ns
            repeat = asking & (self.since_frame_ns >= self.refresh_ns)
            tally.frames += repeat
            self.since_frame_ns[repeat] = 0.0

    def headroom_used(self) -> Floats:
        """(ingress + 1,) octets beyond xoff now."""
        return np.asarray(np.clip(self.occupancy - self.xoff, 0.0, self.headroom))
