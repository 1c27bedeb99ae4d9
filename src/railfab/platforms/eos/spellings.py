"""Other legal forms of EOS's lines, in the form that railfab renders.

Sources: the forms of releases before 4.23 (`speed forced`, `priority-flow-control mode on`), before 4.22 (`peer-group`)
and before 4.24 (`min_rx`), as their EOS User Manuals have them; AS numbers in dotted form (RFC 5396).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Interface, ip_address

from railfab.platforms.eos.group_descriptions import with_descriptions
from railfab.platforms.eos.names import full_interface, speed_name
from railfab.platforms.eos.usual_places import FAMILY, in_usual_places
from railfab.platforms.shared.first_words import ByFirstWord
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import numbers_in
from railfab.text.folding import number_ranges

Rewriting = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def _rewritings(*entries: Rewriting) -> ByFirstWord[Rewriting]:
    return ByFirstWord(entries, lambda rewriting: rewriting[0].pattern)


def _number_of_as(text: str) -> str:
    """4200001001 of 64086.60905."""
    high, _, low = text.partition(".")
    return str(int(high) << 16 | int(low)) if low else text


def _address(match: re.Match[str]) -> str:
    """`ip address 192.0.2.0/31` of one with a mask; the line as it is where that is none."""
    try:
        return f"ip address {IPv4Interface(f'{match[1]}/{match[2]}')}{match[3] or ''}"
    except ValueError:
        return match[0]


def _paths(match: re.Match[str]) -> str:
    """A group of next hops has as many as there may be paths, unless `ecmp` limits it."""
    return f"{match[0]} ecmp {match[1]}" if 1 < int(match[1]) <= MOST_PATHS else match[0]


MOST_PATHS = 600
LIST_STEP = 10
_ASN = r"\d{1,5}\.\d{1,5}"
_INTERFACE = _rewritings(
    (re.compile(r"speed forced (\d+)gfull"), lambda match: f"speed {speed_name(int(match[1]))}"),
    (re.compile(r"priority-flow-control mode on"), lambda _: "priority-flow-control on"),
    (re.compile(r"ip address (\d+(?:\.\d+){3}) (\d+(?:\.\d+){3})( secondary)?"), _address),
    (re.compile(r"spanning-tree portfast edge"), lambda _: "spanning-tree portfast"),
    (re.compile(r"switchport trunk allowed vlan all"), lambda _: "switchport trunk allowed vlan 1-4094"),
    (
        re.compile(r"switchport trunk allowed vlan (\d[\d,-]*)"),
        lambda m: f"switchport trunk allowed vlan {_joined(m[1])}",
    ),
)
_ROUTER = _rewritings(
    (re.compile(r"neighbor (\S+) peer-group( \S+)?"), lambda match: f"neighbor {match[1]} peer group{match[2] or ''}"),
    (re.compile(r"(neighbor \S+ bfd interval \d+) min_rx (.*)"), lambda match: f"{match[1]} min-rx {match[2]}"),
    (re.compile(rf"(.* (?:remote-as|local-as)) ({_ASN})(.*)"), lambda m: f"{m[1]} {_number_of_as(m[2])}{m[3]}"),
    (re.compile(r"maximum-paths (\d+)"), _paths),
    (re.compile(r"bgp asn notation asdot"), lambda _: ""),
    (re.compile(r"bgp default ipv4-unicast"), lambda _: ""),
)
_ENTRY = _rewritings(
    (re.compile(r"(seq .*) ge (\d+) le \2"), lambda match: f"{match[1]} eq {match[2]}"),
    (re.compile(r"(seq \d+ \S+ [\d.]+/\d+) ge 32"), lambda match: f"{match[1]} eq 32"),
    (re.compile(r"(seq \d+ \S+ [\da-f:]+/\d+) ge 128"), lambda match: f"{match[1]} eq 128"),
)
_HEADER = re.compile(rf"router bgp ({_ASN})")
_OVER_INTERFACES = re.compile(r"neighbor interface (?P<ports>\S*[,-]\S*)(?P<rest> peer-group .*)")
_PORT = re.compile(r"(?P<kind>[A-Za-z]+)?(?P<place>\d+(?:/\d+)*)")
_MOST_PORTS = 512
_SPEED = re.compile(r"speed (\d+)g-(\d)")
_ADDED = re.compile(r"switchport trunk allowed vlan add (\S+)")
_ALLOWED = re.compile(r"switchport trunk allowed vlan ([\d,-]+)")
_MEMBER = re.compile(r"neighbor (\S+) peer group (\S+)")
_REMOTE = re.compile(r"neighbor (\S+) remote-as \S+")
_ACTIVATED = re.compile(r"(no )?neighbor (\S+) activate")
NO_DEFAULT_FAMILY = "no bgp default ipv4-unicast"


def spelled(line: Line) -> Line:
    """A section with each line in the form of a rendered one."""
    if line.kind == "interface" and line.children:
        return _changed(line, full_interface(line.text), tuple(_of_interface(line)))
    if line.text.startswith(("ip prefix-list ", "ipv6 prefix-list ")):
        return _changed(line, line.text, tuple(_rewritten(child, _ENTRY) for child in _numbered(line.children)))
    if line.text.startswith("router bgp "):
        header = _HEADER.fullmatch(line.text)
        text = f"router bgp {_number_of_as(header[1])}" if header else line.text
        lines = with_descriptions(tuple(_of_router(line.children)))
        return _changed(line, text, _with_default_family(in_usual_places(lines)))
    return line


def _numbered(entries: tuple[Line, ...]) -> Iterator[Line]:
    """The entries of a list, those without a sequence number with that which EOS gives them."""
    number = 0
    for entry in entries:
        words = entry.text.split()
        if words[0] in ("permit", "deny"):
            number += LIST_STEP
            yield Line(f"seq {number} {entry.text}", (), entry.number)
        else:
            number = int(words[1]) if words[0] == "seq" and words[1].isdecimal() else number
            yield entry


def _changed(line: Line, text: str, children: tuple[Line, ...]) -> Line:
    return line if (text, children) == (line.text, line.children) else Line(text, children, line.number)


def _rewritten(line: Line, rewritings: ByFirstWord[Rewriting]) -> Line:
    for pattern, rewrite in rewritings.for_line(line.text):
        if match := pattern.fullmatch(line.text):
            return Line(rewrite(match), line.children, line.number)
    return line


def _of_interface(section: Line) -> Iterator[Line]:
    """Lists of VLANs on several lines are one; RS(544,514), which ports of 50G lanes have by themselves, is no line."""
    more = [match[1] for child in section.children if (match := _ADDED.fullmatch(child.text))]
    fast = any(child.text.startswith("speed ") and _lane_gbps(child.text) >= 50 for child in section.children)
    for child in section.children:
        if more and (allowed := _ALLOWED.fullmatch(child.text)):
            yield Line(f"switchport trunk allowed vlan {_joined(allowed[1], *more)}", (), child.number)
        elif not (_ADDED.fullmatch(child.text) and more and _has_list(section)) and not (
            fast and child.text == "error-correction encoding reed-solomon"
        ):
            yield _rewritten(child, _INTERFACE)


def _has_list(section: Line) -> bool:
    return any(_ALLOWED.fullmatch(child.text) for child in section.children)


def _joined(*lists: str) -> str:
    """One list of VLANs of several."""
    try:
        return number_ranges(numbers_in(",".join(lists), 1, 4094))
    except ValueError:
        return ",".join(lists)


def _lane_gbps(line: str) -> float:
    """Rate of a lane of a port with this line for its speed; 0 for another line, or where it names no lanes."""
    speed = _SPEED.fullmatch(line)
    return int(speed[1]) / int(speed[2]) if speed else 0


def _of_router(lines: tuple[Line, ...]) -> Iterator[Line]:
    for line in lines:
        if line.children:
            yield _changed(line, line.text, tuple(_of_router(line.children)))
        elif several := _OVER_INTERFACES.fullmatch(line.text):
            for port in _ports(several["ports"]):
                yield _rewritten(Line(f"neighbor interface {port}{several['rest']}", (), line.number), _ROUTER)
        elif plain := _rewritten(line, _ROUTER):
            yield from [plain] if plain.text else []


def _ports(ranges: str) -> Iterator[str]:
    """Ethernet57/1 and Ethernet58/1 of `Ethernet57/1,58/1` and of `Ethernet57/1-58/1`: ranges are of the cages."""
    kind = ""
    for part in ranges.split(","):
        first, dash, last = part.partition("-")
        begin, end = _PORT.fullmatch(first), _PORT.fullmatch(last or first)
        if begin is None or end is None:
            yield part
            continue
        if begin["kind"]:
            kind = full_interface(f"interface {begin[0]}").split()[1].removesuffix(begin["place"])
        (low, *rest), (high, *_) = begin["place"].split("/"), end["place"].split("/")
        if not dash or int(high) - int(low) > _MOST_PORTS:
            yield f"{kind}{part.removeprefix(begin['kind'] or '')}"
            continue
        for number in range(int(low), int(high) + 1):
            yield kind + "/".join([str(number), *rest])


def _with_default_family(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a router with the family of IPv4 stated, which sessions over IPv4 have by default.

    Source: EOS User Manual, BGP, `bgp default`.
    """
    if not lines or any(line.text == NO_DEFAULT_FAMILY for line in lines):
        return lines
    peers = [match[1] for line in lines if (match := _REMOTE.fullmatch(line.text) or _MEMBER.fullmatch(line.text))]
    groups = {match[1]: match[2] for line in lines if (match := _MEMBER.fullmatch(line.text))}
    family = next((line for line in lines if line.text == FAMILY), Line(FAMILY))
    stated = {match[2] for line in family.children if (match := _ACTIVATED.fullmatch(line.text))}
    over_ipv4 = (peer for peer in dict.fromkeys(peers) if _is_ipv4(peer))
    names = dict.fromkeys(groups.get(peer, peer) for peer in over_ipv4)
    added = tuple(Line(f"neighbor {name} activate") for name in names if name not in stated)
    if not added:
        return (*lines, Line(NO_DEFAULT_FAMILY))
    kept = tuple(line for line in lines if line is not family)
    return (*kept, Line(NO_DEFAULT_FAMILY), Line(FAMILY, (*added, *family.children), family.number))


def _is_ipv4(peer: str) -> bool:
    try:
        return isinstance(ip_address(peer), IPv4Address)
    except ValueError:
        return False


_OF_PROFILE = re.compile(
    r"qos trust dscp|no qos trust|priority-flow-control (?:mode )?on|priority-flow-control priority \d no-drop"
    r"|priority-flow-control pause watchdog|(?:uc-)?tx-queue \d"
)
"""Lines of a QoS profile that a port may have itself (EOS User Manual, Quality of Service, QoS Profiles)."""


_LOSSLESS = ("priority-flow-control priority", "uc-tx-queue", "tx-queue")
"""Beginnings of those of them that make a port one of RoCE."""


def with_profiles(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with the QoS that ports state themselves as profiles, named after the first port with the same lines.

    A port with a profile keeps its lines, which override it.
    """
    profiles: dict[frozenset[Line], str] = {}
    sections: list[Line] = []
    with_names: list[Line] = []
    for line in lines:
        stated = _stated_by_port(line)
        if not stated:
            with_names.append(line)
            continue
        port = line.text.partition(" ")[2]
        name = profiles.setdefault(frozenset(stated), port)
        if name == port:
            sections.append(Line(f"qos profile {name}", stated, line.number))
        others = (child for child in line.children if child not in stated)
        with_names.append(Line(line.text, (*others, Line(f"service-profile {name}", (), line.number)), line.number))
    return (*sections, *with_names) if sections else lines


def _stated_by_port(line: Line) -> tuple[Line, ...]:
    """The lines of a profile in the section of a port without one; none where they do not concern RoCE."""
    if line.kind != "interface" or not any(child.text.startswith(_LOSSLESS) for child in line.children):
        return ()
    if any(child.kind == "service-profile" for child in line.children):
        return ()
    return tuple(child for child in line.children if _OF_PROFILE.fullmatch(child.text))
