"""Which network reaches which: isolation that a route, a link or a VLAN undoes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike_by
from railfab.topology.sorted_links import Wired

ENTERPRISE = "enterprise"
MANAGED_PORTS = ("mgmt0", "bmc")
"""Of hosts and switches, on the management network."""
Reach = Mapping[str, tuple[str, ...]]


def _reaches(intent: FabricIntent) -> Reach:
    """What each network of the intent says that it reaches."""
    networks = {
        "backend": intent.backend,
        "frontend": intent.frontend,
        "storage": intent.storage,
        "management": intent.management,
    }
    return {name: tuple(network.reaches) for name, network in networks.items() if network is not None}


def unknown_networks(intent: FabricIntent) -> Iterator[Finding]:
    """Networks that are reached and are not there, or are the same."""
    reaches = _reaches(intent)
    for name, others in reaches.items():
        for other in others:
            if other == name:
                yield warning(DesignCode.UNKNOWN_NETWORK, f"{name}.reaches", f"{name} names itself", "Remove it")
            elif other != ENTERPRISE and other not in reaches:
                problem, remedy = f"this intent has no {other} network", f"Add {other}, or remove it"
                yield warning(DesignCode.UNKNOWN_NETWORK, f"{name}.reaches", problem, remedy)


def isolation(intent: FabricIntent) -> Iterator[Finding]:
    """The backend carries no enterprise traffic, in or out; management leads into no network that it manages.

    Who reaches the enterprise network is reached from it: answers come back. Beyond it are firewalls, so that no chain
    leads through it. Management may reach the enterprise, where operators, clocks and collectors are; a network that
    it manages and reaches would be a way round the isolation of all, and a way that fails with what it is to repair.
    The reverse, a GPU network that reaches consoles and BMCs, is a warning: schedulers have reason to, jobs have not.
    """
    reaches = _reaches(intent)
    back = tuple(name for name, others in reaches.items() if ENTERPRISE in others)
    inwards = {**reaches, ENTERPRISE: back}
    if chain := _chain(reaches, "backend", ENTERPRISE) or _chain(inwards, ENTERPRISE, "backend"):
        yield _joined(chain)
    for other in ("backend", "frontend", "storage"):
        if chain := _chain(reaches, "management", other):
            yield error(
                DesignCode.MANAGEMENT_ISOLATION,
                "management.reaches",
                f"management reaches {other} ({' -> '.join(chain)}): a way round the isolation of every network",
                "Let it reach nothing, or enterprise alone",
            )
        if chain := _chain(reaches, other, "management"):
            yield warning(
                DesignCode.MANAGEMENT_REACHABLE,
                f"{other}.reaches",
                f"{other} reaches management ({' -> '.join(chain)}): jobs could open consoles and BMCs",
                "Remove it, or let only the hosts that need it through",
            )


def _joined(chain: tuple[str, ...]) -> Finding:
    return error(
        DesignCode.BACKEND_ISOLATION,
        f"{chain[-2] if chain[0] == ENTERPRISE else chain[0]}.reaches",
        f"backend and enterprise are not apart: {' -> '.join(chain)}",
        "Remove a step of this chain: the backend must carry GPU traffic alone",
    )


def _chain(reaches: Reach, start: str, end: str) -> tuple[str, ...]:
    """The shortest chain from one network to another; empty when there is none. None leads through enterprise."""
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


def crossing_links(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """Cables between switches of two networks, where neither says that it reaches the other."""
    reaches, nodes = _reaches(intent), wired.topology.by_name
    found = []
    for link in wired.links.crossing:
        one, other = nodes[link.a.node].net, nodes[link.z.node].net
        if other not in reaches.get(one, ()) and one not in reaches.get(other, ()):
            problem = f"a link to {link.z.node} joins {one} and {other}, and neither says that it reaches the other"
            remedy = f"Remove the link, or add {other} to {one}.reaches"
            finding = error(DesignCode.CROSSING_LINK, f"{link.a.node} {link.a.name}", problem, remedy)
            found.append(((one, other), finding))
    yield from alike_by(found)


def services(intent: FabricIntent) -> Iterator[Finding]:
    """Servers that devices are told of, and that lie outside a management network that reaches nothing."""
    management = intent.management
    if management is None or management.reaches:
        return
    for name, servers in management.services:
        for server in servers:
            if server not in management.pool:
                problem = f"{server} is outside management.pool {management.pool}, and management reaches no network"
                remedy = "Use an address of the pool, or add enterprise to reaches"
                yield warning(DesignCode.SERVICE_ADDRESS, f"management.services.{name}", problem, remedy)


def management_vlans(intent: FabricIntent) -> Iterator[Finding]:
    """Purposes of the management network that share a VLAN."""
    if (management := intent.management) is None:
        return
    seen: dict[int, str] = {}
    for key in ("switch_vlan", "host_vlan", "bmc_vlan"):
        vlan = getattr(management, key)
        first = seen.setdefault(vlan, key)
        if first != key:
            problem = f"VLAN {vlan} is also {first}, so that nothing parts them"
            yield warning(
                DesignCode.MANAGEMENT_VLAN, f"management.{key}", problem, "Give each purpose a VLAN of its own"
            )


def shared_vlans(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """VLANs of tenants that are, on the same switch, those of ports of the management network."""
    names = frozenset(intent.frontend.tenants) if intent.frontend else frozenset()
    tenants = {place: tenant for place, tenant in wired.tenants.items() if tenant in names}
    clashes: dict[tuple[str, int], Finding] = {}
    for link in (*wired.links.managed, *wired.links.hosts) if tenants else ():
        port = link.z
        if port.vlan and link.a.name in MANAGED_PORTS and (tenant := tenants.get((port.node, port.vlan))):
            problem = f"VLAN {port.vlan} of tenant {tenant} is the management VLAN of {link.a.node} on the same switch"
            finding = error(DesignCode.TENANT_VLAN, port.node, problem, "Give the tenant another VLAN")
            clashes.setdefault((port.node, port.vlan), finding)
    yield from clashes.values()
