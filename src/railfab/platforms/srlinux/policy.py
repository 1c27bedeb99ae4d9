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
        "prefix-set": [found for policy in policies for found in _prefix_sets(policy)],
        "community-set": [found for policy in policies for found in _community_sets(policy)],
        "as-path-set": [found for policy in policies for found in _as_path_sets(policy)],
    }
    return {"policy": [_policy(policy) for policy in policies]} | {name: found for name, found in sets.items() if found}


def _policy(policy: Policy) -> Json:
    """A policy; without a default action the next policy of a neighbour decides (srl_nokia-routing-policy).

    The attributes of a last rule that permits every route are those of the default action.
    """
    tree: Json = {"name": policy.name}
    statements = [_statement(number, rule, own) for number, rule, own in _numbered(policy)]
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


def _statement(number: str, rule: PolicyRule, own: str) -> Json:
    match: Json = {}
    if rule.prefixes:
        match["prefix"] = {"prefix-set": own}
    attributes: Json = {"community-set": own} if rule.communities else {}
    if rule.as_path is not None:
        attributes["as-path"] = {"as-path-set": own}
    if attributes:
        match["bgp"] = attributes
    action: Json = {"policy-result": RESULTS[rule.action]}
    if changes := _changes(rule, own):
        action["bgp"] = changes
    return {"name": number, "action": action} | ({"match": match} if match else {})


def _changes(rule: PolicyRule, own: str) -> Json:
    """Attributes that a permitted route gets."""
    found: Json = {}
    if rule.set_communities:
        found["communities"] = {"replace": _settings(own)}
    if rule.set_local_preference is not None:
        found["local-preference"] = {"set": rule.set_local_preference}
    if rule.set_med is not None:
        found["med"] = {"operation": "set", "value": rule.set_med}
    if rule.prepend:
        found["as-path"] = {"prepend": {"as-number": "auto", "repeat-n": rule.prepend}}
    return found


def _settings(own: str) -> str:
    """Name of the set of the communities that a rule gives to a route."""
    return f"{own}-set"


def _prefix_sets(policy: Policy) -> Iterator[Json]:
    for _, rule, own in _numbered(policy):
        if rule.prefixes:
            yield {"name": own, "prefix": [_member(found) for found in rule.prefixes]}


def _member(found: PrefixRange) -> Json:
    return {"ip-prefix": str(found.prefix), "mask-length-range": f"{found.ge}..{found.le}"}


def _community_sets(policy: Policy) -> Iterator[Json]:
    """Sets of one of whose communities a route must have any, and sets that routes get."""
    for _, rule, own in _numbered(policy):
        if rule.communities:
            yield {"name": own, "member": _communities(rule.communities), "match-set-options": "any"}
        if rule.set_communities:
            yield {"name": _settings(own), "member": _communities(rule.set_communities)}


def _communities(names: tuple[str, ...]) -> list[str]:
    """Numbers as they are; the names of RFC 1997 are identities of Nokia's models."""
    numbers = [GRACEFUL_SHUTDOWN if name == "graceful-shutdown" else name for name in names]
    return [name if ":" in name else f"srl_nokia-policy-types:{name}" for name in numbers]


def _as_path_sets(policy: Policy) -> Iterator[Json]:
    for _, rule, own in _numbered(policy):
        if rule.as_path is not None:
            yield {"name": own, "as-path-set-member": [rule.as_path]}
