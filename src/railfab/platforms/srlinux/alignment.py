"""Names of groups, policies, queues and profiles, which are free, as another configuration has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railfab.platforms.shared.json_tree import Json, is_list, text
from railfab.platforms.srlinux.inheritance import with_levels_of
from railfab.platforms.srlinux.schema import MARK, Node, schema
from railfab.platforms.srlinux.tree import plain_tree

SECTIONS = ("qos", "routing-policy")
"""Containers in which each list with one key of text is of objects with names of their own."""
GROUPS = "/network-instance/protocols/bgp/group"
"""The list of peer groups, likewise."""
PORTS = "/qos/interfaces/interface"
"""A list in these containers whose entries are named as ports are."""

Place = tuple[str, ...]
"""Names of the nodes above, each followed by the keys of its entry where it is a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedList:
    """One list of objects with free names. key: the leaf with the name. entries: by name. node: of the schema."""

    path: str
    place: Place
    key: str
    entries: Mapping[str, Json]
    node: Node

    def body(self, name: str) -> Json:
        """An entry without names."""
        return _body(self.entries[name], self.node, self.path)


def aligned(configuration: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The configuration with the names of the rendered one for objects that are equal but for their names.

    With it, a line for each of these: `/ qos queues queue q3`. References follow the names. Settings of BGP that are
    inherited are at the level at which the rendered one has them. Raises ConfigError.
    """
    stated, wanted = plain_tree(configuration), plain_tree(rendered)
    renamed: list[str] = []
    configured = _with_names_of_ports(with_levels_of(stated, wanted), renamed)
    while step := next(_renamings(configured, wanted), None):
        named, old, new = step
        renamed.append(f"/ {' '.join(named.place)} {old}")
        configured = _with_name(configured, named, old, new, schema().nodes, "", ())
    return (configuration, ()) if configured is stated else (text(configured), tuple(renamed))


def _with_names_of_ports(configured: Json, renamed: list[str]) -> Json:
    """The tree with entries of QoS of ports named after the ports that they refer to. renamed: takes the old names."""
    qos = _mapping(configured.get("qos"))
    listed = _mapping(qos.get("interfaces")).get("interface")
    entries: list[Json] = listed if listed is not None and is_list(listed) else []  # what is malformed is refused later
    present = {str(entry.get("interface-id")) for entry in entries}
    ports = {id(entry): _port_of(entry) for entry in entries if "interface-id" in entry}
    times = Counter(ports.values())
    named = {entry: name for entry, name in ports.items() if name and times[name] == 1 and name not in present}
    if not named:
        return configured
    renamed += (f"/ qos interfaces interface {entry['interface-id']}" for entry in entries if id(entry) in named)
    changed = [entry | {"interface-id": named[id(entry)]} if id(entry) in named else entry for entry in entries]
    return configured | {"qos": qos | {"interfaces": qos["interfaces"] | {"interface": changed}}}


def _port_of(entry: Json) -> str | None:
    """The interface that an entry refers to, with its subinterface; None where it states none."""
    reference = _mapping(entry.get("interface-ref"))
    steps = [reference.get(step) for step in ("interface", "subinterface")]
    return ".".join(str(step) for step in steps if step is not None) if steps[0] else None


def _mapping(value: object) -> Json:
    """The container in a tree that may be malformed there; empty in place of anything else."""
    return value if isinstance(value, dict) else {}


def _renamings(configured: Json, wanted: Json) -> Iterator[tuple[NamedList, str, str]]:
    """Objects of one configuration that the other has under another name: their list, and both names."""
    others = {named.place: named for named in named_lists(wanted, schema().nodes)}
    for named in named_lists(configured, schema().nodes):
        if (counterpart := others.get(named.place)) is None:
            continue
        free = [name for name in counterpart.entries if name not in named.entries]
        for name in named.entries if free else ():
            if name not in counterpart.entries:
                body = named.body(name)
                equal = (new for new in free if counterpart.body(new) == body)
                if (new := next(equal, None)) is not None:
                    yield named, name, new


def named_lists(tree: Json, node: Node, path: str = "", place: Place = ()) -> Iterator[NamedList]:
    """Every list of objects with free names."""
    for name, child in tree.items():
        below = node.get(name) if isinstance(node, dict) else None
        if not isinstance(below, dict):
            continue
        at, here = f"{path}/{name}", (*place, name)
        if isinstance(child, dict):
            yield from named_lists(child, below, at, here)
        elif is_list(child):
            if key := _free_key(at, below):
                entries = {entry[key]: entry for entry in child if isinstance(entry.get(key), str)}
                yield NamedList(path=at, place=here, key=key, entries=entries, node=below)
            for entry in child:
                yield from named_lists(entry, below, at, (*here, *_keys(entry, below)))


def _keys(entry: Json, node: Node) -> Place:
    keys = node.get(MARK) if isinstance(node, dict) else None
    return tuple(str(entry.get(key)) for key in keys) if isinstance(keys, list) else ()


def _free_key(path: str, node: Node) -> str | None:
    """The one key of a list whose entries have names of their own: a text that refers to nothing; None of another."""
    keys = node.get(MARK)
    if not isinstance(keys, list) or len(keys) != 1 or path == PORTS:
        return None
    if path.split("/")[1] not in SECTIONS and path != GROUPS:
        return None
    kind = schema().type_of(node[keys[0]]) or {}
    return str(keys[0]) if kind.get("type") == "string" and "reference" not in kind else None


def _body(entry: Json, node: Node, path: str) -> Json:
    """A node without its own name, if that is free, and without those of the objects in it."""
    free_key = _free_key(path, node)
    body: Json = {}
    for name, child in entry.items():
        below, at = node.get(name), f"{path}/{name}"
        if name == free_key:
            continue
        if isinstance(child, dict) and isinstance(below, dict):
            body[name] = _body(child, below, at)
        elif is_list(child) and isinstance(below, dict):
            body[name] = sorted((_body(member, below, at) for member in child), key=text)
        else:
            body[name] = child
    return body


def _with_name(tree: Json, named: NamedList, old: str, new: str, node: Node, path: str, place: Place) -> Json:
    """The tree with another name for one object: its key, and the leaves that refer to it."""

    def changed(name: str, child: Any) -> Any:
        below = node.get(name) if isinstance(node, dict) else None
        at, here = f"{path}/{name}", (*place, name)
        if isinstance(child, dict):
            return _with_name(child, named, old, new, below, at, here)
        if is_list(child):
            inner = ((entry, (*here, *_keys(entry, below))) for entry in child)
            entries = [_with_name(entry, named, old, new, below, at, within) for entry, within in inner]
            return [_renamed(entry, named.key, old, new) for entry in entries] if here == named.place else entries
        refers = (schema().type_of(below) or {}).get("reference") == f"{named.path}/{named.key}"
        return _replaced(child, old, new) if refers else child

    return {name: changed(name, child) for name, child in tree.items()}


def _renamed(entry: Json, key: str, old: str, new: str) -> Json:
    return {**entry, key: new} if entry.get(key) == old else entry


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, list):
        return [new if member == old else member for member in value]
    return new if value == old else value
