"""Overview of a fabric for tables and summaries, with equal elements grouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from railfab.intent import FabricIntent
from railfab.topology.model import (
    TIERS,
    CabledPort,
    LinkKind,
    Net,
    Network,
    Node,
    Role,
    Topology,
    link_kind,
    link_network,
)
from railfab.topology.rail_prefixes import rail_prefixes

T = TypeVar("T")

ROLES: Mapping[Role, str] = {
    Role.HOST: "host",
    Role.SERVER: "storage server",
    Role.LEAF: "leaf",
    Role.SPINE: "spine",
    Role.SUPER: "super-spine",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPorts:
    """A switch and its ports in use by kind of link, with the bandwidth of each kind [Gb/s]."""

    node: Node
    counts: Mapping[LinkKind, int]
    gbps: Mapping[LinkKind, int]

    @property
    def hosts(self) -> int:
        return self.counts.get(LinkKind.HOST, 0)

    @property
    def fabric(self) -> int:
        """Ports to other switches."""
        return sum(self.counts.values()) - self.hosts

    @property
    def down_gbps(self) -> int:
        return self.gbps.get(LinkKind.HOST, 0) + self.gbps.get(LinkKind.DOWNLINK, 0)

    @property
    def up_gbps(self) -> int:
        return self.gbps.get(LinkKind.UPLINK, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CableKind:
    """Cables with equal properties."""

    net: Net
    a: Role
    z: Role
    rate_gbps: int
    cable_m: float


@dataclass(slots=True, kw_only=True)
class RailBlock:
    """The ports of a switch that serve a rail, in the order of their hosts. prefix: of their addresses."""

    rail: int
    switch: str
    first: CabledPort
    last: CabledPort
    prefix: Network | None
    ports: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Overview of a fabric. switches: in order. cables: number by kind. rails: by rail, then switch."""

    switches: tuple[SwitchPorts, ...]
    cables: Mapping[CableKind, int]
    rails: tuple[RailBlock, ...]


def overview(topology: Topology, intent: FabricIntent) -> Overview:
    """The overview of a fabric."""
    counts, gbps = _ports(topology)
    return Overview(
        switches=tuple(
            SwitchPorts(
                node=node,
                counts={kind: count for kind in LinkKind if (count := counts[node.name, kind])},
                gbps={kind: rate for kind in LinkKind if (rate := gbps[node.name, kind])},
            )
            for node in topology.switches()
        ),
        cables=_cables(topology),
        rails=_rails(topology, intent),
    )


def _ports(topology: Topology) -> tuple[Counter[tuple[str, LinkKind]], Counter[tuple[str, LinkKind]]]:
    """Ports of each switch and their bandwidth, by kind, without its own management port; for the management network, a
    managed switch is a host."""
    nodes = topology.by_name
    kinds = {(role, peer): link_kind(role, peer) for role in Role if TIERS[role] for peer in Role}
    counts: Counter[tuple[str, LinkKind]] = Counter()
    gbps: Counter[tuple[str, LinkKind]] = Counter()
    for link in topology.links:
        a, z = nodes[link.a.node], nodes[link.z.node]
        if a.net is Net.MANAGEMENT:
            a, z = z, a
        managed = z.net is Net.MANAGEMENT and a.net is not z.net
        key = z.name, LinkKind.HOST if managed else kinds[z.role, a.role]
        counts[key] += 1
        gbps[key] += link.rate_gbps
        if TIERS[a.role] and not managed:
            key = a.name, kinds[a.role, z.role]
            counts[key] += 1
            gbps[key] += link.rate_gbps
    return counts, gbps


def _cables(topology: Topology) -> Mapping[CableKind, int]:
    nodes = topology.by_name
    counts: Counter[tuple[Net, Role, Role, int, float]] = Counter()
    for link in topology.links:
        a, z = nodes[link.a.node], nodes[link.z.node]
        counts[link_network(a, z), a.role, z.role, link.rate_gbps, link.cable_m] += 1
    return {
        CableKind(net=net, a=a, z=z, rate_gbps=rate, cable_m=metres): count
        for (net, a, z, rate, metres), count in counts.items()
    }


def _rails(topology: Topology, intent: FabricIntent) -> tuple[RailBlock, ...]:
    blocks: dict[tuple[int, str], RailBlock] = {}
    prefixes = rail_prefixes(topology, intent)
    for link in topology.links:
        port = link.z
        if port.rail is None:
            continue
        key = port.rail, port.node
        block = blocks.get(key)
        if block is None:
            prefix = prefixes.get(key)
            block = blocks[key] = RailBlock(rail=port.rail, switch=port.node, first=port, last=port, prefix=prefix)
        block.last = port
        block.ports += 1
    return tuple(sorted(blocks.values(), key=lambda block: block.rail))
