"""The RoCE ports of a host. All hosts are cabled in the same way (see `topology.rails`), so one represents all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from railfab.intent import FabricIntent
from railfab.topology.model import Link, Net, Topology, link_network
from railfab.units import VXLAN_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class RocePort:
    """One port of a NIC that carries RoCE.

    name: as in the cabling plan; the host knows its interface by this name or alternative name. rail: from 1; None on
    the storage network. switch, switch_port: its peer, in this plane. bond: the LAG that it belongs to.
    """

    host: str
    name: str
    net: Net
    rail: int | None
    rate_gbps: int
    plane: int
    switch: str
    switch_port: str
    cable_m: int
    mtu: int
    bond: str | None


def roce_ports(topology: Topology, intent: FabricIntent) -> tuple[RocePort, ...]:
    """The ports of the first host whose network has the lossless class, by rail and port."""
    host = next(iter(topology.hosts()), None)
    return () if host is None else tuple(_roce_ports(topology, intent, _links_of(topology, host.name)))


def every_roce_port(topology: Topology, intent: FabricIntent) -> Iterator[RocePort]:
    """The same of every host, in the order of the cables."""
    hosts = {host.name for host in topology.hosts()}
    return _roce_ports(topology, intent, (link for link in topology.links if link.a.node in hosts))


def _roce_ports(topology: Topology, intent: FabricIntent, links: Iterable[Link]) -> Iterator[RocePort]:
    vxlan = VXLAN_BYTES[intent.profile.family]
    overlaid = {(gateway.node, gateway.vlan) for gateway in topology.gateways if gateway.vni is not None}
    bonds = {(bond.host, port): bond.name for bond in topology.bonds for port in bond.ports}
    for link in links:
        net = link_network(topology.node(link.a.node), topology.node(link.z.node))
        if _carries_roce(intent, net):
            yield RocePort(
                host=link.a.node,
                name=link.a.name,
                net=net,
                rail=link.a.rail,
                rate_gbps=link.a.rate_gbps,
                plane=topology.node(link.z.node).plane,
                switch=link.z.node,
                switch_port=link.z.name,
                cable_m=ceil(link.cable_m),
                mtu=intent.profile.mtu - (vxlan if (link.z.node, link.z.vlan) in overlaid else 0),
                bond=bonds.get((link.a.node, link.a.name)),
            )


def frontend_interfaces(topology: Topology) -> tuple[str, ...]:
    """The interfaces of the first host to the frontend network: its bonds, and ports outside bonds."""
    host = next(iter(topology.hosts()), None)
    if host is None:
        return ()
    bonds = _bonds(topology, host.name)
    links = [link for link in _links_of(topology, host.name) if topology.node(link.z.node).net is Net.FRONTEND]
    return tuple(dict.fromkeys(bonds.get(link.a.name, link.a.name) for link in links))


def _links_of(topology: Topology, host: str) -> Iterator[Link]:
    return (link for link in topology.links if link.a.node == host)


def _carries_roce(intent: FabricIntent, net: Net) -> bool:
    storage = intent.storage
    return net is Net.BACKEND or (net is Net.STORAGE and storage is not None and storage.protocol == "roce")


def _bonds(topology: Topology, host: str) -> dict[str, str]:
    """The LAG of each port of a host that is in one."""
    return {port: bond.name for bond in topology.bonds if bond.host == host for port in bond.ports}
