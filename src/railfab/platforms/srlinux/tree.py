"""SR Linux configuration as a tree: JSON (RFC 7951), and the same as flat CLI lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from railfab.platforms.shared import json_tree
from railfab.platforms.shared.json_tree import Json, is_list, leaf_text
from railfab.platforms.srlinux.flat import WHAT, is_flat, tree_of_lines
from railfab.platforms.srlinux.schema import schema

CONFIG = {
    "interface": "srl_nokia-interfaces:interface",
    "network-instance": "srl_nokia-network-instance:network-instance",
    "routing-policy": "srl_nokia-routing-policy:routing-policy",
    "bfd": "srl_nokia-bfd:bfd",
    "qos": "srl_nokia-qos:qos",
    "tunnel-interface": "srl_nokia-tunnel-interfaces:tunnel-interface",
    "system": "srl_nokia-system:system",
}
"""Top-level containers that railfab writes, by bare name, with their YANG module."""

SYSTEM = {
    "name": "srl_nokia-system-name:name",
    "lldp": "srl_nokia-lldp:lldp",
    "load-balancing": "srl_nokia-load-balancing:load-balancing",
    "network-instance": "srl_nokia-system-network-instance:network-instance",
    "maintenance": "srl_nokia-maintenance-mode:maintenance",
    "ntp": "srl_nokia-ntp:ntp",
    "logging": "srl_nokia-logging:logging",
    "aaa": "srl_nokia-aaa:aaa",
    "banner": "srl_nokia-system-banner:banner",
    "grpc-server": "srl_nokia-grpc:grpc-server",
}
"""Containers of `/system` that railfab writes, likewise."""

KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "interface": (("name",), ("interface-id",), ("interface-name",), ("ethernet-interface",)),
    "subinterface": (("index",), ("id",)),
    "address": (("ip-prefix",),),
    "network-instance": (("name",),),
    "vxlan-interface": (("index",), ("name",)),
    "bgp-instance": (("id",),),
    "ethernet-segment": (("name",),),
    "tunnel-interface": (("name",),),
    "route": (("prefix",),),
    "afi-safi": (("afi-safi-name",),),
    "group": (("group-name",), ("name",)),
    "profile": (("name",),),
    "neighbor": (("peer-address",), ("id",)),
    "prefix-set": (("name",),),
    "prefix": (("ip-prefix", "mask-length-range"),),
    "community-set": (("name",),),
    "as-path-set": (("name",),),
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
    "server": (("address",),),
    "remote-server": (("host",),),
    "facility": (("facility-name",),),
    "server-group": (("name",),),
    "grpc-server": (("name",),),
    "advertise": (("route-type",),),
}
"""Key leaves of every list that railfab writes, by list name; several sets where lists share a name."""

_USUAL_KEYS = ("name", "id", "index", "value", "sequence-id")
"""Keys by which an entry of any other list is shown."""

_IDENTITY = re.compile(r"^(?:srl_nokia|openconfig)-[\w-]+:(?=[A-Za-z_])")
_PLAIN = re.compile(r"[\w./:%+-]+")


def tree_of(text: str) -> Json:
    """The tree of a configuration text, JSON or lines as `info flat` prints them. Raises ConfigError."""
    return tree_of_lines(text) if is_flat(text) else json_tree.tree_of(text, WHAT)


def stripped(value: Any) -> Any:
    """The tree without module prefixes in names and identities: `bgp`, not `srl_nokia-bgp:bgp`."""
    return json_tree.stripped(value, _IDENTITY)


@lru_cache(maxsize=32)
def read_tree(text: str) -> Json:
    """The tree of a configuration text, to be read and not changed: several switches at a time read theirs often.

    Raises ConfigError.
    """
    return tree_of(text)


@lru_cache(maxsize=4)
def plain_tree(text: str) -> Json:
    """The tree of a configuration text without module prefixes, to be read and not changed. Raises ConfigError."""
    tree: Json = stripped(tree_of(text))
    return tree


def keys_of(name: str, entry: Json) -> tuple[str, ...]:
    """Names of the key leaves of a list entry; a likely one for a list that railfab does not write, or none."""
    known = KEYS.get(name) or tuple((key,) for key in _USUAL_KEYS)
    return next((keys for keys in known if all(key in entry for key in keys)), ())


def entry_keys(name: str, entry: Json) -> tuple[str, ...]:
    """The keys of an entry of a list, also of one that railfab does not write, by the schema."""
    known = keys_of(name, entry)
    return known or next((keys for keys in schema().lists.get(name, ()) if all(key in entry for key in keys)), ())


def lines(tree: Json) -> list[str]:
    """The tree as `set / ...` lines, the format of `diff flat` and of a `.cli` startup file, in the tree's order."""
    return _plain_lines(stripped(tree))


def _plain_lines(tree: Json) -> list[str]:
    return _lines("set /", tree)


def startup(tree: Json) -> str:
    """The tree as a CLI file, applied to the factory configuration at boot."""
    return "\n".join(lines(tree)) + "\n"


def difference(old: Json, new: Json) -> str:
    """Unified diff of two trees as flat CLI lines; empty when they are equal."""
    before, after = stripped(old), stripped(new)
    return "" if before == after else json_tree.changed_lines(_plain_lines(before), _plain_lines(after))


def beyond(tree: Json, part: Json) -> Json:
    """The members and list entries of a tree that a part of it lacks."""
    more: Json = {}
    for name, child in tree.items():
        counterpart = part.get(name)
        if child == counterpart:
            continue
        if isinstance(child, dict) and isinstance(counterpart, dict):
            more[name] = beyond(child, counterpart)
        elif isinstance(counterpart, list) and is_list(child):
            more[name] = [*_entries_beyond(name, child, counterpart)]
        else:
            more[name] = child
    return {name: child for name, child in more.items() if child not in ({}, []) or name not in part}


def _entries_beyond(name: str, entries: list[Json], expected: list[Json]) -> Iterator[Json]:
    """The entries of a list beyond its own ones; of an entry that has more than the own one, its keys and that."""
    known = {key_words(entry, keys_of(name, entry)): entry for entry in expected if isinstance(entry, dict)}
    for entry in entries:
        keys = keys_of(name, entry)
        part = known.get(key_words(entry, keys)) if keys else None
        if part is None:
            if entry not in expected:
                yield entry
        elif more := beyond(entry, part):
            yield {key: entry[key] for key in keys} | more


def deviations(configuration: Json, rendering: Json) -> list[str]:
    """Lines that turn one tree into another: what the configuration sets otherwise, and what it lacks, sorted.

    Both trees are without module prefixes. Numbers may be text, and the order of a list has no meaning.
    """
    return sorted(f"{verb} /{line}" for verb, line in _deviations("", configuration, rendering))


def _deviations(path: str, configured: Json, wanted: Json) -> Iterator[tuple[str, str]]:
    if configured == wanted:
        return
    for name, child in configured.items():
        if name not in wanted:
            yield from (("set", line) for line in _member(path, name, child))
        elif child != wanted[name]:
            yield from _different_members(path, name, child, wanted[name])
    yield from (("delete", f"{path} {name}") for name in wanted if name not in configured)


def _different_members(path: str, name: str, configured: Any, wanted: Any) -> Iterator[tuple[str, str]]:
    if isinstance(configured, dict) and isinstance(wanted, dict):
        yield from _deviations(f"{path} {name}", configured, wanted)
    elif isinstance(configured, list) and is_list(wanted) and (not configured or is_list(configured)):
        yield from _different_entries(path, name, configured, wanted)
    else:
        lines = _member(path, name, configured)
        if lines != _member(path, name, wanted):
            yield from (("set", line) for line in lines)


def _different_entries(path: str, name: str, configured: list[Json], wanted: list[Json]) -> Iterator[tuple[str, str]]:
    expected = {_entry_path(path, name, entry): entry for entry in wanted}
    for entry in configured:
        place = _entry_path(path, name, entry)
        counterpart = expected.pop(place, None)
        if counterpart is None:
            yield from (("set", line) for line in _lines(place, entry, keys_of(name, entry)))
        elif entry != counterpart:
            keys = keys_of(name, entry)
            rest = {leaf: value for leaf, value in entry.items() if leaf not in keys}
            yield from _deviations(place, rest, {leaf: counterpart[leaf] for leaf in counterpart if leaf not in keys})
    yield from (("delete", place) for place in expected)


def _lines(path: str, node: Json, keys: tuple[str, ...] = ()) -> list[str]:
    """Lines of a container or a list entry."""
    lines: list[str] = []
    _add_lines(lines, path, node, keys)
    return lines


def _add_lines(lines: list[str], path: str, node: Json, keys: tuple[str, ...] = ()) -> None:
    names = [name for name in node if name not in keys] if keys else [*node]
    if not names:
        lines.append(path)
    for name in sorted(names):
        _add_member(lines, path, name, node[name])


def _member(path: str, name: str, child: Any) -> list[str]:
    """Lines of one member of a container: a container, a list, a leaf-list or a leaf."""
    lines: list[str] = []
    _add_member(lines, path, name, child)
    return lines


def _add_member(lines: list[str], path: str, name: str, child: Any) -> None:
    if isinstance(child, dict):
        _add_lines(lines, f"{path} {name}", child)
    elif is_list(child):
        for entry in child:
            keys = keys_of(name, entry)
            _add_lines(lines, f"{path} {name} {key_words(entry, keys)}".rstrip(), entry, keys)
    else:
        lines.append(f"{path} {name} {cli_value(child)}")


def _entry_path(path: str, name: str, entry: Json) -> str:
    """The first key without its name, the others with theirs: `prefix 10.0.0.0/8 mask-length-range 8..32`."""
    return f"{path} {name} {key_words(entry, keys_of(name, entry))}".rstrip()


def key_words(entry: Json, keys: Sequence[str]) -> str:
    """The keys of a list entry in CLI syntax; `?` for one that it lacks."""
    words = (cli_word(entry.get(key, "?")) for key in keys)
    return " ".join(word if index == 0 else f"{keys[index]} {word}" for index, word in enumerate(words))


def cli_value(value: Any) -> str:
    """A leaf or leaf-list in CLI syntax."""
    return f"[ {' '.join(map(cli_word, value))} ]" if isinstance(value, list) else cli_word(value)


def cli_word(value: Any) -> str:
    """One value in CLI syntax, quoted where needed."""
    word = leaf_text(value)
    return word if _PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=False)
