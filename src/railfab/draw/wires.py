"""A topology read once, for pictures: who is joined to whom by how many cables, in numbers instead of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from railfab.topology import TIERS, Link, Net, Node, Role, Topology


class Wire(NamedTuple):
    """Equal cables between two nodes. low, high: their places in the topology, the lower end first.

    rail, vlan: 0 for none. lag: they are part of a port channel.
    """

    low: int
    high: int
    rail: int
    rate_gbps: int
    cable_m: float
    vlan: int
    lag: bool


@dataclass(frozen=True)
class Wiring:
    """One network of a topology. wires: how many cables of each kind; ranks: a node's number, from 1, among its like
    in its segment, pod or plane, which holds for imported nodes too, whose indices may repeat."""

    nodes: Sequence[Node]
    ranks: Sequence[int]
    wires: Mapping[Wire, int]

    @cached_property
    def ends(self) -> Mapping[int, Sequence[tuple[Wire, int]]]:
        """The wires of each node, with their counts."""
        found: dict[int, list[tuple[Wire, int]]] = {}
        for counted in self.wires.items():
            found.setdefault(counted[0].low, []).append(counted)
            found.setdefault(counted[0].high, []).append(counted)
        return found

    @cached_property
    def members(self) -> frozenset[int]:
        """Nodes that a cable of this network reaches."""
        return frozenset(self.ends)


def read_wiring(topology: Topology) -> dict[Net, Wiring]:
    """Each network with its cables; the backend has all the hosts and switches of its own even where none is cabled."""
    place = {node.name: number for number, node in enumerate(topology.nodes)}
    counted = Counter(_wire(link, place) for link in topology.links)
    wires: dict[Net, dict[Wire, int]] = {net: {} for net in Net}
    nodes = topology.nodes
    for wire, count in counted.items():
        wires[_net(nodes[wire.low].net, nodes[wire.high].net)][wire] = count
    ranks = _ranks(nodes)
    return {net: Wiring(nodes=nodes, ranks=ranks, wires=found) for net, found in wires.items()}


def _wire(link: Link, place: Mapping[str, int]) -> Wire:
    a, z = link.a, link.z
    return Wire(
        place[a.node],
        place[z.node],
        a.rail or 0,
        link.rate_gbps,
        link.cable_m,
        z.vlan or 0,
        a.bundle is not None or z.bundle is not None,
    )


def _net(low: Net, high: Net) -> Net:
    """The network a cable belongs to: that of its switch; between two networks, the one that manages the other."""
    if low is high or low is Net.BACKEND:
        return high
    return Net.MANAGEMENT if high is not Net.BACKEND else low


def _ranks(nodes: Sequence[Node]) -> list[int]:
    seen: Counter[tuple[Net, Role, int, int, int | None]] = Counter()
    ranks = []
    for node in nodes:
        like = (node.net, node.role, node.plane, node.pod, node.segment)
        seen[like] += 1
        ranks.append(seen[like])
    return ranks


def tier(node: Node) -> int:
    return TIERS[node.role]
