"""The leaves and uplinks that the members of one network depend on, grouped to compute the effect of a failure quickly.

Members are counted in units: GPUs, hosts, storage servers or switches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from railfab.topology.links_by_tier import LinksByTier
from railfab.topology.model import Link, Net, Node, Role, Topology

Home = tuple[tuple[str, int], ...]
"""The leaves that a unit connects to, each with the total speed of its ports there [Gb/s]."""

Nic = tuple[str, int | None]
"""Node and rail; rail None: all ports of the node that are counted."""

Pod = tuple[int, int]
"""Plane and number of a pod."""

_ALL = 1 - 1e-9
"""A lost share above this is a loss of everything, apart from rounding."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of a failure: units that lose something; the sum of their lost shares; units that lose all.

    slowest: rate of the slowest of their flows, as a share of its rate before.
    """

    units: int = 0
    lost: float = 0.0
    cut_off: int = 0
    slowest: float = 1.0

    def __add__(self, other: Effect) -> Effect:
        return Effect(
            self.units + other.units,
            self.lost + other.lost,
            self.cut_off + other.cut_off,
            min(self.slowest, other.slowest),
        )


NO_EFFECT = Effect()


def loss(units: int, share: float) -> Effect:
    """The effect that a number of units lose this share each, evenly over their flows."""
    return Effect(units, units * share, units if share > _ALL else 0, 1 - share if units else 1.0)


@dataclass(frozen=True)
class Exposure:
    """The nodes and links of one network.

    members: the links of the units that are counted; of a rail on a node they form a NIC. access: all links of members
    to leaves. units_per_node: of members without rail. units_per_nic: of a NIC. needs_path: the units lose nothing
    while a path is left, whatever its bandwidth.
    """

    net: Net
    nodes: Mapping[str, Node]
    members: tuple[Link, ...]
    access: tuple[Link, ...]
    uplinks: tuple[Link, ...]
    peer_links: tuple[Link, ...]
    units_per_node: int
    units_per_nic: int
    needs_path: bool = False

    @cached_property
    def nics(self) -> Mapping[Nic, dict[str, int]]:
        """Bandwidth of each NIC to each leaf [Gb/s]."""
        found: dict[Nic, dict[str, int]] = {}
        for link in self.members:
            ports = found.setdefault((link.a.node, link.a.rail), {})
            ports[link.z.node] = ports.get(link.z.node, 0) + link.rate_gbps
        return found

    def units(self, nic: Nic) -> int:
        """Units that a NIC serves."""
        return self.units_per_node if nic[1] is None else self.units_per_nic

    @cached_property
    def homes(self) -> Mapping[Home, int]:
        """Number of units by the leaves that they connect to."""
        found: dict[Home, int] = {}
        for nic, ports in self.nics.items():
            home = tuple(ports.items())
            found[home] = found.get(home, 0) + self.units(nic)
        return found

    @cached_property
    def homes_on(self) -> Mapping[str, list[Home]]:
        found: dict[str, list[Home]] = {}
        for home in self.homes:
            for leaf, _ in home:
                found.setdefault(leaf, []).append(home)
        return found

    def behind(self, switch: str) -> int:
        """Number of units with a port on a leaf, or on a leaf below a spine."""
        leaves = (switch,) if switch in self.homes_on else self.below.get(switch, ())
        return sum(
            self.homes[home] for home in dict.fromkeys(home for leaf in leaves for home in self.homes_on.get(leaf, ()))
        )

    @cached_property
    def up(self) -> Mapping[str, dict[str, int]]:
        """Bandwidth of each switch to each switch above it [Gb/s]."""
        found: dict[str, dict[str, int]] = {}
        for link in self.uplinks:
            above = found.setdefault(link.a.node, {})
            above[link.z.node] = above.get(link.z.node, 0) + link.rate_gbps
        return found

    @cached_property
    def up_links(self) -> Mapping[tuple[str, str], int]:
        """Number of links between a switch and a switch above it; a port channel counts once."""
        found = Counter((link.a.node, link.z.node) for link in self.uplinks if link.a.bundle is None)
        return {**found, **dict.fromkeys(self.channels, 1)}

    @cached_property
    def channels(self) -> frozenset[tuple[str, str]]:
        """Pairs of a switch and a switch above it with a port channel."""
        return frozenset((link.a.node, link.z.node) for link in self.uplinks if link.a.bundle is not None)

    @cached_property
    def next_hops(self) -> Mapping[str, int]:
        """Number of equal next hops upwards of each switch."""
        found: Counter[str] = Counter()
        for (low, _), links in self.up_links.items():
            found[low] += links
        return found

    @cached_property
    def below(self) -> Mapping[str, dict[str, int]]:
        """Bandwidth of each switch to each switch below it [Gb/s]."""
        found: dict[str, dict[str, int]] = {}
        for low, above in self.up.items():
            for high, gbps in above.items():
                found.setdefault(high, {})[low] = gbps
        return found

    def pod_of(self, spine: str) -> Pod:
        node = self.nodes[spine]
        return node.plane, node.pod

    @cached_property
    def into_pod(self) -> Mapping[tuple[Pod, str], int]:
        """Bandwidth of each super-spine to the spines of each pod [Gb/s]."""
        found: Counter[tuple[Pod, str]] = Counter()
        for spine, above in self.up.items():
            if self.nodes[spine].role is Role.SPINE:
                for super_spine, gbps in above.items():
                    found[self.pod_of(spine), super_spine] += gbps
        return found

    @cached_property
    def pod_up_gbps(self) -> Mapping[Pod, int]:
        """Bandwidth of each pod to super-spines [Gb/s]."""
        found: Counter[Pod] = Counter()
        for (pod, _), gbps in self.into_pod.items():
            found[pod] += gbps
        return found

    @cached_property
    def down_gbps(self) -> Mapping[str, int]:
        """Downlink bandwidth of each switch [Gb/s]."""
        found: dict[str, int] = {}
        for links in (self.access, self.uplinks):
            for link in links:
                found[link.z.node] = found.get(link.z.node, 0) + link.rate_gbps
        return found

    @cached_property
    def up_gbps(self) -> Mapping[str, int]:
        return {name: sum(above.values()) for name, above in self.up.items()}

    def uplink_share(self, switch: str, lost_gbps: int = 0) -> float:
        """Share of the downlink bandwidth that the uplinks carry; all while there is one, if only a path is needed."""
        down, left = self.down_gbps.get(switch, 0), self.up_gbps.get(switch, 0) - lost_gbps
        if self.needs_path:
            return float(left > 0)
        return min(1.0, left / down) if down else 1.0

    def load(self, switch: str) -> float:
        """Load of the uplinks of a switch when all members send at the same time, as a share of their bandwidth."""
        return min(1.0, self.down_gbps.get(switch, 0) / self.up_gbps[switch])

    def lost_share(self, switch: str, lost_gbps: int) -> float:
        """Share of the upstream traffic of a switch that is lost with some of its uplinks."""
        before = self.uplink_share(switch)
        return 1 - self.uplink_share(switch, lost_gbps) / before if before else 0.0

    @cached_property
    def share_at_leaf(self) -> Mapping[str, float]:
        """Share of the host bandwidth that reaches each leaf: all."""
        return dict.fromkeys(self.homes_on, 1.0)

    @cached_property
    def share_at_spines(self) -> Mapping[str, float]:
        """Share of the host bandwidth of each leaf that reaches the spines."""
        return {leaf: self.uplink_share(leaf) for leaf in self.homes_on if leaf in self.up}

    @cached_property
    def spine_uplink_share(self) -> Mapping[str, float]:
        """Share of the upstream traffic of each leaf that its spines carry further up."""
        return {
            leaf: sum(
                gbps * self.uplink_share(spine) / self.up_gbps[leaf]
                for spine, gbps in self.up[leaf].items()
                if spine in self.up
            )
            for leaf in self.share_at_spines
        }

    @cached_property
    def share_at_super_spines(self) -> Mapping[str, float]:
        """Share of the host bandwidth of each leaf that reaches the super-spines."""
        return {leaf: worth * self.spine_uplink_share[leaf] for leaf, worth in self.share_at_spines.items()}

    def effect(self, falls: Mapping[str, float], worth: Mapping[str, float]) -> Effect:
        """The effect on units if leaves lose these shares of the bandwidth that reaches a tier (`worth`)."""
        hit = dict.fromkeys(home for leaf, fall in falls.items() if fall for home in self.homes_on.get(leaf, ()))
        effect = NO_EFFECT
        for home in hit:
            if whole := sum(gbps * worth.get(leaf, 0.0) for leaf, gbps in home):
                lost = sum(gbps * worth.get(leaf, 0.0) * falls.get(leaf, 0.0) for leaf, gbps in home)
                effect += loss(self.homes[home], lost / whole)
        return effect

    def evenly(self, falls: Mapping[str, float], worth: Mapping[str, float]) -> Effect:
        """The same; the flows of a leaf share its loss evenly, so the slowest is one of the leaf that loses most."""
        effect = self.effect(falls, worth)
        return replace(effect, slowest=1 - max(falls.values(), default=0.0)) if effect.units else effect

    def without_leaf(self, leaf: str) -> Effect:
        return self.effect({leaf: 1.0}, self.share_at_leaf)

    def without_uplinks(self, lost: Mapping[str, int]) -> Effect:
        """The effect if leaves lose this bandwidth of their uplinks [Gb/s]."""
        return self.evenly({leaf: self.lost_share(leaf, gbps) for leaf, gbps in lost.items()}, self.share_at_spines)

    def without_spine_uplinks(self, lost: Iterable[tuple[str, int]]) -> Effect:
        """The effect if spines of a pod lose this bandwidth of their uplinks [Gb/s]."""
        falls: dict[str, float] = {}
        for spine, lost_gbps in lost:
            fall = self.lost_share(spine, lost_gbps) * self.uplink_share(spine)
            for leaf, gbps in self.below.get(spine, {}).items():
                if leaf in self.spine_uplink_share:
                    share = gbps / self.up_gbps[leaf] / self.spine_uplink_share[leaf]
                    falls[leaf] = falls.get(leaf, 0.0) + fall * share
        return self.evenly(falls, self.share_at_super_spines)

    def spines_by_pod(self, super_spine: str) -> Iterator[tuple[tuple[str, int], ...]]:
        """The spines below a super-spine, each with its bandwidth to it [Gb/s], pod by pod."""
        pods: dict[int, list[tuple[str, int]]] = {}
        for spine, gbps in self.below.get(super_spine, {}).items():
            pods.setdefault(self.nodes[spine].pod, []).append((spine, gbps))
        return (tuple(spines) for spines in pods.values())


def exposure(net: Net, topology: Topology, found: LinksByTier) -> Exposure:
    """The nodes and links of one network: links whose upper end is a switch of the network. All members are counted."""
    nodes = topology.by_name
    switches = {name for name, node in nodes.items() if node.net is net}
    hosts, managed, uplinks, peer_links = (
        tuple(link for link in links if link.z.node in switches)
        for links in (found.hosts, found.managed, found.uplinks, found.peer_links)
    )
    access = (*hosts, *managed)
    return Exposure(net, nodes, access, access, uplinks, peer_links, units_per_node=1, units_per_nic=1)
