"""Settings of BGP that groups have from the instance and neighbors from their group, at the level of another
configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from railfab.platforms.shared.json_tree import Json, is_list
from railfab.platforms.srlinux.tree import cli_value, keys_of

INHERITED = (
    *("import-policy", "export-policy", "peer-as", "next-hop-self", "local-preference"),
    *("timers", "failure-detection", "afi-safi"),
)
"""Leaves and containers that a neighbor has from its group where it states none, and a group from the instance."""

GROUP, NEIGHBOR = ("group", "group-name"), ("neighbor", "peer-address")
"""The lists of a speaker with their keys."""

Step = str | tuple[str, str, str]
"""A name; of a list, its name, the key leaf and the key."""
Place = tuple[Step, ...]


def with_levels_of(configured: Json, wanted: Json) -> Json:
    """The tree with each inherited setting at the level at which the other tree has it; the same one without such.

    No session has another setting in effect. Both trees are without module prefixes.
    """
    speakers = {str(entry.get("name")): _bgp(entry) for entry in _entries(wanted, "network-instance")}
    instances = _entries(configured, "network-instance")
    changed = [_with_bgp(entry, _placed(_bgp(entry), speakers.get(str(entry.get("name")), {}))) for entry in instances]
    return configured if changed == instances else configured | {"network-instance": changed}


def _entries(node: Json, name: str) -> list[Json]:
    listed = node.get(name)
    return listed if listed and is_list(listed) else []


def _bgp(instance: Json) -> Json:
    protocols = instance.get("protocols")
    speaker = protocols.get("bgp") if isinstance(protocols, dict) else None
    return speaker if isinstance(speaker, dict) else {}


def _with_bgp(instance: Json, speaker: Json) -> Json:
    if speaker is _bgp(instance) or not speaker:
        return instance
    return instance | {"protocols": instance["protocols"] | {"bgp": speaker}}


def _placed(speaker: Json, wanted: Json) -> Json:
    groups, neighbors = (_by_key(speaker, *keyed) for keyed in (GROUP, NEIGHBOR))
    if not (groups and wanted) or neighbors is None:
        return speaker
    planned_groups, planned_neighbors = (_by_key(wanted, *keyed) or {} for keyed in (GROUP, NEIGHBOR))
    above, groups = _moved(speaker, groups, wanted, planned_groups)
    for name, group in groups.items():
        members = {key: entry for key, entry in neighbors.items() if entry.get("peer-group") == name}
        if members and name not in _groups_of_interfaces(speaker):
            groups[name], placed = _moved(group, members, planned_groups.get(name, {}), planned_neighbors)
            neighbors |= placed
    placed_lists = {GROUP[0]: [*groups.values()], **({NEIGHBOR[0]: [*neighbors.values()]} if neighbors else {})}
    changed = above | placed_lists
    return speaker if changed == speaker else changed


def _by_key(speaker: Json, name: str, key: str) -> dict[str, Json] | None:
    """The entries of a list; None where two have the same key."""
    entries = _entries(speaker, name)
    by_key = {str(entry.get(key)): entry for entry in entries}
    return by_key if len(by_key) == len(entries) else None


def _groups_of_interfaces(speaker: Json) -> set[str]:
    """The groups of sessions over interfaces, which have no entry that could state a setting."""
    dynamic = speaker.get("dynamic-neighbors")
    entries = _entries(dynamic, "interface") if isinstance(dynamic, dict) else []
    return {str(entry.get("peer-group")) for entry in entries}


def _moved(
    above: Json, below: Mapping[str, Json], wanted: Json, planned: Mapping[str, Json]
) -> tuple[Json, dict[str, Json]]:
    """A level, and the entries that inherit from it, with each setting where the wanted ones have it."""
    entries = dict(below)
    stated, intended = dict(_settings(above)), dict(_settings(wanted))
    settings_of = {key: dict(_settings(entry)) for key, entry in below.items()}
    planned_settings = {key: dict(_settings(entry)) for key, entry in planned.items()}
    for place in dict.fromkeys([*stated, *(place for settings in settings_of.values() for place in settings)]):
        is_planned_below = any(place in settings for settings in planned_settings.values())
        if place in stated and place in intended:
            for key, settings in settings_of.items():
                if place in settings and place not in planned_settings.get(key, {}) and _equal(settings, stated, place):
                    entries[key] = _without(entries[key], place)
        elif place in stated and is_planned_below:
            above = _without(above, place)
            lacking = (key for key, settings in settings_of.items() if place not in settings)
            entries |= {key: _with(entries[key], place, stated[place]) for key in lacking}
        elif place in intended and not is_planned_below:
            values = {cli_value(settings[place]) for settings in settings_of.values() if place in settings}
            if len(values) == 1 and all(place in settings for settings in settings_of.values()):
                above = _with(above, place, next(iter(settings_of.values()))[place])
                entries = {key: _without(entry, place) for key, entry in entries.items()}
    return above, entries


def _equal(settings: Mapping[Place, Any], others: Mapping[Place, Any], place: Place) -> bool:
    return cli_value(settings[place]) == cli_value(others[place])


def _settings(node: Json) -> Iterator[tuple[Place, Any]]:
    """The leaves of a level that are inherited, by place."""
    for name in INHERITED:
        if name in node:
            yield from _leaves(node[name], name, ())


def _leaves(child: Any, name: str, above: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(child, dict):
        for below, value in child.items():
            yield from _leaves(value, below, (*above, name))
    elif child and is_list(child):
        for entry in child:
            for key in keys_of(name, entry)[:1]:
                for below, value in entry.items():
                    if below != key:
                        yield from _leaves(value, below, (*above, (name, key, str(entry[key]))))
    else:
        yield (*above, name), child


def _with(node: Json, place: Place, value: Any) -> Json:
    """A copy of a node with a setting."""
    step, *rest = place
    if isinstance(step, str):
        child = node.get(step)
        return {**node, step: _with(child if isinstance(child, dict) else {}, tuple(rest), value) if rest else value}
    name, key, word = step
    entries = _entries(node, name)
    if all(str(entry.get(key)) != word for entry in entries):
        entries = [*entries, {key: word}]
    return {
        **node,
        name: [_with(entry, tuple(rest), value) if str(entry.get(key)) == word else entry for entry in entries],
    }


def _without(node: Json, place: Place) -> Json:
    """A copy of a node without a setting, and without containers and entries that have nothing else."""
    step, *rest = place
    if isinstance(step, str):
        child = _without(node[step], tuple(rest)) if rest else None
        return {name: child if name == step else value for name, value in node.items() if name != step or child}
    name, key, word = step
    entries = [_without(entry, tuple(rest)) if str(entry.get(key)) == word else entry for entry in node[name]]
    kept = [entry for entry in entries if str(entry.get(key)) != word or entry.keys() != {key}]
    return {at: kept if at == name else value for at, value in node.items() if at != name or kept}
