"""Merges the updates of a gNMI Get into one tree, whether the target answers by leaf, list entry or container."""

from __future__ import annotations

from typing import Any

from railfab.gnmi.paths import Element
from railfab.platforms.shared.json_tree import Json, bare


def merge_update(tree: Json, steps: tuple[Element, ...], value: Any) -> None:
    """Add one update to the tree. Path names have no module prefix; names inside the value are left as received."""
    if isinstance(value, dict) and steps and not steps[-1].keys and [bare(name) for name in value] == [steps[-1].name]:
        steps, value = steps[:-1], {steps[-1].name: next(iter(value.values()))}
    if not steps:
        for name, child in value.items():
            _merge(tree, bare(name), child)
        return
    node = tree
    for step in steps[:-1]:
        node = _entry(node.setdefault(step.name, []), step) if step.keys else node.setdefault(step.name, {})
    last = steps[-1]
    if last.keys:
        _entry(node.setdefault(last.name, []), last).update(value)
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


def _entry(entries: list[Json], step: Element) -> Json:
    """The list entry with the keys of this path element, created if missing."""
    keys = dict(step.keys)
    for entry in entries:
        if all(str(entry.get(key)) == text for key, text in keys.items()):
            return entry
    entries.append(dict(keys))
    return entries[-1]
