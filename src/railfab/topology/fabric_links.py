"""The links between switches: rail switches to spines, spines to super-spines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from railfab.intent import Spines, SuperSpines
from railfab.topology.addresses import AddressPlan, Switch
from railfab.topology.dimensions import Dimensions
from railfab.topology.front_panel import (
    Panel,
    PanelPort,
    spine_downlink_position,
    spine_uplink_position,
    super_downlink_position,
    uplink_position,
)
from railfab.topology.model import CabledPort, Interface, Link, Role
from railfab.topology.nodes import leaf_name, numbers, planes, pods, segments, spine_name, super_name

UPPER_BUNDLE = 600
"""Port channels of a spine to super-spines are numbered above this; those to leaves by the number of the leaf."""


def fabric_links(plan: Dimensions, addresses: AddressPlan) -> Iterator[Link]:
    """Links between switches, plane by plane: leaves to spines, then spines to super-spines."""
    for plane in planes(plan):
        yield from _leaf_spine_links(plan, addresses, plane)
        yield from _spine_super_links(plan, addresses, plane)


@dataclass(frozen=True, slots=True)
class Tier:
    """Settings that all links of a tier share. role: of the lower switch."""

    role: Role
    rate_gbps: int
    cable_m: float
    bundle: bool
    numbered: bool
    addresses: AddressPlan

    def base(self, switch: Switch) -> int | None:
        """The first address of the first uplink of a switch; None with unnumbered links."""
        return self.addresses.link_base(self.role, switch) if self.numbered else None

    def link(
        self,
        lower: tuple[str, PanelPort],
        upper: tuple[str, PanelPort],
        bundles: tuple[int, int],
        base: int | None,
        uplink: int,
    ) -> Link:
        """A link of the tier. base: of the lower switch. uplink: number on the lower switch, from 0."""
        ends: tuple[Interface | None, Interface | None] = (None, None)
        if base is not None:
            ends = self.addresses.pair(base + 2 * uplink)
        a, z = self._port(*lower, ends[0], bundles[0]), self._port(*upper, ends[1], bundles[1])
        return Link(a=a, z=z, rate_gbps=self.rate_gbps, cable_m=self.cable_m)

    def _port(self, node: str, spot: PanelPort, address: Interface | None, bundle: int) -> CabledPort:
        return CabledPort(
            node=node,
            name=spot.name,
            cage=spot.cage,
            lane=spot.lane,
            rate_gbps=self.rate_gbps,
            rail=None,
            address=address,
            bundle=bundle if self.bundle else None,
        )


def _tier(plan: Dimensions, addresses: AddressPlan, role: Role, tier: Spines | SuperSpines) -> Tier:
    return Tier(
        role=role,
        rate_gbps=tier.rate_gbps,
        cable_m=tier.cable_m,
        bundle=tier.bundle,
        numbered=plan.intent.profile.underlay == "numbered",
        addresses=addresses,
    )


def _leaf_spine_links(plan: Dimensions, addresses: AddressPlan, plane: int) -> Iterator[Link]:
    if plan.spines is None or plan.spine_model is None:
        return
    tier, links = _tier(plan, addresses, Role.LEAF, plan.spines), plan.links_per_leaf
    low = Panel(plan.leaf_model, plan.segments.platform or plan.leaf_model.platform, plan.uplink_lanes)
    high = Panel(plan.spine_model, plan.spines.platform or plan.spine_model.platform, plan.spine_down_lanes)
    up = [low.at(*uplink_position(plan, uplink)) for uplink in range(plan.uplinks)]
    down = [high.at(*spine_downlink_position(plan, place)) for place in range(plan.leaves_per_pod * links)]
    for pod, segment, switch in product(pods(plan), segments(plan), numbers(plan.segments.rail_switches)):
        leaf, number = leaf_name(plane, pod, segment, switch), plan.leaf_number(segment, switch)
        base = tier.base(Switch(plane, pod, number))
        for spine, k in product(numbers(plan.spines.count), range(links)):
            uplink = (spine - 1) * links + k
            upper = spine_name(plane, pod, spine), down[(number - 1) * links + k]
            yield tier.link((leaf, up[uplink]), upper, (spine, number), base, uplink)


def _spine_super_links(plan: Dimensions, addresses: AddressPlan, plane: int) -> Iterator[Link]:
    if plan.supers is None or plan.super_model is None or plan.spines is None or plan.spine_model is None:
        return
    tier, links, group_size = (
        _tier(plan, addresses, Role.SPINE, plan.supers),
        plan.links_per_spine,
        plan.spines_per_group,
    )
    low = Panel(plan.spine_model, plan.spines.platform or plan.spine_model.platform, plan.spine_up_lanes)
    high = Panel(plan.super_model, plan.supers.platform or plan.super_model.platform, plan.super_lanes)
    up = [low.at(*spine_uplink_position(plan, uplink)) for uplink in range(plan.spine_uplinks)]
    down = [high.at(*super_downlink_position(plan, place)) for place in range(len(pods(plan)) * group_size * links)]
    for pod, spine in product(pods(plan), numbers(plan.spines.count)):
        group, member = divmod(spine - 1, group_size)
        lower, from_below = spine_name(plane, pod, spine), (pod - 1) * group_size + member
        base = tier.base(Switch(plane, pod, spine))
        for in_group, k in product(range(plan.supers_per_group), range(links)):
            number, uplink = group * plan.supers_per_group + in_group + 1, in_group * links + k
            upper = super_name(plane, number), down[from_below * links + k]
            bundles = UPPER_BUNDLE + in_group + 1, from_below + 1
            yield tier.link((lower, up[uplink]), upper, bundles, base, uplink)
