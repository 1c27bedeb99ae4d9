"""Grammar of EOS's prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re

from railfab.device import Action
from railfab.platforms.eos.draft import Draft
from railfab.platforms.eos.names import community_name
from railfab.platforms.shared.line_grammar import Rule, rule
from railfab.platforms.shared.native_names import VERSIONS
from railfab.platforms.shared.route_map_grammar import (
    MATCHES,
    PREFERENCES,
    other_conditions,
    prefix_range,
    route_map,
)

_COMMUNITY = r"(?:\d+:\d+|GSHUT|[a-z][a-z-]*)"


def _prefix_list(draft: Draft, match: re.Match[str]) -> None:
    draft.list_key = VERSIONS[match[1]], match[2]
    draft.prefix_list(*draft.list_key)


def _permit(draft: Draft, match: re.Match[str]) -> None:
    version, _ = draft.list_key
    found = prefix_range(version, match[2], eq=match[3], ge=match[4], le=match[5])
    draft.prefix_list(*draft.list_key)[int(match[1])] = found


def _deny_any(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_list(*draft.list_key)[int(match[1])] = Action.DENY


def _other_prefix(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_list(*draft.list_key)[int(match[1])] = None


def _add(lists: dict[str, dict[int, str | None]], match: re.Match[str], value: str | None) -> None:
    """A line of a list, which has no number, behind the others."""
    found = lists.setdefault(match[1], {})
    found[len(found)] = value


def _community(draft: Draft, match: re.Match[str]) -> None:
    _add(draft.communities, match, community_name(match[2]))


def _other_community(draft: Draft, match: re.Match[str]) -> None:
    _add(draft.communities, match, None)


def _as_path(draft: Draft, match: re.Match[str]) -> None:
    _add(draft.as_paths, match, match[2])


def _other_as_path(draft: Draft, match: re.Match[str]) -> None:
    _add(draft.as_paths, match, None)


def _prepend(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.own_prepended = len(match[1].split())


def _set_communities(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_communities = tuple(map(community_name, match[1].split()))


_LIST = (
    rule(r"seq (\d+) permit (\S+/\d+)(?: eq (\d+))?(?: ge (\d+))?(?: le (\d+))?", _permit),
    rule(r"seq (\d+) deny (?:0\.0\.0\.0/0|::/0) le (?:32|128)", _deny_any),
    rule(r"seq (\d+) .+", _other_prefix),
)
_ENTRY: tuple[Rule[Draft], ...] = (
    *MATCHES,
    other_conditions("match", "continue", "sub-route-map"),
    rule(r"set as-path prepend (auto(?: auto)*)", _prepend),
    rule(rf"set community ({_COMMUNITY}(?: {_COMMUNITY})*?)(?<! additive)(?<! delete)(?<!none)", _set_communities),
    *PREFERENCES,
)
POLICY: tuple[Rule[Draft], ...] = (
    rule(r"(ip|ipv6) prefix-list (\S+)", _prefix_list, *_LIST),
    rule(r"ip as-path access-list (\S+) permit (\S+)(?: any)?", _as_path),
    rule(r"ip as-path access-list (\S+) .+", _other_as_path),
    rule(rf"ip community-list (?!regexp )(\S+) permit ({_COMMUNITY})", _community),
    rule(r"ip community-list (?:regexp )?(\S+) .+", _other_community),
    route_map(1, 16777215, *_ENTRY),
)
