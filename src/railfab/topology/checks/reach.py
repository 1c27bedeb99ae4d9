"""Checks of the isolation of networks: routes, links and VLANs between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate_by
from railfab.topology.links_by_tier import IndexedTopology

ENTERPRISE = "enterprise"
MANAGED_PORTS = ("mgmt0", "bmc")
"""Management ports of hosts and switches."""
Reach = Mapping[str, tuple[str, ...]]


def _reaches(intent: FabricIntent) -> Reach:
    """The `reaches` of each network of the intent."""
    networks = {
        "backend": intent.backend,
        "frontend": intent.frontend,
        "storage": intent.storage,
        "management": intent.management_network,
    }
    return {name: tuple(network.reaches) for name, network in networks.items() if network is not None}


def unknown_networks(intent: FabricIntent) -> Iterator[Finding]:
    """Check that `reaches` lists other networks that exist."""
    reaches = _reaches(intent)
    for name, others in reaches.items():
        for other in others:
            if other == name:
                yield warning(DesignCode.UNKNOWN_NETWORK, f"{name}.reaches", f"{name} lists itself", "Remove it")
            elif other != ENTERPRISE and other not in reaches:
                problem, remedy = f"this intent has no {other} network", f"Add {other}, or remove it"
                yield warning(DesignCode.UNKNOWN_NETWORK, f"{name}.reaches", problem, remedy)


def isolation(intent: FabricIntent) -> Iterator[Finding]:
    """Check that the backend is isolated from the enterprise network, and management from the networks it manages.

    A network that reaches the enterprise network is reached from it, by return traffic. Firewalls are beyond it, so no
    chain of networks leads through it. Management may reach the enterprise network, where operators, time servers and
    collectors are. If it reached a network that it manages, it would bypass the isolation of all networks, and would
    fail together with that network. A GPU network that reaches consoles and BMCs is a warning: schedulers may need
    them, jobs do not.
    """
    reaches = _reaches(intent)
    back = tuple(name for name, others in reaches.items() if ENTERPRISE in others)
    inwards = {**reaches, ENTERPRISE: back}
    if chain := _chain(reaches, "backend", ENTERPRISE) or _chain(inwards, ENTERPRISE, "backend"):
        yield _not_isolated(chain)
    for other in ("backend", "frontend", "storage"):
        if chain := _chain(reaches, "management", other):
            yield error(
                DesignCode.MANAGEMENT_ISOLATION,
                "management.reaches",
                f"management reaches {other} ({' -> '.join(chain)}), which bypasses the isolation of every network",
                "Let management reach no network, or only enterprise",
            )
        if chain := _chain(reaches, other, "management"):
            yield warning(
                DesignCode.MANAGEMENT_REACHABLE,
                f"{other}.reaches",
                f"{other} reaches management ({' -> '.join(chain)}), so jobs can access consoles and BMCs",
                "Remove it, or restrict it to the hosts that need it",
            )


def _not_isolated(chain: tuple[str, ...]) -> Finding:
    return error(
        DesignCode.BACKEND_ISOLATION,
        f"{chain[-2] if chain[0] == ENTERPRISE else chain[0]}.reaches",
        f"backend and enterprise are not isolated: {' -> '.join(chain)}",
        "Remove one of these steps: the backend must carry only GPU traffic",
    )


def _chain(reaches: Reach, start: str, end: str) -> tuple[str, ...]:
    """The shortest chain from one network to another that does not pass enterprise; empty if there is none."""
    chains: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    for chain in chains:
        for other in reaches.get(chain[-1], ()):
            if other == end:
                return (*chain, other)
            if other not in seen and other != ENTERPRISE:
                seen.add(other)
                chains.append((*chain, other))
    return ()


def crossing_links(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that cables connect switches of two networks only if one reaches the other."""
    reaches, nodes = _reaches(intent), indexed.topology.by_name
    found = []
    for link in indexed.links.crossing:
        one, other = nodes[link.a.node].net, nodes[link.z.node].net
        if other not in reaches.get(one, ()) and one not in reaches.get(other, ()):
            problem = f"a link to {link.z.node} connects {one} and {other}, but neither network reaches the other"
            remedy = f"Remove the link, or add {other} to {one}.reaches"
            finding = error(DesignCode.CROSSING_LINK, f"{link.a.node} {link.a.name}", problem, remedy)
            found.append(((one, other), finding))
    yield from deduplicate_by(found)


def services(intent: FabricIntent) -> Iterator[Finding]:
    """Check that the servers for devices are in the management network, if it reaches no other network."""
    management = intent.management_network
    if management is None or management.reaches:
        return
    for name, servers in management.services:
        for server in servers:
            if server not in management.pool:
                problem = f"{server} is outside management.pool {management.pool}, and management reaches no network"
                remedy = "Use an address of the pool, or add enterprise to reaches"
                yield warning(DesignCode.SERVICE_ADDRESS, f"management.services.{name}", problem, remedy)


def management_vlans(intent: FabricIntent) -> Iterator[Finding]:
    """Check that the purposes of the management network use different VLANs."""
    if (management := intent.management_network) is None:
        return
    seen: dict[int, str] = {}
    for key in ("switch_vlan", "host_vlan", "bmc_vlan"):
        vlan = getattr(management, key)
        first = seen.setdefault(vlan, key)
        if first != key:
            problem = f"VLAN {vlan} is also {first}, so the two are not isolated"
            yield warning(DesignCode.MANAGEMENT_VLAN, f"management.{key}", problem, "Use different VLANs")


def shared_vlans(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that no switch uses the VLAN of a tenant for ports of the management network."""
    names = frozenset(intent.frontend.tenants) if intent.frontend else frozenset()
    tenants = {place: tenant for place, tenant in indexed.tenants.items() if tenant in names}
    clashes: dict[tuple[str, int], Finding] = {}
    for link in (*indexed.links.managed, *indexed.links.hosts) if tenants else ():
        port = link.z
        if port.vlan and link.a.name in MANAGED_PORTS and (tenant := tenants.get((port.node, port.vlan))):
            problem = f"VLAN {port.vlan} of tenant {tenant} is the management VLAN of {link.a.node} on the same switch"
            finding = error(DesignCode.TENANT_VLAN, port.node, problem, "Use another VLAN for the tenant")
            clashes.setdefault((port.node, port.vlan), finding)
    yield from clashes.values()
