"""The other networks of a cluster: frontend, storage and management."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.backend import NetworkName, Ratio
from railfab.intent.model import (
    LINE_PATTERN,
    AddressV4,
    Count,
    KeyFault,
    Listed,
    Metres,
    Model,
    Name,
    PrefixV4,
    Rate,
    Text,
    Vlan,
)

PortNumber = Annotated[int, Field(ge=1, le=65535)]
Vni = Annotated[int, Field(ge=1, le=16_777_215)]
VLAN_NAME_LENGTH = 32
"""Longest name of a VLAN on every switch (EOS and NX-OS: 32 characters)."""


class AccessLeaves(Model):
    """The switches that hosts are cabled to."""

    count: Count = Field(
        description="number of leaves; hosts are assigned to pairs of leaves in the order of their numbers"
    )
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=10.0, description="length of host cables [m]")


class AccessSpines(Model):
    """The switches that connect the leaves."""

    count: Annotated[int, Field(ge=1, le=64)] = Field(description="number of spines")
    links_per_leaf: Annotated[int, Field(ge=1, le=16)] = Field(
        default=1, description="links between a leaf and a spine"
    )
    rate_gbps: Rate = Field(description="speed of an uplink [Gb/s]")
    model: Text = Field(description="switch model, from the catalogue")
    platform: Text | None = Field(default=None, description="network operating system; by default the model's first")
    cable_m: Metres = Field(default=30.0, description="length of uplink cables [m]")


class TenantVlan(Model):
    """A VLAN of a tenant with its subnet, on every leaf."""

    vlan: Vlan = Field(description="VLAN on the leaves")
    vni: Vni | None = Field(default=None, description="VXLAN network identifier; by default 10000 + vlan")
    subnet: PrefixV4 = Field(description="prefix; the gateway is the first address, on every leaf")


class Tenant(TenantVlan):
    """A tenant of the frontend: a VRF with one VLAN or several, on every leaf."""

    l3vni: Vni | None = Field(
        default=None,
        description="VXLAN network identifier of the VRF (L3VNI): leaves announce its prefixes to each other and route "
        "between its VLANs",
    )
    vlans: dict[Name, TenantVlan] = Field(
        default={}, description="further VLANs of the VRF, by name; they need an l3vni, and hosts have them tagged"
    )

    def _faults(self) -> Iterator[KeyFault]:
        if self.vlans and self.l3vni is None:
            problem = "a tenant with several VLANs is routed between leaves by an L3VNI, and none is stated"
            yield KeyFault("l3vni", problem, "State l3vni, or remove vlans")


class Frontend(Model):
    """The network to users, schedulers and the outside: a routed Clos, with EVPN/VXLAN for tenants."""

    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=2, description="ports of a host's frontend NIC")
    rate_gbps: Rate = Field(default=100, description="speed of a NIC port [Gb/s]")
    attach: Literal["routed", "esi"] = Field(
        default="esi", description="esi: a LAG to two leaves; routed: a /31 per port"
    )
    oversubscription: Ratio = Field(default=3.0, description="largest ratio of downlink to uplink capacity")
    reaches: Listed[NetworkName] = Field(default=("enterprise",), description="networks that it may reach")
    pool: PrefixV4 = Field(default=IPv4Network("10.192.0.0/12"), description="loopbacks and host links")
    tenants: dict[Name, Tenant] = Field(default={}, description="tenants by name")
    leaves: AccessLeaves = Field(description="the switches that hosts are cabled to")
    spines: AccessSpines | None = Field(default=None, description="the switches that connect the leaves")

    def tenant_vlans(self) -> Iterator[tuple[str, str, TenantVlan]]:
        """The VLANs of every tenant: tenant, key in an intent, and VLAN; those of a tenant together."""
        for tenant, settings in self.tenants.items():
            key = f"frontend.tenants.{tenant}"
            yield tenant, key, settings
            yield from ((tenant, f"{key}.vlans.{name}", vlan) for name, vlan in settings.vlans.items())

    def _faults(self) -> Iterator[KeyFault]:
        for tenant, settings in self.tenants.items():
            for name in settings.vlans:
                if len(vlan := vlan_name(tenant, name)) > VLAN_NAME_LENGTH:
                    problem = f"the name of the VLAN on the switches, {vlan}, has {len(vlan)} characters"
                    remedy = f"Use names of at most {VLAN_NAME_LENGTH} characters together, with a hyphen"
                    yield KeyFault(f"tenants.{tenant}.vlans.{name}", problem, remedy)


def vlan_name(tenant: str, name: str) -> str:
    """The name of a further VLAN of a tenant on the switches, where every VLAN has a name of its own."""
    return f"{tenant}-{name}"


class Storage(Model):
    """The network to datasets and checkpoints."""

    protocol: Literal["roce", "nvme-tcp"] = Field(
        default="nvme-tcp", description="storage protocol; roce uses the lossless class"
    )
    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=2, description="ports of a host's storage NIC")
    rate_gbps: Rate = Field(default=200, description="speed of a NIC port [Gb/s]")
    servers: Annotated[int, Field(ge=0, le=4096)] = Field(default=0, description="storage servers on the same leaves")
    server_ports: Annotated[int, Field(ge=1, le=8)] = Field(default=2, description="ports of a storage server")
    oversubscription: Ratio = Field(default=2.0, description="largest ratio of downlink to uplink capacity")
    reaches: Listed[NetworkName] = Field(default=(), description="networks that it may reach")
    pool: PrefixV4 = Field(default=IPv4Network("10.208.0.0/12"), description="loopbacks and host links")
    leaves: AccessLeaves = Field(description="the switches that hosts are cabled to")
    spines: AccessSpines | None = Field(default=None, description="the switches that connect the leaves")


class Services(Model):
    """Servers in the management network that every device uses; switches are configured with ntp, aaa and syslog."""

    ntp: Listed[AddressV4] = Field(default=(), description="time servers")
    ptp: Listed[AddressV4] = Field(default=(), description="PTP grandmasters")
    aaa: Listed[AddressV4] = Field(default=(), description="TACACS+ or RADIUS servers")
    syslog: Listed[AddressV4] = Field(default=(), description="log collectors")
    telemetry: Listed[AddressV4] = Field(default=(), description="gNMI collectors")


class Syslog(Model):
    """Messages of switches to the log collectors."""

    protocol: Literal["udp", "tcp"] = Field(default="udp", description="transport protocol")
    port: PortNumber = Field(default=514, description="port of the collectors")
    level: Literal["emergency", "alert", "critical", "error", "warning", "notice", "informational", "debug"] = Field(
        default="informational", description="lowest severity that is sent"
    )


class Aaa(Model):
    """Logins to switches by the AAA servers; local users are tried last."""

    protocol: Literal["tacacs", "radius"] = Field(
        default="tacacs", description="protocol of the servers; their secret is in the credentials of the switch"
    )


class Gnmi(Model):
    """The gNMI server of switches, over TLS."""

    port: PortNumber = Field(default=57400, description="port that it listens on")
    tls_profile: Text = Field(
        description="name of the TLS profile, which with its certificate is on the switch already"
    )


class Management(Model):
    """The out-of-band network to every switch, host and BMC, and the management access of switches."""

    isolation: Literal["vrf", "vlans"] = Field(
        default="vrf", description="vrf: one routed VRF; vlans: one VLAN for switches, one for hosts, one for BMCs"
    )
    rate_gbps: Rate = Field(default=1, description="speed of a management port [Gb/s]")
    reaches: Listed[NetworkName] = Field(default=(), description="networks that it may reach")
    pool: PrefixV4 = Field(default=IPv4Network("10.224.0.0/16"), description="addresses of management ports")
    switch_vlan: Vlan = Field(default=10, description="VLAN of the management ports of switches")
    host_vlan: Vlan = Field(default=20, description="VLAN of the management ports of hosts")
    bmc_vlan: Vlan = Field(default=30, description="VLAN of the BMCs")
    services: Services = Field(default_factory=Services.model_construct, description="servers that every device uses")
    vrf: Name = Field(default="mgmt", description="VRF of a switch's management port, in which it has these servers")
    syslog: Syslog = Field(default_factory=Syslog.model_construct, description="messages to `services.syslog`")
    aaa: Aaa = Field(default_factory=Aaa.model_construct, description="logins by `services.aaa`")
    gnmi: Gnmi | None = Field(
        default=None, description="gNMI server of switches; without it that of the operator stays"
    )
    banner: Annotated[str, Field(min_length=1, max_length=500, pattern=LINE_PATTERN)] | None = Field(
        default=None, description="line that a switch shows before a login"
    )
    leaves: AccessLeaves | None = Field(
        default=None,
        description="the switches that devices are cabled to; without them switches are configured, and no network is "
        "designed",
    )
    pairs: bool = Field(
        default=False,
        description="leaves in pairs: of a host, mgmt0 is on one and the BMC on the other; switches alternate",
    )
    spines: AccessSpines | None = Field(default=None, description="the switches that connect the leaves")

    def _faults(self) -> Iterator[KeyFault]:
        if self.spines is not None and self.leaves is None:
            yield KeyFault("spines", "there are no leaves to connect", "State management.leaves, or remove the spines")
