"""A NIC port: paces its flows, receives, acknowledges, notifies, and sends again what was lost."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.loss import packet_lost
from railfab.sim.kernel.rate_control import advance_control, count_bytes, cut_after_loss, pacing_interval
from railfab.sim.kernel.records import (
    CNP,
    DATA,
    DCQCN,
    DONE,
    GO_BACK_N,
    MAX_HOPS,
    NAK,
    NEVER,
    NONE,
    QUEUES,
    RX_READY,
    SELECTIVE,
    SENDING,
    STALLED,
    START,
    TIMEOUT,
    XOFF,
    XON,
    State,
)
from railfab.sim.kernel.routing import walk
from railfab.sim.kernel.switch import send_pause
from railfab.sim.kernel.transmit import acknowledge, acknowledgements, transmit
from railfab.sim.kernel.wheel import activate, add_timer, allocate, push, release_packet


@called
def _list_flow(st: State, flow: int) -> None:
    """Add a flow to those that its NIC serves in turn."""
    f = st.flows[flow]
    if f.listed:
        return
    nic = st.nodes[f.source]
    st.nic_flows[nic.flows_at + nic.flow_count] = flow
    nic.flow_count += 1
    f.listed = 1


@called
def _unlist(st: State, n: int, place: int) -> None:
    nic = st.nodes[n]
    at = nic.flows_at
    st.flows[st.nic_flows[at + place]].listed = 0
    for later in range(place, nic.flow_count - 1):
        st.nic_flows[at + later] = st.nic_flows[at + later + 1]
    nic.flow_count -= 1
    if nic.last_served >= place:
        nic.last_served -= 1


@called
def unlist_flow(st: State, flow: int) -> None:
    """Remove a flow from those that its NIC serves."""
    f = st.flows[flow]
    nic = st.nodes[f.source]
    for place in range(nic.flow_count):
        if st.nic_flows[nic.flows_at + place] == flow:
            _unlist(st, f.source, place)
            return


@called
def begin_sending(st: State, flow: int, time: int) -> None:
    """Let a flow send from this time on."""
    f = st.flows[flow]
    nic = st.nodes[f.source]
    _list_flow(st, flow)
    f.next_at = max(f.next_at, time)
    nic.ready = min(nic.ready, time)


@called
def start_flow(st: State, flow: int, time: int) -> None:
    """Find the links of a flow and of its acknowledgements, and let it send; it waits where there is no route."""
    sim, f = st.sim[0], st.flows[flow]
    t = st.transports[f.transport]
    at = flow * MAX_HOPS
    there, _, dynamic = walk(st, f.source, f.destination, f.source_word, f.target_word, f.entropy_word, st.path, at)
    back, delay, _ = walk(
        st, f.target, st.nodes[f.source].destination, f.target_word, f.source_word, f.back_word, st.back, at
    )
    if there < 0 or back < 0:
        f.state = STALLED
        return
    f.dynamic = dynamic
    f.back_hops, f.back_delay = back, delay
    if f.state != SENDING:
        f.state = SENDING
        activate(st, f.source)
        if f.rate == 0.0:
            f.line_rate = 8000.0 / st.links[st.nodes[f.source].link].ps_per_byte
            f.rate = min(f.line_rate, t.start_rate) if t.start_rate > 0 else f.line_rate
            f.interval = pacing_interval(f.frame, sim.gap * f.train, f.rate, sim.quantum)
            f.start = time
    if f.sent < f.packets or f.resend_head >= 0:
        begin_sending(st, flow, time)


@inlined
def _next_flow(st: State, nic: Any, link: Any, time: int) -> tuple[int, int]:
    """The place of the next flow in turn that may send now, else NONE and when the first may."""
    at = nic.flows_at
    count = nic.flow_count
    place = nic.last_served
    soonest = NEVER
    found = NONE
    for _ in range(count):
        place += 1
        if place >= count:
            place = 0
        f = st.flows[st.nic_flows[at + place]]
        if link.paused and link.paused >> f.queue & 1:
            continue
        if f.next_at <= time:
            found = place
            break
        if f.next_at < soonest:
            soonest = f.next_at
    return found, soonest


@inlined
def _next_packet(st: State, flow: int) -> int:
    """The number of the packet that a flow sends next: one to send again, else the first that was not sent."""
    f = st.flows[flow]
    if f.resend_head >= 0:
        p = f.resend_head
        seq = st.packets[p].seq
        f.resend_head = st.packets[p].next
        release_packet(st, p)
        f.retransmitted += 1
        return int(seq)
    seq = f.sent
    f.sent += 1
    if seq < f.highest_sent:
        f.retransmitted += 1
    else:
        f.highest_sent = f.sent
    return int(seq)


@inlined
def _send(st: State, n: int, place: int, time: int) -> None:
    """Send the next packet of a flow."""
    sim, nic = st.sim[0], st.nodes[n]
    flow = st.nic_flows[nic.flows_at + place]
    f, link = st.flows[flow], st.links[nic.link]
    p = allocate(st)
    if p < 0:
        nic.ready = NEVER
        return
    nic.last_served = place
    if time >= f.timer:
        advance_control(st, flow, time)
    seq = _next_packet(st, flow)
    packet = st.packets[p]
    packet.kind, packet.flow, packet.seq, packet.ce, packet.hop, packet.group = DATA, flow, seq, 0, -1, NONE
    if seq == f.packets - 1:
        packet.size, packet.frames = f.last_frame, f.last_train
        f.next_at = time + pacing_interval(f.last_frame, sim.gap * f.last_train, f.rate, sim.quantum)
    else:
        packet.size, packet.frames = f.frame, f.train
        f.next_at = time + f.interval
    if seq < f.train_from:
        packet.size, packet.frames = f.frame // f.train * f.train_before, f.train_before
    f.sent_packets += packet.frames
    f.sent_bytes += packet.size
    sim.in_flight += 1
    queue = st.queues[nic.link * QUEUES + f.queue]
    queue.tx_packets += packet.frames
    queue.tx_bytes += packet.size
    queue.taken_bytes += packet.size
    if f.counts_bytes and f.controlled:
        count_bytes(st, flow, packet.size)
    if f.sent == f.packets and f.resend_head < 0:
        _unlist(st, n, place)
    transmit(st, p, nic.link, time + acknowledgements(st, link, packet.frames))


@inlined
def emit(st: State, n: int, until: int) -> None:
    """Send what this NIC begins to send before this time."""
    nic = st.nodes[n]
    link = st.links[nic.link]
    if link.up == 0:
        return
    while nic.flow_count:
        time = max(link.free_at, nic.ready)
        if time >= until:
            break
        place, soonest = _next_flow(st, nic, link, time)
        if place < 0:
            nic.ready = soonest
        else:
            _send(st, n, place, time)


@called
def _finish(st: State, flow: int, time: int) -> None:
    """All has been received: the sender knows after the way back, and flows that wait for this one may start."""
    sim, f = st.sim[0], st.flows[flow]
    f.finish = time + f.back_delay
    f.state = DONE
    sim.open_flows -= 1
    sim.last_event = max(sim.last_event, f.finish)
    for place in range(f.dependents):
        other = st.dependents[f.first_dependent + place]
        d = st.flows[other]
        d.waits_for -= 1
        d.start = max(d.start, f.finish + d.gap)
        if d.waits_for == 0:
            add_timer(st, d.start, START, other)


@called
def _notify(st: State, flow: int, kind: int, seq: int, time: int) -> None:
    """Send a notification to the sender of a flow; it takes the way of the acknowledgements."""
    p = allocate(st)
    if p < 0:
        return
    f, packet = st.flows[flow], st.packets[p]
    packet.kind, packet.flow, packet.seq, packet.time = kind, flow, seq, time + f.back_delay
    push(st, p, f.source)


@inlined
def _go_back_n(st: State, flow: int, seq: int, time: int) -> bool:
    """Whether a packet is the next one in order. Others are dropped, and the first of a gap is asked for once,
    or at most once in each interval.

    Source: InfiniBand Architecture Specification vol. 1, 9.7.5.2 (NAK code PSN sequence error).
    """
    f = st.flows[flow]
    if seq == f.expected:
        f.expected += 1
        f.asked = 0
        return True
    if seq < f.expected:
        f.duplicates += 1
        return False
    f.out_of_order += 1
    t = st.transports[f.transport]
    again = t.nak_interval > 0 and time - f.asked_at >= t.nak_interval
    if t.recovery == GO_BACK_N and (not f.asked or again):
        f.asked = 1
        f.asked_at = time
        f.naks += 1
        _notify(st, flow, NAK, f.expected, time)
    return False


@called
def _selective(st: State, flow: int, seq: int, time: int) -> bool:
    """Whether a packet is new. Those beyond a gap are kept, and a gap older than the reordering window is asked for."""
    sim, f = st.sim[0], st.flows[flow]
    t = st.transports[f.transport]
    words = sim.bitmap_words
    at = f.bitmap
    bits = words * 32
    if seq < f.expected or seq >= f.expected + bits:
        f.duplicates += 1
        return False
    word, bit = at + (seq // 32) % words, 1 << (seq % 32)
    if seq > f.expected:
        f.out_of_order += 1
        if st.masks[word] & bit:
            f.duplicates += 1
            return False
        st.masks[word] |= bit
    else:
        f.expected += 1
        while st.masks[at + (f.expected // 32) % words] & (1 << (f.expected % 32)):
            st.masks[at + (f.expected // 32) % words] &= ~(1 << (f.expected % 32))
            f.expected += 1
    f.highest = max(f.highest, seq)
    while f.asked_up_to < f.highest - t.reorder:
        missing = max(f.asked_up_to, f.expected)
        f.asked_up_to = missing + 1
        if missing >= f.highest - t.reorder:
            break
        if not st.masks[at + (missing // 32) % words] & (1 << (missing % 32)):
            f.naks += 1
            _notify(st, flow, NAK, missing, time)
    return True


@inlined
def receive(st: State, p: int, time: int) -> None:
    """A data packet has arrived at its receiver."""
    packet = st.packets[p]
    flow = packet.flow
    f = st.flows[flow]
    st.sim[0].in_flight -= 1
    f.received += packet.frames
    f.received_bytes += packet.size
    recovery = st.transports[f.transport].recovery
    new = _selective(st, flow, packet.seq, time) if recovery == SELECTIVE else _go_back_n(st, flow, packet.seq, time)
    marked = packet.ce > 0
    if marked:
        f.received_marked += packet.ce
    if new and f.expected == f.packets and f.state != DONE:
        _finish(st, flow, time)
    if marked and f.reacts and time - f.last_cnp >= f.cnp_interval:
        f.last_cnp = time
        f.cnps += 1
        f.notices += 1
        packet.kind, packet.time = CNP, time + f.back_delay
        push(st, p, f.source)
    else:
        release_packet(st, p)


@inlined
def _acknowledge_all(st: State, flow: int, count: int) -> None:
    """Let the acknowledgements of a flow pass the links of its way back."""
    f = st.flows[flow]
    f.acks += count
    at = flow * MAX_HOPS
    for hop in range(f.back_hops):
        acknowledge(st, st.links[st.back[at + hop]], count)


@called
def _sent_again(st: State, flow: int, seq: int, time: int) -> None:
    """A NAK has arrived: send from this packet on again, or only this one."""
    f = st.flows[flow]
    t = st.transports[f.transport]
    if f.state == DONE:
        return
    if t.recovery == SELECTIVE:
        p = allocate(st)
        if p < 0:
            return
        st.packets[p].seq, st.packets[p].next = seq, NONE
        st.packets[p].kind, st.packets[p].flow = NAK, flow
        if f.resend_head < 0:
            f.resend_head = p
        else:
            st.packets[f.resend_tail].next = p
        f.resend_tail = p
    else:
        f.sent = min(f.sent, seq)
    if t.control == DCQCN:
        cut_after_loss(st, flow, time, t.loss_factor)
    begin_sending(st, flow, time)


@called
def _timed_out(st: State, flow: int, time: int) -> None:
    """The retransmission timer of a flow: without progress since it began, send again from the first missing packet."""
    f = st.flows[flow]
    t = st.transports[f.transport]
    f.armed = 0
    if f.state != SENDING:
        return
    if f.expected > f.armed_expected:
        f.armed = 1
        f.armed_expected = f.expected
        add_timer(st, time + t.timeout, TIMEOUT, flow)
        return
    f.timeouts += 1
    f.sent = min(f.sent, f.expected)
    f.asked = 0
    f.asked_up_to = f.expected
    while f.resend_head >= 0:
        p = f.resend_head
        f.resend_head = st.packets[p].next
        release_packet(st, p)
    if t.control == DCQCN:
        cut_after_loss(st, flow, time, t.timeout_factor)
    f.armed = 1
    f.armed_expected = f.expected
    add_timer(st, time + t.timeout, TIMEOUT, flow)
    begin_sending(st, flow, time)


@called
def _rx_backlog(st: State, n: int, p: int, time: int) -> bool:
    """A host that takes its packets from the NIC slower than they come: PFC towards the switch, and drops without."""
    nic, packet = st.nodes[n], st.packets[p]
    begins = max(nic.rx_free_at, time)
    backlog = (begins - time) / nic.rx_ps_per_byte + packet.size
    if backlog > nic.rx_buffer:
        nic.rx_dropped_packets += packet.frames
        nic.rx_dropped_bytes += packet.size
        packet_lost(st, p, time)
        return False
    nic.rx_free_at = begins + int(packet.size * nic.rx_ps_per_byte)
    for priority in range(QUEUES):
        group = st.ingress[packet.link * QUEUES + priority]
        if group.sends and not group.paused and backlog >= group.xoff:
            group.peak = max(group.peak, int(backlog))
            send_pause(st, n, packet.link, priority, XOFF, time)
            low = nic.rx_free_at - int((group.xoff - group.xon_gap) * nic.rx_ps_per_byte)
            add_timer(st, max(low, time + st.sim[0].window), RX_READY, packet.link * QUEUES + priority)
    return True


@called
def _rx_ready(st: State, n: int, at: int, time: int) -> None:
    """The backlog of a slow host may have come down: XON, or look again."""
    nic, group = st.nodes[n], st.ingress[at]
    low = nic.rx_free_at - int((group.xoff - group.xon_gap) * nic.rx_ps_per_byte)
    if low > time:
        add_timer(st, max(low, time + st.sim[0].window), RX_READY, at)
    elif group.paused:
        send_pause(st, n, at // QUEUES, at % QUEUES, XON, time)


@called
def control_event(st: State, n: int, p: int, time: int) -> None:
    """Anything but data arrives at a NIC; what it sends before is sent."""
    packet = st.packets[p]
    kind, flow, seq = packet.kind, packet.flow, packet.seq
    if kind == START:
        start_flow(st, flow, time)
    elif kind == NAK:
        _sent_again(st, flow, seq, time)
    elif kind == TIMEOUT:
        _timed_out(st, flow, time)
    elif kind == RX_READY:
        _rx_ready(st, n, flow, time)
    release_packet(st, p)


@inlined
def resume(st: State, n: int, time: int) -> None:
    """XON has arrived: its flows may send from now on."""
    nic = st.nodes[n]
    nic.ready = min(nic.ready, time)
