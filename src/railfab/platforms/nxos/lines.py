"""Text format of NX-OS's configuration, and its form without what a switch adds or leaves out by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from railfab.platforms.nxos.canonical import canonical
from railfab.platforms.nxos.switch_policies import with_classifiers
from railfab.platforms.shared.line_tree import Line, LineFormat, Literal
from railfab.platforms.shared.native_names import numbers_in
from railfab.text.folding import number_ranges


def _block(line: str) -> str:
    """The kind of a list (`ip prefix-list`), the first word of all other plain lines."""
    first, second, *_ = f"{line}  ".split(" ")
    return f"{first} {second}" if first in ("ip", "ipv6", "interface") else first


FORMAT = LineFormat(
    indent=2,
    separator="",
    ends=False,
    literals=(Literal(start=re.compile(r"banner motd (\S)")),),
    header=frozenset({"configure terminal"}),
    block=_block,
)
"""`show running-config` indents by two, and has an empty line between sections."""

VLAN1 = "interface Vlan1"
_ALWAYS_THERE = re.compile(r"interface (?:Ethernet\d+(?:/\d+)+|Vlan1)")
_ALLOWED = re.compile(r"switchport trunk allowed vlan (?:add )?([\d,-]+)")
_VLANS = re.compile(r"vlan ([\d,-]+)")
_KEPT_BLANKS = ("description ", "banner ")
_BREAKOUT = re.compile(r"interface breakout module (\d+) port ([\d,-]+) map (\S+)")

PORT_DEFAULTS = frozenset(
    {
        "flowcontrol receive off", "flowcontrol send off", "fec auto", "speed auto", "duplex auto", "negotiate auto",
        "no ip directed-broadcast", "ip redirects", "ipv6 redirects", "lacp rate normal", "lacp port-priority 32768",
        "bfd interval 50 min_rx 50 multiplier 3", "switchport trunk native vlan 1", "lldp transmit", "lldp receive",
        "no beacon", "medium broadcast", "ipv6 nd ra-lifetime 1800", "no ip proxy-arp", "link debounce time 0",
    }
)  # fmt: skip
"""Nexus 9000 Interfaces guide, Default Settings of each chapter."""
BRIDGED_DEFAULTS = frozenset({"no shutdown", "switchport", "switchport mode access", "switchport access vlan 1"})
UP_DEFAULTS = frozenset({"no shutdown"})
DOWN_DEFAULTS = frozenset({"shutdown"})
VLAN1_DEFAULTS = frozenset({"shutdown", "no shutdown", "no ip redirects", "no ipv6 redirects"})
VLAN_DEFAULTS = frozenset({"state active", "no shutdown"})
SWITCH_DEFAULTS = frozenset(
    {
        "system jumbomtu 9216", "lldp timer 30", "lldp holdtime 120", "copp profile strict",
        "priority-flow-control watch-dog interval 100", "priority-flow-control watch-dog shutdown-multiplier 1",
        "priority-flow-control auto-restore multiplier 10", "bfd slow-timer 2000",
        "port-channel load-balance src-dst ip-l4port",
    }
)  # fmt: skip
"""Nexus 9000 guides, Default Settings: Interfaces, System Management (LLDP), Security (CoPP), QoS (PFC watchdog)."""
BGP_DEFAULTS = frozenset(
    {
        "graceful-restart", "graceful-restart restart-time 120", "graceful-restart stalepath-time 300",
        "enforce-first-as", "fast-external-fallover", "timers bgp 60 180", "no shutdown", "distance 20 200 220",
        "suppress-fib-pending", "weight 0", "maximum-paths ibgp 1",
    }
)  # fmt: skip
"""Nexus 9000 Unicast Routing guide, Default Settings of basic and advanced BGP."""


def effective(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a configuration without defaults, with one line for what NX-OS may write in several or together."""
    return tuple(_top(canonical(map(_plain, lines))))


def _plain(line: Line) -> Line:
    """A line with single blanks where they have no meaning, and so the lines below it."""
    text = " ".join(line.text.split())
    if text != line.text and line.text.startswith(_KEPT_BLANKS):
        text = line.text
    children = tuple(map(_plain, line.children))
    return line if text == line.text and children == line.children else Line(text, children, line.number)


def _top(lines: Iterable[Line]) -> Iterator[Line]:
    kept = [line for line in lines if line.text not in SWITCH_DEFAULTS and not line.text.startswith("version ")]
    kept = with_classifiers(kept)
    texts = {line.text for line in kept}
    for line in kept:
        if vlans := _VLANS.fullmatch(line.text):
            yield from _vlans(line, vlans[1], texts)
        elif (breakout := _BREAKOUT.fullmatch(line.text)) and (ports := _numbers(breakout[2])):
            for port in ports:
                text = f"interface breakout module {breakout[1]} port {port} map {breakout[3]}"
                yield Line(text, (), line.number)
        elif line.text.startswith("interface "):
            yield from _interface(line)
        elif line.text.startswith("router bgp "):
            lines_of_all = sorted(_sessions(line.children), key=lambda child: child.text.startswith("vrf "))
            yield Line(line.text, tuple(lines_of_all), line.number)
        else:
            yield _without_default_vrf(line)


def _without_default_vrf(line: Line) -> Line:
    """Servers in the default VRF, which some releases name."""
    if line.text.startswith(("ntp server ", "logging server ")):
        return Line(line.text.removesuffix(" use-vrf default"), line.children, line.number)
    return line


def _vlans(line: Line, numbers: str, sections: set[str]) -> Iterator[Line]:
    """VLANs of a list that have no section of their own; VLAN 1 is always there."""
    listed = _numbers(numbers)
    children = tuple(child for child in line.children if child.text not in VLAN_DEFAULTS)
    if numbers.isdecimal() or not listed:
        if numbers != "1" or children:
            yield Line(line.text, children, line.number)
        return
    for number in listed:
        if number != 1 and f"vlan {number}" not in sections:
            yield Line(f"vlan {number}", line.children, line.number)


def _numbers(ranges: str) -> tuple[int, ...]:
    """The numbers of a list; none where it is malformed, which the grammar refuses."""
    try:
        return numbers_in(ranges, 1, 4094)
    except ValueError:
        return ()


def _interface(line: Line) -> Iterator[Line]:
    """An interface without defaults; none for a port and for Vlan1 that have only these."""
    children = tuple(_one_allowed(line.children))
    texts = {child.text for child in children}
    defaults = _defaults(line.text, texts)
    left = tuple(child for child in children if child.text not in defaults and child.text not in PORT_DEFAULTS)
    if left or not _ALWAYS_THERE.fullmatch(line.text):
        yield Line(line.text, left, line.number)


def _defaults(header: str, texts: set[str]) -> frozenset[str]:
    """Lines that NX-OS does not show: a routed port is down unless it is enabled, a bridged one is up, as a LAG is
    (Nexus 9000 Interfaces guide, Default Settings for Layer 2 and Layer 3 interfaces)."""
    if header == VLAN1 and not any(text.startswith(("ip address", "ipv6 address")) for text in texts):
        return VLAN1_DEFAULTS
    if header.startswith("interface Ethernet"):
        return DOWN_DEFAULTS if "no switchport" in texts else BRIDGED_DEFAULTS
    if header.startswith("interface port-channel"):
        return UP_DEFAULTS if "no switchport" in texts else BRIDGED_DEFAULTS
    return DOWN_DEFAULTS if header.startswith(("interface Vlan", "interface nve")) else UP_DEFAULTS


def _one_allowed(lines: tuple[Line, ...]) -> Iterator[Line]:
    """The lines with those of the allowed VLANs as one: NX-OS writes a long list in several."""
    allowed = [(line, match[1]) for line in lines if (match := _ALLOWED.fullmatch(line.text))]
    if not allowed:
        yield from lines
        return
    listed = ",".join(text for _, text in allowed)
    numbers = number_ranges(_numbers(listed)) or listed
    for line in lines:
        if line == allowed[0][0]:
            yield Line(f"switchport trunk allowed vlan {numbers}", (), line.number)
        elif not _ALLOWED.fullmatch(line.text):
            yield line


def _sessions(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Lines without defaults, and `send-community both`, as releases differ, as the two lines that it stands for."""
    kept: dict[str, Line] = {}
    for line in lines:
        names: tuple[str, ...]
        if line.text == "send-community both":
            names = ("send-community", "send-community extended")
        else:
            names = ("send-community" if line.text == "send-community standard" else line.text,)
        kept |= {name: Line(name, _sessions(line.children), line.number) for name in names if name not in BGP_DEFAULTS}
    return tuple(kept.values())


def text(lines: tuple[Line, ...]) -> str:
    """The configuration text of rendered lines."""
    return FORMAT.text(lines)
