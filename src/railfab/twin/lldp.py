"""LLDP of the switches (IEEE 802.1AB): who is heard on each port, and until when.

Hosts do not speak LLDP: what railfab configures on them stops lldpad, which negotiates DCBX. A change of what a switch
announces is sent at once. A neighbour that falls silent is forgotten after the hold time that it has announced, in
simulated time; one whose link goes down, or of a port where LLDP is switched off, at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from railfab.device import Lldp
from railfab.forwarding import ForwardingState
from railfab.topology import PortKey
from railfab.units import NS_PER_S


class Announcement(NamedTuple):
    """What a switch says of itself on a port. device: which one it is, whatever its name."""

    device: str
    name: str
    port: str
    description: str
    hold_s: int


class Neighbor(NamedTuple):
    """A neighbour of a port. since_ns: when it was heard first. until_ns: when it is forgotten; None while it speaks.

    Times in simulated nanoseconds.
    """

    announcement: Announcement
    since_ns: int
    until_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighbours of all ports, by switch, then port. Immutable. next_ns: when the first of them is forgotten."""

    ports: Mapping[str, Mapping[str, tuple[Neighbor, ...]]] = field(default_factory=dict)
    next_ns: float = math.inf

    def of(self, device: str) -> Mapping[str, tuple[Neighbor, ...]]:
        return self.ports.get(device, {})

    def after(self, before: ForwardingState | None, state: ForwardingState, now_ns: int) -> Neighbors:
        """The neighbours in another state of the fabric."""
        ports = dict(self.ports)
        for device in _concerned(before, state):
            found = {}
            for interface in state.ports[device]:
                held = ports.get(device, {}).get(interface, ())
                if heard := tuple(_heard(state, (device, interface), held, now_ns)):
                    found[interface] = heard
            if found != ports.get(device, {}):
                ports[device] = found
        return _timed(ports)

    def at(self, now_ns: int) -> Neighbors:
        """The neighbours that are not forgotten at this time; the same object when none is."""
        if now_ns < self.next_ns:
            return self
        ports = dict(self.ports)
        for device, held in self.ports.items():
            if any(_is_over(neighbor, now_ns) for heard in held.values() for neighbor in heard):
                left = {
                    name: tuple(neighbor for neighbor in heard if not _is_over(neighbor, now_ns))
                    for name, heard in held.items()
                }
                ports[device] = {name: heard for name, heard in left.items() if heard}
        return _timed(ports)


def _timed(ports: Mapping[str, Mapping[str, tuple[Neighbor, ...]]]) -> Neighbors:
    ends = (
        neighbor.until_ns
        for held in ports.values()
        for heard in held.values()
        for neighbor in heard
        if neighbor.until_ns is not None
    )
    return Neighbors(ports, min(ends, default=math.inf))


def _is_over(neighbor: Neighbor, now_ns: int) -> bool:
    return neighbor.until_ns is not None and neighbor.until_ns <= now_ns


def _concerned(before: ForwardingState | None, state: ForwardingState) -> Iterator[str]:
    """Switches whose own configuration, ports or cabled peers are others than before."""
    changed = {
        name
        for name in state.ports
        if before is None
        or state.links is not before.links
        or state.ports[name] is not before.ports.get(name)
        or state.configs.get(name) is not before.configs.get(name)
    }
    for name in state.links.switches:
        if name in changed or any(state.links.far_key(link)[0] in changed for link in state.links.links_of[name]):
            yield name


def _heard(state: ForwardingState, port: PortKey, held: tuple[Neighbor, ...], now_ns: int) -> Iterator[Neighbor]:
    """The neighbours of a port: the one that speaks, and those that have fallen silent."""
    settings = _settings(state, port[0])
    if settings is None or not settings.runs_on(port[1]) or not state.port(port).oper_up:
        return
    speaking = _announcement(state, state.links.far_key(state.links.egress[port]))
    for neighbor in held:
        same = speaking is not None and neighbor.announcement[:1] == speaking[:1]
        if same and speaking is not None and neighbor.announcement.port == speaking.port:
            yield Neighbor(speaking, neighbor.since_ns)
            speaking = None
        elif neighbor.until_ns is None:
            yield neighbor._replace(until_ns=now_ns + neighbor.announcement.hold_s * NS_PER_S)
        elif not _is_over(neighbor, now_ns):
            yield neighbor
    if speaking is not None:
        yield Neighbor(speaking, now_ns)


def _announcement(state: ForwardingState, port: PortKey) -> Announcement | None:
    """What a port announces; None of a host, and where LLDP does not run."""
    device, interface = port
    settings = _settings(state, device)
    if settings is None or not settings.runs_on(interface):
        return None
    config = state.configs[device].interfaces.get(interface)
    name = settings.system_name or device
    return Announcement(device, name, interface, config.description if config else "", settings.hold_s)


def _settings(state: ForwardingState, device: str) -> Lldp | None:
    config = state.configs.get(device)
    return config.model.lldp if config is not None else None
