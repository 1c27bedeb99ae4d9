"""The vendor-neutral model of one switch's configuration.

Every platform renders it and parses it back; `changes` compares two models; `forwarding` converges a fabric from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakoutPort:
    """A cage split into `lanes` interfaces of `rate_gbps` each; the platform derives their names from the cage."""

    cage: str
    lanes: int
    rate_gbps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A routed port.

    mtu_bytes: largest IP packet; None where the platform does not configure it (the operating system does).
    rate_gbps: configured speed; None for a port of a breakout and where the platform does not configure it.
    unnumbered: IPv6 link-local with router advertisements, for RFC 5549 sessions.
    """

    name: str
    description: str = ""
    enabled: bool = True
    mtu_bytes: int | None = None
    rate_gbps: int | None = None
    address: IPv4Interface | None = None
    unnumbered: bool = False

    @property
    def network(self) -> IPv4Network | None:
        """The subnet of a numbered port."""
        return self.address.network if self.address else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BfdTimers:
    interval_ms: int
    multiplier: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpNeighbor:
    """One eBGP session over an interface: unnumbered when address is None, else to that address."""

    interface: str
    remote_as: int
    address: IPv4Address | None = None
    bfd: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRange:
    """Prefixes inside `prefix` whose length is between ge and le, both included."""

    prefix: IPv4Network
    ge: int
    le: int

    def matches(self, network: IPv4Network) -> bool:
        return self.ge <= network.prefixlen <= self.le and network.subnet_of(self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bgp:
    """One BGP speaker.

    import_prefixes, export_prefixes: prefixes accepted and announced; all others are rejected, own ones included.
    max_paths: equal-cost next hops used; AS paths of equal length count as equal (multipath relax).
    neighbors: sorted by interface in the order of the model's interfaces.
    """

    asn: int
    router_id: IPv4Address
    max_paths: int
    keepalive_s: int
    hold_s: int
    import_prefixes: tuple[PrefixRange, ...]
    export_prefixes: tuple[PrefixRange, ...]
    neighbors: tuple[BgpNeighbor, ...]


class Scheduling(StrEnum):
    STRICT = "strict"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficClass:
    """A queue and the packets classified into it.

    dscp: code points classified here, ascending; empty is the default class, which gets all others.
    lossless_priority: the PFC priority that protects the queue; None is a lossy class.
    weight: share among the weighted queues [percent]; None when strict.
    """

    name: str
    queue: int
    dscp: tuple[int, ...]
    scheduling: Scheduling
    weight: int | None = None
    lossless_priority: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortProfile:
    """Thresholds of the lossless queue, shared by ports of one speed and cable length.

    kmin_bytes, kmax_bytes, pmax_percent: ECN marking ramp (Zhu et al., SIGCOMM 2015).
    xoff_bytes: ingress occupancy at which a pause frame is sent.
    headroom_percent: the most one queue may take of the chip's headroom pool.
    """

    name: str
    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    xoff_bytes: int
    headroom_percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortQos:
    """QoS of one port. profile: name of its PortProfile. pfc, ecn, trust_dscp: whether each is on for this port."""

    interface: str
    profile: str
    pfc: bool = True
    ecn: bool = True
    trust_dscp: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcWatchdog:
    """Ignores pause frames once a queue has been paused for detect_ms; honours them after recover_ms without pause."""

    detect_ms: int
    recover_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos:
    """QoS of one switch.

    headroom_pool_percent: share of the chip's buffer reserved for packets that arrive after a pause frame was sent.
    """

    classes: tuple[TrafficClass, ...]
    profiles: tuple[PortProfile, ...]
    ports: tuple[PortQos, ...]
    watchdog: PfcWatchdog | None
    headroom_pool_percent: int

    def profile(self, name: str) -> PortProfile:
        return next(profile for profile in self.profiles if profile.name == name)

    def lossless(self) -> TrafficClass | None:
        """The lossless class; None when every class is lossy."""
        return next((cls for cls in self.classes if cls.lossless_priority is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceModel:
    """One switch. Interfaces are in front-panel order, and all tuples in the order the planner gives them.

    bfd: timers of every BFD session; None when BFD is off. qos: None when the fabric has no lossless class.
    """

    name: str
    platform: str
    loopback: IPv4Address
    breakouts: tuple[BreakoutPort, ...]
    interfaces: tuple[Interface, ...]
    bgp: Bgp
    bfd: BfdTimers | None
    qos: Qos | None

    def interface(self, name: str) -> Interface | None:
        return next((interface for interface in self.interfaces if interface.name == name), None)
