"""Statements that a configuration has from its groups (Juniper, Use Configuration Groups to Quickly Configure
Devices)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from railfab.platforms.shared.brace_text import Statement

GROUPS, APPLY, EXCEPT, WHEN = "groups", "apply-groups", "apply-groups-except", "when"


def inherited(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements that `apply-groups` brings in, for what the configuration has: a wildcard stands for its names.

    A group with a condition, and groups of groups, bring in nothing here; they are unmodelled, as every group is.
    """
    groups: dict[str, list[Statement]] = {}
    for statement in statements:
        if statement[0] == GROUPS and len(statement) > 2:
            groups.setdefault(statement[1], []).append(statement[2:])
    if not groups:
        return ()
    stated = [statement for statement in statements if statement[0] != GROUPS]
    refused = [(statement[:-2], statement[-1]) for statement in stated if statement[-2:-1] == (EXCEPT,)]
    applied = [(statement[:-2], statement[-1]) for statement in stated if statement[-2:-1] == (APPLY,)]
    existing = [statement for statement in stated if statement[-2:-1] not in ((EXCEPT,), (APPLY,))]
    every = (
        statement
        for place, group in reversed(applied)  # of several groups the first one's values count, which are read last
        if all(path[0] != WHEN for path in groups.get(group, ()))
        for path in groups.get(group, ())
        for statement in _expanded(path, existing)
        if statement[: len(place)] == place
        and not any(name == group and statement[: len(where)] == where for where, name in refused)
    )
    return tuple(dict.fromkeys(every))


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
