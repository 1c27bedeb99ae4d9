"""What happens to a flow when one of its packets is lost."""

from __future__ import annotations

from railfab.sim.jit import called
from railfab.sim.kernel.records import DATA, NO_RECOVERY, TIMEOUT, State
from railfab.sim.kernel.wheel import add_timer, release_packet


@called
def packet_lost(st: State, p: int, time: int) -> None:
    """Forget a packet; its flow watches for a timeout from now on."""
    sim, packet = st.sim[0], st.packets[p]
    if packet.kind == DATA:
        sim.in_flight -= 1
        f = st.flows[packet.flow]
        f.dropped += 1
        t = st.transports[f.transport]
        if not f.armed and t.recovery != NO_RECOVERY:
            f.armed = 1
            f.armed_expected = f.expected
            add_timer(st, time + t.timeout, TIMEOUT, packet.flow)
    release_packet(st, p)
