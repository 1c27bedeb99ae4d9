"""Parses interfaces and VLANs of a tree in today's spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_interface
from typing import TypeVar

from railfab.device import (
    DEFAULT_INSTANCE,
    BreakoutPort,
    Fec,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    number_of,
    svi_name,
)
from railfab.platforms.cumulus.interfaces import FEC
from railfab.platforms.cumulus.names import BRIDGE, cage_of, given, is_port, lanes_of, model_name
from railfab.platforms.cumulus.nodes import entries, is_on, keys, numbers, only_key
from railfab.platforms.shared.config_node import ConfigNode

T = TypeVar("T", bound=Interface)
FECS: Mapping[str, Fec] = {word: fec for fec, word in FEC.items()}
LANE_LEAVES = {"type", "link"}
"""Leaves of the port of a broken-out cage that is given a speed and nothing else."""


def parse_breakouts(root: ConfigNode) -> tuple[BreakoutPort, ...]:
    """The cages that are split into ports of one speed."""
    interfaces = root.child("interface")
    split = (_breakout(name, node, interfaces) for name, node in entries(root, "interface") if is_port(name))
    return tuple(breakout for breakout in split if breakout is not None)


def _breakout(name: str, node: ConfigNode, interfaces: ConfigNode) -> BreakoutPort | None:
    mode = only_key(node.child("link"), "breakout") or ""
    lanes = int(mode[:-1]) if mode[:-1].isdecimal() and mode.endswith("x") and mode != "1x" else None
    if lanes is None:
        return None
    ports = [interfaces.child(lane) for lane in lanes_of(name, lanes) if lane in interfaces.value]
    rates = {_rate(port) for port in ports} - {None}
    rate = rates.pop() if len(rates) == 1 else None
    return None if rate is None else BreakoutPort(cage=name, lanes=lanes, rate_gbps=rate)


def parse_interfaces(root: ConfigNode, breakouts: tuple[BreakoutPort, ...]) -> tuple[Interface, ...]:
    """The interfaces that a model has; a broken-out cage, and a port of one that is only given a speed, are none."""
    split = {breakout.cage: breakout for breakout in breakouts}
    members = {member for _, node in entries(root, "interface") for member in keys(node.child("bond"), "member")}
    parsed = (_interface(name, node, split, members) for name, node in entries(root, "interface"))
    return tuple(interface for interface in parsed if interface is not None)


def _interface(native: str, node: ConfigNode, split: Mapping[str, BreakoutPort], members: set[str]) -> Interface | None:
    name = model_name(native)
    if name is None or native in split:
        return None
    if is_port(native):
        cage = cage_of(native)
        if cage is not None and cage in split:
            return _lane(native, node, split[cage], members)
        return _port(native, node, _rate(node), members)
    if name.startswith("loopback"):
        return _common(Loopback(name=name), node)
    if name.startswith("vlan"):
        return _svi(name, node)
    return _lag(name, node)


def _lane(name: str, node: ConfigNode, breakout: BreakoutPort, members: set[str]) -> Port | None:
    """A port of a broken-out cage; none where only its speed is stated, or the cage has fewer ports."""
    if name not in lanes_of(breakout.cage, breakout.lanes):
        return None
    bare = set(node.value) <= LANE_LEAVES and set(node.child("link").value) <= {"speed"}
    return None if bare and name not in members else _port(name, node, None, members)


def _port(name: str, node: ConfigNode, rate_gbps: int | None, members: set[str]) -> Port:
    fec, vlans = node.child("link").text("fec"), _vlans(node)
    port = _common(Port(name=name, rate_gbps=rate_gbps, fec=FECS.get(fec or ""), vlans=vlans), node)
    return replace(port, network_instance=None) if vlans is not None or name in members else port


def _rate(node: ConfigNode) -> int | None:
    """The speed in Gb/s; those below 1 Gb/s are not a fabric's."""
    speed = node.child("link").text("speed") or ""
    return int(speed[:-1]) if speed.endswith("G") and speed[:-1].isdecimal() else None


def _common(shell: T, node: ConfigNode) -> T:
    link, ipv6 = node.child("link"), node.child("ipv6")
    return replace(
        shell,
        description=node.text("description") or "",
        enabled="down" not in link.child("state").value,
        mtu_bytes=link.number("mtu"),
        network_instance=given(node.text("vrf") or DEFAULT_INSTANCE),
        addresses=tuple(_addresses(node)),
        unnumbered=is_on(ipv6.at("neighbor-discovery", "router-advertisement")),
    )


def _addresses(node: ConfigNode, *path: str) -> Iterator[IpInterface]:
    for family in ("ipv4", "ipv6"):
        place = node.at(family, *path)
        for text in keys(place, "address"):
            try:
                yield ip_interface(text)
            except ValueError:
                place.problem(f"{text!r} is not an IP address with prefix length", "Use one, as 10.0.0.1/31", "address")


def _vlans(node: ConfigNode) -> VlanMembership | None:
    """VLANs of an interface of the bridge; None for one that is not in it."""
    domain = node.at("bridge", "domain").value
    if BRIDGE not in domain:
        return None
    bridge = node.at("bridge", "domain", BRIDGE)
    tagged = tuple(sorted(number for number, _ in numbers(bridge, "vlan")))
    untagged = bridge.text("access") or bridge.text("untagged") or ""
    return VlanMembership(untagged=int(untagged) if untagged.isdecimal() else None, tagged=tagged)


def _lag(name: str, node: ConfigNode) -> Lag:
    bond, segment, vlans = node.child("bond"), node.at("evpn", "multihoming", "segment"), _vlans(node)
    identifier = bond.child("mlag").text("id") or ""
    lag = Lag(
        name=name,
        members=tuple(keys(bond, "member")),
        lacp=bond.text("mode") != "static",
        mlag_id=int(identifier) if identifier.isdecimal() else None,
        esi=segment.text("identifier") if is_on(segment) else None,
        system_mac=segment.text("mac-address") if is_on(segment) else None,
        vlans=vlans,
    )
    parsed = _common(lag, node)
    return replace(parsed, network_instance=None) if vlans is not None else parsed


def _svi(name: str, node: ConfigNode) -> Svi:
    vrr = {family: node.at(family, "vrr") for family in ("ipv4", "ipv6")}
    macs = [mac for part in vrr.values() if (mac := part.text("mac-address")) not in (None, "auto")]
    gateways = tuple(_addresses(node, "vrr"))
    svi = Svi(
        name=name,
        vlan=node.number("vlan") or number_of(name),
        gateways=gateways,
        gateway_mac=macs[0] if macs and gateways else None,
    )
    return _common(svi, node)


def parse_vlans(root: ConfigNode) -> Iterator[Vlan]:
    """The VLANs of the bridge. They have no names on a switch."""
    for vlan_id, node in numbers(root.at("bridge", "domain", BRIDGE), "vlan"):
        vni = only_key(node, "vni")
        yield Vlan(vlan_id=vlan_id, name=svi_name(vlan_id), vni=int(vni) if vni and vni.isdecimal() else None)
