"""`ip -batch` commands that create the links, addresses and routes of a topology. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network, collapse_addresses
from itertools import pairwise
from typing import Any

from railfab.device import DeviceModel, IpAddress, Port
from railfab.lab.netns.names import MANAGEMENT, LabNames
from railfab.platforms.frr.devices import DeviceKind, linux_devices
from railfab.topology import Bond, CabledPort, Net, Topology
from railfab.topology.model import Interface

DEFAULT_MTU_BYTES = 1500
RULE_PRIORITY = 1000
"""Priority of the routing rules for the management network: after the local table, before the main table."""

DEFAULT_ROUTES = (Net.FRONTEND, Net.BACKEND, Net.STORAGE, Net.MANAGEMENT)
"""The default route of a host is over the first of these that it has; the others have routes to their hosts."""

FIRST_TABLE = 100
"""Routing table of a host's first NIC port; the next ports have the next tables."""


def mtu_bytes(port: CabledPort, peer: CabledPort, models: Mapping[str, DeviceModel]) -> int:
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


def _end(port: CabledPort, peer: CabledPort, models: Mapping[str, DeviceModel], names: LabNames) -> str:
    return f"name {port.name} mtu {mtu_bytes(port, peer, models)} netns {names.namespace(port.node)}"


def management_commands(names: LabNames, gateway: IPv4Interface, switches: Mapping[str, IPv4Interface]) -> list[str]:
    """A bridge in the caller's namespace with a link to `mgmt0` of each switch."""
    lines = [f"link add name {names.bridge} type bridge", f"addr add {gateway} dev {names.bridge}"]
    for index, switch in enumerate(switches):
        port, namespace = names.management_port(index), names.namespace(switch)
        lines.append(f"link add name {port} type veth peer name {MANAGEMENT} netns {namespace}")
        lines.append(f"link set {port} master {names.bridge} up")
    return [*lines, f"link set {names.bridge} up"]


def node_commands(
    topology: Topology, node: str, management: IPv4Interface | None, devices: Sequence[str] = ()
) -> dict[int, list[str]]:
    """Commands inside the namespace of one node, by the IP version of `ip`: every port up, addresses and routes.

    Packets are not forwarded to or from the management network; only the switch itself uses it.
    devices: commands of `device_commands` for a switch.
    """
    ports = topology.ports_of(node)
    lines = ["link set lo up", *(f"link set {port.name} up" for port, _, _ in ports), *devices]
    if management is not None:
        lines += [f"addr add {management} dev {MANAGEMENT}", f"link set {MANAGEMENT} up"]
        lines += _management_rules(management.network)
    if topology.node(node).is_switch:
        return {4: lines}
    bonds = [bond for bond in topology.bonds if bond.host == node]
    lines += [line for bond in bonds for line in _bond_commands(bond)]
    ends = _host_ends(topology, [(port, peer) for port, peer, _ in ports], bonds)
    versions = {version: [end for end in ends if end.address.version == version] for version in (4, 6)}
    return {4: lines + _host_commands(topology, versions[4]), 6: _host_commands(topology, versions[6])}


def _bond_commands(bond: Bond) -> Iterator[str]:
    """A LAG of a host; its ports must be down when they join."""
    yield f"link add {bond.name} type bond mode 802.3ad lacp_rate fast miimon 100 xmit_hash_policy layer3+4"
    for port in bond.ports:
        yield f"link set dev {port} down"
        yield f"link set dev {port} master {bond.name}"
    yield f"link set dev {bond.name} up"


def uncabled_commands(topology: Topology, model: DeviceModel) -> list[str]:
    """Commands that make the ports of a switch without a cable in the lab, such as those to management ports.

    Each is one end of a veth pair whose other end is up beside it, so that it has a carrier as in the fabric.
    """
    cabled = {port.name for port, _, _ in topology.ports_of(model.name)}
    ports = (found.name for found in model.interfaces if isinstance(found, Port))
    return [
        command
        for name in ports
        if name not in cabled
        for command in (
            f"link add {name} type veth peer name {name}-end",
            f"link set {name}-end up",
            f"link set {name} up",
        )
    ]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _HostEnd:
    """A NIC port or LAG of a host with its address. bridged: in a VLAN, where other hosts are reached directly."""

    net: Net
    device: str
    address: Interface
    gateway: IpAddress
    bridged: bool

    @property
    def next_hop(self) -> str:
        """onlink: IPv6 refuses a next hop behind a link without carrier, and the switch boots later."""
        return f"via {self.gateway} dev {self.device}{' onlink' * (self.gateway.version == 6)}"


def _host_ends(
    topology: Topology, ports: Sequence[tuple[CabledPort, CabledPort]], bonds: Sequence[Bond]
) -> list[_HostEnd]:
    """The ports and LAGs of a host that have an address and a gateway."""
    ends = [
        (port.name, port.address, peer.node, _gateway(topology, peer), peer.vlan is not None) for port, peer in ports
    ]
    for bond in bonds:
        switch = bond.switches[0]
        ends.append((bond.name, bond.address, switch, _gateway_of_vlan(topology, switch, bond.vlan), True))
    return [
        _HostEnd(net=topology.node(switch).net, device=device, address=address, gateway=gateway, bridged=bridged)
        for device, address, switch, gateway, bridged in ends
        if address is not None and gateway is not None
    ]


def _host_commands(topology: Topology, ends: Sequence[_HostEnd]) -> list[str]:
    """Addresses, and source-based routes: a reply leaves by the NIC port, or LAG, that received the request.

    Packets without a source address use all ports of the network of their destination (ECMP).
    """
    lines = []
    for table, end in enumerate(ends, start=FIRST_TABLE):
        lines.append(f"addr add {end.address} dev {end.device}")
        lines.append(f"rule add from {end.address.ip} table {table}")
        lines += [f"route add {end.address.network} dev {end.device} table {table}"] * end.bridged
        lines.append(f"route add default {end.next_hop} table {table}")
    present = {end.net for end in ends}
    for net in (net for net in DEFAULT_ROUTES if net in present):
        next_hops = " ".join(f"nexthop {end.next_hop}" for end in ends if end.net is net)
        is_default = net is next(net for net in DEFAULT_ROUTES if net in present)
        destinations = ["default"] if is_default else _other_networks(topology, net, ends)
        lines += [f"route add {destination} {next_hops}" for destination in destinations]
    return lines


def _other_networks(topology: Topology, net: Net, ends: Sequence[_HostEnd]) -> list[str]:
    """The prefixes of the hosts of a network, without those to which a host with these addresses is connected."""
    version, own = ends[0].address.version, {end.address.network for end in ends}
    addresses = [port.address for port, peer, _ in topology.ports() if _is_of_host(topology, port, peer, net)]
    addresses += [bond.address for bond in topology.bonds if topology.node(bond.switches[0]).net is net]
    found: set[Any] = {address.network for address in addresses if address and address.version == version}
    return [str(prefix) for prefix in collapse_addresses(sorted(found)) if prefix not in own]


def _is_of_host(topology: Topology, port: CabledPort, peer: CabledPort, net: Net) -> bool:
    return not topology.node(port.node).is_switch and topology.node(peer.node).net is net


def _gateway(topology: Topology, peer: CabledPort) -> IpAddress | None:
    """The next hop of a host: the address of the port of the switch, or of the switch in the VLAN of that port."""
    return peer.address.ip if peer.address is not None else _gateway_of_vlan(topology, peer.node, peer.vlan)


def _gateway_of_vlan(topology: Topology, switch: str, vlan: int | None) -> IpAddress | None:
    gateways = (found for found in topology.gateways if (found.node, found.vlan) == (switch, vlan))
    return next((found.address.ip for found in gateways), None)
