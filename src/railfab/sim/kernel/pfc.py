"""PFC: XOFF and XON at the ingress that sends them and at the egress that they stop."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.records import DROPPING, IGNORING, NONE, QUEUES, SWITCH, WATCHDOG, XOFF, XON, State
from railfab.sim.kernel.wheel import add_timer, allocate, push

PAUSE_BYTES = 64


@inlined
def threshold(node: Any, group: Any) -> float:
    """Bytes of an ingress at which it sends XOFF: fixed, or a share of the free shared buffer (dynamic threshold)."""
    if group.alpha > 0.0:
        return float(max(0.0, group.alpha * (node.shared - node.used)))
    return float(group.xoff)


@inlined
def _end_pause(st: State, group: Any, far: int, time: int) -> None:
    """The far end wants no pause any more. Frames that refreshed it are only counted."""
    group.paused = 0
    st.nodes[far].paused_count -= 1
    if group.refresh > 0:
        group.refreshed += (time - group.xoff_at) // group.refresh


@called
def send_pause(st: State, n: int, into: int, priority: int, kind: int, time: int) -> None:
    """Send XOFF or XON for a priority of the link `into`; it waits for the frame that is being sent.

    Without a way back nothing is sent: XOFF is tried again with the next packet.
    """
    sim, data, back = st.sim[0], st.links[into], st.links[into ^ 1]
    group = st.ingress[into * QUEUES + priority]
    if kind == XON:
        _end_pause(st, group, n, time)
    if back.up == 0:
        return
    if kind == XOFF:
        group.paused = 1
        group.xoff_sent += 1
        group.xoff_at = time
        st.nodes[n].paused_count += 1
    else:
        group.xon_sent += 1
    start = max(time, back.free_at)
    exact = int((PAUSE_BYTES + sim.gap) * back.ps_per_byte)
    rounded = exact - exact % sim.quantum if sim.quantum > 1 else exact
    back.free_at = start + max(1, rounded)  # else XOFF and XON of one moment could arrive in either order
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


@called
def _pause_was_lost(st: State, link_number: int, priority: int, time: int) -> bool:
    """Whether the cable was down while a pause frame was on its way."""
    link = st.links[link_number]
    if link.up == 0 or st.links[link_number ^ 1].up == 0 or time <= link.pause_lost_until:
        st.ingress[link_number * QUEUES + priority].lost_pauses += 1
        return True
    return False


@called
def watch_from(st: State, at: int, due: int) -> None:
    """Set the watchdog of a queue to this time, unless it looks earlier."""
    queue = st.queues[at]
    if due < queue.watch_at:
        queue.watch_at = due
        add_timer(st, due, WATCHDOG, at)


@called
def stop_queue(st: State, link_number: int, q: int, time: int) -> None:
    """Stop a queue, and have the watchdog look after the detection time; not while it ignores pauses."""
    link, queue = st.links[link_number], st.queues[link_number * QUEUES + q]
    if link.paused >> q & 1 or queue.storm == IGNORING:
        return
    link.paused |= 1 << q
    queue.paused_since = time
    if queue.detect > 0 and not queue.storm and st.nodes[link.near].kind == SWITCH:
        watch_from(st, link_number * QUEUES + q, time + queue.detect)


@called
def release_queue(st: State, link_number: int, q: int, time: int) -> None:
    """Let a queue send, and have the watchdog look after the restoration time."""
    link = st.links[link_number]
    link.paused &= ~(1 << q)
    link.free_at = max(link.free_at, time)
    queue = st.queues[link_number * QUEUES + q]
    queue.paused_since = time
    if queue.storm == DROPPING:
        watch_from(st, link_number * QUEUES + q, time + queue.restore)


@called
def stop_if_held(st: State, at: int, time: int) -> None:
    """Stop a queue for which a pause has not ended."""
    for priority in range(QUEUES):
        group = st.ingress[at // QUEUES * QUEUES + priority]
        if group.held and group.queue == at % QUEUES:
            stop_queue(st, at // QUEUES, at % QUEUES, time)


@called
def hold(st: State, link_number: int, priority: int, time: int) -> None:
    """XOFF has arrived at the sender of a link: stop the queue of this priority."""
    if _pause_was_lost(st, link_number, priority, time):
        return
    group = st.ingress[link_number * QUEUES + priority]
    group.xoff_received += 1
    if group.queue < 0 or group.held:
        return
    group.held = 1
    group.held_at = time
    stop_queue(st, link_number, group.queue, time)


@called
def let_go(st: State, link_number: int, priority: int, time: int) -> None:
    """XON has arrived at the sender of a link."""
    if _pause_was_lost(st, link_number, priority, time):
        return
    group = st.ingress[link_number * QUEUES + priority]
    group.xon_received += 1
    if not group.held:
        return
    group.held = 0
    group.held_time += time - group.held_at
    for other in range(QUEUES):
        same = st.ingress[link_number * QUEUES + other]
        if same.held and same.queue == group.queue:
            return
    release_queue(st, link_number, group.queue, time)


@called
def forget_pauses(st: State, link_number: int, time: int) -> None:
    """Forget all pauses of a link whose cable is down: no XON would come."""
    for priority in range(QUEUES):
        group = st.ingress[link_number * QUEUES + priority]
        if group.paused:
            _end_pause(st, group, st.links[link_number].far, time)
        if group.held:
            group.held = 0
            group.held_time += time - group.held_at


@called
def stop_held_queues(st: State, link_number: int, time: int) -> None:
    """Stop the queues of the priorities that are held, and only those; which they are may have changed."""
    held = 0
    for priority in range(QUEUES):
        group = st.ingress[link_number * QUEUES + priority]
        if group.held and group.queue < 0:
            group.held = 0
            group.held_time += time - group.held_at
        if group.held:
            held |= 1 << group.queue
    for q in range(QUEUES):
        if held >> q & 1:
            stop_queue(st, link_number, q, time)
        elif st.links[link_number].paused >> q & 1:
            release_queue(st, link_number, q, time)
