"""Checks of pools, subnets and VLANs: overlaps, addresses outside their pool, duplicate identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate, deduplicate_by
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Address, Gateway, Interface, Link, Net, Network, Node, Pools


@dataclass(frozen=True, slots=True)
class Pool:
    """A prefix, and its key in the intent."""

    key: str
    prefix: Network

    @property
    def first(self) -> int:
        return int(self.prefix.network_address)

    @property
    def last(self) -> int:
        return int(self.prefix.broadcast_address)

    def contains(self, address: Address | Interface) -> bool:
        return address.version == self.prefix.version and self.first <= int(address) <= self.last

    def __str__(self) -> str:
        return f"{self.key} {self.prefix}"


def _backend_pools(indexed: IndexedTopology, intent: FabricIntent) -> Mapping[str, Pool]:
    """The pools by purpose: hosts, loopbacks, fabric_links. Empty for a topology without pools."""
    if indexed.topology.pools is None:
        return {}
    routed = intent.hosts.attach == "routed"
    keys = {"hosts": "profile.addresses.hosts" if routed else "backend.subnets.pool"}
    return {
        name: Pool(keys.get(name, f"profile.addresses.{name}"), getattr(indexed.topology.pools, name))
        for name in Pools.__dataclass_fields__
    }


def _other_pools(intent: FabricIntent) -> Mapping[Net, Pool]:
    networks = {Net.FRONTEND: intent.frontend, Net.STORAGE: intent.storage, Net.MANAGEMENT: intent.management_network}
    return {net: Pool(f"{net}.pool", network.pool) for net, network in networks.items() if network}


def _tenants(intent: FabricIntent) -> Mapping[Pool, str]:
    """The tenant of each subnet of a tenant."""
    found = intent.frontend.tenant_vlans() if intent.frontend else ()
    return {Pool(f"{key}.subnet", vlan.subnet): tenant for tenant, key, vlan in found}


def pools(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that pools do not overlap; tenants may, since VRFs separate them. Those of one tenant: see `gateways`."""
    networks = (*_backend_pools(indexed, intent).values(), *_other_pools(intent).values())
    tenants = _tenants(intent)
    for one, other in _overlaps((*networks, *tenants)):
        if one in tenants and other in tenants:
            if tenants[one] == tenants[other]:
                continue
            problem = f"{one.prefix} overlaps {other}, which conflicts in a network that both tenants reach"
            remedy = "Use disjoint prefixes, or translate addresses"
            yield warning(DesignCode.OVERLAPPING_TENANTS, one.key, problem, remedy)
        else:
            problem = f"{one.prefix} overlaps {other}"
            yield error(DesignCode.OVERLAPPING_POOLS, one.key, problem, "Use disjoint prefixes")


def _overlaps(found: Iterable[Pool]) -> Iterator[tuple[Pool, Pool]]:
    """Pairs of pools that overlap."""
    known: list[Pool] = []
    for pool in found:
        for other in known:
            if pool.prefix.version == other.prefix.version and pool.first <= other.last and other.first <= pool.last:
                yield pool, other
        known.append(pool)


def outside_pools(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that addresses are in the pools that routing policies accept."""
    outside = _addresses_outside(indexed, intent)
    return deduplicate_by((pool.key, _outside(where, address, pool)) for where, address, pool in outside)


def _outside(where: str, address: Address | Interface, pool: Pool) -> Finding:
    return error(
        DesignCode.ADDRESS_OUTSIDE_POOL,
        where,
        f"address {str(address).partition('/')[0]} is outside {pool}",
        "Use a larger pool, or an address in it: routing policies accept no other",
    )


Outside = tuple[str, Address | Interface, Pool]
"""Owner, address, and the pool that should contain it."""


def _addresses_outside(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Outside]:
    """Addresses outside their pool; the subnet of a tenant has none."""
    backend, others, nodes = _backend_pools(indexed, intent), _other_pools(intent), indexed.topology.by_name
    found = indexed.links
    for node in indexed.topology.switches():
        pool = backend.get("loopbacks") if node.net is Net.BACKEND else others.get(node.net)
        if pool and node.loopback is not None and not pool.contains(node.loopback):
            yield f"{node.name} loopback", node.loopback, pool
    fabric_links = (*found.uplinks, *found.peer_links)
    yield from _ports_outside(found.hosts, nodes, {Net.BACKEND: backend.get("hosts"), **others})
    yield from _ports_outside(fabric_links, nodes, {Net.BACKEND: backend.get("fabric_links"), **others})
    for gateway in indexed.topology.gateways:
        net = nodes[gateway.node].net
        pool = backend.get("hosts") if net is Net.BACKEND else others.get(net)
        of_tenant = gateway.tenant is not None and net is Net.FRONTEND
        if pool and not of_tenant and not pool.contains(gateway.address):
            yield f"{gateway.node} VLAN {gateway.vlan}", gateway.address, pool


def _ports_outside(
    links: Iterable[Link], nodes: Mapping[str, Node], pool_of: Mapping[Net, Pool | None]
) -> Iterator[Outside]:
    """Addresses of ports outside their pool; ports in a VLAN are checked by the subnet of its gateway."""
    bounds = {net: (pool.first, pool.last, pool.prefix.version, pool) for net, pool in pool_of.items() if pool}
    for link in links:
        if link.z.address is None or (bound := bounds.get(nodes[link.z.node].net)) is None:
            continue
        first, last, version, pool = bound
        for port in (link.a, link.z):
            address = port.address
            if address is not None and not (first <= int(address) <= last and address.version == version):
                yield f"{port.node} {port.name}", address, pool


def gateways(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that subnets do not overlap, and that only a pair, or switches of an overlay, share one."""
    clashes = []
    for gateway, other in _neighbours(sorted(indexed.topology.gateways, key=_extent)):
        if gateway.subnet != other.subnet:
            clashes.append(("overlap", _overlap(gateway, other)))
        elif not _may_share(indexed, gateway, other):
            clashes.append(("shared", _shared(gateway, other)))
    yield from deduplicate_by(clashes)


def _may_share(indexed: IndexedTopology, gateway: Gateway, other: Gateway) -> bool:
    """Whether two gateways may share a subnet: an overlay connects them, or they are a pair with one address."""
    overlaid = gateway.vni is not None and gateway.vni == other.vni
    paired = gateway.anycast and other.anycast and frozenset((gateway.node, other.node)) in indexed.pairs
    return overlaid or paired


def _extent(gateway: Gateway) -> tuple[str, int, int, int]:
    """Sort key: tenant, first address, then the larger subnet first."""
    subnet = gateway.subnet
    return gateway.tenant or "", subnet.version, int(subnet.network_address), subnet.prefixlen


def _neighbours(ordered: Iterable[Gateway]) -> Iterator[tuple[Gateway, Gateway]]:
    """Gateways whose subnet is inside that of an earlier gateway, each with that gateway."""
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
        "Use disjoint subnets",
    )


def _shared(gateway: Gateway, other: Gateway) -> Finding:
    return error(
        DesignCode.SHARED_SUBNET,
        f"{gateway.node} VLAN {gateway.vlan}",
        f"subnet {gateway.subnet} is also used by {other.node} VLAN {other.vlan}, "
        "but the switches are neither a pair nor connected by an overlay",
        "Use a different subnet on each switch, or connect them by an overlay",
    )


def vlans(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that a VLAN has one subnet on a switch, and a VNI one subnet in the overlay of a network."""
    subnets: dict[tuple[str, int], Gateway] = {}
    identifiers: dict[tuple[Net, int], Gateway] = {}
    clashes = []
    for gateway in indexed.topology.gateways:
        first = subnets.setdefault((gateway.node, gateway.vlan), gateway)
        if first.subnet != gateway.subnet:
            clashes.append(_reused(DesignCode.VLAN_REUSED, f"VLAN {gateway.vlan}", first, gateway))
        if gateway.vni is not None:
            overlay = indexed.topology.node(gateway.node).net
            first = identifiers.setdefault((overlay, gateway.vni), gateway)
            if first.subnet != gateway.subnet:
                clashes.append(_reused(DesignCode.VNI_REUSED, f"VNI {gateway.vni}", first, gateway))
    yield from deduplicate(clashes)


def l3_vnis(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that the L3VNI of a tenant is no other VNI of the frontend."""
    nodes, tenants = indexed.topology.by_name, intent.frontend.tenants if intent.frontend else {}
    used = {
        gateway.vni: f"VLAN {gateway.vlan}{_tenant(gateway)}"
        for gateway in indexed.topology.gateways
        if gateway.vni is not None and nodes[gateway.node].net is Net.FRONTEND
    }
    for name, tenant in tenants.items():
        if tenant.l3vni is None:
            continue
        key = f"frontend.tenants.{name}.l3vni"
        if holder := used.get(tenant.l3vni):
            problem = f"VNI {tenant.l3vni} is also that of {holder}"
            yield error(DesignCode.VNI_REUSED, key, problem, "Use a VNI that no VLAN and no other tenant has")
        used[tenant.l3vni] = f"tenant {name}"


def _reused(code: DesignCode, identifier: str, first: Gateway, second: Gateway) -> Finding:
    on = "" if first.node == second.node else f" on {first.node}"
    return error(
        code,
        second.node,
        f"{identifier} is used by {second.subnet}{_tenant(second)} and by {first.subnet}{_tenant(first)}{on}",
        f"Use a different {identifier.partition(' ')[0]} for each subnet",
    )


def _tenant(gateway: Gateway) -> str:
    return f" (tenant {gateway.tenant})" if gateway.tenant else ""


def summaries(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that only the switches of a pair announce overlapping summaries: others attract each other's traffic."""
    ordered = sorted(indexed.topology.summaries, key=lambda summary: (summary.prefix.version, summary.prefix))
    clashes = []
    for one, other in pairwise(ordered):
        if one.prefix.overlaps(other.prefix) and frozenset((one.node, other.node)) not in indexed.pairs:
            problem = f"announces {other.prefix}, which overlaps {one.prefix} of {one.node}"
            finding = error(DesignCode.OVERLAPPING_SUMMARIES, other.node, problem, "Use disjoint prefixes")
            clashes.append(("summary", finding))
    yield from deduplicate_by(clashes)
