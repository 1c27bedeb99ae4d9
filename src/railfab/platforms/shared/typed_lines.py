"""Lines of configuration as an operator types them or pastes them: the section of each, and the text that they leave.

A device ignores indentation, and takes a command of the top level in a section too. Where a pasted text has indentation
it says the same as the sections do. `dialect.yml` has under `twin`, in this order of trial,

    sections:                                   # lines that open a mode; `in`, a pattern of the section around it
    - {line: 'interface (?P<name>\\S+)', place: '-if-{name}'}
    - {in: 'router bgp .*', line: 'address-family (?P<family>\\S+)', place: '-router-bgp-af'}
    replaces: ['mtu \\d+', 'neighbor (\\S+) remote-as \\d+']   # a line takes the place of one with equal groups
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from railfab.platforms.shared.line_tree import Line, LineFormat, Literal


@dataclass(frozen=True, slots=True)
class SectionMode:
    """A line that opens a section. within: pattern of the section around it; None at the top. place: in the prompt."""

    within: re.Pattern[str] | None
    line: re.Pattern[str]
    place: str


@dataclass(frozen=True, slots=True)
class LineRules:
    """sections: lines that open one. replaces: patterns of lines of which a section has one for each value of the
    groups."""

    sections: tuple[SectionMode, ...]
    replaces: tuple[re.Pattern[str], ...]


def line_rules(twin: Mapping[str, Sequence[object]]) -> LineRules:
    """The rules in `twin` of a `dialect.yml`."""
    sections: Iterable[Mapping[str, str]] = twin["sections"]  # type: ignore[assignment]
    return LineRules(
        sections=tuple(
            SectionMode(
                re.compile(entry["in"]) if "in" in entry else None, re.compile(entry["line"]), entry.get("place", "")
            )
            for entry in sections
        ),
        replaces=tuple(re.compile(str(pattern)) for pattern in twin.get("replaces", ())),
    )


@dataclass(slots=True)
class _Node:
    """A line with those below it. indent: with which it was typed [columns]. place: of its mode in the prompt."""

    text: str
    indent: int = 0
    place: str = ""
    children: list[_Node] = field(default_factory=list)

    def line(self) -> Line:
        return Line(self.text, tuple([child.line() for child in self.children]))


class TypedLines:
    """A configuration that typed lines edit. Literals, such as banners, are taken up to the line that ends them."""

    def __init__(self, form: LineFormat, rules: LineRules, text: str = "") -> None:
        self._form = form
        self._rules = rules
        self._root = _Node("", children=[_node(line) for line in form.tree(text)])
        self._path: list[_Node] = [self._root]
        self._separated = False
        self._last: _Node | None = None
        self._literal: tuple[Literal, re.Match[str], list[str]] | None = None

    @property
    def place(self) -> str:
        """The place of the present mode in the prompt; empty at the top."""
        return self._path[-1].place

    @property
    def section(self) -> tuple[str, ...]:
        """The lines that opened the present section, outermost first."""
        return tuple(node.text for node in self._path[1:])

    @property
    def headers(self) -> tuple[str, ...]:
        """The same as they were typed, with their indents."""
        return tuple(" " * node.indent + node.text for node in self._path[1:])

    @property
    def in_literal(self) -> bool:
        """Whether the next line belongs to a literal, before which the switch prints no prompt."""
        return self._literal is not None

    def text(self) -> str:
        """The configuration as text."""
        return self._form.text(tuple([node.line() for node in self._root.children]))

    def value(self, word: str) -> str | None:
        """The rest of the line of the top that begins with a word; None without one."""
        texts = (node.text.partition(" ") for node in self._root.children)
        return next((rest for first, _, rest in texts if first == word and rest), None)

    def leave(self) -> bool:
        """Leave the present section; False at the top."""
        if len(self._path) == 1:
            return False
        self._path.pop()
        return True

    def take(self, typed: str) -> None:
        """Take a line."""
        if self._literal is not None:
            self._continue_literal(typed)
            return
        line, indent = " ".join(typed.split()), len(typed) - len(typed.lstrip())
        if not line or line[0] in self._form.comments:
            self._separated = self._separated or (bool(line) and indent == 0)
            return
        self._enter(line, indent)
        self._separated, self._last = False, None
        literal, opening = self._form.literal(line)
        if literal is not None and opening is not None:
            self._literal = (literal, opening, [line])
            return
        word, _, rest = line.partition(" ")
        if word in ("no", "default") and rest:
            self._negate(line, rest, is_default=word == "default")
        else:
            self._add(line, indent)

    def _continue_literal(self, typed: str) -> None:
        assert self._literal is not None
        literal, opening, lines = self._literal
        lines.append(typed)
        if literal.closes(opening, typed):
            self._literal = None
            self._remove(re.compile(re.escape(lines[0]) + r"(?:\n(?s:.*))?"))
            self._path[-1].children.append(_Node("\n".join(lines)))

    def _enter(self, line: str, indent: int) -> None:
        """Go to the section in which a line stands."""
        if indent:
            if self._last is not None and self._last.indent < indent and self._last is not self._path[-1]:
                self._path.append(self._last)
            while len(self._path) > 1 and self._path[-1].indent >= indent:
                self._path.pop()
            return
        if self._separated:
            del self._path[1:]
            return
        if len(self._path) > 1 and not self._opening(line, self._path[-1]):
            depths = range(len(self._path) - 2, -1, -1)
            depth = next((depth for depth in depths if self._opening(line, self._path[depth])), None)
            if depth is not None:
                del self._path[depth + 1 :]

    def _opening(self, line: str, around: _Node) -> tuple[SectionMode, re.Match[str]] | None:
        """The mode that a line opens in a section."""
        for mode in self._rules.sections:
            is_here = around is self._root if mode.within is None else mode.within.fullmatch(around.text)
            if is_here and (match := mode.line.fullmatch(line)):
                return mode, match
        return None

    def _add(self, line: str, indent: int) -> None:
        section = self._path[-1]
        opening = self._opening(line, section)
        self._remove(re.compile(re.escape(f"no {line}")))
        if opening is None:
            self._replace(line)
        node = next((child for child in section.children if child.text == line), None)
        if node is None:
            node = _Node(line)
            section.children.append(node)
        node.indent, self._last = indent, node
        if opening is not None:
            mode, match = opening
            node.place = mode.place.format(**match.groupdict())
            self._path.append(node)

    def _replace(self, line: str) -> None:
        """Remove the line of the section that has the same setting."""
        for pattern in self._rules.replaces:
            if match := pattern.fullmatch(line):
                children = self._path[-1].children
                children[:] = [
                    child for child in children if child.text == line or not _is_same(pattern, match, child.text)
                ]
                return

    def _negate(self, line: str, rest: str, *, is_default: bool) -> None:
        """Remove what a `no` or `default` names; a `no` of what the section does not have is kept as it is."""
        removed = self._remove(re.compile(rf"{re.escape(rest)}(?: .*)?"))
        if is_default:
            self._remove(re.compile(re.escape(f"no {rest}")))
        elif not removed and all(child.text != line for child in self._path[-1].children):
            self._path[-1].children.append(_Node(line))

    def _remove(self, pattern: re.Pattern[str]) -> bool:
        children = self._path[-1].children
        left = [child for child in children if not pattern.fullmatch(child.text)]
        removed = len(left) < len(children)
        children[:] = left
        return removed


def _is_same(pattern: re.Pattern[str], match: re.Match[str], text: str) -> bool:
    earlier = pattern.fullmatch(text)
    return earlier is not None and earlier.groups() == match.groups()


def _node(line: Line) -> _Node:
    return _Node(line.text, children=[_node(child) for child in line.children])
