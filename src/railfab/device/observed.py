"""Live state of one switch, limited to what every platform reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railfab.device.interfaces import DEFAULT_INSTANCE, IpAddress
from railfab.device.routing import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedInterface:
    """Live state of one interface. enabled: administrative state; None where not reported.

    mtu_bytes: largest IP packet. neighbor_device, neighbor_interface: from LLDP.
    resolved_addresses: of neighbours that ARP or neighbour discovery has learned on it, or in its VLAN with a MAC
    address that the bridge has learned on it; None where not reported.
    pfc, ecn, dscp: what the port does, which may be less than it is configured for; None where the switch only repeats
    its configuration. pfc: priorities whose pause frames it sends and obeys. ecn: queues whose packets it marks.
    dscp: queue of each DSCP code point. Priorities and queues are numbered as in `Qos`.
    """

    name: str
    oper_up: bool
    enabled: bool | None = None
    mtu_bytes: int | None = None
    neighbor_device: str | None = None
    neighbor_interface: str | None = None
    resolved_addresses: frozenset[IpAddress] | None = None
    pfc: frozenset[int] | None = None
    ecn: frozenset[int] | None = None
    dscp: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedFamily:
    """A negotiated address family. received: prefixes accepted; sent: prefixes announced; None where not reported."""

    family: Family
    received: int | None = None
    sent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedBgpSession:
    """A BGP session, keyed by (network_instance, peer) as a BgpNeighbor is.

    peer: the interface of an unnumbered session, else an address. interface: over which it runs, where reported.
    bfd_up: None when the session has no BFD. families: those negotiated; empty where not reported.
    """

    peer: IpAddress | str
    state: str
    network_instance: str = DEFAULT_INSTANCE
    interface: str | None = None
    remote_as: int | None = None
    neighbor_device: str | None = None
    bfd_up: bool | None = None
    families: tuple[ObservedFamily, ...] = ()

    @property
    def established(self) -> bool:
        return self.state == "established"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The live state of one switch. lldp: whether it reports the neighbours that it hears.

    hashes_source_port: whether ECMP chooses a path by the UDP source port too; None where not reported. vnis: of the
    VLANs that it has in VXLAN; None where not reported. next_hop_widths: number of routes of BGP in the default
    instance, on SR Linux of next-hop groups, by the number of their next hops; None where not read.
    """

    interfaces: tuple[ObservedInterface, ...]
    sessions: tuple[ObservedBgpSession, ...]
    lldp: bool = True
    hashes_source_port: bool | None = None
    vnis: frozenset[int] | None = None
    next_hop_widths: Mapping[int, int] | None = None
