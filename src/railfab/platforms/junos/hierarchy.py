"""A configuration as the hierarchy that `show configuration` prints, edited by texts and by commands.

Containers are kept as they were written. A command names a path in words; those that lead to a container lie below it,
and where it opens a new one, its shape decides: `unit 7` is one beside `unit 0`. Juniper, CLI User Guide, Modifying the
Configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from railfab.errors import ConfigError
from railfab.platforms.shared.brace_text import INDENT, MARKERS, Statement, brace_tokens, quoted

Words = tuple[str, ...]
LISTED = frozenset(
    {
        *("export", "import", "members", "community", "as-path", "prefix-list", "name-server", "authentication-order"),
        *("fill-level", "drop-probability", "code-points", "address", "import-policy", "code-point"),
    }
)
"""Leaves that have several values."""
BRACKETED = frozenset(
    {
        *("export", "import", "members", "community", "authentication-order", "fill-level", "drop-probability"),
        *("code-points", "import-policy"),
    }
)
"""Leaves whose values are printed in brackets."""
NAMED = frozenset({"interfaces", "schedulers", "scheduler-maps", "drop-profiles", "vlans", "routing-instances"})
"""Containers whose containers are called by a name alone."""
KEYED = frozenset(
    {
        *("unit", "family", "group", "neighbor", "policy-statement", "term", "class", "dscp", "forwarding-class"),
        *("user", "host", "file", "server", "interface", "congestion-notification-profile", "buffer-partition"),
        *("prefix-list", "route", "rib", "dynamic-neighbor", "apply-macro", "esi", "loss-priority"),
    }
)
"""First words of containers that have a name beside them."""
PLAIN = frozenset(
    {
        *("services", "netconf", "login", "authentication", "ntp", "syslog", "root-authentication", "ssh"),
        *("bgp", "lldp", "router-advertisement", "evpn", "bfd-liveness-detection", "multipath", "ebgp", "defaults"),
        *("from", "then", "static", "forwarding-table", "interpolate", "classifiers", "rewrite-rules", "unicast"),
        *("forwarding-classes", "shared-buffer", "ingress", "egress", "input", "output", "peer-auto-discovery"),
        *("ether-options", "aggregated-ether-options", "vlan", "no-policy", "dscp-map", "pfc-watchdog", "lacp"),
        *("schedulers", "scheduler-maps", "drop-profiles", "interfaces", "policy-options", "ieee-802.1"),
    }
)
"""Containers without a name."""


@dataclass(slots=True)
class HierarchyNode:
    """A container, or a leaf. words: its own, without quotes; marker: `inactive:` or `protect:`. children: None of a
    leaf."""

    words: Words
    children: list[HierarchyNode] | None = None
    marker: str = ""

    def child(self, words: Words) -> HierarchyNode | None:
        return next((node for node in self.children or () if node.words == words), None)


@dataclass(slots=True)
class Hierarchy:
    """The nodes of a configuration, in their order."""

    root: HierarchyNode = field(default_factory=lambda: HierarchyNode((), []))

    @classmethod
    def read(cls, text: str) -> Hierarchy:
        """The hierarchy of a text in braces. Raises ConfigError."""
        tree = cls()
        tree.merge(text)
        return tree

    def text(self) -> str:
        """The configuration in braces."""
        return "".join(f"{line}\n" for node in self.root.children or () for line in _written(node, ""))

    def section(self, path: Statement) -> str:
        """The text at a path: the content of a container, or the nodes whose words begin so."""
        node, words = self._below(path)
        children = (child for child in node.children or () if child.words[: len(words)] == words)
        return "".join(f"{line}\n" for child in children for line in _written(child, ""))

    def merge(self, text: str) -> None:
        """Lay a text in braces over it, as `load merge` does. Raises ConfigError for one that is none."""
        _merge(self.root, _read(text))

    def set(self, path: Statement) -> None:
        """Add a statement; a leaf with one value gets this one."""
        node, words = self._below(path)
        while words:
            length = _container_length(node, words)
            if not length:
                _add_leaf(node, words)
                return
            opened = HierarchyNode(words[:length], [])
            assert node.children is not None
            node.children.append(opened)
            node, words = opened, words[length:]

    def delete(self, path: Statement) -> bool:
        """Remove what is at a path and below it, and containers that it leaves empty; whether there was something."""
        containers, words = self._containers(path[:-1])
        words = (*words, *path[-1:])
        children = containers[-1].children or []
        left = [child for child in children if child.words[: len(words)] != words]
        if len(left) == len(children):
            return False
        children[:] = left
        for around, node in reversed(list(pairwise(containers))):
            if not node.children:
                around.children = [child for child in around.children or () if child is not node]
        return True

    def _below(self, path: Statement) -> tuple[HierarchyNode, Words]:
        """The deepest container on a path, and the words that are left."""
        containers, words = self._containers(path)
        return containers[-1], words

    def _containers(self, path: Statement) -> tuple[list[HierarchyNode], Words]:
        """The containers on a path, from the root, and the words that are left."""
        containers, words = [self.root], path
        while child := _on_path(containers[-1], words):
            containers.append(child)
            words = words[len(child.words) :]
        return containers, words


def _on_path(node: HierarchyNode, words: Words) -> HierarchyNode | None:
    lengths = range(len(words), 0, -1)
    children = (node.child(words[:length]) for length in lengths)
    return next((child for child in children if child is not None and child.children is not None), None)


def _container_length(node: HierarchyNode, words: Words) -> int:
    """The number of words with which a container begins that is new here; 0 for a leaf."""
    if len(words) > 1 and (not node.words or node.words[0] in NAMED or words[0] in PLAIN):
        return 1
    return 2 if len(words) > 2 and words[0] in KEYED else 0


def _add_leaf(node: HierarchyNode, words: Words) -> None:
    children = node.children
    assert children is not None
    if any(child.words == words for child in children):
        return
    leaf = HierarchyNode(words)
    place = next((place for place, child in enumerate(children) if _is_same_leaf(child, words)), None)
    if place is None or words[0] in LISTED | KEYED:
        children.append(leaf)
    else:
        children[place] = leaf


def _is_same_leaf(child: HierarchyNode, words: Words) -> bool:
    return child.children is None and len(child.words) == len(words) == 2 and child.words[0] == words[0]


def _merge(into: HierarchyNode, nodes: Sequence[HierarchyNode]) -> None:
    for node in nodes:
        present = into.child(node.words)
        if node.children is None:
            _add_leaf(into, node.words)
        elif present is not None and present.children is not None:
            _merge(present, node.children)
        else:
            assert into.children is not None
            into.children.append(node)


def _read(text: str) -> list[HierarchyNode]:
    above: list[HierarchyNode] = [HierarchyNode((), [])]
    words: list[str] = []
    is_open = False
    for token, number in brace_tokens(text):
        children = above[-1].children
        assert children is not None
        if token == "{" and words:
            opened = _node(words, [])
            children.append(opened)
            above.append(opened)
            words = []
        elif token == "}" and not words and len(above) > 1:
            above.pop()
        elif token == ";":
            children.extend(_leaves(words))
            words = []
        elif token in ("{", "}"):
            raise ConfigError(f"line {number}", f"{token!r} is not expected here", "Balance the braces")
        else:
            words.append(token)
        is_open = bool(words)
    if is_open or len(above) > 1:
        raise ConfigError("end of the configuration", "a brace or a semicolon is missing", "Balance the braces")
    return above[0].children or []


def _node(words: Sequence[str], children: list[HierarchyNode] | None) -> HierarchyNode:
    plain = tuple(word.removeprefix("\0") for word in words if word not in MARKERS)
    return HierarchyNode(plain, children, next((word for word in words if word in MARKERS), ""))


def _leaves(words: Sequence[str]) -> Iterator[HierarchyNode]:
    """The leaves of a statement; one for each value in brackets."""
    if "[" not in words:
        if words:
            yield _node(words, None)
        return
    at = words.index("[")
    for value in words[at + 1 : -1]:
        yield _node((*words[:at], value), None)


def _written(node: HierarchyNode, margin: str) -> Iterator[str]:
    words = " ".join(filter(None, (node.marker, *map(quoted, node.words))))
    if node.children is None:
        yield f"{margin}{words};"
        return
    yield f"{margin}{words} {{"
    for _, group in groupby(node.children, _list_key):
        leaves = list(group)
        if len(leaves) > 1:
            values = " ".join(quoted(leaf.words[-1]) for leaf in leaves)
            yield f"{margin}{INDENT}{' '.join(map(quoted, leaves[0].words[:-1]))} [ {values} ];"
        else:
            yield from _written(leaves[0], margin + INDENT)
    yield f"{margin}}}"


def _list_key(node: HierarchyNode) -> object:
    """The same for leaves that are printed together: the values of one list."""
    is_value = node.children is None and len(node.words) > 1 and node.words[0] in BRACKETED and not node.marker
    return node.words[:-1] if is_value else id(node)
