"""The frontend: a routed Clos of leaves and spines, and above it an EVPN/VXLAN overlay with a VRF for each tenant.

Hosts of `attach: esi` are in the first tenant, untagged, by one LAG over the two leaves of their pair; the VLANs of
further tenants are tagged on it. Without tenants there is one, of all hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import IPv4Interface

from railfab.intent import Frontend, Tenant
from railfab.topology.attachment import FIRST_HOST_BUNDLE
from railfab.topology.model import Bond, Gateway, Node
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.members import Cable, host_cables
from railfab.topology.networks.parts import Ends, Part, access_links, routed, switches, uplinks

VNI_BASE = 10_000
"""Added to a VLAN for its VNI."""
ONLY_TENANT, ONLY_VLAN = "hosts", 100
"""The tenant, and its VLAN, of a frontend that has LAGs and names no tenant."""
BOND, HOST_BUNDLE = "front-bond", 100
"""A host's LAG; its number there is above those of the rails."""
ESI_FRONTEND = 1
"""The second octet of a frontend's Ethernet segment identifiers; the backend's have 0."""


def frontend_part(
    network: AccessNetwork, own: Frontend, hosts: Sequence[Node], *, numbered: bool, reflectors: int
) -> Part:
    """reflectors: spines that hand EVPN routes on."""
    tenants, cables = tenants_of(network, own), tuple(host_cables(network, hosts))
    links = (*access_links(network, cables, _ends(network, own, hosts)), *uplinks(network, numbered=numbered))
    return Part(
        nodes=switches(network, links, reflectors=reflectors if tenants else None),
        links=links,
        gateways=tuple(_gateways(network, tenants)),
        bonds=tuple(_bonds(network, own, hosts, cables)),
    )


def tenants_of(network: AccessNetwork, own: Frontend) -> Mapping[str, Tenant]:
    """By name; the first is the hosts' own."""
    if own.tenants or own.attach == "routed":
        return own.tenants
    return {ONLY_TENANT: Tenant(vlan=ONLY_VLAN, subnet=network.pools.members)}


def _ends(network: AccessNetwork, own: Frontend, hosts: Sequence[Node]) -> Callable[[Cable], Ends]:
    """Routed, in a LAG, or with one port in the hosts' VLAN."""
    if own.attach == "routed":
        return routed(network)
    tenant = _first(network, own)
    if own.nic_ports > 1:
        none = (None, None)
        return lambda cable: Ends(none, tenant.vlan, (HOST_BUNDLE, FIRST_HOST_BUNDLE + cable.place.slot))
    addresses = {host.name: _host_address(network, tenant, host) for host in hosts}
    return lambda cable: Ends((addresses[cable.node], None), tenant.vlan)


def _first(network: AccessNetwork, own: Frontend) -> Tenant:
    return next(iter(tenants_of(network, own).values()))


def _host_address(network: AccessNetwork, tenant: Tenant, host: Node) -> IPv4Interface:
    """After the subnet's gateway, by the host's own numbers."""
    number = network.member_number(host.pod, host.segment or 1, host.index - 1)
    return IPv4Interface((int(tenant.subnet.network_address) + 2 + number, tenant.subnet.prefixlen))


def _bonds(network: AccessNetwork, own: Frontend, hosts: Sequence[Node], cables: Sequence[Cable]) -> Iterator[Bond]:
    """One a host. cables: of the hosts in their order."""
    if own.attach == "routed" or (ports := own.nic_ports) == 1:
        return
    tenant = _first(network, own)
    for place, host in enumerate(hosts):
        mine = cables[place * ports : (place + 1) * ports]
        yield Bond(
            host=host.name,
            name=BOND,
            ports=network.host_ports,
            switches=tuple(network.leaf_name(cable.socket.leaf) for cable in mine),
            bundle=FIRST_HOST_BUNDLE + mine[0].place.slot,
            rail=None,
            vlan=tenant.vlan,
            address=_host_address(network, tenant, host),
            esi=_esi(host),
        )


def _esi(host: Node) -> str:
    """A type 0 Ethernet segment identifier (RFC 7432 section 5): network, pod, segment, host."""
    numbers = (host.pod, host.segment or 1, host.index)
    octets = (0, ESI_FRONTEND, *(octet for number in numbers for octet in (number >> 8, number & 255)), 0, 0)
    return ":".join(f"{octet:02x}" for octet in octets)


def _gateways(network: AccessNetwork, tenants: Mapping[str, Tenant]) -> Iterator[Gateway]:
    """Of every tenant on every leaf, all alike."""
    for leaf in range(1, network.leaves.count + 1):
        for name, tenant in tenants.items():
            yield Gateway(
                node=network.leaf_name(leaf),
                vlan=tenant.vlan,
                subnet=tenant.subnet,
                address=IPv4Interface((int(tenant.subnet.network_address) + 1, tenant.subnet.prefixlen)),
                anycast=True,
                vni=tenant.vni or VNI_BASE + tenant.vlan,
                tenant=name,
            )
