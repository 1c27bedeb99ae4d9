"""Nodes of a JSON tree (RFC 7951) by gNMI paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from railfab.gnmi.paths import ANY, ANY_DEPTH, Element
from railfab.gnmi.target import Found
from railfab.platforms.shared.json_names import JsonNames, identity
from railfab.platforms.shared.json_tree import Json, bare, is_list, leaf_text, member_of


def nodes_at(root: Json, path: tuple[Element, ...], names: JsonNames) -> list[Found]:
    """The nodes at a path, which may hold wildcards and leave keys out."""
    places: list[tuple[tuple[Element, ...], Any]] = [((), root)]
    for step in path:
        places = [((*at, element), child) for at, node in places for element, child in _children(node, step, names)]
    return [Found(at, value) for at, value in places]


def selected(root: Json, pattern: tuple[Element, ...], names: JsonNames) -> Iterator[tuple[tuple[Element, ...], Any]]:
    """The leaves and leaf-lists at or below a path, which may hold wildcards; an empty container is none.

    One below `...` may be returned more than once.
    """
    yield from _selected(root, (), pattern, names)


def _selected(
    node: Any, at: tuple[Element, ...], pattern: tuple[Element, ...], names: JsonNames
) -> Iterator[tuple[tuple[Element, ...], Any]]:
    if not pattern:
        yield from _walk(node, at, names)
        return
    step, rest = pattern[0], pattern[1:]
    if step.name == ANY_DEPTH:
        yield from _selected(node, at, rest, names)
        step, rest = Element(ANY), pattern
    for element, child in _children(node, step, names):
        yield from _selected(child, (*at, element), rest, names)


def _walk(node: Any, at: tuple[Element, ...], names: JsonNames) -> Iterator[tuple[tuple[Element, ...], Any]]:
    if not isinstance(node, dict):
        yield at, node
        return
    for name, child in node.items():
        if is_list(child):
            for entry in child:
                yield from _walk(entry, (*at, _element(bare(name), entry, names)), names)
        else:
            yield from _walk(child, (*at, Element(bare(name))), names)


def _children(node: Any, step: Element, names: JsonNames) -> Iterator[tuple[Element, Any]]:
    """The children of a node that match a step of a path."""
    if not isinstance(node, dict):
        return
    for name, child in node.items():
        if step.name not in (bare(name), ANY):
            continue
        if is_list(child):
            for entry in child:
                if has_keys(entry, step):
                    yield _element(bare(name), entry, names), entry
        elif not step.keys:
            yield Element(bare(name)), child


def _element(name: str, entry: Json, names: JsonNames) -> Element:
    return Element(name, tuple(sorted(names.keys_of(name, entry).items())))


def has_keys(entry: Json, step: Element) -> bool:
    """Whether a list entry has the keys of a step; an identity matches with and without its module."""
    return all(_has_key(entry[key] if key in entry else member_of(entry, key, {}), text) for key, text in step.keys)


def _has_key(value: Any, text: str) -> bool:
    if isinstance(value, (dict, list)):
        return False
    held = leaf_text(value)
    return text in (held, ANY) or text == identity(held)
