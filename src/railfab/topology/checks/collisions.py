"""Checks for duplicate names, ports, AS numbers and addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from ipaddress import IPv4Interface, IPv6Interface

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate_by
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Address, Bond, CabledPort, Gateway, Interface, Node, Role

Holder = CabledPort | Node | Gateway | Bond | str
"""Owner of an address; a text for a VTEP."""

INTERFACES = (IPv4Interface, IPv6Interface)


def names(indexed: IndexedTopology) -> Iterator[Finding]:
    counts = Counter(node.name for node in indexed.topology.nodes)
    for name, count in counts.items():
        if count > 1:
            yield error(DesignCode.DUPLICATE_NAME, name, f"{count} nodes have this name", "Use unique names")


def ports(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that no port is used by two cables."""
    return deduplicate_by(("port", found) for found in _ports(indexed))


def _ports(indexed: IndexedTopology) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for link in indexed.topology.links:
        for port in (link.a, link.z):
            end = port.node, port.name
            if end in seen:
                where, remedy = f"{port.node} {port.name}", "Use one port per cable"
                yield error(DesignCode.DUPLICATE_PORT, where, "two cables use this port", remedy)
            seen.add(end)


def as_numbers(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that AS numbers are unique with eBGP, where a router rejects a path that contains its own AS number.

    The spines of a pod, and all super-spines, share one on purpose; a pair of leaves may (general knowledge).
    """
    if intent.profile.control_plane == "ibgp":
        return
    groups = _pairs(indexed)
    found: dict[tuple[object, ...], tuple[Node, str]] = {}
    clashes = []
    for node in indexed.topology.nodes:
        if node.asn is not None:
            place = _place(node, groups)
            first, its_place = found.setdefault((node.net, node.plane, node.asn), (node, place))
            if place != its_place:
                clashes.append((first, node))
    yield from deduplicate_by((("AS", first.role, node.role), _shared_as(first, node)) for first, node in clashes)


def _place(node: Node, groups: dict[str, str]) -> str:
    """A name for the switches that may share an AS number with this one."""
    if node.role is Role.LEAF:
        return groups.get(node.name, node.name)
    return f"{node.role} {node.pod}"


def _shared_as(first: Node, node: Node) -> Finding:
    return error(
        DesignCode.DUPLICATE_ASN,
        node.name,
        f"AS number {node.asn} is also used by {first.name}: with eBGP each rejects the routes of the other",
        "Use one AS number per leaf, one for the spines of each pod and one for the super-spines, or use ibgp",
    )


def _pairs(indexed: IndexedTopology) -> dict[str, str]:
    """Switches of pairs, each with a name for its pair."""
    return {name: min(pair) for pair in indexed.pairs for name in pair}


def addresses(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that ports, loopbacks, gateways and LAGs have unique addresses, separately for each tenant."""
    return deduplicate_by(_addresses(indexed))


def _addresses(indexed: IndexedTopology) -> Iterator[tuple[tuple[type, type], Finding]]:
    seen: dict[Hashable, Holder] = {}
    for key, holder, address in _held(indexed):
        first = seen.setdefault(key, holder)
        if first is not holder:
            plain = address.ip if isinstance(address, INTERFACES) else address
            problem = f"address {plain} is also used by {_label(first)}"
            finding = error(DesignCode.DUPLICATE_ADDRESS, _label(holder), problem, "Use unique addresses")
            yield (type(first), type(holder)), finding


def _held(indexed: IndexedTopology) -> Iterator[tuple[Hashable, Holder, Address | Interface]]:
    """Every address with its owner, and with a key that must be unique."""
    tenants = indexed.tenants
    for link in indexed.topology.links:
        a, z = link.a, link.z
        if z.address is not None:
            yield int(z.address), z, z.address
        if a.address is not None:
            tenant = tenants.get((z.node, z.vlan)) if z.vlan else None
            yield _key(tenant, a.address), a, a.address
    for bond in indexed.topology.bonds:
        if bond.address is not None:
            tenant = tenants.get((bond.switches[0], bond.vlan)) if bond.vlan else None
            yield _key(tenant, bond.address), bond, bond.address
    for node in indexed.topology.nodes:
        if node.loopback is not None:
            yield int(node.loopback), node, node.loopback
    yield from _gateways(indexed)
    yield from _vteps(indexed)


def _key(tenant: str | None, address: Address | Interface) -> Hashable:
    return int(address) if tenant is None else (tenant, int(address))


def _gateways(indexed: IndexedTopology) -> Iterator[tuple[Hashable, Holder, Interface]]:
    """The addresses of gateways; an anycast address counts once."""
    shared: set[tuple[str | None, Interface]] = set()
    for gateway in indexed.topology.gateways:
        if gateway.anycast or gateway.vni is not None:
            if (gateway.tenant, gateway.address) in shared:
                continue
            shared.add((gateway.tenant, gateway.address))
        yield _key(gateway.tenant, gateway.address), gateway, gateway.address


def _vteps(indexed: IndexedTopology) -> Iterator[tuple[Hashable, Holder, Address]]:
    """The addresses of VTEPs that are not loopbacks; a pair may share one."""
    groups, shared = _pairs(indexed), set[tuple[str, Address]]()
    for node in indexed.topology.nodes:
        if node.vtep is not None and node.vtep != node.loopback:
            place = groups.get(node.name, node.name), node.vtep
            if place not in shared:
                yield int(node.vtep), f"{node.name} VTEP", node.vtep
            shared.add(place)


def _label(holder: Holder) -> str:
    match holder:
        case str():
            return holder
        case Node():
            return f"{holder.name} loopback"
        case Gateway():
            return f"{holder.node} VLAN {holder.vlan}"
        case Bond():
            return f"{holder.host} {holder.name}"
    return f"{holder.node} {holder.name}"
