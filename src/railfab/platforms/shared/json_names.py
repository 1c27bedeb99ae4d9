"""Names of a JSON tree (RFC 7951) with their module prefixes, and the keys of its list entries.

Names match with and without their module prefix. A new name is stored with the prefix that the tree or a learnt tree
has for it, or that the schema gives it, so that requests with and without prefixes give equal trees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from railfab.gnmi.paths import Element
from railfab.platforms.shared.json_tree import Json, bare, leaf_text

KeysOf = Callable[[str, Json], tuple[str, ...]]
"""Names of the keys of a list entry, from the list's name and the entry; none when the list is not known."""

Schema = tuple[str, ...]
"""Names from the root to a node, without prefixes and keys."""

MOST_UNREAD = 4
"""Number of trees whose numeric leaves wait to be asked for: those of the only Set of a deploy never are."""


class JsonNames:
    """Module prefixes of names, and leaves that are numbers, learnt from trees.

    modules: the module of each node whose namespace is not that of its parent, where they are known. No prefix is
    learnt then, and a name has one where RFC 7951 (section 4) wants it. rivals: the nodes that a node in a case of a
    choice excludes. identities: of leaves of identities, each with its module, which it has as a prefix (RFC 7951,
    section 6.8), also where a client leaves it out.
    """

    def __init__(
        self,
        keys_of: KeysOf,
        modules: Mapping[Schema, str] | None = None,
        rivals: Mapping[Schema, Collection[str]] | None = None,
        identities: Mapping[Schema, Mapping[str, str]] | None = None,
    ) -> None:
        self._keys_of = keys_of
        self._identities = identities or {}
        self._prefixed_identities = {
            f"{module}:{name}" for values in self._identities.values() for name, module in values.items()
        }
        self._modules = modules or {}
        self._rivals = rivals or {}
        self._choices = {path[:depth] for path in self._rivals for depth in range(len(path))}
        self._written: dict[Schema, str] = {}
        self._numeric: set[Schema] = set()
        self._unread: list[Json] = []

    def learn(self, tree: Json) -> None:
        """Take over the prefixes and the numeric leaves of a tree.

        Where prefixes are known only Sets ask for the rest, one at a time, and it is read when they do.
        """
        self._unread.append(tree)
        if not self._modules or len(self._unread) > MOST_UNREAD:
            self._read_trees()

    def _read_trees(self) -> None:
        trees, self._unread = self._unread, []
        for tree in trees:
            self._read(tree, ())

    def _read(self, tree: Json, at: Schema) -> None:
        for name, child in tree.items():
            place = (*at, bare(name))
            self._written[place] = name
            for entry in child if isinstance(child, list) else [child]:
                if isinstance(entry, dict):
                    self._read(entry, place)
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
        if isinstance(value, list):
            return [self.adopted(child, at) for child in value]
        return self._prefixed(value, at) if isinstance(value, str) and at in self._identities else value

    def _prefixed(self, value: str, at: Schema) -> str:
        """An identity with the prefix of its module; another text as it is."""
        plain = identity(value)
        module = self._identities[at].get(plain)
        return f"{module}:{plain}" if module and value in (plain, f"{module}:{plain}") else value

    def key(self, at: Schema, name: str, value: str) -> Any:
        """A key's value as a JSON value."""
        self._read_trees()
        place = (*at, name)
        if place in self._identities:
            return self._prefixed(value, place)
        return int(value) if place in self._numeric and value.isdigit() else value

    def plain_path(self, path: tuple[Element, ...]) -> tuple[Element, ...]:
        """A path whose keys have identities without their modules, as all paths of answers have."""
        at: Schema = ()
        elements = []
        for step in path:
            at = (*at, step.name)
            keys = step.keys
            if any((*at, key) in self._identities for key, _ in keys):
                keys = tuple((key, identity(text) if (*at, key) in self._identities else text) for key, text in keys)
            elements.append(Element(step.name, keys))
        return tuple(elements)

    def keys_of(self, name: str, entry: Json) -> dict[str, str]:
        """The keys of a list entry, as in a path."""
        plain = {bare(key): child for key, child in entry.items()}
        return {key: self._key_text(leaf_text(plain[key])) for key in self._keys_of(name, plain)}

    def _key_text(self, value: str) -> str:
        """An identity without its module. Where identities are known, another text stays, such as a name `a:b`."""
        known = not self._identities or value in self._prefixed_identities
        return identity(value) if known else value


def identity(value: str) -> str:
    """An identity without its module; other values unchanged (an IPv6 address has more than one colon)."""
    return bare(value) if value.count(":") == 1 else value
