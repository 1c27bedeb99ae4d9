"""Interfaces of a switch: loopbacks, ports, LAGs and SVIs, and what connects them: VLANs, VRFs, MLAG, VTEP."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network

IpAddress = IPv4Address | IPv6Address
IpInterface = IPv4Interface | IPv6Interface
IpNetwork = IPv4Network | IPv6Network

DEFAULT_INSTANCE = "default"
"""Name of the network instance that every switch has."""

LOOPBACK = "loopback0"
"""The loopback with the router ID, in every model; each platform has its own name for it: `system0`, `lo`."""

VTEP_LOOPBACK = "loopback1"
"""The loopback with the address of the VTEP, in every model."""


def loopback_name(number: int) -> str:
    """The name of a loopback in every model: `loopback0`. Each platform renders its own name and parses it back."""
    return f"loopback{number}"


def lag_name(number: int) -> str:
    """The name of a LAG in every model: `lag1`. Each platform renders its own name and parses it back."""
    return f"lag{number}"


def svi_name(vlan_id: int) -> str:
    """The name of an SVI in every model: `vlan10`. Each platform renders its own name and parses it back."""
    return f"vlan{vlan_id}"


def number_of(name: str) -> int:
    """The number in the name of a loopback, LAG or SVI: 10 of `vlan10`. Raises ValueError for another name."""
    return int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))


class Fec(StrEnum):
    """Forward error correction of a port (IEEE 802.3 clauses 74, 91, 119)."""

    OFF = "off"
    BASE_R = "base-r"
    RS_528 = "rs-528"
    RS_544 = "rs-544"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakoutPort:
    """A cage split into `lanes` interfaces of `rate_gbps` each; the platform derives their names from the cage."""

    cage: str
    lanes: int
    rate_gbps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VlanMembership:
    """VLANs of a bridged port or LAG. untagged: VLAN of frames without a tag. tagged: ascending."""

    untagged: int | None
    tagged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """Settings that every kind of interface has.

    name: of a port, as its platform names it; of others, as `loopback_name`, `lag_name` and `svi_name` do.
    mtu_bytes: largest IP packet; None where the platform does not configure it (the operating system does).
    network_instance: where it routes; None for a bridged port and for a member of a LAG.
    addresses: of both families, IPv4 first, each ascending.
    unnumbered: IPv6 link-local with router advertisements, for RFC 5549 sessions.
    """

    name: str
    description: str = ""
    enabled: bool = True
    mtu_bytes: int | None = None
    network_instance: str | None = DEFAULT_INSTANCE
    addresses: tuple[IpInterface, ...] = ()
    unnumbered: bool = False

    @property
    def subnets(self) -> tuple[IpNetwork, ...]:
        """The subnets of its addresses."""
        return tuple(address.network for address in self.addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loopback(Interface):
    """A loopback. A mistake: one without addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port(Interface):
    """A front-panel port.

    rate_gbps: configured speed; None for a port of a breakout and where the platform does not configure it.
    fec: None is the platform's default for the speed. vlans: None unless the port is bridged.
    hold_up_ms: how long a link must stay up before the port is used [ms]. received_mtu_bytes: largest IP packet that
    the port receives, where that is more than mtu_bytes, the largest that it sends; None for the same.
    link_level_retry: frames lost on the cable are sent again by the port (Ultra Ethernet 1.0, LLR).
    """

    rate_gbps: int | None = None
    hold_up_ms: int = 0
    fec: Fec | None = None
    vlans: VlanMembership | None = None
    received_mtu_bytes: int | None = None
    link_level_retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag(Interface):
    """A LAG with LACP (IEEE 802.1AX). members: ports, in front-panel order.

    mlag_id: number that the LAG has on both switches of an MLAG pair. esi: Ethernet segment identifier with EVPN
    multihoming (RFC 7432), ten octets as `00:11:...`. system_mac: LACP system identifier that both switches use.
    """

    members: tuple[str, ...]
    lacp: bool = True
    mlag_id: int | None = None
    esi: str | None = None
    system_mac: str | None = None
    vlans: VlanMembership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Svi(Interface):
    """The routed interface of a VLAN. gateways: anycast addresses that the other switches of the VLAN have too.

    gateway_mac: MAC address of the anycast gateways; None is the platform's default.
    """

    vlan: int
    gateways: tuple[IpInterface, ...] = ()
    gateway_mac: str | None = None


TARGET_AS = 65000
"""AS of the route targets of VLANs, on switches of every platform. Those that a system derives by itself (`auto`) have
the AS of the switch (RFC 8365, 5.1.2.1), so that leaves of an eBGP fabric would not import the routes of each other."""


def vlan_target(vni: int) -> str:
    """The EVPN route target of a VLAN: `65000:10100`."""
    return f"{TARGET_AS}:{vni}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vlan:
    """A bridge domain. vni: its VXLAN network identifier (L2VNI); None without an overlay."""

    vlan_id: int
    name: str
    vni: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInstance:
    """A VRF; the default network instance has no entry. rd, targets: as `65000:100`. vni: L3VNI."""

    name: str
    rd: str | None = None
    import_targets: tuple[str, ...] = ()
    export_targets: tuple[str, ...] = ()
    vni: int | None = None
    router_id: IPv4Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vtep:
    """The VXLAN tunnel endpoint. source: the loopback interface. address: its address."""

    source: str
    address: IpAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class MlagKeepalive:
    """The path on which the switches of a pair find out that the peer link alone has failed."""

    peer: IpAddress
    source: IpAddress | None = None
    network_instance: str = DEFAULT_INSTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Mlag:
    """An MLAG pair. peer_link: the LAG to the other switch. address, peer: both ends' addresses on the peer link."""

    domain: str
    peer_link: str
    address: IpInterface | None = None
    peer: IpAddress | None = None
    keepalive: MlagKeepalive | None = None
    system_mac: str | None = None
