"""Renders and parses ports, breakouts and the loopback: `/interface`."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface
from typing import NamedTuple

from railfab.device import BreakoutPort, DeviceModel, Interface
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

SYSTEM = "system0"
ROUTED = "srl_nokia-interfaces:routed"
ETHERNET_HEADER_BYTES = 14
"""Port MTU minus IP MTU: the port MTU counts the Ethernet header without FCS."""

MIN_PORT_MTU_BYTES = 1500
ADVERTISEMENT_S = {"max-advertisement-interval": 10, "min-advertisement-interval": 4}
"""Intervals of IPv6 router advertisements [s]; the first one discovers the neighbour of an unnumbered port."""

_PORT = re.compile(r"ethernet-(\d+)/(\d+)(?:/(\d+))?")


class Ports(NamedTuple):
    """Parsed `/interface`. loopback: address of system0; None when it has none."""

    loopback: IPv4Address | None
    breakouts: tuple[BreakoutPort, ...]
    interfaces: tuple[Interface, ...]


def is_managed(name: str) -> bool:
    """Whether railfab manages the interface: front-panel ports and the loopback, not the management port."""
    return name == SYSTEM or _PORT.fullmatch(name) is not None


def subinterface(name: str) -> str:
    """Name of a port's only subinterface: `ethernet-1/9.0`."""
    return f"{name}.0"


def port_of(subinterface_name: str) -> str:
    """The port of a subinterface."""
    return subinterface_name.rpartition(".")[0]


def front_panel(name: str) -> tuple[int, ...]:
    """Slot, port and lane of an interface, for sorting."""
    match = _PORT.fullmatch(name)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def render_interfaces(model: DeviceModel) -> list[Json]:
    ports = [(breakout.cage, _breakout(breakout)) for breakout in model.breakouts]
    ports += [(interface.name, _port(interface)) for interface in model.interfaces]
    return [entry for _, entry in sorted(ports, key=lambda port: front_panel(port[0]))] + [_loopback(model.loopback)]


def _breakout(breakout: BreakoutPort) -> Json:
    mode = {"num-breakout-ports": str(breakout.lanes), "breakout-port-speed": _speed(breakout.rate_gbps)}
    return {"name": breakout.cage, "admin-state": "enable", "breakout-mode": mode}


def _port(interface: Interface) -> Json:
    port: Json = {"name": interface.name, "admin-state": "enable" if interface.enabled else "disable"}
    if interface.description:
        port["description"] = interface.description
    if interface.mtu_bytes is not None:
        port["mtu"] = max(MIN_PORT_MTU_BYTES, interface.mtu_bytes + ETHERNET_HEADER_BYTES)
    if interface.rate_gbps is not None:
        port["ethernet"] = {"port-speed": _speed(interface.rate_gbps)}
    return port | {"subinterface": [_subinterface(interface)]}


def _subinterface(interface: Interface) -> Json:
    entry: Json = {"index": 0, "type": ROUTED, "admin-state": "enable"}
    if interface.mtu_bytes is not None:
        entry["ip-mtu"] = interface.mtu_bytes
    if interface.address is not None:
        entry["ipv4"] = {"admin-state": "enable", "address": [{"ip-prefix": str(interface.address)}]}
    if interface.unnumbered:
        role = {"router-role": {"admin-state": "enable", **ADVERTISEMENT_S}}
        entry["ipv6"] = {"admin-state": "enable", "srl_nokia-interfaces-router-adv:router-advertisement": role}
    return entry


def _loopback(address: IPv4Address) -> Json:
    ipv4 = {"admin-state": "enable", "address": [{"ip-prefix": f"{address}/32"}]}
    return {"name": SYSTEM, "admin-state": "enable", "subinterface": [{"index": 0, "ipv4": ipv4}]}


def _speed(rate_gbps: int) -> str:
    return "1T" if rate_gbps == 1000 else f"{rate_gbps}G"


def parse_interfaces(root: ConfigNode, attached: frozenset[str]) -> Ports:
    """Effective configuration of the ports. attached: subinterfaces of the default network instance."""
    ports = [port for port in root.entries("interface", "name") if is_managed(str(port.value["name"]))]
    ports.sort(key=lambda port: front_panel(str(port.value["name"])))
    cages = {str(port.value["name"]): port for port in ports if "breakout-mode" in port.value}
    breakouts = {name: found for name, port in cages.items() if (found := _parse_breakout(name, port))}
    interfaces = [
        _parse_port(port, attached)
        for port in ports
        if port.value["name"] not in cages and port.value["name"] != SYSTEM
    ]
    return Ports(
        loopback=_parse_loopback(root.entry("interface", "name", SYSTEM)),
        breakouts=tuple(breakouts.values()),
        interfaces=tuple(_below_cage(interface, breakouts, cages, root) for interface in interfaces),
    )


def _parse_breakout(name: str, port: ConfigNode) -> BreakoutPort | None:
    mode = port.child("breakout-mode")
    if "subinterface" in port.value:
        port.problem(
            "a broken-out port cannot have a subinterface", "Configure its breakout ports instead", "subinterface"
        )
    lanes = mode.needed(
        "num-breakout-ports", mode.number("num-breakout-ports"), "Set the number of ports, for example 4"
    )
    rate = _parse_speed(mode, "breakout-port-speed")
    mode.needed("breakout-port-speed", rate, "Set the speed of each port, for example 100G")
    return BreakoutPort(cage=name, lanes=lanes, rate_gbps=rate) if lanes is not None and rate is not None else None


def _parse_port(port: ConfigNode, attached: frozenset[str]) -> Interface:
    name = str(port.value["name"])
    unit = port.entry("subinterface", "index", 0)
    routes = subinterface(name) in attached
    return Interface(
        name=name,
        description=port.text("description") or "",
        enabled=port.enabled(default=True) and unit.enabled(default=True),
        mtu_bytes=_parse_mtu(port, unit),
        rate_gbps=_parse_speed(port.child("ethernet"), "port-speed"),
        address=_parse_address(unit.child("ipv4")) if routes else None,
        unnumbered=routes and _parse_unnumbered(unit.child("ipv6")),
    )


def _parse_mtu(port: ConfigNode, unit: ConfigNode) -> int | None:
    """Effective IP MTU: the smaller of the subinterface's ip-mtu and what the port's MTU allows."""
    ip_mtu, port_mtu = unit.number("ip-mtu"), port.number("mtu")
    if ip_mtu is None or port_mtu is None:
        return ip_mtu
    return min(ip_mtu, port_mtu - ETHERNET_HEADER_BYTES)


def _parse_address(ipv4: ConfigNode) -> IPv4Interface | None:
    entries = list(ipv4.entries("address", "ip-prefix"))
    if len(entries) > 1:
        ipv4.problem("several addresses on one port", "Remove all but one", "address")
    address = entries[0].interface("ip-prefix") if entries else None
    return address if ipv4.enabled(default=False) else None


def _parse_unnumbered(ipv6: ConfigNode) -> bool:
    role = ipv6.at("router-advertisement", "router-role")
    return ipv6.enabled(default=False) and role.enabled(default=False)


def _parse_loopback(port: ConfigNode) -> IPv4Address | None:
    ipv4 = port.entry("subinterface", "index", 0).child("ipv4")
    address = _parse_address(ipv4)
    if address is None:
        ipv4.problem("the loopback has no address", "Configure a /32 address and set admin-state to enable", "address")
        return None
    return address.ip


def _parse_speed(node: ConfigNode, leaf: str) -> int | None:
    """A speed in Gb/s; those below 1 Gb/s are not a fabric's."""
    speed = node.text(leaf)
    if speed is None:
        return None
    match = re.fullmatch(r"(\d+)([GT])", speed)
    if match is None:
        node.problem(f"{speed!r} is not a port speed", "Use for example 400G", leaf)
        return None
    return int(match[1]) * (1000 if match[2] == "T" else 1)


def _below_cage(
    interface: Interface, breakouts: dict[str, BreakoutPort], cages: dict[str, ConfigNode], root: ConfigNode
) -> Interface:
    """A breakout port exists only if its cage has that many lanes; it is down when the cage is disabled."""
    *_, lane = front_panel(interface.name)
    if not lane:
        return interface
    cage = interface.name.rpartition("/")[0]
    breakout = breakouts.get(cage)
    if breakout is None or lane > breakout.lanes:
        node = ConfigNode({}, f"{root.path}/interface[name={interface.name}]", root.problems)
        node.problem(f"{cage} is not broken out into {lane} ports", f"Set breakout-mode on {cage}")
        return interface
    return replace(interface, enabled=interface.enabled and cages[cage].enabled(default=True))
