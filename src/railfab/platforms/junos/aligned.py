"""Names of policies, classes, classifiers and scheduler maps, as another configuration has them for the same uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from railfab.platforms.junos import effective, statements
from railfab.platforms.junos.effective import COS
from railfab.platforms.junos.inheritance import GROUPS
from railfab.platforms.junos.parse import model_of
from railfab.platforms.shared.brace_text import INACTIVE, MARKERS, PROTECT, Statement, shown
from railfab.platforms.shared.edit_commands import DEACTIVATE, GUARD, SET, WITHOUT_EFFECT

CLASSIFIER, MAP, POLICY, CLASS = "classifier", "scheduler-map", "policy-statement", "forwarding-class"
PLACES: Mapping[Statement, str] = {
    (COS, "classifiers", "dscp"): CLASSIFIER,
    (COS, "scheduler-maps"): MAP,
    ("policy-options", "policy-statement"): POLICY,
    (COS, "forwarding-classes", "class"): CLASS,
}
"""Places of the objects of each kind."""
BEFORE = {"scheduler-map": MAP, "forwarding-class": CLASS}
"""Words after which a name stands, wherever they are."""
BOUND: Mapping[Statement, str] = {
    ("unit", "0", "classifiers", "dscp"): CLASSIFIER,
    ("scheduler-map",): MAP,
}
"""Words of a port before the name of an object."""

MARKED = ((INACTIVE, DEACTIVATE), (PROTECT, GUARD))
"""The commands that mark a statement, by its mark."""

Place = tuple[object, ...]
Names = Mapping[tuple[str, str], str]
"""New names by the kind and the former name."""


def aligned(text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The text with the names that the other one has for the same uses, and every object that has another name.

    A name is replaced where it has one counterpart, and the new name is free in the text.
    """
    ours, theirs = dict(_uses(text)), dict(_uses(rendered))
    pairs = {(place[0], name, theirs[place]) for place, name in ours.items() if theirs.get(place, name) != name}
    defined = set(_defined(text))
    kept = {(place[0], name) for place, name in ours.items() if theirs.get(place) == name}
    counts = Counter(key for kind, name, wanted in pairs for key in ((kind, name, True), (kind, wanted, False)))
    names = {
        (str(kind), name): wanted
        for kind, name, wanted in sorted(pairs, key=str)
        if counts[kind, name, True] == counts[kind, wanted, False] == 1
        and (kind, name) in defined - kept
        and (kind, wanted) not in defined
    }
    if not names:
        return text, ()
    lines = (line for statement in statements.read(text) for line in _commands(_renamed(statement, names)))
    return "".join(f"{line}\n" for line in lines), tuple(f"{kind} {name}" for kind, name in names)


def _uses(text: str) -> Iterator[tuple[Place, str]]:
    """The name of each use, by its kind and place: a queue, a port or a session."""
    for statement in effective.read(text):
        if statement[:3] == (COS, "forwarding-classes", "class") and statement[4:5] == ("queue-num",) != statement[4:]:
            yield (CLASS, statement[5]), statement[3]
        elif statement[:2] == (COS, "interfaces") and (kind := BOUND.get(statement[3:-1])):
            yield (kind, statement[2]), statement[-1]
    for neighbor in model_of(text).neighbors:
        chains = {"import": neighbor.import_policies, "export": neighbor.export_policies}
        for direction, chain in chains.items():
            for number, name in enumerate(chain):
                yield (POLICY, neighbor.key, direction, number, len(chain)), name


def _defined(text: str) -> Iterator[tuple[str, str]]:
    for statement in effective.read(text):
        for place, kind in PLACES.items():
            if statement[: len(place)] == place and len(statement) > len(place):
                yield kind, statement[len(place)]


def _renamed(statement: Statement, names: Names) -> Statement:
    """A statement with the new names, also of a group."""
    start = sum(word in MARKERS for word in statement[:2])
    start += 2 if statement[start : start + 1] == (GROUPS,) else 0
    whole, words = statement[start:], list(statement)
    for place, kind in PLACES.items():
        if whole[: len(place)] == place and len(whole) > len(place):
            words[start + len(place)] = names.get((kind, whole[len(place)]), whole[len(place)])
    if whole[:3] == effective.QUEUES and len(whole) > 4:
        words[start + 4] = names.get((CLASS, whole[4]), whole[4])
    for at, (before, word) in enumerate(pairwise(whole), start=start + 1):
        words[at] = names.get((BEFORE.get(before) or _kind_in(whole, before), word), words[at])
    return tuple(words)


def _kind_in(whole: Statement, before: str) -> str:
    """The kind of an object whose name follows a word in a statement; empty where none does."""
    if before in ("import", "export") and "bgp" in whole:
        return POLICY
    return CLASSIFIER if before == "dscp" and whole[:2] == (COS, "interfaces") and "classifiers" in whole else ""


def _commands(statement: Statement) -> Iterator[str]:
    """The commands that make a statement."""
    if statement[0] in WITHOUT_EFFECT:
        yield f"{WITHOUT_EFFECT[statement[0]]} {shown(statement[1:])}"
        return
    path = shown(tuple(word for word in statement if word not in MARKERS))
    yield f"{SET} {path}"
    yield from (f"{command} {path}" for mark, command in MARKED if mark in statement)
