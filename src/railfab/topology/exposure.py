"""What the GPUs of one network hang on, summed up so that a failure's cost is found without going through every GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.topology.model import Link, Net, Node, Role, Topology
from railfab.topology.sorted_links import SortedLinks

Home = tuple[tuple[str, int], ...]
"""Leaves that serve a GPU, each with what its ports there run at [Gb/s]."""

Nic = tuple[str, int | None]
"""Host and rail; rail None: all ports of the host in this network together."""

_ALL = 1 - 1e-9
"""A share from which on it is all: no link is so small a part of what a GPU has."""


@dataclass(frozen=True, slots=True)
class Effect:
    """GPUs that lose something; the sum of their lost shares; GPUs that lose all."""

    gpus: int = 0
    lost: float = 0.0
    cut_off: int = 0

    def __add__(self, other: Effect) -> Effect:
        return Effect(self.gpus + other.gpus, self.lost + other.lost, self.cut_off + other.cut_off)


NOTHING = Effect()


def loss(gpus: int, share: float) -> Effect:
    """So many GPUs lose this share each."""
    return Effect(gpus, gpus * share, gpus if share > _ALL else 0)


@dataclass(frozen=True)
class Exposure:
    """The nodes and links of one network. A rail's ports on a host are a NIC's, and serve gpus_per_nic GPUs."""

    net: Net
    nodes: Mapping[str, Node]
    hosts: tuple[Link, ...]
    managed: tuple[Link, ...]
    rising: tuple[Link, ...]
    level: tuple[Link, ...]
    gpus_per_host: int
    gpus_per_nic: int

    @cached_property
    def nics(self) -> Mapping[Nic, dict[str, int]]:
        """What each NIC has on each leaf [Gb/s]."""
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
        """GPUs by the leaves that serve them."""
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
        """What each switch has towards each switch above it [Gb/s]."""
        found: dict[str, dict[str, int]] = {}
        for link in self.rising:
            above = found.setdefault(link.a.node, {})
            above[link.z.node] = above.get(link.z.node, 0) + link.rate_gbps
        return found

    @cached_property
    def below(self) -> Mapping[str, dict[str, int]]:
        """What each switch has towards each switch below it [Gb/s]."""
        found: dict[str, dict[str, int]] = {}
        for low, above in self.up.items():
            for high, gbps in above.items():
                found.setdefault(high, {})[low] = gbps
        return found

    @cached_property
    def down_gbps(self) -> Mapping[str, int]:
        """What each switch takes in from below."""
        found: dict[str, int] = {}
        for links in (self.hosts, self.managed, self.rising):
            for link in links:
                found[link.z.node] = found.get(link.z.node, 0) + link.rate_gbps
        return found

    @cached_property
    def up_gbps(self) -> Mapping[str, int]:
        return {name: sum(above.values()) for name, above in self.up.items()}

    def handed_up(self, switch: str, lost_gbps: int = 0) -> float:
        """Share of what comes from below that the uplinks carry."""
        down = self.down_gbps.get(switch, 0)
        return min(1.0, (self.up_gbps.get(switch, 0) - lost_gbps) / down) if down else 1.0

    def fall(self, switch: str, lost_gbps: int) -> float:
        """Share of what a switch handed up that is lost with some of its uplinks."""
        before = self.handed_up(switch)
        return 1 - self.handed_up(switch, lost_gbps) / before if before else 0.0

    @cached_property
    def worth_here(self) -> Mapping[str, float]:
        """Share of a leaf's host bandwidth that gets to the leaf: all."""
        return dict.fromkeys(self.homes_on, 1.0)

    @cached_property
    def worth_beyond_leaf(self) -> Mapping[str, float]:
        """Share of a leaf's host bandwidth that gets to the spines."""
        return {leaf: self.handed_up(leaf) for leaf in self.homes_on if leaf in self.up}

    @cached_property
    def handed_on(self) -> Mapping[str, float]:
        """Share of what a leaf hands up that its spines hand up in turn."""
        return {
            leaf: sum(
                gbps * self.handed_up(spine) / self.up_gbps[leaf]
                for spine, gbps in self.up[leaf].items()
                if spine in self.up
            )
            for leaf in self.worth_beyond_leaf
        }

    @cached_property
    def worth_beyond_pod(self) -> Mapping[str, float]:
        """Share of a leaf's host bandwidth that gets to the super-spines."""
        return {leaf: worth * self.handed_on[leaf] for leaf, worth in self.worth_beyond_leaf.items()}

    def effect(self, falls: Mapping[str, float], worth: Mapping[str, float]) -> Effect:
        """What it costs GPUs that leaves lose these shares of what they are worth to them."""
        hit = dict.fromkeys(home for leaf, fall in falls.items() if fall for home in self.homes_on.get(leaf, ()))
        effect = NOTHING
        for home in hit:
            if whole := sum(gbps * worth.get(leaf, 0.0) for leaf, gbps in home):
                lost = sum(gbps * worth.get(leaf, 0.0) * falls.get(leaf, 0.0) for leaf, gbps in home)
                effect += loss(self.homes[home], lost / whole)
        return effect

    def without_leaf(self, leaf: str) -> Effect:
        return self.effect({leaf: 1.0}, self.worth_here)

    def without_uplinks(self, lost: Mapping[str, int]) -> Effect:
        """Leaves lose so much of their uplinks [Gb/s]."""
        return self.effect({leaf: self.fall(leaf, gbps) for leaf, gbps in lost.items()}, self.worth_beyond_leaf)

    def without_spine_uplinks(self, lost: Iterable[tuple[str, int]]) -> Effect:
        """Spines of a pod lose so much of their uplinks [Gb/s]."""
        falls: dict[str, float] = {}
        for spine, lost_gbps in lost:
            fall = self.fall(spine, lost_gbps) * self.handed_up(spine)
            for leaf, gbps in self.below.get(spine, {}).items():
                if leaf in self.handed_on:
                    share = gbps / self.up_gbps[leaf] / self.handed_on[leaf]
                    falls[leaf] = falls.get(leaf, 0.0) + fall * share
        return self.effect(falls, self.worth_beyond_pod)

    def spines_by_pod(self, super_spine: str) -> Iterator[tuple[tuple[str, int], ...]]:
        """The spines below a super-spine, with what each has there [Gb/s], pod by pod."""
        pods: dict[int, list[tuple[str, int]]] = {}
        for spine, gbps in self.below.get(super_spine, {}).items():
            pods.setdefault(self.nodes[spine].pod, []).append((spine, gbps))
        return (tuple(spines) for spines in pods.values())


def exposure(net: Net, topology: Topology, found: SortedLinks, *, gpus_per_host: int, gpus_per_nic: int) -> Exposure:
    """One network of a topology: the links whose upper end is a switch of it."""
    nodes = topology.by_name
    mine = {name for name, node in nodes.items() if node.net is net}
    hosts, managed, rising, level = (
        tuple(link for link in links if link.z.node in mine)
        for links in (found.hosts, found.managed, found.rising, found.level)
    )
    return Exposure(net, nodes, hosts, managed, rising, level, gpus_per_host, gpus_per_nic)
