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
from railfab.sim.kernel.records import (
    ADAPTIVE,
    DOWN,
    DROPPING,
    MAX_HOPS,
    NONE,
    QUEUE_BITS,
    QUEUES,
    STEP_BITS,
    XOFF,
    State,
)
from railfab.sim.kernel.routing import choose, step_of
from railfab.sim.kernel.transmit import acknowledgements, transmit
from railfab.sim.kernel.wheel import frames_of, next_random


@called
def _drop_at_ingress(st: State, p: int, priority: int, time: int) -> None:
    packet = st.packets[p]
    group = st.ingress[packet.link * QUEUES + max(priority, 0)]
    group.dropped_packets += frames_of(st, packet.size)
    group.dropped_bytes += packet.size
    packet_lost(st, p, time)


@called
def _drop_unrouted(st: State, n: int, p: int, time: int) -> None:
    st.nodes[n].unrouted_packets += frames_of(st, st.packets[p].size)
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
def _fits(node: Any, group: Any, lossless: bool, size: int) -> bool:
    """Whether the shared buffer takes a packet below every threshold and no watermark rises.

    Links that were not brought to this time only overstate the use of the buffer.
    """
    left = node.shared - node.used - size
    if not lossless:
        return bool(left >= 0.0)
    held = group.bytes + size
    limit = group.xoff
    if group.alpha > 0.0:
        limit = group.alpha * left
    return bool(held < limit and held <= group.peak and group.headroom_used == 0 and left >= 0.0)


@inlined
def _enter_buffer(node: Any, group: Any, lossless: bool, size: int) -> None:
    node.used += size
    if lossless:
        group.bytes += size


@called
def _has_no_share(st: State, n: int, queue: Any, size: int, time: int) -> bool:
    """Whether a queue is longer than its share of the free shared buffer, by exact use of the buffer."""
    settle_switch(st, n, time)
    node = st.nodes[n]
    return bool(queue.bytes + size > queue.alpha * (node.shared - node.used))


@inlined
def _drops_early(queue: Any) -> bool:
    """Whether a queue that drops by its ramp drops the next packet: RED without averaging."""
    if queue.bytes <= queue.drop_from:
        return False
    if queue.bytes >= queue.kmax:
        return True
    queue.random = next_random(queue.random)
    chance = queue.pmax * (queue.bytes - queue.drop_from) / (queue.kmax - queue.drop_from)
    return bool(queue.random < chance * 4294967296.0)


@called
def _refused_by_queue(st: State, n: int, p: int, at: int, time: int) -> bool:
    """Whether a packet is dropped before a queue: by the watchdog, a link that is down, a ramp, a fixed limit, or a
    share of the free shared buffer. Links that were not brought to this time only overstate its use."""
    queue, node, size = st.queues[at], st.nodes[n], st.packets[p].size
    held = queue.bytes + size
    if queue.storm == DROPPING:
        drop_in_storm(st, p, at, time)
    elif st.links[at >> QUEUE_BITS].up == DOWN:
        drop_down(st, p, at, time)
    elif (
        _drops_early(queue)
        or held > queue.limit
        or (
            queue.alpha > 0.0
            and held > queue.alpha * (node.shared - node.used)
            and _has_no_share(st, n, queue, size, time)
        )
    ):
        drop_at_egress(st, p, at, time)
    else:
        return False
    return True


@called
def _chosen_step(st: State, n: int, p: int, time: int) -> int:
    """The step (`STEP_BITS`) of a packet whose link is chosen when it arrives; NONE without a route."""
    sim, packet = st.sim[0], st.packets[p]
    traffic_class = st.flows[packet.flow].traffic_class
    queue = st.table[sim.at_classes + 2 * (packet.link * sim.classes + traffic_class)]
    if st.nodes[n].balancing == ADAPTIVE:
        settle_switch(st, n, time)
    out = choose(st, n, p, queue, time)
    return step_of(st, packet.link, out, traffic_class) if out >= 0 else NONE


@inlined
def _enqueue(st: State, n: int, p: int, out: int, q: int, time: int) -> None:
    sim, node, packet, link = st.sim[0], st.nodes[n], st.packets[p], st.links[out]
    queue = st.queues[out * QUEUES + q]
    packet.time = time
    packet.next = NONE
    if queue.head < 0:
        queue.head = p
        link.waiting |= 1 << q
        link.last_queue = q
        if link.listed == 0:
            link.listed = 1
            st.table[sim.at_busy + node.outs + node.busy_links] = out
            node.busy_links += 1
    else:
        st.packets[queue.tail].next = p
    queue.tail = p
    queue.bytes += packet.size
    queue.peak = max(queue.peak, queue.bytes)


@inlined
def arrive(st: State, n: int, p: int, time: int) -> None:
    """A data packet arrives at a switch. One that finds its link idle is in the buffer for no time."""
    packet, node = st.packets[p], st.nodes[n]
    size = packet.size
    step = int(st.steps[packet.flow * MAX_HOPS + packet.hop + 1])
    if step < 0 or st.links[step >> (STEP_BITS + QUEUE_BITS)].near != n:
        step = _chosen_step(st, n, p, time)
        if step < 0:
            _drop_unrouted(st, n, p, time)
            return
    at, priority = step >> STEP_BITS, (step & ((1 << STEP_BITS) - 1)) - 1
    out, q = at >> QUEUE_BITS, at & (QUEUES - 1)
    settle(st, n, out, time)
    link, queue = st.links[out], st.queues[at]
    if queue.bytes + size > queue.takes and _refused_by_queue(st, n, p, at, time):
        return
    packet.group = priority
    lossless = priority >= 0
    group = st.ingress[packet.link * QUEUES + max(priority, 0)]
    fits = _fits(node, group, lossless, size)
    if not fits and not _admitted_under_pressure(st, n, p, priority, time):
        return
    idle = link.waiting == 0 and link.free_at <= time and not link.paused >> q & 1
    if fits and (not idle or (lossless and group.paused)):
        _enter_buffer(node, group, lossless, size)
    if not idle:
        _enqueue(st, n, p, out, q, time)
        return
    if not fits or (lossless and group.paused):
        leave_buffer(st, n, p, time)
    frames = frames_of(st, size)
    queue.peak = max(queue.peak, size if frames == 1 else size // frames)
    queue.tx_bytes += size
    queue.tx_packets += frames
    transmit(st, p, out, time + acknowledgements(st, link, frames, time))


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
