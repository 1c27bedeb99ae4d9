"""A NIC port as a receiver: takes packets in order or not, acknowledges, notifies, and asks for what was lost."""

from __future__ import annotations

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.records import (
    CNP,
    DONE,
    EXPIRED,
    GO_BACK_N,
    MAX_HOPS,
    NAK,
    NO_RECOVERY,
    SELECTIVE,
    START,
    TIMEOUT,
    State,
)
from railfab.sim.kernel.transmit import acknowledge
from railfab.sim.kernel.wheel import add_timer, allocate, frames_of, order_of, push, release_packet

RUNS_AT_ONCE = 2
"""Most runs of missing packets that one packet's arrival asks for; those left are asked for at the next."""


@called
def finish(st: State, flow: int, time: int) -> None:
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
def _notify(st: State, flow: int, kind: int, seq: int, count: int, place: int, time: int) -> None:
    """Send a notification to the sender of a flow; it takes the way of the acknowledgements. place: among those of its
    kind that are sent at the same time."""
    p = allocate(st)
    if p < 0:
        return
    f, packet = st.flows[flow], st.packets[p]
    packet.kind, packet.flow, packet.seq, packet.size, packet.ce = kind, flow, seq, count, 0
    packet.link, packet.time = order_of(kind, flow) + place, time + f.back_delay
    push(st, p, f.source)


@inlined
def _go_back_n(st: State, flow: int, seq: int, time: int) -> bool:
    """Whether a packet is the next one in order. Others are dropped, and the first of a gap is asked for once, or at
    most once in each interval.

    Source: InfiniBand Architecture Specification vol. 1, 9.7.5.2 (NAK code PSN sequence error). Without recovery, each
    packet counts, and those that are lost do too.
    """
    f = st.flows[flow]
    if seq == f.expected:
        f.expected += 1
        f.asked = 0
        f.progress_at = time
        return True
    t = st.transports[f.transport]
    if t.recovery == NO_RECOVERY:
        f.expected += 1
        f.out_of_order += 1
        return True
    if seq < f.expected:
        f.duplicates += 1
        return False
    f.out_of_order += 1
    again = t.nak_interval > 0 and time - f.asked_at >= t.nak_interval
    if t.recovery == GO_BACK_N and (not f.asked or again):
        f.asked = 1
        f.asked_at = time
        f.naks += 1
        _notify(st, flow, NAK, f.expected, 0, 0, time)
    return False


@inlined
def _has(st: State, flow: int, seq: int) -> bool:
    """Whether a packet beyond the first that is missing has arrived."""
    words = st.sim[0].bitmap_words
    return bool(st.masks[st.flows[flow].bitmap + (seq // 32) % words] >> (seq % 32) & 1)


@inlined
def _flip(st: State, flow: int, seq: int) -> None:
    words = st.sim[0].bitmap_words
    st.masks[st.flows[flow].bitmap + (seq // 32) % words] ^= 1 << (seq % 32)


@called
def _ask_for_missing(st: State, flow: int, limit: int, time: int) -> None:
    """Ask for the packets before `limit` that are missing and were not asked for, as runs."""
    f = st.flows[flow]
    seq = max(f.asked_up_to, f.expected)
    runs = 0
    while seq < limit and runs < RUNS_AT_ONCE:
        if _has(st, flow, seq):
            seq += 1
            continue
        first = seq
        while seq < limit and not _has(st, flow, seq):
            seq += 1
        f.naks += 1
        _notify(st, flow, NAK, first, seq - first, runs, time)
        runs += 1
    f.asked_up_to = seq


@called
def _selective(st: State, flow: int, seq: int, time: int) -> bool:
    """Whether a packet is new. Those beyond a gap are kept, and a gap older than the reordering window is asked for.

    Beyond the bitmap packets are dropped; the timeout asks for them.
    """
    f = st.flows[flow]
    if seq < f.expected or seq >= f.expected + st.sim[0].bitmap_words * 32:
        f.duplicates += 1
        return False
    if seq > f.expected:
        f.out_of_order += 1
        if _has(st, flow, seq):
            f.duplicates += 1
            return False
        _flip(st, flow, seq)
    else:
        f.progress_at = time
        f.expected += 1
        while _has(st, flow, f.expected):
            _flip(st, flow, f.expected)
            f.expected += 1
    f.highest = max(f.highest, seq)
    limit = f.highest - st.transports[f.transport].reorder
    if f.asked_up_to < limit:
        _ask_for_missing(st, flow, limit, time)
    return True


@inlined
def receive(st: State, p: int, time: int) -> None:
    """A data packet has arrived at its receiver."""
    packet = st.packets[p]
    flow = packet.flow
    f = st.flows[flow]
    f.received += frames_of(st, packet.size)
    f.received_bytes += packet.size
    new = _selective(st, flow, packet.seq, time) if f.recovery == SELECTIVE else _go_back_n(st, flow, packet.seq, time)
    marked = packet.ce > 0
    if marked:
        f.received_marked += packet.ce
    if new and f.expected == f.packets and f.state != DONE:
        finish(st, flow, time)
    if marked and f.reacts and time - f.last_cnp >= f.cnp_interval:
        f.last_cnp = time
        f.cnps += 1
        f.notices += 1
        packet.kind, packet.link, packet.time = CNP, order_of(CNP, flow), time + f.back_delay
        push(st, p, f.source)
    else:
        release_packet(st, p)


@inlined
def acknowledge_all(st: State, flow: int, count: int) -> None:
    """Let the acknowledgements of a flow pass the links of its way back."""
    f = st.flows[flow]
    f.acks += count
    at = flow * MAX_HOPS
    for hop in range(f.back_hops):
        acknowledge(st, st.links[st.back[at + hop]], count)


@called
def watch_progress(st: State, flow: int, time: int) -> None:
    """A packet of a flow was lost: see to it that the sender's retransmission timer runs.

    The timer is the sender's, and begins with the last acknowledgement; the receiver knows when that was sent. Without
    recovery, a packet that is lost is one less to wait for.
    """
    sim, f = st.sim[0], st.flows[flow]
    t = st.transports[f.transport]
    if f.state == DONE:
        return
    if t.recovery == NO_RECOVERY:
        f.expected += 1
        if f.expected == f.packets:
            finish(st, flow, time)
    elif not f.armed:
        f.armed = 1
        f.armed_at = time - sim.window
        add_timer(st, max(max(f.progress_at, f.armed_at) + t.timeout, time + sim.window), TIMEOUT, flow)


@called
def expire(st: State, flow: int, time: int) -> None:
    """The retransmission timer: without progress for the timeout, the sender sends again from the first missing packet.

    With selective recovery it sends those that are missing, as far as the receiver can know them.
    """
    f = st.flows[flow]
    t = st.transports[f.transport]
    if f.state == DONE:
        f.armed = 0
        return
    due = max(f.progress_at, f.armed_at) + t.timeout
    if due <= time:
        missing = 0
        if t.recovery == SELECTIVE and f.highest > f.expected:
            while not _has(st, flow, f.expected + missing):
                missing += 1
        f.asked = 0
        f.asked_up_to = f.expected + missing
        _notify(st, flow, EXPIRED, f.expected, missing, 0, time)
        if missing:
            _ask_for_missing(st, flow, f.highest, time)
        f.armed_at = time
        due = time + t.timeout
    add_timer(st, max(due, time + st.sim[0].window), TIMEOUT, flow)
