"""Renders and parses BGP import and export policies: `/routing-policy`.

Each prefix range gets its own statement and prefix set, because statements keep their order on the device and members
of a set do not.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Network

from railfab.device import Bgp, PrefixRange
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

IMPORT, EXPORT = "fabric-import", "fabric-export"
STEP = 10
EVERYTHING = PrefixRange(prefix=IPv4Network("0.0.0.0/0"), ge=0, le=32)


def render_policies(bgp: Bgp) -> Json:
    sides = ((IMPORT, bgp.import_prefixes), (EXPORT, bgp.export_prefixes))
    tree: Json = {"policy": [_policy(name, ranges) for name, ranges in sides]}
    sets = [_prefix_set(_set_name(name, index), found) for name, ranges in sides for index, found in enumerate(ranges)]
    return tree | ({"prefix-set": sets} if sets else {})


def _set_name(policy: str, index: int) -> str:
    return f"{policy}-{(index + 1) * STEP}"


def _prefix_set(name: str, found: PrefixRange) -> Json:
    member = {"ip-prefix": str(found.prefix), "mask-length-range": f"{found.ge}..{found.le}"}
    return {"name": name, "prefix": [member]}


def _policy(name: str, ranges: tuple[PrefixRange, ...]) -> Json:
    policy: Json = {"name": name, "default-action": {"policy-result": "reject"}}
    statements = [
        {
            "name": str((index + 1) * STEP),
            "match": {"prefix": {"prefix-set": _set_name(name, index)}},
            "action": {"policy-result": "accept"},
        }
        for index in range(len(ranges))
    ]
    return policy | ({"statement": statements} if statements else {})


def parse_policy(
    root: ConfigNode, names: tuple[str, ...], *, without: tuple[PrefixRange, ...]
) -> tuple[PrefixRange, ...]:
    """Prefixes accepted by these policies together. without: prefixes accepted where no policy is applied."""
    if not names:
        return without
    return tuple(found for name in names for found in _parse_one(root.child("routing-policy"), name))


def _parse_one(policies: ConfigNode, name: str) -> tuple[PrefixRange, ...]:
    policy = policies.entry("policy", "name", name)
    if not policy.value:
        policy.problem("is not defined", "Define the policy, or remove it from the peer group")
    accepted = [found for statement in policy.entries("statement", "name") for found in _statement(policies, statement)]
    if policy.child("default-action").text("policy-result") == "accept":
        accepted.append(EVERYTHING)
    return tuple(accepted)


def _statement(policies: ConfigNode, statement: ConfigNode) -> tuple[PrefixRange, ...]:
    """Prefixes that a statement accepts; other matches and other actions are problems."""
    match, action = statement.child("match"), statement.child("action")
    if set(match.value) - {"prefix"} or set(action.value) - {"policy-result"}:
        statement.problem(
            "matches or does more than accept prefixes", "Use only a prefix-set match and the action accept"
        )
    if action.text("policy-result") != "accept":
        statement.problem(
            "has another action than accept", "List the accepted prefixes and reject the rest by the default action"
        )
        return ()
    wanted = match.child("prefix").text("prefix-set")
    return _ranges(policies.entry("prefix-set", "name", wanted)) if wanted else (EVERYTHING,)


def _ranges(prefix_set: ConfigNode) -> tuple[PrefixRange, ...]:
    if not prefix_set.value:
        prefix_set.problem("is not defined", "Define the prefix set, or correct the name in the statement")
    members = prefix_set.entries("prefix", "ip-prefix", "mask-length-range")
    return tuple(found for member in members if (found := _range(member)))


def _range(member: ConfigNode) -> PrefixRange | None:
    prefix, text = member.network("ip-prefix"), member.text("mask-length-range") or ""
    if prefix is None:
        return None
    if text == "exact":
        return PrefixRange(prefix=prefix, ge=prefix.prefixlen, le=prefix.prefixlen)
    match = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if match is None:
        member.problem(
            f"{text!r} is not a range of prefix lengths", "Use for example 24..32, or exact", "mask-length-range"
        )
        return None
    return PrefixRange(prefix=prefix, ge=int(match[1]), le=int(match[2]))
