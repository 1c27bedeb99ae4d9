"""The address plan. Every address is computed from the numbers of its node, so adding a node changes no address.

Small fabrics have the classic plan: rail r, pod p, leaf l, spine s: host links 10.(16+r).(16(p-1)+l-1).0/24 in /31s;
loopbacks 10.255.p.l (leaf) and 10.254.p.s (spine), 10.253.0.n (super-spine); numbered fabric links from 100.64.0.0/10.
All others have the wide plan: an address is a sequence of bit fields (plane, rail, pod, segment, NIC port, host), each
wide enough for the largest size of the fabric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Protocol

from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Address, Interface, Network, Pools, Role

CLASSIC_LEAVES, CLASSIC_PODS, CLASSIC_RAILS, CLASSIC_LINKS = 16, 16, 15, 128
"""Limits of the classic plan: leaves per pod if there may be several pods (a single pod may have 255 leaves), pods,
rails, and links of a rail per leaf."""
OCTET = 256
CLASSIC_POOLS = Pools(
    hosts=IPv4Network("10.16.0.0/12"),
    loopbacks=IPv4Network("10.254.0.0/15"),
    fabric_links=IPv4Network("100.64.0.0/10"),
)
CLASSIC_SUPER_POOLS = Pools(
    hosts=CLASSIC_POOLS.hosts, loopbacks=IPv4Network("10.252.0.0/14"), fabric_links=CLASSIC_POOLS.fabric_links
)
"""Pools with super-spines, whose loopbacks are below those of spines."""
WIDE_POOLS = Pools(
    hosts=IPv4Network("10.0.0.0/9"),
    loopbacks=IPv4Network("10.128.0.0/10"),
    fabric_links=IPv4Network("100.64.0.0/10"),
)
WIDE_POOLS_V6 = Pools(
    hosts=IPv6Network("fd00:10::/64"),
    loopbacks=IPv6Network("fd00:11::/64"),
    fabric_links=IPv6Network("fd00:12::/64"),
)
"""Unique local addresses (RFC 4193); a site that connects to others uses pools with random global identifiers."""

UPLINKS_PER_SWITCH = 64
LEAVES_PER_POD = 256
"""Uplinks per switch, and leaves per pod, in the numbering of fabric links in the classic plan."""


class AddressPlan(Protocol):
    """Interface of an address plan. Places count from 1, turns and indices from 0."""

    @property
    def pools(self) -> Pools: ...

    def host_base(self, place: RailSlot) -> int:
        """The first address of the first host link of a rail on a leaf; each further link adds 2, host by host."""

    def pair(self, even: int) -> tuple[Interface, Interface]:
        """Addresses of the lower and the upper end of a link, given the even address of the upper end."""

    def host_network(self, place: RailSlot) -> Network:
        """The prefix of all host links of a rail on a leaf."""

    def loopback(self, role: Role, switch: Switch) -> Address:
        """The loopback of a leaf, spine or super-spine."""

    def link_base(self, role: Role, switch: Switch) -> int:
        """The first address of the first uplink of a leaf or spine; each further uplink adds 2."""


@dataclass(frozen=True, slots=True)
class RailSlot:
    """A rail on a leaf. leaf: number in its pod. slot: number among the leaves of the rail in the segment, from 0."""

    plane: int
    rail: int
    pod: int
    segment: int
    leaf: int
    slot: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch by its numbers from 1; pod is 0 for a super-spine, index the number in pod and plane."""

    plane: int
    pod: int
    index: int


def address_plan(plan: Dimensions) -> AddressPlan:
    """The classic plan if the largest size of the fabric fits into it, else the wide plan."""
    return ClassicPlan(plan) if _is_classic(plan) else WidePlan(plan)


def _is_classic(plan: Dimensions) -> bool:
    profile = plan.intent.profile
    own = profile.addresses
    return (
        profile.family == "ipv4"
        and (own.hosts or own.loopbacks or own.fabric_links) is None
        and plan.intent.backend.planes == 1
        and plan.intent.hosts.nics <= CLASSIC_RAILS
        and (plan.spines is None or plan.spines.count < OCTET)
        and (plan.supers is None or plan.supers.count < OCTET)
        and plan.growth_pods <= CLASSIC_PODS
        and plan.growth_leaves <= (CLASSIC_LEAVES if plan.growth_pods > 1 else OCTET - 1)
        and plan.growth_hosts * plan.links_per_nic_and_leaf <= CLASSIC_LINKS
        and _numbered_uplinks(plan) <= UPLINKS_PER_SWITCH
    )


def _numbered_uplinks(plan: Dimensions) -> int:
    """Uplinks per switch that need addresses."""
    return max(plan.uplinks, plan.spine_uplinks) if plan.intent.profile.underlay == "numbered" else 0


@dataclass(frozen=True)
class ClassicPlan:
    """Address plan of small fabrics: pod and leaf are readable as octets."""

    plan: Dimensions

    @cached_property
    def pools(self) -> Pools:
        return CLASSIC_SUPER_POOLS if self.plan.supers else CLASSIC_POOLS

    def host_base(self, place: RailSlot) -> int:
        return int(self.host_network(place).network_address)

    def pair(self, even: int) -> tuple[Interface, Interface]:
        return _pair_v4(even)

    def host_network(self, place: RailSlot) -> IPv4Network:
        return IPv4Network(f"10.{16 + place.rail}.{CLASSIC_LEAVES * (place.pod - 1) + place.leaf - 1}.0/24")

    def loopback(self, role: Role, switch: Switch) -> IPv4Address:
        octet = {Role.LEAF: 255, Role.SPINE: 254, Role.SUPER: 253}[role]
        return IPv4Address((10 << 24) + (octet << 16) + (switch.pod << 8) + switch.index)

    def link_base(self, role: Role, switch: Switch) -> int:
        offset = ((switch.pod - 1) * LEAVES_PER_POD + switch.index - 1) * UPLINKS_PER_SWITCH * 2
        if role is Role.SPINE:
            offset += CLASSIC_POOLS.fabric_links.num_addresses // 2
        return int(CLASSIC_POOLS.fabric_links.network_address) + offset


def _pair_v4(even: int) -> tuple[IPv4Interface, IPv4Interface]:
    """Both ends of a /31 (RFC 3021): odd, even. They share one network object, whose creation is slow."""
    lower, upper = IPv4Interface.__new__(IPv4Interface), IPv4Interface((even, 31))
    IPv4Address.__init__(lower, even + 1)
    vars(lower).update(vars(upper))
    return lower, upper


def _pair_v6(even: int) -> tuple[IPv6Interface, IPv6Interface]:
    """Both ends of a /127 (RFC 6164): odd, even."""
    return IPv6Interface((even + 1, 127)), IPv6Interface((even, 127))


@dataclass(frozen=True)
class Fields:
    """Consecutive bit fields after a prefix. widths: of each field, the most significant first [bits]."""

    pool: Network
    widths: tuple[int, ...]

    @property
    def bits(self) -> int:
        return sum(self.widths)

    def number(self, values: Sequence[int]) -> int:
        """The address with these values in its fields."""
        number = 0
        for value, width in zip(values, self.widths, strict=True):
            number = number << width | value
        return int(self.pool.network_address) + number

    def fits(self) -> bool:
        return self.bits <= self.pool.max_prefixlen - self.pool.prefixlen


def width(count: int) -> int:
    """Bits that hold the numbers 0 to count - 1."""
    return max(0, count - 1).bit_length()


@dataclass(frozen=True)
class WidePlan:
    """Address plan of large fabrics, of planes, of IPv6, and of pools in the intent."""

    plan: Dimensions

    @cached_property
    def pools(self) -> Pools:
        default = WIDE_POOLS_V6 if self.plan.intent.profile.family == "ipv6" else WIDE_POOLS
        own = self.plan.intent.profile.addresses
        return Pools(
            hosts=own.hosts or default.hosts,
            loopbacks=own.loopbacks or default.loopbacks,
            fabric_links=own.fabric_links or default.fabric_links,
        )

    @cached_property
    def host_fields(self) -> Fields:
        """plane, rail, pod, segment, slot of the leaf, port of the NIC there, host, end of the link"""
        plan = self.plan
        return Fields(
            self.pools.hosts,
            (
                width(plan.intent.backend.planes),
                width(plan.intent.hosts.nics),
                width(plan.growth_pods),
                width(plan.growth_segments),
                width(max(port.slot for port in plan.nic_ports) + 1),
                width(plan.growth_hosts) + width(plan.links_per_nic_and_leaf),
                1,
            ),
        )

    @cached_property
    def loopback_fields(self) -> Fields:
        """tier, plane, pod, index"""
        plan = self.plan
        spines = plan.spines.count if plan.spines else 0
        supers = plan.supers.count if plan.supers else 0
        pods = width(plan.growth_pods + 1)
        index = max(width(max(plan.growth_leaves, spines) + 1), width(supers + 1) - pods)
        return Fields(self.pools.loopbacks, (2, width(plan.intent.backend.planes), pods, index))

    @cached_property
    def link_fields(self) -> Fields:
        """tier, plane, pod, switch, uplink, end of the link"""
        plan = self.plan
        spines = plan.spines.count if plan.spines else 0
        return Fields(
            self.pools.fabric_links,
            (
                1 if plan.supers else 0,
                width(plan.intent.backend.planes),
                width(plan.growth_pods),
                width(max(plan.growth_leaves, spines)),
                width(max(plan.uplinks, plan.spine_uplinks)),
                1,
            ),
        )

    def host_base(self, place: RailSlot) -> int:
        fields = (place.plane - 1, place.rail - 1, place.pod - 1, place.segment - 1, place.slot, 0, 0)
        return self.host_fields.number(fields)

    def host_network(self, place: RailSlot) -> Network:
        length = self.pools.hosts.max_prefixlen - sum(self.host_fields.widths[-2:])
        return type(self.pools.hosts)((self.host_base(place), length))

    def loopback(self, role: Role, switch: Switch) -> Address:
        tier = {Role.LEAF: 0, Role.SPINE: 1, Role.SUPER: 2}[role]
        *_, indices = self.loopback_fields.widths
        pod, index = switch.pod, switch.index
        if role is Role.SUPER:
            pod, index = index >> indices, index & (1 << indices) - 1
        return self._address(self.loopback_fields.number((tier, switch.plane - 1, pod, index)))

    def link_base(self, role: Role, switch: Switch) -> int:
        tier = 1 if role is Role.SPINE else 0
        return self.link_fields.number((tier, switch.plane - 1, switch.pod - 1, switch.index - 1, 0, 0))

    def pair(self, even: int) -> tuple[Interface, Interface]:
        return _pair_v4(even) if isinstance(self.pools.hosts, IPv4Network) else _pair_v6(even)

    def _address(self, number: int) -> Address:
        return IPv4Address(number) if isinstance(self.pools.loopbacks, IPv4Network) else IPv6Address(number)
