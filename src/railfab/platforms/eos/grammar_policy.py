"""Grammar of EOS's prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re
from ipaddress import ip_network

from railfab.device import Action, PrefixRange
from railfab.platforms.eos.draft import Draft
from railfab.platforms.eos.names import community_name
from railfab.platforms.eos.render_policy import IP_WORDS
from railfab.platforms.shared.line_grammar import rule, within
from railfab.platforms.shared.route_maps import DraftEntry

MAX_NUMBER = 2**32 - 1
VERSIONS = {word: version for version, word in IP_WORDS.items()}
_COMMUNITY = r"(?:\d+:\d+|GSHUT|[a-z][a-z-]*)"


def _prefix_list(draft: Draft, match: re.Match[str]) -> None:
    draft.list_key = VERSIONS[match[1]], match[2]
    draft.prefix_lists.setdefault(draft.list_key, {})


def _permit(draft: Draft, match: re.Match[str]) -> None:
    version, _ = draft.list_key
    prefix = ip_network(match[2])
    if prefix.version != version:
        raise ValueError(f"{prefix} is of the other family")
    length, longest = prefix.prefixlen, prefix.max_prefixlen
    if match[3]:
        ge = le = within(match[3], length, longest)
    else:
        ge = within(match[4], length, longest) if match[4] else length
        le = within(match[5], ge, longest) if match[5] else (longest if match[4] else length)
    draft.prefix_lists[draft.list_key][int(match[1])] = PrefixRange(prefix=prefix, ge=ge, le=le)


def _deny_any(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_lists[draft.list_key][int(match[1])] = Action.DENY


def _other_prefix(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_lists[draft.list_key][int(match[1])] = None


def _community(draft: Draft, match: re.Match[str]) -> None:
    entries = draft.communities.setdefault(match[1], {})
    entries[len(entries)] = community_name(match[2])


def _other_community(draft: Draft, match: re.Match[str]) -> None:
    entries = draft.communities.setdefault(match[1], {})
    entries[len(entries)] = None


def _as_path(draft: Draft, match: re.Match[str]) -> None:
    entries = draft.as_paths.setdefault(match[1], {})
    entries[len(entries)] = match[2]


def _other_as_path(draft: Draft, match: re.Match[str]) -> None:
    entries = draft.as_paths.setdefault(match[1], {})
    entries[len(entries)] = None


def _entry(draft: Draft, match: re.Match[str]) -> None:
    draft.entry = DraftEntry(action=Action(match[2]))
    draft.route_maps.setdefault(match[1], {})[within(match[3], 1, 16777215)] = draft.entry


def _match_prefixes(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.prefix_lists[VERSIONS[match[1]]] = match[2]


def _match_community(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.community_list = match[1]


def _match_as_path(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.as_path_list = match[1]


def _other_condition(draft: Draft, _match: re.Match[str]) -> None:
    draft.entry.other = True


def _prepend(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.own_prepended = len(match[1].split())


def _set_communities(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_communities = tuple(map(community_name, match[1].split()))


def _local_preference(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_local_preference = within(match[1], 0, MAX_NUMBER)


def _med(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_med = within(match[1], 0, MAX_NUMBER)


_LIST = (
    rule(r"seq (\d+) permit (\S+/\d+)(?: eq (\d+))?(?: ge (\d+))?(?: le (\d+))?", _permit),
    rule(r"seq (\d+) deny (?:0\.0\.0\.0/0|::/0) le (?:32|128)", _deny_any),
    rule(r"seq (\d+) .+", _other_prefix),
)
_ENTRY = (
    rule(r"match (ip|ipv6) address prefix-list (\S+)", _match_prefixes),
    rule(r"match community (\S+)", _match_community),
    rule(r"match as-path (\S+)", _match_as_path),
    rule(r"(?:match|continue|sub-route-map)\b.*", _other_condition),
    rule(r"set as-path prepend (auto(?: auto)*)", _prepend),
    rule(rf"set community ({_COMMUNITY}(?: {_COMMUNITY})*?)(?<! additive)(?<! delete)(?<!none)", _set_communities),
    rule(r"set local-preference (\d+)", _local_preference),
    rule(r"set metric (\d+)", _med),
)
POLICY = (
    rule(r"(ip|ipv6) prefix-list (\S+)", _prefix_list, *_LIST),
    rule(r"ip as-path access-list (\S+) permit (\S+)(?: any)?", _as_path),
    rule(r"ip as-path access-list (\S+) .+", _other_as_path),
    rule(rf"ip community-list (?!regexp )(\S+) permit ({_COMMUNITY})", _community),
    rule(r"ip community-list (?:regexp )?(\S+) .+", _other_community),
    rule(r"route-map (\S+) (permit|deny) (\d+)", _entry, *_ENTRY),
)
