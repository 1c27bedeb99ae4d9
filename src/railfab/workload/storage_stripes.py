"""Connections by which hosts write a checkpoint to the servers of a storage network, in stripes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from railfab.topology import Net, PortKey, Role, Topology

STRIPES = 8
"""Servers among which a port of a host divides what it writes, if there are so many."""
NumberedPorts = Sequence[tuple[int, PortKey]]
"""Ports of a node with their places among those that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripe:
    """Part of a checkpoint that a host port writes to a server. host: its number. share: of what the host writes."""

    source: PortKey
    target: PortKey
    host: int
    share: float


def storage_ports(topology: Topology, role: Role) -> dict[str, list[PortKey]]:
    """Ports on the storage network of hosts or storage servers, by node, in the order of their names."""
    ports: dict[str, list[PortKey]] = {}
    for link in topology.links:
        near, far = topology.node(link.a.node), topology.node(link.z.node)
        if near.role is role and far.net is Net.STORAGE:
            ports.setdefault(near.name, []).append((near.name, link.a.name))
    return {name: sorted(held) for name, held in ports.items()}


def stripes(hosts: Sequence[NumberedPorts], servers: Sequence[NumberedPorts]) -> list[Stripe]:
    """The connections of hosts to servers: a port writes to alike ports of several servers, which are on its leaf, and
    hosts begin with different servers."""
    made = []
    count = min(STRIPES, len(servers))
    for number, ports in enumerate(hosts):
        for place, port in ports:
            for stripe in range(count):
                turn, server = divmod(number * count + stripe, len(servers))
                share = 1 / (len(ports) * count)
                target = _alike(servers[server], place, turn)
                made.append(Stripe(source=port, target=target, host=number, share=share))
    return made


def _alike(ports: NumberedPorts, place: int, turn: int) -> PortKey:
    """A port of a server on the leaf of a host port, or another: the ports of a node alternate between two leaves."""
    alike = [port for number, port in ports if number % 2 == place % 2] or [port for _, port in ports]
    return alike[turn % len(alike)]
