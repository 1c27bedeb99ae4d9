"""Compare an existing topology with the intent: missing, unexpected and different nodes, cables and attributes.

Data that a source does not have is no difference. One mistake is one finding: a cable in a wrong port is reported once,
and so is a pair of swapped cables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from railfab.findings import DifferenceCode, Finding, Severity
from railfab.imports.existing import ExistingNode, ExistingPort, ExistingTopology
from railfab.imports.matching import End, Matching, match_topology
from railfab.imports.naming import is_model
from railfab.topology.model import CabledPort, Link, Node, Topology
from railfab.topology.swaps import plugs_to_swap, port_text, swap_problem, swapped_cable

__all__ = ["Matching", "compare", "differences", "match_topology"]

LISTED = 20
"""Limit of differences of one category that are listed; of more, the others are counted."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category of difference. many: the problem in the plural."""

    code: DifferenceCode
    many: str
    remedy: str
    severity: Severity = Severity.ERROR


MISSING = Category(DifferenceCode.NODE_MISSING, "are missing", "Add it there, or remove it from the intent")
RENAMED = Category(DifferenceCode.NODE_RENAMED, "have other names", "Rename it there")
UNEXPECTED = Category(
    DifferenceCode.NODE_UNEXPECTED,
    "are not in the intent",
    "Remove it there, or add it to the intent",
    Severity.WARNING,
)
ROLE = Category(DifferenceCode.ROLE_DIFFERS, "have another role", "Correct it there, or change the intent")
MODEL = Category(DifferenceCode.MODEL_DIFFERS, "are other models", "Correct it there, or change the intent")
PLATFORM = Category(DifferenceCode.PLATFORM_DIFFERS, "run another platform", "Correct it there, or change the intent")
LOOPBACK = Category(DifferenceCode.LOOPBACK_DIFFERS, "have other loopback addresses", "Correct it there")
ASN = Category(DifferenceCode.ASN_DIFFERS, "have other AS numbers", "Correct it there")
UNREGISTERED = Category(DifferenceCode.ASN_UNREGISTERED, "have AS numbers that are not registered", "Register it there")
SWAPPED = Category(DifferenceCode.CABLES_SWAPPED, "are pairs of swapped cables", "Swap them back")
MISCABLED = Category(DifferenceCode.MISCABLED, "are cabled to other ports than in the intent", "Move the cable")
UNCABLED = Category(DifferenceCode.UNCABLED, "are not cabled", "Connect it, or remove it from the intent")
EXTRA = Category(
    DifferenceCode.CABLE_UNEXPECTED,
    "are cabled, but the intent has no such links",
    "Remove it, or add it to the intent",
    Severity.WARNING,
)
RATE = Category(DifferenceCode.RATE_DIFFERS, "run at other speeds", "Correct it there, or change the intent")
ADDRESS = Category(DifferenceCode.ADDRESS_DIFFERS, "have other addresses", "Correct it there")

Difference = tuple[Category, str, str]
"""Category, place and problem."""


def compare(intended: Topology, found: ExistingTopology) -> tuple[Finding, ...]:
    """Every difference, nodes first; none if the source has no data that differs from the intent."""
    return differences(intended, found, match_topology(intended, found))


def differences(
    intended: Topology, found: ExistingTopology, matching: Matching, most: int | None = LISTED
) -> tuple[Finding, ...]:
    """Every difference of matched topologies. most: limit of those of a category that are listed; None for all."""
    every = (
        _node_differences(intended, found, matching),
        _link_differences(intended, found, matching),
        _port_differences(intended, matching),
    )
    return tuple(grouped_differences(chain.from_iterable(every), most))


def grouped_differences(differences: Iterable[Difference], most: int | None) -> Iterator[Finding]:
    """Findings by category, in the order of the first difference of each category."""
    by_category: dict[Category, list[tuple[str, str]]] = {}
    for category, where, problem in differences:
        by_category.setdefault(category, []).append((where, problem))
    for category, places in by_category.items():
        listed = places if most is None or len(places) <= most else places[: most - 1]
        for where, problem in listed:
            yield _finding(category, where, problem)
        if len(listed) < len(places):
            rest = places[len(listed) :]
            yield _finding(category, f"{rest[0][0]} and {len(rest) - 1} more", category.many)


def _finding(category: Category, where: str, problem: str) -> Finding:
    return Finding(severity=category.severity, code=category.code, where=where, problem=problem, remedy=category.remedy)


def _node_differences(intended: Topology, found: ExistingTopology, matching: Matching) -> Iterator[Difference]:
    for node in intended.nodes:
        there = matching.nodes.get(node.name)
        if there is not None:
            yield from _one_node(node, there, found)
        elif node.name not in matching.absent:
            yield MISSING, node.name, f"is not in {found.source}"
    for name in matching.nodes:
        if name not in intended.by_name:
            yield UNEXPECTED, name, f"is in {found.source} and not in the intent"


def _one_node(node: Node, there: ExistingNode, found: ExistingTopology) -> Iterator[Difference]:
    if there.name != node.name:
        yield RENAMED, node.name, f"is named {there.name} in {found.source}"
    if there.role not in (None, node.role):
        yield ROLE, node.name, f"is a {there.role} in {found.source}, and a {node.role} in the intent"
    if there.model and node.model and not is_model(there.model, node.model):
        yield MODEL, node.name, f"is a {there.model} in {found.source}, and a {node.model} in the intent"
    if there.platform and node.platform and there.platform != node.platform:
        yield PLATFORM, node.name, f"runs {there.platform} in {found.source}, and {node.platform} in the intent"
    if there.loopbacks and node.loopback is not None and node.loopback not in there.loopbacks:
        yield LOOPBACK, node.name, f"has loopback {_listed(there.loopbacks)}, not {node.loopback}"
    if node.asn is not None and there.asn not in (None, node.asn):
        yield ASN, node.name, f"has AS {there.asn}, not {node.asn}"
    elif node.asn is not None and there.asn is None and found.asns and node.asn not in found.asns:
        yield UNREGISTERED, node.name, f"its AS {node.asn} is not registered in {found.source}"


def _link_differences(intended: Topology, found: ExistingTopology, matching: Matching) -> Iterator[Difference]:
    """Swapped, wrong, missing and unexpected cables; each is reported once."""
    expected = matching.intended_peers
    reported: set[End] = set()
    for a, z in matching.links:
        if expected.get(a) == z or not {a, z} & expected.keys() or a in reported or z in reported:
            continue
        absent = [end for end in (a, z) if end in expected and expected[end] not in matching.peers.get(end, ())]
        if not absent:
            yield EXTRA, port_text(a), f"is also cabled to {port_text(z)}, but the intent has no such link"
        elif (pair := swapped_cable((a, z), expected, matching.peers)) is not None:
            reported.update((a, z, *pair))
            first, second = plugs_to_swap((a, z), pair)
            yield SWAPPED, f"{port_text(first[0])} and {port_text(second[0])}", swap_problem(first, second)
        else:
            yield _miscabled(absent[0], z if absent[0] == a else a, expected)
    yield from _uncabled(intended, found, matching)
    yield from _extra(intended, matching)


def _miscabled(end: End, peer: End, expected: Mapping[End, End]) -> Difference:
    belongs = f", where {port_text(expected[peer])} belongs" if peer in expected else ""
    return MISCABLED, port_text(end), f"is cabled to {port_text(peer)}, not to {port_text(expected[end])}{belongs}"


def _uncabled(intended: Topology, found: ExistingTopology, matching: Matching) -> Iterator[Difference]:
    """Links between existing nodes of which neither port is cabled."""
    for link in intended.links:
        if not found.manages_switches and intended.manages_switch(link):
            continue
        a, z = (link.a.node, link.a.name), (link.z.node, link.z.name)
        if a[0] in matching.nodes and z[0] in matching.nodes and a not in matching.peers and z not in matching.peers:
            yield UNCABLED, port_text(a), f"is not cabled to {port_text(z)}"


def _extra(intended: Topology, matching: Matching) -> Iterator[Difference]:
    """Links between ports without a cable in the intent, on nodes of the intent."""
    for a, z in matching.links:
        if (
            a not in matching.intended_peers
            and z not in matching.intended_peers
            and a[0] in intended.by_name
            and z[0] in intended.by_name
        ):
            yield EXTRA, port_text(a), f"is cabled to {port_text(z)}, but the intent has no such link"


def _port_differences(intended: Topology, matching: Matching) -> Iterator[Difference]:
    for link in intended.links:
        a, z = matching.ports.get((link.a.node, link.a.name)), matching.ports.get((link.z.node, link.z.name))
        if (link.z.node, link.z.name) in matching.peers.get((link.a.node, link.a.name), ()):
            yield from _rate(link, a, z)
        for port, there in ((link.a, a), (link.z, z)):
            if there is not None:
                yield from _address(port, there)


def _rate(link: Link, a: ExistingPort | None, z: ExistingPort | None) -> Iterator[Difference]:
    """A difference of speed, reported once if it is the same at both ends."""
    ends = [(port, _slower(port, there)) for port, there in ((link.a, a), (link.z, z)) if there is not None]
    wrong = [(port, problem) for port, problem in ends if problem]
    if len({problem for _, problem in wrong}) == 1:
        yield RATE, " and ".join(_port_text(port) for port, _ in wrong), wrong[0][1]
    else:
        yield from ((RATE, _port_text(port), problem) for port, problem in wrong)


def _slower(port: CabledPort, there: ExistingPort) -> str:
    if there.rate_gbps not in (None, port.rate_gbps):
        return f"{there.rate_gbps} Gb/s there, {port.rate_gbps} Gb/s in the intent"
    if there.rate_gbps is None and there.most_gbps is not None and there.most_gbps < port.rate_gbps:
        return f"at most {there.most_gbps} Gb/s there, {port.rate_gbps} Gb/s in the intent"
    return ""


def _address(port: CabledPort, there: ExistingPort) -> Iterator[Difference]:
    """A difference of addresses; link-local addresses are ignored, because no intent states them."""
    addresses = [address for address in there.addresses if not address.is_link_local]
    if not addresses or port.address in addresses:
        return
    expected = "none" if port.address is None else str(port.address)
    yield ADDRESS, _port_text(port), f"has address {_listed(addresses)}, not {expected}"


def _listed(things: Iterable[object]) -> str:
    return ", ".join(str(thing) for thing in things)


def _port_text(port: CabledPort) -> str:
    return f"{port.node} {port.name}"
