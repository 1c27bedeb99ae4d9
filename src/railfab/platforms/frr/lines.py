"""FRR configuration as lines with children, and the two ways between that tree and text.

The text is what FRR 8.4 prints for `show running-config no-header`, to the byte: a line with children ends in `exit`
(an address family in `exit-address-family`) and top-level sections are parted by `!`. frr-reload.py then finds nothing
to do the second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

SECTIONS = frozenset({"interface", "router", "address-family", "route-map", "bfd", "profile"})
"""First words of the lines that open a section when they stand where a section may stand."""

HEADER = frozenset({"Building configuration...", "Current configuration:"})
"""What `show running-config` says first; `no-header` leaves it out."""

NESTED = frozenset({"address-family", "profile"})
ENDS = {"address-family": "exit-address-family"}
EXITS = frozenset({"exit", "exit-address-family", "exit-vrf"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line and the lines below it. number: where it was read, from 1; None when it was rendered."""

    text: str
    children: tuple[Line, ...] = ()
    number: int | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        return self.text.partition(" ")[0]

    @property
    def is_section(self) -> bool:
        return self.kind in SECTIONS


def text_of(tree: tuple[Line, ...]) -> str:
    """The configuration text of a tree. Plain lines that begin alike stand together, as FRR has them."""
    blocks = groupby(tree, key=lambda line: id(line) if line.is_section else _family(line))
    return "\n".join(text for _, lines in blocks for text in (*_block(tuple(lines)), "!")) + "\nend\n"


def _family(line: Line) -> str:
    """`ip prefix-list` lines of all lists are one block; the lines of the header are another."""
    return "ip" if line.kind == "ip" else "header"


def _block(lines: tuple[Line, ...]) -> Iterator[str]:
    for line in lines:
        yield line.text
        if line.is_section:
            for child in line.children:
                yield from _nested(child)
            yield "exit"


def _nested(line: Line) -> Iterator[str]:
    """A line below a section. FRR sets an address family apart before it, and a BFD profile after it."""
    if line.kind not in NESTED:
        yield f" {line.text}"
        return
    if line.kind in ENDS:
        yield " !"
    yield f" {line.text}"
    yield from (f"  {child.text}" for child in line.children)
    yield f" {ENDS.get(line.kind, 'exit')}"
    if line.kind not in ENDS:
        yield " !"


class _Open:
    """A section that is being read."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.children: list[_Open] = []

    def closed(self) -> Line:
        return Line(self.text, tuple(child.closed() for child in self.children), self.number)


def tree_of(text: str) -> tuple[Line, ...]:
    """The tree of a configuration text, with or without `show running-config`'s header; comments are left out.

    Indentation says what lies below what; a missing `exit` is forgiven, as FRR does.
    """
    root = _Open("", 0)
    open_sections = [root]
    for number, raw in enumerate(text.splitlines(), start=1):
        line = " ".join(raw.split())
        if not line or line[0] in "!#" or line in HEADER:
            continue
        if line == "end":
            open_sections = [root]
        elif line in EXITS:
            open_sections = open_sections[:-1] or [root]
        else:
            if raw[0] not in " \t":
                open_sections = [root]
            found = _Open(line, number)
            open_sections[-1].children.append(found)
            if _opens(found.text, len(open_sections)):
                open_sections.append(found)
    return root.closed().children


def _opens(text: str, depth: int) -> bool:
    """Sections stand at the top, but for address families and BFD profiles, which stand one below."""
    kind = text.partition(" ")[0]
    return kind in SECTIONS and (kind in NESTED) == (depth > 1)
