"""A network that has changed under its flows."""

from __future__ import annotations

from railfab.sim.jit import called
from railfab.sim.kernel.nic import start_flow, unlist_flow
from railfab.sim.kernel.pfc import forget_pauses, stop_held_queues
from railfab.sim.kernel.queues import drop_waiting
from railfab.sim.kernel.records import DOWN, QUEUES, SENDING, STALLED, SWITCH, State
from railfab.sim.kernel.routing import forget_paths


@called
def reroute(st: State) -> None:
    """Find the links of all flows again, drop what waits before links that are down, and forget pauses of these."""
    now = st.sim[0].now
    for out in range(st.links.size):
        link = st.links[out]
        if link.up == DOWN or st.links[out ^ 1].up == DOWN:
            forget_pauses(st, out, now)
        stop_held_queues(st, out, now)
        if link.up != DOWN:
            link.free_at = max(link.free_at, now)
            continue
        for q in range(QUEUES):
            at = out * QUEUES + q
            st.queues[at].storm = 0
            if st.nodes[link.near].kind == SWITCH and st.queues[at].head >= 0:
                drop_waiting(st, link.near, at, now)
    forget_paths(st)
    for flow in range(st.flows.size):
        if st.flows[flow].state in (SENDING, STALLED):
            start_flow(st, flow, now)
            if st.flows[flow].state == STALLED:
                unlist_flow(st, flow)
    for n in range(st.nodes.size):
        if st.nodes[n].flow_count:
            st.nodes[n].ready = min(st.nodes[n].ready, now)
