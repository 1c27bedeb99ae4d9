"""The scale-out network of the GPUs: pods of segments under spines, pods under super-spines."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import NUMBERED, Count, Fault, Listed, Metres, Model, PrefixV4, Rate, Text, Vlan

Cage = Annotated[int, Field(ge=1, le=1024)]
RailCages = Annotated[dict[Annotated[int, Field(ge=1, le=72)], Listed[Cage]], Field(json_schema_extra=NUMBERED)]
PortOrder = Literal["by-host", "by-rail"] | RailCages
NetworkName = Literal["backend", "frontend", "storage", "management", "enterprise"]
Ratio = Annotated[float, Field(ge=1, le=64)]


class Subnets(Model):
    """VLANs of the rails, for hosts that are not attached routed."""

    pool: PrefixV4 = Field(default=IPv4Network("10.0.0.0/16"), description="prefix that rail switches take theirs from")
    switch_prefix: Annotated[int, Field(ge=16, le=30)] = Field(
        default=24, description="prefix length of a rail switch (of a pair, with mlag and esi)"
    )
    rail_prefix: Annotated[int, Field(ge=17, le=30)] | None = Field(
        default=None, description="prefix length of a rail; by default the switch's divided among its rails"
    )
    rails: Literal["divide", "own"] = Field(
        default="divide",
        description="divide: the rails of a switch share its prefix; own: each uses the first part of one of its own",
    )
    first_vlan: Vlan = Field(default=101, description="VLAN of rail 1; rail r has r-1 more")


class Growth(Model):
    """How far a fabric may grow; addresses, AS numbers, ports and uplinks are laid out for it. By default what its
    switches can take."""

    hosts: Count | None = Field(default=None, description="hosts of a segment")
    segments: Count | None = Field(default=None, description="segments of a pod")
    pods: Count | None = Field(default=None, description="pods")


class Segments(Model):
    """Hosts that share one set of rail switches."""

    count: Count = Field(default=1, description="segments of a pod")
    hosts: Count = Field(description="hosts of a segment")
    rail_switches: Annotated[int, Field(ge=1, le=64)] = Field(description="rail switches of a segment, in each plane")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=5.0, description="length of host cables [m]")
    ports: PortOrder = Field(
        default="by-host",
        description="by-host: a host's links side by side; by-rail: a block of ports a rail; or the cages of each rail",
    )
    peer_links: Annotated[int, Field(ge=1, le=16)] = Field(
        default=2,
        description="links between the two switches of a pair, with mlag, and with esi where no spine joins them",
    )


class Spines(Model):
    """The spines of a pod."""

    count: Annotated[int, Field(ge=1, le=1024)] = Field(description="spines of a pod")
    links_per_leaf: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="links between a rail switch and a spine; by default as many as a full one needs"
    )
    rate_gbps: Rate = Field(description="speed of an uplink [Gb/s]")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=40.0, description="length of uplink cables [m]")
    breakout: bool = Field(default=False, description="split cages where the speed allows, for more ports")
    bundle: bool = Field(default=False, description="the links between two switches form one port channel")


class SuperSpines(Model):
    """The switches that join pods."""

    count: Annotated[int, Field(ge=1, le=4096)] = Field(description="super-spines of a plane")
    groups: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=1, description="1: every spine meets every super-spine; n: spine s of a pod meets those of its group"
    )
    links_per_spine: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="links between a spine and a super-spine; by default as many as a full one needs"
    )
    rate_gbps: Rate = Field(description="speed of a link [Gb/s]")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=100.0, description="length of its cables [m]")
    breakout: bool = Field(default=False, description="split cages where the speed allows, for more ports")
    bundle: bool = Field(default=False, description="the links between two switches form one port channel")


class Backend(Model):
    """The scale-out network."""

    oversubscription: Ratio = Field(default=1.0, description="down to up, at most, of every tier")
    survives: Literal["nothing", "link", "switch"] = Field(
        default="nothing", description="a single failure of this kind cuts off no GPU: claimed here, checked by `plan`"
    )
    reaches: Listed[NetworkName] = Field(default=(), description="networks that it may reach; none, as a rule")
    planes: Annotated[int, Field(ge=1, le=8)] = Field(
        default=1, description="fabrics that never meet; the ports of a NIC are dealt to them"
    )
    pods: Count = Field(default=1, description="pods under one set of spines each")
    growth: Growth = Field(
        default_factory=Growth, description="how far it may grow; by default what its switches can take"
    )
    subnets: Subnets | None = Field(default=None, description="VLANs and subnets, where hosts are not attached routed")
    segments: Segments = Field(description="hosts that share one set of rail switches")
    spines: Spines | None = Field(default=None, description="none: rail-only, or a single switch")
    super_spines: SuperSpines | None = Field(default=None, description="what joins pods")

    def _faults(self) -> Iterator[Fault]:
        top, spines = self.super_spines, self.spines
        if top and not spines:
            yield Fault("super_spines", "super-spines stand on spines, and there are none", "Add spines")
        if top and spines:
            for key, count, what in (("spines", spines.count, "spines"), ("super_spines", top.count, "super-spines")):
                if count % top.groups:
                    problem = f"{count} {what} cannot form the {top.groups} groups of super_spines"
                    yield Fault(f"{key}.count", problem, f"Use a multiple of {top.groups}")
