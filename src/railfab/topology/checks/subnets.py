"""Pools, subnets and VLANs: what overlaps, what is outside its pool, what is used twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike, alike_by
from railfab.topology.model import Address, Gateway, Interface, Link, Net, Network, Node, Pools
from railfab.topology.sorted_links import Wired


@dataclass(frozen=True, slots=True)
class Pool:
    """A prefix, and the key of the intent that says it."""

    key: str
    prefix: Network

    @property
    def first(self) -> int:
        return int(self.prefix.network_address)

    @property
    def last(self) -> int:
        return int(self.prefix.broadcast_address)

    def holds(self, address: Address | Interface) -> bool:
        return address.version == self.prefix.version and self.first <= int(address) <= self.last

    def __str__(self) -> str:
        return f"{self.key} {self.prefix}"


def _backend_pools(wired: Wired, intent: FabricIntent) -> Mapping[str, Pool]:
    """By what they are for: hosts, loopbacks, fabric_links. Empty where a topology does not say."""
    if wired.topology.pools is None:
        return {}
    routed = intent.hosts.attach == "routed"
    keys = {"hosts": "profile.addresses.hosts" if routed else "backend.subnets.pool"}
    return {
        name: Pool(keys.get(name, f"profile.addresses.{name}"), getattr(wired.topology.pools, name))
        for name in Pools.__dataclass_fields__
    }


def _other_pools(intent: FabricIntent) -> Mapping[Net, Pool]:
    networks = {Net.FRONTEND: intent.frontend, Net.STORAGE: intent.storage, Net.MANAGEMENT: intent.management}
    return {net: Pool(f"{net}.pool", network.pool) for net, network in networks.items() if network}


def _tenants(intent: FabricIntent) -> tuple[Pool, ...]:
    tenants = intent.frontend.tenants if intent.frontend else {}
    return tuple(Pool(f"frontend.tenants.{name}.subnet", tenant.subnet) for name, tenant in tenants.items())


def pools(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """Pools of two purposes that overlap. Tenants that overlap each other part in their VRFs, but not outside."""
    own = (*_backend_pools(wired, intent).values(), *_other_pools(intent).values())
    tenants = _tenants(intent)
    for one, other in _overlaps((*own, *tenants)):
        if one in tenants and other in tenants:
            problem = f"{one.prefix} overlaps {other}: apart in their VRFs, not in networks that both reach"
            remedy = "Give each tenant a prefix of its own, or translate addresses"
            yield warning(DesignCode.OVERLAPPING_TENANTS, one.key, problem, remedy)
        else:
            problem = f"{one.prefix} overlaps {other}"
            yield error(DesignCode.OVERLAPPING_POOLS, one.key, problem, "Give each a prefix of its own")


def _overlaps(found: Iterable[Pool]) -> Iterator[tuple[Pool, Pool]]:
    """Pairs of pools that overlap: there are few pools."""
    known: list[Pool] = []
    for pool in found:
        for other in known:
            if pool.prefix.version == other.prefix.version and pool.first <= other.last and other.first <= pool.last:
                yield pool, other
        known.append(pool)


def outside_pools(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """Addresses that a routing policy would not let through."""
    return alike_by((pool.key, _outside(where, address, pool)) for where, address, pool in _strays(wired, intent))


def _outside(where: str, address: Address | Interface, pool: Pool) -> Finding:
    return error(
        DesignCode.ADDRESS_OUTSIDE_POOL,
        where,
        f"address {str(address).partition('/')[0]} is outside {pool}",
        "Use a larger pool, or an address of this one: policies let nothing else through",
    )


Stray = tuple[str, Address | Interface, Pool]


def _strays(wired: Wired, intent: FabricIntent) -> Iterator[Stray]:
    """A tenant's subnet is its own: it is in no pool."""
    mine, others, nodes = _backend_pools(wired, intent), _other_pools(intent), wired.topology.by_name
    found = wired.links
    for node in wired.topology.switches():
        pool = mine.get("loopbacks") if node.net is Net.BACKEND else others.get(node.net)
        if pool and node.loopback is not None and not pool.holds(node.loopback):
            yield f"{node.name} loopback", node.loopback, pool
    yield from _stray_ports(found.hosts, nodes, {Net.BACKEND: mine.get("hosts"), **others})
    yield from _stray_ports((*found.rising, *found.level), nodes, {Net.BACKEND: mine.get("fabric_links"), **others})
    for gateway in wired.topology.gateways:
        net = nodes[gateway.node].net
        pool = mine.get("hosts") if net is Net.BACKEND else others.get(net)
        own = gateway.tenant is not None and net is Net.FRONTEND
        if pool and not own and not pool.holds(gateway.address):
            yield f"{gateway.node} VLAN {gateway.vlan}", gateway.address, pool


def _stray_ports(
    links: Iterable[Link], nodes: Mapping[str, Node], pool_of: Mapping[Net, Pool | None]
) -> Iterator[Stray]:
    """Ends of links. What is in a VLAN is held by its gateway's subnet."""
    bounds = {net: (pool.first, pool.last, pool.prefix.version, pool) for net, pool in pool_of.items() if pool}
    for link in links:
        if link.z.address is None or (bound := bounds.get(nodes[link.z.node].net)) is None:
            continue
        first, last, version, pool = bound
        for port in (link.a, link.z):
            address = port.address
            if address is not None and not (first <= int(address) <= last and address.version == version):
                yield f"{port.node} {port.name}", address, pool


def gateways(wired: Wired) -> Iterator[Finding]:
    """Subnets that two switches have, without being a pair or joined by an overlay; and subnets that overlap."""
    clashes = []
    for gateway, other in _neighbours(sorted(wired.topology.gateways, key=_extent)):
        if gateway.subnet != other.subnet:
            clashes.append(("overlap", _overlap(gateway, other)))
        elif not _shares(wired, gateway, other):
            clashes.append(("apart", _apart(gateway, other)))
    yield from alike_by(clashes)


def _shares(wired: Wired, gateway: Gateway, other: Gateway) -> bool:
    """Both may have one subnet: an overlay joins them, or they are a pair with one address."""
    overlaid = gateway.vni is not None and gateway.vni == other.vni
    paired = gateway.anycast and other.anycast and frozenset((gateway.node, other.node)) in wired.pairs
    return overlaid or paired


def _extent(gateway: Gateway) -> tuple[str, int, int, int]:
    """In order of tenant and first address, the larger first."""
    subnet = gateway.subnet
    return gateway.tenant or "", subnet.version, int(subnet.network_address), subnet.prefixlen


def _neighbours(ordered: Iterable[Gateway]) -> Iterator[tuple[Gateway, Gateway]]:
    """Gateways whose subnet lies in that of the one before, which stays the larger one until it ends."""
    large: Gateway | None = None
    for gateway in ordered:
        if large is not None and _within(gateway, large):
            yield gateway, large
        else:
            large = gateway


def _within(gateway: Gateway, large: Gateway) -> bool:
    same = gateway.tenant == large.tenant and gateway.subnet.version == large.subnet.version
    return same and int(gateway.subnet.network_address) <= int(large.subnet.broadcast_address)


def _overlap(gateway: Gateway, other: Gateway) -> Finding:
    return error(
        DesignCode.OVERLAPPING_SUBNETS,
        f"{gateway.node} VLAN {gateway.vlan}",
        f"{gateway.subnet} overlaps {other.subnet} of {other.node} VLAN {other.vlan}",
        "Give each VLAN a subnet of its own",
    )


def _apart(gateway: Gateway, other: Gateway) -> Finding:
    return error(
        DesignCode.SHARED_SUBNET,
        f"{gateway.node} VLAN {gateway.vlan}",
        f"is a gateway of {gateway.subnet}, and so is {other.node} VLAN {other.vlan}, "
        "and they are neither a pair nor joined by an overlay",
        "Give each switch a subnet of its own, or join them",
    )


def vlans(wired: Wired) -> Iterator[Finding]:
    """A VLAN with two subnets on a switch; an identifier of two subnets in the overlay of a network."""
    subnets: dict[tuple[str, int], Gateway] = {}
    identifiers: dict[tuple[Net, int], Gateway] = {}
    clashes = []
    for gateway in wired.topology.gateways:
        first = subnets.setdefault((gateway.node, gateway.vlan), gateway)
        if first.subnet != gateway.subnet:
            clashes.append(_twice(DesignCode.VLAN_REUSED, gateway.node, f"VLAN {gateway.vlan}", first, gateway))
        if gateway.vni is not None:
            overlay = wired.topology.node(gateway.node).net
            first = identifiers.setdefault((overlay, gateway.vni), gateway)
            if first.subnet != gateway.subnet:
                clashes.append(_twice(DesignCode.VNI_REUSED, gateway.node, f"VNI {gateway.vni}", first, gateway))
    yield from alike(clashes)


def _twice(code: DesignCode, where: str, what: str, first: Gateway, second: Gateway) -> Finding:
    on = "" if first.node == where else f" on {first.node}"
    return error(
        code,
        where,
        f"{what} is of {second.subnet}{_of(second)}, and of {first.subnet}{_of(first)}{on}",
        "Give each subnet one of its own",
    )


def _of(gateway: Gateway) -> str:
    return f" (tenant {gateway.tenant})" if gateway.tenant else ""


def summaries(wired: Wired) -> Iterator[Finding]:
    """Two switches, no pair, that announce one prefix draw each other's traffic."""
    ordered = sorted(wired.topology.summaries, key=lambda summary: (summary.prefix.version, summary.prefix))
    clashes = []
    for one, other in pairwise(ordered):
        if one.prefix.overlaps(other.prefix) and frozenset((one.node, other.node)) not in wired.pairs:
            problem = f"announces {other.prefix}, which overlaps {one.prefix} of {one.node}"
            remedy = "Give each switch a prefix of its own"
            clashes.append(("summary", error(DesignCode.OVERLAPPING_SUMMARIES, other.node, problem, remedy)))
    yield from alike_by(clashes)
