"""NIC ports whose flows cannot meet a queue: their packets are counted, not simulated.

A port is parked when no link of its flows can congest and each of them may send as fast as it ever could. Its flows
then share the port in turn, so what it has sent by any moment is known: the rate that was measured, and whole frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.fast_forward.loads import Loads
from railfab.sim.fast_forward.trains import remaining_frames
from railfab.sim.kernel.records import DATA, EXPIRED, MAX_HOPS, NAK, PARKED, UNPARKED, State
from railfab.sim.network import Bools, Floats, Framing, Ints

MARGIN_PS = 50_000_000
"""A port sends packets again this long before the first of its flows has no more [ps]."""
_SPAN_PS = 100_000_000
"""Shortest time over which the rate of a port is measured [ps]."""
_BUSY = (0.999, 1.05)
"""Time between the frames of a port that is always busy, over that of a frame: acknowledgements take some."""


@dataclass(slots=True, kw_only=True, eq=False)
class Parked:
    """Flows of parked ports. Axis (flow,): numbers; place, sharing: its turn at the port, among how many; since_ps,
    until_ps: when it was parked, and when it will not be; ps_per_frame: of the port; counted: frames that are in the
    state. queues: (flow, hop), -1 beyond the path."""

    numbers: Ints
    place: Ints
    sharing: Ints
    since_ps: Ints
    until_ps: Ints
    ps_per_frame: Floats
    counted: Ints
    queues: Ints

    @classmethod
    def none(cls) -> Parked:
        names = ("numbers", "place", "sharing", "since_ps", "until_ps", "counted")
        empty = {name: np.zeros(0, np.int64) for name in names}
        return cls(**empty, ps_per_frame=np.zeros(0), queues=np.zeros((0, MAX_HOPS), np.int64))

    def due(self, now_ps: int) -> Ints:
        """(flow,) frames until this time that are not in the state yet."""
        total = ((now_ps - self.since_ps) / self.ps_per_frame).astype(np.int64)
        return total // self.sharing + (self.place < total % self.sharing) - self.counted

    def only(self, kept: Bools) -> Parked:
        return Parked(**{name: getattr(self, name)[kept] for name in self.__slots__})

    def joined(self, other: Parked) -> Parked:
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__slots__}
        return Parked(**{name: np.concatenate(pair) for name, pair in pairs.items()})


def may_park(st: State, loads: Loads, settled_within_ps: int) -> Bools:
    """(flow,) of `loads`: whether all flows of the port can be parked.

    settled_within_ps: the longest time in which no progress of a parked flow is in the state, so that its
    retransmission timer must be longer [ps].
    """
    flows = st.flows[loads.numbers]
    links = st.links
    asked = np.zeros(len(st.flows), bool)
    asked[st.packets.flow[np.isin(st.packets.kind, (NAK, EXPIRED))]] = True
    unsafe = loads.congestible | (links.up == 0) | (links.loss > 0)
    start = st.transports.start_rate[flows.transport]
    steady = (
        (flows.rate >= flows.line_rate * (1 - 1e-9))
        & ((start <= 0) | (start >= flows.line_rate))
        & (flows.dynamic == 0)
        & (flows.sent == flows.highest_sent)
        & (flows.resend_head < 0)
        & ~asked[loads.numbers]
        & (st.transports.timeout[flows.transport] > settled_within_ps)
        & (flows.train == 1)
        & (flows.expected >= flows.train_from)
        & (st.nodes.rx_ps_per_byte[flows.target] == 0)
        & ~loads.any_on_path(unsafe)
    )
    blocked = np.zeros(len(st.nodes), bool)
    np.logical_or.at(blocked, flows.source, ~steady)
    return np.asarray(~blocked[flows.source])


@dataclass(slots=True, eq=False)
class PortMeter:
    """Frames that each NIC port had sent when it was seen last, until when its link is taken by them, and when that was
    [ps]."""

    frames: Ints
    free_at: Ints
    at_ps: int

    @classmethod
    def of(cls, st: State) -> PortMeter:
        frames = np.zeros(len(st.nodes), np.int64)
        np.add.at(frames, st.flows.source, st.flows.sent_packets)
        return cls(frames, st.links.free_at[st.nodes.link].copy(), int(st.sim[0].now))

    def ps_per_frame(self, st: State) -> Floats:
        """(node,) mean time between the frames since then; NaN where the time was short."""
        now = PortMeter.of(st)
        frames, passed = now.frames - self.frames, now.free_at - self.free_at
        known = (passed >= _SPAN_PS) & (frames > 0)
        return np.where(known, passed / np.maximum(frames, 1), np.nan)


def parked_ports(st: State, loads: Loads, may: Bools, meter: PortMeter, framing: Framing) -> Parked:
    """Of the ports that may be parked, those that were busy all the time since the meter was read, with all of their
    flows, and have much left to send."""
    numbers = loads.numbers[may]
    port = st.flows.source[numbers]
    interval = meter.ps_per_frame(st)[port]
    line = (framing.frame_bytes + framing.gap_bytes) * st.links.ps_per_byte[st.nodes.link[port]]
    sharing = np.bincount(port, minlength=len(st.nodes))
    least = np.full(len(st.nodes), np.iinfo(np.int64).max)
    np.minimum.at(least, port, remaining_frames(st, numbers))
    begun = np.zeros(len(st.nodes), np.int64)
    np.maximum.at(begun, port, st.flows.start[numbers])
    with np.errstate(invalid="ignore"):
        left = least[port] * sharing[port] * interval
        busy = (line * _BUSY[0] <= interval) & (interval <= line * _BUSY[1]) & (begun[port] <= meter.at_ps)
        kept = busy & (left >= 4 * MARGIN_PS)
    numbers, port, interval = numbers[kept], port[kept], interval[kept]
    now = int(st.sim[0].now)
    return Parked(
        numbers=numbers,
        place=_turns(port),
        sharing=sharing[port],
        since_ps=np.full(len(numbers), now),
        until_ps=now + left[kept].astype(np.int64) - MARGIN_PS,
        ps_per_frame=interval,
        counted=np.zeros(len(numbers), np.int64),
        queues=loads.queues[may][kept],
    )


def _turns(port: Ints) -> Ints:
    """0, 1, ... within each port."""
    order = np.argsort(port, kind="stable")
    ordered = port[order]
    first = np.searchsorted(ordered, ordered)
    turns = np.empty(len(port), np.int64)
    turns[order] = np.arange(len(port)) - first
    return turns


def settle(st: State, parked: Parked) -> None:
    """Put the frames that parked ports have sent until now into the state: at every queue of their paths."""
    if not len(parked.numbers):
        return
    due = parked.due(int(st.sim[0].now))
    parked.counted = parked.counted + due
    _advance_flows(st, parked.numbers, due)
    used = parked.queues >= 0
    passed = np.broadcast_to(due[:, None], used.shape)[used]
    octets = np.broadcast_to((due * st.flows.frame[parked.numbers])[:, None], used.shape)[used]
    np.add.at(st.queues.tx_packets, parked.queues[used], passed)
    np.add.at(st.queues.tx_bytes, parked.queues[used], octets)


def _advance_flows(st: State, numbers: Ints, due: Ints) -> None:
    """Shift the numbers of packets by what has been sent and received in the meantime."""
    flows = st.flows
    for field in ("sent", "expected", "highest_sent", "sent_packets", "received", "acks"):
        flows[field][numbers] += due.astype(flows[field].dtype)
    octets = due * flows.frame[numbers]
    flows.sent_bytes[numbers] += octets
    flows.received_bytes[numbers] += octets
    flows.progress_at[numbers[due > 0]] = st.sim[0].now
    shift = np.zeros(len(flows), np.int64)
    shift[numbers] = due
    moving = np.flatnonzero(st.packets.kind == DATA)
    st.packets.seq[moving] += shift[st.packets.flow[moving]].astype(np.int32)


def set_parked(st: State, parked: Parked) -> None:
    """Mark flows for `Engine.park`."""
    st.flows.parked[parked.numbers] = PARKED
    st.flows.train_from[parked.numbers] = 0


def set_unparked(st: State, parked: Parked) -> None:
    """Mark flows for `Engine.park`; the frames until now are in the state then."""
    settle(st, parked)
    st.flows.parked[parked.numbers] = UNPARKED
