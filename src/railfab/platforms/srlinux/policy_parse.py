"""Parses `/routing-policy` to policies whose first matching rule decides."""

from __future__ import annotations

import re
from dataclasses import replace

from railfab.device import Action, Policy, PolicyRule, PrefixRange
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.srlinux.policy import GRACEFUL_SHUTDOWN, RESULTS

_ACTIONS = {result: action for action, result in RESULTS.items()}
PERMIT = PolicyRule(action=Action.PERMIT)
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


class SrlinuxPolicyReader:
    """Reads policies, and the sets to which their statements refer."""

    def __init__(self, policies: ConfigNode) -> None:
        self._policies = policies
        self._sets = {
            kind: {str(node.value["name"]): node for node in policies.entries(kind, "name")}
            for kind in ("prefix-set", "community-set", "as-path-set")
        }

    def policies(self) -> tuple[Policy, ...]:
        """Every policy that is defined."""
        return tuple(self._policy(node) for node in self._policies.entries("policy", "name"))

    def _policy(self, node: ConfigNode) -> Policy:
        rules = [self._rule(statement) for statement in node.entries("statement", "name")]
        default = node.child("default-action")
        decision = _ACTIONS.get(default.text("policy-result") or "")
        if decision is Action.PERMIT and (every := self._changed(default)) != PERMIT:
            rules.append(every)  # with attributes, the default action is a rule that matches every route
        return Policy(
            name=str(node.value["name"]),
            rules=tuple(rule for rule in rules if rule is not None),
            default=decision,
        )

    def _rule(self, statement: ConfigNode) -> PolicyRule | None:
        """The rule of a statement; None where it decides nothing, or by a condition that a rule cannot state."""
        action = statement.child("action")
        decision = _ACTIONS.get(action.text("policy-result") or "")
        conditions = self._conditions(statement.child("match"))
        if decision is None or conditions is None:
            return None
        prefixes, communities, as_path = conditions
        return replace(
            self._changed(action), action=decision, prefixes=prefixes, communities=communities, as_path=as_path
        )

    def _changed(self, action: ConfigNode) -> PolicyRule:
        """The rule that permits every route, with the attributes that an action gives it."""
        changes = action.child("bgp")
        prepend = changes.at("as-path", "prepend")
        med = changes.child("med")
        return PolicyRule(
            action=Action.PERMIT,
            set_communities=self._communities(changes.child("communities"), "replace") or (),
            set_local_preference=changes.child("local-preference").number("set"),
            set_med=med.number("value") if med.text("operation") == "set" and _is_number(med, "value") else None,
            prepend=prepend.number("repeat-n") or 0 if prepend.text("as-number") == "auto" else 0,
        )

    def _conditions(self, match: ConfigNode) -> tuple[tuple[PrefixRange, ...], tuple[str, ...], str | None] | None:
        """Prefixes, communities and AS path of a match; None with a condition that a rule cannot state."""
        attributes = match.child("bgp")
        if set(match.value) - {"prefix", "bgp"} or set(attributes.value) - {"community-set", "as-path"}:
            return None
        prefixes = self._prefixes(match.child("prefix"))
        communities = self._communities(attributes, "community-set")
        paths = self._as_paths(attributes.child("as-path"))
        if prefixes is None or communities is None or len(paths) > 1:
            return None
        return prefixes, communities, paths[0] if paths else None

    def _prefixes(self, match: ConfigNode) -> tuple[PrefixRange, ...] | None:
        """Prefixes of the set that a match names; None for a set without prefixes, which matches no route."""
        node = self._set("prefix-set", match, "prefix-set")
        if node is None:
            return ()
        members = node.entries("prefix", "ip-prefix", "mask-length-range")
        return tuple(prefix_range for member in members if (prefix_range := _range(member))) or None

    def _communities(self, node: ConfigNode, leaf: str) -> tuple[str, ...] | None:
        """Communities of a set, of which a route must have any; None when it must have several of them, or none."""
        community_set = self._set("community-set", node, leaf)
        if community_set is None:
            return ()
        members = tuple(
            "graceful-shutdown" if word == GRACEFUL_SHUTDOWN else word for word in community_set.words("member")
        )
        option = community_set.text("match-set-options") or "all"
        is_condition = leaf == "community-set"
        if is_condition and (not members or option == "invert" or (option == "all" and len(members) > 1)):
            return None
        return members

    def _as_paths(self, match: ConfigNode) -> tuple[str, ...]:
        node = self._set("as-path-set", match, "as-path-set")
        return node.words("as-path-set-member") if node is not None else ()

    def _set(self, kind: str, node: ConfigNode, leaf: str) -> ConfigNode | None:
        """The set that a leaf names; None where it names none, or after noting that it is not defined."""
        name = node.text(leaf)
        if name is None:
            return None
        named = self._sets[kind].get(name)
        if named is None:
            ConfigNode({}, f"{self._policies.path}/{kind}[name={name}]", node.problems).problem(
                "is not defined", f"Define the {kind}, or correct the name in the statement"
            )
        return named


def _is_number(node: ConfigNode, leaf: str) -> bool:
    return str(node.value.get(leaf)).isdecimal()


def _range(member: ConfigNode) -> PrefixRange | None:
    prefix, text = member.network("ip-prefix"), member.text("mask-length-range") or ""
    if prefix is None:
        return None
    if text == "exact":
        return PrefixRange(prefix=prefix, ge=prefix.prefixlen, le=prefix.prefixlen)
    match = _RANGE.fullmatch(text)
    if match is None:
        member.problem(
            f"{text!r} is not a range of prefix lengths", "Use for example 24..32, or exact", "mask-length-range"
        )
        return None
    return PrefixRange(prefix=prefix, ge=int(match[1]), le=int(match[2]))
