"""The transmitter of a link: takes its time for a packet and hands it to the far end."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import inlined
from railfab.sim.kernel.records import State
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
def _acknowledge_window(st: State, link: Any) -> None:
    """At the first call in a window: what passed in the windows before is due."""
    stamp = st.sim[0].stamp
    if link.ack_window != stamp:
        link.ack_window = stamp
        link.acks_due += link.acks_new
        link.acks_new = 0


@inlined
def acknowledgements(st: State, link: Any, frames: int, start: int) -> int:
    """Time that acknowledgements take before a data packet [ps]: some of those that passed before this window.

    They are not packets of their own: each counts on the links of its way, in the window in which the receiver sent it.
    Those that fit into the time since the last packet took it. start: when the packet could be sent without them.
    """
    _acknowledge_window(st, link)
    idle = start - link.free_at
    if idle >= link.acks_due * link.ack_time:
        link.acks_due = 0
        return 0
    count = min(link.acks_due, ACKS_AT_ONCE * frames)
    link.acks_due -= count
    return int(max(count * link.ack_time - idle, 0))


@inlined
def acknowledge(st: State, link: Any, count: int) -> None:
    """Let acknowledgements pass a link in this window."""
    _acknowledge_window(st, link)
    link.acks_new += count


@inlined
def _windows_ahead(st: State, link: Any, after: int) -> int:
    """How many windows after the present one an arrival over this link is, so long after its beginning."""
    window = st.sim[0].window
    windows = link.delay_windows
    while after >= (windows + 1) * window:
        windows += 1
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
    after = packet.time - sim.begin
    windows = _windows_ahead(st, link, after)
    push_in(st, p, link.far, windows, max(after - windows * sim.window, 0))
