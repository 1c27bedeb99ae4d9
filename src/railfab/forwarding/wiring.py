"""The topology as numbers: every port has an egress link that leaves it and an ingress link that enters it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from railfab.sim import QUEUES
from railfab.topology import Node, Port, PortKey, Role, Topology
from railfab.units import FIBRE_NS_PER_M

SWITCH_TRANSIT_NS = 400.0
"""From the last octet received to the queue of the egress; of the order of this class of switch (general knowledge)."""


@dataclass(frozen=True)
class Wiring:
    """Directed links: 2i leads from end a to end z of the topology's i-th link, 2i + 1 back."""

    topology: Topology

    @cached_property
    def near(self) -> tuple[Port, ...]:
        """The port each directed link leaves."""
        return tuple(port for link in self.topology.links for port in (link.a, link.z))

    @cached_property
    def egress(self) -> dict[PortKey, int]:
        """The link that leaves a port; the one that enters it is this number with its last bit flipped."""
        return {(port.node, port.name): link for link, port in enumerate(self.near)}

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.topology.nodes}

    @cached_property
    def ports_of(self) -> dict[str, tuple[Port, ...]]:
        """The cabled ports of each node, in front-panel order."""
        ports: dict[str, list[Port]] = {node.name: [] for node in self.topology.nodes}
        for port in self.near:
            ports[port.node].append(port)
        for found in ports.values():
            found.sort(key=lambda port: (port.cage, port.lane or 0, port.name))
        return {name: tuple(found) for name, found in ports.items()}

    @cached_property
    def delay_ns(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """(link,) from queue to queue: the cable, and the switch it leads into."""
        return np.array(
            [
                self.cable_ns(link) + (0.0 if self.is_host(self.far(link).node) else SWITCH_TRANSIT_NS)
                for link in range(len(self.near))
            ]
        )

    @cached_property
    def buffer_bytes(self) -> dict[str, int]:
        """The shared buffer of each switch."""
        return {node.name: self.topology.model_of(node).buffer_bytes for node in self.topology.switches()}

    @cached_property
    def chip(self) -> dict[str, int]:
        return {node.name: number for number, node in enumerate(self.topology.switches())}

    def cable_ns(self, link: int) -> float:
        return self.topology.links[link // 2].cable_m * FIBRE_NS_PER_M

    def far(self, link: int) -> Port:
        """The port a directed link leads to."""
        return self.near[link ^ 1]

    def is_host(self, node: str) -> bool:
        return self.nodes[node].role is Role.HOST

    def queue(self, key: PortKey, number: int) -> int:
        """The simulator's number of a queue of this port."""
        return self.egress[key] * QUEUES + number
