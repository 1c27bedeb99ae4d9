"""Merges the updates of a gNMI Get into one tree, whether the target answers by leaf, list entry or container."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from railfab.gnmi.paths import Element
from railfab.platforms.shared.json_tree import Json, bare

Keys = tuple[tuple[str, str], ...]


class ListEntries:
    """The entries of the lists of a tree, by their keys: leaf by leaf, a target names each of them many times."""

    def __init__(self) -> None:
        self._by_step: dict[tuple[int, Keys], Json] = {}
        self._lists: dict[tuple[int, tuple[str, ...]], tuple[list[Json], int, dict[tuple[str, ...], Json]]] = {}

    def entry(self, entries: list[Json], step: Element) -> Json:
        """The list entry with the keys of this path element, created if missing."""
        key = (id(entries), step.keys)
        entry = self._by_step.get(key)
        if entry is None:
            entry = self._by_step[key] = self._searched(entries, dict(step.keys))
        return entry

    def _searched(self, entries: list[Json], keys: dict[str, str]) -> Json:
        """The entry by an index of the list, which is held, so that no later one has its identity.

        The index has the length of the list when it was made: values add entries too.
        """
        names, texts = tuple(keys), tuple(keys.values())
        _, length, known = self._lists.get((id(entries), names), (entries, -1, {}))
        if length != len(entries):
            known = {}
            for entry in entries:
                known.setdefault(tuple(str(entry.get(name)) for name in names), entry)
        if texts not in known:
            entries.append(keys)
            known[texts] = keys
        self._lists[id(entries), names] = entries, len(entries), known
        return known[texts]


def merged(updates: Iterable[tuple[tuple[Element, ...], Any]]) -> Json:
    """One tree of these updates. Path names have no module prefix; names inside a value are left as received."""
    tree: Json = {}
    lists = ListEntries()
    for steps, value in updates:
        _merge_update(tree, steps, value, lists)
    return tree


def _merge_update(tree: Json, steps: tuple[Element, ...], value: Any, lists: ListEntries) -> None:
    if isinstance(value, dict) and steps and not steps[-1].keys and [bare(name) for name in value] == [steps[-1].name]:
        steps, value = steps[:-1], {steps[-1].name: next(iter(value.values()))}
    if not steps:
        for name, child in value.items():
            _merge(tree, bare(name), child)
        return
    node = tree
    for step in steps[:-1]:
        node = lists.entry(node.setdefault(step.name, []), step) if step.keys else node.setdefault(step.name, {})
    last = steps[-1]
    if last.keys:
        lists.entry(node.setdefault(last.name, []), last).update(value)
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
