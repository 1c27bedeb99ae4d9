"""Checks by SR Linux of a configuration as a whole when it is committed, beyond the types of its leaves.

References to what does not exist, entries of a list with the same keys or the same unique leaves, leaves and entries
that must be there, nodes of two cases of a choice, and the `must` statements of Nokia's models, with their messages, at
defaults too. `when` is used for state alone in the models. A configuration is without module prefixes.

Most constraints of a container or an entry of a list look no further than that. One in which all hold is not checked
again where its content is the same, as that of a port is on most switches of a fabric, and, if a constraint looks
outside, where all nodes that its expression can read are the same too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from railfab.platforms.contract import Refusal
from railfab.platforms.shared.json_tree import Json, leaf_text
from railfab.platforms.srlinux.place import NodePlace
from railfab.platforms.srlinux.schema import MARK, WORD, names, schema
from railfab.platforms.srlinux.tree import key_words
from railfab.platforms.srlinux.xpath import compiled, holds_at, places_at

MOST_KEPT = 131_072
"""Number of parts that are kept as valid; all are forgotten when there would be more. 1,024 switches have 58,000."""
MOST_SURROUNDINGS = 1024
"""Number of surroundings in which a part is kept as valid, likewise."""


class _Look(NamedTuple):
    """An expression that is evaluated, and the least depth at which it looks for a value."""

    expression: str
    depth: float


class _ValidPart(NamedTuple):
    """A container or list entry in which every constraint holds. looks: those at what is outside.

    surroundings: the places at which they hold, each with the nodes of the whole configuration that they may read.
    """

    looks: frozenset[_Look]
    surroundings: set[tuple[str, str]]


_VALID: dict[tuple[str, str], _ValidPart] = {}
"""Valid parts by the path without keys, and the content that is read."""
UNSET = ""
"""Content of a container that is not set, but exists."""


def violations(tree: Json) -> tuple[Refusal, ...]:
    """Refusals of a switch, for a configuration whose leaves all have values of their types."""
    return tuple(_ConstraintCheck(tree).container("", "/", NodePlace(tree, schema().nodes, None)))


class _ConstraintCheck:
    """The check of one configuration, which finds the values at the target of a reference once."""

    def __init__(self, tree: Json) -> None:
        self._tree = tree
        self._targets: dict[str, frozenset[str] | None] = {}
        self._surroundings: dict[tuple[str, frozenset[_Look]], str] = {}
        self._looks: set[_Look] = set()
        """Expressions that were evaluated in the part that is checked."""

    def container(self, path: str, where: str, place: NodePlace) -> Iterator[Refusal]:
        """Check a container or list entry, and everything below it. where: in words of the CLI."""
        for leaf in schema().mandatory.get(path, ()):
            if not _has(place.value, leaf.split("/")):
                yield Refusal(where=where, problem=f"lacks {leaf.replace('/', ' ').replace('|', ' or ')}")
        for cases in schema().choices.get(path, ()):
            yield from _excluded(where, place.value, cases)
        for name, child in place.value.items():
            node = place.node.get(name)
            if node is None:
                continue
            at, said = f"{path}/{name}", f"{where} {name}"
            keys = node.get(MARK) if isinstance(node, dict) else None
            if isinstance(keys, list):
                yield from self._entries(at, said, place, name, keys)
            elif isinstance(node, dict):
                yield from self._part(at, said, NodePlace(child, node, place, name))
            else:
                yield from self._values(at, said, place, name)
        for name in _implicit_names(path):
            if name not in place.value and _is_in_a_chosen_case(path, name, place.value):
                for unset in place.below(name):
                    yield from self._part(f"{path}/{name}", f"{where} {name}", unset)

    def _node(self, path: str, where: str, place: NodePlace) -> Iterator[Refusal]:
        yield from self._broken_rules(path, where, place)
        if isinstance(place.value, dict):
            yield from self.container(path, where, place)

    def _entries(self, path: str, where: str, above: NodePlace, name: str, keys: list[str]) -> Iterator[Refusal]:
        entries = above.value[name]
        yield from _number(path, where, len(entries))
        words = [key_words(entry, keys) for entry in entries]
        for twice in (word for word, times in Counter(words).items() if times > 1):
            yield Refusal(where=f"{where} {twice}", problem="is there more than once")
        for leaves in schema().unique.get(path, ()):
            yield from _shared(where, entries, words, leaves)
        for entry, word in zip(entries, words, strict=True):
            if missing := [key for key in keys if key not in entry]:
                yield Refusal(where=f"{where} {word}".rstrip(), problem=f"lacks its key {missing[0]}")
            yield from self._part(path, f"{where} {word}".rstrip(), NodePlace(entry, above.node[name], above, name))

    def _part(self, path: str, where: str, place: NodePlace) -> Iterator[Refusal]:
        """Check a node and everything below it, unless such a container or list entry is known to be valid here."""
        if not isinstance(place.value, dict):
            yield from self._node(path, where, place)
            return
        content = path, json.dumps(_read_part(place.value)) if place.is_set else UNSET
        valid = _VALID.get(content)
        if valid is None or (valid.looks and (where, self._surrounding(path, valid.looks)) not in valid.surroundings):
            outside, self._looks = self._looks, set()
            refusals = [*self._node(path, where, place)]
            looks = frozenset(look for look in self._looks if look.depth < path.count("/"))
            self._looks = outside | looks
            if refusals:
                yield from refusals
                return
            valid = _kept(content, looks)
            if valid.looks:
                valid.surroundings.add((where, self._surrounding(path, valid.looks)))
        self._looks |= valid.looks

    def _surrounding(self, path: str, looks: frozenset[_Look]) -> str:
        """The nodes that these expressions in a part may read, wherever they are."""
        surrounding = self._surroundings.get((path, looks))
        if surrounding is None:
            part = _named_part(self._tree, _words(path, looks))
            surrounding = self._surroundings[path, looks] = json.dumps(part)
        return surrounding

    def _values(self, path: str, where: str, above: NodePlace, name: str) -> Iterator[Refusal]:
        node, value = above.node[name], above.value[name]
        if isinstance(node, list) and isinstance(value, list):
            yield from _number(path, where, len(value))
            for twice in (text for text, times in Counter(map(leaf_text, value)).items() if times > 1):
                yield Refusal(where=where, problem=f"has {twice} more than once")
        kind = schema().type_of(node) or {}
        for member in value if isinstance(node, list) and isinstance(value, list) else (value,):
            place = NodePlace(member, node, above, name)
            yield from self._broken_rules(path, where, place)
            if not self._is_there(path, kind, place):
                target = f"no {' '.join(kind['reference'].strip('/').split('/'))} of this name"
                yield Refusal(where=where, problem=f"is {leaf_text(member)}, and there is {target}")

    def _broken_rules(self, path: str, where: str, place: NodePlace) -> Iterator[Refusal]:
        for rule in _rules_at(path):
            self._looks.add(rule.look)
            if not holds_at(rule.look.expression, place):
                problem = rule.message.rstrip(".") or f"does not satisfy {rule.look.expression}"
                yield Refusal(where=where, problem=problem)

    def _is_there(self, at: str, kind: Any, place: NodePlace) -> bool:
        """Whether what a leaf refers to exists; of a union, any type will do that is no reference or has its target."""
        if kind.get("type") == "union":
            return any(self._is_there(at, member, place) for member in kind["members"])
        path = kind.get("path")
        if path is None:
            return True
        self._looks.add(_look(at, path))
        targets = self._values_at(path, place)
        return targets is None or place.text in targets

    def _values_at(self, path: str, place: NodePlace) -> frozenset[str] | None:
        if not path.startswith("/") or "[" in path:
            return _texts(path, place)
        if path not in self._targets:
            self._targets[path] = _texts(path, place)
        return self._targets[path]


class _Rule(NamedTuple):
    """A constraint of a node."""

    look: _Look
    message: str


@cache
def _rules_at(path: str) -> tuple[_Rule, ...]:
    """The constraints of a node at a path without keys."""
    return tuple(_Rule(_look(path, expression), message) for expression, message in schema().rules_at(path))


@cache
def _look(path: str, expression: str) -> _Look:
    """An expression of a node."""
    return _Look(expression, path.count("/") - compiled(expression).reach)


def _kept(content: tuple[str, str], looks: frozenset[_Look]) -> _ValidPart:
    """The valid part of a content, to which its surroundings are added.

    Of a union, what is looked for depends on what there is.
    """
    valid = _VALID.get(content)
    if valid is None or not looks <= valid.looks or len(valid.surroundings) >= MOST_SURROUNDINGS:
        if len(_VALID) >= MOST_KEPT:
            _VALID.clear()
        valid = _VALID[content] = _ValidPart(looks if valid is None else looks | valid.looks, set())
    return valid


@cache
def _words(path: str, looks: frozenset[_Look]) -> frozenset[str]:
    """The words with which expressions name the nodes that they read, and the names of the nodes above a part."""
    return frozenset((*path.split("/"), *WORD.findall(" ".join(look.expression for look in looks))))


def _named_part(value: Any, words: frozenset[str]) -> Any:
    """The nodes that are named by these words, and so are all above them."""
    if isinstance(value, list):
        return [_named_part(entry, words) for entry in value]
    if not isinstance(value, dict):
        return value
    return {name: _named_part(child, words) for name, child in value.items() if name in words}


def _read_part(value: Any) -> Any:
    """A value without the leaves that no constraint reads, such as descriptions."""
    if isinstance(value, list):
        return [_read_part(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {name: _read_part(child) for name, child in value.items() if name not in schema().unread_leaves}


@cache
def _implicit_names(path: str) -> tuple[str, ...]:
    """Names below a container of leaves with a default, and of containers that always exist, that rules are about."""
    node = schema().at(path) if path else schema().nodes
    above_rules = schema().paths_above_rules
    return tuple(name for name in names(node) if f"{path}/{name}" in above_rules and schema().is_implicit(node[name]))


def _is_in_a_chosen_case(path: str, name: str, tree: Json) -> bool:
    """Whether a node is in no choice, or another one of its case is set (RFC 7950, sections 7.5.1 and 7.6.1)."""
    cases = [case for choice in schema().choices.get(path, ()) for case in choice if name in case]
    return all(any(beside in tree for beside in case) for case in cases)


def _has(tree: Any, steps: list[str]) -> bool:
    """Whether a leaf below a container is set; of names with `|` between them, one of these."""
    for step in steps:
        if not isinstance(tree, dict) or not (present := [name for name in step.split("|") if name in tree]):
            return False
        tree = tree[present[0]]
    return True


def _excluded(where: str, tree: Json, cases: Sequence[Sequence[str]]) -> Iterator[Refusal]:
    """Nodes of two cases of a choice (RFC 7950, section 7.9)."""
    present = [name for case in cases for name in case if name in tree]
    if sum(any(name in tree for name in case) for case in cases) > 1:
        yield Refusal(where=where, problem=f"has {' and '.join(present)}, which are alternatives")


def _shared(where: str, entries: list[Json], words: list[str], leaves: Sequence[str]) -> Iterator[Refusal]:
    """Entries with equal values of unique leaves; one that lacks a leaf is not compared (RFC 7950, section 7.8.3)."""
    first: dict[tuple[str, ...], str] = {}
    for entry, word in zip(entries, words, strict=True):
        values = tuple(leaf_text(value) for leaf in leaves if (value := _value(entry, leaf)) is not None)
        if len(values) == len(leaves) and (owner := first.setdefault(values, word)) is not word:
            named = " and ".join(
                f"{leaf.replace('/', ' ')} {value}" for leaf, value in zip(leaves, values, strict=True)
            )
            yield Refusal(where=f"{where} {word}", problem=f"has {named}, which {owner} has")


def _value(tree: Any, leaf: str) -> Any:
    """The value of a leaf below a list entry; None without one."""
    for step in leaf.split("/"):
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def _texts(path: str, place: NodePlace) -> frozenset[str] | None:
    places = places_at(path, place)
    return None if places is None else frozenset([target.text for target in places])


def _number(path: str, where: str, number: int) -> Iterator[Refusal]:
    least, most = schema().entries.get(path, (None, None))
    if least is not None and number < least:
        yield Refusal(where=where, problem=f"has {number} entries and needs {least}")
    if most is not None and number > most:
        yield Refusal(where=where, problem=f"has {number} entries, more than {most}")
