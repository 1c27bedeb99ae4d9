"""`ip -batch` commands that create the links, addresses and routes of a topology. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Interface, IPv4Network

from railfab.device import DeviceModel
from railfab.lab.netns.names import MANAGEMENT, LabNames
from railfab.topology import Port, Role, Topology

DEFAULT_MTU_BYTES = 1500
RULE_PRIORITY = 1000
"""Priority of the routing rules for the management network: after the local table, before the main table."""

FIRST_TABLE = 100
"""Routing table of a host's first NIC port; the next ports have the next tables."""


def mtu_bytes(port: Port, peer: Port, models: Mapping[str, DeviceModel]) -> int:
    """MTU of one end of a link [bytes]: from the model of the switch; a host has the MTU of its switch."""
    for end in (port, peer):
        if end.node in models:
            interface = models[end.node].interface(end.name)
            return (interface.mtu_bytes if interface else None) or DEFAULT_MTU_BYTES
    return DEFAULT_MTU_BYTES


def cable_commands(topology: Topology, models: Mapping[str, DeviceModel], names: LabNames) -> list[str]:
    """One veth pair per link, with both ends created in their namespaces."""
    return [
        f"link add {_end(link.a, link.z, models, names)} type veth peer {_end(link.z, link.a, models, names)}"
        for link in topology.links
    ]


def _end(port: Port, peer: Port, models: Mapping[str, DeviceModel], names: LabNames) -> str:
    return f"name {port.name} mtu {mtu_bytes(port, peer, models)} netns {names.namespace(port.node)}"


def management_commands(names: LabNames, gateway: IPv4Interface, switches: Mapping[str, IPv4Interface]) -> list[str]:
    """A bridge in the caller's namespace with a link to `mgmt0` of each switch."""
    lines = [f"link add name {names.bridge} type bridge", f"addr add {gateway} dev {names.bridge}"]
    for index, switch in enumerate(switches):
        port, namespace = names.management_port(index), names.namespace(switch)
        lines.append(f"link add name {port} type veth peer name {MANAGEMENT} netns {namespace}")
        lines.append(f"link set {port} master {names.bridge} up")
    return [*lines, f"link set {names.bridge} up"]


def node_commands(topology: Topology, node: str, management: IPv4Interface | None) -> list[str]:
    """Commands inside the namespace of one node: addresses, routes and every port up.

    Packets are not forwarded to or from the management network; only the switch itself uses it.
    """
    ports = topology.ports_of(node)
    lines = ["link set lo up", *(f"link set {port.name} up" for port, _, _ in ports)]
    if management is not None:
        lines += [f"addr add {management} dev {MANAGEMENT}", f"link set {MANAGEMENT} up"]
        lines += _management_rules(management.network)
    if topology.node(node).role is Role.HOST:
        lines += _host_commands([(port, peer) for port, peer, _ in ports])
    return lines


def reset_commands(topology: Topology, node: str, models: Mapping[str, DeviceModel]) -> list[str]:
    """Commands inside the namespace of a switch that undo what was configured there since the lab was started.

    Its ports go down and up again, with the MTU of the model; routes over them are lost.
    """
    lines = ["addr flush dev lo scope global"]
    for port, peer, _ in topology.ports_of(node):
        lines.append(f"link set {port.name} down")
        lines.append(f"addr flush dev {port.name} scope global")
        lines.append(f"link set {port.name} mtu {mtu_bytes(port, peer, models)} up")
    return lines


def _management_rules(management: IPv4Network) -> list[str]:
    """Routing rules: only the switch itself sends to the management network; packets from it are not forwarded."""
    return [
        f"rule add priority {RULE_PRIORITY} iif lo to {management} table main",
        f"rule add priority {RULE_PRIORITY + 1} to {management} blackhole",
        f"rule add priority {RULE_PRIORITY + 2} iif {MANAGEMENT} blackhole",
    ]


def _host_commands(ports: list[tuple[Port, Port]]) -> list[str]:
    """Addresses, and source-based routes: a reply leaves by the NIC port that received the request.

    Packets without a source address use all ports (ECMP).
    """
    lines, next_hops = [], []
    for table, (port, peer) in enumerate(ports, start=FIRST_TABLE):
        if port.address is None or peer.address is None:
            continue
        next_hop = f"via {peer.address.ip} dev {port.name}"
        next_hops.append(f"nexthop {next_hop}")
        lines.append(f"addr add {port.address} dev {port.name}")
        lines.append(f"rule add from {port.address.ip} table {table}")
        lines.append(f"route add default {next_hop} table {table}")
    return [*lines, "route add default " + " ".join(next_hops)] if next_hops else lines
