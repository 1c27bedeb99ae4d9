"""The canonical form of NX-OS's lines: one spelling of what the CLI takes, and the release prints, in several.

Units, names of code points, ranges of interfaces, templates of sessions, abbreviated lines of a class map. A line that
has one spelling only is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network

from railfab.platforms.hazard_facts import DSCP_NAMES
from railfab.platforms.nxos.settings import setting
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import numbers_in
from railfab.platforms.shared.route_map_lines import LIST_STEP

DSCP_POINTS: Mapping[str, int] = {name.lower(): point for point, name in DSCP_NAMES.items()} | {"default": 0}
UNIT_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
_KINDS = {"ethernet": "Ethernet", "port-channel": "port-channel", "vlan": "Vlan", "loopback": "loopback"}
_INTERFACE = re.compile(r"interface +(ethernet|eth|port-channel|po|vlan|loopback|lo) *(\d[\d/, -]*)", re.IGNORECASE)
_RANGE = re.compile(r"([\d/]*?)(\d+)(?: *- *(?:[\d/]*/)?(\d+))?")
_SHORT = {"eth": "ethernet", "po": "port-channel", "lo": "loopback"}
DEEPEST = 3
"""Templates that a template of a session inherits from, one from the other: a peer has a session, which has others."""
MOST_OF_RANGE = 4096
"""Interfaces of a range, of which a switch has fewer."""


def canonical(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines of a configuration in their canonical form. Sections with the same header become one."""
    written = [each for line in lines for each in _interfaces(line)]
    return tuple(_numbered_lists(_canonical_top(line) for line in _joined(written)))


def _interfaces(line: Line) -> Iterator[Line]:
    """The section of every interface that a header names: `interface Ethernet1/1-8`, `interface ethernet 1/1`."""
    match = _INTERFACE.fullmatch(line.text) if line.text.startswith("interface ") else None
    names = _names(match) if match else ()
    if not names or names == (line.text.removeprefix("interface "),):
        yield line
    else:
        yield from (Line(f"interface {name}", line.children, line.number) for name in names)


def _names(match: re.Match[str]) -> tuple[str, ...]:
    """The interfaces of a list; none of one that is malformed or too long."""
    word = match[1].lower()
    kind, names = _KINDS[_SHORT.get(word, word)], []
    for part in match[2].split(","):
        bounds = _RANGE.fullmatch(part.strip())
        if bounds is None:
            return ()
        first, last = int(bounds[2]), int(bounds[3] or bounds[2])
        if not first <= last < first + MOST_OF_RANGE:
            return ()
        names += [f"{kind}{bounds[1]}{number}" for number in range(first, last + 1)]
    return tuple(names)


def _joined(lines: list[Line]) -> Iterable[Line]:
    """Sections of interfaces with the same header as one, in which the last value of a setting is in effect."""
    sections: dict[str, Line] = {}
    headers = [line.text for line in lines if line.text.startswith("interface ")]
    if len(headers) == len(set(headers)):
        return lines
    joined: list[Line | str] = []
    for line in lines:
        if not line.text.startswith("interface "):
            joined.append(line)
        elif (before := sections.get(line.text)) is None:
            sections[line.text] = line
            joined.append(line.text)
        else:
            settings = {setting(child.text): child for child in (*before.children, *line.children)}
            sections[line.text] = Line(line.text, tuple(settings.values()), before.number)
    return [sections[entry] if isinstance(entry, str) else entry for entry in joined]


def _canonical_top(line: Line) -> Line:
    form = _SECTIONS.get(line.text.partition(" ")[0])
    return form(line) if form else line


# QoS

_CLASS_MAP = re.compile(r"class-map (?:type qos )?(?:(match-any|match-all) )?(?!type |match-)(\S+)")
_MATCH_POINTS = re.compile(r"match (?:ip )?(dscp|precedence) (.+)")
_POLICY_MAP = re.compile(r"policy-map (?!type )(\S+)")
_RAMP = re.compile(
    r"random-detect minimum-threshold (\d+) ([km]?bytes) maximum-threshold (\d+) ([km]?bytes)"
    r" drop-probability (\d+)(?: weight (\d+))?( cap-average)?( ecn)?"
)
_LIMIT = re.compile(r"queue-limit (\d+) ([km]?bytes)")
_SHAPE = re.compile(r"shape min (\d+) ([kmg])bps max (\d+) ([kmg])bps")
_MBPS = {"k": 0.001, "m": 1, "g": 1000}


def _class_map(line: Line) -> Line:
    """A class map with one match for each code point. All of one match is any of it; `match-all` is the default."""
    match = _CLASS_MAP.fullmatch(line.text)
    if match is None:
        return line
    matches = [child for child in line.children if child.text.startswith("match ")]
    word = match[1] if match[1] == "match-any" or len(matches) > 1 else "match-any"
    children = tuple(each for child in line.children for each in _points(child))
    return Line(f"class-map type qos {word or 'match-all'} {match[2]}", children, line.number)


def _points(line: Line) -> Iterator[Line]:
    match = _MATCH_POINTS.fullmatch(line.text)
    points = _code_points(match[1], match[2]) if match else None
    if points is None:
        yield line
    else:
        yield from (Line(f"match dscp {point}", (), line.number) for point in points)


def _code_points(word: str, values: str) -> tuple[int, ...] | None:
    """Code points of `dscp 24-26,af31` or `precedence 3`; None of other values."""
    highest = 63 if word == "dscp" else 7
    points: set[int] = set()
    for value in values.replace(" ", "").split(","):
        name = DSCP_POINTS.get(value.lower()) if word == "dscp" else None
        try:
            points |= set(numbers_in(value, 0, highest)) if name is None else {name}
        except ValueError:
            return None
    if word == "precedence":
        points = {8 * precedence + low for precedence in points for low in range(8)}
    return tuple(sorted(points))


def _policy_map(line: Line) -> Line:
    """A policy map with its type, classes and units."""
    header = line.text
    if match := _POLICY_MAP.fullmatch(header):
        header = f"policy-map type qos {match[1]}"
    if header.startswith("policy-map type qos "):
        children = tuple(
            Line(f"class {child.text.removeprefix('class type qos ')}", child.children, child.number)
            if child.text.startswith("class type qos ")
            else child
            for child in line.children
        )
        return Line(header, children, line.number)
    if header.startswith("policy-map type queuing "):
        children = tuple(
            Line(
                child.text,
                tuple(Line(_queue_line(each.text), (), each.number) for each in child.children),
                child.number,
            )
            for child in line.children
        )
        return Line(header, children, line.number)
    return Line(header, line.children, line.number)


def _queue(line: Line) -> Line:
    return Line(line.text, tuple(Line(_queue_line(each.text), (), each.number) for each in line.children), line.number)


def _queue_line(text: str) -> str:
    if match := _RAMP.fullmatch(text):
        low, high = int(match[1]) * UNIT_BYTES[match[2]], int(match[3]) * UNIT_BYTES[match[4]]
        return (
            f"random-detect minimum-threshold {low} bytes maximum-threshold {high} bytes "
            f"drop-probability {match[5]} weight {match[6] or 0}{match[7] or ''}{match[8] or ''}"
        )
    if match := _LIMIT.fullmatch(text):
        return f"queue-limit {int(match[1]) * UNIT_BYTES[match[2]]} bytes"
    if match := _SHAPE.fullmatch(text):
        least, most = (int(int(match[place]) * _MBPS[match[place + 1]]) for place in (1, 3))
        return f"shape min {least} mbps max {most} mbps"
    return "priority level 1" if text == "priority" else text


# Interfaces

_MASKED = re.compile(r"ip address ([\d.]+) (255[\d.]+|0\.0\.0\.0)((?: .+)?)")
_TAG = re.compile(r"(?<=\S) tag \d+")
_CHANNEL = re.compile(r"channel-group (\d+)(?: force)?(?: mode (\w+))?")
_INTERFACE_WORDS = frozenset({"ip", "channel-group", "service-policy", "priority-flow-control", "switchport"})
_ALL_VLANS = ("switchport trunk allowed vlan all", "switchport trunk allowed vlan 1-4094")


def _interface(line: Line) -> Line:
    if not any(child.text.partition(" ")[0] in _INTERFACE_WORDS for child in line.children):
        return line
    children = tuple(
        Line(text, child.children, child.number)
        for child in line.children
        if child.text not in _ALL_VLANS and (text := _interface_line(child.text))
    )
    return Line(line.text, children, line.number)


def _interface_line(text: str) -> str:
    word = text.partition(" ")[0]
    if word == "ip" and text.startswith("ip address "):
        text = _TAG.sub("", text)
    if word == "ip" and (match := _MASKED.fullmatch(text)):
        try:
            return f"ip address {match[1]}/{ip_network(f'0.0.0.0/{match[2]}').prefixlen}{match[3]}"
        except ValueError:
            return text
    if word == "channel-group" and (match := _CHANNEL.fullmatch(text)):
        return f"channel-group {match[1]} mode {match[2] or 'on'}"
    if word == "service-policy":
        return text.removesuffix(" no-stats")
    if word == "priority-flow-control":
        return text.removesuffix(" send-tlv")
    return text


# BGP

_OF_ASN = re.compile(r"(router bgp|remote-as|local-as) (\d+)\.(\d+)((?: .*)?)")
_ONE_LINE = re.compile(r"(neighbor \S+) (remote-as .+)")
_INHERIT = re.compile(r"inherit (peer|peer-session|peer-policy) (\S+)(?: \d+)?")
_TEMPLATE = re.compile(r"template (peer|peer-session|peer-policy) (\S+)")


def _router(line: Line) -> Line:
    """The speaker, each of whose sessions states what it inherits from templates."""
    if not line.text.startswith("router bgp "):
        return line
    lines = tuple(map(_plain_as_numbers, line.children))
    templates = {match.groups(): child for child in lines if (match := _TEMPLATE.fullmatch(child.text))}
    return Line(_plain_as_number(line.text), tuple(_sessions(lines, templates)), line.number)


Templates = Mapping[tuple[str | None, ...], Line]


def _sessions(lines: Iterable[Line], templates: Templates) -> Iterator[Line]:
    used: set[str] = set()
    expanded = []
    for line in lines:
        if line.text.startswith("vrf "):
            expanded.append(Line(line.text, tuple(_sessions(line.children, templates)), line.number))
        elif line.text.startswith("neighbor "):
            match = _ONE_LINE.fullmatch(line.text)
            header, first = (match[1], (Line(match[2], (), line.number),)) if match else (line.text, ())
            children = _inherited((*first, *line.children), templates, used)
            expanded.append(Line(header, children, line.number))
        else:
            expanded.append(line)
    yield from (line for line in expanded if line.text not in used)


def _inherited(lines: tuple[Line, ...], templates: Templates, used: set[str], depth: int = 0) -> tuple[Line, ...]:
    """The lines of a session with those of its templates, which its own ones replace. used: headers of templates."""
    settings: dict[str, Line] = {}
    for line in lines:
        match = _INHERIT.fullmatch(line.text)
        template = templates.get(match.groups()) if match else None
        if template is None or depth > DEEPEST:
            continue
        used.add(template.text)
        for inherited in _inherited(template.children, templates, used, depth + 1):
            settings.setdefault(setting(inherited.text), inherited)
    for line in lines:
        match = _INHERIT.fullmatch(line.text)
        if match and match.groups() in templates:
            continue
        before = settings.get(setting(line.text))
        children = (*(before.children if before else ()), *line.children)
        children = _inherited(children, templates, used, depth) if children else ()
        settings[setting(line.text)] = Line(line.text, tuple(_last(children)), line.number)
    return tuple(settings.values())


def _last(lines: Iterable[Line]) -> Iterable[Line]:
    return {setting(line.text): line for line in lines}.values()


def _plain_as_numbers(line: Line) -> Line:
    text = _plain_as_number(line.text) if "." in line.text else line.text
    return Line(text, tuple(map(_plain_as_numbers, line.children)), line.number)


def _plain_as_number(text: str) -> str:
    """AS numbers with a dot (RFC 5396) as one number; another text where they are out of range."""
    match = _OF_ASN.fullmatch(text)
    if match is None:
        parts = text.partition(" remote-as ")
        return text if not parts[1] else f"{parts[0]} {_plain_as_number(f'remote-as {parts[2]}')}"
    high, low = int(match[2]), int(match[3])
    return f"{match[1]} {high << 16 | low}{match[4]}" if max(high, low) < 1 << 16 else text


# Lists of prefixes

_PREFIXES = re.compile(r"(ip|ipv6) prefix-list (\S+) (?:seq (\d+) )?((?:permit|deny) .+)")
_BOUNDS = re.compile(r"(permit|deny) (\S+)/(\d+)(?: eq (\d+)| ge (\d+)(?: le (\d+))?| le (\d+))?")


@dataclass(slots=True)
class _List:
    """A prefix list being read. last: number of its last line."""

    last: int = 0


def _numbered_lists(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines with each prefix list in steps of 5, by which NX-OS numbers it, and its lengths in their short form."""
    lists: dict[tuple[str, str], list[tuple[int, str, Line]]] = {}
    kept: list[Line | tuple[tuple[str, str], int]] = []
    for line in lines:
        match = _PREFIXES.fullmatch(line.text) if line.text.startswith("ip") else None
        if match is None:
            kept.append(line)
            continue
        entries = lists.setdefault((match[1], match[2]), [])
        number = int(match[3]) if match[3] else max((entry[0] for entry in entries), default=0) + LIST_STEP
        entries.append((number, _bounds(match[4]), line))
        kept.append(((match[1], match[2]), len(entries) - 1))
    ranks = {name: sorted(range(len(entries)), key=lambda at: entries[at][0]) for name, entries in lists.items()}
    for entry in kept:
        if isinstance(entry, Line):
            yield entry
            continue
        name, at = entry
        _, text, line = lists[name][at]
        number = LIST_STEP * (ranks[name].index(at) + 1)
        yield Line(f"{name[0]} prefix-list {name[1]} seq {number} {text}", line.children, line.number)


def _bounds(text: str) -> str:
    """An entry as NX-OS shows it: `eq` for one length, and no bound that its prefix has by itself."""
    match = _BOUNDS.fullmatch(text)
    if match is None:
        return text
    try:
        prefix = ip_network(f"{match[2]}/{match[3]}", strict=False)
    except ValueError:
        return text
    least, most = match[5], match[6] or match[7]
    only = match[4] or (least if least in (most, str(prefix.max_prefixlen)) else None)
    if only is not None:
        bounds = f" eq {only}" if int(only) != prefix.prefixlen else ""
    else:
        bounds = "".join(f" {word} {length}" for word, length in (("ge", least), ("le", most)) if length)
    return f"{match[1]} {prefix}{bounds}"


_SECTIONS: Mapping[str, Callable[[Line], Line]] = {
    "class-map": _class_map,
    "policy-map": _policy_map,
    "interface": _interface,
    "router": _router,
}
