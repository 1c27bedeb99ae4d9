"""The faults that were made in a fabric, as sentences."""

from __future__ import annotations

from railfab.forwarding import ForwardingState
from railfab.topology import Topology


def faults(planned: Topology, state: ForwardingState) -> tuple[str, ...]:
    """Ports that miss light, broken cables, and cables that lead elsewhere than planned, each once."""
    found = [f"{node} {port} misses {loss_db:g} dB of light" for (node, port), loss_db in sorted(state.dirt.items())]
    links = state.links
    for link in planned.links:
        near, far = (link.a.node, link.a.name), links.far(links.egress[link.a.node, link.a.name])
        if (far.node, far.name) != (link.z.node, link.z.name):
            found.append(f"{near[0]} {near[1]} leads to {far.node} {far.name}, planned {link.z.node} {link.z.name}")
        if near in state.cut:
            found.append(f"the cable at {near[0]} {near[1]} is broken")
    return tuple(found)
