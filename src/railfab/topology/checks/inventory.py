"""Whether the inventory names switches that there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike_by
from railfab.topology.sorted_links import Wired


def unknown_switches(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """Addresses of switches that the fabric has not: the one that was meant, under another name, goes without."""
    switches = [node.name for node in wired.topology.switches()]
    unknown = sorted((intent.inventory or {}).keys() - set(switches))
    yield from alike_by(("unknown", _unknown(name, switches)) for name in unknown)


def _unknown(name: str, switches: Sequence[str]) -> Finding:
    guess = difflib.get_close_matches(name, switches, n=1)
    remedy = f"Use names as {(guess or switches)[0]!r}"
    return error(DesignCode.UNKNOWN_SWITCH, f"inventory.{name}", "is no switch of this fabric", remedy)
