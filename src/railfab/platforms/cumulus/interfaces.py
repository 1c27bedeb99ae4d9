"""Renders ports, breakouts, the loopback, bonds and SVIs: `interface`, and the VLANs: `bridge`."""

from __future__ import annotations

from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
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
    interfaces_of_peers,
)
from railfab.platforms.cumulus.names import BRIDGE, PEER_LINK, PEER_LINK_CONTROL, allowed, device_name, lanes_of
from railfab.platforms.cumulus.nodes import ON, stated
from railfab.platforms.shared.json_tree import Json

FEC = {Fec.OFF: "off", Fec.BASE_R: "baser", Fec.RS_528: "rs"}
"""`rs` is RS(528,514) or RS(544,514), whichever the modulation of the speed wants."""

BOND_MODES = {True: "lacp", False: "static"}
CONTROL_VLAN = 4094
"""VLAN of the subinterface of the peer link."""


def render_interfaces(model: DeviceModel) -> Json:
    """Every interface by its name on the switch."""
    interfaces: Json = {}
    for breakout in model.breakouts:
        interfaces |= _breakout(breakout)
    uplinks = _uplinks(model)
    for interface in model.interfaces:
        name = device_name(interface.name)
        rendered = _interface(interface, uplink=interface.name in uplinks)
        lane = interfaces.get(name)
        interfaces[name] = {**rendered, "link": {**lane["link"], **rendered.get("link", {})}} if lane else rendered
    if model.mlag is not None:
        control = stated(type="sub", description=model.mlag.domain)
        interfaces[PEER_LINK_CONTROL] = {**control, "base-interface": PEER_LINK, "vlan": CONTROL_VLAN}
    return interfaces


def _uplinks(model: DeviceModel) -> frozenset[str]:
    """The ports with a session of a switch with EVPN multihoming: when all are down, its bonds to hosts go down too."""
    if not any(isinstance(lag, Lag) and lag.esi is not None for lag in model.interfaces):
        return frozenset()
    return frozenset(interfaces_of_peers(model).values())


def _breakout(breakout: BreakoutPort) -> Json:
    """The cage, and the speed of each of its ports."""
    lanes = {
        lane: {"type": "swp", "link": {"speed": f"{breakout.rate_gbps}G"}}
        for lane in lanes_of(breakout.cage, breakout.lanes)
    }
    return {breakout.cage: {"type": "swp", "link": {"breakout": {f"{breakout.lanes}x": {}}}}, **lanes}


def _interface(interface: Interface, *, uplink: bool) -> Json:
    common = _common(interface)
    if isinstance(interface, Loopback):
        return {"type": "loopback", **common}
    if isinstance(interface, Svi):
        return _with_gateways(interface, {"type": "svi", "vlan": interface.vlan, **common})
    if isinstance(interface, Lag):
        is_peer = device_name(interface.name) == PEER_LINK
        settings = {"type": "peerlink" if is_peer else "bond", **common}
        bridge = _bridge(interface.vlans, edge=not is_peer)
        settings |= {"bond": _bond(interface), **stated(bridge=bridge, evpn=_segment(interface))}
    else:
        assert isinstance(interface, Port)
        settings = {"type": "swp", **common, **stated(bridge=_bridge(interface.vlans, edge=True))}
        link = {**common.get("link", {}), **stated(speed=_speed(interface), fec=interface.fec and FEC[interface.fec])}
        settings |= stated(link=link)
    if uplink:
        settings["evpn"] = {"multihoming": {**settings.get("evpn", {}).get("multihoming", {}), "uplink": ON}}
    return settings


def _speed(port: Port) -> str | None:
    return f"{port.rate_gbps}G" if port.rate_gbps is not None else None


def _common(interface: Interface) -> Json:
    """Settings of every kind of interface. One of the default VRF states none, and neither does a bridged one."""
    link = stated(mtu=interface.mtu_bytes, state=None if interface.enabled else {"down": {}})
    instance = interface.network_instance
    ipv6: Json = stated(address=_addresses(interface.addresses, 6))
    if interface.unnumbered:
        ipv6["neighbor-discovery"] = {"router-advertisement": {"state": ON}}
    return stated(
        description=interface.description,
        link=link,
        vrf=None if instance in (None, DEFAULT_INSTANCE) else allowed(instance),
        ipv4=stated(address=_addresses(interface.addresses, 4)),
        ipv6=ipv6,
    )


def _addresses(addresses: tuple[IpInterface, ...], version: int) -> Json:
    return {str(address): {} for address in addresses if address.version == version}


def _bond(lag: Lag) -> Json:
    mlag = stated(mlag=stated(id=lag.mlag_id))
    return {"member": {name: {} for name in lag.members}, "mode": BOND_MODES[lag.lacp], **mlag}


def _segment(lag: Lag) -> Json | None:
    """The Ethernet segment of a bond, with the MAC address by which LACP knows both switches."""
    if lag.esi is None:
        return None
    return {"multihoming": {"segment": {"state": ON, "identifier": lag.esi, **stated(mac_address=lag.system_mac)}}}


EDGE: Json = {"stp": {"admin-edge": ON, "bpdu-guard": ON}}
"""A port towards a host forwards at once, and goes down where a switch answers (Spanning Tree, Edge Ports)."""


def _bridge(vlans: VlanMembership | None, *, edge: bool) -> Json | None:
    """VLANs of a bridged interface: an access port has one, a trunk states also which is untagged.

    edge: whether it leads to a host, as all but the peer link do.
    """
    if vlans is None:
        return None
    tree = EDGE if edge else {}
    if vlans.untagged is not None and not vlans.tagged:
        return {"domain": {BRIDGE: {"access": vlans.untagged, **tree}}}
    untagged: Any = "none" if vlans.untagged is None else vlans.untagged
    return {"domain": {BRIDGE: {"untagged": untagged, "vlan": {str(vlan): {} for vlan in vlans.tagged}, **tree}}}


def _with_gateways(svi: Svi, entry: Json) -> Json:
    """An SVI with its anycast gateways, which NVUE calls VRR."""
    for version in (4, 6):
        gateways = tuple(gateway for gateway in svi.gateways if gateway.version == version)
        if gateways:
            vrr = {"address": _addresses(gateways, version), "state": ON, "vrr-state": {"up": {}}}
            family = entry.setdefault(f"ipv{version}", {})
            family["vrr"] = {**vrr, **stated(mac_address=svi.gateway_mac)}
    return entry


def render_bridge(model: DeviceModel) -> Json | None:
    """The VLANs of the bridge, with their VNIs."""
    if not model.vlans:
        return None
    vlans: Json = {
        str(vlan.vlan_id): {"vni": {str(vlan.vni): {}}} if vlan.vni is not None else {} for vlan in model.vlans
    }
    return {"domain": {BRIDGE: {"vlan": vlans}}}
