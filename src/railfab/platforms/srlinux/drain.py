"""Renders and parses the drain of a switch: a maintenance group with all of its BGP sessions, in maintenance mode.

Nokia's models have no graceful shutdown (RFC 8326). The export policy of a maintenance profile is the last one on each
session of its group (srl_nokia-maintenance-mode). It makes the AS path longer than any other, which every neighbour
obeys, and adds the community for neighbours that obey it, and the lowest local preference for those of the own AS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from typing import Any

from railfab.device import DEFAULT_INSTANCE, Action, DeviceModel, Policy
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json, is_list, member_of
from railfab.platforms.srlinux.policy import GRACEFUL_SHUTDOWN, RESULTS
from railfab.platforms.srlinux.tree import deviations

DRAIN = "fabric-drain"
"""Name of the maintenance group, its profile, its policy and the community set."""
PREPENDED = 10
"""Times that the own AS number is prepended: more than the switches on any path of a fabric of three tiers."""
LISTS = ("group", "profile")
"""Lists of `/system/maintenance`."""


def render_maintenance(model: DeviceModel) -> Json | None:
    """`/system/maintenance` of a drained switch."""
    if not is_rendered(model):
        return None
    group: Json = {
        "name": DRAIN,
        "maintenance-profile": DRAIN,
        "maintenance-mode": {"admin-state": "enable"},
        "members": {"bgp": {"network-instance": [{"name": name} for name in _instances(model)]}},
    }
    return {"group": [group], "profile": [{"name": DRAIN, "bgp": {"export-policy": DRAIN}}]}


def is_rendered(model: DeviceModel) -> bool:
    """Whether a model is drained and has sessions to drain."""
    return model.drain and model.bgp is not None


def drain_policy() -> Json:
    """The export policy of the profile, for every route."""
    changes = {
        "as-path": {"prepend": {"as-number": "auto", "repeat-n": PREPENDED}},
        "communities": {"add": DRAIN},
        "local-preference": {"set": 0},
    }
    return {"name": DRAIN, "default-action": {"policy-result": RESULTS[Action.PERMIT], "bgp": changes}}


def drain_communities() -> Json:
    """The community set of the policy."""
    return {"name": DRAIN, "member": [GRACEFUL_SHUTDOWN]}


def _instances(model: DeviceModel) -> Iterator[str]:
    """The network instances with a BGP speaker."""
    used = {neighbor.network_instance for neighbor in model.neighbors}
    yield DEFAULT_INSTANCE
    yield from (instance.name for instance in model.network_instances if instance.name in used)


def own_entries(maintenance: Any) -> Any:
    """The group and profile of a drain; those of the operator stay as they are. Malformed ones stay, for the parser."""
    if not isinstance(maintenance, dict):
        return maintenance
    lists = {name: _own(maintenance[name]) for name in LISTS if name in maintenance}
    return {name: entries for name, entries in lists.items() if entries}


def has_groups(tree: Json) -> bool:
    """Whether a tree, with or without module prefixes, has a container of maintenance groups."""
    return member_of(member_of(tree, "system", {}), "maintenance", None) is not None


def is_in_maintenance(tree: Json, name: str) -> bool:
    """Whether a tree, with or without module prefixes, has a maintenance group of this name in maintenance mode."""
    maintenance = member_of(member_of(tree, "system", {}), "maintenance", {})
    groups = member_of(maintenance, "group", [])
    return is_list(groups) and any(group.get("name") == name for group in _enabled(groups))


def frozen_instances(running: Json, candidate: Json) -> Iterator[str]:
    """The network instances whose BGP a candidate changes while a maintenance group holds their sessions.

    SR Linux does not let it be modified meanwhile (srl_nokia-maintenance-mode, admin-state). Sessions that the
    candidate takes out of maintenance mode are free, and another order of a list is no change. Both trees are without
    module prefixes.
    """
    if held := set(_held(running)) & set(_held(candidate)):
        before, after = (_speakers_by_name(tree) for tree in (running, candidate))
        yield from sorted(name for name in held if deviations(before.get(name, {}), after.get(name, {})))


def overlapping_groups(tree: Json) -> Iterator[tuple[str, str]]:
    """Pairs of maintenance groups that have a BGP session in common, and are both in maintenance mode.

    SR Linux does not let the second one be enabled (srl_nokia-maintenance-mode, admin-state). The tree is without
    module prefixes.
    """
    groups = list(_in_maintenance(tree))
    speakers = _speakers_by_name(tree) if len(groups) > 1 else {}
    scopes = {str(group["name"]): set(_scope(group, speakers)) for group in groups}
    yield from (pair for pair in combinations(sorted(scopes), 2) if scopes[pair[0]] & scopes[pair[1]])


def holding_groups(tree: Json, instance: str) -> Iterator[str]:
    """The groups in maintenance mode with sessions of a network instance. The tree is without module prefixes."""
    return (str(group["name"]) for group in _in_maintenance(tree) if instance in _instances_of(group))


def _held(tree: Json) -> Iterator[str]:
    """The network instances of groups in maintenance mode."""
    return chain.from_iterable(map(_instances_of, _in_maintenance(tree)))


def _in_maintenance(tree: Json) -> Iterator[Json]:
    """The groups in maintenance mode."""
    return _enabled(tree.get("system", {}).get("maintenance", {}).get("group", ()))


def _enabled(groups: Iterable[Json]) -> Iterator[Json]:
    return (group for group in groups if group.get("maintenance-mode", {}).get("admin-state") == "enable")


def _instances_of(group: Json) -> list[str]:
    return [str(entry["name"]) for entry in _members_of(group)]


def _members_of(group: Json) -> Any:
    return group.get("members", {}).get("bgp", {}).get("network-instance", ())


def _scope(group: Json, speakers: dict[str, Json]) -> Iterator[tuple[str, str]]:
    """The network instance and the key of each BGP session of a group."""
    for entry in _members_of(group):
        name, peer_groups, neighbors = str(entry["name"]), entry.get("peer-group", ()), entry.get("neighbor", ())
        for session, peer_group in _sessions(speakers.get(name, {}).get("bgp", {})):
            if not (peer_groups or neighbors) or peer_group in peer_groups or session in neighbors:
                yield name, session


def _sessions(bgp: Json) -> Iterator[tuple[str, str | None]]:
    """The key of each neighbour and each rule for dynamic sessions, with its peer group."""
    dynamic = bgp.get("dynamic-neighbors", {})
    rules = (bgp.get("neighbor", ()), dynamic.get("interface", ()), dynamic.get("accept", {}).get("match", ()))
    for entries, key in zip(rules, ("peer-address", "interface-name", "prefix"), strict=True):
        yield from ((str(entry[key]), entry.get("peer-group")) for entry in entries)


def _speakers_by_name(tree: Json) -> dict[str, Json]:
    """The container with the BGP speaker of each network instance that has one, in a tree."""
    protocols = {str(entry["name"]): entry.get("protocols", {}) for entry in tree.get("network-instance", ())}
    return {name: {"bgp": protocol["bgp"]} for name, protocol in protocols.items() if "bgp" in protocol}


def _own(entries: Any) -> Any:
    return [entry for entry in entries if entry.get("name", DRAIN) == DRAIN] if is_list(entries) else entries


def is_drained(root: ConfigNode, policies: tuple[Policy, ...], instances: list[ConfigNode]) -> bool:
    """Whether all BGP sessions are in maintenance mode with a policy that lets routes pass and makes them the least
    preferred."""
    maintenance = root.at("system", "maintenance")
    group = maintenance.entry("group", "name", DRAIN)
    if not group.child("maintenance-mode").enabled(default=False):
        return False
    profile = maintenance.entry("profile", "name", group.text("maintenance-profile"))
    return (
        profile.child("bgp").text("export-policy") == DRAIN
        and any(policy.name == DRAIN and _permits_every_route(policy) for policy in policies)
        and _prepends(root)
        and _speakers(instances) <= _members(group)
    )


def _permits_every_route(policy: Policy) -> bool:
    """Whether a policy has no statement, only a default action, which may be read as a rule with its attributes."""
    conditions = any(rule.prefixes or rule.communities or rule.as_path for rule in policy.rules)
    return policy.default is Action.PERMIT and len(policy.rules) <= 1 and not conditions


def _prepends(root: ConfigNode) -> bool:
    policy = root.child("routing-policy").entry("policy", "name", DRAIN)
    prepend = policy.at("default-action", "bgp", "as-path", "prepend")
    return prepend.text("as-number") == "auto" and bool(prepend.number("repeat-n"))


def _speakers(instances: list[ConfigNode]) -> set[str]:
    return {str(instance.value["name"]) for instance in instances if instance.at("protocols", "bgp").value}


def _members(group: ConfigNode) -> set[str]:
    """The network instances all of whose sessions are members: those for which no peer group or neighbour is listed."""
    entries = group.at("members", "bgp").entries("network-instance", "name")
    return {str(entry.value["name"]) for entry in entries if not {"peer-group", "neighbor"} & entry.value.keys()}
