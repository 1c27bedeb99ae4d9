"""Puts the lists and route maps of a tree together to routing policies."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from railfab.device import Action, LinkBandwidth, Policy, PolicyRule, PrefixRange
from railfab.platforms.cumulus.bgp import NO_POLICY
from railfab.platforms.cumulus.names import given
from railfab.platforms.cumulus.nodes import entries, keys, numbers, only_key
from railfab.platforms.cumulus.policy import BANDWIDTHS, COMMUNITIES
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.route_maps import DEFAULT_SEQUENCE, merged

NAMES = {number: name for name, number in COMMUNITIES.items()}
LINK_BANDWIDTHS = {word: kind for kind, word in BANDWIDTHS.items()}
EVERYTHING = {
    "ipv4": (PrefixRange(prefix=ip_network("0.0.0.0/0"), ge=0, le=32),),
    "ipv6": (PrefixRange(prefix=ip_network("::/0"), ge=0, le=128),),
}
"""Prefixes that `match any` of a list of each type takes."""
MATCHES = {"type", "ip-prefix-list", "community-list", "as-path-list"}
"""Conditions that a model can express; a rule with another one is none of it."""


class CumulusPolicyReader:
    """The policies of a switch. asn: its AS number, for prepending."""

    def __init__(self, root: ConfigNode, asn: int | None) -> None:
        self._node = root.at("router", "policy")
        self._asn = asn

    def policies(self) -> tuple[Policy, ...]:
        """All route maps but the one that stands for no policy."""
        return tuple(self._policy(name, node) for name, node in entries(self._node, "route-map") if name != NO_POLICY)

    def _policy(self, name: str, node: ConfigNode) -> Policy:
        rules = list(numbers(node, "rule"))
        last = rules[-1] if rules and rules[-1][0] == DEFAULT_SEQUENCE else None
        default = Action.DENY
        if last is not None and not {"match", "set"} & set(last[1].value):
            default = _action(last[1])
            rules.pop()
        return Policy(name=given(name), rules=tuple(merged(self._rules(rules))), default=default)

    def _rules(self, rules: list[tuple[int, ConfigNode]]) -> Iterator[tuple[int, PolicyRule]]:
        for number, node in rules:
            if (rule := self._rule(node)) is not None:
                yield number, rule

    def _rule(self, node: ConfigNode) -> PolicyRule | None:
        """A rule; None with a condition that a model cannot express, or a list that permits nothing."""
        match, changes = node.child("match"), node.child("set")
        if set(match.value) - MATCHES:
            return None
        prefixes = self._prefixes(match.text("ip-prefix-list"))
        communities = self._communities(match.text("community-list"))
        as_path = self._as_path(match.text("as-path-list"))
        if prefixes is None or communities is None or as_path == "":
            return None
        return PolicyRule(
            action=_action(node),
            prefixes=prefixes,
            communities=communities,
            as_path=as_path,
            set_communities=tuple(NAMES.get(name, name) for name in keys(changes, "community")),
            set_local_preference=changes.number("local-preference"),
            set_med=changes.number("metric") if (changes.text("metric") or "").isdecimal() else None,
            set_link_bandwidth=_bandwidth(changes),
            prepend=self._prepended(changes),
        )

    def _prefixes(self, name: str | None) -> tuple[PrefixRange, ...] | None:
        """The ranges that a list permits; None for a list without any."""
        if name is None:
            return ()
        ranges: list[PrefixRange] = []
        prefixes = self._node.at("prefix-list", name)
        everything = EVERYTHING["ipv6" if prefixes.text("type") == "ipv6" else "ipv4"]
        for _, rule in numbers(prefixes, "rule"):
            if rule.text("action") == "deny":
                break
            for prefix, lengths in entries(rule, "match"):
                ranges.extend(everything if prefix == "any" else _range(prefix, lengths))
        return tuple(ranges) or None

    def _communities(self, name: str | None) -> tuple[str, ...] | None:
        if name is None:
            return ()
        rules = numbers(self._node.at("community-list", name), "rule")
        permitted = [keys(rule, "community") for _, rule in rules if rule.text("action") != "deny"]
        single = [NAMES.get(members[0], members[0]) for members in permitted if len(members) == 1]
        return tuple(single) if single and len(single) == len(permitted) else None

    def _as_path(self, name: str | None) -> str | None:
        """The expression of a list with one; empty for another list, None without."""
        if name is None:
            return None
        rules = numbers(self._node.at("as-path-list", name), "rule")
        expressions = [rule.text("aspath-exp") for _, rule in rules if rule.text("action") != "deny"]
        return (expressions[0] or "") if len(expressions) == 1 else ""

    def _prepended(self, changes: ConfigNode) -> int:
        """Number of times that the own AS number is prepended; 0 where others are."""
        prepended = (changes.child("as-path-prepend").text("as") or "").split(",")
        return len(prepended) if set(prepended) == {str(self._asn)} else 0


def _action(node: ConfigNode) -> Action:
    return Action.PERMIT if only_key(node, "action") == "permit" else Action.DENY


def _bandwidth(changes: ConfigNode) -> LinkBandwidth | None:
    return LINK_BANDWIDTHS.get(changes.text("ext-community-bw") or "")


def _range(prefix: str, lengths: ConfigNode) -> Iterator[PrefixRange]:
    try:
        network = ip_network(prefix, strict=False)
    except ValueError:
        lengths.problem(f"{prefix!r} is not an IP prefix", "Use one, as 10.0.0.0/16")
        return
    least, most = lengths.number("min-prefix-len"), lengths.number("max-prefix-len")
    ge = least if least is not None else network.prefixlen
    le = most if most is not None else network.max_prefixlen if least is not None else network.prefixlen
    yield PrefixRange(prefix=network, ge=ge, le=le)
