"""Names, ports, AS numbers and addresses that stand for two things at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from ipaddress import IPv4Interface, IPv6Interface

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike_by
from railfab.topology.model import Address, Bond, Gateway, Interface, Node, Port, Role
from railfab.topology.sorted_links import Wired

Holder = Port | Node | Gateway | Bond | str
"""What can have an address; a name for what is no object of its own."""

INTERFACES = (IPv4Interface, IPv6Interface)


def names(wired: Wired) -> Iterator[Finding]:
    counts = Counter(node.name for node in wired.topology.nodes)
    for name, count in counts.items():
        if count > 1:
            yield error(DesignCode.DUPLICATE_NAME, name, f"{count} nodes have this name", "Give each its own name")


def ports(wired: Wired) -> Iterator[Finding]:
    """A port in two cables."""
    return alike_by(("port", found) for found in _ports(wired))


def _ports(wired: Wired) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for link in wired.topology.links:
        for port in (link.a, link.z):
            end = port.node, port.name
            if end in seen:
                where, remedy = f"{port.node} {port.name}", "Give each cable its own port"
                yield error(DesignCode.DUPLICATE_PORT, where, "two cables are in this port", remedy)
            seen.add(end)


def as_numbers(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """With eBGP, a router drops a route whose path has its own number: two that share one never hear of each other.
    The spines of a pod, and all super-spines, share one on purpose; a pair of leaves may (general knowledge).
    """
    if intent.profile.control_plane == "ibgp":
        return
    groups = _pairs(wired)
    found: dict[tuple[object, ...], tuple[Node, str]] = {}
    clashes = []
    for node in wired.topology.nodes:
        if node.asn is not None:
            place = _place(node, groups)
            first, its_place = found.setdefault((node.net, node.plane, node.asn), (node, place))
            if place != its_place:
                clashes.append((first, node))
    yield from alike_by((("AS", first.role, node.role), _shared_as(first, node)) for first, node in clashes)


def _place(node: Node, groups: dict[str, str]) -> str:
    """What may have one AS number."""
    if node.role is Role.LEAF:
        return groups.get(node.name, node.name)
    return f"{node.role} {node.pod}"


def _shared_as(first: Node, node: Node) -> Finding:
    return error(
        DesignCode.DUPLICATE_ASN,
        node.name,
        f"has AS number {node.asn}, and so has {first.name}: with eBGP neither takes the other's routes",
        "Give each leaf, the spines of each pod and the super-spines a number of their own, or use ibgp",
    )


def _pairs(wired: Wired) -> dict[str, str]:
    """Switches of a pair, each with one name for both."""
    return {name: min(pair) for pair in wired.pairs for name in pair}


def addresses(wired: Wired) -> Iterator[Finding]:
    """Two ports, loopbacks, gateways or LAGs with one address. Tenants' addresses are counted apart."""
    return alike_by(_addresses(wired))


def _addresses(wired: Wired) -> Iterator[tuple[tuple[type, type], Finding]]:
    seen: dict[Hashable, Holder] = {}
    for key, holder, address in _held(wired):
        first = seen.setdefault(key, holder)
        if first is not holder:
            problem = f"has address {address.ip if isinstance(address, INTERFACES) else address}"
            problem, remedy = f"{problem}, and so has {_label(first)}", "Give each an address of its own"
            found = error(DesignCode.DUPLICATE_ADDRESS, _label(holder), problem, remedy)
            yield (type(first), type(holder)), found


def _held(wired: Wired) -> Iterator[tuple[Hashable, Holder, Address | Interface]]:
    """Everything that has an address, with a key that nothing else may have."""
    tenants = wired.tenants
    for link in wired.topology.links:
        a, z = link.a, link.z
        if z.address is not None:
            yield int(z.address), z, z.address
        if a.address is not None:
            tenant = tenants.get((z.node, z.vlan)) if z.vlan else None
            yield _key(tenant, a.address), a, a.address
    for bond in wired.topology.bonds:
        if bond.address is not None:
            tenant = tenants.get((bond.switches[0], bond.vlan)) if bond.vlan else None
            yield _key(tenant, bond.address), bond, bond.address
    for node in wired.topology.nodes:
        if node.loopback is not None:
            yield int(node.loopback), node, node.loopback
    yield from _gateways(wired)
    yield from _vteps(wired)


def _key(tenant: str | None, address: Address | Interface) -> Hashable:
    return int(address) if tenant is None else (tenant, int(address))


def _gateways(wired: Wired) -> Iterator[tuple[Hashable, Holder, Interface]]:
    """One address of a subnet that several switches share is there once."""
    shared: set[tuple[str | None, Interface]] = set()
    for gateway in wired.topology.gateways:
        if gateway.anycast or gateway.vni is not None:
            if (gateway.tenant, gateway.address) in shared:
                continue
            shared.add((gateway.tenant, gateway.address))
        yield _key(gateway.tenant, gateway.address), gateway, gateway.address


def _vteps(wired: Wired) -> Iterator[tuple[Hashable, Holder, Address]]:
    """Where they are no loopbacks; a pair may have one for both."""
    groups, shared = _pairs(wired), set[tuple[str, Address]]()
    for node in wired.topology.nodes:
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
