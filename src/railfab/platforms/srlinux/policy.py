"""Renders routing policies: `/routing-policy`.

Each rule is a statement with sets of its own, because statements keep their order on the device and members of a set
do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from railfab.device import Action, DeviceModel, Policy, PolicyRule, PrefixRange
from railfab.platforms.shared.json_tree import Json

STEP = 10
"""Distance between the names of two statements."""

RESULTS = {Action.PERMIT: "accept", Action.DENY: "reject"}
GRACEFUL_SHUTDOWN = "65535:0"
"""RFC 8326; SR Linux has no name for it."""


def render_policies(model: DeviceModel) -> Json | None:
    """Policies in the order in which the neighbours use them, import policies first; then the others."""
    if not model.policies:
        return None
    used = chain.from_iterable(
        chain(*(getattr(neighbor, side) for neighbor in model.neighbors))
        for side in ("import_policies", "export_policies")
    )
    names = dict.fromkeys(chain(used, (policy.name for policy in model.policies)))
    policies = [policy for name in names if (policy := model.policy(name)) is not None]
    sets = {
        "prefix-set": [prefix_set for policy in policies for prefix_set in _prefix_sets(policy)],
        "community-set": [community_set for policy in policies for community_set in _community_sets(policy)],
        "as-path-set": [as_path_set for policy in policies for as_path_set in _as_path_sets(policy)],
    }
    filled = {name: members for name, members in sets.items() if members}
    return {"policy": [_policy(policy) for policy in policies]} | filled


def _policy(policy: Policy) -> Json:
    """A policy; without a default action the next policy of a neighbour decides (srl_nokia-routing-policy).

    The attributes of a last rule that permits every route are those of the default action.
    """
    tree: Json = {"name": policy.name}
    statements = [_statement(number, rule, set_name) for number, rule, set_name in _numbered(policy)]
    if policy.default is not None:
        tree["default-action"] = {"policy-result": RESULTS[policy.default]}
        if policy.default is Action.PERMIT and statements and _changes_every_route(policy.rules[-1]):
            tree["default-action"] = statements.pop()["action"]
    return tree | ({"statement": statements} if statements else {})


def _changes_every_route(rule: PolicyRule) -> bool:
    """Whether a rule permits every route, with an attribute."""
    every = not (rule.prefixes or rule.communities or rule.as_path) and rule.action is Action.PERMIT
    return every and bool(_changes(rule, ""))


def _numbered(policy: Policy) -> Iterator[tuple[str, PolicyRule, str]]:
    """Name of its statement, rule, and name of its sets."""
    for index, rule in enumerate(policy.rules, start=1):
        yield str(index * STEP), rule, f"{policy.name}-{index * STEP}"


def _statement(number: str, rule: PolicyRule, set_name: str) -> Json:
    match: Json = {}
    if rule.prefixes:
        match["prefix"] = {"prefix-set": set_name}
    attributes: Json = {"community-set": set_name} if rule.communities else {}
    if rule.as_path is not None:
        attributes["as-path"] = {"as-path-set": set_name}
    if attributes:
        match["bgp"] = attributes
    action: Json = {"policy-result": RESULTS[rule.action]}
    if changes := _changes(rule, set_name):
        action["bgp"] = changes
    return {"name": number, "action": action} | ({"match": match} if match else {})


def _changes(rule: PolicyRule, set_name: str) -> Json:
    """Attributes that a permitted route gets."""
    attributes: Json = {}
    if rule.set_communities:
        attributes["communities"] = {"replace": _settings(set_name)}
    if rule.set_local_preference is not None:
        attributes["local-preference"] = {"set": rule.set_local_preference}
    if rule.set_med is not None:
        attributes["med"] = {"operation": "set", "value": rule.set_med}
    if rule.prepend:
        attributes["as-path"] = {"prepend": {"as-number": "auto", "repeat-n": rule.prepend}}
    return attributes


def _settings(set_name: str) -> str:
    """Name of the set of the communities that a rule gives to a route."""
    return f"{set_name}-set"


def _prefix_sets(policy: Policy) -> Iterator[Json]:
    for _, rule, set_name in _numbered(policy):
        if rule.prefixes:
            yield {"name": set_name, "prefix": [_member(prefix_range) for prefix_range in rule.prefixes]}


def _member(prefix_range: PrefixRange) -> Json:
    return {"ip-prefix": str(prefix_range.prefix), "mask-length-range": f"{prefix_range.ge}..{prefix_range.le}"}


def _community_sets(policy: Policy) -> Iterator[Json]:
    """Sets of one of whose communities a route must have any, and sets that routes get."""
    for _, rule, set_name in _numbered(policy):
        if rule.communities:
            yield {"name": set_name, "member": _communities(rule.communities), "match-set-options": "any"}
        if rule.set_communities:
            yield {"name": _settings(set_name), "member": _communities(rule.set_communities)}


def _communities(names: tuple[str, ...]) -> list[str]:
    """Numbers as they are; the names of RFC 1997 are identities of Nokia's models."""
    numbers = [GRACEFUL_SHUTDOWN if name == "graceful-shutdown" else name for name in names]
    return [name if ":" in name else f"srl_nokia-policy-types:{name}" for name in numbers]


def _as_path_sets(policy: Policy) -> Iterator[Json]:
    for _, rule, set_name in _numbered(policy):
        if rule.as_path is not None:
            yield {"name": set_name, "as-path-set-member": [rule.as_path]}
