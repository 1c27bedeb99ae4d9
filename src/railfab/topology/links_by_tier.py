"""The links of a topology, classified by the tiers that they connect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.topology.model import TIERS, Link, Net, Topology


@dataclass(frozen=True, slots=True)
class LinksByTier:
    """Every link once, lower end first, in the order of the topology.

    hosts: from a host or a storage server to a switch. managed: from a switch to the management network.
    uplinks: from a switch to a switch of a higher tier of its network. peer_links: between two switches of one tier (an
    MLAG or ESI pair). crossing: between switches of two networks, neither of them management. without_switch: between
    hosts or storage servers, which a fabric does not have.
    """

    hosts: tuple[Link, ...]
    managed: tuple[Link, ...]
    uplinks: tuple[Link, ...]
    peer_links: tuple[Link, ...]
    crossing: tuple[Link, ...]
    without_switch: tuple[Link, ...]


def links_by_tier(topology: Topology) -> LinksByTier:
    """Classify every link, in one pass."""
    hosts: list[Link] = []
    managed: list[Link] = []
    uplinks: list[Link] = []
    peer_links: list[Link] = []
    crossing: list[Link] = []
    without_switch: list[Link] = []
    heights = {node.name: _height(TIERS[node.role], node.net) for node in topology.nodes}
    for link in topology.links:
        low, high = heights[link.a.node], heights[link.z.node]
        if low[1] > high[1]:
            low, high, link = high, low, Link(a=link.z, z=link.a, rate_gbps=link.rate_gbps, cable_m=link.cable_m)
        if low[1] == 0:
            (hosts if high[1] else without_switch).append(link)
        elif low[0] == high[0]:
            (peer_links if low[1] == high[1] else uplinks).append(link)
        else:
            (managed if high[1] >= MANAGEMENT_TIER else crossing).append(link)
    return LinksByTier(*(tuple(links) for links in (hosts, managed, uplinks, peer_links, crossing, without_switch)))


MANAGEMENT_TIER = 10
"""Added to the tier of a switch of the management network, since every other switch connects to it as a member."""


def _height(tier: int, net: Net) -> tuple[str, int]:
    """Network and height of a node."""
    above = MANAGEMENT_TIER if net is Net.MANAGEMENT and tier else 0
    return net.value, tier + above


@dataclass(frozen=True)
class IndexedTopology:
    """A topology with indices that several checks use."""

    topology: Topology

    @cached_property
    def links(self) -> LinksByTier:
        return links_by_tier(self.topology)

    @cached_property
    def pairs(self) -> frozenset[frozenset[str]]:
        """Redundant pairs of switches: connected by a peer link, or by the LAG of a host."""
        peers = {frozenset((link.a.node, link.z.node)) for link in self.links.peer_links}
        bonds = {frozenset(bond.switches) for bond in self.topology.bonds}
        return frozenset(pair for pair in peers | bonds if len(pair) == 2)

    @cached_property
    def tenants(self) -> Mapping[tuple[str, int], str]:
        """The tenant of each VLAN of a switch."""
        return {(gateway.node, gateway.vlan): gateway.tenant for gateway in self.topology.gateways if gateway.tenant}
