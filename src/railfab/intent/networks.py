"""The other networks of a cluster: frontend, storage and management."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.backend import NetworkName, Ratio
from railfab.intent.model import AddressV4, Count, Listed, Metres, Model, Name, PrefixV4, Rate, Text, Vlan


class AccessLeaves(Model):
    """The switches that hosts are cabled to."""

    count: Count = Field(description="how many; hosts fill them pair by pair, in the order of their own numbers")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=10.0, description="length of host cables [m]")


class AccessSpines(Model):
    """The switches that join them."""

    count: Annotated[int, Field(ge=1, le=64)] = Field(description="how many")
    links_per_leaf: Annotated[int, Field(ge=1, le=16)] = Field(
        default=1, description="links between a leaf and a spine"
    )
    rate_gbps: Rate = Field(description="speed of an uplink [Gb/s]")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=30.0, description="length of uplink cables [m]")


class Tenant(Model):
    """A tenant of the frontend: a VRF with one subnet, on every leaf."""

    vlan: Vlan = Field(description="VLAN on the leaves")
    vni: Annotated[int, Field(ge=1, le=16_777_215)] | None = Field(
        default=None, description="VXLAN network identifier; by default 10000 + vlan"
    )
    subnet: PrefixV4 = Field(description="its prefix; the gateway is the first address, on every leaf")


class Frontend(Model):
    """Users, schedulers and the outside: a routed Clos, with EVPN/VXLAN for tenants."""

    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=2, description="ports of the host's shared NIC")
    rate_gbps: Rate = Field(default=100, description="speed of a NIC port [Gb/s]")
    attach: Literal["routed", "esi"] = Field(
        default="esi", description="esi: a LAG over two leaves; routed: a /31 each"
    )
    oversubscription: Ratio = Field(default=3.0, description="down to up, at most")
    reaches: Listed[NetworkName] = Field(default=("enterprise",), description="networks that it may reach")
    pool: PrefixV4 = Field(default=IPv4Network("10.192.0.0/12"), description="loopbacks and host links")
    tenants: dict[Name, Tenant] = Field(default={}, description="tenants by name")
    leaves: AccessLeaves = Field(description="the switches that hosts are cabled to")
    spines: AccessSpines | None = Field(default=None, description="the switches that join the leaves")


class Storage(Model):
    """Datasets and checkpoints."""

    protocol: Literal["roce", "nvme-tcp"] = Field(default="nvme-tcp", description="roce gets the lossless class too")
    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=2, description="ports of a host's storage NIC")
    rate_gbps: Rate = Field(default=200, description="speed of a NIC port [Gb/s]")
    servers: Annotated[int, Field(ge=0, le=4096)] = Field(default=0, description="storage servers on the same leaves")
    server_ports: Annotated[int, Field(ge=1, le=8)] = Field(default=2, description="ports of a storage server")
    oversubscription: Ratio = Field(default=2.0, description="down to up, at most")
    reaches: Listed[NetworkName] = Field(default=(), description="networks that it may reach")
    pool: PrefixV4 = Field(default=IPv4Network("10.208.0.0/12"), description="loopbacks and host links")
    leaves: AccessLeaves = Field(description="the switches that hosts are cabled to")
    spines: AccessSpines | None = Field(default=None, description="the switches that join the leaves")


class Services(Model):
    """What the management network offers to every device."""

    ntp: Listed[AddressV4] = Field(default=(), description="time servers")
    ptp: Listed[AddressV4] = Field(default=(), description="PTP grandmasters")
    aaa: Listed[AddressV4] = Field(default=(), description="TACACS+ or RADIUS servers")
    syslog: Listed[AddressV4] = Field(default=(), description="log collectors")
    telemetry: Listed[AddressV4] = Field(default=(), description="gNMI collectors")


class Management(Model):
    """The way to every switch, host and BMC that needs no other network."""

    isolation: Literal["vrf", "vlans"] = Field(default="vrf", description="vrf: one routed VRF; vlans: one a purpose")
    rate_gbps: Rate = Field(default=1, description="speed of a management port [Gb/s]")
    reaches: Listed[NetworkName] = Field(default=(), description="networks that it may reach")
    pool: PrefixV4 = Field(default=IPv4Network("10.224.0.0/16"), description="addresses of management ports")
    switch_vlan: Vlan = Field(default=10, description="VLAN of the switches' management ports")
    host_vlan: Vlan = Field(default=20, description="VLAN of the hosts' own ports")
    bmc_vlan: Vlan = Field(default=30, description="VLAN of the BMCs")
    services: Services = Field(default_factory=Services, description="what it offers to every device")
    leaves: AccessLeaves = Field(description="the switches that hosts are cabled to")
    spines: AccessSpines | None = Field(default=None, description="the switches that join the leaves")
