"""Leaves that the schema of SR Linux does not know or does not accept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from railfab.platforms.contract import Refusal
from railfab.platforms.shared.json_tree import Json, is_list, leaf_text
from railfab.platforms.srlinux.refusal_texts import invalid_key, invalid_value, unknown_leaf
from railfab.platforms.srlinux.schema import MARK, RELEASE, Node, options, schema
from railfab.platforms.srlinux.tree import CONFIG, key_words, plain_tree
from railfab.platforms.srlinux.value_types import fits, meaning

MANAGED = tuple(f"/ {name} " for name in CONFIG if name != "system")
"""Beginnings of places in containers that railfab configures as a whole, or nearly."""

PLAIN = (str, int, bool)


def refusals(text: str) -> tuple[Refusal, ...]:
    """Leaves of a configuration that are unknown, state, of another kind, or out of range.

    Raises ConfigError for broken JSON.
    """
    return plain_refusals(plain_tree(text))


def plain_refusals(tree: Json) -> tuple[Refusal, ...]:
    """Leaves of a configuration as JSON without module prefixes, likewise."""
    return tuple(_container("/", "", tree, schema().nodes))


def _container(place: str, at: str, tree: Json, node: Node) -> Iterator[Refusal]:
    """Refusals in a container. place: in words of the CLI. at: its path without keys."""
    for name, child in tree.items():
        if _is_fitting_leaf(child, node.get(name)):
            continue
        known = name in node and name != MARK
        if known and node[name] is not None:
            yield from _member(f"{place} {name}", f"{at}/{name}", child, node)
            continue
        where = f"{place} {name}"
        said = unknown_leaf(at, name, options(node)) if _is_leaf(child) else ""
        if known:
            yield Refusal(where=where, problem="is state, which cannot be configured", said=said)
        else:
            foreign = not where.startswith(MANAGED)
            problem = f"is unknown to SR Linux {RELEASE}"
            yield Refusal(where=where, problem=problem, is_unknown=True, is_foreign=foreign, said=said)


def _member(place: str, at: str, child: Any, above: Node) -> Iterator[Refusal]:
    node = above[at.rpartition("/")[2]]
    if isinstance(node, dict):
        keys = node.get(MARK)
        yield from _entries(place, at, child, node, keys) if isinstance(keys, list) else _one(place, at, child, node)
    elif isinstance(node, list):
        for value in child if isinstance(child, list) else [child]:
            yield from _leaf(place, at, value, above)
    else:
        yield from _leaf(place, at, child, above)


def _one(place: str, at: str, child: Any, node: Node) -> Iterator[Refusal]:
    if isinstance(child, dict):
        yield from _container(place, at, child, node)
    else:
        yield Refusal(where=place, problem=f"is a container, not {_kind(child)}")


def _entries(place: str, at: str, child: Any, node: Node, keys: list[str]) -> Iterator[Refusal]:
    if not isinstance(child, list) or not all(isinstance(entry, dict) for entry in child):
        yield Refusal(where=place, problem=f"is a list, not {_kind(child)}")
        return
    for entry in child:
        yield from _container(f"{place} {key_words(entry, keys)}", at, entry, node)


def _leaf(place: str, at: str, value: Any, above: Node) -> Iterator[Refusal]:
    *_, entry, name = ("", *at.split("/"))
    kind = schema().type_of(above[name])
    if kind is None or fits(value, kind):
        return
    given = leaf_text(value) if _is_leaf(value) else _kind(value)
    keys = above.get(MARK)
    is_key = isinstance(keys, list) and name in keys
    said = invalid_key(value, name, entry, kind) if is_key else invalid_value(value, kind)
    yield Refusal(where=place, problem=f"is {given}, which is not {meaning(kind)}", said=said)


def _is_fitting_leaf(value: Any, node: Node) -> bool:
    """Whether this is a text or a number at a leaf of its type."""
    return type(value) in PLAIN and type(node) is int and _fits_type(value, node)


@lru_cache(maxsize=2**14, typed=True)
def _fits_type(value: str | int, number: int) -> bool:
    """Whether a value is one of the type of this number; switches have many values in common."""
    return fits(value, schema().types[number])


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _kind(value: Any) -> str:
    return "a container" if isinstance(value, dict) else "a list" if is_list(value) else "a value"
