"""The largest IP packets that a port sends and receives: from the leaves of its configuration, or from the defaults."""

from __future__ import annotations

from dataclasses import replace

from railfab.device import DeviceModel, Interface, Lag, Port
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json, member_of
from railfab.platforms.srlinux.interfaces import ETHERNET_HEADER_BYTES, MIN_PORT_MTU_BYTES
from railfab.platforms.srlinux.tree import stripped

DEFAULTS = {"default-ip-mtu": 1500, "default-port-mtu": 9232}
"""Leaves of /system/mtu, and their own defaults (srl_nokia-mtu)."""


def sent_mtu(port: ConfigNode, unit: ConfigNode, *, whole: bool) -> int | None:
    """Effective IP MTU: the smaller of the subinterface's ip-mtu and what the port's MTU allows.

    whole: a bridged port or a member of a LAG, where the port's MTU alone decides.
    """
    ip_mtu, port_mtu = unit.number("ip-mtu"), port.number("mtu")
    if port_mtu is not None and (whole or ip_mtu is not None):
        allowed = port_mtu - ETHERNET_HEADER_BYTES
        return allowed if ip_mtu is None else min(ip_mtu, allowed)
    return ip_mtu


def received_mtu(port: ConfigNode, unit: ConfigNode) -> int | None:
    """The IP packet that the port's MTU lets in, where it is larger than the ip-mtu, which only limits what is sent
    (srl_nokia-interfaces, ip-mtu: "the maximum sized IPv4 or IPv6 packet that can be transmitted")."""
    ip_mtu, port_mtu = unit.number("ip-mtu"), port.number("mtu")
    if port_mtu is None or ip_mtu is None or port_mtu <= max(MIN_PORT_MTU_BYTES, ip_mtu + ETHERNET_HEADER_BYTES):
        return None
    return port_mtu - ETHERNET_HEADER_BYTES


def with_default_mtus(model: DeviceModel, tree: Json) -> DeviceModel:
    """The model of a configuration, with the defaults where a routed port or LAG, or its subinterface, states no MTU.

    They are "taken from" /system/mtu (srl_nokia-interfaces, mtu and ip-mtu). A parsed model has no MTU there, so that
    it renders to the same configuration; a switch forwards by the default.
    """
    nodes = {str(entry.get("name")): entry for entry in stripped(member_of(tree, "interface", []))}
    defaults = {**DEFAULTS, **stripped(member_of(member_of(tree, "system", {}), "mtu", {}))}
    interfaces = tuple(_in_effect(interface, nodes, defaults) for interface in model.interfaces)
    return model if interfaces == model.interfaces else replace(model, interfaces=interfaces)


def _in_effect(interface: Interface, nodes: Json, defaults: Json) -> Interface:
    """An interface as the switch has it; only ports and LAGs that route have an IP MTU of their own."""
    if not isinstance(interface, Port | Lag) or interface.network_instance is None:
        return interface
    node = ConfigNode(nodes[interface.name], "", [])
    unit = node.entry("subinterface", "index", 0)
    port = node._replace(value={"mtu": defaults["default-port-mtu"], **node.value})
    unit = unit._replace(value={"ip-mtu": defaults["default-ip-mtu"], **unit.value})
    sending = replace(interface, mtu_bytes=sent_mtu(port, unit, whole=False))
    return replace(sending, received_mtu_bytes=received_mtu(port, unit)) if isinstance(sending, Port) else sending
