"""Names of a JSON tree (RFC 7951) with their module prefixes, and the keys of its list entries.

Names match with and without their module prefix. A new name is stored with the prefix that the tree or a learnt tree
has for it, or that the schema gives it, so that requests with and without prefixes give equal trees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from railfab.platforms.shared.json_tree import Json, bare, leaf_text

KeysOf = Callable[[str, Json], tuple[str, ...]]
"""Names of the keys of a list entry, from the list's name and the entry; none when the list is not known."""

Schema = tuple[str, ...]
"""Names from the root to a node, without prefixes and keys."""


class Names:
    """Module prefixes of names, and leaves that are numbers, learnt from trees.

    modules: the module of each node whose namespace is not that of its parent, where they are known. No prefix is
    learnt then, and a name has one where RFC 7951 (section 4) wants it. rivals: the nodes that a node in a case of a
    choice excludes.
    """

    def __init__(
        self,
        keys_of: KeysOf,
        modules: Mapping[Schema, str] | None = None,
        rivals: Mapping[Schema, Collection[str]] | None = None,
    ) -> None:
        self._keys_of = keys_of
        self._modules = modules or {}
        self._rivals = rivals or {}
        self._choices = {path[:depth] for path in self._rivals for depth in range(len(path))}
        self._written: dict[Schema, str] = {}
        self._numeric: set[Schema] = set()

    def learn(self, tree: Json, at: Schema = ()) -> None:
        """Take over the prefixes and the numeric leaves of a tree."""
        for name, child in tree.items():
            place = (*at, bare(name))
            self._written[place] = name
            for entry in child if isinstance(child, list) else [child]:
                if isinstance(entry, dict):
                    self.learn(entry, place)
                elif isinstance(entry, int):
                    self._numeric.add(place)

    def written(self, at: Schema, name: str) -> str:
        if not self._modules:
            return self._written.get((*at, bare(name)), name)
        plain = bare(name)
        module = self._modules.get((*at, plain))
        return plain if module is None else f"{module}:{plain}"

    def rivals(self, at: Schema, name: str) -> Collection[str]:
        """Names of the siblings that do not exist beside a node, those in other cases of its choice."""
        return self._rivals.get((*at, name), ())

    def has_choices(self, at: Schema) -> bool:
        """Whether there are choices at or below a node."""
        return at in self._choices

    def adopted(self, value: Any, at: Schema) -> Any:
        """A client's value with the names below `at` as they are stored."""
        if isinstance(value, dict):
            return {self.written(at, name): self.adopted(child, (*at, bare(name))) for name, child in value.items()}
        return [self.adopted(child, at) for child in value] if isinstance(value, list) else value

    def key(self, at: Schema, name: str, value: str) -> Any:
        """A key's value as a JSON value."""
        return int(value) if (*at, name) in self._numeric and value.isdigit() else value

    def keys_of(self, name: str, entry: Json) -> dict[str, str]:
        """The keys of a list entry, as in a path."""
        plain = {bare(key): child for key, child in entry.items()}
        return {key: identity(leaf_text(plain[key])) for key in self._keys_of(name, plain)}


def identity(value: str) -> str:
    """An identity without its module; other values unchanged (an IPv6 address has more than one colon)."""
    return bare(value) if value.count(":") == 1 else value
