"""Lines of EOS that are compared with those of another configuration whatever their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from railfab.platforms.shared.line_tree import Line

ROUTER = "router bgp "
_LIST = re.compile(r"(?:ip|ipv6) prefix-list \S+")
_NUMBER = re.compile(r"seq \d+ ")


def with_entries_of(stated: tuple[Line, ...], wanted: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with the prefix lists of the other ones where these differ in sequence numbers alone, not in order."""
    lists = {line.text: line for line in wanted if _LIST.fullmatch(line.text)}
    return tuple(
        planned if (planned := lists.get(line.text)) and _unnumbered(planned) == _unnumbered(line) else line
        for line in stated
    )


def _unnumbered(section: Line) -> list[str]:
    return [_NUMBER.sub("", entry.text) for entry in sorted(section.children, key=_place)]


def _place(entry: Line) -> int:
    words = entry.text.split()
    return int(words[1]) if words[0] == "seq" and words[1].isdecimal() else 0


def with_number(stated: tuple[Line, ...], wanted: tuple[Line, ...]) -> Iterator[Line]:
    """The lines with the AS number of the other ones, where both have one: what is below it is compared by itself."""
    ours, theirs = ([each.text for each in lines if each.text.startswith(ROUTER)] for lines in (stated, wanted))
    number = theirs[0] if len(ours) == len(theirs) == 1 else None
    for each in stated:
        yield Line(number, each.children, each.number) if number and each.text.startswith(ROUTER) else each


def headers(lines: tuple[Line, ...], others: tuple[Line, ...]) -> tuple[Line, ...]:
    """The first lines of sections whose first lines are others in the second lines."""
    return tuple(Line(line.text) for line, renamed in zip(lines, others, strict=True) if line.text != renamed.text)
