"""The statements of a Junos configuration in one form, whatever the text: braces, `display set`, or oneliners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from railfab.platforms.differences import Difference, Side
from railfab.platforms.shared.brace_text import Statement, brace_text, shown
from railfab.platforms.shared.edit_commands import statements
from railfab.platforms.shared.line_tree import Line

ANY = "*"
READ_TEXTS = 40
"""Texts whose statements are kept: the two of each switch that a deploy handles at the same time, and of an audit."""
ONELINERS: Mapping[Statement, Mapping[str, int]] = {
    ("class-of-service", "forwarding-classes", "class", ANY): {
        "queue-num": 1,
        "no-loss": 0,
        "pfc-priority": 1,
        "priority": 1,
    },
    ("interfaces", ANY, "hold-time"): {"up": 1, "down": 1},
    ("system", "ntp", "server", ANY): {"routing-instance": 1, "prefer": 0, "key": 1, "version": 1},
}
"""Objects that Junos writes on one line, with the number of words after each of their leaves."""

ORDERED = "term"
"""List whose order has a meaning."""
ORDERED_VALUES = frozenset({"authentication-order", "accounting-order", "export", "import"})
"""Leaf-lists whose order has a meaning."""


@lru_cache(maxsize=READ_TEXTS)
def read(text: str) -> tuple[Statement, ...]:
    """The statements of a text. Raises ConfigError for one that is no configuration.

    An audit asks for those of each of its texts several times.
    """
    return _distinct(part for part in statements(text, _split) if part and part[0] != "version")


def rendered(tree: tuple[Line, ...]) -> tuple[Statement, ...]:
    """The statements of a rendered tree."""
    return read(brace_text(tree))


def _split(statement: Statement) -> Iterator[Statement]:
    """The leaves of an object that is written on one line."""
    for prefix, leaves in ONELINERS.items():
        length = len(prefix)
        if len(statement) > length and all(
            wanted in (ANY, word) for wanted, word in zip(prefix, statement, strict=False)
        ):
            yield from _leaves(statement[:length], statement[length:], leaves)
            return
    yield statement


def _leaves(prefix: Statement, rest: Statement, leaves: Mapping[str, int]) -> Iterator[Statement]:
    while rest:
        length = 1 + leaves[rest[0]] if rest[0] in leaves else len(rest)
        yield (*prefix, *rest[:length])
        rest = rest[length:]


def _distinct(stated: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements without those that others imply: `a` beside `a b`. Repeated ones stay, to be reported."""
    every = tuple(stated)
    implied = {statement[:length] for statement in every for length in range(1, len(statement))}
    return tuple(statement for statement in every if statement not in implied)


def differences(configured: Sequence[Statement], wanted: Sequence[Statement]) -> tuple[Difference, ...]:
    """Every statement that one of two configurations has and the other lacks, sorted; also another order of terms."""
    lines, expected = Counter((*configured, *_order(configured))), Counter((*wanted, *_order(wanted)))
    added = [(Side.ADDED, statement) for statement in (lines - expected).elements()]
    implied = {statement[:length] for _, statement in added for length in range(1, len(statement))}
    lacking = (
        statement
        for statement in (expected - lines).elements()
        if statement[0] != "insert" and statement not in implied
    )
    missing = [(Side.MISSING, statement) for statement in lacking]
    every = (_difference(side, statement) for side, statement in (*added, *missing))
    return tuple(sorted(every, key=lambda difference: (difference.path, difference.side)))


def _difference(side: Side, statement: Statement) -> Difference:
    """A statement as the CLI takes it: `set ...`, and `delete ...` where it is missing."""
    text = shown(statement)
    section = next((word for word in statement if not word.endswith(":") and word != "insert"), "")
    if side is Side.MISSING:
        return Difference(side=side, path=f"delete {text}", text=f"delete {text}", section=section)
    return Difference(side=side, path=text, text=text if statement[0] == "insert" else f"set {text}", section=section)


def _order(configured: Sequence[Statement]) -> Iterator[Statement]:
    """The order of the terms of each filter and policy, as the commands that make it."""
    terms: dict[Statement, dict[str, None]] = {}
    for statement in configured:
        if ORDERED in statement[:-1]:
            at = statement.index(ORDERED)
            terms.setdefault(statement[: at + 1], {}).setdefault(statement[at + 1])
    values: dict[Statement, dict[str, None]] = {}
    for statement in configured:
        if statement[-2:-1] and statement[-2] in ORDERED_VALUES:
            values.setdefault(statement[:-1], {}).setdefault(statement[-1])
    for leaf, names in values.items():
        for before, after in zip(names, list(names)[1:], strict=False):
            yield ("insert", *leaf, after, "after", before)
    for list_of, names in terms.items():
        for before, after in zip(names, list(names)[1:], strict=False):
            yield ("insert", *list_of, after, "after", ORDERED, before)
