"""The links of a topology as numbers: the egress link that leaves each port, and the ingress link that enters it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from railfab.topology import TIERS, CabledPort, Link, Net, Node, PortKey, Topology
from railfab.units import FIBRE_NS_PER_M

SWITCH_TRANSIT_NS = 400.0
"""From the last octet received to the queue of the egress; of the order of this class of switch (general knowledge)."""

NIC_TRANSIT_NS = 400.0
"""From the last octet received to the answer of a NIC; an estimate, of the order of a switch."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class LinkTable:
    """Directed links: 2i leads from end a to end z of the topology's i-th link, 2i + 1 back."""

    topology: Topology

    @cached_property
    def near(self) -> tuple[CabledPort, ...]:
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
    def ports_of(self) -> dict[str, tuple[CabledPort, ...]]:
        """The cabled ports of each node, in front-panel order."""
        return {name: tuple(port for port, _, _ in self.topology.ports_of(name)) for name in self.nodes}

    @cached_property
    def links_of(self) -> dict[str, tuple[int, ...]]:
        """The egress links of each node, in the order of its ports."""
        return {
            name: tuple(self.egress[port.node, port.name] for port in ports) for name, ports in self.ports_of.items()
        }

    @cached_property
    def switches(self) -> dict[str, int]:
        """Number of each switch among the nodes of the simulator."""
        return {node.name: number for number, node in enumerate(self.topology.switches())}

    @cached_property
    def nics(self) -> Numbers:
        """The links that leave host ports. The i-th of these ports is the node after the switches and i others."""
        return np.array([link for link, (node, _) in enumerate(self.keys) if node in self.hosts], np.int64)

    @cached_property
    def _nics_on_pcie(self) -> tuple[tuple[float, tuple[int, ...]], ...]:
        """What PCIe carries of each NIC of the backend [Gb/s], where it limits it, and the links that leave its
        ports."""
        nics: dict[tuple[str, int | str], list[int]] = {}
        for link in self.nics.tolist():
            port = self.near[link]
            limited = self.nodes[port.node].pcie_gbps is not None
            if limited and self.nodes[self.far_key(link)[0]].net is Net.BACKEND:
                nics.setdefault((port.node, port.rail or port.name), []).append(link)
        limits = ((self.nodes[node].pcie_gbps, tuple(links)) for (node, _), links in nics.items())
        return tuple((gbps, links) for gbps, links in limits if gbps is not None)

    @property
    def has_pcie_limits(self) -> bool:
        """Whether PCIe may carry less than the ports of a NIC."""
        return bool(self._nics_on_pcie)

    def pcie_gbps(self, use: NDArray[np.float64]) -> dict[int, float]:
        """What PCIe leaves ports of hosts in a direction [Gb/s], by the link that leaves the port, where that is less
        than their rate. Ports of a NIC share it in proportion to their use, (link,), and equally without any."""
        shares = {}
        for gbps, links in self._nics_on_pcie:
            used = use[list(links)]
            whole = float(used.sum())
            parts = (used / whole).tolist() if whole else [1 / len(links)] * len(links)
            shares.update({link: gbps * part for link, part in zip(links, parts, strict=True) if part})
        return {link: gbps for link, gbps in shares.items() if gbps < self.near[link].rate_gbps}

    @cached_property
    def near_node(self) -> Numbers:
        """(link,) node of the simulator that each link leaves: a switch, or a host port, each of which is one."""
        found = np.array([self.switches.get(node, -1) for node, _ in self.keys], np.int64)
        found[self.nics] = len(self.switches) + np.arange(len(self.nics))
        return found

    @cached_property
    def delay_ns(self) -> NDArray[np.float64]:
        """(link,) from the last octet sent to the queue of the far end: the cable, and the node it leads into."""
        into_nic = self.near_node.reshape(-1, 2)[:, ::-1].ravel() >= len(self.switches)
        return np.asarray(self.cable_ns + np.where(into_nic, NIC_TRANSIT_NS, SWITCH_TRANSIT_NS))

    @cached_property
    def cable_ns(self) -> NDArray[np.float64]:
        """(link,) propagation delay of the cable."""
        return np.repeat([link.cable_m * FIBRE_NS_PER_M for link in self.topology.links], 2)

    @cached_property
    def buffer_bytes(self) -> dict[str, int]:
        """The shared buffer of each switch."""
        return {node.name: self.topology.model_of(node).buffer_bytes for node in self.topology.switches()}

    def exchanged(self, one: PortKey, other: PortKey) -> LinkTable:
        """The links after two ports have exchanged their far ends; each port stays at its end of a cable."""
        topology = self.topology
        first, second = self.egress[one], self.egress[other]
        links = list(topology.links)
        links[first // 2] = _with_end(links[first // 2], first ^ 1, self.far(second))
        links[second // 2] = _with_end(links[second // 2], second ^ 1, self.far(first))
        return LinkTable(replace(topology, links=tuple(links)))

    def far(self, link: int) -> CabledPort:
        """The port that a directed link leads to."""
        return self.near[link ^ 1]

    def far_key(self, link: int) -> PortKey:
        """Node and interface of the port that a directed link leads to."""
        return self.keys[link ^ 1]

    def is_host(self, node: str) -> bool:
        return node in self.hosts


def _with_end(link: Link, number: int, port: CabledPort) -> Link:
    """A cable with another port at the end that this directed link leaves."""
    return replace(link, z=port) if number & 1 else replace(link, a=port)
