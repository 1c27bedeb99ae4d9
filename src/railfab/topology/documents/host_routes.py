"""What a host is told so that each NIC port uses its own rail: input for `ip -batch`.

A host has an address on every rail and one way out for each: what it sends from an address must leave by that address's
port. So every port, or bond of ports, has a routing table of its own and a rule that sends its address there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.intent import FabricIntent
from railfab.topology.documents.addresses import vlans
from railfab.topology.documents.cabling import network
from railfab.topology.model import Address, Bond, Gateway, Interface, Link, Net, Network, Role, Topology

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
    """One address of a host and the way out from there."""

    device: str
    net: Net
    rail: int | None
    address: Interface
    gateway: Address | None
    ports: tuple[str, ...] = ()
    """Members, of a bond."""


def host_batches(topology: Topology, intent: FabricIntent) -> Iterator[tuple[str, str]]:
    """Name and text of the batches of every host that has addresses, one for each family, as `ip` takes them.

    Interfaces are named as in the cabling plan.
    """
    ways = _ways(topology)
    prefixes = _prefixes(topology, intent)
    for host, own in ways.items():
        for version, options in FAMILIES.items():
            if chosen := [way for way in own if way.address.version == version]:
                name = f"{host}.ipv6.batch" if version == 6 else f"{host}.batch"
                yield name, _batch(host, f"{options}-force -batch {name}", chosen, prefixes, intent.profile.mtu)


def _ways(topology: Topology) -> dict[str, list[_Way]]:
    """By host, in the order of its cables."""
    nodes, gateways = topology.by_name, vlans(topology)
    bonds = {(bond.host, port): bond for bond in topology.bonds for port in bond.ports}
    ways: dict[str, list[_Way]] = {}
    for link in topology.links:
        if nodes[link.a.node].role is not Role.HOST or link.a.name == BMC:
            continue
        net, bond = network(nodes[link.a.node], nodes[link.z.node]), bonds.get((link.a.node, link.a.name))
        way = _of_bond(bond, net, gateways) if bond else _of_port(link, net, gateways)
        here = ways.setdefault(link.a.node, [])
        if way is not None and not (bond and any(other.device == way.device for other in here)):
            here.append(way)
    return ways


def _of_port(link: Link, net: Net, gateways: Mapping[tuple[str, int], Gateway]) -> _Way | None:
    port, peer = link.a, link.z
    if port.address is None:
        return None
    gateway = gateways.get((peer.node, peer.vlan)) if peer.vlan is not None else None
    via = gateway.address.ip if gateway else peer.address.ip if peer.address else None
    return _Way(device=port.name, net=net, rail=port.rail, address=port.address, gateway=via)


def _of_bond(bond: Bond, net: Net, gateways: Mapping[tuple[str, int], Gateway]) -> _Way | None:
    if bond.address is None:
        return None
    gateway = gateways.get((bond.switches[0], bond.vlan)) if bond.vlan is not None else None
    via = gateway.address.ip if gateway else None
    return _Way(device=bond.name, net=net, rail=bond.rail, address=bond.address, gateway=via, ports=bond.ports)


def _prefixes(topology: Topology, intent: FabricIntent) -> Mapping[Net, Network]:
    """What is reached over each network."""
    others = {Net.FRONTEND: intent.frontend, Net.STORAGE: intent.storage, Net.MANAGEMENT: intent.management}
    pools: dict[Net, Network] = {net: section.pool for net, section in others.items() if section is not None}
    return pools | ({Net.BACKEND: topology.pools.hosts} if topology.pools else {})


def _batch(host: str, command: str, ways: list[_Way], prefixes: Mapping[Net, Network], mtu_bytes: int) -> str:
    lines = [
        BATCH_HEADING.format(host=host),
        f"# Give its interfaces these names (ip link property add dev NAME altname {ways[0].device}), then:",
        f"# ip {command} (rules that are there already are reported and kept)",
    ]
    places: dict[Net, int] = {}
    for way in ways:
        place = places[way.net] = places.get(way.net, 0) + 1
        lines += _interface(way, mtu_bytes)
        lines += _routes(way, FIRST_TABLE[way.net] + place, prefixes.get(way.net))
    return "\n".join(lines) + "\n"


def _interface(way: _Way, mtu_bytes: int) -> list[str]:
    if not way.ports:
        return [f"link set dev {way.device} mtu {mtu_bytes} up", f"address replace {way.address} dev {way.device}"]
    lines = [f"link add name {way.device} {BOND}"]
    for port in way.ports:
        lines += [f"link set dev {port} down", f"link set dev {port} master {way.device}"]
    lines += [f"link set dev {way.device} mtu {mtu_bytes} up", f"address replace {way.address} dev {way.device}"]
    return lines


def _routes(way: _Way, table: int, prefix: Network | None) -> list[str]:
    """Its own table and the rule that leads there; nothing where there is no way out."""
    if way.gateway is None or prefix is None:
        return []
    return [
        f"route replace {prefix} via {way.gateway} dev {way.device} table {table}",
        f"rule add priority {table} from {way.address.ip} table {table}",
    ]
