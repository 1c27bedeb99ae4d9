"""`ip -batch` commands that create the links, addresses and routes of a topology. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from ipaddress import IPv4Interface, IPv4Network
from itertools import pairwise

from railfab.device import DeviceModel, IpAddress
from railfab.lab.netns.names import MANAGEMENT, LabNames
from railfab.platforms.frr.devices import DeviceKind, linux_devices
from railfab.topology import Bond, Node, Port, Role, Topology

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


def ip_version(topology: Topology, node: Node) -> int:
    """IP version with which `ip` runs the commands of a node: that of the address of a host, 4 on a switch."""
    return topology.pools.hosts.version if topology.pools and node.role is Role.HOST else 4


def node_commands(
    topology: Topology, node: str, management: IPv4Interface | None, devices: Sequence[str] = ()
) -> list[str]:
    """Commands inside the namespace of one node: addresses, routes and every port up.

    Packets are not forwarded to or from the management network; only the switch itself uses it.
    devices: commands of `device_commands` for a switch.
    """
    ports = topology.ports_of(node)
    lines = ["link set lo up", *(f"link set {port.name} up" for port, _, _ in ports), *devices]
    if management is not None:
        lines += [f"addr add {management} dev {MANAGEMENT}", f"link set {MANAGEMENT} up"]
        lines += _management_rules(management.network)
    if topology.node(node).role is Role.HOST:
        bonds = [bond for bond in topology.bonds if bond.host == node]
        lines += [line for bond in bonds for line in _bond_commands(bond)]
        lines += _host_commands(topology, [(port, peer) for port, peer, _ in ports], bonds)
    return lines


def _bond_commands(bond: Bond) -> Iterator[str]:
    """A LAG of a host; its ports must be down when they join."""
    yield f"link add {bond.name} type bond mode 802.3ad lacp_rate fast miimon 100 xmit_hash_policy layer3+4"
    for port in bond.ports:
        yield f"link set dev {port} down"
        yield f"link set dev {port} master {bond.name}"
    yield f"link set dev {bond.name} up"


def device_commands(model: DeviceModel, missing: Collection[DeviceKind] = ()) -> list[str]:
    """Commands that make the devices of a switch. missing: kinds that the kernel lacks; nothing is put into them."""
    devices = linux_devices(model)
    absent = {device.name for device in devices if device.kind in missing}
    made = (command for device in devices if device.kind not in missing for command in device.commands)
    return [command for command in made if absent.isdisjoint(_masters(command))]


def _masters(command: str) -> Iterator[str]:
    """The devices into which a command puts another one."""
    words = command.split()
    yield from (name for word, name in pairwise(words) if word == "master")


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


def _host_commands(topology: Topology, ports: Sequence[tuple[Port, Port]], bonds: Sequence[Bond]) -> list[str]:
    """Addresses, and source-based routes: a reply leaves by the NIC port, or LAG, that received the request.

    Packets without a source address use all of them (ECMP). onlink: IPv6 refuses a next hop behind a link without
    carrier, and the switch boots later.
    """
    ends = [(port.name, port.address, _gateway(topology, peer), peer.vlan is not None) for port, peer in ports]
    ends += [(bond.name, bond.address, _gateway_of_vlan(topology, bond.switches[0], bond.vlan), True) for bond in bonds]
    lines, next_hops = [], []
    for table, (device, address, gateway, bridged) in enumerate(ends, start=FIRST_TABLE):
        if address is None or gateway is None:
            continue
        next_hop = f"via {gateway} dev {device}{' onlink' * (gateway.version == 6)}"
        next_hops.append(f"nexthop {next_hop}")
        lines.append(f"addr add {address} dev {device}")
        lines.append(f"rule add from {address.ip} table {table}")
        lines += [f"route add {address.network} dev {device} table {table}"] * bridged
        lines.append(f"route add default {next_hop} table {table}")
    return [*lines, "route add default " + " ".join(next_hops)] if next_hops else lines


def _gateway(topology: Topology, peer: Port) -> IpAddress | None:
    """The next hop of a host: the address of the port of the switch, or of the switch in the VLAN of that port."""
    return peer.address.ip if peer.address is not None else _gateway_of_vlan(topology, peer.node, peer.vlan)


def _gateway_of_vlan(topology: Topology, switch: str, vlan: int | None) -> IpAddress | None:
    gateways = (found for found in topology.gateways if (found.node, found.vlan) == (switch, vlan))
    return next((found.address.ip for found in gateways), None)
