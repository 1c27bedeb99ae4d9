"""SR Linux configuration as a tree: JSON as in RFC 7951, and the same as the lines that its CLI takes."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

from railfab.errors import ConfigError

Json = dict[str, Any]

CONFIG = {
    "interface": "srl_nokia-interfaces:interface",
    "network-instance": "srl_nokia-network-instance:network-instance",
    "routing-policy": "srl_nokia-routing-policy:routing-policy",
    "bfd": "srl_nokia-bfd:bfd",
    "qos": "srl_nokia-qos:qos",
    "system": "srl_nokia-system:system",
}
"""The top of the tree: every container that railfab writes into, with its module."""

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
"""Keys of every list that railfab writes, by the list's name; where a name serves several lists, the one that fits."""

_PREFIX = re.compile(r"^[A-Za-z_][\w.-]*:(?=[A-Za-z_])")
_IDENTITY = re.compile(r"^srl_nokia-[\w-]+:(?=[A-Za-z_])")
_PLAIN = re.compile(r"[\w./:%+-]+")


def text(tree: Json) -> str:
    """The tree as JSON, one canonical text for equal trees: members sorted, lists in their order."""
    return json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def tree_of(text: str) -> Json:
    """The tree of a configuration text. Raises ConfigError."""
    try:
        tree = json.loads(text)
    except ValueError as error:
        raise ConfigError("SR Linux configuration", f"is not JSON ({error})", "Give it as JSON") from None
    if not isinstance(tree, dict):
        raise ConfigError("SR Linux configuration", "is not a JSON object", "Give the whole tree as one object")
    return tree


def stripped(value: Any) -> Any:
    """The tree without module prefixes, neither in names nor in identities: `bgp`, not `srl_nokia-bgp:bgp`."""
    if isinstance(value, dict):
        return {_PREFIX.sub("", name): stripped(child) for name, child in value.items()}
    if isinstance(value, list):
        return [stripped(child) for child in value]
    return _IDENTITY.sub("", value) if isinstance(value, str) else value


def bare(name: str) -> str:
    """A name without its module prefix."""
    return name.rpartition(":")[2]


def keys_of(name: str, entry: Json) -> tuple[str, ...]:
    """The names of the keys of a list entry; none when the list is not one of ours."""
    return next((keys for keys in KEYS.get(name, ()) if all(key in entry for key in keys)), ())


def lines(tree: Json) -> list[str]:
    """The tree as `set / ...` lines, which `diff flat` and a `.cli` startup file speak, in the tree's order."""
    return [f"set /{line}" for line in _lines("", stripped(tree))]


def startup(tree: Json) -> str:
    """The tree as a CLI file that is laid over the factory configuration at boot."""
    return "\n".join(lines(tree)) + "\n"


def difference(old: str, new: str) -> str:
    """What changes between two configuration texts, as unified lines of the flat form; empty when nothing does."""
    before, after = (sorted(lines(tree_of(side))) for side in (old, new))
    changes = difflib.unified_diff(before, after, "running", "candidate", lineterm="", n=0)
    return "\n".join(line for line in changes if not line.startswith("@@"))


def _lines(place: str, node: Json, keys: tuple[str, ...] = ()) -> Iterator[str]:
    rest = {name: child for name, child in node.items() if name not in keys}
    if not rest:
        yield place
    for name, child in sorted(rest.items()):
        if isinstance(child, dict):
            yield from _lines(f"{place} {name}", child)
        elif isinstance(child, list) and child and all(isinstance(entry, dict) for entry in child):
            yield from _entries(place, name, child)
        elif isinstance(child, list):
            yield f"{place} {name} [ {' '.join(map(_word, child))} ]"
        else:
            yield f"{place} {name} {_word(child)}"


def _entries(place: str, name: str, entries: list[Json]) -> Iterator[str]:
    """The first key stands bare, the others behind their names: `prefix 10.0.0.0/8 mask-length-range 8..32`."""
    for entry in entries:
        keys = keys_of(name, entry)
        bare = " ".join(
            _word(entry[key]) if index == 0 else f"{key} {_word(entry[key])}" for index, key in enumerate(keys)
        )
        yield from _lines(f"{place} {name} {bare}".rstrip(), entry, keys)


def _word(value: Any) -> str:
    """One value as the CLI takes it: quoted unless it is plain."""
    if isinstance(value, bool):
        return str(value).lower()
    word = str(value)
    return word if _PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=False)
