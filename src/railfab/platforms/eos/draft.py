"""A configuration of EOS being parsed: the values of its lines, before they become a device model."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address

from railfab.device import (
    DEFAULT_INSTANCE,
    AaaServer,
    Aggregate,
    BfdTimers,
    EcnRamp,
    Family,
    Fec,
    IpAddress,
    IpInterface,
    LoadBalancing,
    NextHop,
    SyslogServer,
)
from railfab.platforms.shared.route_maps import RouteMapDraft


@dataclass(slots=True, kw_only=True)
class DraftInterface:
    """speed: in Gb/s, as a line states it. group: number of the LAG and its mode."""

    description: str = ""
    enabled: bool = True
    mtu_bytes: int | None = None
    hold_up_ms: int = 0
    speed: int | None = None
    fec: Fec | None = None
    routed: bool = False
    access: int | None = None
    native: int | None = None
    allowed: tuple[int, ...] | None = None
    trunk: bool = False
    instance: str = DEFAULT_INSTANCE
    addresses: list[IpInterface] = field(default_factory=list)
    gateways: list[IpInterface] = field(default_factory=list)
    unnumbered: bool = False
    group: tuple[int, str] | None = None
    esi: str | None = None
    system_mac: str | None = None
    mlag_id: int | None = None
    silent: bool = False
    profile: str | None = None


@dataclass(slots=True, kw_only=True)
class DraftNeighbor:
    """A neighbour, or a peer group. None is what no line states. policies: by direction. routes: limit, 0 for none."""

    group: str | None = None
    is_group: bool = False
    over_interface: bool = False
    remote_as: int | None = None
    description: str = ""
    enabled: bool = True
    update_source: str | None = None
    multihop_ttl: int | None = None
    bfd: BfdTimers | None = None
    reflector_client: bool = False
    keepalive_hold_s: tuple[int, int] | None = None
    policies: dict[str, str] = field(default_factory=dict)
    next_hop: NextHop | None = None
    routes: int | None = None
    active: set[Family] = field(default_factory=set)
    ipv6_next_hops: bool = False


@dataclass(slots=True, kw_only=True)
class DraftRouter:
    """`router bgp`. neighbors: by network instance and peer or, in the default one, name of a group."""

    asn: int
    router_id: IPv4Address | None = None
    cluster_id: IPv4Address | None = None
    max_paths: int = 1
    multiple_as: bool = True
    requires_policy: set[str] = field(default_factory=set)
    aggregates: list[Aggregate] = field(default_factory=list)
    neighbors: dict[tuple[str, str], DraftNeighbor] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class DraftInstance:
    """A VRF. routed: whether packets are routed in it; the one of the management port has no routing."""

    rd: str | None = None
    imports: list[str] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    vni: int | None = None
    router_id: IPv4Address | None = None
    routed: bool = False


@dataclass(slots=True, kw_only=True)
class DraftVlan:
    name: str = ""
    vni: int | None = None


@dataclass(slots=True, kw_only=True)
class DraftMlag:
    """`mlag configuration`. vrf: of the heartbeat."""

    domain: str = ""
    peer: IpAddress | None = None
    heartbeat: IpAddress | None = None
    vrf: str = DEFAULT_INSTANCE
    peer_link: str = ""


@dataclass(slots=True, kw_only=True)
class DraftManagement:
    """instances: the VRFs that the lines name. tls_profile, gnmi_port: of the transport."""

    instances: list[str] = field(default_factory=list)
    ntp: list[str] = field(default_factory=list)
    syslog: list[SyslogServer] = field(default_factory=list)
    level: str = "informational"
    aaa: list[AaaServer] = field(default_factory=list)
    gnmi_port: int | None = None
    tls_profile: str | None = None
    banner: str | None = None


@dataclass(slots=True, kw_only=True)
class DraftQueue:
    """A transmit queue of a QoS profile; EOS serves it strictly unless a line says otherwise."""

    strict: bool = True
    weight: int | None = None
    rate_percent: int | None = None
    ecn: EcnRamp | None = None


@dataclass(slots=True, kw_only=True)
class DraftQosProfile:
    """A QoS profile. priorities: without drop; they are paused where PFC is on."""

    trust: bool = False
    pfc: bool = False
    priorities: set[int] = field(default_factory=set)
    queues: dict[int, DraftQueue] = field(default_factory=dict)


@dataclass(slots=True)
class Draft(RouteMapDraft):
    """The whole configuration. interfaces: by EOS's name. instances: of VRFs, by name. alphas: of the chip, by queue.

    has_tx_queues: whether a queue is one of a Jericho chip. instance, family, list_key, segment, qos_profile, queue: of
    the section being read. gnmi_vrf: place of the VRF of gNMI among those of the management.
    """

    hostname: str = ""
    interfaces: dict[str, DraftInterface] = field(default_factory=dict)
    vlans: dict[int, DraftVlan] = field(default_factory=dict)
    instances: dict[str, DraftInstance] = field(default_factory=dict)
    router: DraftRouter | None = None
    mlag: DraftMlag | None = None
    management: DraftManagement = field(default_factory=DraftManagement)
    vtep_source: str | None = None
    gateway_mac: str | None = None
    lldp_enabled: bool = True
    lldp_hello_s: int = 30
    lldp_hold_s: int = 120
    drain: bool = False
    qos_profiles: dict[str, DraftQosProfile] = field(default_factory=dict)
    has_tx_queues: bool = False
    dscp_map: dict[int, int] = field(default_factory=dict)
    cos_map: dict[int, int] = field(default_factory=dict)
    detect_ms: int | None = None
    recover_ms: int | None = None
    headroom_bytes: int | None = None
    resume_bytes: int | None = None
    ingress_alphas: dict[int, float] = field(default_factory=dict)
    egress_alphas: dict[int, float] = field(default_factory=dict)
    headroom_pool_bytes: int | None = None
    balancing: LoadBalancing = field(default_factory=LoadBalancing)
    qos_profile: DraftQosProfile = field(default_factory=DraftQosProfile)
    queue: DraftQueue = field(default_factory=DraftQueue)
    instance: str = DEFAULT_INSTANCE
    family: Family = Family.IPV4
    segment: str = ""
    gnmi_vrf: int = 0
    list_key: tuple[int, str] = (4, "")

    @property
    def interface(self) -> DraftInterface:
        """The interface of the section being read."""
        return self.interfaces[self.owner]

    @property
    def segment_owner(self) -> DraftInterface:
        """The LAG of the Ethernet segment being read."""
        return self.interfaces[self.segment]

    @property
    def bgp(self) -> DraftRouter:
        assert self.router is not None
        return self.router

    def vrf(self, name: str) -> DraftInstance:
        return self.instances.setdefault(name, DraftInstance())

    def vlan(self, vlan_id: int) -> DraftVlan:
        return self.vlans.setdefault(vlan_id, DraftVlan())

    def neighbor(self, peer: str) -> DraftNeighbor:
        return self.bgp.neighbors.setdefault((self.instance, peer), DraftNeighbor())

    def in_vrf(self, name: str | None) -> None:
        """Remember the VRF that a line of the management names."""
        self.management.instances.append(name or DEFAULT_INSTANCE)
