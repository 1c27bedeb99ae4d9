"""Renders ports, breakouts, loopbacks, LAGs and SVIs: `/interface`."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Interface

from railfab.device import (
    BreakoutPort,
    DeviceModel,
    Fec,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    VlanMembership,
    number_of,
)
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.names import IRB, front_panel, native_loopback

ROUTED, BRIDGED = "srl_nokia-interfaces:routed", "srl_nokia-interfaces:bridged"
ETHERNET_HEADER_BYTES = 14
"""Port MTU minus IP MTU: the port MTU counts the Ethernet header without FCS."""

MIN_PORT_MTU_BYTES = 1500
ADVERTISEMENT_S = {"max-advertisement-interval": 10, "min-advertisement-interval": 4}
"""Intervals of IPv6 router advertisements [s]; the first one discovers the neighbour of an unnumbered port."""

FEC_OPTIONS = {Fec.OFF: "disabled", Fec.BASE_R: "base-r", Fec.RS_528: "rs-528"}
"""FEC modes that SR Linux configures; ports with PAM4 always use RS(544,514)."""

NEIGHBORS = "srl_nokia-interfaces-nbr"
"""Nokia's module of ARP and neighbour discovery."""

VIRTUAL_ROUTER_ID = 1
"""Number from which SR Linux derives the MAC address of anycast gateways, the same on every switch."""


def render_interfaces(model: DeviceModel) -> list[Json]:
    """Ports and broken-out cages in front-panel order, then LAGs, the SVIs in `irb0`, and loopbacks."""
    lags = [lag for lag in model.interfaces if isinstance(lag, Lag)]
    lag_of = {member: lag.name for lag in lags for member in lag.members}
    ports = [(breakout.cage, _breakout(breakout)) for breakout in model.breakouts]
    ports += [(port.name, _port(port, lag_of.get(port.name))) for port in model.interfaces if isinstance(port, Port)]
    loopbacks = [_loopback(loopback) for loopback in model.interfaces if isinstance(loopback, Loopback)]
    overlaid = {vlan.vlan_id for vlan in model.vlans if vlan.vni is not None}
    svis = [_svi(svi, overlaid=svi.vlan in overlaid) for svi in model.interfaces if isinstance(svi, Svi)]
    irb: list[Json] = [{"name": IRB, "admin-state": "enable", "subinterface": svis}] if svis else []
    by_position = [entry for _, entry in sorted(ports, key=lambda port: front_panel(port[0]))]
    return by_position + [_lag(lag) for lag in lags] + irb + loopbacks


def _breakout(breakout: BreakoutPort) -> Json:
    mode = {"num-breakout-ports": str(breakout.lanes), "breakout-port-speed": _speed(breakout.rate_gbps)}
    return {"name": breakout.cage, "admin-state": "enable", "breakout-mode": mode}


def _port(port: Port, lag: str | None) -> Json:
    entry = _common(port, port.name)
    ethernet: Json = {}
    if port.rate_gbps is not None:
        ethernet["port-speed"] = _speed(port.rate_gbps)
    if port.fec is not None:
        ethernet["forward-error-correction"] = {"fec-option": FEC_OPTIONS[port.fec]}
    if port.hold_up_ms:
        ethernet["hold-time"] = {"up": port.hold_up_ms}
    if lag is not None:
        ethernet["aggregate-id"] = lag
    if ethernet:
        entry["ethernet"] = ethernet
    return entry if lag is not None else entry | _subinterfaces(port, port.vlans)


def _lag(lag: Lag) -> Json:
    body: Json = {"lag-type": "lacp" if lag.lacp else "static"}
    lacp: Json = {"interval": "FAST", "lacp-mode": "ACTIVE"} if lag.lacp else {}
    if lag.system_mac is not None:
        lacp |= {"admin-key": number_of(lag.name), "system-id-mac": lag.system_mac}
    if lacp:
        body["srl_nokia-lacp:lacp"] = lacp
    return _common(lag, lag.name) | {"srl_nokia-interfaces-lag:lag": body} | _subinterfaces(lag, lag.vlans)


def _common(interface: Interface, native: str) -> Json:
    """The leaves of every interface with an Ethernet header."""
    entry: Json = {"name": native, "admin-state": _state(interface.enabled)}
    if interface.description:
        entry["description"] = interface.description
    if interface.mtu_bytes is not None:
        entry["mtu"] = max(MIN_PORT_MTU_BYTES, interface.mtu_bytes + ETHERNET_HEADER_BYTES)
    if isinstance(interface, Port) and interface.received_mtu_bytes is not None:
        entry["mtu"] = interface.received_mtu_bytes + ETHERNET_HEADER_BYTES
    return entry


def _subinterfaces(interface: Interface, vlans: VlanMembership | None) -> Json:
    """The routed subinterface 0, or one bridged subinterface per VLAN with the VLAN's ID as index."""
    if vlans is None:
        return {"subinterface": [_routed(interface)]}
    tagging = bool(vlans.tagged)
    subinterfaces = [_bridged(vlan, f"{vlan}", tagging=True) for vlan in vlans.tagged]
    if vlans.untagged is not None:
        subinterfaces.append(_bridged(vlans.untagged, None, tagging=tagging))
    units: Json = {"subinterface": sorted(subinterfaces, key=lambda unit: int(unit["index"]))}
    return units | ({"srl_nokia-interfaces-vlans:vlan-tagging": True} if tagging else {})


def _bridged(vlan: int, tag: str | None, *, tagging: bool) -> Json:
    unit: Json = {"index": vlan, "type": BRIDGED, "admin-state": "enable"}
    if tagging:
        encap: Json = {"single-tagged": {"vlan-id": int(tag)}} if tag is not None else {"untagged": {}}
        unit["srl_nokia-interfaces-vlans:vlan"] = {"encap": encap}
    return unit


def _routed(interface: Interface) -> Json:
    entry: Json = {"index": 0, "type": ROUTED, "admin-state": "enable"}
    if interface.mtu_bytes is not None:
        entry["ip-mtu"] = interface.mtu_bytes
    return entry | _addresses(interface.addresses, unnumbered=interface.unnumbered)


def _addresses(addresses: Sequence[IpInterface], *, unnumbered: bool, gateways: Sequence[IpInterface] = ()) -> Json:
    """The containers `ipv4` and `ipv6` of a subinterface, each only where it has something in it."""
    entry: Json = {}
    ipv4 = _family(addresses, gateways, version=4)
    ipv6 = _family(addresses, gateways, version=6)
    if ipv4:
        entry["ipv4"] = {"admin-state": "enable", "address": ipv4}
    if ipv6 or unnumbered:
        entry["ipv6"] = {"admin-state": "enable"} | ({"address": ipv6} if ipv6 else {})
    if unnumbered:
        role = {"router-role": {"admin-state": "enable", **ADVERTISEMENT_S}}
        entry["ipv6"]["srl_nokia-interfaces-router-adv:router-advertisement"] = role
    return entry


def _family(addresses: Sequence[IpInterface], gateways: Sequence[IpInterface], *, version: int) -> list[Json]:
    local: list[Json] = [{"ip-prefix": str(address)} for address in addresses if address.version == version]
    shared = [{"ip-prefix": str(address), "anycast-gw": True} for address in gateways if address.version == version]
    return local + shared


def _loopback(loopback: Loopback) -> Json:
    """A loopback has an IPv4 container even when it has no address."""
    entry: Json = {"name": native_loopback(loopback.name), "admin-state": _state(loopback.enabled)}
    if loopback.description:
        entry["description"] = loopback.description
    addresses = _addresses(loopback.addresses, unnumbered=False)
    if not any(isinstance(address, IPv4Interface) for address in loopback.addresses):
        addresses["ipv4"] = {"admin-state": "enable"}
    return entry | {"subinterface": [{"index": 0} | addresses]}


def _svi(svi: Svi, *, overlaid: bool) -> Json:
    """An SVI. overlaid: whether its VLAN has a VNI; see `_learning`."""
    entry: Json = {"index": svi.vlan, "admin-state": _state(svi.enabled)}
    if svi.description:
        entry["description"] = svi.description
    if svi.mtu_bytes is not None:
        entry["ip-mtu"] = svi.mtu_bytes
    if svi.gateways:
        mac = {"anycast-gw-mac": svi.gateway_mac} if svi.gateway_mac else {"virtual-router-id": VIRTUAL_ROUTER_ID}
        entry["anycast-gw"] = mac
    families = _addresses(svi.addresses, unnumbered=svi.unnumbered, gateways=svi.gateways)
    if overlaid and svi.gateways:
        families |= {name: family | _learning(name) for name, family in families.items()}
    return entry | families


def _learning(family: str) -> Json:
    """Neighbours of an anycast gateway, which it shares with the other leaves: the answer of a host may reach another
    leaf than the one that asked (Nokia, learn.srlinux.dev, blog 2024, srlinux-asymmetric-routing, IRB interfaces).
    """
    protocol, learns = ("arp", True) if family == "ipv4" else ("neighbor-discovery", "both")
    announced = {f"{NEIGHBORS}-evpn:evpn": {"advertise": [{"route-type": "dynamic"}]}}
    return {f"{NEIGHBORS}:{protocol}": {"learn-unsolicited": learns, **announced}}


def _state(enabled: bool) -> str:
    return "enable" if enabled else "disable"


def _speed(rate_gbps: int) -> str:
    return "1T" if rate_gbps == 1000 else f"{rate_gbps}G"
