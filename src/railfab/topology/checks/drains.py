"""Check of the switches that the intent drains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set

from railfab.findings import DesignCode, Finding, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate_by
from railfab.topology.checks.inventory import unknown
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import TIERS, Node, Role


def drained_switches(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that the switches to drain exist, and that others can take their traffic."""
    nodes = {node.name: node for node in indexed.topology.switches()}
    names = dict.fromkeys(intent.drain)
    missing = [_unknown(name, list(nodes)) for name in names if name not in nodes]
    yield from deduplicate_by(("unknown", finding) for finding in missing)
    yield from _whole_tiers(names.keys(), nodes.values())


def _unknown(name: str, switches: Sequence[str]) -> Finding:
    return unknown(name, switches, "drain", f"{name} is not a switch of this fabric")


def _whole_tiers(drained: Set[str], switches: Iterable[Node]) -> Iterator[Finding]:
    """A warning for spines or super-spines all of which are drained: with no other path, their traffic stays."""
    members: dict[object, set[str]] = defaultdict(set)
    for node in switches:
        if TIERS[node.role] > TIERS[Role.LEAF]:
            members[node.net, node.plane, node.role, node.pod].add(node.name)
    for group in members.values():
        if group <= drained:
            problem = f"{min(group)} and all others of its tier are drained, so that their traffic has no other path"
            yield warning(DesignCode.DRAIN_WITHOUT_EFFECT, "drain", problem, "Drain one part of the tier at a time")
