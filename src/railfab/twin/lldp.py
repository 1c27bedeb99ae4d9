"""LLDP of the switches (IEEE 802.1AB): who is heard on each port, and until when.

Hosts do not speak LLDP: what railfab configures on them stops lldpad, which negotiates DCBX. A change of what a switch
announces is sent at once. A neighbour that stops sending expires after the hold time that it has announced, in
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
from railfab.twin.steady import changed_nodes
from railfab.units import NS_PER_S


class Announcement(NamedTuple):
    """What a switch says of itself on a port. device: which one it is, whatever its name."""

    device: str
    name: str
    port: str
    description: str
    hold_s: int


class Neighbor(NamedTuple):
    """A neighbour of a port. since_s: when it was heard first [s, Unix time]. until_ns: when it expires [simulated ns];
    None while it sends."""

    announcement: Announcement
    since_s: float
    until_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighbours of all ports, by switch, then port. Immutable.

    aging: the ports with a neighbour that has stopped sending. next_ns: when the first of these expires.
    """

    ports: Mapping[str, Mapping[str, tuple[Neighbor, ...]]] = field(default_factory=dict)
    aging: frozenset[PortKey] = frozenset()
    next_ns: float = math.inf

    def of(self, device: str) -> Mapping[str, tuple[Neighbor, ...]]:
        return self.ports.get(device, {})

    def after(self, before: ForwardingState | None, state: ForwardingState, now_ns: int, now_s: float) -> Neighbors:
        """The neighbours in another state of the fabric, at this simulated and this Unix time."""
        fresh: dict[str, dict[str, tuple[Neighbor, ...]]] = {}
        for device, name in _concerned(before, state):
            held = self.of(device)
            neighbors = tuple(_heard(state, (device, name), held.get(name, ()), now_ns, now_s))
            ports = fresh.setdefault(device, dict(held))
            ports[name] = neighbors
            if not neighbors:
                del ports[name]
        return self._with(fresh)

    def at(self, now_ns: int) -> Neighbors:
        """The neighbours that have not expired at this time; the same object when none has."""
        if now_ns < self.next_ns:
            return self
        fresh = {}
        for device in {device for device, _ in self.aging}:
            left = {
                name: tuple(found for found in held if not _is_over(found, now_ns))
                for name, held in self.of(device).items()
            }
            fresh[device] = {name: neighbors for name, neighbors in left.items() if neighbors}
        return self._with(fresh)

    def _with(self, fresh: Mapping[str, Mapping[str, tuple[Neighbor, ...]]]) -> Neighbors:
        """With the neighbours of these switches in place of theirs; where nothing differs, the same object."""
        changed = {device: held for device, held in fresh.items() if held != self.of(device)}
        if not changed:
            return self
        ports = {**self.ports, **changed}
        aging = {key for key in self.aging if key[0] not in changed}
        aging |= {
            (device, name)
            for device, held in changed.items()
            for name, heard in held.items()
            if any(neighbor.until_ns is not None for neighbor in heard)
        }
        ends = (found.until_ns for device, name in aging for found in ports[device][name] if found.until_ns is not None)
        return Neighbors(ports, frozenset(aging), min(ends, default=math.inf))


def _is_over(neighbor: Neighbor, now_ns: int) -> bool:
    return neighbor.until_ns is not None and neighbor.until_ns <= now_ns


def _concerned(before: ForwardingState | None, state: ForwardingState) -> Iterator[PortKey]:
    """Ports of switches of which the configuration or a port has changed, and those at the far ends of their cables."""
    links = state.links
    for name in changed_nodes(before, state):
        if name in links.switches:
            yield from ((name, port) for port in state.ports[name])
        far = (links.far_key(link) for link in links.links_of[name])
        yield from (key for key in far if key[0] in links.switches)


def _heard(
    state: ForwardingState, port: PortKey, held: tuple[Neighbor, ...], now_ns: int, now_s: float
) -> Iterator[Neighbor]:
    """The neighbours of a port: the one that speaks, and those that have fallen silent."""
    settings = _settings(state, port[0])
    if settings is None or not settings.runs_on(port[1]) or not state.port(port).oper_up:
        return
    heard = port not in state.silent.losing
    speaking = _announcement(state, state.links.far_key(state.links.egress[port])) if heard else None
    for neighbor in held:
        same = speaking is not None and neighbor.announcement[:1] == speaking[:1]
        if same and speaking is not None and neighbor.announcement.port == speaking.port:
            yield Neighbor(speaking, neighbor.since_s)
            speaking = None
        elif neighbor.until_ns is None:
            yield neighbor._replace(until_ns=now_ns + neighbor.announcement.hold_s * NS_PER_S)
        elif not _is_over(neighbor, now_ns):
            yield neighbor
    if speaking is not None:
        yield Neighbor(speaking, now_s)


def _announcement(state: ForwardingState, port: PortKey) -> Announcement | None:
    """What a port announces; None of a host, of a switch that hangs, and where LLDP does not run."""
    device, interface = port
    settings = _settings(state, device)
    if settings is None or not settings.runs_on(interface) or device in state.silent.hung:
        return None
    config = state.configs[device].interfaces.get(interface)
    name = settings.system_name or device
    return Announcement(device, name, interface, config.description if config else "", settings.hold_s)


def _settings(state: ForwardingState, device: str) -> Lldp | None:
    config = state.configs.get(device)
    return config.model.lldp if config is not None else None
