"""What a careful colleague would say of a fabric that can be built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from railfab.errors import Finding, Severity
from railfab.intent import FabricIntent
from railfab.topology.model import LinkKind, Node, Role, Topology, link_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a switch takes in from below and can hand up [Gb/s]."""

    node: str
    down_gbps: int
    up_gbps: int

    @property
    def non_blocking(self) -> bool:
        return self.up_gbps >= self.down_gbps

    @property
    def ratio(self) -> float:
        """Oversubscription, down to up."""
        return self.down_gbps / self.up_gbps


def capacities(topology: Topology) -> tuple[Capacity, ...]:
    """Of every rail switch, in the order of the topology."""
    totals: dict[tuple[str, LinkKind], int] = {}
    roles = {node.name: node.role for node in topology.nodes}
    for port, peer, link in topology.ports():
        key = port.node, link_kind(roles[port.node], roles[peer.node])
        totals[key] = totals.get(key, 0) + link.rate_gbps
    return tuple(
        Capacity(node=node.name, down_gbps=totals[node.name, LinkKind.HOST], up_gbps=totals[node.name, LinkKind.UPLINK])
        for node in _leaves(topology)
    )


def _leaves(topology: Topology) -> Iterator[Node]:
    return (node for node in topology.nodes if node.role is Role.LEAF)


def findings(topology: Topology, intent: FabricIntent) -> tuple[Finding, ...]:
    """Every finding, all reported together."""
    return tuple(
        Finding(
            severity=Severity.WARNING,
            where=capacity.node,
            problem=f"{capacity.down_gbps} Gb/s of hosts share {capacity.up_gbps} Gb/s up ({capacity.ratio:.2f}:1)",
            remedy="Add spines or links_per_leaf for a non-blocking fabric",
        )
        for capacity in capacities(topology)
        if not capacity.non_blocking
    )
