"""Compare an existing topology with the intent: missing, unexpected and different nodes, cables and values.

What a source does not know is no difference. One mistake is one finding: a cable in a wrong port is said once, and so
are two that are swapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from railfab.findings import DifferenceCode, Finding, Severity
from railfab.imports.alignment import Alignment, End, align
from railfab.imports.existing import ExistingNode, ExistingPort, ExistingTopology
from railfab.imports.naming import is_model
from railfab.topology.model import Link, Node, Port, Topology

__all__ = ["Alignment", "align", "compare", "differences"]

LISTED = 20
"""Largest number of findings per sort of difference; the last one counts the rest."""


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of difference. many: the problem in the plural."""

    code: DifferenceCode
    many: str
    remedy: str
    severity: Severity = Severity.ERROR


MISSING = Sort(DifferenceCode.NODE_MISSING, "are missing", "Add it there, or remove it from the intent")
RENAMED = Sort(DifferenceCode.NODE_RENAMED, "have other names", "Rename it there")
UNEXPECTED = Sort(
    DifferenceCode.NODE_UNEXPECTED,
    "are not in the intent",
    "Remove it there, or add it to the intent",
    Severity.WARNING,
)
ROLE = Sort(DifferenceCode.ROLE_DIFFERS, "have another role", "Correct it there, or change the intent")
MODEL = Sort(DifferenceCode.MODEL_DIFFERS, "are other models", "Correct it there, or change the intent")
PLATFORM = Sort(DifferenceCode.PLATFORM_DIFFERS, "run another platform", "Correct it there, or change the intent")
LOOPBACK = Sort(DifferenceCode.LOOPBACK_DIFFERS, "have other loopback addresses", "Correct it there")
ASN = Sort(DifferenceCode.ASN_DIFFERS, "have other AS numbers", "Correct it there")
UNREGISTERED = Sort(DifferenceCode.ASN_UNREGISTERED, "have AS numbers that are not registered", "Register it there")
SWAPPED = Sort(DifferenceCode.CABLES_SWAPPED, "are pairs of swapped cables", "Swap them back")
MISCABLED = Sort(DifferenceCode.MISCABLED, "are cabled to other ports than in the intent", "Move the cable")
UNCABLED = Sort(DifferenceCode.UNCABLED, "are not cabled", "Connect it, or remove it from the intent")
EXTRA = Sort(
    DifferenceCode.CABLE_UNEXPECTED,
    "are cabled, but the intent has no such links",
    "Remove it, or add it to the intent",
    Severity.WARNING,
)
RATE = Sort(DifferenceCode.RATE_DIFFERS, "run at other speeds", "Correct it there, or change the intent")
ADDRESS = Sort(DifferenceCode.ADDRESS_DIFFERS, "have other addresses", "Correct it there")

Difference = tuple[Sort, str, str]
"""Sort, place and problem of a difference."""


def compare(intended: Topology, found: ExistingTopology) -> tuple[Finding, ...]:
    """Every difference, nodes first; unknown fields of the source are not compared."""
    return differences(intended, found, align(intended, found))


def differences(intended: Topology, found: ExistingTopology, beside: Alignment) -> tuple[Finding, ...]:
    """Every difference of a topology that is already aligned."""
    every = (
        _node_differences(intended, found, beside),
        _link_differences(intended, beside),
        _port_differences(intended, beside),
    )
    return tuple(_grouped(chain.from_iterable(every)))


def _grouped(differences: Iterable[Difference]) -> Iterator[Finding]:
    """Findings in the order of the first place of their sort, at most LISTED per sort."""
    by_sort: dict[Sort, list[tuple[str, str]]] = {}
    for sort, where, problem in differences:
        by_sort.setdefault(sort, []).append((where, problem))
    for sort, places in by_sort.items():
        listed = places if len(places) <= LISTED else places[: LISTED - 1]
        for where, problem in listed:
            yield _finding(sort, where, problem)
        if len(listed) < len(places):
            rest = places[len(listed) :]
            yield _finding(sort, f"{rest[0][0]} and {len(rest) - 1} more", sort.many)


def _finding(sort: Sort, where: str, problem: str) -> Finding:
    return Finding(severity=sort.severity, code=sort.code, where=where, problem=problem, remedy=sort.remedy)


def _node_differences(intended: Topology, found: ExistingTopology, beside: Alignment) -> Iterator[Difference]:
    for node in intended.nodes:
        there = beside.nodes.get(node.name)
        if there is not None:
            yield from _one_node(node, there, found)
        elif node.name not in beside.left_out:
            yield MISSING, node.name, f"is not in {found.source}"
    for name in beside.nodes:
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


def _link_differences(intended: Topology, beside: Alignment) -> Iterator[Difference]:
    """Cables that are swapped, in wrong ports, missing, or too many; each is said once."""
    meant = beside.meant
    said: set[End] = set()
    for a, z in beside.links:
        if meant.get(a) == z or not {a, z} & meant.keys() or a in said or z in said:
            continue
        absent = [end for end in (a, z) if end in meant and meant[end] not in beside.peers.get(end, ())]
        if not absent:
            yield EXTRA, _words(a), f"is also cabled to {_words(z)}, but the intent has no such link"
        elif (pair := _swapped(a, z, beside)) is not None:
            said.update((a, z, *pair))
            yield _swap((a, z), pair)
        else:
            yield _miscabled(absent[0], z if absent[0] == a else a, meant)
    yield from _uncabled(intended, beside)
    yield from _extra(intended, beside)


def _swapped(a: End, z: End, beside: Alignment) -> tuple[End, End] | None:
    """The other cable of a pair that is swapped, as found: what a and z should meet, if these meet each other."""
    if a in beside.meant and z in beside.meant:
        other = beside.meant[z], beside.meant[a]
        if beside.peers.get(other[0], ()) == (other[1],):
            return other
    return None


def _swap(one: tuple[End, End], other: tuple[End, End]) -> Difference:
    """Said of the side where both cables are on one node, if there is one."""
    if one[1][0] == other[1][0] and one[0][0] != other[0][0]:
        one, other = (one[1], one[0]), (other[1], other[0])
    where = f"{_words(one[0])} and {_words(other[0])}"
    return SWAPPED, where, f"are swapped: the first is cabled to {_words(one[1])}, the other to {_words(other[1])}"


def _miscabled(end: End, peer: End, meant: Mapping[End, End]) -> Difference:
    belongs = f", where {_words(meant[peer])} belongs" if peer in meant else ""
    return MISCABLED, _words(end), f"is cabled to {_words(peer)}, not to {_words(meant[end])}{belongs}"


def _uncabled(intended: Topology, beside: Alignment) -> Iterator[Difference]:
    """Links of which neither port is cabled to anything, between nodes that are there."""
    for link in intended.links:
        a, z = (link.a.node, link.a.name), (link.z.node, link.z.name)
        if a[0] in beside.nodes and z[0] in beside.nodes and a not in beside.peers and z not in beside.peers:
            yield UNCABLED, _words(a), f"is not cabled to {_words(z)}"


def _extra(intended: Topology, beside: Alignment) -> Iterator[Difference]:
    """Links between ports that the intent leaves empty, on nodes that it has."""
    for a, z in beside.links:
        if a not in beside.meant and z not in beside.meant and a[0] in intended.by_name and z[0] in intended.by_name:
            yield EXTRA, _words(a), f"is cabled to {_words(z)}, but the intent has no such link"


def _port_differences(intended: Topology, beside: Alignment) -> Iterator[Difference]:
    for link in intended.links:
        a, z = beside.ports.get((link.a.node, link.a.name)), beside.ports.get((link.z.node, link.z.name))
        if (link.z.node, link.z.name) in beside.peers.get((link.a.node, link.a.name), ()):
            yield from _rate(link, a, z)
        for port, there in ((link.a, a), (link.z, z)):
            if there is not None:
                yield from _address(port, there)


def _rate(link: Link, a: ExistingPort | None, z: ExistingPort | None) -> Iterator[Difference]:
    """Said once where both ends differ alike."""
    ends = [(port, _slower(port, there)) for port, there in ((link.a, a), (link.z, z)) if there is not None]
    wrong = [(port, problem) for port, problem in ends if problem]
    if len({problem for _, problem in wrong}) == 1:
        yield RATE, " and ".join(_words_of(port) for port, _ in wrong), wrong[0][1]
    else:
        yield from ((RATE, _words_of(port), problem) for port, problem in wrong)


def _slower(port: Port, there: ExistingPort) -> str:
    if there.rate_gbps not in (None, port.rate_gbps):
        return f"{there.rate_gbps} Gb/s there, {port.rate_gbps} Gb/s in the intent"
    if there.rate_gbps is None and there.most_gbps is not None and there.most_gbps < port.rate_gbps:
        return f"at most {there.most_gbps} Gb/s there, {port.rate_gbps} Gb/s in the intent"
    return ""


def _address(port: Port, there: ExistingPort) -> Iterator[Difference]:
    """Link-local addresses are nobody's plan."""
    addresses = [address for address in there.addresses if not address.is_link_local]
    if not addresses or port.address in addresses:
        return
    expected = "none" if port.address is None else str(port.address)
    yield ADDRESS, _words_of(port), f"has address {_listed(addresses)}, not {expected}"


def _listed(things: Iterable[object]) -> str:
    return ", ".join(str(thing) for thing in things)


def _words(end: End) -> str:
    return f"{end[0]} {end[1]}"


def _words_of(port: Port) -> str:
    return f"{port.node} {port.name}"
