"""Every configuration that differs from a given one in a single leaf."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.tree import keys_of

Place = tuple[str | int, ...]


def leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every leaf, leaf-list and empty container."""
    if isinstance(value, dict) and value:
        for name, child in value.items():
            yield from leaves(child, (*place, name))
    elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*place, index))
    else:
        yield place


def entries(value: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every container and of every entry of a list."""
    children: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, list):
        children = ((index, entry) for index, entry in enumerate(value) if isinstance(entry, dict))
    for name, child in children:
        if isinstance(child, dict):
            yield (*place, name)
        yield from entries(child, (*place, name))


def is_key(tree: Json, place: Place) -> bool:
    """Whether the leaf is a key of the list entry that it is in."""
    if len(place) < 3 or not isinstance(place[-2], int):
        return False
    entry = at(tree, place[:-1])
    return str(place[-1]) in keys_of(str(place[-3]).rpartition(":")[2], entry)


def at(tree: Any, place: Place) -> Any:
    for step in place:
        tree = tree[step]
    return tree


def without(tree: Json, place: Place) -> Json:
    """The tree without the leaf, container or entry at this place, and without what is empty then."""
    changed = copy.deepcopy(tree)
    while place:
        parent = at(changed, place[:-1])
        del parent[place[-1]]
        if parent:
            break
        place = place[:-1]
    return changed


def changed(tree: Json, place: Place) -> Json:
    """The tree with another value of the same type in this leaf."""
    result = copy.deepcopy(tree)
    parent = at(result, place[:-1])
    parent[place[-1]] = _another(parent[place[-1]])
    return result


def _another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [_another(entry) for entry in value] or ["1"]
    if isinstance(value, dict):
        return {"other": "1"}
    return _another_text(str(value))


def _another_text(text: str) -> str:
    """Another text of the same kind: a number, an address, an enumeration, or a name."""
    opposites = {"enable": "disable", "accept": "reject", "lacp": "static"}
    pairs = opposites | {second: first for first, second in opposites.items()}
    if text in pairs:
        return pairs[text]
    if text.isdecimal():
        return str(int(text) + 1)
    return f"{text}x"
