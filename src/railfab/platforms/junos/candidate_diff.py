"""`show | compare`: what a candidate adds to the running configuration, and removes from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import INDENT, Statement, shown


def compared(running: str, candidate: str) -> str:
    """`show | compare`: what a candidate adds and removes, below the place of each."""
    before, after = dict.fromkeys(read(running)), dict.fromkeys(read(candidate))
    changes: dict[Statement, list[str]] = {}
    for sign, statements in (("-", _without(before, after)), ("+", _without(after, before))):
        for statement in statements:
            place, leaf = statement[:-2], statement[-2:]
            changes.setdefault(place, []).append(f"{sign}{INDENT}{shown(leaf)};")
    return "\n".join(line for place, lines in changes.items() for line in (_header(place), *lines))


def _without(statements: Iterable[Statement], others: Mapping[Statement, None]) -> Iterator[Statement]:
    return (statement for statement in statements if statement not in others)


def _header(place: Statement) -> str:
    return f"[edit {shown(place)}]" if place else "[edit]"
