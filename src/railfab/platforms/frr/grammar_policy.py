"""Grammar of FRR's prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re

from railfab.platforms.frr.draft import FrrDraft
from railfab.platforms.frr.names import community_name
from railfab.platforms.frr.render_policy import LINK_BANDWIDTHS
from railfab.platforms.shared.line_grammar import LineRule, rule
from railfab.platforms.shared.native_names import VERSIONS
from railfab.platforms.shared.route_map_grammar import (
    MATCHES,
    OTHER_LINES,
    PREFERENCES,
    PREPEND,
    other_conditions,
    prefix_range,
    route_map,
)

BANDWIDTHS = {word: bandwidth for bandwidth, word in LINK_BANDWIDTHS.items()}


def _permit(draft: FrrDraft, match: re.Match[str]) -> None:
    version = VERSIONS[match[1]]
    permitted = prefix_range(version, match[4], ge=match[5], le=match[6])
    draft.prefix_list(version, match[2])[int(match[3])] = permitted


def _other_community(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.communities.setdefault(match[1], {})[int(match[2])] = None


def _other_as_path(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.as_paths.setdefault(match[1], {})[int(match[2])] = None


def _as_path_list(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.as_paths.setdefault(match[1], {})[int(match[2])] = match[3]


def _community_list(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.communities.setdefault(match[1], {})[int(match[2])] = community_name(match[3])


def _set_communities(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.entry.set_communities = tuple(map(community_name, match[1].split()))


def _link_bandwidth(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.entry.set_link_bandwidth = BANDWIDTHS[match[1]]


_ENTRY: tuple[LineRule[FrrDraft], ...] = (
    *MATCHES,
    other_conditions("match", "call", "on-match", "continue"),
    PREPEND,
    rule(r"set community (?!.*(?:additive|none)$)(.+)", _set_communities),
    *PREFERENCES,
    rule(r"set extcommunity bandwidth (num-multipaths|cumulative)", _link_bandwidth),
)
POLICY: tuple[LineRule[FrrDraft], ...] = (
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) permit (\S+/\d+|any)(?: ge (\d+))?(?: le (\d+))?", _permit),
    *OTHER_LINES,
    rule(r"bgp as-path access-list (\S+) seq (\d+) permit (.+)", _as_path_list),
    rule(r"bgp as-path access-list (\S+) seq (\d+) .+", _other_as_path),
    rule(r"bgp community-list standard (\S+) seq (\d+) permit (\S+)", _community_list),
    rule(r"bgp community-list \S+ (\S+) seq (\d+) .+", _other_community),
    route_map(1, 65535, *_ENTRY),
)
