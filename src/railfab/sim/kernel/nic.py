"""A NIC port as a sender: paces its flows, and sends again what was lost."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.rate_control import advance_control, count_bytes, cut_after_loss, pacing_interval
from railfab.sim.kernel.records import (
    DATA,
    DCQCN,
    DONE,
    EXPIRED,
    GIVEN_BACK,
    MAX_HOPS,
    NAK,
    NEVER,
    NONE,
    QUEUES,
    SENDING,
    STALLED,
    State,
)
from railfab.sim.kernel.routing import given_links, step_of, walk
from railfab.sim.kernel.transmit import acknowledgements, transmit
from railfab.sim.kernel.wheel import activate, allocate, next_random, release_packet


@inlined
def is_over(f: Any, time: int) -> bool:
    """Whether the sender of a flow knows by this time that all has arrived."""
    return bool(f.state == DONE and f.finish <= time)


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
def _follow_line_rate(st: State, flow: int) -> None:
    """Take the rate of the NIC's link for the line rate; a flow that sent at line rate does so from now on."""
    sim, f = st.sim[0], st.flows[flow]
    t = st.transports[f.transport]
    line = 8000.0 / st.links[st.nodes[f.source].link].ps_per_byte
    if line == f.line_rate:
        return
    start = min(line, t.start_rate) if t.start_rate > 0.0 else line
    before = min(f.line_rate, t.start_rate) if t.start_rate > 0.0 else f.line_rate
    f.rate = start if f.rate >= before else min(f.rate, line)
    f.target_rate = min(f.target_rate, line)
    f.line_rate = line
    f.interval = pacing_interval(f.frame, sim.gap * f.train, f.rate, sim.quantum)


@called
def _set_steps(st: State, flow: int, hops: int) -> None:
    """Write what a flow's packets meet at each switch of their way, so that these need not look it up."""
    f = st.flows[flow]
    at = flow * MAX_HOPS
    for hop in range(MAX_HOPS):
        st.steps[at + hop] = NONE
    if not f.dynamic:
        for hop in range(1, hops):
            st.steps[at + hop] = step_of(st, st.path[at + hop - 1], st.path[at + hop], f.traffic_class)


@called
def start_flow(st: State, flow: int, time: int) -> None:
    """Find the links of a flow and of its acknowledgements, and let it send; it waits where there is no route."""
    f = st.flows[flow]
    at = flow * MAX_HOPS
    if f.given:
        dynamic = int(f.given == GIVEN_BACK)
        there, _ = given_links(st, st.path, at)
        back, delay = given_links(st, st.back, at)
    else:
        there, _, dynamic = walk(st, f.source, f.destination, f.source_word, f.target_word, f.entropy_word, st.path, at)
        back, delay, _ = walk(
            st, f.target, st.nodes[f.source].destination, f.target_word, f.source_word, f.back_word, st.back, at
        )
    if there < 0 or back < 0:
        f.state = STALLED
        f.back_hops = 0
        return
    f.dynamic = int(dynamic or f.entropies > 0)
    _set_steps(st, flow, there)
    f.back_hops, f.back_delay = back, delay
    if f.rate == 0.0:
        f.start = time
    _follow_line_rate(st, flow)
    if f.state != SENDING:
        f.state = SENDING
        activate(st, f.source)
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


@called
def forget_requests(st: State, flow: int) -> None:
    """Forget what a flow was asked to send again."""
    f = st.flows[flow]
    while f.resend_head >= 0:
        p = f.resend_head
        f.resend_head = st.packets[p].next
        release_packet(st, p)


@called
def _keep_request(st: State, flow: int, p: int) -> None:
    """Keep a NAK as what is to be sent again."""
    f = st.flows[flow]
    st.packets[p].kind, st.packets[p].next = NAK, NONE
    if f.resend_head < 0:
        f.resend_head = p
    else:
        st.packets[f.resend_tail].next = p
    f.resend_tail = p


@called
def send_again(st: State, flow: int, p: int, time: int) -> bool:
    """A NAK, or news that nothing has come for the timeout: send again from its packet on, or only those it names.

    Whether the packet `p` is still needed.
    """
    f, asked = st.flows[flow], st.packets[p]
    t = st.transports[f.transport]
    if is_over(f, time):
        return False
    factor = t.loss_factor
    if asked.kind == EXPIRED:
        f.timeouts += 1
        factor = t.timeout_factor
        forget_requests(st, flow)
    if t.control == DCQCN:
        cut_after_loss(st, flow, time, factor)
    kept = asked.size > 0
    if kept:
        _keep_request(st, flow, p)
    else:
        f.sent = min(f.sent, asked.seq)
    if f.state != STALLED:
        begin_sending(st, flow, time)
    return bool(kept)


@inlined
def _next_packet(st: State, flow: int) -> int:
    """The number of the packet that a flow sends next: one to send again, else the first that was not sent."""
    f = st.flows[flow]
    if f.resend_head >= 0:
        p = f.resend_head
        asked = st.packets[p]
        seq = asked.seq
        asked.seq += 1
        asked.size -= 1
        if asked.size <= 0:
            f.resend_head = asked.next
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
def _next_entropy(st: State, n: int, flow: int) -> int:
    """The entropy value of a flow's next packet: each is used once in a round, in an order drawn anew."""
    f, nic = st.flows[flow], st.nodes[n]
    if f.entropy_turn == 0:
        nic.random = next_random(nic.random)
        f.entropy_shift = nic.random & (f.entropies - 1)
    value = f.entropy_turn ^ f.entropy_shift
    f.entropy_turn = (f.entropy_turn + 1) & (f.entropies - 1)
    return int(value)


@inlined
def _send(st: State, n: int, place: int, time: int) -> None:
    """Send the next packet of a flow."""
    sim, nic = st.sim[0], st.nodes[n]
    flow = st.nic_flows[nic.flows_at + place]
    f, link = st.flows[flow], st.links[nic.link]
    if is_over(f, time):
        forget_requests(st, flow)
        _unlist(st, n, place)
        return
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
    if f.entropies:
        st.entropy_values[p] = _next_entropy(st, n, flow)
    if seq == f.packets - 1:
        packet.size, frames = f.last_frame, int(f.last_train)
        f.next_at = time + pacing_interval(f.last_frame, sim.gap * f.last_train, f.rate, sim.quantum)
    else:
        packet.size, frames = f.frame, int(f.train)
        f.next_at = time + f.interval
    if seq < f.train_from:
        packet.size, frames = f.frame // f.train * f.train_before, int(f.train_before)
    f.sent_packets += frames
    f.sent_bytes += packet.size
    queue = st.queues[nic.link * QUEUES + f.queue]
    queue.tx_packets += frames
    queue.tx_bytes += packet.size
    if f.counts_bytes and f.target_rate > 0.0:
        count_bytes(st, flow, packet.size)
    if f.sent == f.packets and f.resend_head < 0:
        _unlist(st, n, place)
    transmit(st, p, nic.link, time + acknowledgements(st, link, frames, time))


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


@inlined
def resume(st: State, n: int, time: int) -> None:
    """XON has arrived: its flows may send from now on."""
    nic = st.nodes[n]
    nic.ready = min(nic.ready, time)
