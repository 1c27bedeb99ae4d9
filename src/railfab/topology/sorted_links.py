"""The links of a topology sorted by what they join: what checks, failure domains and capacities begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.topology.model import TIERS, Link, Net, Topology


@dataclass(frozen=True, slots=True)
class SortedLinks:
    """Every link once, lower end first, in the order of the topology.

    hosts: from a host or a storage server to a switch. managed: from a switch to the management network.
    rising: from a switch to one of a higher tier of its network. level: between two of one tier (a pair's peer links).
    crossing: between switches of two networks, neither of them management.
    """

    hosts: tuple[Link, ...]
    managed: tuple[Link, ...]
    rising: tuple[Link, ...]
    level: tuple[Link, ...]
    crossing: tuple[Link, ...]


def sort_links(topology: Topology) -> SortedLinks:
    """Sort every link, in one pass."""
    hosts: list[Link] = []
    managed: list[Link] = []
    rising: list[Link] = []
    level: list[Link] = []
    crossing: list[Link] = []
    heights = {node.name: _height(TIERS[node.role], node.net) for node in topology.nodes}
    for link in topology.links:
        low, high = heights[link.a.node], heights[link.z.node]
        if low[1] > high[1]:
            low, high, link = high, low, Link(a=link.z, z=link.a, rate_gbps=link.rate_gbps, cable_m=link.cable_m)
        if low[1] == 0:
            hosts.append(link)
        elif low[0] == high[0]:
            (level if low[1] == high[1] else rising).append(link)
        else:
            (managed if high[1] >= MANAGEMENT_HEIGHT else crossing).append(link)
    return SortedLinks(*(tuple(links) for links in (hosts, managed, rising, level, crossing)))


MANAGEMENT_HEIGHT = 10
"""Added to the tier of a switch of the management network: to any other switch it is what that hangs on."""


def _height(tier: int, net: Net) -> tuple[str, int]:
    """Network and height of a node."""
    above = MANAGEMENT_HEIGHT if net is Net.MANAGEMENT and tier else 0
    return net.value, tier + above


@dataclass(frozen=True)
class Wired:
    """A topology with what its checks ask of it again and again."""

    topology: Topology

    @cached_property
    def links(self) -> SortedLinks:
        return sort_links(self.topology)

    @cached_property
    def pairs(self) -> frozenset[frozenset[str]]:
        """Switches that stand in for each other: joined by a peer link, or by a host's LAG."""
        peers = {frozenset((link.a.node, link.z.node)) for link in self.links.level}
        bonds = {frozenset(bond.switches) for bond in self.topology.bonds}
        return frozenset(pair for pair in peers | bonds if len(pair) == 2)

    @cached_property
    def tenants(self) -> Mapping[tuple[str, int], str]:
        """Whose a VLAN of a switch is."""
        return {(gateway.node, gateway.vlan): gateway.tenant for gateway in self.topology.gateways if gateway.tenant}
