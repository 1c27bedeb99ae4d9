"""Grammar of NX-OS's prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re
from ipaddress import ip_network

from railfab.device import Action, PrefixRange
from railfab.platforms.nxos.draft import Draft
from railfab.platforms.nxos.render_policy import IP_WORDS
from railfab.platforms.shared.line_grammar import rule, within
from railfab.platforms.shared.route_maps import DraftEntry

MAX_ASN = MAX_NUMBER = 2**32 - 1
VERSIONS = {word: version for version, word in IP_WORDS.items()}


def _permit(draft: Draft, match: re.Match[str]) -> None:
    version, text = VERSIONS[match[1]], match[4]
    prefix = ip_network(("0.0.0.0/0" if version == 4 else "::/0") if text == "any" else text, strict=False)
    if prefix.version != version:
        raise ValueError(f"{prefix} is of the other family")
    length, longest = prefix.prefixlen, prefix.max_prefixlen
    exact, low, high = match[5], match[6], match[7]
    ge = within(exact or low, length, longest) if exact or low else length
    open_ended = low or (text == "any" and not exact)
    le = ge if exact else within(high, ge, longest) if high else (longest if open_ended else length)
    entries = draft.prefix_lists.setdefault((version, match[2]), {})
    entries[int(match[3])] = PrefixRange(prefix=prefix, ge=ge, le=le)


def _deny_any(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_lists.setdefault((VERSIONS[match[1]], match[2]), {})[int(match[3])] = Action.DENY


def _other_prefix(draft: Draft, match: re.Match[str]) -> None:
    draft.prefix_lists.setdefault((VERSIONS[match[1]], match[2]), {})[int(match[3])] = None


def _other_community(draft: Draft, match: re.Match[str]) -> None:
    found = draft.communities.setdefault(match[1], {})
    found[int(match[2] or 5 * (len(found) + 1))] = None


def _other_as_path(draft: Draft, match: re.Match[str]) -> None:
    found = draft.as_paths.setdefault(match[1], {})
    found[int(match[2] or 5 * (len(found) + 1))] = None


def _other_condition(draft: Draft, _match: re.Match[str]) -> None:
    draft.entry.other = True


def _as_path_list(draft: Draft, match: re.Match[str]) -> None:
    found = draft.as_paths.setdefault(match[1], {})
    found[int(match[2] or 5 * (len(found) + 1))] = match[3]


def _community_list(draft: Draft, match: re.Match[str]) -> None:
    found = draft.communities.setdefault(match[1], {})
    found[int(match[2] or 5 * (len(found) + 1))] = match[3]


def _entry(draft: Draft, match: re.Match[str]) -> None:
    draft.entry = DraftEntry(action=Action(match[2]))
    draft.route_maps.setdefault(match[1], {})[within(match[3], 0, 65535)] = draft.entry


def _match_prefixes(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.prefix_lists[VERSIONS[match[1]]] = match[2]


def _match_community(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.community_list = match[1]


def _match_as_path(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.as_path_list = match[1]


def _prepend(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.prepended = tuple(within(asn, 1, MAX_ASN) for asn in match[1].split())


def _set_communities(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_communities = tuple(match[1].split())


def _local_preference(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_local_preference = within(match[1], 0, MAX_NUMBER)


def _med(draft: Draft, match: re.Match[str]) -> None:
    draft.entry.set_med = within(match[1], 0, MAX_NUMBER)


_ENTRY = (
    rule(r"match (ip|ipv6) address prefix-list (\S+)", _match_prefixes),
    rule(r"match community (\S+)", _match_community),
    rule(r"match as-path (\S+)", _match_as_path),
    rule(r"(?:match|continue)\b.*", _other_condition),
    rule(r"set as-path prepend ([\d ]+)", _prepend),
    rule(r"set community (?!.*(?:additive|none)$)(.+)", _set_communities),
    rule(r"set local-preference (\d+)", _local_preference),
    rule(r"set metric (\d+)", _med),
)
POLICY = (
    rule(
        r"(ip|ipv6) prefix-list (\S+) seq (\d+) permit (\S+/\d+|any)(?: eq (\d+)|(?: ge (\d+))?(?: le (\d+))?)", _permit
    ),
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) deny (?:any|0\.0\.0\.0/0 le 32|::/0 le 128|0::/0 le 128)", _deny_any),
    rule(r"(ip|ipv6) prefix-list (\S+) seq (\d+) .+", _other_prefix),
    rule(r'ip as-path access-list (\S+)(?: seq (\d+))? permit "(.+)"', _as_path_list),
    rule(r"ip as-path access-list (\S+)(?: seq (\d+))? .+", _other_as_path),
    rule(r"ip community-list standard (\S+)(?: seq (\d+))? permit (\S+)", _community_list),
    rule(r"ip community-list \S+ (\S+)(?: seq (\d+))? .+", _other_community),
    rule(r"route-map (\S+) (permit|deny) (\d+)", _entry, *_ENTRY),
)
