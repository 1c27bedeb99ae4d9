"""Readers of a parsed tree: the entries of a container by key, and settings that are on or off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from railfab.platforms.cumulus.schema import SWITCH
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

ON, OFF = SWITCH


def entries(node: ConfigNode, name: str) -> Iterator[tuple[str, ConfigNode]]:
    """The keys of a container with what is below each."""
    container = node.child(name)
    for key in container.value:
        yield key, container.child(key)


def keys(node: ConfigNode, name: str) -> tuple[str, ...]:
    """The keys of a container."""
    return tuple(node.child(name).value)


def only_key(node: ConfigNode, name: str) -> str | None:
    """The key of a container that has one."""
    names = keys(node, name)
    return names[0] if len(names) == 1 else None


def is_on(node: ConfigNode, leaf: str = "state", *, default: bool = False) -> bool:
    """Whether a setting is on."""
    state = node.text(leaf)
    return default if state is None else state == ON


def numbers(node: ConfigNode, name: str) -> Iterator[tuple[int, ConfigNode]]:
    """The entries of a container whose keys are numbers, ascending."""
    for key, below in sorted(entries(node, name), key=lambda entry: (len(entry[0]), entry[0])):
        if key.isdecimal():
            yield int(key), below


def switch(value: bool) -> str:
    """The value of a setting that is on or off."""
    return ON if value else OFF


def stated(**members: object) -> Json:
    """The members that are not None and not empty, with `-` for `_` in their names."""
    return {name.replace("_", "-"): value for name, value in members.items() if value not in (None, {}, "")}


def at(tree: Any, *names: str) -> Json:
    """The container below these names; empty where there is none."""
    for name in names:
        tree = tree.get(name)
        if not isinstance(tree, dict):
            return {}
    return dict(tree)
