"""Other legal spellings of lines, as `show running-config` of FRR 8.4 writes them.

Settings of a peer group are those of its members, a line that states a default is none, and numbers of prefix list
entries are those of their order: FRR runs the same with either text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_network

from railfab.platforms.frr.defaults import BFD, PROFILE, TOP, profile_of, without_bgp_defaults
from railfab.platforms.frr.render import DEFAULT_BFD_INTERVAL_MS, DEFAULT_BFD_MULTIPLIER, ROUTER_ADVERTISEMENTS
from railfab.platforms.frr.render_bgp import DEFAULT_TIMERS_S
from railfab.platforms.shared.line_tree import Line

IPV4 = "address-family ipv4 unicast"
NO_FAMILY = "no bgp default ipv4-unicast"
DEFAULT_VRF = "default"
STEP = 5
"""FRR gives this distance to the numbers of entries that state none."""

_OF_FAMILY = re.compile(
    r"(?:no )?(?:(?:redistribute|maximum-paths|network|aggregate-address) .*|neighbor \S+ (?:route-map|prefix-list"
    r"|filter-list|distribute-list|unsuppress-map|maximum-prefix|weight|allowas-in|as-override|next-hop-self"
    r"|soft-reconfiguration|send-community|activate|default-originate|remove-private-AS|attribute-unchanged"
    r"|route-reflector-client|route-server-client)(?: .*)?)"
)
_IN_VRF = re.compile(r"(interface \S+) vrf (\S+)")
_ROUTER_ID = re.compile(r"ip router-id (\S+)(?: vrf (\S+))?")
_ROUTER = re.compile(r"router bgp \d+(?: vrf (\S+))?")
_FAMILIES = {f"address-family {family}": f"address-family {family} unicast" for family in ("ipv4", "ipv6")}
_LIST = re.compile(r"(ip|ipv6) prefix-list (\S+) (?:seq (\d+) )?(permit|deny) (\S+)(.*)")
_LE_GE, _BOUNDS = re.compile(r" le (\d+) ge (\d+)"), r" ge \2 le \1"
_LONGEST, _TO_ITS_END = re.compile(r" ge (32|128)$"), r" ge \1 le \1"
_BFD = re.compile(r"(neighbor \S+ bfd) (profile \S+|\d+ \d+ \d+)")
_DEFAULT_TIMES = f"{DEFAULT_BFD_MULTIPLIER} {DEFAULT_BFD_INTERVAL_MS} {DEFAULT_BFD_INTERVAL_MS}"
_GROUP = re.compile(r"neighbor (\S+) peer-group")
_MEMBER = re.compile(r"neighbor (\S+) (interface (?:v6only )?)?peer-group (\S+)")
_LISTEN = re.compile(r"bgp listen range \S+ peer-group (\S+)")
_SETTING = re.compile(r"(no )?neighbor (\S+) (.+)")
_INTERFACE = re.compile(r"neighbor (\S+) interface( v6only)?(?: remote-as \S+)?")
_REMOTE = re.compile(r"neighbor (\S+) (?:interface (?:v6only )?)?(remote-as \S+)")
_DIRECTED = ("route-map", "prefix-list", "filter-list", "distribute-list")
"""Settings of a neighbor that it has once for each direction, the last word."""
_SEVERAL = ("bfd", "capability", "timers")
_FAMILY_DEFAULT = re.compile(r"neighbor \S+ (?:activate|send-community (?:both|extended|standard|large|all))")
_ROUTER_DEFAULTS = frozenset({"bgp fast-external-failover", "bgp client-to-client reflection"})
_INTERFACE_DEFAULTS = frozenset({"no shutdown", "link-detect"})
_PROFILE_DEFAULTS = frozenset(
    (
        f"detect-multiplier {DEFAULT_BFD_MULTIPLIER}",
        *(f"{way}-interval {DEFAULT_BFD_INTERVAL_MS}" for way in ("receive", "transmit")),
        *(f"no {setting}" for setting in ("shutdown", "passive-mode", "echo-mode")),
        *BFD,
    )
)


def as_running(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a configuration as FRR writes them when it runs it."""
    lines = _with_router_ids(_merged(map(_in_words_of_frr, lines)))
    profile, bfd = profile_of(lines), _default_profile(lines)
    routers = [_router(line, profile, bfd) if line.text.startswith("router bgp ") else line for line in lines]
    if profile == PROFILE:
        routers = [line for line in routers if line.text not in TOP]
    return tuple(_prefix_lists(_advertising([_without_defaults(line) for line in routers])))


def _in_words_of_frr(line: Line) -> Line:
    """The line with the whole names of address families; the VRF of an interface as a line of its section.

    One name is one device of Linux, whose VRF is another thing than its settings.
    """
    if line.kind == "interface" and (match := _IN_VRF.fullmatch(line.text)):
        others = () if match[2] == DEFAULT_VRF else (Line(f"vrf {match[2]}", number=line.number),)
        return replace(line, text=match[1], children=(*others, *line.children))
    if not line.text.startswith("router bgp "):
        return line
    if not any(child.text in _FAMILIES for child in line.children):
        return line
    children = (replace(child, text=_FAMILIES.get(child.text, child.text)) for child in line.children)
    return replace(line, children=tuple(children))


def _with_router_ids(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with the identifier of each router that takes the one of its VRF."""
    stated = {match[2]: line for line in lines if (match := _ROUTER_ID.fullmatch(line.text))}
    if not stated:
        return tuple(lines)
    identified: list[Line] = []
    taken: set[str] = set()
    for line in lines:
        match = _ROUTER.fullmatch(line.text)
        has_own = any(child.text.startswith("bgp router-id ") for child in line.children)
        if match and not has_own and match[1] in stated:
            setting = stated[match[1]].text
            taken.add(setting)
            line = replace(line, children=(Line(f"bgp router-id {setting.split()[2]}"), *line.children))
        identified.append(line)
    return tuple(line for line in identified if line.text not in taken)


def _merged(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Each section once, with the lines of all its parts, and each line of a section once."""
    merged: list[Line] = []
    places: dict[str, int] = {}
    for line in lines:
        place = places.setdefault(line.text, len(merged))
        if line.children and place < len(merged):
            merged[place] = replace(merged[place], children=(*merged[place].children, *line.children))
        elif place == len(merged):
            merged.append(line)
    return tuple(Line(line.text, _merged(line.children), line.number) if line.children else line for line in merged)


def _without_defaults(line: Line) -> Line:
    if line.kind == "interface":
        return Line(line.text, _except(line.children, _INTERFACE_DEFAULTS), line.number)
    if line.text == "bfd":
        profiles = (
            replace(child, children=_except(child.children, _PROFILE_DEFAULTS)) if child.kind == "profile" else child
            for child in line.children
        )
        return replace(line, children=tuple(profiles))
    return line


def _except(lines: Iterable[Line], texts: frozenset[str]) -> tuple[Line, ...]:
    return tuple(line for line in lines if line.text not in texts)


# Prefix lists


def _prefix_lists(lines: Iterable[Line]) -> Iterator[Line]:
    """Entries without bits of the host; an entry that stands there twice is one.

    Those of a list that denies nothing have numbers that say nothing: they are counted.
    """
    numbers: dict[tuple[str, str], dict[int, str]] = {}
    entries: list[tuple[Line, re.Match[str], int, str]] = []
    for line in lines:
        match = _LIST.fullmatch(line.text)
        if match is None:
            yield line
            continue
        stated = numbers.setdefault((match[1], match[2]), {})
        number = int(match[3]) if match[3] else max(stated, default=0) // STEP * STEP + STEP
        entry = f"{match[4]} {_masked(match[5])}{_LONGEST.sub(_TO_ITS_END, _LE_GE.sub(_BOUNDS, match[6]))}"
        if entry not in stated.values():
            stated[number] = entry
            entries.append((line, match, number, entry))
    for line, match, number, entry in entries:
        stated = numbers[match[1], match[2]]
        if all(permitted.startswith("permit ") for permitted in stated.values()):
            number = STEP * (sorted(stated).index(number) + 1)
        yield replace(line, text=f"{match[1]} prefix-list {match[2]} seq {number} {entry}")


def _masked(prefix: str) -> str:
    try:
        return str(ip_network(prefix, strict=False))
    except ValueError:  # `any`, or no prefix
        return prefix


def repeated_prefixes(lines: Iterable[Line]) -> Iterator[Line]:
    """Entries of prefix lists that repeat an earlier one with other bits of the host.

    FRR 8.4 refuses both, with the lines before and after them, and vtysh ends with 0.
    """
    texts: dict[tuple[str, ...], str] = {}
    for line in lines:
        if match := _LIST.fullmatch(line.text):
            entry = (match[1], match[2], match[4], _masked(match[5]), match[6])
            if texts.setdefault(entry, match[5]) != match[5]:
                yield line


# Routers


def _router(router: Line, profile: str, bfd: str | None) -> Line:
    lines = _joined(_expanded(_in_family(router.children)))
    timers_s = DEFAULT_TIMERS_S.get(profile)
    with_bfd = _with_bfd((_timed(line, timers_s) for line in lines), bfd)
    present = _stated(with_bfd)
    if profile != PROFILE:
        return replace(router, children=tuple(present))
    families = (replace(line, children=tuple(without_bgp_defaults(line.children))) for line in present)
    return replace(router, children=tuple(without_bgp_defaults(tuple(families))))


def _in_family(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with those of the family IPv4 unicast in its section, that may stand outside of it."""
    moved = [line for line in lines if _OF_FAMILY.fullmatch(line.text)]
    if not moved:
        return tuple(lines)
    left = [line for line in lines if line not in moved]
    return _merged((*left, Line(IPV4, tuple(moved))))


def _expanded(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with the settings of each peer group at its members.

    Groups of dynamic neighbors, and those with a member whose AS number is not stated, stay.
    """
    memberships = [match for line in lines if (match := _MEMBER.fullmatch(line.text))]
    with_as = {match[2] for line in lines if (match := _SETTING.fullmatch(line.text)) and _is_as(match[3])}
    groups = {match[3] for match in memberships}
    groups -= {match[3] for match in memberships if not {match[1], match[3]} & with_as}
    groups -= {match[1] for line in lines if (match := _LISTEN.fullmatch(line.text))}
    of_members: list[Line] = []
    for line in lines:
        if (match := _MEMBER.fullmatch(line.text)) and match[3] in groups:
            if match[2]:
                of_members.append(replace(line, text=f"neighbor {match[1]} {match[2].strip()}"))
        elif not ((match := _GROUP.fullmatch(line.text)) and match[1] in groups):
            of_members.append(line)
    return _inherited(of_members, {match[1]: match[3] for match in memberships if match[3] in groups}, groups)


def _is_as(setting: str) -> bool:
    return setting.startswith("remote-as ") or " remote-as " in setting


def _inherited(lines: Sequence[Line], members: Mapping[str, str], groups: set[str]) -> tuple[Line, ...]:
    """The settings of groups at each member that has none of its own, here and in the address families."""
    stated = {
        (match[2], _key(match[3])) for line in lines if (match := _SETTING.fullmatch(line.text)) and match[2] in members
    }
    inherited: list[Line] = []
    for line in lines:
        match = _SETTING.fullmatch(line.text)
        if line.text.startswith("address-family "):
            inherited.append(replace(line, children=_inherited(line.children, members, groups)))
        elif match is None or match[2] not in groups:
            inherited.append(line)
        else:
            heirs = (peer for peer, group in members.items() if group == match[2])
            inherited += (
                replace(line, text=f"{match[1] or ''}neighbor {peer} {match[3]}")
                for peer in heirs
                if (peer, _key(match[3])) not in stated
            )
    return tuple(inherited)


def _key(setting: str) -> tuple[str, ...]:
    """Name of a setting: the first word, with the direction of a policy or the word for one of several values."""
    first, *words = setting.split()
    if first in _DIRECTED:
        return first, words[-1]
    return (first, *(word for word in words[:1] if first in _SEVERAL and word.isalpha()))


def _joined(lines: Sequence[Line]) -> Iterator[Line]:
    """The interface and the AS number of an unnumbered session on one line."""
    numbers = {match[1]: match[2] for line in lines if (match := _REMOTE.fullmatch(line.text))}
    parts = [match for line in lines if (match := _INTERFACE.fullmatch(line.text))]
    interfaces = {match[1] for match in parts}
    v6only = {match[1] for match in parts if match[2]}
    joined: set[str] = set()
    for line in lines:
        match = _INTERFACE.fullmatch(line.text)
        if match and match[1] in joined:
            continue
        if match and (match[1] in numbers or match[1] in v6only):
            joined.add(match[1])
            words = (" v6only" if match[1] in v6only else "", f" {number}" if (number := numbers.get(match[1])) else "")
            yield replace(line, text=f"neighbor {match[1]} interface{''.join(words)}")
        elif not (
            (match := _SETTING.fullmatch(line.text)) and match[2] in interfaces and match[3].startswith("remote-as ")
        ):
            yield line


def _timed(line: Line, default_s: tuple[int, int] | None) -> Line | None:
    """Timers with a keepalive time of at most a third of the hold time; None for those of the profile."""
    match = re.fullmatch(r"(neighbor \S+ timers|timers bgp) (\d+) (\d+)", line.text)
    if match is None:
        return line
    hold_s = int(match[3])
    timers_s = min(int(match[2]), hold_s // 3), hold_s
    return None if timers_s == default_s else replace(line, text=f"{match[1]} {timers_s[0]} {timers_s[1]}")


def _with_bfd(lines: Iterable[Line | None], profile: str | None) -> Iterator[Line]:
    """The lines that are left, with the plain line of each session that has a BFD profile, or times in a line.

    profile: one with the default times, which a session that states them has.
    """
    present = [line for line in lines if line is not None]
    texts = {line.text for line in present}
    for line in present:
        match = _BFD.fullmatch(line.text)
        if match and match[1] not in texts:
            texts.add(match[1])
            yield replace(line, text=match[1])
        is_default = match is not None and match[2] == _DEFAULT_TIMES and profile is not None
        yield replace(line, text=f"{match[1]} profile {profile}") if match and is_default else line


def _default_profile(lines: Iterable[Line]) -> str | None:
    """A BFD profile that states nothing but defaults; None without one."""
    sections = [_without_defaults(line) for line in lines if line.text == "bfd"]
    profiles = (child for section in sections for child in section.children if child.kind == "profile")
    return next((child.text.partition(" ")[2] for child in profiles if not child.children), None)


def _stated(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines without those that state a default. Sessions that no line activates are named by `no ... activate`."""
    present = list(lines)
    if any(line.text == NO_FAMILY for line in present):
        present = list(_with_inactive(present))
    for line in present:
        if line.text in _ROUTER_DEFAULTS:
            continue
        if line.text == IPV4:
            children = (child for child in line.children if not _FAMILY_DEFAULT.fullmatch(child.text))
            yield replace(line, children=tuple(children))
        else:
            yield line


def _with_inactive(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines with what `no bgp default ipv4-unicast` says: the family is off where a session does not turn it on."""
    peers = dict.fromkeys(match[1] for line in lines if (match := _REMOTE.fullmatch(line.text)))
    family = next((line for line in lines if line.text == IPV4), Line(IPV4))
    texts = {child.text for child in family.children}
    inactive = (peer for peer in peers if f"neighbor {peer} activate" not in texts)
    off = [text for peer in inactive if (text := f"no neighbor {peer} activate") not in texts]
    whole = replace(family, children=(*family.children, *map(Line, off)))
    yield from (line for line in lines if line.text not in (NO_FAMILY, IPV4))
    if whole.children:
        yield whole


def unused_groups(lines: Iterable[Line]) -> frozenset[str]:
    """Peer groups of routers that no session and no range of dynamic neighbours has."""
    routers = (line.children for line in lines if line.text.startswith("router bgp "))
    children = [child.text for router in routers for child in router]
    defined = {match[1] for text in children if (match := _GROUP.fullmatch(text))}
    used = {match[3] for text in children if (match := _MEMBER.fullmatch(text))}
    return frozenset(defined - used - {match[1] for text in children if (match := _LISTEN.fullmatch(text))})


def _advertising(lines: Sequence[Line]) -> Iterator[Line]:
    """Interfaces of unnumbered sessions send router advertisements, whatever their own lines say."""
    sessions = {
        match[1]
        for router in lines
        if router.text.startswith("router bgp ")
        for line in router.children
        if (match := re.fullmatch(r"neighbor (\S+) interface .*remote-as \S+", line.text))
    }
    for line in lines:
        name = line.text.partition(" ")[2]
        if line.kind == "interface" and name in sessions:
            sessions.discard(name)
            others = _except(line.children, frozenset({ROUTER_ADVERTISEMENTS, "ipv6 nd suppress-ra"}))
            line = replace(line, children=(*others, Line(ROUTER_ADVERTISEMENTS, number=line.number)))
        yield line
    yield from (Line(f"interface {name}", (Line(ROUTER_ADVERTISEMENTS),)) for name in sorted(sessions))
