"""The links of a topology sorted by what they join: what checks, failure domains and capacities begin with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from railfab.topology.model import TIERS, Link, Net, Topology


@dataclass(frozen=True, slots=True)
class Joints:
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


def joints(topology: Topology) -> Joints:
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
    return Joints(*(tuple(links) for links in (hosts, managed, rising, level, crossing)))


MANAGEMENT_HEIGHT = 10
"""Added to the tier of a switch of the management network: to any other switch it is what that hangs on."""


def _height(tier: int, net: Net) -> tuple[str, int]:
    """Network and height of a node."""
    above = MANAGEMENT_HEIGHT if net is Net.MANAGEMENT and tier else 0
    return net.value, tier + above


def pairs(level: Iterable[Link], bonds: Iterable[tuple[str, ...]]) -> frozenset[frozenset[str]]:
    """Switches that stand in for each other: joined by a peer link, or by a host's LAG."""
    joined = {frozenset((link.a.node, link.z.node)) for link in level}
    return frozenset(joined | {frozenset(switches) for switches in set(bonds) if len(switches) == 2})
