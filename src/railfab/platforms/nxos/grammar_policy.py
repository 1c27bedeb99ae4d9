"""Grammar of NX-OS's prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re
from ipaddress import ip_network

from railfab.platforms.nxos.draft import NxosDraft
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
from railfab.platforms.shared.route_map_lines import LIST_STEP


def _permit(draft: NxosDraft, match: re.Match[str]) -> None:
    version = VERSIONS[match[1]]
    permitted = prefix_range(version, _masked(match[4]), eq=match[5], ge=match[6], le=match[7])
    draft.prefix_list(version, match[2])[int(match[3])] = permitted


def _masked(text: str) -> str:
    """A prefix without host bits."""
    return text if text == "any" else str(ip_network(text, strict=False))


def _add(lists: dict[str, dict[int, str | None]], match: re.Match[str], value: str | None) -> None:
    """A line of a list, by its number; without one it follows the others."""
    entries = lists.setdefault(match[1], {})
    entries[int(match[2] or LIST_STEP * (len(entries) + 1))] = value


def _community_list(draft: NxosDraft, match: re.Match[str]) -> None:
    _add(draft.communities, match, match[3])


def _other_community(draft: NxosDraft, match: re.Match[str]) -> None:
    _add(draft.communities, match, None)


def _as_path_list(draft: NxosDraft, match: re.Match[str]) -> None:
    _add(draft.as_paths, match, match[3])


def _other_as_path(draft: NxosDraft, match: re.Match[str]) -> None:
    _add(draft.as_paths, match, None)


def _set_communities(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.entry.set_communities = tuple(match[1].split())


_ENTRY: tuple[LineRule[NxosDraft], ...] = (
    *MATCHES,
    other_conditions("match", "continue"),
    PREPEND,
    rule(r"set community (?!.*(?:additive|none)$)(.+)", _set_communities),
    *PREFERENCES,
)
POLICY: tuple[LineRule[NxosDraft], ...] = (
    rule(
        r"(ip|ipv6) prefix-list (\S+) seq (\d+) permit (\S+/\d+|any)(?: eq (\d+)|(?: ge (\d+))?(?: le (\d+))?)", _permit
    ),
    *OTHER_LINES,
    rule(r'ip as-path access-list (\S+)(?: seq (\d+))? permit "(.+)"', _as_path_list),
    rule(r"ip as-path access-list (\S+)(?: seq (\d+))? .+", _other_as_path),
    rule(r"ip community-list standard (\S+)(?: seq (\d+))? permit (\S+)", _community_list),
    rule(r"ip community-list \S+ (\S+)(?: seq (\d+))? .+", _other_community),
    route_map(0, 65535, *_ENTRY),
)
