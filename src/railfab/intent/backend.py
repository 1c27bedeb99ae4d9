"""The scale-out network of the GPUs: segments under the spines of a pod, pods under super-spines."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import NUMBERED, Count, KeyFault, Listed, Metres, Model, PrefixV4, Rate, Text, Vlan

Cage = Annotated[int, Field(ge=1, le=1024)]
RailCages = Annotated[dict[Annotated[int, Field(ge=1, le=72)], Listed[Cage]], Field(json_schema_extra=NUMBERED)]
PortOrder = Literal["by-host", "by-rail"] | RailCages
NetworkName = Literal["backend", "frontend", "storage", "management", "enterprise"]
Ratio = Annotated[float, Field(ge=1, le=64)]


class Subnets(Model):
    """VLANs and subnets of the rails, for hosts that are not attached routed."""

    pool: PrefixV4 = Field(
        default=IPv4Network("10.0.0.0/16"), description="prefix that contains the prefixes of all rail switches"
    )
    switch_prefix: Annotated[int, Field(ge=16, le=30)] = Field(
        default=24, description="prefix length per rail switch (per pair with mlag and esi)"
    )
    rail_prefix: Annotated[int, Field(ge=17, le=30)] | None = Field(
        default=None, description="prefix length per rail; by default the prefix of the switch divided by its rails"
    )
    rails: Literal["divide", "own"] = Field(
        default="divide",
        description="divide: the rails share the prefix of their switch; own: each rail has a prefix of its own",
    )
    first_vlan: Vlan = Field(default=101, description="VLAN of rail 1; rail r has first_vlan + r - 1")


class Growth(Model):
    """Largest size of the fabric; addresses, AS numbers, ports and uplinks are reserved for it. By default what fits
    the ports of the switches."""

    hosts: Count | None = Field(default=None, description="largest number of hosts per segment")
    segments: Count | None = Field(default=None, description="largest number of segments per pod")
    pods: Count | None = Field(default=None, description="largest number of pods")


class Segments(Model):
    """Hosts that share one set of rail switches."""

    count: Count = Field(default=1, description="segments per pod")
    hosts: Count = Field(description="hosts per segment")
    rail_switches: Annotated[int, Field(ge=1, le=64)] = Field(description="rail switches per segment and plane")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=5.0, description="length of host cables [m]")
    ports: PortOrder = Field(
        default="by-host",
        description="by-host: adjacent ports per host; by-rail: adjacent ports per rail; or a mapping of rail to cages",
    )
    breakout: bool = Field(
        default=True,
        description="split cages between the NIC ports of hosts where the speed allows; false: a whole cage per port",
    )
    peer_links: Annotated[int, Field(ge=1, le=16)] = Field(
        default=2,
        description="links between the two switches of a pair, with mlag, and with esi without spines",
    )


class Spines(Model):
    """The spines of a pod."""

    count: Annotated[int, Field(ge=1, le=1024)] = Field(description="spines per pod")
    links_per_leaf: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="links between a rail switch and a spine; by default as many as a full rail switch needs",
    )
    rate_gbps: Rate = Field(description="speed of an uplink [Gb/s]")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=40.0, description="length of uplink cables [m]")
    breakout: bool = Field(default=False, description="split cages where the speed allows, for more ports")
    bundle: bool = Field(default=False, description="the links between two switches form one port channel")


class SuperSpines(Model):
    """The switches that connect pods."""

    count: Annotated[int, Field(ge=1, le=4096)] = Field(description="super-spines per plane")
    groups: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=1,
        description="1: a spine connects to every super-spine; n: a spine connects to the super-spines of its group",
    )
    links_per_spine: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="links between a spine and a super-spine; by default as many as a full spine needs"
    )
    rate_gbps: Rate = Field(description="speed of a link [Gb/s]")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=100.0, description="length of the cables to spines [m]")
    breakout: bool = Field(default=False, description="split cages where the speed allows, for more ports")
    bundle: bool = Field(default=False, description="the links between two switches form one port channel")


class Backend(Model):
    """The scale-out network."""

    oversubscription: Ratio = Field(
        default=1.0, description="largest ratio of downlink to uplink capacity, on each tier"
    )
    survives: Literal["nothing", "link", "switch"] = Field(
        default="nothing", description="single failure that must disconnect no GPU; `plan` checks it"
    )
    reaches: Listed[NetworkName] = Field(default=(), description="networks that it may reach; usually none")
    planes: Annotated[int, Field(ge=1, le=8)] = Field(
        default=1, description="separate fabrics without links between them; the ports of a NIC are divided among them"
    )
    pods: Count = Field(default=1, description="pods, each with its own spines")
    growth: Growth = Field(
        default_factory=Growth.model_construct,
        description="largest size; by default what fits the ports of the switches",
    )
    subnets: Subnets | None = Field(
        default=None, description="VLANs and subnets, for hosts that are not attached routed"
    )
    segments: Segments = Field(description="hosts that share one set of rail switches")
    spines: Spines | None = Field(default=None, description="spines; leave out for rail-only or a single switch")
    super_spines: SuperSpines | None = Field(default=None, description="the switches that connect pods")

    def _faults(self) -> Iterator[KeyFault]:
        top, spines = self.super_spines, self.spines
        if top and not spines:
            yield KeyFault("super_spines", "super-spines need spines, and the backend has none", "Add spines")
        if top and spines:
            for key, count, role in (("spines", spines.count, "spines"), ("super_spines", top.count, "super-spines")):
                if count % top.groups:
                    problem = f"{count} {role} do not divide into the {top.groups} groups of super_spines"
                    yield KeyFault(f"{key}.count", problem, f"Use a multiple of {top.groups}")
