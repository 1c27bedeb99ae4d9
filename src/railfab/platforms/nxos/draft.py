"""A configuration of NX-OS being parsed: the values of its lines, before they become a device model."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address

from railfab.device import (
    DEFAULT_INSTANCE,
    BfdTimers,
    BreakoutPort,
    Family,
    Fec,
    IpAddress,
    IpInterface,
    IpNetwork,
    LoadBalancing,
    NextHop,
    SyslogServer,
)
from railfab.platforms.nxos.draft_qos import DraftQos
from railfab.platforms.shared.route_maps import RouteMapDraft

DEFAULT_VLAN = 1
"""VLAN that a switch always has."""


@dataclass(slots=True, kw_only=True)
class NxosInterface:
    """enabled: None is the default of its kind. allowed: VLANs of a trunk; None is all of them.

    segment, segment_mac: number and system MAC of its Ethernet segment.
    """

    description: str = ""
    enabled: bool | None = None
    bridged: bool = True
    trunk: bool = False
    access: int = DEFAULT_VLAN
    native: int = DEFAULT_VLAN
    allowed: tuple[int, ...] | None = None
    mtu_bytes: int | None = None
    rate_gbps: int | None = None
    fec: Fec | None = None
    hold_up_ms: int = 0
    vrf: str | None = None
    addresses: list[IpInterface] = field(default_factory=list)
    anycast: bool = False
    unnumbered: bool = False
    bfd: BfdTimers | None = None
    lag: int | None = None
    lacp: bool = False
    vpc: int | None = None
    peer_link: bool = False
    segment: int | None = None
    segment_mac: str | None = None
    quiet: bool = False
    pfc: bool | None = None
    classifier: str | None = None
    output: str | None = None


@dataclass(slots=True, kw_only=True)
class DraftVlan:
    name: str | None = None
    vni: int | None = None


@dataclass(slots=True, kw_only=True)
class DraftVrf:
    vni: int | None = None
    rd: str | None = None
    targets: dict[str, list[str]] = field(default_factory=lambda: {"import": [], "export": []})


@dataclass(slots=True, kw_only=True)
class DraftVpc:
    domain: str
    system_mac: str | None = None
    peer: IpAddress | None = None
    source: IpAddress | None = None
    vrf: str | None = None


@dataclass(slots=True, kw_only=True)
class NxosNeighbor:
    """families: each with the settings that it has. A neighbour without an AS number is no session of its own."""

    remote_as: int | None = None
    description: str = ""
    enabled: bool = True
    bfd: bool = False
    multihop_ttl: int | None = None
    update_source: str | None = None
    keepalive_hold_s: tuple[int, int] | None = None
    families: dict[Family, DraftFamily] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class DraftFamily:
    advertisement_s: int | None = None
    reflector_client: bool = False
    next_hop: NextHop = NextHop.DEFAULT
    prefix_limit: int | None = None
    policies: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class NxosRouter:
    """One network instance of `router bgp`. flags: its lines without a value. originated: families whose connected
    routes it announces."""

    router_id: IPv4Address | None = None
    cluster_id: IPv4Address | None = None
    reconnect_s: int | None = None
    keepalive_hold_s: tuple[int, int] | None = None
    flags: set[str] = field(default_factory=set)
    max_paths: dict[Family, int] = field(default_factory=dict)
    max_paths_internal: dict[Family, int] = field(default_factory=dict)
    originated: set[Family] = field(default_factory=set)
    aggregates: list[tuple[IpNetwork, bool]] = field(default_factory=list)
    neighbors: dict[str, NxosNeighbor] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class DraftManagement:
    """vrfs: of the servers, in the order of their lines; None is the default one. groups: servers of AAA groups."""

    ntp: list[str] = field(default_factory=list)
    syslog: list[SyslogServer] = field(default_factory=list)
    aaa: list[tuple[str, str]] = field(default_factory=list)
    vrfs: list[str | None] = field(default_factory=list)
    banner: str | None = None
    grpc_port: int | None = None
    grpc_certificate: str | None = None
    grpc_vrf: str | None = None


@dataclass(slots=True)
class NxosDraft(RouteMapDraft):
    """The whole configuration. interfaces: by NX-OS's name. routers: by network instance.

    interface, router, neighbor, family, settings: of the section being read.
    """

    hostname: str = ""
    features: set[str] = field(default_factory=set)
    breakouts: list[BreakoutPort] = field(default_factory=list)
    interfaces: dict[str, NxosInterface] = field(default_factory=dict)
    vlans: dict[int, DraftVlan] = field(default_factory=dict)
    vrfs: dict[str, DraftVrf] = field(default_factory=dict)
    vpc: DraftVpc | None = None
    tunnel: str | None = None
    gateway_mac: str | None = None
    asn: int | None = None
    routers: dict[str, NxosRouter] = field(default_factory=dict)
    management: DraftManagement = field(default_factory=DraftManagement)
    balancing: LoadBalancing = field(default_factory=LoadBalancing)
    lldp_hello_s: int = 30
    lldp_hold_s: int = 120
    qos: DraftQos = field(default_factory=DraftQos)
    interface: NxosInterface = field(default_factory=NxosInterface)
    vlan: DraftVlan = field(default_factory=DraftVlan)
    vrf: DraftVrf = field(default_factory=DraftVrf)
    instance: str = DEFAULT_INSTANCE
    family: Family = Family.IPV4
    neighbor: NxosNeighbor = field(default_factory=NxosNeighbor)
    settings: DraftFamily = field(default_factory=DraftFamily)

    @property
    def router(self) -> NxosRouter:
        return self.routers[self.instance]
