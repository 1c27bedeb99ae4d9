"""The links of a topology as numbers: the egress link that leaves each port, and the ingress link that enters it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from railfab.topology import TIERS, Node, Port, PortKey, Topology
from railfab.units import FIBRE_NS_PER_M

SWITCH_TRANSIT_NS = 400.0
"""From the last octet received to the queue of the egress; of the order of this class of switch (general knowledge)."""


@dataclass(frozen=True)
class LinkTable:
    """Directed links: 2i leads from end a to end z of the topology's i-th link, 2i + 1 back."""

    topology: Topology

    @cached_property
    def near(self) -> tuple[Port, ...]:
        """The port that each directed link leaves."""
        return tuple(port for link in self.topology.links for port in (link.a, link.z))

    @cached_property
    def keys(self) -> tuple[PortKey, ...]:
        """Node and interface of the port that each directed link leaves."""
        return tuple((port.node, port.name) for port in self.near)

    @cached_property
    def egress(self) -> dict[PortKey, int]:
        """The link that leaves a port; the one that enters it is this number with its last bit flipped."""
        return {key: link for link, key in enumerate(self.keys)}

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        return self.topology.by_name

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Names of the nodes that do not forward."""
        return frozenset(node.name for node in self.topology.nodes if not TIERS[node.role])

    @cached_property
    def ports_of(self) -> dict[str, tuple[Port, ...]]:
        """The cabled ports of each node, in front-panel order."""
        return {name: tuple(port for port, _, _ in self.topology.ports_of(name)) for name in self.nodes}

    @cached_property
    def links_of(self) -> dict[str, tuple[int, ...]]:
        """The egress links of each node, in the order of its ports."""
        return {
            name: tuple(self.egress[port.node, port.name] for port in ports) for name, ports in self.ports_of.items()
        }

    @cached_property
    def delay_ns(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """(link,) from queue to queue: the cable, and the switch that it leads into."""
        transit = [0.0 if node in self.hosts else SWITCH_TRANSIT_NS for node, _ in self.keys]
        return np.asarray(self.cable_ns + np.array(transit).reshape(-1, 2)[:, ::-1].ravel())

    @cached_property
    def cable_ns(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """(link,) propagation delay of the cable."""
        return np.repeat([link.cable_m * FIBRE_NS_PER_M for link in self.topology.links], 2)

    @cached_property
    def buffer_bytes(self) -> dict[str, int]:
        """The shared buffer of each switch."""
        return {node.name: self.topology.model_of(node).buffer_bytes for node in self.topology.switches()}

    def far(self, link: int) -> Port:
        """The port that a directed link leads to."""
        return self.near[link ^ 1]

    def far_key(self, link: int) -> PortKey:
        """Node and interface of the port that a directed link leads to."""
        return self.keys[link ^ 1]

    def is_host(self, node: str) -> bool:
        return node in self.hosts
