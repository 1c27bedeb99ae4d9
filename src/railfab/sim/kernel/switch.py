"""A switch: admission to the shared buffer, PFC, queues, marking, scheduling."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.loss import packet_lost
from railfab.sim.kernel.records import (
    DATA,
    MAX_HOPS,
    NEVER,
    NONE,
    QUEUES,
    WATCHDOG,
    XOFF,
    XON,
    State,
)
from railfab.sim.kernel.routing import choose
from railfab.sim.kernel.transmit import acknowledgements, transmit
from railfab.sim.kernel.wheel import add_timer, allocate, next_random, push

PAUSE_BYTES = 64


@inlined
def threshold(node: Any, group: Any) -> float:
    """Bytes of an ingress at which it sends XOFF: fixed, or a share of the free shared buffer (dynamic threshold)."""
    if group.alpha > 0.0:
        return float(max(0.0, group.alpha * (node.shared - node.used)))
    return float(group.xoff)


@called
def send_pause(st: State, n: int, into: int, priority: int, kind: int, time: int) -> None:
    """Send XOFF or XON for a priority of the link `into`; it waits for the frame that is being sent."""
    sim, data, back = st.sim[0], st.links[into], st.links[into ^ 1]
    group = st.ingress[into * QUEUES + priority]
    if kind == XOFF:
        group.paused = 1
        group.xoff_sent += 1
        group.xoff_at = time
        st.nodes[n].paused_count += 1
    else:
        group.paused = 0
        group.xon_sent += 1
        if group.refresh > 0:
            group.refreshed += (time - group.xoff_at) // group.refresh
        st.nodes[n].paused_count -= 1
    if back.up == 0:
        return
    start = max(time, back.free_at)
    exact = int(PAUSE_BYTES * back.ps_per_byte)
    back.free_at = start + (exact - exact % sim.quantum if sim.quantum > 1 else exact)
    p = allocate(st)
    if p < 0:
        return
    packet = st.packets[p]
    packet.kind, packet.link, packet.group, packet.ce = kind, into, priority, 0
    packet.time = back.free_at + data.pause_delay
    push(st, p, data.near)
    if st.pauses.size:
        _log_pause(st, n, p, time)


@called
def _log_pause(st: State, n: int, p: int, time: int) -> None:
    """Note a pause frame that is being sent, with the queue that holds most of the bytes of its ingress."""
    sim, frame, node = st.sim[0], st.packets[p], st.nodes[n]
    if sim.pauses_logged == st.pauses.size:
        sim.pauses_missed += 1
        return
    group = st.ingress[frame.link * QUEUES + frame.group]
    event = st.pauses[sim.pauses_logged]
    sim.pauses_logged += 1
    event.time, event.arrival = time, frame.time
    event.link, event.priority, event.kind = frame.link, frame.group, frame.kind
    event.bytes, event.headroom, event.threshold = group.bytes, group.headroom_used, threshold(node, group)
    event.cause, event.cause_bytes = NONE, 0
    if frame.kind == XON:
        return
    for place in range(node.busy_links):
        out = st.table[sim.at_busy + node.outs + place]
        for q in range(QUEUES):
            held = _bytes_of_ingress(st, out * QUEUES + q, frame.link, frame.group)
            if held > event.cause_bytes:
                event.cause, event.cause_bytes = out * QUEUES + q, held
                event.cause_since = st.packets[st.queues[out * QUEUES + q].head].time


@called
def _bytes_of_ingress(st: State, at: int, into: int, priority: int) -> int:
    """Bytes in a queue that came in by a link with a priority."""
    held = 0
    p = st.queues[at].head
    while p >= 0:
        packet = st.packets[p]
        if packet.link == into and packet.group == priority:
            held += packet.size
        p = packet.next
    return held


@inlined
def _leave_buffer(st: State, n: int, p: int, time: int) -> None:
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
def _mark_train(queue: Any, packet: Any) -> None:
    """Mark the frames of a train one by one, each by the bytes behind it."""
    size = packet.size // packet.frames
    behind = queue.bytes + packet.size
    marked = 0
    for _ in range(packet.frames):
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
def _mark(queue: Any, packet: Any) -> None:
    """Mark at dequeue, by the bytes left in the queue: RED without averaging (Zhu et al. 2015, CP algorithm)."""
    if packet.frames > 1:
        _mark_train(queue, packet)
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
    q = 0
    if ready & (ready - 1):
        return _next_queue(st, out, ready)
    while not ready >> q & 1:
        q += 1
    return q


@inlined
def _acknowledgements(st: State, out: int, q: int) -> int:
    """Time that acknowledgements take before the first packet of a queue [ps]."""
    return acknowledgements(st, st.links[out], st.packets[st.queues[out * QUEUES + q].head].frames)


@inlined
def _serve(st: State, n: int, out: int, q: int, start: int) -> None:
    """Send the first packet of a queue."""
    link, queue = st.links[out], st.queues[out * QUEUES + q]
    p = queue.head
    packet = st.packets[p]
    queue.head = packet.next
    if queue.head < 0:
        link.waiting &= ~(1 << q)
    queue.bytes -= packet.size
    queue.packets -= 1
    queue.deficit -= packet.size
    queue.waiting_byte_ns += packet.size * ((start - packet.time) * 0.001)
    _leave_buffer(st, n, p, start)
    _mark(queue, packet)
    queue.tx_bytes += packet.size
    queue.tx_packets += packet.frames
    transmit(st, p, out, start)


@inlined
def drain(st: State, n: int, out: int, until: int) -> None:
    """Send what a link begins to send by this time."""
    link = st.links[out]
    while True:
        ready = link.waiting & ~link.paused
        if ready == 0 or link.up == 0:
            break
        q = _pick(st, out, ready)
        start = max(link.free_at, st.packets[st.queues[out * QUEUES + q].head].time)
        if start > until:
            break
        _serve(st, n, out, q, start + _acknowledgements(st, out, q))


@called
def _next_start(st: State, out: int) -> tuple[int, int]:
    """When a link begins to send its next packet, and from which queue."""
    link = st.links[out]
    ready = link.waiting & ~link.paused
    if ready == 0 or link.up == 0:
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
            if start < best_start:
                best, best_start, best_queue = out, start, q
        if best < 0:
            return
        _serve(st, n, best, best_queue, best_start + _acknowledgements(st, best, best_queue))


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
def _drop_at_egress(st: State, p: int, at: int, time: int) -> None:
    queue, packet = st.queues[at], st.packets[p]
    queue.dropped_packets += packet.frames
    queue.dropped_bytes += packet.size
    packet_lost(st, p, time)


@called
def _drop_in_storm(st: State, p: int, at: int, time: int) -> None:
    queue, packet = st.queues[at], st.packets[p]
    queue.storm_packets += packet.frames
    queue.storm_bytes += packet.size
    packet_lost(st, p, time)


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
    if group.bytes + size > threshold(node, group):
        if group.headroom_used + size > group.headroom:
            if group.sends and not group.paused:
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
    if priority < 0:
        if node.used + size > node.shared:
            return _admitted_under_pressure(st, n, p, priority, time)
        node.used += size
        return True
    group = st.ingress[packet.link * QUEUES + priority]
    held = group.bytes + size
    limit = group.xoff
    if group.alpha > 0.0:
        limit = group.alpha * (node.shared - node.used - size)
    if held >= limit or held > group.peak or group.headroom_used > 0:
        return _admitted_under_pressure(st, n, p, priority, time)
    group.bytes = held
    node.used += size
    return True


@inlined
def _pass_through(st: State, n: int, p: int, out: int, queue: Any, time: int) -> None:
    """Send a packet that finds its link idle: the queue and the buffer hold it for no time."""
    size, frames = st.packets[p].size, st.packets[p].frames
    queue.peak = max(queue.peak, size if frames == 1 else size // frames)
    _leave_buffer(st, n, p, time)
    queue.tx_bytes += size
    queue.tx_packets += frames
    transmit(st, p, out, time + acknowledgements(st, st.links[out], st.packets[p].frames))


@inlined
def _refused_by_queue(node: Any, queue: Any, size: int) -> bool:
    """Whether a queue is too long for another packet: a fixed limit, or a share of the free shared buffer."""
    if queue.bytes + size > queue.limit:
        return True
    return bool(queue.alpha > 0.0 and queue.bytes + size > queue.alpha * (node.shared - node.used))


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
    if f.dynamic == 0 and packet.kind == DATA:
        out = st.path[flow * MAX_HOPS + packet.hop + 1]
    else:
        out = choose(st, n, flow, packet.hop, into, queue_number, time)
    if out < 0:
        _drop_unrouted(st, n, p, time)
        return
    settle(st, n, out, time)
    link, at = st.links[out], out * QUEUES + queue_number
    queue = st.queues[at]
    if queue.storm:
        _drop_in_storm(st, p, at, time)
        return
    if _refused_by_queue(node, queue, packet.size) or link.up == 0:
        _drop_at_egress(st, p, at, time)
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


@called
def hold(st: State, link_number: int, priority: int, time: int) -> None:
    """XOFF has arrived at the sender of a link: stop the queue of this priority."""
    group = st.ingress[link_number * QUEUES + priority]
    group.xoff_received += 1
    if group.queue < 0 or group.held:
        return
    group.held = 1
    group.held_at = time
    link = st.links[link_number]
    if not link.paused >> group.queue & 1:
        link.paused |= 1 << group.queue
        queue = st.queues[link_number * QUEUES + group.queue]
        queue.paused_since = time
        if queue.detect > 0:
            add_timer(st, time + queue.detect, WATCHDOG, link_number * QUEUES + group.queue)


@called
def let_go(st: State, link_number: int, priority: int, time: int) -> None:
    """XON has arrived at the sender of a link."""
    group = st.ingress[link_number * QUEUES + priority]
    group.xon_received += 1
    if not group.held:
        return
    group.held = 0
    group.held_time += time - group.held_at
    link = st.links[link_number]
    for other in range(QUEUES):
        same = st.ingress[link_number * QUEUES + other]
        if same.held and same.queue == group.queue:
            return
    link.paused &= ~(1 << group.queue)
    link.free_at = max(link.free_at, time)
    queue = st.queues[link_number * QUEUES + group.queue]
    if queue.storm:
        queue.paused_since = time
        add_timer(st, time + queue.restore, WATCHDOG, link_number * QUEUES + group.queue)


@called
def flush(st: State, n: int, at: int, time: int) -> None:
    """Drop all packets of a queue whose link is down."""
    queue, link = st.queues[at], st.links[at // QUEUES]
    link.waiting &= ~(1 << (at % QUEUES))
    while queue.head >= 0:
        p = queue.head
        queue.head = st.packets[p].next
        queue.bytes -= st.packets[p].size
        queue.packets -= 1
        _leave_buffer(st, n, p, time)
        _drop_at_egress(st, p, at, time)


@called
def watch(st: State, n: int, at: int, time: int) -> None:
    """The watchdog's timer: a queue stopped for the detection time drops all it has and gets; it recovers after the
    restoration time without a pause."""
    queue, link = st.queues[at], st.links[at // QUEUES]
    stopped = link.paused >> (at % QUEUES) & 1
    if queue.storm:
        if not stopped and time - queue.paused_since >= queue.restore:
            queue.storm = 0
        return
    if not stopped or time - queue.paused_since < queue.detect:
        return
    queue.storm = 1
    queue.storms += 1
    link.waiting &= ~(1 << (at % QUEUES))
    while queue.head >= 0:
        p = queue.head
        queue.head = st.packets[p].next
        queue.bytes -= st.packets[p].size
        queue.packets -= 1
        _leave_buffer(st, n, p, time)
        _drop_in_storm(st, p, at, time)
