"""Switch selection by `--limit`, names or groups: `leaf`, `leaf&rail_3`, `!spine`, `pod1-spine*,pod1-seg1-leaf1`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from railfab.errors import RailfabError

LimitFilter = Callable[[str, frozenset[str]], bool]
"""Takes the name and the groups of a switch; returns whether the limit selects it."""


def limit_filter(expression: str | None) -> LimitFilter:
    """The filter of a limit: `,` is or, `&` is and, `!` is not; a term is a switch or group, with `*`, `?`, `[12]`."""
    if expression is None:
        return lambda _name, _groups: True
    alternatives = [[term.strip() for term in part.split("&")] for part in expression.split(",")]
    if not all(term.removeprefix("!") for part in alternatives for term in part):
        raise RailfabError(f"--limit {expression!r}", "has an empty term", "Use for example leaf&rail_1,pod1-spine*")
    return lambda name, groups: any(all(_matches(term, name, groups) for term in part) for part in alternatives)


def unmatched_terms(expression: str | None, names: Iterable[str]) -> list[str]:
    """Terms that match none of these switches and groups, because they are misspelt."""
    known = set(names)
    terms = [term.strip() for part in (expression or "").split(",") for term in part.split("&") if term.strip()]
    return [term for term in terms if not any(fnmatchcase(word, term.removeprefix("!")) for word in known)]


def _matches(term: str, name: str, groups: frozenset[str]) -> bool:
    pattern = term.removeprefix("!")
    found = any(fnmatchcase(word, pattern) for word in (name, *groups))
    return found is not term.startswith("!")
