"""A configuration as it is given to a switch: the intent's lines, and those of the operator that the switch has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import lru_cache

from railfab.device import without_secrets
from railfab.platforms.differences import Difference, Side
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.parse import differences
from railfab.platforms.nxos.running_text import in_order, shown
from railfab.platforms.nxos.scope import TOPICS, scoped

CONTEXT_LINES = 3
RELOADING = re.compile(r"hardware access-list tcam .*|hardware profile .*|system routing .*|system vlan .* reserve")
"""Lines that take effect after a reload only (Nexus 9000 guides: Security, TCAM regions; Unicast Routing, also DLB)."""


def candidate(running: str, wanted: str) -> str:
    """A whole configuration as a file of `configure replace`: a deploy keeps what it needs to log in again."""
    replaced = frozenset(FORMAT.tree(scoped(running, wanted)))
    kept = (line for line in FORMAT.tree(running) if line not in replaced)
    return f"!Command: show running-config\n\n{in_order((*kept, *FORMAT.tree(wanted)))}"


def is_nearer(running: str, new: str, old: str) -> bool:
    """Whether a running configuration differs in less from one whole configuration than from another."""
    if TOPICS.is_as_written(running, new) and not TOPICS.is_as_written(running, old):
        return True
    return len(differences(running, new)) < len(differences(running, old))


def is_equal(running: str, wanted: str) -> bool:
    """Whether a switch has a configuration already; a default that it shows or hides makes no difference."""
    return TOPICS.is_as_written(running, wanted) or not _stated_differences(running, wanted)


def missing(running: str, wanted: str) -> tuple[str, ...]:
    """The lines that a switch has not, or has with other values."""
    if TOPICS.is_as_written(running, wanted):
        return ()
    return tuple(each.text for each in _stated_differences(running, wanted) if each.side is not Side.ADDED)


@lru_cache(maxsize=32)
def _stated_differences(running: str, wanted: str) -> tuple[Difference, ...]:
    """The differences without what is the operator's; a session asks for them more than once."""
    return differences(scoped(running, wanted), wanted)


def reloading(running: str, wanted: str) -> tuple[str, ...]:
    """The differing lines that would take effect after a reload only."""
    lines = map(_entered, _stated_differences(running, wanted))
    return tuple(line for line in lines if RELOADING.fullmatch(line.removeprefix("no ")))


def _entered(difference: Difference) -> str:
    """The line of the top level by which a difference ends."""
    line = difference.path.partition(": ")[0]
    return f"no {line}" if difference.side is Side.ADDED else line.removeprefix("no ")


def unified(running: str, wanted: str) -> str:
    """The difference as it is shown, without secrets."""
    return "\n".join(map(without_secrets, _unified(shown(scoped(running, wanted)), shown(wanted))))


def _unified(before: str, after: str) -> Iterator[str]:
    return difflib.unified_diff(
        before.splitlines(), after.splitlines(), "running", "candidate", lineterm="", n=CONTEXT_LINES
    )
