"""A configuration as it is given to a switch: the intent's lines, and those of the operator that the switch has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from railfab.platforms.differences import Side
from railfab.platforms.eos.configuration import differences
from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.eos.scoped import is_as_written, scoped
from railfab.platforms.shared.line_tree import Line

_MODES = frozenset({"interface", "vlan", "vrf", "route-map", "management", "qos", "router", "maintenance", "mlag"})
"""First words of lines that may open a mode; after one without lines below it a comment ends its section."""


def candidate(running: str, wanted: str) -> tuple[Line, ...]:
    """The lines of a whole configuration: a deploy keeps what it needs to log in again."""
    replaced = frozenset(FORMAT.tree(scoped(running, wanted)))
    kept = (line for line in FORMAT.tree(running) if line not in replaced)
    return (*kept, *FORMAT.tree(wanted))


def is_equal(running: str, wanted: str) -> bool:
    """Whether a switch has a configuration already; a default that it shows or hides makes no difference."""
    return is_as_written(running, wanted) or not differences(scoped(running, wanted), wanted)


def missing(running: str, wanted: str) -> tuple[str, ...]:
    """The lines that a switch has not, or has with other values."""
    if is_as_written(running, wanted):
        return ()
    differing = differences(scoped(running, wanted), wanted)
    return tuple(each.text for each in differing if each.side is not Side.ADDED)


def typed(lines: Iterable[Line], *, nested: bool = False) -> Iterator[str]:
    """The lines as they are typed: each section is left before the next one, whatever the switch makes of a line."""
    for line in lines:
        yield from line.text.split("\n")
        if line.children:
            yield from typed(line.children, nested=True)
            yield "exit"
        elif not nested and line.kind in _MODES:
            yield "!"
