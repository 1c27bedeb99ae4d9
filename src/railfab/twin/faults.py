"""The faults that were made in a fabric, as sentences."""

from __future__ import annotations

from railfab.forwarding import Fibre, ForwardingState, SwitchFault
from railfab.topology import Topology

_FIBRES = {
    Fibre.DARK: "receives no light",
    Fibre.LOSING: "loses all that it is sent, and its link stays up",
}
_SWITCHES = {
    SwitchFault.HUNG: "hangs: it forwards, and its control plane does nothing",
    SwitchFault.OFF: "has no power",
}


def faults(planned: Topology, state: ForwardingState) -> tuple[str, ...]:
    """Switches that hang or have no power, ports that miss light or all that they are sent, broken cables, and cables
    that lead elsewhere than planned, each once."""
    found = [f"{name} {_SWITCHES[fault]}" for name, fault in sorted(state.switch_faults.items())]
    found += [f"{node} {port} {_FIBRES[fibre]}" for (node, port), fibre in sorted(state.fibres.items())]
    found += [f"{node} {port} misses {loss_db:g} dB of light" for (node, port), loss_db in sorted(state.dirt.items())]
    links = state.links
    for link in planned.links:
        near, far = (link.a.node, link.a.name), links.far(links.egress[link.a.node, link.a.name])
        if (far.node, far.name) != (link.z.node, link.z.name):
            found.append(f"{near[0]} {near[1]} leads to {far.node} {far.name}, planned {link.z.node} {link.z.name}")
        if near in state.cut:
            found.append(f"the cable at {near[0]} {near[1]} is broken")
    return tuple(found)
