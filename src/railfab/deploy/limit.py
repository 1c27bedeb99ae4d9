"""`--limit`: which switches, by name or group: `leaf`, `leaf&rail_3`, `!spine`, `pod1-spine*,pod1-seg1-leaf1`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from railfab.errors import RailfabError

Selector = Callable[[str, frozenset[str]], bool]
"""(name of a switch, its groups) to whether it is meant."""


def selector(expression: str | None) -> Selector:
    """Commas mean or, `&` means and, `!` means not; a term is a switch or a group, with `*`, `?` and `[12]`."""
    if expression is None:
        return lambda _name, _groups: True
    alternatives = [[term.strip() for term in part.split("&")] for part in expression.split(",")]
    if not all(term.removeprefix("!") for part in alternatives for term in part):
        raise RailfabError(f"--limit {expression!r}", "has an empty term", "Write for example leaf&rail_1,pod1-spine*")
    return lambda name, groups: any(all(_meant(term, name, groups) for term in part) for part in alternatives)


def idle_terms(expression: str | None, words: Iterable[str]) -> list[str]:
    """Terms that fit none of these names and groups: misspelt, and dangerous behind a `!`."""
    known = set(words)
    terms = [term.strip() for part in (expression or "").split(",") for term in part.split("&") if term.strip()]
    return [term for term in terms if not any(fnmatchcase(word, term.removeprefix("!")) for word in known)]


def _meant(term: str, name: str, groups: frozenset[str]) -> bool:
    pattern = term.removeprefix("!")
    found = any(fnmatchcase(word, pattern) for word in (name, *groups))
    return found is not term.startswith("!")
