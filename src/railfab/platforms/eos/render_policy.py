"""Renders the routing policies of a device model: route maps, and one list of each kind for every rule.

EOS applies all `match` lines of an entry, and a prefix list of one family matches no route of the other: a rule with
prefixes of both families becomes two entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import Action, DeviceModel, Policy, PolicyRule, PrefixRange
from railfab.platforms.eos.names import community
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_maps import DEFAULT_SEQUENCE, Entry, entries_of

IP_WORDS = {4: "ip", 6: "ipv6"}
LIST_STEP = 10


def all_entries(model: DeviceModel) -> list[Entry]:
    """The entries of all policies, by name, without those for all other routes."""
    return [entry for policy in sorted(model.policies, key=_name) for entry in entries_of(policy)]


def _name(policy: Policy) -> str:
    return policy.name


def as_path_lists(entries: list[Entry]) -> Iterator[Line]:
    for entry in entries:
        if entry.rule.as_path is not None:
            yield Line(f"ip as-path access-list {entry.list_name} permit {entry.rule.as_path} any")


def community_lists(entries: list[Entry]) -> Iterator[Line]:
    """One line for each community, any of which is enough."""
    for entry in entries:
        for found in entry.rule.communities:
            yield Line(f"ip community-list {entry.list_name} permit {community(found)}")


def prefix_lists(entries: list[Entry]) -> Iterator[Line]:
    """Those of IPv4, then those of IPv6."""
    for version, word in IP_WORDS.items():
        for entry in entries:
            if entry.version == version:
                yield Line(f"{word} prefix-list {entry.list_name}", tuple(_ranges(entry)))


def _ranges(entry: Entry) -> Iterator[Line]:
    ranges = [found for found in entry.rule.prefixes if found.prefix.version == entry.version]
    for index, found in enumerate(ranges, start=1):
        yield Line(f"seq {LIST_STEP * index} permit {_range(found)}")


def _range(found: PrefixRange) -> str:
    """EOS matches the length of the prefix itself unless it has `eq`, `ge` or `le`."""
    length, longest = found.prefix.prefixlen, found.prefix.max_prefixlen
    if found.ge == found.le:
        return f"{found.prefix}{f' eq {found.ge}' if found.ge > length else ''}"
    ge = f" ge {found.ge}" if found.ge > length or found.le == longest else ""
    le = f" le {found.le}" if found.le < longest else ""
    return f"{found.prefix}{ge}{le}"


def route_maps(model: DeviceModel) -> Iterator[Line]:
    """The entries; a last one where all other routes are permitted, or there is no rule (EOS denies them itself)."""
    for policy in sorted(model.policies, key=_name):
        for entry in entries_of(policy):
            lines = (*_matches(entry), *_settings(entry.rule))
            yield Line(f"route-map {policy.name} {entry.rule.action} {entry.sequence}", tuple(map(Line, lines)))
        if policy.default is Action.PERMIT or not policy.rules:
            yield Line(f"route-map {policy.name} {policy.default} {DEFAULT_SEQUENCE}")


def _matches(entry: Entry) -> Iterator[str]:
    """In the order of their words, as the settings are."""
    if entry.rule.as_path is not None:
        yield f"match as-path {entry.list_name}"
    if entry.rule.communities:
        yield f"match community {entry.list_name}"
    if entry.version is not None:
        yield f"match {IP_WORDS[entry.version]} address prefix-list {entry.list_name}"


def _settings(rule: PolicyRule) -> Iterator[str]:
    """`auto` is the AS number of the switch."""
    if rule.prepend:
        yield "set as-path prepend" + " auto" * rule.prepend
    if rule.set_communities:
        yield f"set community {' '.join(map(community, rule.set_communities))}"
    if rule.set_local_preference is not None:
        yield f"set local-preference {rule.set_local_preference}"
    if rule.set_med is not None:
        yield f"set metric {rule.set_med}"
