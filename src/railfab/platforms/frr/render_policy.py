"""Renders the routing policies of a device model: route maps, and one list of each kind for every rule.

FRR applies all `match` lines of an entry, and a prefix list of one family matches no route of the other: a rule with
prefixes of both families becomes two entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DeviceModel, LinkBandwidth, Policy, PolicyRule, PrefixRange, natural
from railfab.platforms.frr.names import (
    community_name,
    community_number,
)
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_map_lines import (
    LIST_STEP,
    all_entries,
    matches,
    preferences,
    prefix_lists,
    prepended,
    sorted_policies,
)
from railfab.platforms.shared.route_maps import Entry, all_entries_of

LINK_BANDWIDTHS = {LinkBandwidth.NEXT_HOPS: "num-multipaths", LinkBandwidth.CUMULATIVE: "cumulative"}


def policy_lines(model: DeviceModel) -> tuple[Line, ...]:
    """All lists and route maps of a switch, in FRR's order of sections."""
    entries = all_entries(model)
    by_name = sorted(entries, key=lambda entry: (natural(entry.policy), entry.sequence))
    asn = model.bgp.asn if model.bgp else None
    return (
        *prefix_lists(entries, _range),
        *(line for entry in by_name for line in _as_path_list(entry)),
        *(line for entry in by_name for line in _community_list(entry)),
        *(line for policy in sorted_policies(model) for line in _route_map(policy, asn)),
    )


def _range(prefix_range: PrefixRange) -> str:
    """FRR requires `ge` to be longer than the prefix and omits both bounds for an exact match."""
    length = prefix_range.prefix.prefixlen
    ge = f" ge {prefix_range.ge}" if prefix_range.ge > length else ""
    le = f" le {prefix_range.le}" if prefix_range.le > length else ""
    return f"{prefix_range.prefix}{ge}{le}"


def _as_path_list(entry: Entry) -> Iterator[Line]:
    if entry.rule.as_path is not None:
        yield Line(f"bgp as-path access-list {entry.list_name} seq {LIST_STEP} permit {entry.rule.as_path}")


def _community_list(entry: Entry) -> Iterator[Line]:
    for index, community in enumerate(entry.rule.communities, start=1):
        name = f"bgp community-list standard {entry.list_name}"
        yield Line(f"{name} seq {LIST_STEP * index} permit {community_name(community)}")


def _route_map(policy: Policy, asn: int | None) -> Iterator[Line]:
    for entry in all_entries_of(policy):
        lines = (*matches(entry), *_settings(entry.rule, asn))
        yield Line(f"route-map {policy.name} {entry.rule.action} {entry.sequence}", tuple(map(Line, lines)))


def _settings(rule: PolicyRule, asn: int | None) -> Iterator[str]:
    """FRR sorts communities by number."""
    yield from prepended(rule, asn)
    if rule.set_communities:
        yield f"set community {' '.join(map(community_name, sorted(rule.set_communities, key=community_number)))}"
    if rule.set_link_bandwidth is not None:
        yield f"set extcommunity bandwidth {LINK_BANDWIDTHS[rule.set_link_bandwidth]}"
    yield from preferences(rule)
