"""Renders routing policies: route maps, and one set of each kind for every rule (sonic-route-map,
-routing-policy-sets).

FRR, to which frrcfgd writes them, applies all conditions of an entry, and a prefix list of one family matches no route
of the other: a rule with prefixes of both families becomes two entries.
"""

from __future__ import annotations

from railfab.device import Action, DeviceModel, PolicyRule, PrefixRange
from railfab.platforms.shared.route_maps import Entry, all_entries_of
from railfab.platforms.sonic.names import list_name
from railfab.platforms.sonic.tables import Row, Tables, key, merged, stated

MODES = {4: "IPv4", 6: "IPv6"}
EXACT = "exact"


def render_policies(model: DeviceModel) -> Tables:
    asn = model.bgp.asn if model.bgp else None
    names: Tables = {"ROUTE_MAP_SET": {policy.name: {} for policy in model.policies}} if model.policies else {}
    entries = (entry for policy in model.policies for entry in all_entries_of(policy))
    return merged((*(_entry(entry, asn) for entry in entries), names))


def _entry(entry: Entry, asn: int | None) -> Tables:
    """An entry of a route map, and the sets that it names."""
    rule, name = entry.rule, list_name(entry.policy, entry.sequence)
    fields = stated(
        route_operation=rule.action,
        match_prefix_set=None if entry.version is None else name,
        match_community=name if rule.communities else None,
        match_as_path=None if rule.as_path is None else name,
    )
    tables: Tables = {"ROUTE_MAP": {key(entry.policy, entry.sequence): {**fields, **_settings(rule, asn)}}}
    if entry.version is not None:
        tables |= _prefixes(entry, entry.version)
    if rule.communities:
        members = stated(set_type="STANDARD", match_action="ANY", community_member=sorted(rule.communities))
        tables["COMMUNITY_SET"] = {name: members}
    if rule.as_path is not None:
        tables["AS_PATH_SET"] = {name: stated(as_path_set_member=[rule.as_path])}
    return tables


def _prefixes(entry: Entry, version: int) -> Tables:
    rows = {
        key(list_name(entry.policy, entry.sequence), prefix_range.prefix, _lengths(prefix_range)): {
            "action": Action.PERMIT.value
        }
        for prefix_range in entry.prefixes
    }
    return {"PREFIX_SET": {list_name(entry.policy, entry.sequence): {"mode": MODES[version]}}, "PREFIX": rows}


def _lengths(prefix_range: PrefixRange) -> str:
    """The lengths of the prefixes inside one, as `24..32`."""
    shortest, longest = prefix_range.ge, prefix_range.le
    return EXACT if shortest == longest == prefix_range.prefix.prefixlen else f"{shortest}..{longest}"


def _settings(rule: PolicyRule, asn: int | None) -> Row:
    prepends = bool(rule.prepend) and asn is not None
    return stated(
        set_asn=asn if prepends else None,
        set_repeat_asn=rule.prepend if prepends else None,
        set_community_inline=sorted(rule.set_communities) if rule.set_communities else None,
        set_local_pref=rule.set_local_preference,
        set_med=rule.set_med,
    )
