"""The leaves and uplinks that the GPUs of one network depend on, grouped to compute the effect of a failure quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.topology.links_by_tier import LinksByTier
from railfab.topology.model import Link, Net, Node, Role, Topology

Home = tuple[tuple[str, int], ...]
"""The leaves that a GPU connects to, each with the total speed of its ports there [Gb/s]."""

Nic = tuple[str, int | None]
"""Host and rail; rail None: all ports of the host in this network."""

_ALL = 1 - 1e-9
"""A lost share above this is a loss of everything, apart from rounding."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of a failure: GPUs that lose bandwidth; the sum of their lost shares; GPUs that lose all."""

    gpus: int = 0
    lost: float = 0.0
    cut_off: int = 0

    def __add__(self, other: Effect) -> Effect:
        return Effect(self.gpus + other.gpus, self.lost + other.lost, self.cut_off + other.cut_off)


NO_EFFECT = Effect()


def loss(gpus: int, share: float) -> Effect:
    """The effect that a number of GPUs lose this share each."""
    return Effect(gpus, gpus * share, gpus if share > _ALL else 0)


@dataclass(frozen=True)
class Exposure:
    """The nodes and links of one network. The ports of a rail on a host form a NIC, which serves gpus_per_nic GPUs."""

    net: Net
    nodes: Mapping[str, Node]
    hosts: tuple[Link, ...]
    managed: tuple[Link, ...]
    uplinks: tuple[Link, ...]
    peer_links: tuple[Link, ...]
    gpus_per_host: int
    gpus_per_nic: int

    @cached_property
    def nics(self) -> Mapping[Nic, dict[str, int]]:
        """Bandwidth of each NIC to each leaf [Gb/s]."""
        servers = {name for name, node in self.nodes.items() if node.role is Role.SERVER}
        found: dict[Nic, dict[str, int]] = {}
        for link in self.hosts:
            if link.a.node not in servers:
                ports = found.setdefault((link.a.node, link.a.rail), {})
                ports[link.z.node] = ports.get(link.z.node, 0) + link.rate_gbps
        return found

    def gpus(self, nic: Nic) -> int:
        """GPUs that a NIC serves."""
        return self.gpus_per_host if nic[1] is None else self.gpus_per_nic

    @cached_property
    def homes(self) -> Mapping[Home, int]:
        """Number of GPUs by the leaves that they connect to."""
        found: dict[Home, int] = {}
        for nic, ports in self.nics.items():
            home = tuple(ports.items())
            found[home] = found.get(home, 0) + self.gpus(nic)
        return found

    @cached_property
    def homes_on(self) -> Mapping[str, list[Home]]:
        found: dict[str, list[Home]] = {}
        for home in self.homes:
            for leaf, _ in home:
                found.setdefault(leaf, []).append(home)
        return found

    @cached_property
    def up(self) -> Mapping[str, dict[str, int]]:
        """Bandwidth of each switch to each switch above it [Gb/s]."""
        found: dict[str, dict[str, int]] = {}
        for link in self.uplinks:
            above = found.setdefault(link.a.node, {})
            above[link.z.node] = above.get(link.z.node, 0) + link.rate_gbps
        return found

    @cached_property
    def below(self) -> Mapping[str, dict[str, int]]:
        """Bandwidth of each switch to each switch below it [Gb/s]."""
        found: dict[str, dict[str, int]] = {}
        for low, above in self.up.items():
            for high, gbps in above.items():
                found.setdefault(high, {})[low] = gbps
        return found

    @cached_property
    def down_gbps(self) -> Mapping[str, int]:
        """Downlink bandwidth of each switch [Gb/s]."""
        found: dict[str, int] = {}
        for links in (self.hosts, self.managed, self.uplinks):
            for link in links:
                found[link.z.node] = found.get(link.z.node, 0) + link.rate_gbps
        return found

    @cached_property
    def up_gbps(self) -> Mapping[str, int]:
        return {name: sum(above.values()) for name, above in self.up.items()}

    def uplink_share(self, switch: str, lost_gbps: int = 0) -> float:
        """Share of the downlink bandwidth that the uplinks carry."""
        down = self.down_gbps.get(switch, 0)
        return min(1.0, (self.up_gbps.get(switch, 0) - lost_gbps) / down) if down else 1.0

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
        """The effect on GPUs if leaves lose these shares of the bandwidth that reaches a tier (`worth`)."""
        hit = dict.fromkeys(home for leaf, fall in falls.items() if fall for home in self.homes_on.get(leaf, ()))
        effect = NO_EFFECT
        for home in hit:
            if whole := sum(gbps * worth.get(leaf, 0.0) for leaf, gbps in home):
                lost = sum(gbps * worth.get(leaf, 0.0) * falls.get(leaf, 0.0) for leaf, gbps in home)
                effect += loss(self.homes[home], lost / whole)
        return effect

    def without_leaf(self, leaf: str) -> Effect:
        return self.effect({leaf: 1.0}, self.share_at_leaf)

    def without_uplinks(self, lost: Mapping[str, int]) -> Effect:
        """The effect if leaves lose this bandwidth of their uplinks [Gb/s]."""
        return self.effect({leaf: self.lost_share(leaf, gbps) for leaf, gbps in lost.items()}, self.share_at_spines)

    def without_spine_uplinks(self, lost: Iterable[tuple[str, int]]) -> Effect:
        """The effect if spines of a pod lose this bandwidth of their uplinks [Gb/s]."""
        falls: dict[str, float] = {}
        for spine, lost_gbps in lost:
            fall = self.lost_share(spine, lost_gbps) * self.uplink_share(spine)
            for leaf, gbps in self.below.get(spine, {}).items():
                if leaf in self.spine_uplink_share:
                    share = gbps / self.up_gbps[leaf] / self.spine_uplink_share[leaf]
                    falls[leaf] = falls.get(leaf, 0.0) + fall * share
        return self.effect(falls, self.share_at_super_spines)

    def spines_by_pod(self, super_spine: str) -> Iterator[tuple[tuple[str, int], ...]]:
        """The spines below a super-spine, each with its bandwidth to it [Gb/s], pod by pod."""
        pods: dict[int, list[tuple[str, int]]] = {}
        for spine, gbps in self.below.get(super_spine, {}).items():
            pods.setdefault(self.nodes[spine].pod, []).append((spine, gbps))
        return (tuple(spines) for spines in pods.values())


def exposure(net: Net, topology: Topology, found: LinksByTier, *, gpus_per_host: int, gpus_per_nic: int) -> Exposure:
    """The nodes and links of one network: links whose upper end is a switch of the network."""
    nodes = topology.by_name
    members = {name for name, node in nodes.items() if node.net is net}
    hosts, managed, uplinks, peer_links = (
        tuple(link for link in links if link.z.node in members)
        for links in (found.hosts, found.managed, found.uplinks, found.peer_links)
    )
    return Exposure(net, nodes, hosts, managed, uplinks, peer_links, gpus_per_host, gpus_per_nic)
