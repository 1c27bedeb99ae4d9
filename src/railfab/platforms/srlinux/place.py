"""A node of a configuration without module prefixes, with its place in the schema: what constraints are checked at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from railfab.platforms.shared.json_tree import leaf_text
from railfab.platforms.srlinux.schema import MARK, Node, schema

ABSENT: Any = object()


class UnknownNode(Exception):
    """An expression names a node that is no known configuration."""


class NodePlace:
    """A node of a configuration, or one that is not set: a leaf with its default, or a container. node: its schema."""

    __slots__ = ("above", "indexes", "is_set", "name", "node", "value")

    def __init__(self, value: Any, node: Node, above: NodePlace | None, name: str = "", *, is_set: bool = True) -> None:
        self.value = value
        self.node = node
        self.above = above
        self.name = name
        self.is_set = is_set
        self.indexes: dict[tuple[int, str], dict[str, list[Any]]] = {} if above is None else above.indexes

    @property
    def text(self) -> str:
        return "" if isinstance(self.value, dict) else leaf_text(self.value)

    def below(self, name: str) -> list[NodePlace]:
        """The children of this name. Raises UnknownNode."""
        node = self.node.get(name) if isinstance(self.node, dict) else None
        if node is None or name == MARK:
            raise UnknownNode(name)
        value = self.value.get(name, ABSENT) if isinstance(self.value, dict) else ABSENT
        if value is ABSENT:
            return self._unset(name, node)
        return [NodePlace(entry, node, self, name) for entry in (value if isinstance(value, list) else (value,))]

    def entries(self, name: str, key: str, text: str) -> Iterator[NodePlace]:
        """The entries of a list in which a leaf has this text. Raises UnknownNode."""
        values = self.value.get(name) if isinstance(self.value, dict) else None
        if not isinstance(values, list):
            yield from (place for place in self.below(name) if text in [leaf.text for leaf in place.below(key)])
            return
        index = self.indexes.get((id(values), key))
        if index is None:
            index = self.indexes[id(values), key] = {}
            for place in self.below(name):
                for leaf in place.below(key):
                    index.setdefault(leaf.text, []).append(place.value)
        yield from (NodePlace(value, self.node[name], self, name) for value in index.get(text, ()))

    def _unset(self, name: str, node: Node) -> list[NodePlace]:
        if isinstance(node, dict):
            return [] if MARK in node else [NodePlace({}, node, self, name, is_set=False)]
        default = _default(node) if isinstance(node, int) else None
        return [] if default is None else [NodePlace(default, node, self, name)]


@cache
def _default(number: int) -> str | None:
    """The default of a type of leaves."""
    default: str | None = schema().types[number].get("default")
    return default
