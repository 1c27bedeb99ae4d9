"""Attachment of hosts to rail switches: routed, in a VLAN per rail, or by a LAG to a pair of switches.

VLANs: rail r has first_vlan + r - 1 (and 100 more on the second of two switches without a LAG). Each rail switch, or
pair, has a prefix from the pool, by its number; the first address of a subnet is the gateway, the next ones are for
hosts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network

from railfab.intent import Subnets
from railfab.topology.addresses import width
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Bond, Gateway, Summary
from railfab.topology.rails import NicPort

FIRST_HOST_BUNDLE = 201
"""First number of the port channels of hosts; those between switches have lower numbers. None is above 1000, the most
that SR Linux has."""
PEER_BUNDLE = 200
VNI_BASE, VNIS_PER_LEAF = 10_000, 100


@dataclass(frozen=True, slots=True)
class RailLeaf:
    """A rail switch by its numbers, all from 1. switch: of its segment."""

    plane: int
    pod: int
    segment: int
    switch: int
    name: str


@dataclass(frozen=True)
class Attachment:
    """VLANs, subnets and LAGs of hosts that are not attached routed."""

    plan: Dimensions

    @cached_property
    def subnets(self) -> Subnets:
        return self.plan.intent.backend.subnets or Subnets()

    @cached_property
    def paired(self) -> bool:
        """Whether the ports of a NIC form one LAG to two switches."""
        return self.plan.intent.hosts.attach in ("mlag", "esi")

    @cached_property
    def rail_prefix(self) -> int:
        """Prefix length of a rail on a switch."""
        if self.subnets.rail_prefix:
            return self.subnets.rail_prefix
        rails = max(len(rails) for rails in self.plan.rails_of.values())
        return self.subnets.switch_prefix + (width(rails) if self.subnets.rails == "divide" else 0)

    @cached_property
    def rail_bits(self) -> int:
        """Bits that number the rails inside the prefix of a switch."""
        return self.rail_prefix - self.subnets.switch_prefix

    @cached_property
    def rail_bits_needed(self) -> int:
        return width(max(len(rails) for rails in self.plan.rails_of.values())) if self.subnets.rails == "divide" else 0

    @cached_property
    def pool_used(self) -> int:
        """Addresses of the pool up to the end of the prefix of the last switch."""
        backend = self.plan.intent.backend
        last = RailLeaf(backend.planes, backend.pods, backend.segments.count, backend.segments.rail_switches, "")
        first = 0 if self.subnets.rails == "own" else 1
        return (self.owner(last) + first) * self.stride

    @cached_property
    def stride(self) -> int:
        """Addresses between the prefixes of one switch and the next."""
        own = 1 << 32 - self.subnets.switch_prefix
        if self.subnets.rails == "divide":
            return own
        return own << width(max(len(rails) for rails in self.plan.rails_of.values()) + 1)

    def owner(self, leaf: RailLeaf) -> int:
        """Number of the switch, or pair, of a prefix: from 1, unique in the fabric."""
        plan, switches = self.plan, self.plan.segments.rail_switches
        size = 2 if self.paired else 1
        pods = (leaf.plane - 1) * plan.growth_pods + leaf.pod - 1
        in_pod = ((leaf.segment - 1) * switches + leaf.switch - 1) // size
        return (pods * plan.growth_leaves) // size + in_pod + 1

    def covering(self, leaf: RailLeaf) -> IPv4Network:
        """The prefix that a rail switch announces for all its rails."""
        return IPv4Network((self._base(leaf), 33 - self.stride.bit_length()))

    def _base(self, leaf: RailLeaf) -> int:
        first = 0 if self.subnets.rails == "own" else 1
        return int(self.subnets.pool.network_address) + (self.owner(leaf) - 1 + first) * self.stride

    def subnet(self, leaf: RailLeaf, block: int) -> IPv4Network:
        """The subnet of a rail of a switch. block: number of the rail on the switch, from 0."""
        if self.subnets.rails == "own":
            offset = (block + 1) << 32 - self.subnets.switch_prefix
        else:
            offset = block << 32 - self.rail_prefix
        return IPv4Network((self._base(leaf) + offset, self.rail_prefix))

    def vlan(self, rail: int, slot: int) -> int:
        """The VLAN of a rail. slot: number of the switch among those of the rail, from 0; a pair shares its VLANs."""
        return self.subnets.first_vlan + rail - 1 + (0 if self.paired else 100 * slot)

    def host_address(self, subnet: IPv4Network, host: int, turn: int) -> IPv4Interface:
        """The address of a host. turn: number among the ports of the NIC on the switch; a LAG has one address."""
        per_nic = 1 if self.paired else self.plan.links_per_nic_and_leaf
        number = int(subnet.network_address) + 2 + (host - 1) * per_nic + turn
        return IPv4Interface((number, subnet.prefixlen))

    def hosts_of_subnet(self) -> int:
        """Hosts that fit into the subnet of a rail, in addition to network, gateway and broadcast address."""
        per_nic = 1 if self.paired else self.plan.links_per_nic_and_leaf
        return ((1 << 32 - self.rail_prefix) - 3) // per_nic

    def vni(self, leaf: RailLeaf, block: int) -> int | None:
        if self.plan.intent.profile.data_plane != "vxlan":
            return None
        return VNI_BASE + self.owner(leaf) * VNIS_PER_LEAF + block

    def gateways(self, leaf: RailLeaf) -> Iterator[Gateway]:
        """One gateway per rail, the same on both switches of a pair."""
        slots = {port.rail: port.slot for port in self.plan.nic_ports if port.switch == leaf.switch}
        for block, rail in enumerate(self.plan.rails_of[leaf.switch]):
            subnet = self.subnet(leaf, block)
            yield Gateway(
                node=leaf.name,
                vlan=self.vlan(rail, slots[rail]),
                subnet=subnet,
                address=IPv4Interface((int(subnet.network_address) + 1, subnet.prefixlen)),
                rail=rail,
                anycast=self.paired,
                vni=self.vni(leaf, block),
            )

    def summary(self, leaf: RailLeaf) -> Summary | None:
        """The summary of all rails of a switch for spines; None with one rail, or without spines."""
        rails = self.plan.rails_of[leaf.switch]
        if self.plan.spines is None or len(rails) == 1:
            return None
        contributors = tuple(self.subnet(leaf, block) for block in range(len(rails)))
        return Summary(node=leaf.name, prefix=self.covering(leaf), contributors=contributors)

    def bundle(self, host: int, port: NicPort) -> int | None:
        """Number of the LAG of a host on both switches of its pair."""
        if not self.paired:
            return None
        return FIRST_HOST_BUNDLE + (host - 1) * len(self.plan.rails_of[port.switch]) + port.block

    def bonds(self, place: tuple[int, int, int], host_name: str, leaf_names: dict[int, str]) -> Iterator[Bond]:
        """The LAGs of a host. place: pod, segment and host. leaf_names: of the switches of its segment, plane 1."""
        pod, segment, host = place
        for port in self.plan.nic_ports:
            if port.slot:
                continue
            pair = tuple(other for other in self.plan.nic_ports if other.rail == port.rail)
            bundle = self.bundle(host, port)
            assert bundle is not None
            leaf = RailLeaf(1, pod, segment, port.switch, "")
            yield Bond(
                host=host_name,
                name=f"bond{port.rail}",
                ports=tuple(f"rail{other.rail}-p{other.port}" for other in pair),
                switches=tuple(leaf_names[other.switch] for other in pair),
                bundle=bundle,
                rail=port.rail,
                vlan=self.vlan(port.rail, 0),
                address=self.host_address(self.subnet(leaf, port.block), host, 0),
                esi=self._esi(place, port.rail),
            )

    def _esi(self, place: tuple[int, int, int], rail: int) -> str | None:
        """A type 0 Ethernet segment identifier (RFC 7432 section 5): pod, segment, host, rail."""
        if self.plan.intent.hosts.attach != "esi":
            return None
        pod, segment, host = place
        octets = (0, 0, pod >> 8, pod & 255, segment >> 8, segment & 255, host >> 8, host & 255, 0, rail)
        return ":".join(f"{octet:02x}" for octet in octets)
