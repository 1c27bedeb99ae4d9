"""The address plan: every assigned address, and the AS numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.documents.table import Cell, Table
from railfab.topology.model import TIERS, CabledPort, Gateway, Link, Net, Node, Role, Topology, link_network

ADDRESSES = ("node", "port", "address", "what", "network", "plane", "rail", "vlan", "vni", "gateway")
AS_NUMBERS = ("node", "role", "asn", "route_reflector", "network", "plane", "pod", "router_id")


def addresses(topology: Topology) -> Table:
    """Every address: loopbacks, VTEPs, gateways, both ends of links, LAGs."""
    rows = (*_loopbacks(topology), *_gateways(topology), *_ports(topology), *_bonds(topology))
    return Table(name="addresses", columns=ADDRESSES, rows=rows)


def _loopbacks(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    for node in topology.switches():
        for port, address, what in (("lo", node.loopback, "loopback"), ("vtep", node.vtep, "VTEP")):
            if address is not None:
                length = address.max_prefixlen
                yield node.name, port, f"{address}/{length}", what, node.net, node.plane, None, None, None, None


def _gateways(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    for gateway in topology.gateways:
        node = topology.node(gateway.node)
        yield (
            gateway.node,
            f"vlan{gateway.vlan}",
            str(gateway.address),
            "anycast gateway" if gateway.anycast else "gateway",
            node.net,
            node.plane,
            gateway.rail,
            gateway.vlan,
            gateway.vni,
            None,
        )


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Nodes and gateways, for the rows of links."""

    nodes: Mapping[str, Node]
    gateways: Mapping[tuple[str, int], Gateway]

    def row(self, link: Link, port: CabledPort, peer: CabledPort) -> tuple[Cell, ...]:
        a, z = self.nodes[link.a.node], self.nodes[link.z.node]
        net, vlan = link_network(a, z), port.vlan if port.vlan is not None else peer.vlan
        gateway = self.gateways.get((peer.node, vlan)) if vlan is not None else None
        managed = net is Net.MANAGEMENT and port.cage == 0
        return (
            port.node,
            port.name,
            str(port.address),
            "management port" if managed else "fabric link" if TIERS[a.role] else "host link",
            net,
            z.plane,
            port.rail,
            vlan,
            gateway.vni if gateway else None,
            _gateway_of(port, peer, gateway),
        )


def _gateway_of(port: CabledPort, peer: CabledPort, gateway: Gateway | None) -> str | None:
    """The next hop of a host, or of the management port of a switch, outside its subnet."""
    if port.cage:
        return None
    if gateway is not None:
        return str(gateway.address.ip)
    return str(peer.address.ip) if peer.address else None


def _ports(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    lookup = _Lookup(topology.by_name, vlans(topology))
    for link in topology.links:
        if link.a.address is not None:
            yield lookup.row(link, link.a, link.z)
        if link.z.address is not None:
            yield lookup.row(link, link.z, link.a)


def vlans(topology: Topology) -> dict[tuple[str, int], Gateway]:
    """Gateways by switch and VLAN."""
    return {(gateway.node, gateway.vlan): gateway for gateway in topology.gateways}


def _bonds(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    gateways = vlans(topology)
    for bond in topology.bonds:
        if bond.address is None:
            continue
        switch = topology.node(bond.switches[0])
        gateway = gateways.get((switch.name, bond.vlan)) if bond.vlan is not None else None
        via, vni = (str(gateway.address.ip), gateway.vni) if gateway else (None, None)
        host, address, plane = bond.host, str(bond.address), switch.plane
        yield host, bond.name, address, "host bond", switch.net, plane, bond.rail, bond.vlan, vni, via


def as_numbers(topology: Topology) -> Table:
    """The AS number of every switch that has one."""
    rows = [
        (
            node.name,
            node.role,
            node.asn,
            "yes" if node.reflector else "no",
            node.net,
            node.plane,
            node.pod if node.role is not Role.SUPER and node.pod else None,
            str(node.router_id) if node.router_id else None,
        )
        for node in topology.switches()
        if node.asn is not None
    ]
    return Table(name="as-numbers", columns=AS_NUMBERS, rows=rows)
