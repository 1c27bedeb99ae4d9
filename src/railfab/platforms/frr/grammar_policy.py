"""Grammar of FRR's prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re
from ipaddress import ip_network

from railfab.device import Action, PrefixRange
from railfab.platforms.frr.draft import Draft
from railfab.platforms.frr.names import community_name
from railfab.platforms.frr.render_policy import IP_WORDS, LINK_BANDWIDTHS
from railfab.platforms.shared.line_grammar import rule, within
from railfab.platforms.shared.route_maps import DraftEntry

MAX_ASN = MAX_NUMBER = 2**32 - 1
BANDWIDTHS = {word: bandwidth for bandwidth, word in LINK_BANDWIDTHS.items()}
VERSIONS = {word: version for version, word in IP_WORDS.items()}


def _permit(draft: Draft, match: re.Match[str]) -> None:
    version = VERSIONS[match[1]]
    prefix = ip_network(("0.0.0.0/0" if version == 4 else "::/0") if match[4] == "any" else match[4])
    if prefix.version != version:
        raise ValueError(f"{prefix} is of the other family")
    length, longest = prefix.prefixlen, prefix.max_prefixlen
    open_ended = match[5] or match[4] == "any"
    ge = within(match[5], length, longest) if match[5] else length
    le = within(match[6], ge, longest) if match[6] else (longest if open_ended else length)
    entries = draft.prefix_lists.setdefault((version, match[2]), {})
    entries[int(match[3])] = PrefixRange(prefix=prefix, ge=ge, le=le)


def _deny_any(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_lists.setdefault((VERSIONS[match[1]], match[2]), {})[int(match[3])] = Action.DENY


def _other_prefix(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_lists.setdefault((VERSIONS[match[1]], match[2]), {})[int(match[3])] = None


def _other_community(draft: Draft, match: re.Match[str]) -> None:
    draft.communities.setdefault(match[1], {})[int(match[2])] = None


def _other_as_path(draft: Draft, match: re.Match[str]) -> None:
    draft.as_paths.setdefault(match[1], {})[int(match[2])] = None


def _other_condition(draft: Draft, _match: re.Match[str]) -> None:
    draft.entry.other = True


def _as_path_list(draft: Draft, match: re.Match[str]) -> None:
    draft.as_paths.setdefault(match[1], {})[int(match[2])] = match[3]


def _community_list(draft: Draft, match: re.Match[str]) -> None:
    draft.communities.setdefault(match[1], {})[int(match[2])] = community_name(match[3])


def _entry(draft: Draft, match: re.Match[str]) -> None:
    draft.entry = DraftEntry(action=Action(match[2]))
    draft.route_maps.setdefault(match[1], {})[within(match[3], 1, 65535)] = draft.entry


def _match_prefixes(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.prefix_lists[VERSIONS[match[1]]] = match[2]


def _match_community(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.community_list = match[1]


def _match_as_path(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.as_path_list = match[1]


def _prepend(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.prepended = tuple(within(asn, 1, MAX_ASN) for asn in match[1].split())


def _set_communities(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_communities = tuple(map(community_name, match[1].split()))


def _local_preference(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_local_preference = within(match[1], 0, MAX_NUMBER)


def _med(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_med = within(match[1], 0, MAX_NUMBER)


def _link_bandwidth(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_link_bandwidth = BANDWIDTHS[match[1]]


_ENTRY = (
    rule(r"match (ip|ipv6) address prefix-list (\S+)", _match_prefixes),
    rule(r"match community (\S+)", _match_community),
    rule(r"match as-path (\S+)", _match_as_path),
    rule(r"(?:match|call|on-match|continue)\b.*", _other_condition),
    rule(r"set as-path prepend ([\d ]+)", _prepend),
    rule(r"set community (?!.*(?:additive|none)$)(.+)", _set_communities),
    rule(r"set local-preference (\d+)", _local_preference),
    rule(r"set metric (\d+)", _med),
    rule(r"set extcommunity bandwidth (num-multipaths|cumulative)", _link_bandwidth),
)
POLICY = (
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) permit (\S+/\d+|any)(?: ge (\d+))?(?: le (\d+))?", _permit),
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) deny (?:any|0\.0\.0\.0/0 le 32|::/0 le 128)", _deny_any),
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) .+", _other_prefix),
    rule(r"bgp as-path access-list (\S+) seq (\d+) permit (.+)", _as_path_list),
    rule(r"bgp as-path access-list (\S+) seq (\d+) .+", _other_as_path),
    rule(r"bgp community-list standard (\S+) seq (\d+) permit (\S+)", _community_list),
    rule(r"bgp community-list \S+ (\S+) seq (\d+) .+", _other_community),
    rule(r"route-map (\S+) (permit|deny) (\d+)", _entry, *_ENTRY),
)
