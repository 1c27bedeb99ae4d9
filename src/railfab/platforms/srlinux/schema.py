"""The configuration schema of SR Linux 25.3.1 on a 7220: names, types, keys, defaults and references.

`schema.json` is generated from Nokia's models by `python -m tests.oracles.srlinux_schema`, whose docstrings give its
format. What it refuses is in `refusals`, what SR Linux checks between leaves in `constraints`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

RELEASE = "25.3.1"
MARK = ""
"""Name under which a list has its keys, and a container that means something when it is empty, true."""

WORD = re.compile(r"[A-Za-z_][\w.-]*")
"""A word of an expression, which may be the name of a node."""

Node = Any
"""A node of `schema.json`: container or list, leaf, leaf-list, or state (None)."""


@dataclass(frozen=True)
class SrlinuxSchema:
    """types: of leaves, by their number. nodes: the containers and lists at the top.

    rules: constraints and their messages. By path without keys, must: numbers of rules; mandatory: the leaves that a
    container needs; entries: least and largest number; unique: leaves whose values no two entries have together;
    choices: the names of the nodes of each case; identity: the number of the identities of a leaf; modules: of nodes in
    another namespace than the node above. identities: names, each with its module.
    """

    types: tuple[Mapping[str, Any], ...]
    nodes: Mapping[str, Node]
    rules: tuple[tuple[str, str], ...]
    must: Mapping[str, Sequence[int]]
    mandatory: Mapping[str, Sequence[str]]
    entries: Mapping[str, tuple[int | None, int | None]]
    unique: Mapping[str, Sequence[Sequence[str]]]
    choices: Mapping[str, Sequence[Sequence[Sequence[str]]]]
    identity: Mapping[str, int]
    modules: Mapping[str, str]
    identities: tuple[Mapping[str, str], ...]

    @cached_property
    def namespaces(self) -> Mapping[tuple[str, ...], str]:
        """`modules` by the names of the steps."""
        return {tuple(path.strip("/").split("/")): module for path, module in self.modules.items()}

    @cached_property
    def identity_modules(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """The identities of a leaf by the names of the steps to it, each with its module."""
        return {tuple(path.strip("/").split("/")): self.identities[number] for path, number in self.identity.items()}

    @cached_property
    def rivals(self) -> Mapping[tuple[str, ...], frozenset[str]]:
        """By the names of the steps to a node in a case, the nodes of the other cases (RFC 7950, section 7.9)."""
        rivals: dict[tuple[str, ...], frozenset[str]] = {}
        for path, choices in self.choices.items():
            above = tuple(path.strip("/").split("/"))
            for cases in choices:
                for case in cases:
                    others = frozenset(name for alternative in cases if alternative is not case for name in alternative)
                    rivals |= {(*above, name): rivals.get((*above, name), frozenset()) | others for name in case}
        return rivals

    @cached_property
    def lists(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """The keys of all lists of a name, the longest first."""
        keys_of: dict[str, set[tuple[str, ...]]] = {}
        for name, keys in _lists(self.nodes):
            keys_of.setdefault(name, set()).add(keys)
        return {name: tuple(sorted(lists, key=lambda keys: (-len(keys), keys))) for name, lists in keys_of.items()}

    @cached_property
    def paths_above_rules(self) -> frozenset[str]:
        """The paths of nodes that have constraints, and of the nodes above them."""
        steps = (path.split("/") for path in self.must)
        return frozenset("/".join(path[:depth]) for path in steps for depth in range(2, len(path) + 1))

    @cached_property
    def unread_leaves(self) -> frozenset[str]:
        """Names that only leaves have about which no constraint says anything."""
        leaves, read = set[str](), set[str]()
        for name, node in _nodes(self.nodes):
            kinds = _plain_kinds(self.type_of(node))
            if isinstance(node, int) and all("path" not in kind for kind in kinds):
                leaves.add(name)
            elif node is not None:
                read.add(name)
            if isinstance(node, dict) and isinstance(node.get(MARK), list):
                read.update(node[MARK])
            read.update(word for kind in kinds for word in WORD.findall(kind.get("path", "")))
        said = [expression for expression, _ in self.rules] + [path.rpartition("/")[2] for path in self.must]
        listed = json.dumps([*self.mandatory.values(), *self.unique.values(), *self.choices.values()])
        return frozenset(leaves - read - {*WORD.findall(" ".join([*said, listed]))})

    def rules_at(self, path: str) -> list[tuple[str, str]]:
        """The constraints of a node at a path without keys, with their messages."""
        return [self.rules[number] for number in self.must.get(path, ())]

    def below(self, node: Node, name: str) -> Node:
        """The child of a node. Raises KeyError when it has none of this name; None below what is not known."""
        return node[name] if isinstance(node, dict) else None

    def type_of(self, node: Node) -> Mapping[str, Any] | None:
        """The type of a leaf or leaf-list; None for another node."""
        number = node[0] if isinstance(node, list) else node
        return self.types[number] if isinstance(number, int) else None

    def at(self, path: str) -> Node:
        """The node at a path without keys; None where there is none."""
        node: Node = self.nodes
        for step in path.strip("/").split("/"):
            node = node.get(step) if isinstance(node, dict) else None
        return node

    def default(self, path: str) -> str | None:
        """The default of a leaf, as text; None without one."""
        kind = self.type_of(self.at(path))
        return kind.get("default") if kind else None

    def is_plain_container(self, path: str) -> bool:
        """Whether a node is a container that means nothing when it is empty."""
        node = self.at(path)
        return isinstance(node, dict) and MARK not in node

    def is_implicit(self, node: Node) -> bool:
        """Whether a node exists where it is not set: a leaf with a default, or a container that means nothing empty."""
        if isinstance(node, dict):
            return MARK not in node
        return isinstance(node, int) and "default" in self.types[node]

    def keys(self, path: str) -> tuple[str, ...] | None:
        """The keys of a list; None for one that the schema does not know."""
        node = self.at(path)
        keys = node.get(MARK) if isinstance(node, dict) else None
        return tuple(keys) if isinstance(keys, list) else None


def _lists(nodes: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the keys of every list below a node."""
    for name, node in _nodes(nodes):
        if isinstance(node, dict) and isinstance(node.get(MARK), list):
            yield name, tuple(node[MARK])


def _nodes(node: Node) -> Iterator[tuple[str, Node]]:
    """The name and the node of everything below a node."""
    for name, child in node.items():
        if name != MARK:
            yield name, child
            if isinstance(child, dict):
                yield from _nodes(child)


def _plain_kinds(kind: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """A type, or the members of a union."""
    if kind is None:
        return []
    return [plain for member in kind["members"] for plain in _plain_kinds(member)] if "members" in kind else [kind]


@cache
def schema() -> SrlinuxSchema:
    document = json.loads(files(__package__ or "").joinpath("schema.json").read_text())
    return SrlinuxSchema(
        types=tuple(document["types"]),
        nodes=document["nodes"],
        rules=tuple((expression, message) for expression, message in document["rules"]),
        must=document["must"],
        mandatory=document["mandatory"],
        entries={path: (least, most) for path, (least, most) in document["entries"].items()},
        unique=document["unique"],
        choices=document["choices"],
        identity=document["identity"],
        identities=tuple(document["identities"]),
        modules=document["modules"],
    )


def options(node: Node) -> list[str]:
    """The names of the configuration below a container."""
    return [name for name, child in node.items() if name != MARK and child is not None]


def names(node: Node) -> list[str]:
    """The names below a container, of configuration and state."""
    return [name for name in node if name != MARK]
