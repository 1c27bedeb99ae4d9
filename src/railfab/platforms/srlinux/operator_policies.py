"""The entries of `/routing-policy` that the operator's maintenance profiles need: policies, and the sets of these.

SR Linux refuses to delete them while a profile names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from railfab.platforms.shared.json_tree import Json, bare, is_list, member_of
from railfab.platforms.srlinux.drain import DRAIN

Entry = tuple[str, str]
"""The list of `/routing-policy` and the name of an entry."""

REFERENCES = {
    **dict.fromkeys(("import-policy", "export-policy", "call-policy"), ("policy",)),
    **dict.fromkeys(("route-table-import", "eligible-prefix-policy"), ("policy",)),
    **dict.fromkeys(("community-set", "add", "remove", "replace"), ("community-set",)),
    **dict.fromkeys(("tag-set", "set-tag-set"), ("tag-set",)),
    **{name: (name,) for name in ("prefix-set", "as-path-set", "extended-community-set", "standard-community-set")},
    "referenced-sets": ("extended-community-set", "standard-community-set"),
}
"""Leaves that name an entry, and the lists that have it (leafrefs of srl_nokia-routing-policy and srl_nokia-bgp)."""


def entries_of(tree: Json) -> frozenset[Entry]:
    """Every entry of `/routing-policy`."""
    return frozenset(_entries(member_of(tree, "routing-policy", {})))


def operator_entries(tree: Json) -> frozenset[Entry]:
    """The entries that profiles other than that of a drain need."""
    return _needed(tree, [profile for profile in _profiles(tree) if profile.get("name") != DRAIN])


def entries_in_use(tree: Json) -> frozenset[Entry]:
    """The entries that network instances and the profile of a drain need."""
    of_drain = [profile for profile in _profiles(tree) if profile.get("name") == DRAIN]
    return _needed(tree, [*of_drain, member_of(tree, "network-instance", {})])


def without_entries(policies: Any, left: Collection[Entry]) -> Any:
    """`/routing-policy` without these entries, and without the lists that become empty."""
    if not left or not isinstance(policies, dict):
        return policies
    kept = {name: _without(name, entries, left) for name, entries in policies.items()}
    return {name: entries for name, entries in kept.items() if entries or not policies[name]}


def _without(name: str, entries: Any, left: Collection[Entry]) -> Any:
    if not is_list(entries):
        return entries
    return [entry for entry in entries if (bare(name), str(entry.get("name"))) not in left]


def _needed(tree: Json, users: list[Any]) -> frozenset[Entry]:
    """The entries that these parts of a tree name, and those that the policies among them name."""
    entries = _entries(member_of(tree, "routing-policy", {}))
    needed: set[Entry] = set()
    new = set(_references(users))
    while new := (new & entries.keys()) - needed:
        needed |= new
        new = set(_references([entries[entry] for entry in new]))
    return frozenset(needed)


def _references(node: Any, leaf: str = "") -> Iterator[Entry]:
    """Entries to which the leaves below a node, or a leaf of this name, refer."""
    if isinstance(node, dict):
        for name, child in node.items():
            yield from _references(child, bare(name))
    elif isinstance(node, list):
        for member in node:
            yield from _references(member, leaf)
    else:
        yield from ((kind, str(node)) for kind in REFERENCES.get(leaf, ()))


def _entries(policies: Any) -> dict[Entry, Json]:
    lists = policies.items() if isinstance(policies, dict) else ()
    return {
        (bare(kind), str(entry["name"])): entry
        for kind, entries in lists
        if is_list(entries)
        for entry in entries
        if "name" in entry
    }


def _profiles(tree: Json) -> list[Json]:
    profiles = member_of(member_of(member_of(tree, "system", {}), "maintenance", {}), "profile", [])
    return profiles if is_list(profiles) else []
