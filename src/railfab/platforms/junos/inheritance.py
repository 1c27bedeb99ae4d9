"""Statements that a configuration has from its groups (Juniper, Use Configuration Groups to Quickly Configure
Devices)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from railfab.platforms.shared.brace_text import Statement

GROUPS, APPLY, EXCEPT, WHEN = "groups", "apply-groups", "apply-groups-except", "when"


@dataclass(frozen=True, slots=True)
class InheritedStatements:
    """statements: those that groups bring in. replaced: the statements of groups, and of their use, that these are."""

    statements: tuple[Statement, ...]
    replaced: frozenset[Statement]


def inherited(statements: Sequence[Statement]) -> InheritedStatements:
    """Statements that `apply-groups` brings in, for what the configuration has: a wildcard stands for its names.

    A group with a condition, and groups of groups, bring in nothing here; they stay, as does a group without effect.
    """
    groups: dict[str, list[Statement]] = {}
    for statement in statements:
        if statement[0] == GROUPS and len(statement) > 2:
            groups.setdefault(statement[1], []).append(statement[2:])
    stated = [statement for statement in statements if statement[0] != GROUPS]
    refused = [(statement[:-2], statement[-1]) for statement in stated if statement[-2:-1] == (EXCEPT,)]
    applied = [(statement[:-2], statement[-1]) for statement in stated if statement[-2:-1] == (APPLY,)]
    existing = [statement for statement in stated if statement[-2:-1] not in ((EXCEPT,), (APPLY,))]
    plain = {name for name, paths in groups.items() if _is_plain(paths)}
    every: dict[Statement, None] = {}
    used: set[Statement] = set()
    for place, group in _nearest_first(applied):
        for path in groups.get(group, ()) if group in plain else ():
            for statement in _expanded(path, existing):
                excepted = any(name == group and statement[: len(where)] == where for where, name in refused)
                if statement[: len(place)] == place and not excepted:
                    every.setdefault(statement)
                    used.add((GROUPS, group, *path))
    uses = {statement for statement in stated if statement[-2:-1] in ((APPLY,), (EXCEPT,)) and statement[-1] in plain}
    return InheritedStatements(tuple(every), frozenset(used | uses))


def _nearest_first(applied: Sequence[tuple[Statement, str]]) -> Sequence[tuple[Statement, str]]:
    """The uses of groups, those of the innermost place first: of several values of a leaf the first one counts."""
    return sorted(applied, key=lambda use: -len(use[0]))


def _is_plain(paths: Sequence[Statement]) -> bool:
    return not any(path[0] == WHEN or APPLY in path for path in paths)


def _expanded(path: Statement, existing: Sequence[Statement]) -> Iterator[Statement]:
    """A statement of a group with the names that its wildcards stand for."""
    end = max((at + 1 for at, word in enumerate(path) if _is_wildcard(word)), default=0)
    names = {statement[:end] for statement in existing if len(statement) >= end}
    for name in sorted(names):
        if all(_matches(word, pattern) for word, pattern in zip(name, path, strict=False)):
            yield (*name, *path[end:])


def _is_wildcard(word: str) -> bool:
    return word.startswith("<") and word.endswith(">")


def _matches(word: str, pattern: str) -> bool:
    return fnmatchcase(word, pattern[1:-1]) if _is_wildcard(pattern) else word == pattern
