"""Settings of BGP in another place with the same effect, in the place in which railfab renders them.

Source: EOS User Manual, BGP: `timers bgp` holds for sessions without timers of their own, and a route map or a
redistribution may be stated for one address family.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from railfab.platforms.shared.line_tree import Line

FAMILY = "address-family ipv4"
_TIMERS = re.compile(r"timers bgp (\d+ \d+)")
_GROUP = re.compile(r"neighbor (\S+) peer group")
_MEMBER = re.compile(r"neighbor (\S+) peer group (\S+)")
_OF_SESSION = re.compile(r"(?:peer group|remote-as|description) .*")
"""Settings that each session states by itself."""
_OWN_TIMERS = re.compile(r"neighbor (\S+) timers .*")
_COMMUNITIES = re.compile(r"(neighbor (\S+) send-community)((?: standard| extended| large| link-bandwidth)+)")
_ACTIVATED = re.compile(r"neighbor (\S+) activate")
EVPN = "address-family evpn"
_MOVABLE = re.compile(r"redistribute (?:connected|attached-host)|neighbor \S+ route-map \S+ (?:in|out)")


def in_usual_places(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a router, with timers at each group, and what only the family of IPv4 states at the top."""
    return _of_groups(tuple(_with_timers(tuple(_from_family(tuple(_with_communities(lines)))))))


def _with_communities(lines: tuple[Line, ...]) -> Iterator[Line]:
    """The lines of sessions that send the communities which they need as those of sessions that send all.

    A drain has a standard community, and routes of EVPN have extended ones, their targets.
    """
    families = (line.children for line in lines if line.text == EVPN)
    overlay = {match[1] for family in families for child in family if (match := _ACTIVATED.fullmatch(child.text))}
    for line in lines:
        match = _COMMUNITIES.fullmatch(line.text)
        needed = {"standard", "extended"} if match and match[2] in overlay else {"standard"}
        yield Line(match[1], (), line.number) if match and needed <= {*match[3].split()} else line


def _of_groups(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with what all sessions of a group state at the group, and the AS number of a group at its sessions."""
    members: dict[str, list[str]] = {}
    for line in lines:
        if match := _MEMBER.fullmatch(line.text):
            members.setdefault(match[2], []).append(match[1])
    for group, peers in members.items():
        lines = _of_group(lines, group, peers)
    return lines


def _of_group(lines: tuple[Line, ...], group: str, peers: list[str]) -> tuple[Line, ...]:
    texts = {line.text for line in lines}
    first = f"neighbor {peers[0]} "
    common = [
        line.text.removeprefix(first)
        for line in lines
        if line.text.startswith(first) and not _OF_SESSION.fullmatch(line.text.removeprefix(first))
    ]
    shared = {text for text in common if all(f"neighbor {peer} {text}" in texts for peer in peers)}
    asn = next((line.text for line in lines if line.text.startswith(f"neighbor {group} remote-as ")), None)
    if not (shared or asn):
        return lines
    dropped = {f"neighbor {peer} {text}" for peer in peers for text in shared}
    if asn and not any(text.startswith("vrf ") for text in texts):
        dropped.add(asn)
    added = {f"neighbor {group} {text}" for text in shared}
    if asn:
        number = asn.rpartition(" ")[2]
        timed = {peer for peer in peers if any(text.startswith(f"neighbor {peer} remote-as ") for text in texts)}
        added |= {f"neighbor {peer} remote-as {number}" for peer in peers if peer not in timed}
    kept = (line for line in lines if line.text not in dropped)
    return (*kept, *(Line(text) for text in sorted(added - texts)))


def _with_timers(lines: tuple[Line, ...]) -> Iterator[Line]:
    usual = next((line for line in lines if _TIMERS.fullmatch(line.text)), None)
    if usual is None:
        yield from lines
        return
    timed = {match[1] for line in lines if (match := _OWN_TIMERS.fullmatch(line.text))}
    for line in lines:
        if line is not usual:
            yield line
        if (group := _GROUP.fullmatch(line.text)) and group[1] not in timed:
            yield Line(f"neighbor {group[1]} {usual.text.replace(' bgp', '')}", (), usual.number)


def _from_family(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Lines of the family of IPv4 at the top, where no other family has lines and the top has no such line."""
    families = [line for line in lines if line.text.startswith("address-family ")]
    if [family.text for family in families] != [FAMILY]:
        yield from lines
        return
    stated = {_setting(line.text) for line in lines}
    movable = [line for line in families[0].children if _MOVABLE.fullmatch(line.text)]
    moved = [line for line in movable if _setting(line.text) not in stated]
    for line in lines:
        if line is families[0] and moved:
            yield from moved
            kept = tuple(child for child in line.children if child not in moved)
            yield Line(line.text, kept, line.number)
        else:
            yield line


def _setting(line: str) -> tuple[str, ...]:
    """A line without the name of its route map."""
    words = line.split()
    return (*words[:3], words[-1])
