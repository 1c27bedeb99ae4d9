"""Renders the routing policies of a device model: route maps, and one list of each kind for every rule.

A prefix list matches no route of the other family, and NX-OS applies all `match` lines of an entry: a rule with
prefixes of both families becomes two entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import Action, BgpNeighbor, BgpSpeaker, DeviceModel, NextHop, Policy, PolicyRule, PrefixRange
from railfab.platforms.nxos.names import (
    DENY_ALL,
    DIRECT,
    KEPT_NEXT_HOP,
    PERMIT_ALL,
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
from railfab.platforms.shared.route_maps import RULE_STEP, Entry, all_entries_of

KEEP = ("set ip next-hop unchanged", "set ipv6 next-hop unchanged")


def applied_maps(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> dict[str, str]:
    """The route map of a session by direction: its policy, or the one that stands for none."""
    closed = bgp.requires_policy and not neighbor.is_internal(bgp.asn)
    maps = {}
    for direction, policies in (("in", neighbor.import_policies), ("out", neighbor.export_policies)):
        name = policies[0] if policies else DENY_ALL if closed else ""
        if direction == "out" and neighbor.next_hop is NextHop.UNCHANGED:
            name = f"{name or PERMIT_ALL}{KEPT_NEXT_HOP}"
        if name:
            maps[direction] = name
    return maps


def policy_lines(model: DeviceModel) -> Iterator[Line]:
    """All lists and route maps of a switch."""
    policies, entries = sorted_policies(model), all_entries(model)
    asn = model.bgp.asn if model.bgp else None
    yield from prefix_lists(entries, _range)
    yield from (line for entry in entries for line in _as_path_list(entry))
    yield from (line for entry in entries for line in _community_list(entry))
    yield from (line for policy in policies for line in _route_map(policy, policy.name, asn))
    yield from _own_maps(model, {policy.name: policy for policy in policies}, asn)


def _own_maps(model: DeviceModel, policies: dict[str, Policy], asn: int | None) -> Iterator[Line]:
    """Route maps that stand for a policy that a model need not state, and those that also keep the next hop."""
    if model.bgp is None:
        return
    used = {name for neighbor in model.neighbors for name in applied_maps(neighbor, model.bgp).values()}
    used -= policies.keys()
    yield Line(f"route-map {DIRECT} permit {RULE_STEP}")
    for name in sorted(used):
        base = name.removesuffix(KEPT_NEXT_HOP)
        if base in policies:
            yield from _route_map(policies[base], name, asn)
        elif base in (DENY_ALL, PERMIT_ALL):
            action = Action.DENY if base == DENY_ALL else Action.PERMIT
            yield Line(f"route-map {name} {action} {RULE_STEP}", tuple(map(Line, _kept(name, action))))


def _kept(name: str, action: Action) -> tuple[str, ...]:
    return KEEP if name.endswith(KEPT_NEXT_HOP) and action is Action.PERMIT else ()


def _range(prefix_range: PrefixRange) -> str:
    """A prefix with its lengths, as NX-OS writes them: none for its own, `eq` for one other."""
    length, longest = prefix_range.prefix.prefixlen, prefix_range.prefix.max_prefixlen
    if prefix_range.ge == prefix_range.le:
        return f"{prefix_range.prefix}" + (f" eq {prefix_range.ge}" if prefix_range.ge > length else "")
    ge = f" ge {prefix_range.ge}" if prefix_range.ge > length else ""
    le = f" le {prefix_range.le}" if prefix_range.le < longest or not ge else ""
    return f"{prefix_range.prefix}{ge}{le}"


def _as_path_list(entry: Entry) -> Iterator[Line]:
    if entry.rule.as_path is not None:
        yield Line(f'ip as-path access-list {entry.list_name} seq {LIST_STEP} permit "{entry.rule.as_path}"')


def _community_list(entry: Entry) -> Iterator[Line]:
    """A line for each community: one line with several matches routes that have all of them."""
    for index, community in enumerate(entry.rule.communities, start=1):
        yield Line(f"ip community-list standard {entry.list_name} seq {LIST_STEP * index} permit {community}")


def _route_map(policy: Policy, name: str, asn: int | None) -> Iterator[Line]:
    for entry in all_entries_of(policy):
        lines = (*matches(entry), *_settings(entry.rule, asn), *_kept(name, entry.rule.action))
        yield Line(f"route-map {name} {entry.rule.action} {entry.sequence}", tuple(map(Line, lines)))


def _settings(rule: PolicyRule, asn: int | None) -> Iterator[str]:
    yield from prepended(rule, asn)
    if rule.set_communities:
        yield f"set community {' '.join(rule.set_communities)}"
    yield from preferences(rule)
