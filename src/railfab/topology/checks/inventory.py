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
    unknown = sorted((intent.inventory or {}).keys() - set(switches))
    yield from deduplicate_by(("unknown", _unknown(name, switches)) for name in unknown)


def _unknown(name: str, switches: Sequence[str]) -> Finding:
    similar = difflib.get_close_matches(name, switches, n=1)
    remedy = f"Use a name such as {(similar or switches)[0]!r}"
    return error(DesignCode.UNKNOWN_SWITCH, f"inventory.{name}", "is not a switch of this fabric", remedy)
