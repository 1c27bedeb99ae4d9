"""Parses `/interface` to ports, breakouts, loopbacks, LAGs and SVIs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from railfab.device import (
    BreakoutPort,
    Fec,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    VlanMembership,
    number_of,
    svi_name,
)
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.srlinux.interfaces import FEC_OPTIONS
from railfab.platforms.srlinux.mtu import received_mtu, sent_mtu
from railfab.platforms.srlinux.names import IRB, cage_of, front_panel, is_port, model_lag, model_loopback, subinterface

_FEC = {option: fec for fec, option in FEC_OPTIONS.items()}
_SPEED = re.compile(r"(\d+)([MGT])")
Attached = Mapping[str, str]
"""Network instance of each subinterface that one routes."""


class ParsedInterfaces(NamedTuple):
    """Parsed `/interface`."""

    breakouts: tuple[BreakoutPort, ...]
    interfaces: tuple[Interface, ...]


def parse_interfaces(root: ConfigNode, attached: Attached, esis: Mapping[str, str]) -> ParsedInterfaces:
    """Effective configuration of the interfaces. esis: Ethernet segment identifier of each LAG that has one."""
    nodes = {str(node.value["name"]): node for node in root.entries("interface", "name")}
    fronts = {name: nodes.pop(name) for name in sorted(filter(is_port, nodes), key=front_panel)}
    cages = {name: node for name, node in fronts.items() if "breakout-mode" in node.value}
    breakouts = {name: breakout for name, node in cages.items() if (breakout := _breakout(name, node))}
    members = {name: lag for name, node in fronts.items() if (lag := node.child("ethernet").text("aggregate-id"))}
    ports = [_port(node, name, attached, members) for name, node in fronts.items() if name not in cages]
    others: list[Interface] = [*_loopbacks(nodes, attached), *_lags(nodes, attached, members, esis)]
    return ParsedInterfaces(
        breakouts=tuple(breakouts.values()),
        interfaces=(*(_below_cage(port, breakouts, cages, root) for port in ports), *others, *_svis(nodes, attached)),
    )


def _breakout(name: str, port: ConfigNode) -> BreakoutPort | None:
    mode = port.child("breakout-mode")
    if "subinterface" in port.value:
        port.problem(
            "a broken-out port cannot have a subinterface", "Configure its breakout ports instead", "subinterface"
        )
    lanes = mode.needed(
        "num-breakout-ports", mode.number("num-breakout-ports"), "Set the number of ports, for example 4"
    )
    rate = _speed(mode, "breakout-port-speed")
    mode.needed("breakout-port-speed", rate, "Set the speed of each port, for example 100G")
    return BreakoutPort(cage=name, lanes=lanes, rate_gbps=rate) if lanes is not None and rate is not None else None


def _port(port: ConfigNode, name: str, attached: Attached, members: Mapping[str, str]) -> Port:
    ethernet = port.child("ethernet")
    vlans, unit = _subinterfaces(port)
    bridged = vlans is not None or name in members
    return Port(
        name=name,
        description=port.text("description") or "",
        enabled=port.enabled(default=True),
        mtu_bytes=sent_mtu(port, unit, whole=bridged),
        received_mtu_bytes=None if bridged else received_mtu(port, unit),
        network_instance=None if bridged else _instance(unit, name, attached),
        addresses=_addresses(unit),
        unnumbered=_unnumbered(unit.child("ipv6")),
        rate_gbps=_speed(ethernet, "port-speed"),
        hold_up_ms=ethernet.child("hold-time").number("up") or 0,
        fec=_fec(ethernet.child("forward-error-correction")),
        vlans=vlans,
    )


def _instance(unit: ConfigNode, name: str, attached: Attached) -> str | None:
    """The network instance in which an interface routes; a disabled subinterface routes in none."""
    return attached.get(subinterface(name)) if unit.enabled(default=True) else None


def _addresses(unit: ConfigNode, *, anycast: bool = False) -> tuple[IpInterface, ...]:
    """Addresses of the enabled families, IPv4 first. anycast: the gateways that several switches share, or the own."""
    return tuple(
        address
        for family in ("ipv4", "ipv6")
        if family in unit.value and (node := unit.child(family)).enabled(default=False)
        for entry in node.entries("address", "ip-prefix")
        if entry.flag("anycast-gw", default=False) is anycast and (address := entry.interface("ip-prefix"))
    )


def _unnumbered(ipv6: ConfigNode) -> bool:
    role = ipv6.at("router-advertisement", "router-role")
    return ipv6.enabled(default=False) and role.enabled(default=False)


def _speed(node: ConfigNode, leaf: str) -> int | None:
    """A speed in Gb/s; those below 1 Gb/s are not a fabric's."""
    speed = node.text(leaf)
    if speed is None:
        return None
    match = _SPEED.fullmatch(speed)
    if match is None:
        node.problem(f"{speed!r} is not a port speed", "Use for example 400G", leaf)
        return None
    return None if match[2] == "M" else int(match[1]) * (1000 if match[2] == "T" else 1)


def _fec(node: ConfigNode) -> Fec | None:
    return _FEC.get(node.text("fec-option") or "")


def _subinterfaces(port: ConfigNode) -> tuple[VlanMembership | None, ConfigNode]:
    """The VLANs of a port with bridged subinterfaces, and the routed subinterface 0, which is empty on such a port."""
    nothing, units = ConfigNode({}, port.path, port.problems), list(port.entries("subinterface", "index"))
    if bridged := [unit for unit in units if unit.value.get("type") == "bridged"]:
        return _vlans(port, bridged), nothing
    return None, next((unit for unit in units if str(unit.value["index"]) == "0"), nothing)


def _vlans(port: ConfigNode, bridged: Sequence[ConfigNode]) -> VlanMembership:
    """VLANs of a port, whose IDs are the indices of its bridged subinterfaces."""
    tagging = port.flag("vlan-tagging", default=False)
    untagged, tagged = None, set()
    for unit in bridged:
        vlan = unit.number("index")
        encap = unit.at("vlan", "encap")
        if vlan is not None and tagging and "single-tagged" in encap.value:
            tagged.add(vlan)
        elif vlan is not None and (not tagging or "untagged" in encap.value):
            untagged = vlan
    return VlanMembership(untagged=untagged, tagged=tuple(sorted(tagged)))


def _loopbacks(nodes: Mapping[str, ConfigNode], attached: Attached) -> list[Loopback]:
    loopbacks = {model: node for name, node in nodes.items() if (model := model_loopback(name))}
    return [_loopback(loopbacks[name], name, attached) for name in sorted(loopbacks, key=number_of)]


def _loopback(node: ConfigNode, name: str, attached: Attached) -> Loopback:
    unit = node.entry("subinterface", "index", 0)
    return Loopback(
        name=name,
        description=node.text("description") or "",
        enabled=node.enabled(default=True),
        network_instance=_instance(unit, name, attached),
        addresses=_addresses(unit),
    )


def _lags(
    nodes: Mapping[str, ConfigNode], attached: Attached, members: Mapping[str, str], esis: Mapping[str, str]
) -> list[Lag]:
    names = sorted(filter(model_lag, nodes), key=number_of)
    return [
        _lag(nodes[name], name, attached, tuple(port for port, lag in members.items() if lag == name), esis)
        for name in names
    ]


def _lag(node: ConfigNode, name: str, attached: Attached, members: tuple[str, ...], esis: Mapping[str, str]) -> Lag:
    body = node.child("lag")
    vlans, unit = _subinterfaces(node)
    return Lag(
        name=name,
        description=node.text("description") or "",
        enabled=node.enabled(default=True),
        mtu_bytes=sent_mtu(node, unit, whole=vlans is not None),
        network_instance=_instance(unit, name, attached) if vlans is None else None,
        addresses=_addresses(unit),
        unnumbered=_unnumbered(unit.child("ipv6")),
        members=members,
        lacp=body.text("lag-type") == "lacp",
        esi=esis.get(name),
        system_mac=body.child("lacp").text("system-id-mac"),
        vlans=vlans,
    )


def _svis(nodes: Mapping[str, ConfigNode], attached: Attached) -> Iterator[Svi]:
    irb = nodes.get(IRB)
    if irb is None:
        return
    units = {vlan: unit for unit in irb.entries("subinterface", "index") if (vlan := unit.number("index")) is not None}
    for vlan in sorted(units):
        unit = units[vlan]
        gateway = unit.child("anycast-gw")
        yield Svi(
            name=svi_name(vlan),
            description=unit.text("description") or "",
            enabled=irb.enabled(default=True) and unit.enabled(default=True),
            mtu_bytes=unit.number("ip-mtu"),
            network_instance=attached.get(subinterface(svi_name(vlan))),
            addresses=_addresses(unit),
            unnumbered=_unnumbered(unit.child("ipv6")),
            vlan=vlan,
            gateways=_addresses(unit, anycast=True),
            gateway_mac=gateway.text("anycast-gw-mac"),
        )


def _below_cage(
    port: Port, breakouts: Mapping[str, BreakoutPort], cages: Mapping[str, ConfigNode], root: ConfigNode
) -> Port:
    """A breakout port exists only if its cage has that many lanes; it is down when the cage is disabled."""
    *_, lane = front_panel(port.name)
    if not lane:
        return port
    cage = cage_of(port.name)
    breakout = breakouts.get(cage)
    if breakout is None or lane > breakout.lanes:
        node = ConfigNode({}, f"{root.path}/interface[name={port.name}]", root.problems)
        lanes = f"has {breakout.lanes} ports" if breakout else "is not broken out"
        node.problem(f"{cage} {lanes}", f"Set breakout-mode on {cage}, or remove this port")
        return port
    return port if cages[cage].enabled(default=True) else replace(port, enabled=False)
