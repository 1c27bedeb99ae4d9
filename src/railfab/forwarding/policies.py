"""Routing policies as a session applies them to a prefix, and to the attributes of its routes.

A filter is the policies of one direction of a session. Its verdict on a prefix is what remains of its rules when their
prefixes have been compared. Filters and verdicts are stored once and named by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from railfab.device import (
    DEFAULT_INSTANCE,
    Action,
    Aggregate,
    BgpNeighbor,
    DeviceModel,
    Family,
    LinkBandwidth,
    PolicyRule,
    PrefixRange,
)
from railfab.forwarding.attributes import GRACEFUL_SHUTDOWN, Attributes, Numbers, RouteAttributes
from railfab.forwarding.prefixes import Prefixes

UNICAST_VERSIONS = {Family.IPV4: 4, Family.IPV6: 6}
Filter = tuple[PolicyRule, ...]
"""Rules in their order; the last one has no condition."""

Verdict = tuple[PolicyRule, ...]
"""The rules of a filter that match a prefix, without prefixes, up to the first one without another condition."""

DENY, PERMIT = PolicyRule(action=Action.DENY), PolicyRule(action=Action.PERMIT)

DENIED, ACCEPTED = 0, 1
"""Numbers of the verdicts that deny every route of a prefix, and that let every one pass as it is."""

COUNTED, ADDED = 1, 2
"""Link bandwidths that a verdict sets: the number of next hops, and the sum of what they were received with."""
_BANDWIDTHS = {None: 0, LinkBandwidth.NEXT_HOPS: COUNTED, LinkBandwidth.CUMULATIVE: ADDED}

REJECTED = -1
"""In place of a number of attributes: a verdict denies the route."""


def import_filter(model: DeviceModel, neighbor: BgpNeighbor) -> Filter:
    """The rules for the routes of a neighbour."""
    return _rules(model, neighbor, neighbor.import_policies)


def export_filter(model: DeviceModel, neighbor: BgpNeighbor) -> Filter:
    """The rules for the routes announced to a neighbour. A drained switch marks all of them (RFC 8326)."""
    kept_back = (*_suppressed(aggregates(model)), *_not_originated(model))
    rules = (*kept_back, *_rules(model, neighbor, neighbor.export_policies))
    return tuple(map(_drained, rules)) if model.drain else rules


def is_internal(model: DeviceModel, neighbor: BgpNeighbor) -> bool:
    """Whether a neighbour is configured as one of the same AS."""
    return model.bgp is not None and neighbor.is_internal(model.bgp.asn)


def _rules(model: DeviceModel, neighbor: BgpNeighbor, names: Sequence[str]) -> Filter:
    """The rules of the policies in their order, up to the first one with a default, which decides what is left.

    A policy that is not defined denies every route. Where none has a default, and without any policy, RFC 8212 decides
    for an external neighbour, and an internal one permits.
    """
    rules: list[PolicyRule] = []
    for name in names:
        policy = model.policy(name)
        if policy is None:
            return (*rules, DENY)
        rules += policy.rules
        if policy.default is not None:
            return (*rules, PolicyRule(action=policy.default))
    strict = model.bgp is not None and model.bgp.requires_policy and not is_internal(model, neighbor)
    return (*rules, DENY if strict else PERMIT)


def aggregates(model: DeviceModel) -> tuple[Aggregate, ...]:
    """The aggregates of the default network instance."""
    found = model.bgp.aggregates if model.bgp else ()
    return tuple(aggregate for aggregate in found if aggregate.network_instance == DEFAULT_INSTANCE)


def _suppressed(found: Sequence[Aggregate]) -> Iterator[PolicyRule]:
    """Rules that keep the contributors of aggregates to the switch itself."""
    for aggregate in found:
        if aggregate.summary_only:
            yield PolicyRule(action=Action.DENY, prefixes=contributor_ranges(aggregate))


def _not_originated(model: DeviceModel) -> Iterator[PolicyRule]:
    """A rule that keeps connected routes to the switch itself, those of families that it does not originate."""
    missing = {4, 6} - {UNICAST_VERSIONS[family] for family in model.bgp.originated} if model.bgp else set()
    networks = (
        network
        for interface in (model.interfaces if missing else ())
        if interface.network_instance == DEFAULT_INSTANCE
        for network in interface.subnets
        if network.version in missing
    )
    ranges = tuple(PrefixRange(prefix=network, ge=network.prefixlen, le=network.prefixlen) for network in networks)
    if ranges:
        yield PolicyRule(action=Action.DENY, prefixes=ranges)


def contributor_ranges(aggregate: Aggregate) -> tuple[PrefixRange, ...]:
    """The prefixes that make an aggregate be announced: those in its contributors, or any longer one inside it."""
    shortest = aggregate.prefix.prefixlen + 1
    return tuple(
        PrefixRange(prefix=network, ge=max(shortest, network.prefixlen), le=network.max_prefixlen)
        for network in aggregate.contributors or (aggregate.prefix,)
    )


def _drained(rule: PolicyRule) -> PolicyRule:
    if rule.action is Action.DENY or GRACEFUL_SHUTDOWN in rule.set_communities:
        return rule
    return replace(rule, set_communities=(*rule.set_communities, GRACEFUL_SHUTDOWN))


@dataclass(slots=True)
class Policies:
    """Distinct filters and verdicts. It only grows, so that numbers stay valid.

    sets_link_bandwidth: whether any verdict sets one.
    """

    filters: list[Filter] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=lambda: [(DENY,), (PERMIT,)])
    _filter_numbers: dict[Filter, int] = field(default_factory=dict)
    _verdict_numbers: dict[Verdict, int] = field(default_factory=lambda: {(DENY,): DENIED, (PERMIT,): ACCEPTED})
    _decided: dict[tuple[int, int, int], int] = field(default_factory=dict)
    sets_link_bandwidth: bool = False

    def number(self, rules: Filter) -> int:
        """The number of a filter; a new one is appended."""
        found = self._filter_numbers.get(rules)
        if found is None:
            found = self._filter_numbers[rules] = len(self.filters)
            self.filters.append(rules)
        return found

    def verdicts_of(self, number: int, prefixes: Prefixes) -> NDArray[np.int32]:
        """(prefix,) the number of a filter's verdict on each prefix."""
        rules = self.filters[number]
        matched = np.array([prefixes.inside(rule.prefixes) for rule in rules], bool)
        rows = np.packbits(matched, axis=0).T
        _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        found = [self._verdict(tuple(remaining(rules, matched[:, column].tolist()))) for column in first.tolist()]
        return np.array(found, np.int32)[place.ravel()]

    def _verdict(self, verdict: Verdict) -> int:
        found = self._verdict_numbers.get(verdict)
        if found is None:
            found = self._verdict_numbers[verdict] = len(self.verdicts)
            self.verdicts.append(verdict)
            self.sets_link_bandwidth |= any(rule.set_link_bandwidth is not None for rule in verdict)
        return found

    def apply(
        self, verdicts: NDArray[np.int32], numbers: Numbers, attributes: RouteAttributes, asn: NDArray[np.int64]
    ) -> Numbers:
        """Attributes after these verdicts at switches of these AS numbers, or `REJECTED`. All of one length."""
        if not len(numbers):
            return numbers
        cases, place = np.unique(np.stack([verdicts, numbers, asn]), axis=1, return_inverse=True)
        found = [self._decide((case[0], case[1], case[2]), attributes) for case in cases.T.tolist()]
        return np.array(found, np.int32)[place.ravel()]

    def permits(self, verdicts: NDArray[np.int32], numbers: Numbers, attributes: RouteAttributes) -> NDArray[np.bool_]:
        """Whether these verdicts let routes with these attributes pass. Only reads. All of one length."""
        if not len(numbers):
            return np.zeros(0, bool)
        cases, place = np.unique(np.stack([verdicts, numbers]), axis=1, return_inverse=True)
        found = [
            rule_for(self.verdicts[verdict], attributes.values[number]).action is Action.PERMIT
            for verdict, number in cases.T.tolist()
        ]
        return np.array(found, bool)[place.ravel()]

    def link_bandwidths(
        self, verdicts: NDArray[np.int32], numbers: Numbers, attributes: RouteAttributes
    ) -> NDArray[np.int32]:
        """`COUNTED`, `ADDED` or 0 for each of these verdicts on routes with these attributes. All of one length."""
        if not len(numbers):
            return np.zeros(0, np.int32)
        cases, place = np.unique(np.stack([verdicts, numbers]), axis=1, return_inverse=True)
        found = [
            _BANDWIDTHS[rule_for(self.verdicts[verdict], attributes.values[number]).set_link_bandwidth]
            for verdict, number in cases.T.tolist()
        ]
        return np.array(found, np.int32)[place.ravel()]

    def _decide(self, case: tuple[int, int, int], attributes: RouteAttributes) -> int:
        """The attributes after a verdict, by the numbers of the verdict and the attributes, and the AS number."""
        found = self._decided.get(case)
        if found is None:
            after = decided(self.verdicts[case[0]], attributes.values[case[1]], case[2])
            found = self._decided[case] = REJECTED if after is None else attributes.number(after)
        return found


def remaining(rules: Filter, matched: Sequence[bool]) -> Iterator[PolicyRule]:
    """The rules whose prefixes match, without them, up to the first one without another condition."""
    for rule, matches in zip(rules, matched, strict=True):
        if matches:
            yield rule if rule.action is Action.PERMIT and not rule.prefixes else _bare(rule)
            if not rule.communities and rule.as_path is None:
                return


def _bare(rule: PolicyRule) -> PolicyRule:
    """A rule without its prefixes, and without settings when it denies."""
    if rule.action is Action.PERMIT:
        return replace(rule, prefixes=())
    return PolicyRule(action=Action.DENY, communities=rule.communities, as_path=rule.as_path)


def decided(verdict: Verdict, route: Attributes, asn: int) -> Attributes | None:
    """The attributes of a route after a verdict at a switch of this AS number; None when it is denied."""
    rule = rule_for(verdict, route)
    if rule.action is Action.DENY:
        return None
    return route._replace(
        preference=_preference(route, rule),
        path=(asn,) * rule.prepend + route.path,
        communities=_communities(route.communities, rule.set_communities),
        med=route.med if rule.set_med is None else rule.set_med,
    )


def _preference(route: Attributes, rule: PolicyRule) -> int:
    """The local preference after a rule. Graceful shutdown makes a route the last one by itself."""
    if rule.set_local_preference is None or rule.communities == (GRACEFUL_SHUTDOWN,):
        return route.preference
    return rule.set_local_preference


def _communities(held: frozenset[str], given: tuple[str, ...]) -> frozenset[str]:
    """The given communities in place of the others; graceful shutdown is added, and never taken away."""
    replaced = frozenset(given) - {GRACEFUL_SHUTDOWN}
    return (replaced or held) | ({GRACEFUL_SHUTDOWN} & held.union(given))


def rule_for(verdict: Verdict, route: Attributes) -> PolicyRule:
    """The first rule that matches a route."""
    return next(rule for rule in verdict if _matches(route, rule))


def _matches(route: Attributes, rule: PolicyRule) -> bool:
    if rule.communities and route.communities.isdisjoint(rule.communities):
        return False
    return rule.as_path is None or as_path_pattern(rule.as_path).search(" ".join(map(str, route.path))) is not None


@lru_cache(maxsize=1024)
def as_path_pattern(text: str) -> re.Pattern[str]:
    """A regular expression for AS paths; `_` is the beginning, the end, or the space between two AS numbers.

    A text that is none matches no path.
    """
    try:
        return re.compile(text.replace("_", "(?:^| |$)"))
    except re.error:
        return re.compile(r"(?!)")
