"""Telemetry maps against the models that vendors publish: paths, keys, types and states."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracles import srlinux
from tests.oracles.yang import INTEGERS, Modules, SchemaNode, Type

from railfab.gnmi.paths import Element, elements
from railfab.platforms import TelemetryRule
from railfab.platforms.telemetry_map import PLACEHOLDER

OPENCONFIG = "openconfig-2026-07.tar.xz"
ARISTA = "arista-yang-4.36.1F.tar.xz"
"""OpenConfig's models as EOS loads them, with Arista's augments, and deviations for what EOS does not support."""
CISCO = "nxos-yang-10.6-3.tar.xz"
"""OpenConfig's models as NX-OS 10.6(3) serves them, with deviations, and the native one of 9.3(2)."""

SHOWN = 12
"""Names that a message lists at most."""

TYPES = {
    "uint64": {"uint64", "int64"},
    "uint32": {"uint8", "uint16", "uint32", "int8", "int16", "int32"},
    "decimal": {"decimal64", "ieeefloat32"},
    "string": {"string", "enumeration", "identityref", "boolean"},
    "timestamp": {"string", "uint64"},
}
"""YANG types of each encoding of a telemetry rule. `timestamp`: RFC 3339, or OpenConfig's timeticks64 [ns]."""

LABELS = TYPES["string"] | TYPES["uint32"] | TYPES["uint64"]
"""YANG types of leaves that carry labels."""


@dataclass(frozen=True, slots=True)
class VendorModels:
    """archive: of the models among the oracles. modules: reads it. origins: of the paths that they have."""

    archive: str
    modules: Callable[[Path], Modules]
    origins: tuple[str, ...] = ("", "openconfig")


def _texts(archive: Path) -> Iterator[str]:
    with tarfile.open(archive) as packed:
        for member in packed:
            if member.name.endswith(".yang") and (file := packed.extractfile(member)):
                yield file.read().decode()


def _all(archive: Path) -> Modules:
    """Every module, with every feature."""
    return Modules(_texts(archive), lambda feature: True, lambda module: True)


def _nokia(archive: Path) -> Modules:
    """Nokia's modules with the features of a 7220."""
    texts = list(_texts(archive))
    declared = next(text for text in texts if "module srl_nokia-features {" in text)
    features = {name for name in srlinux.FEATURE.findall(declared) if not srlinux.NOT_7220.fullmatch(name)}
    return Modules(texts, features.__contains__, lambda module: module.startswith("srl_nokia"))


VENDOR_MODELS = {
    "eos": VendorModels(ARISTA, _all),
    "frr": VendorModels(OPENCONFIG, _all),  # FRR's paths are those of railfab's own agent, which serves OpenConfig's
    "nxos": VendorModels(CISCO, _all, ("", "openconfig", "device")),
    "srlinux": VendorModels(srlinux.ARCHIVE, _nokia),
}
"""By platform. Of the others no model of their state is published, so none of their paths can be verified."""


class NotModelled(Exception):
    """A path, key, type or state that the models do not have, with what they have instead."""


class TelemetryPaths:
    """The paths of a vendor's models."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def check_rule(self, rule: TelemetryRule) -> None:
        """Raise NotModelled for the path of a rule, its keys, type, states, and its leaves of labels."""
        place = rule.path.rpartition("/")[0]
        parents = self._nodes(elements(place))
        for name in rule.from_leaf or ():
            self._check_type(_children(parents, Element(name), place)[0], LABELS)
        leaf = _children(parents, elements(rule.path)[-1], place)[0]
        self._check_type(leaf, TYPES[rule.encoding])
        if rule.states:
            self._check_states(leaf, set(rule.states))

    def check_subscription(self, path: str) -> None:
        """Raise NotModelled for a path that is subscribed to, and for its keys."""
        self._nodes(elements(path))

    def check_leaf(self, steps: tuple[Element, ...], value: Any) -> None:
        """Raise NotModelled for a leaf that a switch serves, for its value and for those of its keys."""
        nodes, place = [self._modules.tree], ""
        for step in steps:
            nodes = _children(nodes, step, place or "/")
            place += f"/{step.name}"
            for name, text in step.keys:
                self._check_value(nodes[0].children[name], text)
        self._check_value(nodes[0], value)

    def _check_value(self, leaf: SchemaNode, value: Any) -> None:
        if leaf.kind not in ("leaf", "leaf-list"):
            raise NotModelled(f"`{leaf.name}` is a {leaf.kind}, which carries no value")
        if leaf.kind == "leaf-list" and isinstance(value, list):
            for entry in value:
                self._check_value(leaf, entry)
            return
        known = self._modules.type_of(leaf)
        if not any(_has(member, value) for member in value_types(known)):
            raise NotModelled(f"`{leaf.name}` is {value!r}, which is no {known.alias or known.name}")

    def _nodes(self, steps: tuple[Element, ...]) -> list[SchemaNode]:
        """The nodes at a path, whose names may have placeholders."""
        nodes, place = [self._modules.tree], ""
        for step in steps:
            nodes = _children(nodes, step, place or "/")
            place += f"/{step.name}"
        return nodes

    def _check_states(self, leaf: SchemaNode, states: set[str]) -> None:
        """Raise NotModelled for states that a leaf does not have, and for values of an enumeration without a state."""
        found = self._modules.type_of(leaf)
        known = set(names_of(found))
        if unknown := states - known:
            raise NotModelled(f"`{leaf.name}` has no value {', '.join(sorted(unknown))}, but {_listed(known)}")
        if found.name == "enumeration" and known - states:
            raise NotModelled(f"`{leaf.name}` can also be {', '.join(sorted(known - states))}")

    def _check_type(self, leaf: SchemaNode, types: set[str]) -> None:
        if leaf.kind not in ("leaf", "leaf-list"):
            raise NotModelled(f"`{leaf.name}` is a {leaf.kind}, which carries no value")
        found = set(type_names(self._modules.type_of(leaf)))
        if not found & types:
            raise NotModelled(f"`{leaf.name}` has type {', '.join(sorted(found))}")


def _children(parents: list[SchemaNode], step: Element, place: str) -> list[SchemaNode]:
    """The nodes of a step below others, at least one. place: path of the others, for a message."""
    pattern = re.compile(".+".join(map(re.escape, PLACEHOLDER.split(step.name)[::4])))
    found = [child for parent in parents for name, child in parent.children.items() if pattern.fullmatch(name)]
    for parent in () if found else parents:
        if step.name in parent.unsupported:
            raise NotModelled(f"{parent.unsupported[step.name]} marks `{step.name}` as not supported")
    if not found:
        names = set().union(*(parent.children for parent in parents))
        raise NotModelled(f"{place} has no `{step.name}`, but {_listed(names)}")
    keys = tuple(name for name, _ in step.keys)
    if wrong := next((one for one in found if set(one.keys) != set(keys)), None):
        raise NotModelled(f"`{wrong.name}` has the keys [{' '.join(wrong.keys)}], not [{' '.join(keys)}]")
    return found


def value_types(found: Type) -> Iterator[Type]:
    """The type itself; of a union those of its members."""
    if found.members:
        for member in found.members:
            yield from value_types(member)
    else:
        yield found


def _has(known: Type, value: Any) -> bool:
    """Whether a type has a value, a number in the text of a key or in JSON_IETF included. Targets are not followed."""
    if known.name in INTEGERS:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else value
        return type(number) is int and any(low <= number <= high for low, high in known.ranges)
    if known.name == "decimal64":
        return isinstance(value, float | int) or bool(re.fullmatch(r"-?\d+(?:\.\d+)?", str(value)))
    if known.name == "boolean":
        return value in (True, False, "true", "false")
    if known.name in ("enumeration", "identityref"):
        return str(value).rpartition(":")[2] in known.names
    if known.name == "string":
        lengths = not known.lengths or any(low <= len(str(value)) <= high for low, high in known.lengths)
        return isinstance(value, str) and lengths and all(_matches(value, *pattern) for pattern in known.patterns)
    return True


def _matches(value: str, pattern: str, wanted: bool) -> bool:
    """Whether a text matches a pattern of XML Schema, whose classes by Unicode property Python does not know."""
    plain = re.sub(r"\\p\{[NL]\}", r"\\w", pattern)
    return (re.fullmatch(plain, value) is not None) is wanted


def _listed(names: Collection[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(sorted(names)[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def type_names(found: Type) -> Iterator[str]:
    """The built-in types of a type, those of its members for a union, and the name of the typedef."""
    yield found.name
    if found.alias:
        yield found.alias
    for member in found.members:
        yield from type_names(member)


def names_of(found: Type) -> Iterator[str]:
    """Every value of an enumeration, identity or truth value that a type has."""
    yield from found.names
    if found.name == "boolean":
        yield from ("true", "false")
    for member in found.members:
        yield from names_of(member)
