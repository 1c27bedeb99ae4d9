"""A fabric and its switches while their models are planned, with the topology of each switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.device.buffers import SwitchBuffers, switch_buffers
from railfab.device.interfaces import DEFAULT_INSTANCE, IpInterface
from railfab.device.plan_gateways import GatewayKey, switch_addresses
from railfab.device.routing import BfdTimers, BgpTimers
from railfab.intent import FabricIntent, Profile
from railfab.topology import TIERS, Bond, CabledPort, Gateway, Link, Net, Network, Node, Role, Summary, Topology
from railfab.topology.networks import access_networks
from railfab.topology.networks.management import VRF

Group = tuple[Net, int, Role, int]
"""Switches that connect to the same switches: network, plane, role and pod."""


def group_of(node: Node) -> Group:
    """The group of a switch: the spines of a pod and plane, the super-spines of a plane."""
    return node.net, node.plane, node.role, node.pod


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedConnection:
    """A port of a switch, the port at the other end, the node there, and the link between them."""

    port: CabledPort
    peer: CabledPort
    peer_node: Node
    link: Link

    @property
    def to_switch(self) -> bool:
        return bool(TIERS[self.peer_node.role])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedPool:
    """A pool, and the lengths of the prefixes from it that switches announce to each other: shortest and longest."""

    pool: Network
    shortest: int
    longest: int


@dataclass(frozen=True, kw_only=True)
class PlannedFabric:
    """A topology and its intent, with the parts of each switch and each network."""

    topology: Topology
    intent: FabricIntent

    @cached_property
    def gateways(self) -> Mapping[str, tuple[Gateway, ...]]:
        """The gateways of each switch."""
        by_switch: dict[str, list[Gateway]] = {}
        for gateway in self.topology.gateways:
            by_switch.setdefault(gateway.node, []).append(gateway)
        return {node: tuple(gateways) for node, gateways in by_switch.items()}

    @cached_property
    def switch_addresses(self) -> Mapping[GatewayKey, IpInterface]:
        """The address of each switch beside each of its anycast gateways."""
        return switch_addresses(self.topology)

    @cached_property
    def summaries(self) -> Mapping[str, tuple[Summary, ...]]:
        """The summaries of each switch that has any."""
        by_switch: dict[str, list[Summary]] = {}
        for summary in self.topology.summaries:
            by_switch.setdefault(summary.node, []).append(summary)
        return {node: tuple(summaries) for node, summaries in by_switch.items()}

    @cached_property
    def bonds(self) -> Mapping[tuple[str, int], Bond]:
        """The LAG of a host, by a switch that it connects to and its number there."""
        return {(switch, bond.bundle): bond for bond in self.topology.bonds for switch in bond.switches}

    @cached_property
    def first_of_group(self) -> Mapping[Group, Node]:
        """The switch with the lowest number in each group."""
        first: dict[Group, Node] = {}
        for node in self.topology.switches():
            first.setdefault(group_of(node), node)
        return first

    @cached_property
    def buffers(self) -> Mapping[str, SwitchBuffers]:
        """The buffer plan of each switch with a lossless class."""
        return {node.name: kind for kind in switch_buffers(self.topology, self.intent) for node in kind.switches}

    @cached_property
    def announced(self) -> Mapping[Net, tuple[AnnouncedPool, ...]]:
        """Loopbacks and prefixes of hosts of each network, which its switches announce to each other."""
        return {net: tuple(self._announced(net)) for net in {node.net for node in self.topology.switches()}}

    def _announced(self, net: Net) -> Iterator[AnnouncedPool]:
        loopbacks, hosts = self._pools(net)
        yield AnnouncedPool(pool=loopbacks, shortest=loopbacks.max_prefixlen, longest=loopbacks.max_prefixlen)
        nodes = self.topology.by_name
        networks = [gateway.subnet for gateway in self.topology.gateways if nodes[gateway.node].net is net]
        networks += [summary.prefix for summary in self.topology.summaries if nodes[summary.node].net is net]
        if self.overlaid(net):
            return
        lengths = {network.prefixlen for network in networks} or {hosts.max_prefixlen - 1}
        yield AnnouncedPool(pool=hosts, shortest=min(lengths), longest=max(lengths))

    def overlaid(self, net: Net) -> bool:
        """Whether hosts of a network are in VRFs of an overlay, which the underlay does not announce."""
        nodes = self.topology.by_name
        return any(
            gateway.tenant is not None and gateway.vni is not None
            for gateway in self.topology.gateways
            if nodes[gateway.node].net is net
        )

    def _pools(self, net: Net) -> tuple[Network, Network]:
        """The pools of loopbacks and hosts of a network."""
        if net is Net.BACKEND:
            assert self.topology.pools is not None
            return self.topology.pools.loopbacks, self.topology.pools.hosts
        pools = next(network.pools for network in access_networks(self.intent) if network.net is net)
        return pools.loopbacks, pools.members


@dataclass(frozen=True, kw_only=True)
class PlannedSwitch:
    """A switch of a fabric, for the functions that plan the parts of its model."""

    node: Node
    fabric: PlannedFabric

    @property
    def profile(self) -> Profile:
        return self.fabric.intent.profile

    @cached_property
    def timers(self) -> BgpTimers:
        """BGP timers of every session."""
        bgp = self.profile.bgp
        return BgpTimers(
            keepalive_s=bgp.keepalive_s,
            hold_s=bgp.hold_s,
            connect_retry_s=bgp.connect_retry_s,
            advertisement_interval_s=bgp.advertisement_interval_s,
        )

    @cached_property
    def bfd(self) -> BfdTimers | None:
        """BFD of every session over a link."""
        bfd = self.profile.bfd
        return BfdTimers(interval_ms=bfd.interval_ms, multiplier=bfd.multiplier) if bfd else None

    @cached_property
    def connections(self) -> tuple[PlannedConnection, ...]:
        """The front-panel ports in use, in their order; without the management port of the switch."""
        topology = self.fabric.topology
        return tuple(
            PlannedConnection(port=port, peer=peer, peer_node=topology.by_name[peer.node], link=link)
            for port, peer, link in topology.ports_of(self.node.name)
            if port.cage
        )

    @cached_property
    def lags(self) -> Mapping[int, tuple[PlannedConnection, ...]]:
        """The ports of each LAG, by its number."""
        by_number: dict[int, list[PlannedConnection]] = {}
        for connection in self.connections:
            if connection.port.bundle is not None:
                by_number.setdefault(connection.port.bundle, []).append(connection)
        return {number: tuple(members) for number, members in by_number.items()}

    @property
    def gateways(self) -> tuple[Gateway, ...]:
        return self.fabric.gateways.get(self.node.name, ())

    @cached_property
    def network_instance(self) -> str:
        """The network instance of the links of a switch; a VRF in the management network, where its intent has one."""
        management = self.fabric.intent.management
        in_vrf = self.node.net is Net.MANAGEMENT and management is not None and management.isolation == "vrf"
        return VRF if in_vrf else DEFAULT_INSTANCE

    @cached_property
    def peer_link(self) -> tuple[PlannedConnection, ...]:
        """The links to the other switch of an MLAG pair; none where they are routed."""
        if self.fabric.intent.hosts.attach != "mlag" or self.node.net is not Net.BACKEND:
            return ()
        return tuple(link for link in self.connections if link.to_switch and _same_tier(link.peer_node, self.node))


def _same_tier(a: Node, b: Node) -> bool:
    return TIERS[a.role] == TIERS[b.role]
