"""Check of the names in the inventory."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate_by
from railfab.topology.links_by_tier import IndexedTopology


def unknown_switches(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that the inventory contains only switches of the fabric; a misspelt one would have no address."""
    switches = [node.name for node in indexed.topology.switches()]
    names = sorted((intent.inventory or {}).keys() - set(switches))
    yield from deduplicate_by(("unknown", unknown(name, switches, f"inventory.{name}")) for name in names)


def unknown(name: str, switches: Sequence[str], where: str, problem: str = "is not a switch of this fabric") -> Finding:
    """The finding of a name that no switch has. where: its place in the intent."""
    similar = difflib.get_close_matches(name, switches, n=1)
    remedy = f"Use a name such as {(similar or switches)[0]!r}"
    return error(DesignCode.UNKNOWN_SWITCH, where, problem, remedy)
