"""What a host is told so that each NIC port uses its own rail: input for `ip -batch`.

A host has an address on every rail and one way out for each: what it sends from an address must leave by that address's
port. So every port, or bond of ports, has a routing table of its own and a rule that sends its address there.
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
"""A port that the host's own kernel does not have."""
FIRST_TABLE: Mapping[Net, int] = {Net.BACKEND: 1000, Net.FRONTEND: 2000, Net.STORAGE: 3000, Net.MANAGEMENT: 4000}
"""Routing tables of each network's interfaces; rules have the same numbers as priorities, before the main table."""

FAMILIES: Mapping[int, str] = {4: "", 6: "-6 "}
"""Options of `ip` by IP version; it guesses the family of an address, but not that of a rule."""
BATCH_HEADING = "# {host}: addresses, routes and source rules."
"""How every batch begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One address of a host and the way out from there. ports: members of a bond. vxlan: encapsulated by the switch."""

    device: str
    net: Net
    address: Interface
    gateway: Address | None
    vxlan: bool = False
    ports: tuple[str, ...] = ()


def host_batches(topology: Topology, intent: FabricIntent) -> Iterator[tuple[str, str]]:
    """Name and text of the batches of every host that has addresses, one for each family, as `ip` takes them.

    Interfaces are named as in the cabling plan.
    """
    destinations = _destinations(topology, intent)
    for host, own in _ways(topology).items():
        for version, options in FAMILIES.items():
            if chosen := [way for way in own if way.address.version == version]:
                name = f"{host}.ipv6.batch" if version == 6 else f"{host}.batch"
                yield name, _batch(host, f"{options}-force -batch {name}", chosen, destinations, intent.profile)


def _ways(topology: Topology) -> dict[str, list[_Way]]:
    """By host, in the order of its cables; a bond stands where its first port does."""
    nodes, gateways = topology.by_name, vlans(topology)
    bonds = {(bond.host, port): bond for bond in topology.bonds for port in bond.ports}
    ways: dict[str, list[_Way]] = {}
    for link in topology.links:
        host, port = nodes[link.a.node], link.a
        if host.role is not Role.HOST or port.name == BMC:
            continue
        net, bond = link_network(host, nodes[link.z.node]), bonds.get((port.node, port.name))
        if bond is None and port.address is not None:
            ways.setdefault(port.node, []).append(_of_port(link, port.address, net, gateways))
        elif bond is not None and bond.address is not None and port.name == bond.ports[0]:
            ways.setdefault(port.node, []).append(_of_bond(bond, bond.address, net, gateways))
    return ways


Gateways = Mapping[tuple[str, int], Gateway]


def _of_port(link: Link, address: Interface, net: Net, gateways: Gateways) -> _Way:
    peer = link.z
    gateway = gateways.get((peer.node, peer.vlan)) if peer.vlan is not None else None
    via = gateway.address.ip if gateway else peer.address.ip if peer.address else None
    return _Way(device=link.a.name, net=net, address=address, gateway=via, vxlan=_overlaid(gateway))


def _of_bond(bond: Bond, address: Interface, net: Net, gateways: Gateways) -> _Way:
    gateway = gateways.get((bond.switches[0], bond.vlan)) if bond.vlan is not None else None
    via = gateway.address.ip if gateway else None
    return _Way(device=bond.name, net=net, address=address, gateway=via, vxlan=_overlaid(gateway), ports=bond.ports)


def _overlaid(gateway: Gateway | None) -> bool:
    return gateway is not None and gateway.vni is not None


def _destinations(topology: Topology, intent: FabricIntent) -> Mapping[Net, str]:
    """What is reached over each network; all else over the frontend."""
    found = {Net.FRONTEND: "default"}
    if topology.pools is not None:
        found[Net.BACKEND] = str(topology.pools.hosts)
    for net, section in ((Net.STORAGE, intent.storage), (Net.MANAGEMENT, intent.management)):
        if section is not None:
            found[net] = str(section.pool)
    return found


def _batch(host: str, command: str, ways: list[_Way], destinations: Mapping[Net, str], profile: Profile) -> str:
    lines = [
        BATCH_HEADING.format(host=host),
        f"# Give its interfaces these names (ip link property add dev NAME altname {ways[0].device}), then:",
        f"# ip {command} (rules that are there already are reported and kept)",
    ]
    places: dict[Net, int] = {}
    for way in ways:
        place = places[way.net] = places.get(way.net, 0) + 1
        lines += (*_bond(way), _up(way, profile), f"address replace {way.address} dev {way.device}")
        lines += _routes(way, place, destinations.get(way.net))
    return "\n".join(lines) + "\n"


def _bond(way: _Way) -> Iterator[str]:
    if way.ports:
        yield f"link add name {way.device} {BOND}"
    for port in way.ports:
        yield f"link set dev {port} down"
        yield f"link set dev {port} master {way.device}"


def _up(way: _Way, profile: Profile) -> str:
    """With the fabric's MTU, less what an overlay adds; management keeps its own."""
    if way.net is Net.MANAGEMENT:
        return f"link set dev {way.device} up"
    mtu_bytes = profile.mtu - (VXLAN_BYTES[profile.family] if way.vxlan else 0)
    return f"link set dev {way.device} mtu {mtu_bytes} up"


def _routes(way: _Way, place: int, destination: str | None) -> Iterator[str]:
    """A table of its own and the rule that leads there.

    What runs on the GPUs binds to the addresses of their NICs; the way into any other network is in the main table too,
    the first port before the next.
    """
    if way.gateway is None or destination is None:
        return
    table, via = FIRST_TABLE[way.net] + place, f"via {way.gateway} dev {way.device}"
    if way.address.network.num_addresses > 2:
        yield f"route replace {way.address.network} dev {way.device} table {table}"
    yield f"route replace {destination} {via} table {table}"
    yield f"rule add priority {table} from {way.address.ip} table {table}"
    if way.net is not Net.BACKEND:
        yield f"route replace {destination} {via} metric {place}"
