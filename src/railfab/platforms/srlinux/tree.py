"""SR Linux configuration as a tree: JSON (RFC 7951), and the same as flat CLI lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from railfab.platforms.shared import json_tree
from railfab.platforms.shared.json_tree import Json

CONFIG = {
    "interface": "srl_nokia-interfaces:interface",
    "network-instance": "srl_nokia-network-instance:network-instance",
    "routing-policy": "srl_nokia-routing-policy:routing-policy",
    "bfd": "srl_nokia-bfd:bfd",
    "qos": "srl_nokia-qos:qos",
    "system": "srl_nokia-system:system",
}
"""Top-level containers that railfab writes, by bare name, with their YANG module."""

KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "interface": (("name",), ("interface-id",), ("interface-name",)),
    "subinterface": (("index",), ("id",)),
    "address": (("ip-prefix",),),
    "network-instance": (("name",),),
    "afi-safi": (("afi-safi-name",),),
    "group": (("group-name",),),
    "neighbor": (("peer-address",), ("id",)),
    "prefix-set": (("name",),),
    "prefix": (("ip-prefix", "mask-length-range"),),
    "policy": (("name",),),
    "statement": (("name",),),
    "queue": (("name",), ("queue-name",)),
    "pfc-queue": (("pfc-queue-name",),),
    "forwarding-class": (("name",),),
    "pfc-mapping-profile": (("name",),),
    "dscp-policy": (("name",),),
    "dscp": (("value",),),
    "scheduler-policy": (("name",),),
    "scheduler": (("sequence",),),
    "input": (("id",),),
    "queue-management-profile": (("name",),),
    "wred-slope": (("traffic-type", "drop-probability", "enable-ecn"),),
    "buffer-allocation-profile": (("name",),),
    "linecard": (("slot",),),
    "forwarding-complex": (("name",),),
}
"""Key leaves of every list that railfab writes, by list name; several sets where lists share a name."""

_IDENTITY = re.compile(r"^srl_nokia-[\w-]+:(?=[A-Za-z_])")
_PLAIN = re.compile(r"[\w./:%+-]+")


def tree_of(text: str) -> Json:
    """The tree of a configuration text. Raises ConfigError."""
    return json_tree.tree_of(text, "SR Linux configuration")


def stripped(value: Any) -> Any:
    """The tree without module prefixes in names and identities: `bgp`, not `srl_nokia-bgp:bgp`."""
    return json_tree.stripped(value, _IDENTITY)


def keys_of(name: str, entry: Json) -> tuple[str, ...]:
    """Names of the key leaves of a list entry; none for a list that railfab does not write."""
    return next((keys for keys in KEYS.get(name, ()) if all(key in entry for key in keys)), ())


def lines(tree: Json) -> list[str]:
    """The tree as `set / ...` lines, the format of `diff flat` and of a `.cli` startup file, in the tree's order."""
    return [f"set /{line}" for line in _lines("", stripped(tree))]


def startup(tree: Json) -> str:
    """The tree as a CLI file, applied to the factory configuration at boot."""
    return "\n".join(lines(tree)) + "\n"


def difference(old: str, new: str) -> str:
    """Unified diff of two configuration texts as flat CLI lines; empty when they are equal."""
    return json_tree.changed_lines(*(lines(tree_of(side)) for side in (old, new)))


def _lines(path: str, node: Json, keys: tuple[str, ...] = ()) -> Iterator[str]:
    rest = {name: child for name, child in node.items() if name not in keys}
    if not rest:
        yield path
    for name, child in sorted(rest.items()):
        if isinstance(child, dict):
            yield from _lines(f"{path} {name}", child)
        elif isinstance(child, list) and child and all(isinstance(entry, dict) for entry in child):
            yield from _entries(path, name, child)
        elif isinstance(child, list):
            yield f"{path} {name} [ {' '.join(map(_word, child))} ]"
        else:
            yield f"{path} {name} {_word(child)}"


def _entries(path: str, name: str, entries: list[Json]) -> Iterator[str]:
    """The first key without its name, the others with theirs: `prefix 10.0.0.0/8 mask-length-range 8..32`."""
    for entry in entries:
        keys = keys_of(name, entry)
        bare = " ".join(
            _word(entry[key]) if index == 0 else f"{key} {_word(entry[key])}" for index, key in enumerate(keys)
        )
        yield from _lines(f"{path} {name} {bare}".rstrip(), entry, keys)


def _word(value: Any) -> str:
    """One value in CLI syntax, quoted where needed."""
    if isinstance(value, bool):
        return str(value).lower()
    word = str(value)
    return word if _PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=False)
