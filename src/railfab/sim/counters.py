"""What is counted, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from railfab.sim.kernel.records import DATA, MAX_HOPS, NONE, QUEUES, STALLED, State
from railfab.sim.network import Bools, Floats, Ints

PS_PER_NS = 1000


def _shaped(values: Any) -> Any:
    return np.array(values).reshape(-1, QUEUES)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counters:
    """Every counter of the network since its birth, but for the gauges named so. All are copies.

    Axes (link, queue), of the queue before the link: sent_bytes, sent_packets, taken_bytes, marked_packets,
        marked_bytes, dropped_packets, dropped_bytes (queue too long, link down), down_packets (those of them whose link
        was down), storm_packets, storm_bytes (dropped by the watchdog), storms, waiting_byte_ns (the depth over
        time), depth_bytes (gauge), peak_bytes.
        taken_bytes = sent_bytes + dropped_bytes + storm_bytes + depth_bytes.
    Axes (link, priority): xoff_sent, xon_sent, refreshed, refused_packets, refused_bytes (no buffer), held_bytes
        (gauge), held_peak_bytes, headroom_bytes (gauge), headroom_peak_bytes, paused (gauge) at the far end;
        xoff_received, xon_received, lost_pauses (the cable was down), paused_ns at the near end. xoff_margin_bytes:
        least difference between threshold and bytes at the far end, of the moments when it held more than ever before
        (infinite: there was none).
    Axis (link,): lost_packets, lost_bytes (on the wire: bit errors, link down), ack_packets, cnp_packets (in no other
        counter).
    Axis (node,): unrouted_packets, unrouted_bytes, rx_dropped_packets, rx_dropped_bytes.
    """

    sent_bytes: Ints
    sent_packets: Ints
    taken_bytes: Ints
    marked_packets: Ints
    marked_bytes: Ints
    dropped_packets: Ints
    dropped_bytes: Ints
    down_packets: Ints
    storm_packets: Ints
    storm_bytes: Ints
    storms: Ints
    waiting_byte_ns: Floats
    depth_bytes: Ints
    peak_bytes: Ints
    xoff_sent: Ints
    xon_sent: Ints
    refreshed: Ints
    refused_packets: Ints
    refused_bytes: Ints
    held_bytes: Ints
    held_peak_bytes: Ints
    headroom_bytes: Ints
    headroom_peak_bytes: Ints
    xoff_margin_bytes: Floats
    paused: Ints
    xoff_received: Ints
    xon_received: Ints
    lost_pauses: Ints
    paused_ns: Floats
    lost_packets: Ints
    lost_bytes: Ints
    ack_packets: Ints
    cnp_packets: Ints
    unrouted_packets: Ints
    unrouted_bytes: Ints
    rx_dropped_packets: Ints
    rx_dropped_bytes: Ints

    @classmethod
    def of(cls, st: State, ack_packets: Ints, cnp_packets: Ints) -> Counters:
        q, i, links, nodes = st.queues, st.ingress, st.links, st.nodes
        now = st.sim[0].now
        held = np.where(i.held > 0, now - i.held_at, 0) + i.held_time
        refreshing = np.where((i.paused > 0) & (i.refresh > 0), (now - i.xoff_at) // np.maximum(i.refresh, 1), 0)
        return cls(
            sent_bytes=_shaped(q.tx_bytes),
            sent_packets=_shaped(q.tx_packets),
            taken_bytes=_shaped(q.tx_bytes + q.dropped_bytes + q.storm_bytes + q.bytes),
            marked_packets=_shaped(q.marked),
            marked_bytes=_shaped(q.marked_bytes),
            dropped_packets=_shaped(q.dropped_packets),
            dropped_bytes=_shaped(q.dropped_bytes),
            down_packets=_shaped(q.down_packets),
            storm_packets=_shaped(q.storm_packets),
            storm_bytes=_shaped(q.storm_bytes),
            storms=_shaped(q.storms),
            waiting_byte_ns=_shaped((q.waiting_byte_ps + _waiting_byte_ps(st)) / PS_PER_NS),
            depth_bytes=_shaped(q.bytes),
            peak_bytes=_shaped(q.peak),
            xoff_sent=_shaped(i.xoff_sent),
            xon_sent=_shaped(i.xon_sent),
            refreshed=_shaped(i.refreshed + refreshing),
            refused_packets=_shaped(i.dropped_packets),
            refused_bytes=_shaped(i.dropped_bytes),
            held_bytes=_shaped(i.bytes + i.headroom_used),
            held_peak_bytes=_shaped(i.peak),
            headroom_bytes=_shaped(i.headroom_used),
            headroom_peak_bytes=_shaped(i.headroom_peak),
            xoff_margin_bytes=_shaped(i.margin),
            paused=_shaped(i.paused),
            xoff_received=_shaped(i.xoff_received),
            xon_received=_shaped(i.xon_received),
            lost_pauses=_shaped(i.lost_pauses),
            paused_ns=_shaped(held / PS_PER_NS),
            lost_packets=links.lost_packets.copy(),
            lost_bytes=links.lost_bytes.copy(),
            ack_packets=ack_packets.copy(),
            cnp_packets=cnp_packets.copy(),
            unrouted_packets=nodes.unrouted_packets.copy(),
            unrouted_bytes=nodes.unrouted_bytes.copy(),
            rx_dropped_packets=nodes.rx_dropped_packets.copy(),
            rx_dropped_bytes=nodes.rx_dropped_bytes.copy(),
        )


def _waiting_byte_ps(st: State) -> Floats:
    """Bytes in each queue times how long each has waited by now; (queue,).

    A packet's queue is that of the packet before it, and the first one's is the queue that it heads.
    """
    heads = np.flatnonzero(st.queues.head >= 0)
    if not len(heads):
        return np.zeros(len(st.queues))
    waiting = np.flatnonzero((st.packets.kind == DATA) & (st.packets.time < st.sim[0].now))
    found = st.packets[waiting]
    place = np.full(len(st.packets), NONE)
    place[waiting] = np.arange(len(waiting))
    first = np.arange(len(waiting))
    followed = np.flatnonzero(found.next >= 0)
    first[place[found.next[followed]]] = followed
    while not np.array_equal(further := first[first], first):
        first = further
    queue = np.full(len(st.packets), NONE)
    queue[st.queues.head[heads]] = heads
    at = queue[waiting[first]]
    byte_ps = found["size"] * (st.sim[0].now - found.time).astype(float)
    return np.bincount(at[at >= 0], byte_ps[at >= 0], len(st.queues)).astype(float)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowResults:
    """Axis (flow,), in the order in which they were added. finish_ns: when the sender has the last acknowledgement."""

    id: Ints
    start_ns: Floats
    finish_ns: Floats
    state: Ints
    sent_packets: Ints
    sent_bytes: Ints
    received_packets: Ints
    marked_packets: Ints
    cnps: Ints
    dropped_packets: Ints
    retransmitted_packets: Ints
    out_of_order_packets: Ints
    timeouts: Ints
    rate_gbps: Floats

    @classmethod
    def of(cls, flows: Any) -> FlowResults:
        return cls(
            id=flows.id.copy(),
            start_ns=flows.start / PS_PER_NS,
            finish_ns=flows.finish / PS_PER_NS,
            state=flows.state.astype(np.int64),
            sent_packets=flows.sent_packets.copy(),
            sent_bytes=flows.sent_bytes.copy(),
            received_packets=flows.received.copy(),
            marked_packets=flows.received_marked.copy(),
            cnps=flows.cnps.copy(),
            dropped_packets=flows.dropped.copy(),
            retransmitted_packets=flows.retransmitted.copy(),
            out_of_order_packets=flows.out_of_order.copy(),
            timeouts=flows.timeouts.copy(),
            rate_gbps=flows.rate.copy(),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paths:
    """Axis (flow,), in the order in which they were added, and (flow, hop); hops beyond the last link are -1.

    links, back: from the sender to the receiver, and back; -1 before the flow starts. Those of a stalled flow end where
    there is no further link, or with one that is down. dynamic: a switch chooses otherwise for other packets.
    """

    id: Ints
    stalled: Bools
    dynamic: Bools
    links: Ints
    back: Ints

    @classmethod
    def of(cls, st: State) -> Paths:
        flows = st.flows
        return cls(
            id=flows.id.copy(),
            stalled=np.asarray(flows.state == STALLED),
            dynamic=np.asarray(flows.dynamic > 0),
            links=np.asarray(st.path.reshape(-1, MAX_HOPS), np.int64),
            back=np.asarray(st.back.reshape(-1, MAX_HOPS), np.int64),
        )
