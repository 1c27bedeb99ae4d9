"""Lost packets. The receiver of a lost packet is notified, and watches for progress from then on."""

from __future__ import annotations

from railfab.sim.jit import called
from railfab.sim.kernel.records import DOWN, LOST, NO_RECOVERY, State
from railfab.sim.kernel.wheel import frames_of, order_of, push, release_packet


@called
def packet_lost(st: State, p: int, time: int) -> None:
    """Drop a data packet. Its receiver is notified a window later, since what a node does in a window reaches no
    other in it."""
    sim, packet = st.sim[0], st.packets[p]
    flow = packet.flow
    f = st.flows[flow]
    f.dropped += frames_of(st, packet.size)
    if f.armed and st.transports[f.transport].recovery != NO_RECOVERY:
        release_packet(st, p)
        return
    packet.kind, packet.link, packet.time = LOST, order_of(LOST, flow), time + sim.window
    push(st, p, f.target)


@called
def lost_on_link(st: State, p: int, time: int) -> bool:
    """Whether a packet that arrives was lost on its link: by bit errors, or because the link was down meanwhile."""
    packet = st.packets[p]
    link = st.links[packet.link]
    if packet.ce >= 0 and link.up != DOWN and time > link.lost_until:
        return False
    link.lost_packets += frames_of(st, packet.size)
    link.lost_bytes += packet.size
    packet_lost(st, p, time)
    return True
