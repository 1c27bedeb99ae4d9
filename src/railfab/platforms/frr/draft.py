"""A configuration of FRR being parsed: the values of its lines, before they become a device model."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    Family,
    IpInterface,
    NextHop,
    Remote,
)
from railfab.platforms.frr.render import DEFAULT_BFD_INTERVAL_MS, DEFAULT_BFD_MULTIPLIER
from railfab.platforms.shared.route_maps import RouteMapDraft


@dataclass(slots=True, kw_only=True)
class FrrInterface:
    description: str = ""
    enabled: bool = True
    addresses: list[IpInterface] = field(default_factory=list)
    unnumbered: bool = False
    esi: str | None = None
    system_mac: str | None = None


@dataclass(slots=True, kw_only=True)
class FrrNeighbor:
    """active: families in which it is activated or, with False, is not. policies: names by direction."""

    remote_as: int | Remote | None = None
    unnumbered: bool = False
    description: str = ""
    enabled: bool = True
    bfd: bool = False
    profile: str | None = None
    multihop_ttl: int | None = None
    update_source: str | None = None
    advertisement_s: int | None = None
    keepalive_hold_s: tuple[int, int] | None = None
    connect_s: int | None = None
    ipv6_next_hops: bool = False
    active: dict[Family, bool] = field(default_factory=dict)
    reflector_client: bool = False
    next_hop: NextHop = NextHop.DEFAULT
    prefix_limits: dict[Family, int] = field(default_factory=dict)
    policies: dict[str, tuple[str, ...]] = field(default_factory=lambda: {"in": (), "out": ()})


@dataclass(slots=True, kw_only=True)
class FrrRouter:
    """One `router bgp`. flags: its lines without a value. originated: families whose connected routes it announces.
    rd, targets: of a VRF, the targets by direction."""

    asn: int
    router_id: IPv4Address | None = None
    cluster_id: IPv4Address | None = None
    keepalive_hold_s: tuple[int, int] | None = None
    flags: set[str] = field(default_factory=set)
    max_paths: dict[Family, int] = field(default_factory=dict)
    max_paths_internal: dict[Family, int] = field(default_factory=dict)
    originated: set[Family] = field(default_factory=set)
    aggregates: list[Aggregate] = field(default_factory=list)
    neighbors: dict[str, FrrNeighbor] = field(default_factory=dict)
    rd: str | None = None
    targets: dict[str, list[str]] = field(default_factory=lambda: {"import": [], "export": []})

    def neighbor(self, peer: str) -> FrrNeighbor:
        return self.neighbors.setdefault(peer, FrrNeighbor())


@dataclass(slots=True)
class DraftProfile:
    multiplier: int = DEFAULT_BFD_MULTIPLIER
    interval_ms: int = DEFAULT_BFD_INTERVAL_MS

    @property
    def timers(self) -> BfdTimers:
        return BfdTimers(interval_ms=self.interval_ms, multiplier=self.multiplier)


@dataclass(slots=True)
class FrrDraft(RouteMapDraft):
    """The whole configuration. interfaces: by Linux's name. routers: by network instance.

    instance, family: of the section being read.
    """

    hostname: str = ""
    defaults: str = "traditional"
    vnis: dict[str, int | None] = field(default_factory=dict)
    interfaces: dict[str, FrrInterface] = field(default_factory=dict)
    routers: dict[str, FrrRouter] = field(default_factory=dict)
    profiles: dict[str, DraftProfile] = field(default_factory=dict)
    instance: str = DEFAULT_INSTANCE
    family: Family = Family.IPV4

    @property
    def router(self) -> FrrRouter:
        return self.routers[self.instance]
