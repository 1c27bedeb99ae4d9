"""Configuration as a tree of lines, and conversion between that tree and text, by the format of a platform.

Indentation gives the nesting. Order and duplicates are kept: in a route map or a class map they have a meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

END = "end"
_TOP_LEVEL = re.compile(r"\n(?=\S)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line and the lines below it. number: line number in the parsed text, from 1; None when rendered.

    text: without indentation; a banner holds its line breaks, up to and with the line that ends it.
    """

    text: str
    children: tuple[Line, ...] = ()
    number: int | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        """The first word."""
        return _first_word(self.text)


def _first_word(text: str) -> str:
    return text.partition(" ")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionKind:
    """A kind of section as it is written.

    exit: the line that ends it; None where indentation does. before, after: whether an indented `!` stands before or
    after it.
    """

    exit: str | None = None
    before: bool = False
    after: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """Text that is taken as it is, such as a banner. start: pattern of its first line.

    end: the line that ends it; None when it ends with the next occurrence of the pattern's first group (a delimiter).
    """

    start: re.Pattern[str]
    end: str | None = None

    def closes(self, opening: re.Match[str], line: str) -> bool:
        return line.strip() == self.end if self.end is not None else opening[1] in line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineFormat:
    """The text format of one platform.

    indent: blanks of a level. separator: line between top-level blocks. ends: whether the text closes with `end`.
    sections, nested: the kinds of section at the top level and below another section, by first word; None where any
    line may have lines below it.
    exits: lines that end a section. comments: characters that start a comment. header: lines before a configuration.
    block: key by which plain top-level lines are grouped between separators, by default their first word.
    keeps_blanks: whether blanks within a line have a meaning.
    """

    indent: int
    separator: str | None = "!"
    ends: bool = True
    sections: Mapping[str, SectionKind] | None = None
    nested: Mapping[str, SectionKind] = field(default_factory=dict)
    exits: frozenset[str] = frozenset({"exit"})
    comments: str = "!"
    header: frozenset[str] = frozenset()
    literals: tuple[Literal, ...] = ()
    block: Callable[[str], str] = _first_word
    keeps_blanks: bool = True

    def text(self, tree: tuple[Line, ...]) -> str:
        """The configuration text of a tree."""
        lines: list[str] = []
        kinds, before = self.sections or {}, None
        for place, line in enumerate(tree):
            block = place if line.children or line.kind in kinds else self.block(line.text)
            if self.separator is not None and place and block != before:
                lines.append(self.separator)
            self._write(lines, (line,), "", kinds)
            before = block
        if self.ends:
            lines += [self.separator] if self.separator is not None and tree else []
            lines.append(END)
        return "\n".join((*lines, ""))

    def tree(self, text: str) -> tuple[Line, ...]:
        """The tree of a configuration text, without comments. A missing `exit` is accepted."""
        return _tree(self, text)

    def written(self, text: str) -> Counter[str] | None:
        """Count each top-level line of a text, as it is written with the lines below it, without comments.

        Much faster than `tree`. None for a text with a literal, and for one that only a tree has the sections of.
        """
        if any(re.search(f"^(?:{literal.start.pattern})", text, re.MULTILINE) for literal in self.literals):
            return None
        count = Counter(map(str.rstrip, _TOP_LEVEL.split(text)))
        comments = [part for part in count if part and part[0] in self.comments]
        if text[:1].isspace() or any("\n" in comment for comment in comments):
            return None
        for part in (*comments, "", END, *self.exits, *self.header):
            count.pop(part, None)
        return count

    def _read(self, text: str) -> tuple[Line, ...]:
        root = _OpenSection("", 0, -1)
        stack = [root]
        for number, raw in self._lines(text):
            first = raw.partition("\n")[0].expandtabs()
            line = raw.strip() if self.keeps_blanks or "\n" in raw else " ".join(raw.split())
            if line == END or line in self.exits or line in self.header:
                continue
            depth = len(first) - len(first.lstrip())
            while stack[-1].depth >= depth:
                stack.pop()
            section = _OpenSection(line, number, depth)
            stack[-1].children.append(section)
            if self._opens(line, len(stack)):
                stack.append(section)
        return root.closed().children

    def _is_section(self, line: Line) -> bool:
        return bool(line.children) or line.kind in (self.sections or {})

    def _opens(self, text: str, level: int) -> bool:
        """Whether a line at this level (the top is 1) may have lines below it."""
        if self.sections is None:
            return True
        return _first_word(text) in (self.sections if level == 1 else self.nested)

    def _lines_of(self, block: Iterable[Line]) -> list[str]:
        lines: list[str] = []
        self._write(lines, block, "", self.sections or {})
        return lines

    def _write(self, lines: list[str], block: Iterable[Line], margin: str, kinds: Mapping[str, SectionKind]) -> None:
        """Append the text of lines and of those below them. kinds: the sections that the lines may be."""
        below = margin + " " * self.indent
        for line in block:
            text = line.text
            kind = kinds.get(text.partition(" ")[0]) if kinds else None
            if kind is not None and kind.before:
                lines.append(f"{margin}!")
            lines.append(margin + text)
            if line.children:
                self._write(lines, line.children, below, self.nested)
            if kind is not None:
                lines += [margin + kind.exit] if kind.exit is not None else []
                lines += [f"{margin}!"] if kind.after else []

    def _lines(self, text: str) -> Iterator[tuple[int, str]]:
        """The lines of a text that are no comments, with their numbers; a literal is one of them."""
        lines = enumerate(text.splitlines(), start=1)
        for number, raw in lines:
            content = raw.lstrip()
            if not content or content[0] in self.comments:
                continue
            literal, opening = self.literal(content)
            if literal is None or opening is None:
                yield number, raw
                continue
            taken = [raw]
            for _, following in lines:
                taken.append(following)
                if literal.closes(opening, following):
                    break
            yield number, "\n".join(taken)

    def literal(self, line: str) -> tuple[Literal | None, re.Match[str] | None]:
        """The literal that this line begins, unless it also ends there."""
        for literal in self.literals:
            opening = literal.start.match(line)
            if opening and (literal.end is not None or opening[1] not in line[opening.end() :]):
                return literal, opening
        return None, None


@lru_cache(maxsize=64)
def _tree(form: LineFormat, text: str) -> tuple[Line, ...]:
    """The tree of a text: audits and sessions, 16 at a time, ask for that of each of their texts several times."""
    return form._read(text)


class _OpenSection:
    """A section being parsed. depth: its indentation [columns]."""

    def __init__(self, text: str, number: int, depth: int) -> None:
        self.text = text
        self.number = number
        self.depth = depth
        self.children: list[_OpenSection] = []

    def closed(self) -> Line:
        return Line(self.text, tuple(child.closed() for child in self.children), self.number)
