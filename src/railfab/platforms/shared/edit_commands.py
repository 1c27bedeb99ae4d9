"""Statements of a configuration text: in braces, or of commands that edit a configuration, applied in their order.

Juniper, CLI User Guide: Load Configuration Data, `load set`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from railfab.errors import ConfigError
from railfab.platforms.shared.brace_text import INACTIVE, PROTECT, Statement, brace_statements

SET, DELETE, DEACTIVATE, ACTIVATE, GUARD, UNGUARD = "set", "delete", "deactivate", "activate", "protect", "unprotect"
INSERT, BEFORE, AFTER = "insert", "before", "after"
ANNOTATE = "annotate"
"""A command that adds a comment."""
COMMANDS = frozenset((SET, DELETE, DEACTIVATE, ACTIVATE, GUARD, UNGUARD, INSERT, ANNOTATE))
UNREAD = frozenset(("copy", "edit", "exit", "load", "rename", "replace", "top", "up", "wildcard"))
"""Commands of the configuration mode that are not applied here."""
WITHOUT_EFFECT = {f"{command}:": command for command in (DELETE, ACTIVATE, UNGUARD, INSERT)}
"""First word of a statement for a command that names nothing of the configuration, and the command."""

_COMMENT = re.compile(r"^\s*/\*.*?\*/", re.MULTILINE | re.DOTALL)
_ROLE = re.compile(r"^\{(?:master|backup|linecard|primary|secondary)(?::\w+)?\}", re.MULTILINE)
"""Role of a member of a chassis, which the CLI prints before its prompt, and so after an output."""

Leaves = Callable[[Statement], Iterable[Statement]]


def statements(text: str, leaves: Leaves = lambda stated: (stated,)) -> tuple[Statement, ...]:
    """The statements of a text, in their order.

    Those that are not in effect begin with INACTIVE, and commands that name nothing with a word of WITHOUT_EFFECT.
    leaves: those of a statement that is written on one line. Raises ConfigError for a text that is no configuration.
    """
    text = _ROLE.sub("", text)
    lines = [line.strip() for line in _COMMENT.sub(_blank, text).splitlines()]
    commands = [(number, line) for number, line in enumerate(lines, start=1) if line and not line.startswith("#")]
    words = {line.split(None, 1)[0] for _, line in commands}
    if not words or not words <= COMMANDS | UNREAD or not words & COMMANDS:
        return tuple(leaf for statement in brace_statements(text) for leaf in leaves(statement))
    edited = EditedStatements()
    for number, line in commands:
        for command, *path in brace_statements(f"{line.removesuffix(';')};"):
            if command in UNREAD:
                problem = f"{command!r} is not applied, so the configuration is not that of the switch"
                remedy = "Use what `show configuration | display set` prints, with set, delete and deactivate lines"
                raise ConfigError(f"line {number}", problem, remedy)
            for leaf in leaves(tuple(path)):
                edited.apply(command, leaf)
    return tuple(edited.statements())


def _blank(comment: re.Match[str]) -> str:
    """As many lines as a comment has."""
    return "\n" * comment[0].count("\n")


@dataclass(slots=True)
class EditedStatements:
    """Statements to which commands are applied. inactive, guarded: paths with these marks; idle: without effect."""

    stated: list[Statement] = field(default_factory=list)
    inactive: list[Statement] = field(default_factory=list)
    guarded: list[Statement] = field(default_factory=list)
    idle: list[Statement] = field(default_factory=list)

    def apply(self, command: str, path: Statement) -> None:
        """Apply one command; the switch warns of one that names nothing, and goes on."""
        if command == SET:
            self.stated.append(path)
        elif command == DELETE:
            self._delete(path)
        elif command in (DEACTIVATE, GUARD):
            (self.inactive if command == DEACTIVATE else self.guarded).append(path)
        elif command == INSERT:
            self._insert(path)
        elif command != ANNOTATE:
            self._unmark(command, path)

    def _delete(self, path: Statement) -> None:
        if not any(_is_at(path, statement) for statement in self.stated):
            self.idle.append((f"{DELETE}:", *path))
        for kept in (self.stated, self.inactive, self.guarded):
            kept[:] = (statement for statement in kept if not _is_at(path, statement))

    def _insert(self, path: Statement) -> None:
        """Move what is at a path before or after its neighbour: `insert TERMS term A before term B`."""
        at = next((place for place in range(len(path) - 2, 0, -1) if path[place] in (BEFORE, AFTER)), len(path))
        moved, neighbor = path[:at], path[at + 1 :]
        beside = (*moved[: len(moved) - len(neighbor)], *neighbor)
        block = [statement for statement in self.stated if _is_at(moved, statement)]
        rest = [statement for statement in self.stated if not _is_at(moved, statement)]
        places = [place for place, statement in enumerate(rest) if _is_at(beside, statement)]
        if not (neighbor and block and places):
            self.idle.append((f"{INSERT}:", *path))
            return
        place = places[0] if path[at] == BEFORE else places[-1] + 1
        self.stated[:] = [*rest[:place], *block, *rest[place:]]

    def _unmark(self, command: str, path: Statement) -> None:
        marked = self.inactive if command == ACTIVATE else self.guarded
        if path not in marked:
            self.idle.append((f"{command}:", *path))
        marked[:] = (mark for mark in marked if mark != path)

    def statements(self) -> Iterator[Statement]:
        """The statements with their marks; a mark stays where there is nothing below it."""
        for path in self.stated:
            yield (INACTIVE, *path) if any(_is_at(mark, path) for mark in self.inactive) else path
        yield from ((INACTIVE, *mark) for mark in self._empty(self.inactive))
        yield from ((PROTECT, *mark) for mark in self.guarded)
        yield from self.idle

    def _empty(self, marks: Sequence[Statement]) -> Iterator[Statement]:
        yield from (mark for mark in marks if not any(_is_at(mark, path) for path in self.stated))


def _is_at(path: Statement, statement: Statement) -> bool:
    """Whether a statement is the one of a path, or below it."""
    return statement[: len(path)] == path
