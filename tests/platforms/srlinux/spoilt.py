"""Rendered configurations with one leaf spoilt: a reference without its target, a value of no type, or none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped
from railfab.platforms.srlinux.value_types import fits

NOWHERE = "4321"
"""A name, and an index, that nothing has."""
NO_PORT, NO_TUNNEL, NO_UNIT = "lag999", "vxlan255", "vxlan255.1"
"""An interface, a tunnel interface, and one of its units, that no switch of the tests has."""
WRONG = (-1, 2**65, "no value of any type!", "", "x" * 5000, {})

Leaf = tuple[Json, tuple[Any, ...], Any]
"""A configuration, the places of the steps to a leaf in it, and its type."""


def leaves(trees: Iterable[Json]) -> Mapping[str, Leaf]:
    """The first leaf of each path without keys."""
    found: dict[str, Leaf] = {}
    for tree in trees:
        for path, steps, kind in _leaves(stripped(tree), schema().nodes, "", ()):
            found.setdefault(path, (tree, steps, kind))
    return found


def _leaves(tree: Json, node: Any, path: str, steps: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    for place, (name, child) in enumerate(tree.items()):
        below, at = node.get(name), f"{path}/{name}"
        if isinstance(below, dict):
            if isinstance(child, list):
                for number, entry in enumerate(child):
                    yield from _leaves(entry, below, at, (*steps, place, number))
            else:
                yield from _leaves(child, below, at, (*steps, place))
        elif kind := schema().type_of(below):
            yield at, (*steps, place), kind


def dangling(trees: Iterable[Json]) -> Mapping[str, Json]:
    """A configuration with another target of a reference, by the path of the leaf."""
    return {path: _with(leaf, _nowhere) for path, leaf in leaves(trees).items() if "path" in leaf[2]}


def out_of_type(trees: Iterable[Json]) -> Mapping[str, Json]:
    """A configuration with a value that a leaf does not take, by its path."""
    return {path: _with(leaf, _of_no_type) for path, leaf in leaves(trees).items()}


def lacking(trees: Iterable[Json]) -> Mapping[str, Json]:
    """A configuration without a mandatory leaf, by its path."""
    mandatory = {f"{path}/{leaf}" for path, needed in schema().mandatory.items() for leaf in needed}
    return {path: _with(leaf, None) for path, leaf in leaves(trees).items() if path in mandatory}


def _with(leaf: Leaf, change: Callable[[Any, Any], Any] | None) -> Json:
    """A copy of a configuration with another value of a leaf, made of its value and its type, or without it."""
    tree, (*above, last), kind = leaf
    copy: Json = deepcopy(tree)
    node: Any = copy
    for step in above:
        node = node[step] if isinstance(node, list) else node[list(node)[step]]
    name = list(node)[last]
    value = node.pop(name)
    if change is not None:
        node[name] = [change(value[0], kind)] if isinstance(value, list) else change(value, kind)
    return copy


def _of_no_type(_: Any, kind: Any) -> Any:
    return next(value for value in WRONG if not fits(value, kind))


def _nowhere(value: Any, kind: Any) -> Any:
    """A value of the same form that nothing has."""
    if isinstance(value, int):
        return int(NOWHERE) if fits(int(NOWHERE), kind) else value + 1
    forms = {"ethernet-": NO_PORT, "lag": NO_PORT, "vxlan": NO_UNIT if "." in str(value) else NO_TUNNEL}
    return next((name for start, name in forms.items() if str(value).startswith(start)), NOWHERE)
