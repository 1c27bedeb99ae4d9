"""Merges the updates of a gNMI Get into one tree, whether the target answers by leaf, list entry or container."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from railfab.gnmi.paths import Element
from railfab.platforms.shared.json_tree import Json, bare

Index = dict[tuple[int, tuple[str, ...]], tuple[list[Json], int, dict[tuple[str, ...], Json]]]
"""By the identity of a list and the names of its keys: the list, its length when it was read, and its entries by keys.

Leaf by leaf, a target names each entry of a list many times. The list is held, so that no later one has its identity.
"""


def merged(updates: Iterable[tuple[tuple[Element, ...], Any]]) -> Json:
    """One tree of these updates. Path names have no module prefix; names inside a value are left as received."""
    tree: Json = {}
    index: Index = {}
    for steps, value in updates:
        _merge_update(tree, steps, value, index)
    return tree


def _merge_update(tree: Json, steps: tuple[Element, ...], value: Any, index: Index) -> None:
    if isinstance(value, dict) and steps and not steps[-1].keys and [bare(name) for name in value] == [steps[-1].name]:
        steps, value = steps[:-1], {steps[-1].name: next(iter(value.values()))}
    if not steps:
        for name, child in value.items():
            _merge(tree, bare(name), child)
        return
    node = tree
    for step in steps[:-1]:
        node = _entry(node.setdefault(step.name, []), step, index) if step.keys else node.setdefault(step.name, {})
    last = steps[-1]
    if last.keys:
        _entry(node.setdefault(last.name, []), last, index).update(value)
    else:
        _merge(node, last.name, value)


def _merge(node: Json, name: str, value: Any) -> None:
    """Set a child, or merge it into an existing container or list."""
    old = node.get(name)
    if isinstance(old, dict) and isinstance(value, dict):
        old.update(value)
    elif isinstance(old, list) and isinstance(value, list):
        old.extend(value)
    else:
        node[name] = value


def _entry(entries: list[Json], step: Element, index: Index) -> Json:
    """The list entry with the keys of this path element, created if missing."""
    keys = dict(step.keys)
    names, texts = tuple(keys), tuple(keys.values())
    _, length, known = index.get((id(entries), names), (entries, -1, {}))
    if length != len(entries):
        known = {}
        for entry in entries:
            known.setdefault(tuple(str(entry.get(name)) for name in names), entry)
    if texts not in known:
        entries.append(dict(keys))
        known[texts] = entries[-1]
    index[id(entries), names] = entries, len(entries), known
    return known[texts]
