"""Renders the routing policies of a device model: route maps, and one list of each kind for every rule.

FRR applies all `match` lines of an entry, and a prefix list of one family matches no route of the other: a rule with
prefixes of both families becomes two entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import Action, DeviceModel, LinkBandwidth, Policy, PolicyRule, PrefixRange
from railfab.platforms.frr.names import (
    community_name,
    community_number,
    natural_order,
)
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_maps import DEFAULT_SEQUENCE, Entry, entries_of

IP_WORDS = {4: "ip", 6: "ipv6"}
LIST_STEP = 5
LINK_BANDWIDTHS = {LinkBandwidth.NEXT_HOPS: "num-multipaths", LinkBandwidth.CUMULATIVE: "cumulative"}


def policy_lines(model: DeviceModel) -> tuple[Line, ...]:
    """All lists and route maps of a switch, in FRR's order of sections."""
    policies = sorted(model.policies, key=lambda policy: policy.name)
    entries = [entry for policy in policies for entry in entries_of(policy)]
    by_name = sorted(entries, key=lambda entry: (natural_order(entry.policy), entry.sequence))
    asn = model.bgp.asn if model.bgp else None
    return (
        *(line for entry in entries if entry.version == 4 for line in _prefix_list(entry)),
        *(line for entry in entries if entry.version == 6 for line in _prefix_list(entry)),
        *(line for entry in by_name for line in _as_path_list(entry)),
        *(line for entry in by_name for line in _community_list(entry)),
        *(line for policy in policies for line in _route_map(policy, asn)),
    )


def _prefix_list(entry: Entry) -> Iterator[Line]:
    ranges = [found for found in entry.rule.prefixes if found.prefix.version == entry.version]
    for index, found in enumerate(ranges, start=1):
        name = f"{IP_WORDS[found.prefix.version]} prefix-list {entry.list_name}"
        yield Line(f"{name} seq {LIST_STEP * index} permit {_range(found)}")


def _range(found: PrefixRange) -> str:
    """FRR requires `ge` to be longer than the prefix and omits both bounds for an exact match."""
    length = found.prefix.prefixlen
    ge = f" ge {found.ge}" if found.ge > length else ""
    le = f" le {found.le}" if found.le > length else ""
    return f"{found.prefix}{ge}{le}"


def _as_path_list(entry: Entry) -> Iterator[Line]:
    if entry.rule.as_path is not None:
        yield Line(f"bgp as-path access-list {entry.list_name} seq {LIST_STEP} permit {entry.rule.as_path}")


def _community_list(entry: Entry) -> Iterator[Line]:
    for index, community in enumerate(entry.rule.communities, start=1):
        name = f"bgp community-list standard {entry.list_name}"
        yield Line(f"{name} seq {LIST_STEP * index} permit {community_name(community)}")


def _route_map(policy: Policy, asn: int | None) -> Iterator[Line]:
    """The entries; a last one where all other routes are permitted, or there is no rule (FRR denies them itself)."""
    for entry in entries_of(policy):
        lines = (*_matches(entry), *_settings(entry.rule, asn))
        yield Line(f"route-map {policy.name} {entry.rule.action} {entry.sequence}", tuple(map(Line, lines)))
    if policy.default is Action.PERMIT or not policy.rules:
        yield Line(f"route-map {policy.name} {policy.default} {DEFAULT_SEQUENCE}")


def _matches(entry: Entry) -> Iterator[str]:
    if entry.rule.as_path is not None:
        yield f"match as-path {entry.list_name}"
    if entry.rule.communities:
        yield f"match community {entry.list_name}"
    if entry.version is not None:
        yield f"match {IP_WORDS[entry.version]} address prefix-list {entry.list_name}"


def _settings(rule: PolicyRule, asn: int | None) -> Iterator[str]:
    """FRR sorts communities by number."""
    if rule.prepend and asn is not None:
        yield "set as-path prepend" + f" {asn}" * rule.prepend
    if rule.set_communities:
        yield f"set community {' '.join(map(community_name, sorted(rule.set_communities, key=community_number)))}"
    if rule.set_link_bandwidth is not None:
        yield f"set extcommunity bandwidth {LINK_BANDWIDTHS[rule.set_link_bandwidth]}"
    if rule.set_local_preference is not None:
        yield f"set local-preference {rule.set_local_preference}"
    if rule.set_med is not None:
        yield f"set metric {rule.set_med}"
