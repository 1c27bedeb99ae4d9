"""Addresses of the single switches in the VLANs whose gateway several switches have.

Some platforms need one beside the gateway, as the source of what a switch sends by itself. Hosts have the first
addresses of a subnet and the gateway the one before them, so these are the last ones: of the first switch the last
that a host could have, of the next switch the one before. None changes when hosts or switches are added.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from ipaddress import ip_interface

from railfab.device.interfaces import IpInterface
from railfab.topology import Gateway, Network, Topology

GatewayKey = tuple[str, int]
"""A switch and a VLAN."""


def switch_addresses(topology: Topology) -> Mapping[GatewayKey, IpInterface]:
    """The address of each switch beside each of its anycast gateways; none where the subnet has no room for it."""
    shared: dict[tuple[str | None, Network], list[Gateway]] = {}
    for gateway in topology.gateways:
        if gateway.anycast:
            shared.setdefault((gateway.tenant, gateway.subnet), []).append(gateway)
    if not shared:
        return {}
    taken = set(_taken(topology))
    addresses: dict[GatewayKey, IpInterface] = {}
    for (tenant, subnet), gateways in shared.items():
        for place, gateway in enumerate(gateways, start=1):
            number = int(subnet.broadcast_address) - place
            if number > int(gateway.address) and (tenant, number) not in taken:
                addresses[gateway.node, gateway.vlan] = ip_interface((number, subnet.prefixlen))
    return addresses


def _taken(topology: Topology) -> Iterator[Hashable]:
    """The addresses of hosts in VLANs, with their tenants."""
    tenants = {(gateway.node, gateway.vlan): gateway.tenant for gateway in topology.gateways}
    for link in topology.links:
        if link.a.address is not None and link.z.vlan is not None:
            yield tenants.get((link.z.node, link.z.vlan)), int(link.a.address)
    for bond in topology.bonds:
        if bond.address is not None and bond.vlan is not None:
            yield tenants.get((bond.switches[0], bond.vlan)), int(bond.address)
