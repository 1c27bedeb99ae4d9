"""Front-panel positions of links: cage and lane by link. All switches of a role have the same layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.topology.catalogue import SwitchModel
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Role
from railfab.topology.rails import NicPort


@dataclass(frozen=True, slots=True)
class PanelPort:
    """A port of a switch model. lane: from 1; None in a cage without breakout."""

    cage: int
    lane: int | None
    name: str


@dataclass(frozen=True)
class Panel:
    """The ports of one model on one platform, with every cage split into `lanes` (1: no breakout)."""

    model: SwitchModel
    platform: str
    lanes: int

    @cached_property
    def ports(self) -> tuple[PanelPort, ...]:
        """All ports, in front-panel order."""
        names = self.model.interface_names(self.platform, self.lanes)
        return tuple(
            PanelPort(place // self.lanes + 1, place % self.lanes + 1 if self.lanes > 1 else None, name)
            for place, name in enumerate(names)
        )

    def at(self, cage: int, lane: int) -> PanelPort:
        """The port at a position. lane: from 0."""
        return self.ports[(cage - 1) * self.lanes + lane]


def host_panel_positions(plan: Dimensions, port: NicPort) -> Iterator[tuple[int, int]]:
    """Cage, and lane from 0, on the rail switch for a NIC port of each host of a segment in turn."""
    for host in range(plan.segments.hosts):
        yield host_panel_position(plan, port, host)


def host_panel_position(plan: Dimensions, port: NicPort, host: int) -> tuple[int, int]:
    """Cage, and lane from 0, on the rail switch for a NIC port of a host. host: from 0."""
    ports, per_nic, lanes = plan.segments.ports, plan.links_per_nic_and_leaf, plan.host_lanes
    if not isinstance(ports, str):
        place, lane = divmod(host * per_nic + port.turn, lanes)
        return ports[port.rail][place], lane
    if ports == "by-rail":
        place = port.block * plan.block_ports + host * per_nic + port.turn
    else:
        place = host * plan.links_per_host_and_leaf + port.nth
    return place // lanes + 1, place % lanes


def peer_cages(plan: Dimensions) -> tuple[int, ...]:
    """Cages with links to the other switch of a pair."""
    return plan.spare_cages[: plan.peer_links]


def uplink_position(plan: Dimensions, uplink: int) -> tuple[int, int]:
    """Cage, and lane from 0, of an uplink (from 0) of a rail switch: below its peer links, downwards."""
    place, lane = divmod(uplink, plan.uplink_lanes)
    return plan.spare_cages[plan.peer_links + place], lane


def spine_downlink_position(plan: Dimensions, place: int) -> tuple[int, int]:
    """Cage, and lane from 0, of a link (from 0) from a spine to leaves: from the first cage upwards."""
    cage, lane = divmod(place, plan.spine_down_lanes)
    return cage + 1, lane


def spine_uplink_position(plan: Dimensions, uplink: int) -> tuple[int, int]:
    """Cage, and lane from 0, of a link (from 0) from a spine to super-spines: from the last cage downwards."""
    assert plan.spine_model is not None
    cage, lane = divmod(uplink, plan.spine_up_lanes)
    return plan.spine_model.cages - cage, lane


def super_downlink_position(plan: Dimensions, place: int) -> tuple[int, int]:
    """Cage, and lane from 0, of a link (from 0) from a super-spine to spines."""
    cage, lane = divmod(place, plan.super_lanes)
    return cage + 1, lane


def broken_out(plan: Dimensions, role: Role) -> Mapping[int, tuple[int, int]]:
    """Cages in use with breakout, each with its number of ports and their speed [Gb/s]."""
    return {cage: split for cage, split in _in_use(plan, role) if split[0] > 1}


def _in_use(plan: Dimensions, role: Role) -> Iterator[tuple[int, tuple[int, int]]]:
    """Cages in use, each with its number of ports and their speed [Gb/s]."""
    spines, supers = plan.spines, plan.supers
    if role is Role.LEAF:
        for port in plan.nic_ports:
            for cage, _ in host_panel_positions(plan, port):
                yield cage, (plan.host_lanes, plan.intent.hosts.rate_gbps)
        for uplink in range(plan.uplinks if spines else 0):
            yield uplink_position(plan, uplink)[0], (plan.uplink_lanes, spines.rate_gbps if spines else 0)
    elif role is Role.SPINE and spines:
        for place in range(plan.leaves_per_pod * plan.links_per_leaf):
            yield spine_downlink_position(plan, place)[0], (plan.spine_down_lanes, spines.rate_gbps)
        for uplink in range(plan.spine_uplinks):
            yield spine_uplink_position(plan, uplink)[0], (plan.spine_up_lanes, supers.rate_gbps if supers else 0)
    elif supers:
        for place in range(plan.intent.backend.pods * plan.spines_per_group * plan.links_per_spine):
            yield super_downlink_position(plan, place)[0], (plan.super_lanes, supers.rate_gbps)
