"""Checks of redundancy: `backend.survives`, single-homed NICs, and LAGs."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error, note, warning
from railfab.intent import FabricIntent
from railfab.text.remedies import SET, Choice, remedy, setting
from railfab.topology.catalogue import models_of
from railfab.topology.checks.deduplicate import deduplicate, deduplicate_by
from railfab.topology.failures import FailureDomain, FailureKind, failure_domains
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Net

LINKS = {FailureKind.HOST_LINK, FailureKind.LEAF_LINK, FailureKind.SPINE_LINK}
SWITCHES = {FailureKind.LEAF, FailureKind.SPINE, FailureKind.SUPER}
CLAIMS = {"nothing": frozenset[FailureKind](), "link": frozenset(LINKS), "switch": frozenset(LINKS | SWITCHES)}
"""Failures that the backend survives by its claim. Surviving a switch includes surviving each of its links."""


def claims(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check `backend.survives` with the failure domains."""
    survives = intent.backend.survives
    if survives == "nothing":
        return
    for domain in failure_domains(indexed.topology, intent):
        if domain.net is Net.BACKEND and domain.kind in CLAIMS[survives] and domain.cut_off:
            yield _not_survived(survives, domain)


def _not_survived(survives: str, domain: FailureDomain) -> Finding:
    others = f" and {domain.count - 1} more" if domain.count > 1 else ""
    return error(
        DesignCode.REDUNDANCY,
        f"{domain.example}{others}",
        f"with the loss of this {domain.kind}, {_gpus(domain.cut_off)} all of {domain.service}, "
        f"but backend.survives is {survives}",
        remedy(Choice(_more(domain.kind), verb="add"), *_weaker(survives)),
    )


def _gpus(count: int) -> str:
    return "1 GPU loses" if count == 1 else f"{count} GPUs lose"


def _weaker(survives: str) -> Iterator[Choice]:
    """The strongest claim that holds: those below the stated one, strongest first, are tried."""
    claims = list(CLAIMS)
    yield from (setting("backend.survives", claim) for claim in reversed(claims[: claims.index(survives)]))


def _more(kind: FailureKind) -> str:
    match kind:
        case FailureKind.LEAF_LINK | FailureKind.SPINE:
            return "spines"
        case FailureKind.SPINE_LINK | FailureKind.SUPER:
            return "super-spines"
    return "NIC ports to a second rail switch"


def management_leaves(intent: FabricIntent) -> Iterator[Finding]:
    """Check that the management network has more than one leaf.

    Proposed are two in pairs with two spines, of the model that the leaf has.
    """
    management = intent.management_network
    if management is None or management.leaves is None or management.leaves.count > 1:
        return
    leaf = management.leaves
    speeds = models_of(intent)[leaf.model].speeds_gbps
    spines = {"count": 2, "rate_gbps": max(speeds), "model": leaf.model}
    shown = ", ".join(f"{key}: {value}" for key, value in spines.items())
    changes = {"management.pairs": True, "management.leaves.count": 2, "management.spines": spines}
    text = f"management.leaves.count: 2, management.pairs: true and management.spines: {{{shown}}}"
    yield warning(
        DesignCode.ONE_MANAGEMENT_LEAF,
        "management.leaves.count",
        "one leaf has the management ports of all switches, hosts and BMCs: when it fails, nothing can be reached",
        remedy(Choice(text, changes, SET)),
    )


def single_homes(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that a NIC with several ports connects to more than one switch."""
    switches: dict[tuple[Net, str, int | None], dict[str, int]] = {}
    nets = {node.name: node.net for node in indexed.topology.nodes}
    for link in indexed.links.hosts:
        ports_to = switches.setdefault((nets[link.z.node], link.a.node, link.a.rail), {})
        ports_to[link.z.node] = ports_to.get(link.z.node, 0) + 1
    single = (
        (_nic(net, host, rail), *next(iter(ports_to.items())))
        for (net, host, rail), ports_to in switches.items()
        if len(ports_to) == 1 and net is not Net.MANAGEMENT
    )
    yield from deduplicate_by(
        ((nic[1], ports), _single_homed(nic, switch, ports)) for nic, switch, ports in single if ports > 1
    )


def _nic(net: Net, host: str, rail: int | None) -> tuple[str, Net]:
    return (host if rail is None else f"{host} rail{rail}"), net


def _single_homed(nic: tuple[str, Net], switch: str, ports: int) -> Finding:
    where, net = nic
    return warning(
        DesignCode.SINGLE_HOMED_NIC,
        where,
        f"all {ports} {net} ports of this NIC connect to {switch}, whose failure disconnects it",
        f"Use {_more_switches(net)}, so that they connect to two switches",
    )


def _more_switches(net: Net) -> str:
    return "more rail_switches" if net is Net.BACKEND else f"more {net}.leaves"


def mlag_backups(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that the switches of an MLAG pair have a path beside their peer link: spines, or the management network."""
    links = indexed.links.peer_links
    if intent.hosts.attach != "mlag" or intent.backend.spines is not None or intent.management_network or not links:
        return
    problem = (
        "the switches of a pair have no path beside their peer link, so that no keepalive runs (mlag backup, "
        "heartbeat): when the peer link fails, each takes the other for down, and both go on alone"
    )
    yield note(
        DesignCode.MLAG_WITHOUT_BACKUP,
        f"{links[0].a.node} {links[0].z.node}",
        problem,
        "State management.leaves, over which the keepalive then runs, or spines",
    )


def bonds(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that LAGs survive the loss of a link and of a switch."""
    peers = {frozenset((link.a.node, link.z.node)) for link in indexed.links.peer_links}
    found = []
    for bond in indexed.topology.bonds:
        where = f"{bond.host} {bond.name}"
        if len(bond.ports) < 2:
            problem, advice = "a LAG with one port survives no failure", "Add a port on another switch"
            found.append(warning(DesignCode.ONE_PORT_LAG, where, problem, advice))
        elif len(set(bond.switches)) < 2:
            switch = bond.switches[0]
            problem = f"all {len(bond.ports)} ports of the LAG connect to {switch}, so it does not survive its failure"
            found.append(warning(DesignCode.ONE_SWITCH_LAG, where, problem, "Connect them to two switches"))
        elif bond.esi is None and frozenset(bond.switches) not in peers:
            problem = f"the LAG connects to {' and '.join(bond.switches)}, which have no peer link for MLAG"
            choices = Choice("peer links", verb="add"), setting("hosts.attach", "esi", "Ethernet segments")
            found.append(error(DesignCode.LAG_WITHOUT_PEER_LINK, where, problem, remedy(*choices)))
    yield from deduplicate(found)
