"""A switch: admission to the shared buffer, and the ways of a packet to a queue or to a drop."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.loss import packet_lost
from railfab.sim.kernel.pfc import send_pause, threshold
from railfab.sim.kernel.queues import (
    drain_all,
    drop_at_egress,
    drop_down,
    drop_in_storm,
    leave_buffer,
    settle,
    settle_switch,
)
from railfab.sim.kernel.records import ADAPTIVE, MAX_HOPS, NONE, QUEUES, XOFF, State
from railfab.sim.kernel.routing import choose
from railfab.sim.kernel.transmit import acknowledgements, transmit


@called
def _drop_at_ingress(st: State, p: int, priority: int, time: int) -> None:
    packet = st.packets[p]
    group = st.ingress[packet.link * QUEUES + max(priority, 0)]
    group.dropped_packets += packet.frames
    group.dropped_bytes += packet.size
    packet_lost(st, p, time)


@called
def _drop_unrouted(st: State, n: int, p: int, time: int) -> None:
    st.nodes[n].unrouted_packets += st.packets[p].frames
    st.nodes[n].unrouted_bytes += st.packets[p].size
    packet_lost(st, p, time)


@called
def _admitted_under_pressure(st: State, n: int, p: int, priority: int, time: int) -> bool:
    """Admit a packet that may exceed a threshold, by exact use of the buffer; sends XOFF. False: it is dropped."""
    drain_all(st, n, time)
    packet, node = st.packets[p], st.nodes[n]
    size = packet.size
    if priority < 0:
        if node.used + size > node.shared:
            _drop_at_ingress(st, p, priority, time)
            return False
        node.used += size
        return True
    group = st.ingress[packet.link * QUEUES + priority]
    if group.bytes + size > threshold(node, group) or node.used + size > node.shared:
        if group.headroom_used + size > group.headroom:
            if group.sends and not group.paused and group.bytes + group.headroom_used > 0:
                send_pause(st, n, packet.link, priority, XOFF, time)
            _drop_at_ingress(st, p, priority, time)
            return False
        group.headroom_used += size
    else:
        group.bytes += size
        node.used += size
    group.peak = max(group.peak, group.bytes + group.headroom_used)
    group.headroom_peak = max(group.headroom_peak, group.headroom_used)
    group.margin = min(group.margin, threshold(node, group) - group.bytes)
    if group.sends and not group.paused and (group.headroom_used > 0 or group.bytes >= threshold(node, group)):
        send_pause(st, n, packet.link, priority, XOFF, time)
    return True


@inlined
def _admitted(st: State, n: int, p: int, priority: int, time: int) -> bool:
    """Admit a packet to the shared buffer. Links that were not brought to this time only overstate its use."""
    packet, node = st.packets[p], st.nodes[n]
    size = packet.size
    left = node.shared - node.used - size
    if priority < 0:
        if left < 0.0:
            return _admitted_under_pressure(st, n, p, priority, time)
        node.used += size
        return True
    group = st.ingress[packet.link * QUEUES + priority]
    held = group.bytes + size
    limit = group.xoff
    if group.alpha > 0.0:
        limit = group.alpha * left
    if held >= limit or held > group.peak or group.headroom_used > 0 or left < 0.0:
        return _admitted_under_pressure(st, n, p, priority, time)
    group.bytes = held
    node.used += size
    return True


@inlined
def _pass_through(st: State, n: int, p: int, out: int, queue: Any, time: int) -> None:
    """Send a packet that finds its link idle: the queue and the buffer hold it for no time."""
    size, frames = st.packets[p].size, st.packets[p].frames
    queue.peak = max(queue.peak, size if frames == 1 else size // frames)
    leave_buffer(st, n, p, time)
    queue.tx_bytes += size
    queue.tx_packets += frames
    transmit(st, p, out, time + acknowledgements(st, st.links[out], frames))


@called
def _has_no_share(st: State, n: int, queue: Any, size: int, time: int) -> bool:
    """Whether a queue is longer than its share of the free shared buffer, by exact use of the buffer."""
    settle_switch(st, n, time)
    node = st.nodes[n]
    return bool(queue.bytes + size > queue.alpha * (node.shared - node.used))


@inlined
def _refused_by_queue(st: State, n: int, queue: Any, size: int, time: int) -> bool:
    """Whether a queue is too long for another packet: a fixed limit, or a share of the free shared buffer. Links that
    were not brought to this time only overstate its use."""
    if queue.bytes + size > queue.limit:
        return True
    node = st.nodes[n]
    if queue.alpha > 0.0 and queue.bytes + size > queue.alpha * (node.shared - node.used):
        return _has_no_share(st, n, queue, size, time)
    return False


@called
def _chosen_now(st: State, n: int, flow: int, hop: int, into: int, queue: int, time: int) -> int:
    """The link that is chosen for a packet when it arrives; by load, that of this moment."""
    if st.nodes[n].balancing == ADAPTIVE:
        settle_switch(st, n, time)
    return choose(st, n, flow, hop, into, queue, time)


@inlined
def arrive(st: State, n: int, p: int, time: int) -> None:
    """A data packet arrives at a switch."""
    sim, packet, node = st.sim[0], st.packets[p], st.nodes[n]
    into = packet.link
    flow = packet.flow
    f = st.flows[flow]
    queue_number = st.table[sim.at_queue_of + into * sim.classes + f.traffic_class]
    priority = st.table[sim.at_group_of + into * sim.classes + f.traffic_class]
    out = NONE
    if f.dynamic == 0:
        out = st.path[flow * MAX_HOPS + packet.hop + 1]
    if out < 0 or st.links[out].near != n:
        out = _chosen_now(st, n, flow, packet.hop, into, queue_number, time)
    if out < 0:
        _drop_unrouted(st, n, p, time)
        return
    settle(st, n, out, time)
    link, at = st.links[out], out * QUEUES + queue_number
    queue = st.queues[at]
    if queue.storm:
        queue.taken_bytes += packet.size
        drop_in_storm(st, p, at, time)
        return
    if link.up == 0:
        queue.taken_bytes += packet.size
        drop_down(st, p, at, time)
        return
    if _refused_by_queue(st, n, queue, packet.size, time):
        queue.taken_bytes += packet.size
        drop_at_egress(st, p, at, time)
        return
    packet.group = priority
    if not _admitted(st, n, p, priority, time):
        return
    queue.taken_bytes += packet.size
    if link.waiting == 0 and link.free_at <= time and not link.paused >> queue_number & 1:
        _pass_through(st, n, p, out, queue, time)
        return
    packet.time = time
    packet.next = NONE
    if queue.head < 0:
        queue.head = p
        link.waiting |= 1 << queue_number
        if link.listed == 0:
            link.listed = 1
            st.table[sim.at_busy + node.outs + node.busy_links] = out
            node.busy_links += 1
    else:
        st.packets[queue.tail].next = p
    queue.tail = p
    queue.packets += 1
    queue.bytes += packet.size
    if queue.bytes > queue.peak:
        queue.peak = queue.bytes


@inlined
def end_window(st: State, n: int, end: int) -> None:
    """Send all that begins before the end of the window, and forget links without packets."""
    sim, node = st.sim[0], st.nodes[n]
    drain_all(st, n, end - 1)
    at = sim.at_busy + node.outs
    kept = 0
    for place in range(node.busy_links):
        out = st.table[at + place]
        if st.links[out].waiting:
            st.table[at + kept] = out
            kept += 1
        else:
            st.links[out].listed = 0
    node.busy_links = kept
