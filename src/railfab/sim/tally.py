"""What has been counted: on the cells of one layout while it lasts, and on all links of the network for ever."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from railfab.sim.layout import Layout
from railfab.sim.network import QUEUES, Floats, Framing

_BY_CELL = frozenset(("taken_in", "sent_out", "dropped", "refused"))
_BY_FLOW = frozenset(("injected", "delivered", "notified"))


@dataclass(slots=True, eq=False)
class Tally:
    """Sums since the layout began or was last folded. Octets unless named otherwise.

    taken_in, sent_out, dropped: (cell,); taken_in = sent_out + dropped + what came to wait. refused: the part of
    dropped that found no room at the ingress. injected, delivered, notified: (flow,), notified in notifications.
    marks: (queue + 1,) packets. waiting: (queue + 1,) octets x ns. xoffs, frames, paused_ns: (ingress + 1,).
    """

    taken_in: Floats
    sent_out: Floats
    dropped: Floats
    refused: Floats
    injected: Floats
    delivered: Floats
    notified: Floats
    marks: Floats
    waiting: Floats
    xoffs: Floats
    frames: Floats
    paused_ns: Floats

    @classmethod
    def empty(cls, layout: Layout) -> Tally:
        cell, flow = np.zeros(layout.cells), np.zeros(layout.count)
        queue, ingress = np.zeros(layout.queues + 1), np.zeros(layout.ingresses + 1)
        kinds = (cell,) * 4 + (flow,) * 3 + (queue,) * 2 + (ingress,) * 3
        return cls(*(kind.copy() for kind in kinds))

    def copy(self) -> Tally:
        return Tally(*(getattr(self, field.name).copy() for field in fields(self)))

    def since(self, earlier: Tally) -> Tally:
        """What was counted after `earlier`."""
        return Tally(*(getattr(self, field.name) - getattr(earlier, field.name) for field in fields(self)))

    def add(self, other: Tally, times: float = 1.0) -> None:
        for field in fields(self):
            mine = getattr(self, field.name)
            mine += times * getattr(other, field.name)

    def stretch(self, per_ns: Tally, span_ns: float, spans_ns: Floats) -> None:
        """Add what is counted in a time: `span_ns`, but for each flow its own of `spans_ns` (flow,)."""
        rows = len(self.sent_out) // max(1, len(spans_ns))
        for field in fields(self):
            mine = getattr(self, field.name)
            if field.name in _BY_CELL:
                mine += getattr(per_ns, field.name) * np.tile(spans_ns, rows)
            else:
                mine += getattr(per_ns, field.name) * (spans_ns if field.name in _BY_FLOW else span_ns)

    def clear(self) -> None:
        for field in fields(self):
            getattr(self, field.name)[:] = 0.0


@dataclass(slots=True, eq=False)
class Counters:
    """Every counter of the network since its birth; none ever decreases, but for the gauges named so.

    Axis (link * QUEUES + number): sent_bytes, taken_bytes, marked_packets, dropped_bytes at the queue,
    refused_bytes at the ingress on the way to it, waiting_byte_ns, depth_bytes (gauge), peak_bytes (gauge: since
    `reset_peaks`), and notification_packets, in no other counter. taken = sent + dropped + refused + depth.
    Axis (link,): refused_in_bytes of the lossless class at the far end, xoffs, pause_frames and paused_ns between far
    end and near end, headroom_bytes (gauge) and headroom_peak_bytes (gauge).
    """

    sent_bytes: Floats
    taken_bytes: Floats
    marked_packets: Floats
    dropped_bytes: Floats
    refused_bytes: Floats
    waiting_byte_ns: Floats
    depth_bytes: Floats
    peak_bytes: Floats
    notification_packets: Floats
    refused_in_bytes: Floats
    xoffs: Floats
    pause_frames: Floats
    paused_ns: Floats
    headroom_bytes: Floats
    headroom_peak_bytes: Floats

    @classmethod
    def zero(cls, links: int) -> Counters:
        queues, per_link = 9, 6
        return cls(*(np.zeros(links * QUEUES) for _ in range(queues)), *(np.zeros(links) for _ in range(per_link)))

    def fold(self, tally: Tally, layout: Layout) -> None:
        """Add a layout's sums and clear them."""
        ids, links = layout.queue_ids, layout.ingress_links
        nics = np.bincount(layout.nic_of, tally.injected, layout.queues + 1)
        self.sent_bytes[ids] += (layout.by_queue(tally.sent_out) + nics)[:-1]
        self.taken_bytes[ids] += (layout.by_queue(tally.taken_in) + nics)[:-1]
        self.dropped_bytes[ids] += layout.by_queue(tally.dropped - tally.refused)[:-1]
        self.refused_bytes[ids] += layout.by_queue(tally.refused)[:-1]
        self.marked_packets[ids] += tally.marks[:-1]
        self.waiting_byte_ns[ids] += tally.waiting[:-1]
        self.refused_in_bytes[links] += layout.by_ingress(tally.refused)[:-1]
        self.xoffs[links] += tally.xoffs[:-1]
        self.pause_frames[links] += tally.frames[:-1]
        self.paused_ns[links] += tally.paused_ns[:-1]
        for path, notified in zip(layout.paths, tally.notified, strict=True):
            if notified:
                np.add.at(self.notification_packets, np.array(path.back, np.int64), notified)
        tally.clear()

    def reset_peaks(self) -> None:
        """Begin the watermarks anew, from what is there now."""
        self.peak_bytes[:] = self.depth_bytes
        self.headroom_peak_bytes[:] = self.headroom_bytes

    def packets(self, framing: Framing) -> Floats:
        """Packets sent by each queue, (link * QUEUES + number,): octets in whole frames, and notifications."""
        return np.asarray(np.ceil(self.sent_bytes / framing.frame_bytes - 1e-6) + self.notification_packets)

    def octets(self, framing: Framing) -> Floats:
        """Octets sent by each queue, (link * QUEUES + number,)."""
        return self.sent_bytes + self.notification_packets * framing.cnp_bytes
