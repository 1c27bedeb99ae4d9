"""The compact schema of SR Linux: `python -m tests.oracles.srlinux_schema` writes it from Nokia's models.

`schema.json` of the platform has facts alone: names, types, ranges, patterns, enumerations, keys, defaults, leafrefs,
constraints (`must`, `unique`, `choice`, `mandatory`, numbers of entries), namespaces, and what is state. It covers the
whole configuration of a 7220.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.oracles.srlinux import ARCHIVE, FEATURE, NOT_7220
from tests.oracles.yang import Case, Modules, SchemaNode, Statement, Type, holds

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src" / "railfab" / "platforms" / "srlinux" / "schema.json"
PREFIX = re.compile(r"(?<=/)[\w.-]+:")
GATE = ":if-feature"
QUOTED = re.compile(r"""('[^']*'|"[^"]*")""")
NAME_PREFIX = re.compile(r"\b[A-Za-z_][\w.-]*:(?=[A-Za-z_])")
PREDICATE = re.compile(r"\[[^\]]*\]")


class Compact:
    """A schema as JSON: a container is an object, a leaf the number of its type, a leaf-list that in an array.

    A list has its keys, and a container that means something when empty `true`, under the empty name. State is null.
    `rules` has pairs of an XPath expression without prefixes and the device's message. By path: `must` has the numbers
    of the rules that a node is subject to, `mandatory` the leaves that it needs (`|` between those of which one will
    do), `entries` the least and the largest number of values of a list or leaf-list, `unique` the leaves whose values
    no two entries of a list have together, `choices` the nodes of each case of each choice below a node, `modules`
    the module of each node, state included, whose namespace is not that of its parent, and `identity` the number in
    `identities` of the identities that a leaf, state included, may have, each with its module.
    """

    def __init__(self, modules: Modules, features: Collection[str]) -> None:
        self._modules = modules
        self._features = features
        self._types: dict[str, int] = {}
        self._rules: dict[tuple[str, str], int] = {}
        self._must: dict[str, list[int]] = {}
        self._mandatory: dict[str, list[str]] = {}
        self._entries: dict[str, list[int | None]] = {}
        self._unique: dict[str, list[list[str]]] = {}
        self._choices: dict[str, list[list[list[str]]]] = {}
        self._identities: dict[str, int] = {}

    def document(self) -> dict[str, Any]:
        nodes = {
            name: self._node(node, f"/{name}")
            for name, node in sorted(self._modules.tree.children.items())
            if not node.state
        }
        identity = dict(self._identity_leaves(self._modules.tree, ""))
        return {
            "types": [json.loads(text) for text in self._types],
            "rules": list(self._rules),
            "identities": [json.loads(text) for text in self._identities],
            "must": self._must,
            "mandatory": self._mandatory,
            "entries": self._entries,
            "unique": self._unique,
            "choices": self._choices,
            "identity": identity,
            "modules": dict(_modules(self._modules.tree, "")),
            "nodes": nodes,
        }

    def _node(self, node: SchemaNode, path: str) -> Any:
        if node.state:
            return None
        self._constrain(node, path)
        if node.kind in ("leaf", "leaf-list"):
            number = self._number(node, path)
            return number if node.kind == "leaf" else [number]
        own = {name: self._node(child, f"{path}/{name}") for name, child in sorted(node.children.items())}
        mark = list(node.keys) or node.presence
        return {"": mark, **own} if mark else own

    def _constrain(self, node: SchemaNode, path: str) -> None:
        """Note the constraints of a node."""
        statement = node.statement
        for must in statement.all("must"):
            if all(holds(gate, self._features.__contains__) for gate in _gates(must)):
                rule = plain_xpath(must.argument), " ".join((must.first("error-message") or "").split())
                self._must.setdefault(path, []).append(self._rules.setdefault(rule, len(self._rules)))
        if (node.kind == "list" or node.presence or node.cases) and (needed := list(_needed(node))):
            self._mandatory[path] = needed
        if unique := [list(_leaves(node, one.argument)) for one in statement.all("unique")]:
            self._unique[path] = unique
        if choices := [cases for _, cases in _choices(node) if len(cases) > 1]:
            self._choices[path] = choices
        ends = [statement.first(f"{end}-elements") for end in ("min", "max")]
        if any(ends):
            self._entries[path] = [int(end) if end and end != "unbounded" else None for end in ends]

    def _number(self, node: SchemaNode, path: str) -> int:
        found = self._modules.type_of(node)
        default = node.statement.first("default") or found.default
        described = self._type(found, node, path) | ({} if default is None else {"default": default})
        return self._types.setdefault(json.dumps(described, sort_keys=True), len(self._types))

    def _type(self, found: Type, node: SchemaNode, path: str) -> dict[str, Any]:
        if found.name == "leafref":
            target, at = self._target(found.path, path)
            inner = {"type": "string"} if target is None else self._type(self._modules.type_of(target), target, at)
            return {**inner, "reference": at, **({} if found.loose else {"path": plain_xpath(found.path)})}
        described: dict[str, Any] = {"type": found.name}
        if found.ranges:
            described["range"] = [list(ends) for ends in found.ranges]
        if found.names:
            described["names"] = list(found.names)
        if found.lengths:
            described["length"] = [list(ends) for ends in found.lengths]
        if found.alias and found.patterns:
            described["alias"] = found.alias
        if wanted := [pattern for pattern, matches in found.patterns if matches]:
            described["pattern"] = wanted
        if excluded := [pattern for pattern, matches in found.patterns if not matches]:
            described["not"] = excluded
        if found.members:
            members = [self._type(member, node, path) for member in found.members]
            described["members"] = [member for index, member in enumerate(members) if member not in members[:index]]
        return described

    def _identity_leaves(self, node: SchemaNode, path: str) -> Iterator[tuple[str, int]]:
        """The leaves whose values are identities, each with the number of these."""
        for name, child in sorted(node.children.items()):
            place = f"{path}/{name}"
            if child.kind not in ("leaf", "leaf-list"):
                yield from self._identity_leaves(child, place)
            elif found := dict(self._identities_of(child, place)):
                yield place, self._identities.setdefault(json.dumps(found, sort_keys=True), len(self._identities))

    def _identities_of(self, node: SchemaNode, path: str) -> Iterator[tuple[str, str]]:
        """The identities that a leaf, or the leaf to which it refers, may have."""
        found = self._modules.type_of(node)
        for one in (found, *found.members):
            target, at = self._target(one.path, path) if one.name == "leafref" else (None, "")
            yield from self._identities_of(target, at) if target is not None else one.identities

    def _target(self, reference: str, path: str) -> tuple[SchemaNode | None, str]:
        """The leaf to which a leafref refers, and its path."""
        plain = PREFIX.sub("", PREDICATE.sub("", reference))
        plain = re.sub(r"^[\w.-]+:", "", plain)
        steps = [] if plain.startswith("/") else path.strip("/").split("/")
        for step in plain.strip("/").split("/"):
            if step == "..":
                steps.pop()
            else:
                steps.append(step)
        node: SchemaNode | None = self._modules.tree
        for step in steps:
            node = node.children.get(step) if node else None
        return node, "/" + "/".join(steps)


def _needed(node: SchemaNode) -> Iterator[str]:
    """The mandatory leaves below a node, through containers that always exist, by their path from it.

    Of a mandatory choice, its nodes, with `|` between them.
    """
    for key, cases in _choices(node):
        if key in node.needed and not key[0]:
            yield "|".join(name for case in cases for name in case)
    for name, child in sorted(node.children.items()):
        if child.state or child.cases:
            continue
        if child.kind == "leaf" and child.statement.first("mandatory") == "true":
            yield name
        elif child.kind == "container" and not child.presence:
            yield from (f"{name}/{leaf}" for leaf in _needed(child))


def _leaves(node: SchemaNode, argument: str) -> Iterator[str]:
    """The leaves that `unique` names, by their paths from the list, without choices and cases."""
    for words in plain_xpath(argument).split():
        at, steps = node, []
        for step in words.split("/"):
            if step in at.children:
                at = at.children[step]
                steps.append(step)
        yield "/".join(steps)


def _choices(node: SchemaNode) -> Iterator[tuple[tuple[tuple[Case, ...], str], list[list[str]]]]:
    """The choices below a node, each with the names of the nodes of its cases. Of one in a case, that case first."""
    found: dict[tuple[tuple[Case, ...], str], dict[str, list[str]]] = {}
    for name, child in sorted(node.children.items()):
        for depth, (choice, case) in enumerate(child.cases if not child.state else ()):
            found.setdefault((child.cases[:depth], choice), {}).setdefault(case, []).append(name)
    yield from ((key, list(cases.values())) for key, cases in found.items())


def _gates(must: Statement) -> Iterator[str]:
    """The expressions of Nokia's extension `if-feature` of a constraint."""
    return (found.argument for found in must.below if found.keyword.endswith(GATE))


def _modules(node: SchemaNode, path: str) -> Iterator[tuple[str, str]]:
    """The module of each node whose namespace is not that of its parent."""
    for name, child in sorted(node.children.items()):
        place = f"{path}/{name}"
        if child.module != node.module:
            yield place, child.module
        yield from _modules(child, place)


def plain_xpath(expression: str) -> str:
    """An expression without prefixes and needless spaces."""
    parts = QUOTED.split(" ".join(expression.split()))
    return "".join(part if part[:1] in ("'", '"') else NAME_PREFIX.sub("", part) for part in parts)


def compact(archive: Path) -> dict[str, Any]:
    """The compact schema of the models in Nokia's archive."""
    texts = dict(_texts(archive))
    features = {name for name in FEATURE.findall(texts["srl_nokia-features.yang"]) if not NOT_7220.fullmatch(name)}
    modules = Modules(texts.values(), features.__contains__, lambda name: name.startswith("srl_nokia"))
    return Compact(modules, features).document()


def _texts(archive: Path) -> Iterator[tuple[str, str]]:
    """Every module of the archive but those of `tools` commands, by file name."""
    with tarfile.open(archive) as packed:
        for member in packed:
            name = Path(member.name).name
            if (
                name.endswith(".yang")
                and not name.startswith("srl_nokia-tools")
                and (file := packed.extractfile(member))
            ):
                yield name, file.read().decode()


def text(document: dict[str, Any]) -> str:
    """The document as text: one line for each type, rule, constrained path, and child of a container at the top."""
    types, rules, identities = (_lines(document[name]) for name in ("types", "rules", "identities"))
    tops = ",\n".join(f"{json.dumps(name)}:{_top(node)}" for name, node in document["nodes"].items())
    tables = "".join(f'"{name}":{_top(document[name])},\n' for name in TABLES)
    lists = f'"types":[\n{types}\n],\n"rules":[\n{rules}\n],\n"identities":[\n{identities}\n],\n'
    return f'{{{lists}{tables}"nodes":{{\n{tops}\n}}}}\n'


def _lines(entries: Iterable[Any]) -> str:
    return ",\n".join(json.dumps(one, sort_keys=True, separators=(",", ":")) for one in entries)


def _top(node: Any) -> str:
    if not isinstance(node, dict):
        return json.dumps(node)
    rows = ",\n".join(f" {json.dumps(name)}:{json.dumps(child, separators=(',', ':'))}" for name, child in node.items())
    return f"{{\n{rows}}}"


TABLES = ("must", "mandatory", "entries", "unique", "choices", "identity", "modules")
"""Parts of the document that are by path."""


def main() -> None:
    archive = Path(os.environ.get("RAILFAB_ORACLES", ROOT.parent / "shared" / "oracles")) / ARCHIVE
    FILE.write_text(text(compact(archive)))


if __name__ == "__main__":
    main()
