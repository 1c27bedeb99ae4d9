"""Renders the routing policies of a device model: route maps, and one list of each kind for every rule.

EOS applies all `match` lines of an entry, and a prefix list of one family matches no route of the other: a rule with
prefixes of both families becomes two entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DeviceModel, PolicyRule, PrefixRange
from railfab.platforms.eos.names import community
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import IP_WORDS
from railfab.platforms.shared.route_map_lines import matches, preferences, sorted_policies
from railfab.platforms.shared.route_maps import Entry, all_entries_of

LIST_STEP = 10


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
    for index, found in enumerate(entry.prefixes, start=1):
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
    for policy in sorted_policies(model):
        for entry in all_entries_of(policy):
            lines = (*matches(entry), *_settings(entry.rule))
            yield Line(f"route-map {policy.name} {entry.rule.action} {entry.sequence}", tuple(map(Line, lines)))


def _settings(rule: PolicyRule) -> Iterator[str]:
    """`auto` is the AS number of the switch."""
    if rule.prepend:
        yield "set as-path prepend" + " auto" * rule.prepend
    if rule.set_communities:
        yield f"set community {' '.join(map(community, rule.set_communities))}"
    yield from preferences(rule)
