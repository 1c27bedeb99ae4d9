"""A network of a topology as a graph: nodes by index, and edges that count equal cables between two nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from railfab.topology import TIERS, Link, Net, Node, Role, Topology


class CableType(NamedTuple):
    """Attributes of a cable. rail, vlan: 0 for none; lag: part of a port channel."""

    rail: int
    rate_gbps: int
    cable_m: float
    vlan: int
    lag: bool


class Edge(NamedTuple):
    """Equal cables between two nodes: index of the node of the lower tier, of the other node, and of the cable type."""

    low: int
    high: int
    cable_type: int


@dataclass(frozen=True)
class NetworkGraph:
    """One network of a topology.

    edges: number of cables of each edge. ranks: number of each node, from 1, among the nodes of its role in its
    segment, pod or plane; counted, because indices of imported nodes may repeat.
    """

    nodes: Sequence[Node]
    ranks: Sequence[int]
    cable_types: Sequence[CableType]
    edges: Mapping[Edge, int]

    @cached_property
    def _edges_by_node(self) -> Mapping[int, Sequence[Edge]]:
        found: dict[int, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.low, []).append(edge)
            found.setdefault(edge.high, []).append(edge)
        return found

    def edges_of(self, index: int) -> Sequence[Edge]:
        """Edges of a node."""
        return self._edges_by_node.get(index, ())

    def cable_count(self) -> int:
        """Number of cables of the network."""
        return sum(self.edges.values())


def network_graphs(topology: Topology) -> dict[Net, NetworkGraph]:
    """The graph of each network."""
    nodes = topology.nodes
    indices = {node.name: index for index, node in enumerate(nodes)}
    cable_types: dict[CableType, int] = {}
    counted = Counter(_edge(link, indices, cable_types) for link in topology.links)
    edges: dict[Net, dict[Edge, int]] = {net: {} for net in Net}
    for edge, count in counted.items():
        edges[_net(nodes[edge.low].net, nodes[edge.high].net)][edge] = count
    ranks = _ranks(nodes)
    return {
        net: NetworkGraph(nodes=nodes, ranks=ranks, cable_types=tuple(cable_types), edges=found)
        for net, found in edges.items()
    }


def _edge(link: Link, indices: Mapping[str, int], cable_types: dict[CableType, int]) -> Edge:
    a, z = link.a, link.z
    lag = a.bundle is not None or z.bundle is not None
    cable_type = CableType(a.rail or 0, link.rate_gbps, link.cable_m, z.vlan or 0, lag)
    return Edge(indices[a.node], indices[z.node], cable_types.setdefault(cable_type, len(cable_types)))


def _net(low: Net, high: Net) -> Net:
    """Network of a cable: that of its switch; between two networks, the one that manages the other."""
    if low is high or low is Net.BACKEND:
        return high
    return Net.MANAGEMENT if high is not Net.BACKEND else low


def _ranks(nodes: Sequence[Node]) -> list[int]:
    seen: Counter[tuple[Net, Role, int, int, int | None]] = Counter()
    ranks = []
    for node in nodes:
        unit = (node.net, node.role, node.plane, node.pod, node.segment)
        seen[unit] += 1
        ranks.append(seen[unit])
    return ranks


def tier_of(node: Node) -> int:
    return TIERS[node.role]
