"""Text format of EOS: `show running-config`, and its lines in one form.

Three blanks a level, `!` between sections, `end` at the end. Where EOS takes one setting in several forms (an entry of
a prefix list by itself or below its list, a default that is shown or hidden), `canonical` gives it in the form that
railfab renders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from railfab.platforms.eos.names import default_traffic_class
from railfab.platforms.eos.spellings import spelled, with_profiles
from railfab.platforms.shared.line_tree import Line, LineFormat, Literal, SectionKind
from railfab.platforms.shared.native_names import numbers_in

_SPACED = ("address-family", "vlan", "vrf", "uc-tx-queue", "tx-queue", "evpn", "profile", "unit", "port")

FORMAT = LineFormat(
    indent=3,
    nested={word: SectionKind(before=True) for word in _SPACED},
    literals=(Literal(start=re.compile(r"banner (login|motd)$"), end="EOF"),),
)

_PREFIX_ENTRY = re.compile(r"(ip|ipv6) prefix-list (\S+) (seq \d+ .*)")
_SERVER_WITH_KEY = re.compile(r"((?:tacacs|radius)-server host .*?) key .*")
"""No intent states a key, so a server is the same with one as without."""

SIZES = {"kbytes": 1_000, "mbytes": 1_000_000}
"""Units in which EOS may show a threshold [bytes]."""

_SIZE = re.compile(r"(\d+) (kbytes|mbytes)")
_ZEROS = re.compile(r"(?<=\d)\.0+(?= |$)|(?<=\.\d)0+(?= |$)|(?<=\.\d\d)0+(?= |$)")
_DSCP_MAP = re.compile(r"qos map dscp (\d[\d ,-]*) to traffic-class (\d)")
_QUEUE_MAP = re.compile(r"qos map traffic-class (\d) to (?:uc-)?tx-queue (\d)")
_ETHERNET = re.compile(r"interface Ethernet\d+(?:/\d+)*")
_DEFAULTS = {
    "": frozenset(
        {
            "no aaa root",
            "transceiver qsfp default-mode 4x10G",
            "spanning-tree mode mstp",
            "no ip routing",
            "lldp run",
            "lldp timer 30",
            "lldp hold-time 120",
            "logging trap informational",
        }
    ),
    "interface": frozenset(
        {
            "no shutdown",
            "switchport",
            "switchport mode access",
            "switchport access vlan 1",
            "switchport trunk native vlan 1",
            "lldp transmit",
            "lldp receive",
            "no priority-flow-control",
            "vxlan udp-port 4789",
            "load-interval 300",
        }
    ),
    "router": frozenset(
        {
            "bgp bestpath as-path multipath-relax",
            "maximum-paths 1",
            "maximum-paths 1 ecmp 1",
        }
    ),
}
"""Lines that state a default of EOS, by the first word of their section. EOS shows some of them always, others with
`show running-config all`."""

_BESIDE_PROFILE = _DEFAULTS["interface"] - {"no priority-flow-control"}
"""Defaults of a port with a QoS profile, whose PFC such a line may be meant to end."""


def canonical(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines without defaults, and with every setting in the form of a rendered configuration."""
    return tuple(_joined(_plain(with_profiles(_reopened(lines)))))


def _reopened(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with those of a section that is opened again where it was opened first; the same ones without such."""
    children: dict[str, tuple[Line, ...]] = {}
    for line in lines:
        if line.children:
            children[line.text] = (*children.get(line.text, ()), *line.children)
    if len(children) == sum(1 for line in lines if line.children):
        return lines
    first = {line.text: line for line in reversed(lines) if line.children}
    return tuple(
        Line(line.text, children[line.text], line.number) if line.children else line
        for line in lines
        if not line.children or first[line.text] is line
    )


def _plain(lines: tuple[Line, ...]) -> Iterator[Line]:
    deciding = _deciding(lines)
    for line in lines:
        kind = line.kind
        if kind in ("qos", "priority-flow-control"):
            yield from _quality(line, deciding)
            continue
        if line.text in _DEFAULTS[""] and not line.children:
            continue
        if kind in ("ip", "ipv6") and (entry := _PREFIX_ENTRY.fullmatch(line.text)):
            entries = (Line(entry[3], (), line.number),)
            yield spelled(Line(f"{entry[1]} prefix-list {entry[2]}", entries, line.number))
            continue
        if kind.endswith("-server") and (server := _SERVER_WITH_KEY.fullmatch(line.text)):
            yield Line(server[1], line.children, line.number)
            continue
        line = spelled(line)
        children = _vrfs_last(line, _without_defaults(line))
        if children or kind != "interface" or not _ETHERNET.fullmatch(line.text):
            yield line if children is line.children else Line(line.text, children, line.number)


def _deciding(lines: tuple[Line, ...]) -> dict[int, Line]:
    """The line that decides for each code point: of several that name it the last one."""
    maps = ((line, match) for line in lines if line.kind == "qos" and (match := _DSCP_MAP.fullmatch(line.text)))
    return {point: line for line, match in maps for point in _points(match[1])}


def _points(listed: str) -> tuple[int, ...]:
    """The code points of a list with spaces or commas, and ranges; none of another text."""
    try:
        return numbers_in(listed.replace(" ", ","), 0, 63)
    except ValueError:
        return ()


def _quality(line: Line, deciding: Mapping[int, Line]) -> Iterator[Line]:
    """A line of QoS: a map by its values, without EOS's own ones; thresholds in bytes; times without trailing zeros."""
    named = _DSCP_MAP.fullmatch(line.text)
    if named and (points := _points(named[1])):
        for point in points:
            if default_traffic_class(point) != int(named[2]) and deciding[point] is line:
                yield Line(f"qos map dscp {point} to traffic-class {named[2]}", (), line.number)
        return
    if (identity := _QUEUE_MAP.fullmatch(line.text)) and identity[1] == identity[2]:
        return
    yield _in_plain_units(line)


def _in_plain_units(line: Line) -> Line:
    plain = line.text
    if plain.startswith("random-detect ecn"):
        plain = _SIZE.sub(lambda match: f"{int(match[1]) * SIZES[match[2]]} bytes", plain)
        plain = _with_weight(plain)
    elif "watchdog" in plain:
        plain = _ZEROS.sub("", plain)
    elif plain == "priority-flow-control mode on":
        plain = "priority-flow-control on"
    if plain == line.text and not line.children:
        return line
    return Line(plain, tuple(map(_in_plain_units, line.children)), line.number)


def _with_weight(threshold: str) -> str:
    """A ramp with its weight: that of the average of the queue is 0 unless stated (EOS User Manual, QoS, ECN)."""
    return threshold if "minimum-threshold" not in threshold or " weight " in threshold else f"{threshold} weight 0"


def _without_defaults(line: Line) -> tuple[Line, ...]:
    defaults = _DEFAULTS.get(line.kind)
    if defaults is None or defaults.isdisjoint([child.text for child in line.children]):
        return line.children
    if line.kind == "interface" and any(child.kind == "service-profile" for child in line.children):
        defaults = _BESIDE_PROFILE
    return tuple(child for child in line.children if child.text not in defaults)


def _vrfs_last(line: Line, children: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a router, those of its VRFs at the end as in a running configuration."""
    if line.kind != "router" or all(child.kind != "vrf" for child in children):
        return children
    return tuple(sorted(children, key=lambda child: child.kind == "vrf"))


def _joined(lines: Iterator[Line]) -> Iterator[Line]:
    """The lines, with those of a prefix list that were single below one line of the list."""
    pending: Line | None = None
    for line in lines:
        is_list = "prefix-list" in line.text and line.kind in ("ip", "ipv6")
        if pending is not None and line.text == pending.text:
            pending = Line(pending.text, (*pending.children, *line.children), pending.number)
            continue
        if pending is not None:
            yield pending
        pending = line if is_list else None
        if not is_list:
            yield line
    if pending is not None:
        yield pending


def text(lines: tuple[Line, ...]) -> str:
    """The configuration text of rendered lines."""
    return FORMAT.text(lines)
