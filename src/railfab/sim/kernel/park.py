"""Flows that send nothing for a time, because what they send is known."""

from __future__ import annotations

from railfab.sim.jit import called
from railfab.sim.kernel.nic import begin_sending, unlist_flow
from railfab.sim.kernel.records import PARKED, UNPARKED, State
from railfab.sim.kernel.wheel import activate


@called
def park(st: State) -> None:
    """Stop the flows that are to be parked, and let those send from now on that no longer are."""
    now = st.sim[0].now
    for flow in range(st.flows.size):
        f = st.flows[flow]
        if f.parked == PARKED and f.listed:
            unlist_flow(st, flow)
        elif f.parked == UNPARKED:
            f.parked = 0
            link = st.links[st.nodes[f.source].link]
            link.free_at = max(link.free_at, now)
            begin_sending(st, flow, now)
            activate(st, f.source)
