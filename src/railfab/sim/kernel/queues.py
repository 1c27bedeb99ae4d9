"""The queues before the links of a switch: marking, scheduling, and sending in order of time."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined, prefetch
from railfab.sim.kernel.loss import packet_lost
from railfab.sim.kernel.pfc import release_queue, send_pause, stop_if_held, threshold, watch_from
from railfab.sim.kernel.records import DROPPING, IGNORING, NEVER, NONE, QUEUES, XON, State
from railfab.sim.kernel.transmit import acknowledgements, transmit
from railfab.sim.kernel.wheel import frames_of, next_random


@inlined
def leave_buffer(st: State, n: int, p: int, time: int) -> None:
    """Give back the buffer of a packet, headroom first; XON where the ingress has come down far enough."""
    packet, node = st.packets[p], st.nodes[n]
    size = packet.size
    if packet.group < 0:
        node.used -= size
        return
    group = st.ingress[packet.link * QUEUES + packet.group]
    headroom = min(group.headroom_used, size)
    group.headroom_used -= headroom
    group.bytes -= size - headroom
    node.used -= size - headroom
    if group.paused and group.headroom_used == 0:
        limit = threshold(node, group)
        if group.bytes == 0 or group.bytes + group.xon_gap <= limit:
            send_pause(st, n, packet.link, packet.group, XON, time)


@called
def _mark_train(st: State, queue: Any, packet: Any) -> None:
    """Mark the frames of a train one by one, each by the bytes behind it."""
    frames = frames_of(st, packet.size)
    size = packet.size // frames
    behind = queue.bytes + packet.size
    marked = 0
    for _ in range(frames):
        behind -= size
        if behind <= queue.kmin:
            break
        queue.random = next_random(queue.random)
        chance = 1.0 if behind >= queue.kmax else queue.pmax * (behind - queue.kmin) / (queue.kmax - queue.kmin)
        if queue.random < chance * 4294967296.0:
            marked += 1
    packet.ce = max(packet.ce, marked)
    queue.marked += marked
    queue.marked_bytes += marked * size


@inlined
def _mark(st: State, queue: Any, packet: Any) -> None:
    """Mark at dequeue, by the bytes left in the queue: RED without averaging (Zhu et al. 2015, CP algorithm)."""
    if packet.size > st.sim[0].frame:
        _mark_train(st, queue, packet)
    elif queue.bytes > queue.kmin:
        if queue.bytes < queue.kmax:
            queue.random = next_random(queue.random)
            chance = queue.pmax * (queue.bytes - queue.kmin) / (queue.kmax - queue.kmin)
            if queue.random >= chance * 4294967296.0:
                return
        packet.ce = 1
        queue.marked += 1
        queue.marked_bytes += packet.size


@called
def _next_queue(st: State, out: int, ready: int) -> int:
    """The queue that a link serves next of several: strict ones first, the highest; then deficit round robin.

    Source: Shreedhar and Varghese, Efficient Fair Queueing using Deficit Round Robin, SIGCOMM 1995.
    """
    link = st.links[out]
    soonest = NEVER
    for q in range(QUEUES):
        if ready >> q & 1:
            soonest = min(soonest, st.packets[st.queues[out * QUEUES + q].head].time)
    start = max(soonest, link.free_at)
    weighted = 0
    for step in range(QUEUES):
        q = QUEUES - 1 - step
        if ready >> q & 1 and st.packets[st.queues[out * QUEUES + q].head].time <= start:
            if st.queues[out * QUEUES + q].strict:
                return q
            weighted += 1
    while weighted:
        q = link.turn
        queue = st.queues[out * QUEUES + q]
        waits = ready >> q & 1 and not queue.strict and st.packets[queue.head].time <= start
        if waits and queue.deficit >= st.packets[queue.head].size:
            return int(q)
        if not waits:
            queue.deficit = 0
        link.turn = (q + 1) % QUEUES
        following = st.queues[out * QUEUES + link.turn]
        if ready >> link.turn & 1 and not following.strict and st.packets[following.head].time <= start:
            following.deficit += following.quantum
    return NONE


@inlined
def _pick(st: State, out: int, ready: int) -> int:
    """The queue that a link serves next of those in `ready`."""
    q = int(st.links[out].last_queue)
    if ready == 1 << q:
        return q
    if ready & (ready - 1):
        return _next_queue(st, out, ready)
    q = 0
    while not ready >> q & 1:
        q += 1
    return q


@inlined
def _acknowledgements(st: State, out: int, q: int, start: int) -> int:
    """Time that acknowledgements take before the first packet of a queue [ps]."""
    frames = frames_of(st, st.packets[st.queues[out * QUEUES + q].head].size)
    return acknowledgements(st, st.links[out], frames, start)


@inlined
def _serve(st: State, n: int, out: int, q: int, start: int) -> None:
    """Send the first packet of a queue."""
    link, queue = st.links[out], st.queues[out * QUEUES + q]
    p = queue.head
    packet = st.packets[p]
    size = packet.size
    queue.head = packet.next
    if queue.head < 0:
        link.waiting ^= 1 << q
    else:
        prefetch(st.packets, queue.head)
    queue.bytes -= size
    if queue.deficit > 0:
        queue.deficit = max(queue.deficit - size, 0)
    queue.waiting_byte_ps += size * (start - packet.time)
    leave_buffer(st, n, p, start)
    _mark(st, queue, packet)
    queue.tx_bytes += size
    queue.tx_packets += frames_of(st, size)
    transmit(st, p, out, start)


@inlined
def drain(st: State, n: int, out: int, until: int) -> None:
    """Send what a link begins to send by this time. Nothing waits before a link that is down."""
    link = st.links[out]
    while True:
        ready = link.waiting & ~link.paused
        if ready == 0 or link.free_at > until:
            break
        q = _pick(st, out, ready)
        start = max(link.free_at, st.packets[st.queues[out * QUEUES + q].head].time)
        if start > until:
            break
        _serve(st, n, out, q, start + _acknowledgements(st, out, q, start))


@called
def _next_start(st: State, out: int) -> tuple[int, int]:
    """When a link begins to send its next packet, and from which queue."""
    link = st.links[out]
    ready = link.waiting & ~link.paused
    if ready == 0:
        return NEVER, 0
    q = _pick(st, out, ready)
    return max(link.free_at, st.packets[st.queues[out * QUEUES + q].head].time), q


@called
def drain_in_order(st: State, n: int, until: int) -> None:
    """Send what a switch begins to send by this time, in order of time over all links."""
    sim, node = st.sim[0], st.nodes[n]
    at = sim.at_busy + node.outs
    while True:
        best, best_start, best_queue = NONE, until + 1, 0
        for place in range(node.busy_links):
            out = st.table[at + place]
            start, q = _next_start(st, out)
            if start < best_start or (start == best_start and best >= 0 and out < best):
                best, best_start, best_queue = out, start, q
        if best < 0:
            return
        _serve(st, n, best, best_queue, best_start + _acknowledgements(st, best, best_queue, best_start))


@inlined
def drain_all(st: State, n: int, until: int) -> None:
    """Send what a switch begins to send by this time. With an XOFF out, in order of time over all links: each packet
    that leaves may be the one after which XON is sent."""
    sim, node = st.sim[0], st.nodes[n]
    if node.paused_count:
        drain_in_order(st, n, until)
    else:
        at = sim.at_busy + node.outs
        for place in range(node.busy_links):
            drain(st, n, st.table[at + place], until)


@inlined
def settle(st: State, n: int, out: int, until: int) -> None:
    """Bring a link of a switch to this time, and with an XOFF out the whole switch."""
    if st.nodes[n].paused_count:
        drain_in_order(st, n, until)
    else:
        drain(st, n, out, until)


@called
def settle_switch(st: State, n: int, time: int) -> None:
    """Bring all links of a switch to this time."""
    drain_all(st, n, time)


@called
def drop_down(st: State, p: int, at: int, time: int) -> None:
    """Drop a packet whose link is down."""
    st.queues[at].down_packets += frames_of(st, st.packets[p].size)
    drop_at_egress(st, p, at, time)


@called
def drop_at_egress(st: State, p: int, at: int, time: int) -> None:
    queue, packet = st.queues[at], st.packets[p]
    queue.dropped_packets += frames_of(st, packet.size)
    queue.dropped_bytes += packet.size
    packet_lost(st, p, time)


@called
def drop_in_storm(st: State, p: int, at: int, time: int) -> None:
    queue, packet = st.queues[at], st.packets[p]
    queue.storm_packets += frames_of(st, packet.size)
    queue.storm_bytes += packet.size
    packet_lost(st, p, time)


@called
def drop_waiting(st: State, n: int, at: int, time: int) -> None:
    """Drop all packets of a queue, whose link is down or which is in a storm of pauses."""
    queue, link = st.queues[at], st.links[at // QUEUES]
    link.waiting &= ~(1 << (at % QUEUES))
    while queue.head >= 0:
        p = queue.head
        queue.head = st.packets[p].next
        queue.bytes -= st.packets[p].size
        queue.waiting_byte_ps += st.packets[p].size * (time - st.packets[p].time)
        leave_buffer(st, n, p, time)
        if queue.storm == DROPPING:
            drop_in_storm(st, p, at, time)
        else:
            drop_down(st, p, at, time)


@called
def watch(st: State, n: int, at: int, time: int) -> None:
    """The watchdog's timer: a queue stopped for the detection time is in a storm.

    It drops all it has and gets, until the restoration time has passed without a pause; or, where the watchdog ignores
    pauses, it sends for the restoration time, and obeys them again.
    """
    queue, link = st.queues[at], st.links[at // QUEUES]
    if time < queue.watch_at:
        return
    queue.watch_at = NEVER
    stopped = link.paused >> (at % QUEUES) & 1
    if queue.storm == IGNORING:
        queue.storm = 0
        stop_if_held(st, at, time)
    elif queue.storm == DROPPING:
        if not stopped:
            if time < queue.paused_since + queue.restore:
                watch_from(st, at, queue.paused_since + queue.restore)
            else:
                queue.storm = 0
                fixed = link.up and queue.alpha <= 0.0
                queue.takes = int(min(queue.limit, queue.drop_from, NEVER)) if fixed else -1
    elif stopped and queue.detect > 0:
        if time < queue.paused_since + queue.detect:
            watch_from(st, at, queue.paused_since + queue.detect)
        else:
            queue.storms += 1
            if queue.ignores:
                queue.storm = IGNORING
                release_queue(st, at // QUEUES, at % QUEUES, time)
                watch_from(st, at, time + queue.restore)
            else:
                queue.storm = DROPPING
                queue.takes = -1
                drop_waiting(st, n, at, time)
