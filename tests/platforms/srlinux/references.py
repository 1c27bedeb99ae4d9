"""The references of a configuration to what it has elsewhere, and configurations in which one has no target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped

NOWHERE = "4321"
"""A name, and an index, that nothing has."""
NO_PORT = "lag999"
"""An interface that no switch of the tests has."""


def dangling(tree: Json) -> Mapping[str, Json]:
    """The configuration with another target of one reference, by the path of the leaf without keys."""
    found: dict[str, Json] = {}
    for path, steps in _references(stripped(tree), schema().nodes, "", ()):
        if path not in found:
            found[path] = deepcopy(tree)
            _set(found[path], steps)
    return found


def _references(tree: Json, node: Any, path: str, steps: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for place, (name, child) in enumerate(tree.items()):
        below, at = node.get(name), f"{path}/{name}"
        if isinstance(below, dict):
            if isinstance(child, list):
                for number, entry in enumerate(child):
                    yield from _references(entry, below, at, (*steps, place, number))
            else:
                yield from _references(child, below, at, (*steps, place))
        elif "path" in (schema().type_of(below) or {}):
            yield at, (*steps, place)


def _set(tree: Any, steps: tuple[Any, ...]) -> None:
    """Set the leaf at the end of these steps: places among the members of an object, or in a list."""
    *above, last = steps
    for step in above:
        tree = tree[step] if isinstance(tree, list) else tree[list(tree)[step]]
    name = list(tree)[last]
    value = tree[name]
    nowhere = NO_PORT if str(value).startswith("ethernet-") else int(NOWHERE) if isinstance(value, int) else NOWHERE
    tree[name] = [nowhere] if isinstance(value, list) else nowhere
