"""The pool of packets, the packets that arrive at each node in each window, timers, and random draws."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.records import (
    CNP,
    EXPIRED,
    FREE,
    KEYS,
    LATER,
    LINK_MASK,
    LINK_SHIFT,
    NAK,
    NONE,
    START,
    TIME_SHIFT,
    WAITING,
    State,
)

_MASK = 0xFFFFFFFF


@inlined
def next_random(state: int) -> int:
    """Xorshift with 32 bits (Marsaglia, Journal of Statistical Software 8, 2003); never 0."""
    state ^= (state << 13) & _MASK
    state ^= state >> 17
    state ^= (state << 5) & _MASK
    return state


@inlined
def frames_of(st: State, size: int) -> int:
    """Frames of a packet; only one can be shorter than the others."""
    frame = st.sim[0].frame
    return 1 if size <= frame else int((size + frame - 1) // frame)


@inlined
def allocate(st: State) -> int:
    """Take a packet from the pool; NONE where it is empty, which the reserve rules out."""
    sim = st.sim[0]
    p = sim.free
    if p < 0:
        sim.pool_empty = 1
        return NONE
    sim.free = st.packets[p].next
    sim.free_count -= 1
    return int(p)


@inlined
def release_packet(st: State, p: int) -> None:
    sim = st.sim[0]
    st.packets[p].kind = FREE
    st.packets[p].next = sim.free
    sim.free = p
    sim.free_count += 1


@inlined
def order_of(kind: int, flow: int) -> int:
    """The place of what concerns a flow among all that arrives at a NIC at the same time."""
    rank = 7
    if kind == EXPIRED:
        rank = 0
    elif kind == NAK:
        rank = 1
    elif kind == CNP:
        rank = 6
    return flow << 3 | rank


@inlined
def activate(st: State, n: int) -> None:
    """List a node among those that are processed in every window."""
    if st.nodes[n].active == 0:
        sim = st.sim[0]
        st.nodes[n].active = 1
        st.table[sim.at_active + sim.active_count] = n
        sim.active_count += 1


@inlined
def _new_chunk(st: State, following: int) -> int:
    """Take a chunk of keys, the last of those whose last key is at `following`. There is one for every packet."""
    sim = st.sim[0]
    chunk = sim.free_chunk
    sim.free_chunk = st.arrivals[chunk]
    st.arrivals[chunk] = following
    return int(chunk)


@inlined
def release_chunk(st: State, chunk: int) -> int:
    """Give back a chunk of keys. Returns where the last key of the one before is."""
    sim = st.sim[0]
    following = st.arrivals[chunk]
    st.arrivals[chunk] = sim.free_chunk
    sim.free_chunk = chunk
    return int(following)


@inlined
def write_key(st: State, at: int, key: int) -> None:
    """Add a key to those of a node and a window."""
    last = st.table[at]
    if last < 0 or last & KEYS == KEYS:
        last = _new_chunk(st, last)
    last += 1
    st.arrivals[last] = key
    st.table[at] = last


@inlined
def push_in(st: State, p: int, n: int, windows: int, offset: int) -> None:
    """Have a packet arrive at a node, this many windows from the present one, and this time after its beginning."""
    sim = st.sim[0]
    if windows >= sim.slots:
        offset = LATER
    at = sim.at_slots + n * sim.slots + ((sim.number + windows) & (sim.slots - 1))
    write_key(st, at, offset << TIME_SHIFT | (st.packets[p].link & LINK_MASK) << LINK_SHIFT | p)
    st.nodes[n].pending += 1
    activate(st, n)


@inlined
def push(st: State, p: int, n: int) -> None:
    """Have a packet arrive at a node at its time."""
    sim = st.sim[0]
    after = st.packets[p].time - sim.begin
    windows = max(after // sim.window, 1)
    push_in(st, p, n, windows, max(after - windows * sim.window, 0))


@called
def add_timer(st: State, time: int, kind: int, index: int) -> None:
    """Insert into the heap of timers; equal times keep their order."""
    sim, timers = st.sim[0], st.timers
    at = sim.timer_count
    sim.timer_count += 1
    sim.timer_order += 1
    order = sim.timer_order
    while at > 0:
        parent = (at - 1) // 2
        if timers[parent].time <= time:
            break
        timers[at] = timers[parent]
        at = parent
    timers[at].time, timers[at].order = time, order
    timers[at].kind, timers[at].index = kind, index


@called
def add_start_timers(st: State, first: int) -> None:
    """Start those flows, from this number on, that wait for no other, at their time."""
    for flow in range(first, st.flows.size):
        f = st.flows[flow]
        if f.state == WAITING and f.waits_for == 0:
            add_timer(st, f.start, START, flow)


@inlined
def _before(timers: Any, a: int, b: int) -> bool:
    if timers[a].time != timers[b].time:
        return bool(timers[a].time < timers[b].time)
    return bool(timers[a].order < timers[b].order)


@called
def remove_timer(st: State) -> None:
    """Remove the first timer of the heap."""
    sim, timers = st.sim[0], st.timers
    sim.timer_count -= 1
    count = sim.timer_count
    last = count
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and _before(timers, child + 1, child):
            child += 1
        if not _before(timers, child, last):
            break
        timers[at] = timers[child]
        at = child
    timers[at] = timers[last]
