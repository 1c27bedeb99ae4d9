"""Renders the routing policies of a device model: route maps, and one list of each kind for every rule.

A route map of FRR, which NVUE configures, applies all conditions of a rule, and a prefix list of one family matches no
route of the other: a rule with prefixes of both families becomes two.
"""

from __future__ import annotations

from railfab.device import Action, DeviceModel, LinkBandwidth, PolicyRule, PrefixRange
from railfab.platforms.cumulus.bgp import NO_POLICY, needs_no_policy
from railfab.platforms.cumulus.names import allowed
from railfab.platforms.cumulus.nodes import stated
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.route_maps import DEFAULT_SEQUENCE, Entry, all_entries_of, entries_of

LIST_STEP = 10
BANDWIDTHS = {LinkBandwidth.NEXT_HOPS: "multipaths", LinkBandwidth.CUMULATIVE: "cumulative"}
COMMUNITIES = {"graceful-shutdown": "65535:0"}
"""Communities that NVUE takes as numbers only (NVUE Format Reference, well-known-community)."""


def _list_name(entry: Entry) -> str:
    return allowed(f"{entry.policy}_{entry.sequence}")


def render_policies(model: DeviceModel) -> Json | None:
    """`router policy`: the lists and route maps of a switch."""
    entries = [entry for policy in model.policies for entry in entries_of(policy)]
    asn = model.bgp.asn if model.bgp else None
    maps = {
        allowed(policy.name): {"rule": {str(entry.sequence): _rule(entry, asn) for entry in all_entries_of(policy)}}
        for policy in model.policies
    }
    if needs_no_policy(model):
        maps[NO_POLICY] = {"rule": {str(DEFAULT_SEQUENCE): _last(Action.DENY)}}
    return (
        stated(
            prefix_list={_list_name(entry): _prefix_list(entry) for entry in entries if entry.version is not None},
            community_list={_list_name(entry): _community_list(entry) for entry in entries if entry.rule.communities},
            as_path_list={
                _list_name(entry): _as_path_list(entry) for entry in entries if entry.rule.as_path is not None
            },
            route_map=maps,
        )
        or None
    )


def _prefix_list(entry: Entry) -> Json:
    rules = {
        str(LIST_STEP * index): {"action": "permit", "match": {str(prefix_range.prefix): _lengths(prefix_range)}}
        for index, prefix_range in enumerate(entry.prefixes, start=1)
    }
    return {"type": f"ipv{entry.version}", "rule": rules}


def _lengths(prefix_range: PrefixRange) -> Json:
    """FRR wants `ge` to be longer than the prefix, and takes neither bound for an exact match."""
    length = prefix_range.prefix.prefixlen
    return stated(
        min_prefix_len=prefix_range.ge if prefix_range.ge > length else None,
        max_prefix_len=prefix_range.le if prefix_range.le > length else None,
    )


def _community_list(entry: Entry) -> Json:
    rules = {
        str(LIST_STEP * index): {"action": "permit", "community": {COMMUNITIES.get(community, community): {}}}
        for index, community in enumerate(entry.rule.communities, start=1)
    }
    return {"rule": rules}


def _as_path_list(entry: Entry) -> Json:
    return {"rule": {str(LIST_STEP): {"action": "permit", "aspath-exp": entry.rule.as_path}}}


def _last(action: Action) -> Json:
    return {"action": {str(action): {}}}


def _rule(entry: Entry, asn: int | None) -> Json:
    rule = entry.rule
    matches = stated(
        type=f"ipv{entry.version}" if entry.version is not None else None,
        ip_prefix_list=_list_name(entry) if entry.version is not None else None,
        community_list=_list_name(entry) if rule.communities else None,
        as_path_list=_list_name(entry) if rule.as_path is not None else None,
    )
    return {**_last(rule.action), **stated(match=matches, set=_settings(rule, asn))}


def _settings(rule: PolicyRule, asn: int | None) -> Json:
    prepended = ",".join([str(asn)] * rule.prepend) if rule.prepend and asn is not None else None
    return stated(
        as_path_prepend=stated(**{"as": prepended}),
        community={COMMUNITIES.get(name, name): {} for name in rule.set_communities},
        ext_community_bw=BANDWIDTHS[rule.set_link_bandwidth] if rule.set_link_bandwidth is not None else None,
        local_preference=rule.set_local_preference,
        metric=rule.set_med,
    )
