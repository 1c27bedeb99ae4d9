"""Grammar of the lines of route maps and prefix lists that EOS, NX-OS and FRR have in common."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TypeVar

from railfab.device import Action, PrefixRange
from railfab.platforms.shared.line_grammar import LineRule, rule
from railfab.platforms.shared.native_names import VERSIONS
from railfab.platforms.shared.route_maps import DraftEntry, RouteMapDraft
from railfab.platforms.shared.statements import within

MAX_ASN = MAX_NUMBER = 2**32 - 1
Draft = TypeVar("Draft", bound=RouteMapDraft, contravariant=True)
_ANY = {4: "0.0.0.0/0", 6: "::/0"}


def prefix_range(version: int, text: str, *, ge: str | None, le: str | None, eq: str | None = None) -> PrefixRange:
    """The prefixes that a line of a list permits. text: a prefix, or `any`.

    Raises ValueError for a prefix of the other family and for lengths outside it.
    """
    prefix = ip_network(_ANY[version] if text == "any" else text)
    if prefix.version != version:
        raise ValueError(f"{prefix} is of the other family")
    length, longest = prefix.prefixlen, prefix.max_prefixlen
    if eq:
        only = within(eq, length, longest)
        return PrefixRange(prefix=prefix, ge=only, le=only)
    least = within(ge, length, longest) if ge else length
    open_ended = ge or text == "any"
    most = within(le, least, longest) if le else (longest if open_ended else length)
    return PrefixRange(prefix=prefix, ge=least, le=most)


def _deny_any(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.prefix_list(VERSIONS[match[1]], match[2])[int(match[3])] = Action.DENY


def _other_prefix(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.prefix_list(VERSIONS[match[1]], match[2])[int(match[3])] = None


def _match_prefixes(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.entry.prefix_lists[VERSIONS[match[1]]] = match[2]


def _match_community(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.entry.community_list = match[1]


def _match_as_path(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.entry.as_path_list = match[1]


def _other_condition(draft: RouteMapDraft, _match: re.Match[str]) -> None:
    draft.entry.unread = True


def _prepend(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.entry.prepended = tuple(within(asn, 1, MAX_ASN) for asn in match[1].split())


def _local_preference(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.entry.set_local_preference = within(match[1], 0, MAX_NUMBER)


def _med(draft: RouteMapDraft, match: re.Match[str]) -> None:
    draft.entry.set_med = within(match[1], 0, MAX_NUMBER)


OTHER_LINES: tuple[LineRule[RouteMapDraft], ...] = (
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) deny (?:any|0\.0\.0\.0/0 le 32|::/0 le 128|0::/0 le 128)", _deny_any),
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) .+", _other_prefix),
)
"""Lines of a numbered prefix list that permit no range: the one that denies all other prefixes, then any other."""

MATCHES: tuple[LineRule[RouteMapDraft], ...] = (
    rule(r"match (ip|ipv6) address prefix-list (\S+)", _match_prefixes),
    rule(r"match community (\S+)", _match_community),
    rule(r"match as-path (\S+)", _match_as_path),
)
"""Conditions of an entry that a model has."""

PREPEND: LineRule[RouteMapDraft] = rule(r"set as-path prepend ([\d ]+)", _prepend)
PREFERENCES: tuple[LineRule[RouteMapDraft], ...] = (
    rule(r"set local-preference (\d+)", _local_preference),
    rule(r"set metric (\d+)", _med),
)


def other_conditions(*words: str) -> LineRule[RouteMapDraft]:
    """Lines that begin with one of these words: conditions, or jumps, that a model has not."""
    return rule(rf"(?:{'|'.join(words)})\b.*", _other_condition)


def route_map(lowest: int, highest: int, *below: LineRule[Draft]) -> LineRule[Draft]:
    """An entry of a route map, with a number of this range and these lines."""

    def store(draft: RouteMapDraft, match: re.Match[str]) -> None:
        draft.entry = DraftEntry(action=Action(match[2]))
        draft.route_maps.setdefault(match[1], {})[within(match[3], lowest, highest)] = draft.entry

    return rule(r"route-map (\S+) (permit|deny) (\d+)", store, *below)
