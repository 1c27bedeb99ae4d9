"""Words of the SR Linux CLI as paths: strict where the schema knows the configuration, and free below state.

interface ethernet-1/1 subinterface 0 ipv4 admin-state enable
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from railfab.gnmi.paths import Element
from railfab.gnmi.target import Edit, Operation
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.srlinux.flat import typed_value
from railfab.platforms.srlinux.refusal_texts import unknown_token
from railfab.platforms.srlinux.refusals import plain_refusals
from railfab.platforms.srlinux.schema import MARK, Node, names, schema

Place = tuple[Element, ...]
"""A container or list entry: the context of a session, or what words name."""

_OPEN, _CLOSE = "[", "]"


@dataclass(frozen=True, slots=True)
class Typed:
    """A node that words name.

    leaf: of the place; empty for the place itself. values: of the leaf, where words give any.
    below: words behind a node of state, of which the schema knows nothing.
    """

    place: Place
    leaf: str = ""
    values: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def path(self) -> Place:
        return (*self.place, Element(self.leaf)) if self.leaf else self.place


def read(context: Place, words: Sequence[str], *, entries: bool = True) -> list[Typed]:
    """Nodes that words below a context name: several leaves of a place, or a node. Raises CliRefusal.

    entries: whether a list needs the keys of an entry.
    """
    typed = list(_read(context, node_at(context), list(words), entries))
    return typed or [Typed(context)]


def _read(place: Place, node: Node, words: list[str], entries: bool) -> Iterator[Typed]:
    while words:
        name = words.pop(0)
        if not isinstance(node, dict) or name == MARK or name not in node:
            raise CliRefusal(unknown_token(name, sorted(names(node)) if isinstance(node, dict) else ()))
        child = node[name]
        if child is None:
            yield Typed(place, name, below=tuple(words))
            return
        if not isinstance(child, dict):
            yield Typed(place, name, _values(child, words))
            continue
        step, node = Element(name, _keys(name, child, words, entries)), child
        place = (*place, step)
        if not words:
            yield Typed(place)


def _keys(name: str, node: Node, words: list[str], entries: bool) -> tuple[tuple[str, str], ...]:
    """The keys of an entry, taken from the words: the first one without its name."""
    keys = node.get(MARK)
    if not isinstance(keys, list) or (not words and not entries):
        return ()
    values = {}
    for place, key in enumerate(keys):
        if place and words and words[0] == key:
            words.pop(0)
        if not words:
            raise CliRefusal(f"Error: {name} needs a value of its key {key}")
        values[key] = words.pop(0)
    return tuple(sorted(values.items()))


def _values(node: Node, words: list[str]) -> tuple[str, ...]:
    """The values of a leaf or leaf-list, taken from the words."""
    if words[:1] == [_OPEN] and isinstance(node, list):
        end = words.index(_CLOSE) if _CLOSE in words else len(words)
        values = tuple(words[1:end])
        del words[: end + 1]
        return values
    if (schema().type_of(node) or {}).get("type") == "empty":
        return ()
    return (words.pop(0),) if words else ()


def node_at(place: Place) -> Node:
    """The node of the schema at a place."""
    node: Node = schema().nodes
    for step in place:
        node = node.get(step.name) if isinstance(node, dict) else None
    return node


def words_of(place: Place) -> list[str]:
    """The words that name a place, unquoted."""
    words: list[str] = []
    for depth, step in enumerate(place, start=1):
        keys = dict(step.keys)
        ordered = schema().keys("/".join(each.name for each in place[:depth])) or tuple(keys)
        named = [(key, keys[key]) for key in ordered if key in keys]
        words += [step.name, *[word for number, pair in enumerate(named) for word in pair[not number :]]]
    return words


def update_of(typed: Typed, present: Sequence[Any] = ()) -> Edit:
    """The gNMI update that sets what words name. present: values that a leaf-list has. Raises CliRefusal."""
    if typed.below:
        raise CliRefusal(unknown_token(typed.leaf))
    value = {typed.leaf: _value(typed, node_at(typed.place)[typed.leaf], present)} if typed.leaf else {}
    tree = placed(typed.place, value)
    for refusal in plain_refusals(tree):
        raise CliRefusal(f"Error: {refusal.said or f'{refusal.where} {refusal.problem}'}")
    top = tree[typed.place[0].name]
    return Edit(Operation.UPDATE, typed.place[:1], top[0] if isinstance(top, list) else top)


def placed(path: Place, value: Any) -> Json:
    """The tree that has a value at a path and nothing else, without modules."""
    for depth in range(len(path), 0, -1):
        step, node = path[depth - 1], node_at(path[:depth])
        known = node if isinstance(node, dict) else {}
        keys = {key: typed_value(known.get(key), text) for key, text in step.keys}
        value = {step.name: [keys | value] if keys else value}
    tree: Json = value
    return tree


def _value(typed: Typed, node: Node, present: Sequence[Any]) -> Any:
    values = [typed_value(node, text) for text in typed.values]
    if isinstance(node, list):
        return [*present, *(value for value in values if value not in present)]
    if not values and (schema().type_of(node) or {}).get("type") != "empty":
        raise CliRefusal(f"Error: {typed.leaf} needs a value")
    return values[0] if values else [None]


def without_values(typed: Typed, present: Sequence[Any]) -> Edit:
    """The edit that deletes what words name: a node, or values of a leaf-list with these present ones."""
    if typed.below:
        raise CliRefusal(unknown_token(typed.below[0]))
    if not typed.values:
        return Edit(Operation.DELETE, typed.path)
    left = [value for value in present if str(value) not in typed.values]
    return Edit(Operation.REPLACE, typed.path, left) if left else Edit(Operation.DELETE, typed.path)
