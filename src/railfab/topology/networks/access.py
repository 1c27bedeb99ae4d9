"""Access networks: the common structure of frontend, storage and management, with leaves for members, and spines.

A member (host, storage server, managed switch) connects to a group of leaves: a pair (1 and 2, 3 and 4, ...) if it has
several ports, else one leaf. Its position there depends only on its own numbers: segments follow each other, each with
ports for the largest number of its hosts, and members outside pods use a third of the ports from the end. The position
does not depend on the number of leaves, so one more leaf moves no cable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network
from math import ceil
from typing import NamedTuple

from railfab.intent import AccessLeaves, AccessSpines
from railfab.topology.catalogue import SwitchModel
from railfab.topology.dimensions import exact_uplinks
from railfab.topology.front_panel import Panel
from railfab.topology.model import Net
from railfab.topology.networks.pools import NetworkPools

FIRST_ASN = {Net.FRONTEND: 4_294_100_000, Net.STORAGE: 4_294_200_000, Net.MANAGEMENT: 4_294_300_000}
"""Private 4-byte AS numbers (RFC 6996), above those of any backend: the spines of a network have the first, leaf l has
l more."""

FIXED_CAGES, BOX_CAGES = 48, range(49, 64)
"""A switch with 48 cages and a few more uses only the few for uplinks: they have another form factor."""


class Place(NamedTuple):
    """Position of a member: group of leaves, and slot in the group, from the first or the last port; all from 0."""

    group: int
    slot: int


class Socket(NamedTuple):
    """An access port: number of the leaf, from 1, and of the access port on it, from 0."""

    leaf: int
    position: int


@dataclass(frozen=True, kw_only=True)
class AccessNetwork:
    """Frontend, storage or management.

    prefix: of the names of its switches. host_ports: the ports of a host. ratio: largest oversubscription of a full
    leaf. group: leaves per member. segment_members: slots (with as many links as a host has) reserved per segment.
    pod_members: slots reserved per pod in addition. segments: largest number per pod. spare_links: links of each member
    outside pods; 0 if there are none. max_without_spines: largest number of leaves without spines.
    """

    net: Net
    prefix: str
    host_ports: tuple[str, ...]
    rate_gbps: int
    ratio: float
    pool: IPv4Network
    leaves: AccessLeaves
    spines: AccessSpines | None
    models: Mapping[str, SwitchModel]
    group: int
    segment_members: int
    pod_members: int
    segments: int
    spare_links: int
    max_without_spines: int

    @property
    def key(self) -> str:
        """Its key in the intent."""
        return self.net.value

    @property
    def first_asn(self) -> int:
        """The AS number of the spines; leaf l has l more."""
        return FIRST_ASN[self.net]

    @property
    def leaf_model(self) -> SwitchModel:
        return self.models[self.leaves.model]

    @property
    def spine_model(self) -> SwitchModel | None:
        return self.models[self.spines.model] if self.spines else None

    def leaf_name(self, leaf: int) -> str:
        return f"{self.prefix}-leaf{leaf}"

    def spine_name(self, spine: int) -> str:
        return f"{self.prefix}-spine{spine}"

    @property
    def leaf_platform(self) -> str:
        return self.leaves.platform or self.leaf_model.platform

    @property
    def spine_platform(self) -> str | None:
        """None without spines."""
        return (self.spines.platform or self.models[self.spines.model].platform) if self.spines else None

    @cached_property
    def lanes(self) -> int:
        """Access ports per cage."""
        return self.leaf_model.lanes_for(self.rate_gbps) or 1

    @cached_property
    def uplink_lanes(self) -> int:
        """Uplinks per cage of a leaf: 1 if a cage supports the speed without breakout."""
        return _fabric_lanes(self.leaf_model, self.spines)

    @cached_property
    def spine_lanes(self) -> int:
        """Links to leaves per cage of a spine."""
        return _fabric_lanes(self.spine_model, self.spines) if self.spine_model else 1

    @cached_property
    def uplinks(self) -> int:
        """Uplinks per leaf, as stated."""
        return self.spines.count * self.spines.links_per_leaf if self.spines else 0

    @cached_property
    def uplink_room(self) -> int:
        """Uplinks per leaf that ports are reserved for: enough for a full leaf at the stated ratio."""
        if self.spines is None:
            return 0
        full = exact_uplinks(
            cages=self.leaf_model.cages,
            down_gbps=self.lanes * self.rate_gbps,
            up_gbps=self.spines.rate_gbps * self.ratio,
            up_lanes=self.uplink_lanes,
        )
        return max(self.uplinks, ceil(full / self.uplink_lanes) * self.uplink_lanes)

    @cached_property
    def access_ports(self) -> int:
        """Access ports per leaf."""
        cages = self.leaf_model.cages - -(-self.uplink_room // self.uplink_lanes)
        if self.leaf_model.cages in BOX_CAGES:
            cages = min(cages, FIXED_CAGES)
        return max(0, cages) * self.lanes

    @cached_property
    def slots(self) -> int:
        """Slots per group of leaves for members of pods and segments."""
        ports = self.group * self.access_ports
        return (ports - ports // 3 if self.spare_links else ports) // len(self.host_ports)

    @cached_property
    def spare_ports(self) -> int:
        """Access ports per group of leaves for members outside pods."""
        return (self.access_ports - -(-self.slots * len(self.host_ports) // self.group)) * self.group

    def member_number(self, pod: int, segment: int, member: int) -> int:
        """Number of a member of a segment among all reserved slots, from 0. pod, segment: from 1. member: from 0."""
        return self._pod_number(pod) + self.pod_members + (segment - 1) * self.segment_members + member

    def _pod_number(self, pod: int) -> int:
        return (pod - 1) * (self.pod_members + self.segments * self.segment_members)

    def place(self, pod: int, segment: int, member: int) -> Place:
        """Position of a member of a segment; hosts are its first members."""
        return Place(*divmod(self.member_number(pod, segment, member), self.slots))

    def pod_place(self, pod: int, member: int) -> Place:
        """Position of a member of a pod; these come before its segments."""
        return Place(*divmod(self._pod_number(pod) + member, self.slots))

    def spare_place(self, member: int) -> Place:
        """Position of a member outside pods. member: from 0."""
        return Place(*divmod(member, self.spare_ports // self.spare_links))

    def socket(self, place: Place, link: int) -> Socket:
        """The access port of a link (from 0) of a member: its links use the leaves of the group in turn."""
        return self._socket(place, len(self.host_ports), link)

    def _socket(self, place: Place, links: int, link: int) -> Socket:
        position, turn = divmod(place.slot * links + link, self.group)
        return Socket(place.group * self.group + turn + 1, position)

    def spare_socket(self, place: Place, link: int) -> Socket:
        """The access port of a link of a member outside pods: from the last access port downwards."""
        leaf, position = self._socket(place, self.spare_links, link)
        return Socket(leaf, self.access_ports - 1 - position)

    @cached_property
    def access_panel(self) -> Panel:
        return Panel(self.leaf_model, self.leaf_platform, self.lanes)

    @cached_property
    def uplink_panel(self) -> Panel:
        return Panel(self.leaf_model, self.leaf_platform, self.uplink_lanes)

    @cached_property
    def spine_panel(self) -> Panel:
        """The ports of a spine."""
        assert self.spine_model is not None
        assert self.spine_platform is not None
        return Panel(self.spine_model, self.spine_platform, self.spine_lanes)

    @cached_property
    def pools(self) -> NetworkPools:
        return NetworkPools(self.pool, access_ports=self.access_ports, uplinks=self.uplink_room)


def _fabric_lanes(model: SwitchModel, spines: AccessSpines | None) -> int:
    if spines is None or spines.rate_gbps in model.speeds_gbps:
        return 1
    return model.lanes_for(spines.rate_gbps) or 1
