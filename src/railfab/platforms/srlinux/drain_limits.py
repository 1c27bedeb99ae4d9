"""Refusals of a candidate by a switch because of maintenance groups, which gNMI cannot ask before a change."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.platforms.shared.json_tree import Json, is_list
from railfab.platforms.srlinux.drain import (
    DRAIN,
    LISTS,
    frozen_instances,
    has_groups,
    holding_groups,
    overlapping_groups,
    own_entries,
)
from railfab.platforms.srlinux.drain_verb import is_drained_by_verb
from railfab.platforms.srlinux.set_request import is_managed_instance, managed
from railfab.platforms.srlinux.tree import stripped


def refusals(running: Json, candidate: Json) -> Iterator[tuple[str, str]]:
    """Each problem with its remedy, of a candidate for a switch with this whole configuration."""
    if not has_groups(running):
        return
    before = stripped(running)
    after = _after(before, stripped(managed(candidate, candidate)))
    for pair in overlapping_groups(after):
        if DRAIN in pair:
            rival = next(name for name in pair if name != DRAIN)
            yield f"cannot be drained while its maintenance group {rival} has its BGP sessions", _remedy(rival)
    for instance in frozen_instances(before, after):
        group = next(holding_groups(after, instance))
        problem = (
            f"is in maintenance mode (group {group}), and the BGP of network-instance {instance} cannot be changed"
        )
        yield problem, UNDRAIN if is_drained_by_verb(running) else _remedy(group)


UNDRAIN = "End its drain first (railfab undrain)"


def _remedy(group: str) -> str:
    if group == DRAIN:
        return "Remove the switch from `drain` of the intent and deploy first"
    return f"End maintenance group {group} on the switch"


def _after(running: Json, candidate: Json) -> Json:
    """The network instances and maintenance groups that a candidate leaves, with those that it does not manage."""
    kept = own_entries(_maintenance(candidate))
    others = {name: [entry for entry in _groups(running, name) if entry.get("name") != DRAIN] for name in LISTS}
    left = [entry for entry in running.get("network-instance", ()) if not is_managed_instance(str(entry["name"]))]
    return {
        "network-instance": [*candidate.get("network-instance", ()), *left],
        "system": {"maintenance": {name: [*kept.get(name, ()), *others[name]] for name in LISTS}},
    }


def _groups(tree: Json, name: str) -> list[Json]:
    groups = _maintenance(tree).get(name, [])
    return groups if is_list(groups) else []


def _maintenance(tree: Json) -> Json:
    maintenance: Json = tree.get("system", {}).get("maintenance", {})
    return maintenance
