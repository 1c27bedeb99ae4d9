"""The transmitter of a link: takes its time for a packet and hands it to the far end."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import inlined
from railfab.sim.kernel.records import STAMPS, State
from railfab.sim.kernel.wheel import frames_of, next_random, push_in

ACKS_AT_ONCE = 2
"""Most acknowledgements that go between two frames; more than that use times without data."""


@inlined
def wire_time(st: State, link: Any, size: int, quantum: int) -> int:
    """Time that a packet of this size occupies a link [ps]."""
    if size != link.tx_size:
        exact = int((size + st.sim[0].gap * frames_of(st, size)) * link.ps_per_byte)
        link.tx_size = size
        link.tx_time = exact - exact % quantum if quantum > 1 else exact
    return int(link.tx_time)


@inlined
def acknowledgements(st: State, link: Any, frames: int) -> int:
    """Time that acknowledgements take before a data packet [ps]: some of those that passed in the last window.

    They are not packets of their own: each counts on the links of its way, in the window in which the receiver sent it.
    """
    last = (st.sim[0].stamp - 1) & STAMPS
    count = 0
    if last & 1:
        if link.ack_window_odd == last:
            count = min(link.acks_odd, ACKS_AT_ONCE * frames)
            link.acks_odd -= count
    elif link.ack_window_even == last:
        count = min(link.acks_even, ACKS_AT_ONCE * frames)
        link.acks_even -= count
    return int(count * link.ack_time)


@inlined
def acknowledge(st: State, link: Any, count: int) -> None:
    """Let acknowledgements pass a link in this window."""
    stamp = st.sim[0].stamp
    if stamp & 1:
        if link.ack_window_odd != stamp:
            link.ack_window_odd = stamp
            link.acks_odd = 0
        link.acks_odd += count
    else:
        if link.ack_window_even != stamp:
            link.ack_window_even = stamp
            link.acks_even = 0
        link.acks_even += count


@inlined
def windows_ahead(st: State, link: Any, time: int) -> int:
    """How many windows after the present one this time is, for an arrival over this link."""
    sim = st.sim[0]
    windows = link.delay_windows
    end = sim.begin + (windows + 1) * sim.window
    while time >= end:
        windows += 1
        end += sim.window
    return int(max(windows, 1))


@inlined
def transmit(st: State, p: int, out: int, start: int) -> None:
    """Send a packet by a link that is free at this time."""
    sim, packet, link = st.sim[0], st.packets[p], st.links[out]
    link.free_at = start + wire_time(st, link, packet.size, sim.quantum)
    packet.time = link.free_at + link.delay
    packet.link = out
    packet.hop += 1
    if link.lossy:
        link.random = next_random(link.random)
        if link.random < link.loss * packet.size * 4294967296.0:
            packet.ce = -1
    push_in(st, p, link.far, windows_ahead(st, link, packet.time))
