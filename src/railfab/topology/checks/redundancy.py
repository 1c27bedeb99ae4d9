"""Redundancy: what is claimed and not built, and what hangs on one switch."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike, alike_by
from railfab.topology.failures import FailureDomain, FailureKind, failure_domains
from railfab.topology.model import Net
from railfab.topology.sorted_links import Wired

LINKS = {FailureKind.HOST_LINK, FailureKind.LEAF_LINK, FailureKind.SPINE_LINK}
SWITCHES = {FailureKind.LEAF, FailureKind.SPINE, FailureKind.SUPER}
CLAIMS = {"nothing": frozenset[FailureKind](), "link": frozenset(LINKS), "switch": frozenset(LINKS | SWITCHES)}
"""What the backend says to survive. Who survives a switch survives each of its links."""


def claims(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """`backend.survives`, held against the failure domains."""
    survives = intent.backend.survives
    if survives == "nothing":
        return
    for domain in failure_domains(wired.topology, intent):
        if domain.net is Net.BACKEND and domain.kind in CLAIMS[survives] and domain.cut_off:
            yield _not_survived(survives, domain)


def _not_survived(survives: str, domain: FailureDomain) -> Finding:
    alike_ones = f" and {domain.count - 1} more" if domain.count > 1 else ""
    return error(
        DesignCode.REDUNDANCY,
        f"{domain.example}{alike_ones}",
        f"the loss of this {domain.kind} cuts {_gpus(domain.cut_off)} off from {domain.towards}, "
        f"and backend.survives says {survives}",
        f"Add {_remedy(domain.kind)}, or claim less",
    )


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def _remedy(kind: FailureKind) -> str:
    match kind:
        case FailureKind.LEAF_LINK | FailureKind.SPINE:
            return "spines"
        case FailureKind.SPINE_LINK | FailureKind.SUPER:
            return "super-spines"
    return "NIC ports that meet two rail switches"


def single_homes(wired: Wired) -> Iterator[Finding]:
    """NICs of several ports that all meet one switch."""
    switches: dict[tuple[Net, str, int | None], dict[str, int]] = {}
    nets = {node.name: node.net for node in wired.topology.nodes}
    for link in wired.links.hosts:
        met = switches.setdefault((nets[link.z.node], link.a.node, link.a.rail), {})
        met[link.z.node] = met.get(link.z.node, 0) + 1
    found = (
        (_home(net, host, rail), next(iter(met.items())))
        for (net, host, rail), met in switches.items()
        if len(met) == 1 and net is not Net.MANAGEMENT
    )
    yield from alike_by(((nic[1], ports), _single(nic, *met)) for nic, met in found if (ports := met[1]) > 1)


def _home(net: Net, host: str, rail: int | None) -> tuple[str, Net]:
    return (host if rail is None else f"{host} rail{rail}"), net


def _single(nic: tuple[str, Net], switch: str, ports: int) -> Finding:
    where, net = nic
    return warning(
        DesignCode.SINGLE_HOMED_NIC,
        where,
        f"all {ports} {net} ports of this NIC meet {switch}, which cuts it off when it fails",
        f"Use {_more_switches(net)} so that they meet two",
    )


def _more_switches(net: Net) -> str:
    return "more rail_switches" if net is Net.BACKEND else f"more {net}.leaves"


def bonds(wired: Wired) -> Iterator[Finding]:
    """LAGs that are there against the loss of a switch or a link, and are not over two of them."""
    level = {frozenset((link.a.node, link.z.node)) for link in wired.links.level}
    found = []
    for bond in wired.topology.bonds:
        where = f"{bond.host} {bond.name}"
        if len(bond.ports) < 2:
            problem, remedy = "a LAG of one port survives nothing", "Give it a port on another switch"
            found.append(warning(DesignCode.ONE_PORT_LAG, where, problem, remedy))
        elif len(set(bond.switches)) < 2:
            problem = f"all {len(bond.ports)} ports of a LAG meet {bond.switches[0]}, so that it does not survive it"
            found.append(warning(DesignCode.ONE_SWITCH_LAG, where, problem, "Spread them over a pair of switches"))
        elif bond.esi is None and frozenset(bond.switches) not in level:
            problem = f"a LAG over {' and '.join(bond.switches)}, which no peer link joins, is no MLAG"
            remedy = "Add peer links, or an Ethernet segment (attach: esi)"
            found.append(error(DesignCode.LAG_WITHOUT_PEER_LINK, where, problem, remedy))
    yield from alike(found)
