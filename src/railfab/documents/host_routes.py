"""Configuration of hosts, so that each NIC port uses its own rail: input for `ip -batch`.

A host has an address on every rail, and packets from an address must leave by the port of that address. So every port,
or bond of ports, has its own routing table and a source rule that selects it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.documents.addresses import vlans
from railfab.intent import FabricIntent, Profile
from railfab.topology.model import Address, Bond, Gateway, Interface, Link, Net, Role, Topology, link_network
from railfab.units import VXLAN_BYTES

BOND = "type bond mode 802.3ad lacp_rate fast miimon 100 xmit_hash_policy layer3+4"
BMC = "bmc"
"""A port that the kernel of the host does not have."""
FIRST_TABLE: Mapping[Net, int] = {Net.BACKEND: 1000, Net.FRONTEND: 2000, Net.STORAGE: 3000, Net.MANAGEMENT: 4000}
"""First routing table of each network; rules have the same numbers as priorities, before the main table."""

FAMILIES: Mapping[int, str] = {4: "", 6: "-6 "}
"""Options of `ip` by IP version; it guesses the family of an address, but not that of a rule."""
BATCH_HEADING = "# {host}: addresses, routes and source rules."
"""First line of every batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Route:
    """One address of a host and its gateway. ports: members of a bond. vxlan: encapsulated by the switch."""

    device: str
    net: Net
    address: Interface
    gateway: Address | None
    vxlan: bool = False
    ports: tuple[str, ...] = ()


def host_batches(topology: Topology, intent: FabricIntent) -> Iterator[tuple[str, str]]:
    """Name and text of the batches of every host with addresses, one per address family.

    Interfaces are named as in the cabling plan.
    """
    destinations = _destinations(topology, intent)
    for host, routes in _routes_of_hosts(topology).items():
        for version, options in FAMILIES.items():
            if chosen := [route for route in routes if route.address.version == version]:
                name = f"{host}.ipv6.batch" if version == 6 else f"{host}.batch"
                yield name, _batch(host, f"{options}-force -batch {name}", chosen, destinations, intent.profile)


def _routes_of_hosts(topology: Topology) -> dict[str, list[_Route]]:
    """The routes by host, in the order of its cables; a bond at the position of its first port."""
    nodes, gateways = topology.by_name, vlans(topology)
    bonds = {(bond.host, port): bond for bond in topology.bonds for port in bond.ports}
    routes: dict[str, list[_Route]] = {}
    for link in topology.links:
        host, port = nodes[link.a.node], link.a
        if host.role is not Role.HOST or port.name == BMC:
            continue
        net, bond = link_network(host, nodes[link.z.node]), bonds.get((port.node, port.name))
        if bond is None and port.address is not None:
            routes.setdefault(port.node, []).append(_of_port(link, port.address, net, gateways))
        elif bond is not None and bond.address is not None and port.name == bond.ports[0]:
            routes.setdefault(port.node, []).append(_of_bond(bond, bond.address, net, gateways))
    return routes


Gateways = Mapping[tuple[str, int], Gateway]


def _of_port(link: Link, address: Interface, net: Net, gateways: Gateways) -> _Route:
    peer = link.z
    gateway = gateways.get((peer.node, peer.vlan)) if peer.vlan is not None else None
    via = gateway.address.ip if gateway else peer.address.ip if peer.address else None
    return _Route(device=link.a.name, net=net, address=address, gateway=via, vxlan=_overlaid(gateway))


def _of_bond(bond: Bond, address: Interface, net: Net, gateways: Gateways) -> _Route:
    gateway = gateways.get((bond.switches[0], bond.vlan)) if bond.vlan is not None else None
    via = gateway.address.ip if gateway else None
    return _Route(device=bond.name, net=net, address=address, gateway=via, vxlan=_overlaid(gateway), ports=bond.ports)


def _overlaid(gateway: Gateway | None) -> bool:
    return gateway is not None and gateway.vni is not None


def _destinations(topology: Topology, intent: FabricIntent) -> Mapping[Net, str]:
    """Destination prefix of each network; the default route is over the frontend."""
    found = {Net.FRONTEND: "default"}
    if topology.pools is not None:
        found[Net.BACKEND] = str(topology.pools.hosts)
    for net, section in ((Net.STORAGE, intent.storage), (Net.MANAGEMENT, intent.management_network)):
        if section is not None:
            found[net] = str(section.pool)
    return found


def _batch(host: str, command: str, routes: list[_Route], destinations: Mapping[Net, str], profile: Profile) -> str:
    lines = [
        BATCH_HEADING.format(host=host),
        f"# Give its interfaces these names (ip link property add dev NAME altname {routes[0].device}), then:",
        f"# ip {command} (existing rules are reported and kept)",
    ]
    places: dict[Net, int] = {}
    for route in routes:
        place = places[route.net] = places.get(route.net, 0) + 1
        lines += (*_bond(route), _up(route, profile), f"address replace {route.address} dev {route.device}")
        lines += _routes(route, place, destinations.get(route.net))
    return "\n".join(lines) + "\n"


def _bond(route: _Route) -> Iterator[str]:
    if route.ports:
        yield f"link add name {route.device} {BOND}"
    for port in route.ports:
        yield f"link set dev {port} down"
        yield f"link set dev {port} master {route.device}"


def _up(route: _Route, profile: Profile) -> str:
    """Set the interface up with the MTU of the fabric, less the overhead of an overlay; management keeps its MTU."""
    if route.net is Net.MANAGEMENT:
        return f"link set dev {route.device} up"
    mtu_bytes = profile.mtu - (VXLAN_BYTES[profile.family] if route.vxlan else 0)
    return f"link set dev {route.device} mtu {mtu_bytes} up"


def _routes(route: _Route, place: int, destination: str | None) -> Iterator[str]:
    """The routing table of an address and its source rule.

    GPU traffic binds to the addresses of the NICs; for other networks the main table has routes too, with the first
    port preferred.
    """
    if route.gateway is None or destination is None:
        return
    table, via = FIRST_TABLE[route.net] + place, f"via {route.gateway} dev {route.device}"
    if route.address.network.num_addresses > 2:
        yield f"route replace {route.address.network} dev {route.device} table {table}"
    yield f"route replace {destination} {via} table {table}"
    yield f"rule add priority {table} from {route.address.ip} table {table}"
    if route.net is not Net.BACKEND:
        yield f"route replace {destination} {via} metric {place}"
