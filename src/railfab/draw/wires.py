"""A topology read once, for pictures: who is joined to whom by how many cables, in numbers instead of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from railfab.topology import TIERS, Link, Net, Node, Role, Topology


class Kind(NamedTuple):
    """What tells cables apart. rail, vlan: 0 for none; lag: part of a port channel."""

    rail: int
    rate_gbps: int
    cable_m: float
    vlan: int
    lag: bool


class Wire(NamedTuple):
    """Equal cables between two nodes, the lower end first, by their places in the topology; kind: its number."""

    low: int
    high: int
    kind: int


@dataclass(frozen=True)
class Wiring:
    """One network of a topology. wires: how many cables each is; ranks: a node's number, from 1, among its like in its
    segment, pod or plane, which holds for imported nodes too, whose indices may repeat."""

    nodes: Sequence[Node]
    ranks: Sequence[int]
    kinds: Sequence[Kind]
    wires: Mapping[Wire, int]

    @cached_property
    def _ends(self) -> Mapping[int, Sequence[Wire]]:
        found: dict[int, list[Wire]] = {}
        for wire in self.wires:
            found.setdefault(wire[0], []).append(wire)
            found.setdefault(wire[1], []).append(wire)
        return found

    def at(self, place: int) -> Sequence[Wire]:
        """The wires of a node."""
        return self._ends.get(place, ())

    def total(self) -> int:
        """All cables."""
        return sum(self.wires.values())


def read_wiring(topology: Topology) -> dict[Net, Wiring]:
    """Each network with its cables."""
    nodes = topology.nodes
    place = {node.name: number for number, node in enumerate(nodes)}
    kinds: dict[Kind, int] = {}
    counted = Counter(_wire(link, place, kinds) for link in topology.links)
    wires: dict[Net, dict[Wire, int]] = {net: {} for net in Net}
    for wire, count in counted.items():
        wires[_net(nodes[wire.low].net, nodes[wire.high].net)][wire] = count
    ranks = _ranks(nodes)
    return {net: Wiring(nodes=nodes, ranks=ranks, kinds=tuple(kinds), wires=found) for net, found in wires.items()}


def _wire(link: Link, place: Mapping[str, int], kinds: dict[Kind, int]) -> Wire:
    a, z = link.a, link.z
    lag = a.bundle is not None or z.bundle is not None
    kind = Kind(a.rail or 0, link.rate_gbps, link.cable_m, z.vlan or 0, lag)
    return Wire(place[a.node], place[z.node], kinds.setdefault(kind, len(kinds)))


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
