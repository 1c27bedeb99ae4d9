"""The loop over windows."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined, prefetch
from railfab.sim.kernel.loss import lost_on_link
from railfab.sim.kernel.nic import emit, resume, send_again, start_flow
from railfab.sim.kernel.pfc import hold, let_go
from railfab.sim.kernel.queues import drain_all, settle, watch
from railfab.sim.kernel.rate_control import notified
from railfab.sim.kernel.receiver import acknowledge_all, expire, finish, receive, watch_progress
from railfab.sim.kernel.records import (
    ALL_DONE,
    CNP,
    DATA,
    EXPIRED,
    GROW_POOL,
    KEYS,
    LATER,
    LOST,
    NAK,
    NIC,
    NONE,
    PACKET_MASK,
    POOL_EMPTY,
    QUEUES,
    REACHED,
    RX_READY,
    STAMPS,
    START,
    TIME_SHIFT,
    TIMEOUT,
    UP,
    WATCHDOG,
    XOFF,
    XON,
    State,
)
from railfab.sim.kernel.slow_host import look_at_backlog, takes
from railfab.sim.kernel.switch import arrive, end_window
from railfab.sim.kernel.wheel import (
    allocate,
    frames_of,
    order_of,
    push_in,
    release_chunk,
    release_packet,
    remove_timer,
    write_key,
)

_BUCKETS = 256
_FEW = 24
"""Up to so many keys are sorted by insertion alone."""


@called
def _if_due(st: State, key: int) -> int:
    """The key of a packet beyond the slots, with its time if that is in this window."""
    sim, p = st.sim[0], key & PACKET_MASK
    offset = st.packets[p].time - sim.begin
    if key >> TIME_SHIFT == LATER and offset < sim.window:
        return int(key - ((LATER - offset) << TIME_SHIFT))
    return key


@inlined
def _gather(st: State, n: int, end: int, keys: Any) -> int:
    """Move the keys of the packets that arrive at a node before `end` to the end of `keys`."""
    sim = st.sim[0]
    at = sim.at_slots + n * sim.slots + (sim.number & (sim.slots - 1))
    last = st.table[at]
    st.table[at] = NONE
    span = end - sim.begin
    place = keys.size
    while last >= 0:
        first = last & ~KEYS
        for word in range(last, first, -1):
            key = st.arrivals[word]
            if key >> TIME_SHIFT >= span:
                key = _if_due(st, key)
                if key >> TIME_SHIFT >= span:
                    write_key(st, at, key)
                    continue
            prefetch(st.packets, key & PACKET_MASK)
            place -= 1
            keys[place] = key
        last = release_chunk(st, first)
    count = int(keys.size - place)
    st.nodes[n].pending -= count
    return count


@inlined
def _sort(keys: Any, count: int, window: int, starts: Any, found: Any) -> None:
    """Sort the last keys by time into `found`: into buckets of equal spans, then by insertion."""
    first = keys.size - count
    if count > _FEW:
        scale = (_BUCKETS << 20) // window
        for bucket in range(_BUCKETS + 1):
            starts[bucket] = 0
        for place in range(first, keys.size):
            starts[(((keys[place] >> TIME_SHIFT) * scale) >> 20) + 1] += 1
        for bucket in range(_BUCKETS):
            starts[bucket + 1] += starts[bucket]
        for place in range(first, keys.size):
            bucket = ((keys[place] >> TIME_SHIFT) * scale) >> 20
            found[starts[bucket]] = keys[place]
            starts[bucket] += 1
    else:
        for place in range(count):
            found[place] = keys[first + place]
    for place in range(1, count):
        key = found[place]
        before = place - 1
        while before >= 0 and found[before] > key:
            found[before + 1] = found[before]
            before -= 1
        found[before + 1] = key


@called
def _control_event(st: State, n: int, p: int, time: int) -> None:
    """Anything but data arrives at a NIC; what it sends before is sent."""
    packet = st.packets[p]
    kind, flow = packet.kind, packet.flow
    if kind in (NAK, EXPIRED):
        if send_again(st, flow, p, time):
            return
    elif kind == CNP:
        notified(st, flow, time)
    elif kind == START:
        if st.flows[flow].packets:
            start_flow(st, flow, time)
        else:
            st.flows[flow].start = time
            finish(st, flow, time)
    elif kind == XOFF:
        hold(st, packet.link, packet.group, time)
    elif kind == XON:
        let_go(st, packet.link, packet.group, time)
        resume(st, n, time)
    elif kind == LOST:
        watch_progress(st, flow, time)
    elif kind == TIMEOUT:
        expire(st, flow, time)
    elif kind == RX_READY:
        look_at_backlog(st, n, flow, time)
    release_packet(st, p)


@inlined
def _nic_window(st: State, n: int, order: Any, count: int, end: int) -> None:
    """Process the packets and events of a NIC in a window, and send."""
    flow, acks = NONE, 0
    for place in range(count):
        p = order[place] & PACKET_MASK
        packet = st.packets[p]
        time = packet.time
        if packet.kind != DATA:
            emit(st, n, time)
            _control_event(st, n, p, time)
            continue
        if (packet.ce < 0 or st.links[packet.link].up != UP) and lost_on_link(st, p, time):
            continue
        if st.nodes[n].slow and not takes(st, n, p, time):
            continue
        if packet.flow != flow:
            if acks:
                acknowledge_all(st, flow, acks)
            flow, acks = packet.flow, 0
        acks += frames_of(st, packet.size)
        receive(st, p, time)
    if acks:
        acknowledge_all(st, flow, acks)
    emit(st, n, end)


@called
def _switch_event(st: State, n: int, p: int, time: int) -> None:
    """Anything but data arrives at a switch; what it sends before is sent."""
    packet = st.packets[p]
    if packet.kind == WATCHDOG:
        drain_all(st, n, time)
        watch(st, n, packet.flow, time)
    else:
        settle(st, n, packet.link, time)
        if packet.kind == XOFF:
            hold(st, packet.link, packet.group, time)
        else:
            let_go(st, packet.link, packet.group, time)
    release_packet(st, p)


@inlined
def _switch_window(st: State, n: int, order: Any, count: int, end: int) -> None:
    """Process the packets and events of a switch in a window, and send."""
    for place in range(count):
        p = order[place] & PACKET_MASK
        packet = st.packets[p]
        time = packet.time
        if packet.kind == DATA:
            if (packet.ce < 0 or st.links[packet.link].up != UP) and lost_on_link(st, p, time):
                continue
            arrive(st, n, p, time)
            continue
        _switch_event(st, n, p, time)
    end_window(st, n, end)


@called
def _fire_timers(st: State, end: int) -> None:
    """Hand the timers of this window to their nodes."""
    sim = st.sim[0]
    while sim.timer_count and st.timers[0].time < end:
        kind, index, time = st.timers[0].kind, st.timers[0].index, st.timers[0].time
        remove_timer(st)
        p = allocate(st)
        if p < 0:
            return
        packet = st.packets[p]
        packet.kind, packet.flow, packet.time, packet.ce = kind, index, max(time, sim.begin), 0
        packet.link = order_of(kind, index)
        if kind == WATCHDOG:
            node = st.links[index // QUEUES].near
        elif kind == RX_READY:
            node = st.links[index // QUEUES].far
        elif kind == TIMEOUT:
            node = st.flows[index].target
        else:
            node = st.flows[index].source
        push_in(st, p, node, 0, packet.time - sim.begin)


@inlined
def _still_active(st: State, n: int) -> bool:
    node = st.nodes[n]
    if node.pending > 0:
        return True
    if node.kind == NIC:
        return bool(node.flow_count > 0)
    return bool(node.busy_links > 0)


@called
def advance(st: State, until: int, stop_when_done: bool, keys: Any, order: Any, starts: Any) -> int:
    """Run until this time [ps], or until all flows are done. Returns why it stopped."""
    sim = st.sim[0]
    while sim.now < until:
        if sim.pool_empty:
            return POOL_EMPTY
        if sim.free_count < sim.reserve:
            return GROW_POOL
        if stop_when_done and sim.open_flows == 0:
            return ALL_DONE
        if sim.active_count == 0:
            following = st.timers[0].time if sim.timer_count else until
            sim.now = max(sim.now, min(following, until))
            if sim.now >= until:
                break
        sim.number = sim.now // sim.window
        sim.stamp = sim.number & STAMPS
        sim.begin = sim.number * sim.window
        end = min(sim.begin + sim.window, until)
        _fire_timers(st, end)
        count_nodes = sim.active_count
        for place in range(count_nodes):
            n = st.table[sim.at_active + place]
            node = st.nodes[n]
            count = 0
            if st.table[sim.at_slots + n * sim.slots + (sim.number & (sim.slots - 1))] >= 0:
                count = _gather(st, n, end, keys)
                _sort(keys, count, sim.window, starts, order)
            if node.kind == NIC:
                if count or (node.flow_count > 0 and node.ready < end):
                    _nic_window(st, n, order, count, end)
            else:
                _switch_window(st, n, order, count, end)
        kept = 0
        for place in range(sim.active_count):
            n = st.table[sim.at_active + place]
            if _still_active(st, n):
                st.table[sim.at_active + kept] = n
                kept += 1
            else:
                st.nodes[n].active = 0
        sim.active_count = kept
        sim.now = end
    return REACHED
