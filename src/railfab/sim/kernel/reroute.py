"""A network that has changed under its flows."""

from __future__ import annotations

from railfab.sim.jit import called
from railfab.sim.kernel.nic import start_flow, unlist_flow
from railfab.sim.kernel.records import QUEUES, SENDING, STALLED, SWITCH, State
from railfab.sim.kernel.routing import forget_paths
from railfab.sim.kernel.switch import flush


@called
def reroute(st: State) -> None:
    """Find the links of all flows again, drop what waits before links that are down, and forget pauses of these."""
    sim = st.sim[0]
    now = sim.now
    for out in range(st.links.size):
        link = st.links[out]
        if link.up:
            link.free_at = max(link.free_at, now)
            continue
        for q in range(QUEUES):
            at = out * QUEUES + q
            group = st.ingress[at]
            if group.held:
                group.held = 0
                group.held_time += now - group.held_at
            if group.paused:
                group.paused = 0
                if group.refresh > 0:
                    group.refreshed += (now - group.xoff_at) // group.refresh
                st.nodes[link.far].paused_count -= 1
            if st.nodes[link.near].kind == SWITCH and st.queues[at].head >= 0:
                flush(st, link.near, at, now)
        link.paused = 0
    forget_paths(st)
    for flow in range(st.flows.size):
        state = st.flows[flow].state
        if state in (SENDING, STALLED):
            start_flow(st, flow, now)
            if st.flows[flow].state == STALLED:
                unlist_flow(st, flow)
    for n in range(st.nodes.size):
        if st.nodes[n].flow_count:
            st.nodes[n].ready = min(st.nodes[n].ready, now)
