"""Routing policies of EOS: route maps, and one list of each kind for every rule.

EOS applies all `match` lines of an entry, and a prefix list of one family matches no route of the other: a rule with
prefixes of both families becomes two entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from railfab.device import Action, DeviceModel, Policy, PrefixRange
from railfab.platforms.eos.names import community, community_name
from railfab.platforms.shared.route_map_grammar import MAX_NUMBER, prefix_range
from railfab.platforms.shared.route_map_lines import all_entries, sorted_policies
from railfab.platforms.shared.route_maps import DraftEntry, Entry, RouteMapDraft, all_entries_of, policies_of
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Word,
    choice,
    integer,
    line,
    lines,
    sections,
    table,
    taken,
)

LIST_STEP = 10
NUMBER = integer(0, MAX_NUMBER)
ACTION = choice({Action.PERMIT: "permit", Action.DENY: "deny"})
_COMMUNITY = r"(?:\d+:\d+|GSHUT|[a-z][a-z-]*)"
_RANGE = re.compile(r"permit (\S+/\d+)(?: eq (\d+))?(?: ge (\d+))?(?: le (\d+))?")
_DENY_ANY = re.compile(r"deny (?:0\.0\.0\.0/0|::/0) le (?:32|128)")
_AS_PATH = re.compile(r"permit (\S+)(?: any)?")
_COMMUNITY_ENTRY = re.compile(rf"permit ({_COMMUNITY})")


def _range_of(version: int, text: str) -> PrefixRange | Action | None:
    """An entry of a prefix list: what it permits, DENY where it ends the list, None of another kind."""
    if _DENY_ANY.fullmatch(text):
        return Action.DENY
    match = _RANGE.fullmatch(text)
    return prefix_range(version, match[1], eq=match[2], ge=match[3], le=match[4]) if match else None


def _range(entry: PrefixRange) -> str:
    """EOS matches the length of the prefix itself unless it has `eq`, `ge` or `le`."""
    length, longest = entry.prefix.prefixlen, entry.prefix.max_prefixlen
    if entry.ge == entry.le:
        return f"permit {entry.prefix}{f' eq {entry.ge}' if entry.ge > length else ''}"
    ge = f" ge {entry.ge}" if entry.ge > length or entry.le == longest else ""
    le = f" le {entry.le}" if entry.le < longest else ""
    return f"permit {entry.prefix}{ge}{le}"


def _entry_of(pattern: re.Pattern[str], text: str) -> str | None:
    """Value that an entry of a list permits; None of another kind."""
    match = pattern.fullmatch(text)
    return match[1] if match else None


def _community_of(text: str) -> str | None:
    native = _entry_of(_COMMUNITY_ENTRY, text)
    return native and community_name(native)


COMMUNITIES: Word[tuple[str, ...]] = Word(
    rf"{_COMMUNITY}(?: {_COMMUNITY})*?(?<! additive)(?<! delete)(?<!none)",
    lambda text: tuple(map(community_name, text.split())),
    lambda names: " ".join(map(community, names)),
)


@dataclass(slots=True, kw_only=True)
class Ipv4PrefixList:
    entries: dict[int, PrefixRange | Action | None] = table(
        "seq {} {}", Word(r"\d+", int), Word(r".+", partial(_range_of, 4), _range)
    )


@dataclass(slots=True, kw_only=True)
class Ipv6PrefixList:
    entries: dict[int, PrefixRange | Action | None] = table(
        "seq {} {}", Word(r"\d+", int), Word(r".+", partial(_range_of, 6), _range)
    )


@dataclass(slots=True, kw_only=True)
class RouteMapEntry:
    """An entry of a route map. unmodelled: it has a condition, or a jump, that a model has not."""

    as_path_list: str | None = line("match as-path {}", WORD)
    community_list: str | None = line("match community {}", WORD)
    ipv4_list: str | None = line("match ip address prefix-list {}", WORD)
    ipv6_list: str | None = line("match ipv6 address prefix-list {}", WORD)
    unmodelled: bool = taken(r"(?:match|continue|sub-route-map)\b.*")
    prepend: int = line(
        "set as-path prepend {}",
        Word(r"auto(?: auto)*", lambda text: len(text.split()), lambda count: " ".join(["auto"] * count)),
        default=0,
    )
    communities: tuple[str, ...] = line("set community {}", COMMUNITIES, default=())
    local_preference: int | None = line("set local-preference {}", NUMBER)
    med: int | None = line("set metric {}", NUMBER)


@dataclass(slots=True, kw_only=True)
class PolicyLists:
    """Lists by their names. regexp_lists: of communities by regular expressions, which a model has not."""

    as_path_lists: list[tuple[str, str | None]] = lines(
        "ip as-path access-list {} {}",
        *(WORD, Word(r".+", partial(_entry_of, _AS_PATH), "permit {} any".format)),
    )
    community_lists: list[tuple[str, str | None]] = lines(
        "ip community-list {} {}",
        *(Word(r"(?!regexp )\S+", str), Word(r".+", _community_of, lambda name: f"permit {community(name or '')}")),
    )
    regexp_lists: list[tuple[str, str]] = lines("ip community-list regexp {} {}", WORD, REST)
    ipv4_prefix_lists: dict[str, Ipv4PrefixList] = sections("ip prefix-list {}", WORD, kind=Ipv4PrefixList)
    ipv6_prefix_lists: dict[str, Ipv6PrefixList] = sections("ipv6 prefix-list {}", WORD, kind=Ipv6PrefixList)


RouteMaps = dict[tuple[str, Action, int], RouteMapEntry]
"""Entries by name of the route map, action and sequence number."""


# To EOS


def native_lists(model: DeviceModel) -> PolicyLists:
    entries = all_entries(model)
    return PolicyLists(
        as_path_lists=[(each.list_name, each.rule.as_path) for each in entries if each.rule.as_path is not None],
        community_lists=[(each.list_name, name) for each in entries for name in each.rule.communities],
        ipv4_prefix_lists={
            each.list_name: Ipv4PrefixList(entries=_numbered(each)) for each in entries if each.version == 4
        },
        ipv6_prefix_lists={
            each.list_name: Ipv6PrefixList(entries=_numbered(each)) for each in entries if each.version == 6
        },
    )


def _numbered(entry: Entry) -> dict[int, PrefixRange | Action | None]:
    return {LIST_STEP * place: prefixes for place, prefixes in enumerate(entry.prefixes, start=1)}


def native_route_maps(model: DeviceModel) -> RouteMaps:
    return {
        (policy.name, entry.rule.action, entry.sequence): _native_entry(entry)
        for policy in sorted_policies(model)
        for entry in all_entries_of(policy)
    }


def _native_entry(entry: Entry) -> RouteMapEntry:
    rule = entry.rule
    return RouteMapEntry(
        as_path_list=entry.list_name if rule.as_path is not None else None,
        community_list=entry.list_name if rule.communities else None,
        ipv4_list=entry.list_name if entry.version == 4 else None,
        ipv6_list=entry.list_name if entry.version == 6 else None,
        prepend=rule.prepend,
        communities=rule.set_communities,
        local_preference=rule.set_local_preference,
        med=rule.set_med,
    )


# From EOS


def policies_in(lists: PolicyLists, route_maps: RouteMaps) -> tuple[Policy, ...]:
    draft = RouteMapDraft()
    for version, prefix_lists in ((4, lists.ipv4_prefix_lists), (6, lists.ipv6_prefix_lists)):
        for name, prefix_list in prefix_lists.items():
            draft.prefix_lists[version, name] = prefix_list.entries
    _number(draft.as_paths, lists.as_path_lists)
    _number(draft.communities, [*lists.community_lists, *((name, None) for name, _ in lists.regexp_lists)])
    for (name, action, sequence), native in route_maps.items():
        draft.route_maps.setdefault(name, {})[sequence] = DraftEntry(
            action=action,
            prefix_lists=_by_version(native),
            community_list=native.community_list,
            as_path_list=native.as_path_list,
            set_communities=native.communities,
            set_local_preference=native.local_preference,
            set_med=native.med,
            own_prepended=native.prepend,
            unread=native.unmodelled,
        )
    return policies_of(draft, frozenset())


def _by_version(native: RouteMapEntry) -> dict[int, str]:
    names = {4: native.ipv4_list, 6: native.ipv6_list}
    return {version: name for version, name in names.items() if name is not None}


def _number(lists: dict[str, dict[int, str | None]], entries: Iterable[tuple[str, str | None]]) -> None:
    """Entries of lists, which have no number, in their order."""
    for name, entry in entries:
        numbered = lists.setdefault(name, {})
        numbered[len(numbered)] = entry
