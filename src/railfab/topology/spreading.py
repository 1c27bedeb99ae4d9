"""Spreading of flows after the failure of one link of several between two switches.

ECMP without weights gives every next hop the same share of the flows, and BGP announces that there is a route, not how
many links carry it. After the failure of one of two parallel links between a leaf and a spine, the other leaves have as
many next hops as before: they send the spine as many flows as before, which share half of the links to the leaf. The
other flows lose nothing; but a collective runs at the rate of its slowest flow. Weighted ECMP (with the link bandwidth
community of BGP) gives each next hop a share in proportion to the bandwidth behind it.

All rates are shares of the rate before the failure, when all members send at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass

from railfab.topology.exposure import Exposure
from railfab.topology.model import Role

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Flows over one pair of switches that lost a link.

    next_hops: equal next hops of the switches that send to the lower one of the pair. slowed: of these, those over the
    pair; the same share of the flows is slowed. slowest: rate of these flows. weighted: rate of all flows if next hops
    had weights. channel: the pair has a port channel, which is one next hop, whatever links it has left.
    """

    next_hops: int
    slowed: int
    slowest: float
    weighted: float
    channel: bool

    @property
    def uneven(self) -> bool:
        """Whether weights would make the slowest flow faster."""
        return self.slowest < self.weighted - ROUNDING


def spread_after(network: Exposure, lower: str, upper: str, lost_gbps: int) -> Spread:
    """The spread after the failure of a link of this bandwidth between a switch and a switch above it."""
    if network.nodes[lower].role is Role.LEAF:
        return _below_spine(network, lower, upper, lost_gbps)
    return _below_super_spine(network, lower, upper, lost_gbps)


def _below_spine(network: Exposure, leaf: str, spine: str, lost_gbps: int) -> Spread:
    """The flows from the spine to the leaf have the links that are left; without any, other leaves avoid the spine."""
    between, load = network.up[leaf][spine], network.load(leaf)
    all_left = _left(network.up_gbps[leaf], lost_gbps, load)
    pair_left = _left(between, lost_gbps, load) if between > lost_gbps else all_left
    return Spread(
        next_hops=network.next_hops[leaf],
        slowed=network.up_links[leaf, spine],
        slowest=min(pair_left, all_left),
        weighted=all_left,
        channel=(leaf, spine) in network.channels,
    )


def _below_super_spine(network: Exposure, spine: str, super_spine: str, lost_gbps: int) -> Spread:
    """The flows from the super-spine to the pod have its links to all spines of the pod; those from the leaves to the
    spine have the uplinks of the spine. A port channel keeps its share of the flows."""
    load, pod = network.load(spine), network.pod_of(spine)
    between, into_pod = network.up[spine][super_spine], network.into_pod[pod, super_spine]
    rates = [_left(network.up_gbps[spine], lost_gbps, load)]
    if (spine, super_spine) in network.channels and between > lost_gbps:
        rates.append(_left(between, lost_gbps, load))
    elif into_pod > lost_gbps:
        rates.append(_left(into_pod, lost_gbps, load))
    return Spread(
        next_hops=network.next_hops[spine],
        slowed=network.up_links[spine, super_spine],
        slowest=min(rates),
        weighted=_left(network.pod_up_gbps[pod], lost_gbps, load),
        channel=(spine, super_spine) in network.channels,
    )


def _left(gbps: int, lost_gbps: int, load: float) -> float:
    """Rate of flows on links that have lost some of their bandwidth. load: of these links before."""
    return min(1.0, (gbps - lost_gbps) / gbps / load) if load else 1.0
