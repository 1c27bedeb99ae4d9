"""The drain of a switch by a verb: that of a drained model, and an empty maintenance group that says who made it.

The group has a name of the operator's, so that deploys leave it alone; it is never in maintenance mode.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from railfab.platforms.shared.json_tree import Json, bare, is_list, member_of
from railfab.platforms.srlinux.drain import DRAIN, is_in_maintenance

MARK = "drained-by-operator"
"""Name of the empty maintenance group."""
MARK_PATH = f"/system/maintenance/group[name={MARK}]"


def is_drained_by_verb(tree: Json) -> bool:
    """Whether a verb has drained the switch, and the drain is in effect."""
    return is_in_maintenance(tree, DRAIN) and any(entry.get("name") == MARK for entry in _groups(tree))


def with_drain(tree: Json) -> Json:
    """A configuration with the drain of all its BGP sessions; without sessions it stays as it is."""
    from railfab.platforms.srlinux.parse import parse_tree
    from railfab.platforms.srlinux.render import render

    rendered = render(replace(parse_tree(tree), drain=True, unmodelled=()))
    return _merged(tree, _only_drain(rendered))


def without_drain(tree: Json) -> Json:
    """A configuration without the drain."""
    return {name: _without(child) if bare(name) in PLACES else child for name, child in tree.items()}


PLACES = ("system", "routing-policy")
"""Sections with entries of a drain."""


def _groups(tree: Json) -> list[Json]:
    groups = member_of(member_of(member_of(tree, "system", {}), "maintenance", {}), "group", [])
    return groups if is_list(groups) else []


def _only_drain(node: Json) -> Json:
    """The entries of a drain, in their lists and containers."""
    parts = ((name, _part(child)) for name, child in node.items())
    return {name: part for name, part in parts if part}


def _part(child: Any) -> Any:
    if isinstance(child, dict):
        return _only_drain(child)
    return [entry for entry in child if entry.get("name") == DRAIN] if is_list(child) else None


def _without(node: Any) -> Any:
    """A section without the entries of a drain, and without the lists that become empty."""
    if isinstance(node, dict):
        parts = ((name, child, _without(child)) for name, child in node.items())
        return {name: part for name, child, part in parts if part or not child}
    return [entry for entry in node if entry.get("name") != DRAIN] if is_list(node) else node


def _merged(tree: Json, more: Json) -> Json:
    """A tree with the entries of another one, whatever module prefixes it has."""
    names = {bare(name): name for name in tree}
    changed = {names.get(bare(name), name): child for name, child in more.items()}
    return tree | {name: _joined(tree.get(name), child) for name, child in changed.items()}


def _joined(before: Any, more: Any) -> Any:
    if isinstance(more, dict):
        return _merged(before or {}, more)
    named = {entry["name"] for entry in more}
    return [*(entry for entry in before or [] if entry.get("name") not in named), *more]
