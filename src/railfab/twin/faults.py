"""The faults that were made in a fabric, each with the command that undoes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railfab.forwarding import Fibre, ForwardingState, SwitchFault
from railfab.topology import PortKey, Topology
from railfab.twin.status import Fault, FaultKind

_FIBRES = {
    Fibre.DARK: (FaultKind.DARK, "receives no light"),
    Fibre.LOSING: (FaultKind.LOSING, "loses all that it is sent, and its link stays up"),
}
_SWITCHES = {
    SwitchFault.HUNG: (FaultKind.HUNG, "hangs: it forwards, and its control plane does nothing", "resume"),
    SwitchFault.OFF: (FaultKind.OFF, "has no power", "on"),
}


def faults(planned: Topology, state: ForwardingState, stopped: Sequence[str], slow: Sequence[str]) -> tuple[Fault, ...]:
    """Switches that hang, have no power or no servers or answer late, ports that miss light or all that they are sent,
    broken cables, and cables that lead elsewhere than planned, each once.

    stopped: switches whose servers were stopped. slow: those that answer late.
    """
    return (*_of_switches(state, stopped, slow), *_of_fibres(state), *_miscabled(planned, state), *_broken(state))


def _of_switches(state: ForwardingState, stopped: Sequence[str], slow: Sequence[str]) -> Iterator[Fault]:
    for name, fault in sorted(state.switch_faults.items()):
        kind, problem, undo = _SWITCHES[fault]
        yield Fault(kind, name, "", f"{name} {problem}", f"switch {name} {undo}")
    for name in stopped:
        yield Fault(FaultKind.STOPPED, name, "", f"{name} has no gNMI and no SSH server", f"switch {name} start")
    for name in slow:
        yield Fault(FaultKind.SLOW, name, "", f"{name} takes 10 s for every answer", f"switch {name} quick")


def _of_fibres(state: ForwardingState) -> Iterator[Fault]:
    for (node, port), fibre in sorted(state.fibres.items()):
        kind, problem = _FIBRES[fibre]
        yield Fault(kind, node, port, f"{node} {port} {problem}", f"link {node} {port} up")
    for (node, port), loss_db in sorted(state.dirt.items()):
        undo = f"fault {node} {port} --optic-loss 0"
        yield Fault(FaultKind.DIRTY, node, port, f"{node} {port} misses {loss_db:g} dB of light", undo)


def _miscabled(planned: Topology, state: ForwardingState) -> Iterator[Fault]:
    for link in planned.links:
        near, wanted = (link.a.node, link.a.name), (link.z.node, link.z.name)
        far = _far(state, near)
        if far != wanted:
            one, other = sorted((near, _far(state, wanted)))
            problem = f"{_text(near)} leads to {_text(far)}, planned {_text(wanted)}"
            yield Fault(FaultKind.MISCABLED, *near, problem, f"cable {_text(one)} {_text(other)}")


def _broken(state: ForwardingState) -> Iterator[Fault]:
    for near in state.links.keys[::2]:
        if near in state.cut:
            problem = f"the cable of {_text(near)} and {_text(_far(state, near))} is broken"
            yield Fault(FaultKind.BROKEN, *near, problem, f"link {_text(near)} up")


def _far(state: ForwardingState, near: PortKey) -> PortKey:
    return state.links.far_key(state.links.egress[near])


def _text(port: PortKey) -> str:
    return " ".join(port)
