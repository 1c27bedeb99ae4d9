"""From marked octets to notifications: which packets were marked, and when their senders hear of it."""

from __future__ import annotations

import numpy as np

from railfab.sim.dcqcn import Dcqcn
from railfab.sim.fluid import Fluid
from railfab.sim.layout import Layout
from railfab.sim.network import Bools, Framing, Ints


class Notifier:
    """Draws the marks of whole packets and keeps the notifications under way. One tick is `tick_ns`."""

    def __init__(self, layout: Layout, framing: Framing, constants: Dcqcn, tick_ns: float) -> None:
        self.layout, self.framing, self.constants, self.tick_ns = layout, framing, constants, tick_ns
        longest = float((layout.rest_ns.max(initial=0.0) + layout.back_ns.max(initial=0.0)) / tick_ns)
        self.slots = int(longest) + 3
        self._wheel = np.zeros((self.slots, layout.count), bool)
        self._part_packet = np.zeros(layout.cells)
        self.last_sent_ns = np.full(layout.count, -np.inf)
        self.tick = 0
        self.under_way = False

    def adopt(self, other: Notifier, mine: Ints, theirs: Ints) -> None:
        """Take over the notifications under way to flows that are on both layouts."""
        self.last_sent_ns[mine] = other.last_sent_ns[theirs]
        coming = np.roll(other._wheel, -other.tick, axis=0)[: self.slots]
        self._wheel[: len(coming), mine] = coming[:, theirs]
        self.under_way = bool(self._wheel.any())

    def postpone(self, span_ns: int) -> None:
        """Time has passed that is not to count."""
        self.last_sent_ns += span_ns

    def marked(self, fluid: Fluid, rng: np.random.Generator) -> Ints | None:
        """(cell,) packets marked since the last call; None when no queue was long enough to mark any."""
        frame = self.framing.frame_bytes
        octets, mass = fluid.out_since, fluid.mark_mass
        whole = octets + self._part_packet
        packets = np.floor(whole / frame)
        self._part_packet = whole - packets * frame
        marks = None
        if mass.any():
            chance = np.clip(mass / np.maximum(octets, 1e-9), 0.0, 1.0)
            marks = np.asarray(rng.binomial(packets.astype(np.int64), chance), np.int64)
            mass[:] = 0.0
        octets[:] = 0.0
        return marks

    def send(self, marks: Ints, now_ns: float) -> Bools:
        """(flow,) whose receivers answer these marks with a notification; it is put on its way."""
        layout = self.layout
        cells = np.flatnonzero(marks)
        arrives = np.full(layout.count, np.inf)
        np.minimum.at(arrives, cells % layout.count, now_ns + layout.rest_ns[cells])
        sends = np.isfinite(arrives) & (arrives - self.last_sent_ns >= self.constants.cnp_interval_ns)
        if sends.any():
            self.last_sent_ns[sends] = arrives[sends]
            ticks = np.rint((arrives[sends] + layout.back_ns[sends] - now_ns) / self.tick_ns).astype(np.int64)
            self._wheel[(self.tick + np.clip(ticks, 1, self.slots - 1)) % self.slots, np.flatnonzero(sends)] = True
            self.under_way = True
        return np.asarray(sends)

    def arriving(self) -> Bools:
        """(flow,) whose notification arrives with the tick that begins now."""
        self.tick += 1
        slot = self._wheel[self.tick % self.slots]
        arrived: Bools = slot.copy()
        if arrived.any():
            slot[:] = False
            self.under_way = bool(self._wheel.any())
        return arrived
