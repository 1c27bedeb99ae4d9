"""The frontend: a routed Clos of leaves and spines, with an EVPN/VXLAN overlay and a VRF for each tenant.

With `attach: esi`, a host connects by one LAG to the two leaves of its pair; the first VLAN of the first tenant is
untagged, all others are tagged. If the intent has no tenants, one tenant contains all hosts.
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
"""Added to a VLAN to get its VNI."""
ONLY_TENANT, ONLY_VLAN = "hosts", 100
"""The default tenant and its VLAN, for a frontend with LAGs and without tenants."""
BOND, HOST_BUNDLE = "front-bond", 100
"""Name and number of the LAG of a host; the number is above those of rails."""
ESI_FRONTEND = 1
"""The second octet of Ethernet segment identifiers of the frontend; those of the backend have 0."""


def frontend_part(
    network: AccessNetwork, frontend: Frontend, hosts: Sequence[Node], *, numbered: bool, reflectors: int
) -> Part:
    """The nodes, links, gateways and LAGs of the frontend. reflectors: spines that reflect EVPN routes."""
    tenants, cables = tenants_of(network, frontend), tuple(host_cables(network, hosts))
    links = (*access_links(network, cables, _ends(network, frontend, hosts)), *uplinks(network, numbered=numbered))
    return Part(
        nodes=switches(network, links, reflectors=reflectors if tenants else None),
        links=links,
        gateways=tuple(_gateways(network, tenants)),
        bonds=tuple(_bonds(network, frontend, hosts, cables)),
    )


def tenants_of(network: AccessNetwork, frontend: Frontend) -> Mapping[str, Tenant]:
    """The tenants by name; hosts are in the first one."""
    if frontend.tenants or frontend.attach == "routed":
        return frontend.tenants
    return {ONLY_TENANT: Tenant(vlan=ONLY_VLAN, subnet=network.pools.members)}


def _ends(network: AccessNetwork, frontend: Frontend, hosts: Sequence[Node]) -> Callable[[Cable], Ends]:
    """The settings of access links: routed, in a LAG, or one port in the VLAN of the first tenant."""
    if frontend.attach == "routed":
        return routed(network)
    tenant = _first(network, frontend)
    if frontend.nic_ports > 1:
        none = (None, None)
        return lambda cable: Ends(none, tenant.vlan, (HOST_BUNDLE, FIRST_HOST_BUNDLE + cable.place.slot))
    addresses = {host.name: _host_address(network, tenant, host) for host in hosts}
    return lambda cable: Ends((addresses[cable.node], None), tenant.vlan)


def _first(network: AccessNetwork, frontend: Frontend) -> Tenant:
    return next(iter(tenants_of(network, frontend).values()))


def _host_address(network: AccessNetwork, tenant: Tenant, host: Node) -> IPv4Interface:
    """The address of a host: after the gateway of the subnet, by the number of the host."""
    number = network.member_number(host.pod, host.segment or 1, host.index - 1)
    return IPv4Interface((int(tenant.subnet.network_address) + 2 + number, tenant.subnet.prefixlen))


def _bonds(
    network: AccessNetwork, frontend: Frontend, hosts: Sequence[Node], cables: Sequence[Cable]
) -> Iterator[Bond]:
    """One LAG per host. cables: of the hosts in their order."""
    if frontend.attach == "routed" or (ports := frontend.nic_ports) == 1:
        return
    tenant = _first(network, frontend)
    for place, host in enumerate(hosts):
        bond_cables = cables[place * ports : (place + 1) * ports]
        yield Bond(
            host=host.name,
            name=BOND,
            ports=network.host_ports,
            switches=tuple(network.leaf_name(cable.socket.leaf) for cable in bond_cables),
            bundle=FIRST_HOST_BUNDLE + bond_cables[0].place.slot,
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
    """The gateways of every VLAN of every tenant, with the same addresses on every leaf."""
    for leaf in range(1, network.leaves.count + 1):
        for name, tenant in tenants.items():
            for found in (tenant, *tenant.vlans.values()):
                yield Gateway(
                    node=network.leaf_name(leaf),
                    vlan=found.vlan,
                    subnet=found.subnet,
                    address=IPv4Interface((int(found.subnet.network_address) + 1, found.subnet.prefixlen)),
                    anycast=True,
                    vni=found.vni or VNI_BASE + found.vlan,
                    tenant=name,
                )
