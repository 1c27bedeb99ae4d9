"""Renders and parses the overlay, `nve` and `evpn`, and the MLAG pair, `mlag`."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

from railfab.device import (
    DEFAULT_INSTANCE,
    LOOPBACK,
    DeviceModel,
    Family,
    Lag,
    Mlag,
    MlagKeepalive,
    Vtep,
    vlan_target,
)
from railfab.platforms.cumulus.names import PEER_LINK_CONTROL, PEER_LINK_LAG
from railfab.platforms.cumulus.nodes import ON, entries, is_on, stated
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

DSCP = {"encapsulation": "copy", "decapsulation": "preserve"}
"""DSCP at the two ends of a tunnel; `copy` at its end would give hosts what a switch between made of the outer one."""


def render_nve(model: DeviceModel) -> Json | None:
    """`nve`: the tunnel endpoint, which answers ARP for the hosts of other switches, copies the DSCP of a packet to its
    outer header and leaves it as it was sent when the packet is out of the tunnel.

    By default both are derived from the switch priority: 26 becomes 24, another class at the next switch. ECN has no
    setting; it passes both ways as RFC 6040 says (VXLAN Tunnel DSCP Operations).
    """
    if model.vtep is None:
        return None
    source = {"address": str(model.vtep.address)}
    dscp = {name: {"dscp": {"action": action}} for name, action in DSCP.items()}
    return {"vxlan": {"state": ON, "source": source, "arp-nd-suppress": ON, **dscp}}


def render_evpn(model: DeviceModel) -> Json | None:
    """`evpn`, where a session carries its routes, with the route targets of VLANs (Command Reference, set evpn vni
    route-target), and multihoming where a bond has an Ethernet segment."""
    if not _has_evpn(model):
        return None
    segments = any(isinstance(lag, Lag) and lag.esi is not None for lag in model.interfaces)
    vnis = {str(vlan.vni): _targets(vlan.vni) for vlan in model.vlans if vlan.vni is not None}
    return {"state": ON, **stated(multihoming={"state": ON} if segments else None, vni=vnis or None)}


def _targets(vni: int) -> Json:
    return {"route-target": {"both": {vlan_target(vni): {}}}}


def _has_evpn(model: DeviceModel) -> bool:
    segments = any(isinstance(lag, Lag) and lag.esi is not None for lag in model.interfaces)
    return segments or any(Family.EVPN in neighbor.families for neighbor in model.neighbors)


def parse_vtep(root: ConfigNode) -> Vtep | None:
    """The tunnel endpoint; None without an address of its own, or where VXLAN is off."""
    vxlan = root.at("nve", "vxlan")
    source = vxlan.child("source").text("address")
    if not is_on(vxlan) or source in (None, "auto"):
        return None
    address = vxlan.child("source").address("address")
    return None if address is None else Vtep(source=LOOPBACK, address=address)


def render_mlag(mlag: Mlag | None) -> Json | None:
    """`mlag`. The name of the pair is in the description of the subinterface of its peer link."""
    if mlag is None:
        return None
    keepalive = mlag.keepalive
    vrf = None if keepalive is None or keepalive.network_instance == DEFAULT_INSTANCE else keepalive.network_instance
    return {
        "state": ON,
        "peer-ip": "linklocal",
        **stated(
            mac_address=mlag.system_mac,
            backup={str(keepalive.peer): stated(vrf=vrf)} if keepalive is not None else None,
        ),
    }


def parse_mlag(root: ConfigNode) -> Mlag | None:
    """The MLAG pair; None where MLAG is off."""
    node = root.child("mlag")
    if not is_on(node, default=bool(node.value)):
        return None
    control = root.at("interface", PEER_LINK_CONTROL)
    return Mlag(
        domain=control.text("description") or "",
        peer_link=PEER_LINK_LAG,
        peer=None if node.text("peer-ip") in ("linklocal", None) else node.address("peer-ip"),
        keepalive=_keepalive(node),
        system_mac=None if node.text("mac-address") == "auto" else node.text("mac-address"),
    )


def _keepalive(node: ConfigNode) -> MlagKeepalive | None:
    """The backup path; the switch chooses its own address of it."""
    for peer, settings in entries(node, "backup"):
        if (address := _address(peer)) is None:
            settings.problem(f"{peer!r} is not an IP address", "Use an address of the peer")
            continue
        return MlagKeepalive(peer=address, network_instance=settings.text("vrf") or DEFAULT_INSTANCE)
    return None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
