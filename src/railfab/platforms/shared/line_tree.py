"""FRR configuration as a tree of lines, and conversion between that tree and text.

The text equals the output of `show running-config no-header` of FRR 8.4: a section ends in `exit` (an address family in
`exit-address-family`) and top-level sections are separated by `!`. frr-reload.py then finds nothing to do on a second
push.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

SECTIONS = frozenset({"interface", "router", "address-family", "route-map", "bfd", "profile"})
"""First words of the lines that open a section."""

HEADER = frozenset({"Building configuration...", "Current configuration:"})
"""First lines of `show running-config`; `no-header` omits them."""

NESTED = frozenset({"address-family", "profile"})
ENDS = {"address-family": "exit-address-family"}
EXITS = frozenset({"exit", "exit-address-family", "exit-vrf"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line and the lines below it. number: line number in the parsed text, from 1; None when rendered."""

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
    """The configuration text of a tree. Plain lines of one family form one block, as in FRR's output."""
    blocks = groupby(tree, key=lambda line: id(line) if line.is_section else _family(line))
    return "\n".join(text for _, lines in blocks for text in (*_block(tuple(lines)), "!")) + "\nend\n"


def _family(line: Line) -> str:
    """`ip` for the lines of all prefix lists, `header` for all other plain lines."""
    return "ip" if line.kind == "ip" else "header"


def _block(lines: tuple[Line, ...]) -> Iterator[str]:
    for line in lines:
        yield line.text
        if line.is_section:
            for child in line.children:
                yield from _nested(child)
            yield "exit"


def _nested(line: Line) -> Iterator[str]:
    """A line below a section. FRR prints `!` before an address family and after a BFD profile."""
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


class _OpenSection:
    """A section being parsed."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.children: list[_OpenSection] = []

    def closed(self) -> Line:
        return Line(self.text, tuple(child.closed() for child in self.children), self.number)


def tree_of(text: str) -> tuple[Line, ...]:
    """The tree of a configuration text, with or without `show running-config`'s header; comments are left out.

    Indentation gives the nesting; a missing `exit` is accepted, as by FRR.
    """
    root = _OpenSection("", 0)
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
            found = _OpenSection(line, number)
            open_sections[-1].children.append(found)
            if _opens(found.text, len(open_sections)):
                open_sections.append(found)
    return root.closed().children


def _opens(text: str, depth: int) -> bool:
    """Whether a line opens a section: address families and BFD profiles below another section, the rest at the top."""
    kind = text.partition(" ")[0]
    return kind in SECTIONS and (kind in NESTED) == (depth > 1)
