"""A host that takes packets from its NIC slower than they come."""

from __future__ import annotations

from railfab.sim.jit import called
from railfab.sim.kernel.loss import packet_lost
from railfab.sim.kernel.nic import emit
from railfab.sim.kernel.pfc import send_pause
from railfab.sim.kernel.records import QUEUES, RX_READY, XOFF, XON, State
from railfab.sim.kernel.wheel import add_timer, frames_of


@called
def takes(st: State, n: int, p: int, time: int) -> bool:
    """A host that takes its packets from the NIC slower than they come: PFC towards the switch, and drops without."""
    emit(st, n, time)
    nic, packet = st.nodes[n], st.packets[p]
    begins = max(nic.rx_free_at, time)
    backlog = (begins - time) / nic.rx_ps_per_byte + packet.size
    if backlog > nic.rx_buffer:
        nic.rx_dropped_packets += frames_of(st, packet.size)
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
def look_at_backlog(st: State, n: int, at: int, time: int) -> None:
    """The backlog of a slow host may have come down: XON, or look again. XON too if it is no longer slow."""
    nic, group = st.nodes[n], st.ingress[at]
    low = time
    if nic.slow and group.sends:
        low = nic.rx_free_at - int((group.xoff - group.xon_gap) * nic.rx_ps_per_byte)
    if low > time:
        add_timer(st, max(low, time + st.sim[0].window), RX_READY, at)
    elif group.paused:
        send_pause(st, n, at // QUEUES, at % QUEUES, XON, time)
