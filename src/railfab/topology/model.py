"""The topology of a cluster: nodes, ports and links with their addresses and AS numbers, as frozen dataclasses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import NamedTuple

from railfab.topology.catalogue import SwitchModel

Address = IPv4Address | IPv6Address
Interface = IPv4Interface | IPv6Interface
Network = IPv4Network | IPv6Network


class Net(StrEnum):
    """The networks of a cluster that have switches."""

    BACKEND = "backend"
    FRONTEND = "frontend"
    STORAGE = "storage"
    MANAGEMENT = "management"


class Role(StrEnum):
    HOST = "host"
    SERVER = "server"
    """A storage server."""
    LEAF = "leaf"
    SPINE = "spine"
    SUPER = "super"


TIERS = {Role.HOST: 0, Role.SERVER: 0, Role.LEAF: 1, Role.SPINE: 2, Role.SUPER: 3}
"""Tier of each role: a link connects a lower tier to a higher one, or two switches of a pair."""


class LinkKind(StrEnum):
    """The role of a switch port by its peer; the label `link` of `fabric_interface_info`."""

    HOST = "host"
    UPLINK = "uplink"
    DOWNLINK = "downlink"
    PEER = "peer"
    """The other switch of an MLAG or ESI pair."""


PortKey = tuple[str, str]
"""Node and interface: the key of a port of a fabric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabledPort:
    """One end of a link.

    name: canonical interface name on its platform (`ethernet-1/1/1`, `swp1`); on a host `rail1-p0`.
    cage: front-panel position on a switch, from 1; 0 on a host.
    lane: breakout position in the cage, from 1; None when the cage is not broken out.
    rail: the rail this port serves, from 1; None between switches and on other networks.
    address: None on an unnumbered port, on a switch port in a VLAN (see Gateway) and on a port of a bundle (see Bond).
    vlan: the access VLAN of a switch port.
    bundle: LAG number on this node; None for a link outside LAGs.
    """

    node: str
    name: str
    cage: int
    lane: int | None
    rate_gbps: int
    rail: int | None
    address: Interface | None
    vlan: int | None = None
    bundle: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A cable. a is the lower end: host before leaf, leaf before spine, spine before super-spine."""

    a: CabledPort
    z: CabledPort
    rate_gbps: int
    cable_m: float

    def ends(self) -> tuple[tuple[CabledPort, CabledPort], tuple[CabledPort, CabledPort]]:
        """Each end with its peer."""
        return (self.a, self.z), (self.z, self.a)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakout:
    """A cage split into `lanes` ports of `rate_gbps` each. cage_name: name of the parent interface."""

    cage_name: str
    lanes: int
    rate_gbps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A host, a storage server or a switch. pod, segment, plane and index count from 1; segment is None above leaves,
    pod is 0 for super-spines and for switches of other networks.

    platform, model, asn and loopback are None on a host. reflector: a BGP route reflector (route server with eBGP).
    vtep: source address of VXLAN, with an overlay. pcie_gbps: what the PCIe of each NIC of a host carries [Gb/s]; None
    where it limits none.
    """

    name: str
    role: Role
    pod: int
    segment: int | None
    index: int
    platform: str | None = None
    model: str | None = None
    asn: int | None = None
    loopback: Address | None = None
    breakouts: tuple[Breakout, ...] = ()
    net: Net = Net.BACKEND
    plane: int = 1
    reflector: bool = False
    vtep: Address | None = None
    pcie_gbps: float | None = None

    @property
    def is_switch(self) -> bool:
        return bool(TIERS[self.role])

    @property
    def router_id(self) -> IPv4Address | None:
        """The BGP identifier of 32 bits (RFC 6286): the loopback, or the low 32 bits of an IPv6 loopback."""
        return None if self.loopback is None else IPv4Address(int(self.loopback) & 0xFFFF_FFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The address of a switch in a VLAN. anycast: the other switch of a pair has the same one. vni: with an overlay.

    tenant: its VRF; None for the default VRF.
    """

    node: str
    vlan: int
    subnet: Network
    address: Interface
    rail: int | None = None
    anycast: bool = False
    vni: int | None = None
    tenant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A prefix that a switch announces instead of its contributors; withdrawn when it has no route to any of them.

    contributors: empty for all host links inside it.
    """

    node: str
    prefix: Network
    contributors: tuple[Network, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """The LAG of a host: ports by name, to one switch or to a pair. esi: its Ethernet segment with EVPN multihoming."""

    host: str
    name: str
    ports: tuple[str, ...]
    switches: tuple[str, ...]
    bundle: int
    rail: int | None
    vlan: int | None
    address: Interface | None
    esi: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The address pools of the backend, which routing policies accept."""

    hosts: Network
    loopbacks: Network
    fabric_links: Network


class PortGroup(NamedTuple):
    """Front-panel ports of a switch that have the same tier of peer, speed and cable length."""

    peer_tier: int
    rate_gbps: int
    cable_m: float
    ports: int


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A wired cluster. nodes: hosts, then leaves, spines and super-spines, plane by plane, in the order of the numbers
    in their names; then the other networks. models: the switch models that the nodes use."""

    fabric: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    models: Mapping[str, SwitchModel] = field(default_factory=dict)
    pools: Pools | None = None
    gateways: tuple[Gateway, ...] = ()
    summaries: tuple[Summary, ...] = ()
    bonds: tuple[Bond, ...] = ()

    def switches(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_switch)

    def hosts(self) -> tuple[Node, ...]:
        """The GPU servers."""
        return tuple(node for node in self.nodes if node.role is Role.HOST)

    def manages_switch(self, link: Link) -> bool:
        """Whether a cable connects the management port of a switch."""
        return any(not port.cage and self.node(port.node).is_switch for port in (link.a, link.z))

    def node(self, name: str) -> Node:
        return self.by_name[name]

    def model_of(self, node: Node) -> SwitchModel:
        """The switch model of a switch."""
        assert node.model is not None
        return self.models[node.model]

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def by_loopback(self) -> Mapping[Address, Node]:
        """The switches that have a loopback, by its address."""
        return {node.loopback: node for node in self.switches() if node.loopback is not None}

    def ports(self) -> Iterator[tuple[CabledPort, CabledPort, Link]]:
        """Every port of the fabric: the port, its peer, and the link between them."""
        for link in self.links:
            yield link.a, link.z, link
            yield link.z, link.a, link

    def ports_of(self, node: str) -> tuple[tuple[CabledPort, CabledPort, Link], ...]:
        """The ports of one node, in front-panel order, each with its peer and link."""
        return self._ports_by_node.get(node, ())

    @cached_property
    def port_groups(self) -> Mapping[str, tuple[PortGroup, ...]]:
        """The front-panel ports of each switch in groups, by peer, speed and length; not those for its management."""
        tiers = {node.name: TIERS[node.role] for node in self.nodes}
        counts: Counter[tuple[str, int, int, float]] = Counter()
        for link in self.links:
            a, z = link.a, link.z
            low, high = tiers[a.node], tiers[z.node]
            if z.cage:
                counts[z.node, low, link.rate_gbps, link.cable_m] += 1
            if low and a.cage:
                counts[a.node, high, link.rate_gbps, link.cable_m] += 1
        groups: dict[str, list[PortGroup]] = {}
        for (node, tier, rate_gbps, cable_m), ports in counts.items():
            groups.setdefault(node, []).append(PortGroup(tier, rate_gbps, cable_m, ports))
        return {node: tuple(sorted(found)) for node, found in groups.items()}

    def longest_path(self, net: Net) -> tuple[tuple[float, int], ...]:
        """The links between two hosts of a network that are as far apart as possible, from one to the other.

        Each has the longest cable [m] and the lowest speed [Gb/s] of its tier. A link that joins a pair of the highest
        tier is on it, since traffic takes it after a failure.
        """
        kinds = {(TIERS[node.role], self.port_groups.get(node.name, ())) for node in self.switches() if node.net is net}
        worst: dict[tuple[int, bool], tuple[float, int]] = {}
        for tier, groups in kinds:
            for group in groups:
                if group.peer_tier <= tier:
                    place = tier, group.peer_tier == tier
                    cable_m, rate_gbps = worst.get(place, (group.cable_m, group.rate_gbps))
                    worst[place] = max(cable_m, group.cable_m), min(rate_gbps, group.rate_gbps)
        up = [worst[place] for place in sorted(worst) if not place[1]]
        across = [worst[place] for place in worst if place == (len(up), True)]
        return (*up, *across, *reversed(up))

    @cached_property
    def _ports_by_node(self) -> Mapping[str, tuple[tuple[CabledPort, CabledPort, Link], ...]]:
        by_node: dict[str, list[tuple[CabledPort, CabledPort, Link]]] = {node.name: [] for node in self.nodes}
        for connected in self.ports():
            by_node[connected[0].node].append(connected)
        return {
            name: tuple(sorted(ports, key=lambda entry: (entry[0].cage, entry[0].lane or 0, entry[0].name)))
            for name, ports in by_node.items()
        }


def link_network(a: Node, z: Node) -> Net:
    """The network of a cable between two nodes: management for a link to a management switch, else that of node z."""
    return Net.MANAGEMENT if a.net is Net.MANAGEMENT else z.net


def link_kind(role: Role, peer_role: Role) -> LinkKind:
    """The kind of link on a port of a switch, by its role and the role of the peer."""
    tier, peer_tier = TIERS[role], TIERS[peer_role]
    if peer_tier == 0:
        return LinkKind.HOST
    if peer_tier == tier:
        return LinkKind.PEER
    return LinkKind.UPLINK if peer_tier > tier else LinkKind.DOWNLINK
