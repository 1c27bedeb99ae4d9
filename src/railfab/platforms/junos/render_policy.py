"""Renders the routing policies of a device model: policy statements, communities, AS lists, and those that Junos needs
besides, for equal paths, aggregates and next hops."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import (
    Action,
    DeviceModel,
    NextHop,
    Policy,
    PolicyRule,
    PrefixRange,
)
from railfab.platforms.junos.names import (
    LOAD_BALANCE,
    NEXT_HOP_SELF,
    TYPE_5,
    as_list_name,
    community_name,
    summary_policy,
)
from railfab.platforms.junos.trees import block, entry, leaf, listed, setting, short
from railfab.platforms.shared.line_tree import Line

ACTIONS = {Action.PERMIT: "accept", Action.DENY: "reject"}
DEFAULT_TERM = "default"
TERM_STEP = 10


def policy_lines(model: DeviceModel) -> Iterator[Line]:
    """Every policy by name, then what they refer to."""
    asn = model.bgp.asn if model.bgp else 0
    yield from (_policy(policy, asn) for policy in model.policies)
    yield from _added(model)
    rules = [rule for policy in model.policies for rule in policy.rules]
    communities = {name for rule in rules for name in (*rule.communities, *rule.set_communities)}
    for community in sorted(communities):
        yield leaf("community", community_name(community), "members", community)
    yield from _as_lists(model)


def _policy(policy: Policy, asn: int) -> Line:
    """A policy. A route is compared with every prefix of a rule, as in the model, and not only with the longest."""
    several = any(len(rule.prefixes) > 1 for rule in policy.rules)
    terms = (_term(TERM_STEP * place, rule, asn) for place, rule in enumerate(policy.rules, start=1))
    walks = block("defaults", block("route-filter", (Line("walkup"),))) if several else ()
    last = (_last(policy.default),) if policy.default is not None else ()
    return entry(f"policy-statement {policy.name}", walks, terms, last)


def _last(action: Action) -> Line:
    return entry(f"term {DEFAULT_TERM}", (leaf("then", ACTIONS[action]),))


def _term(number: int, rule: PolicyRule, asn: int) -> Line:
    matches = (
        *listed("community", map(community_name, rule.communities)),
        *(Line(f"route-filter {prefix_range.prefix} {_range(prefix_range)}") for prefix_range in rule.prefixes),
    )
    return entry(f"term {number}", short("from", matches), short("then", _then(rule, asn)))


def _range(prefix_range: PrefixRange) -> str:
    length, longest = prefix_range.prefix.prefixlen, prefix_range.prefix.max_prefixlen
    if (prefix_range.ge, prefix_range.le) == (length, length):
        return "exact"
    if prefix_range.ge == length:
        return "orlonger" if prefix_range.le == longest else f"upto /{prefix_range.le}"
    return f"prefix-length-range /{prefix_range.ge}-/{prefix_range.le}"


def _then(rule: PolicyRule, asn: int) -> Iterator[Line]:
    """The settings of a rule and its decision. The first community replaces the route's, others are added."""
    yield from setting("metric", rule.set_med)
    yield from setting("local-preference", rule.set_local_preference)
    for place, community in enumerate(rule.set_communities):
        yield leaf("community", "add" if place else "set", community_name(community))
    yield from setting("as-path-prepend", " ".join([str(asn)] * rule.prepend))
    yield Line(ACTIONS[rule.action])


def _added(model: DeviceModel) -> Iterator[Line]:
    """Policies that Junos needs for settings that others have elsewhere."""
    bgp = model.bgp
    if bgp is None:
        return
    yield entry(f"policy-statement {LOAD_BALANCE}", short("then", (Line("load-balance per-packet"),)))
    if any(neighbor.next_hop is NextHop.SELF for neighbor in bgp.neighbors):
        yield entry(f"policy-statement {NEXT_HOP_SELF}", short("then", (Line("next-hop self"),)))
    for instance in sorted({aggregate.network_instance for aggregate in bgp.aggregates if aggregate.summary_only}):
        prefixes = [
            aggregate.prefix
            for aggregate in bgp.aggregates
            if aggregate.summary_only and aggregate.network_instance == instance
        ]
        filters = (Line(f"route-filter {prefix} longer") for prefix in prefixes)
        term = entry("term contributors", short("from", filters), (Line("then reject"),))
        yield entry(f"policy-statement {summary_policy(instance)}", (term,))
    if any(instance.vni is not None for instance in model.network_instances):
        term = entry("term 10", short("from", listed("protocol", ("bgp", "direct"))), (Line("then accept"),))
        yield entry(f"policy-statement {TYPE_5}", (term,))


def _as_lists(model: DeviceModel) -> Iterator[Line]:
    """The AS numbers of the peers of unnumbered sessions."""
    if model.bgp is None:
        return
    peers = (neighbor.remote_as for neighbor in model.neighbors if neighbor.unnumbered)
    numbers = sorted({asn for asn in peers if isinstance(asn, int) and asn})
    yield from (leaf("as-list", as_list_name(number), "members", number) for number in numbers)
