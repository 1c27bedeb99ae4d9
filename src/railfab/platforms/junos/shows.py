"""Output of the show commands of a virtual Junos switch, in text and as `| display json` gives it.

In that form a value is `[{"data": ...}]` (Juniper, Mapping Junos OS Command Output to JSON). The names are those of the
XML of Junos's RPCs: get-interface-information, get-lldp-neighbors-information, get-bgp-neighbor-information,
get-bfd-session-information, get-arp-table-information and get-ipv6-nd-information.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from ipaddress import IPv6Address
from typing import Any

from railfab.device import ObservedBgpSession
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import INDENT, Statement, shown
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

UNIT = ".0"
LINK_LOCAL = b"\xfe\x80" + bytes(6)
LLDP_HEADER = "Local Interface    Parent Interface    Chassis Id          Port info          System Name"
BGP_HEADER = (
    "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn "
    "State|#Active/Received/Accepted/Damped..."
)


def interfaces(device: VirtualDevice) -> str:
    """`show interfaces | display json`."""
    return _json("interface-information", "physical-interface", map(_interface, device.ports()))


def _interface(port: VirtualPort) -> Mapping[str, Any]:
    admin, link = _states(port)
    family = {"address-family-name": _value("inet"), "mtu": _value(str(port.mtu_bytes))}
    unit = {"name": _value(f"{port.name}{UNIT}"), "address-family": [family]}
    return {
        "name": _value(port.name),
        "admin-status": _value(admin),
        "oper-status": _value(link),
        **({"logical-interface": [unit]} if port.mtu_bytes is not None else {}),
    }


def interfaces_terse(device: VirtualDevice) -> str:
    """`show interfaces terse`."""
    lines = ["Interface               Admin Link Proto    Local                 Remote"]
    for port in device.ports():
        admin, link = _states(port)
        lines.append(f"{port.name:<24}{admin:<6}{link}")
        lines += [f"{port.name + UNIT:<24}{admin:<6}{link:<5}inet"] if port.routed else []
    return "\n".join(lines)


def _states(port: VirtualPort) -> tuple[str, str]:
    return ("down" if port.fault == "disabled" else "up"), ("down" if port.fault else "up")


def lldp(device: VirtualDevice, *, as_json: bool) -> str:
    """`show lldp neighbors`."""
    heard = [(port.name, neighbor) for port in device.ports() if port.lldp for neighbor in port.neighbors]
    if as_json:
        entries = (
            {
                "lldp-local-port-id": _value(name),
                "lldp-remote-port-id": _value(neighbor.port),
                "lldp-remote-system-name": _value(neighbor.name),
            }
            for name, neighbor in heard
        )
        return _json("lldp-neighbors-information", "lldp-neighbor-information", entries)
    rows = [
        f"{name:<19}{'-':<20}{_mac(neighbor.name):<20}{neighbor.port:<19}{neighbor.name}" for name, neighbor in heard
    ]
    return "\n".join([LLDP_HEADER, *rows])


def bgp(device: VirtualDevice) -> str:
    """`show bgp neighbor | display json`."""
    return _json("bgp-information", "bgp-peer", (_peer(device.name, each) for each in device.observe().sessions))


def _peer(device: str, session: ObservedBgpSession) -> Mapping[str, Any]:
    instance = "master" if session.network_instance == "default" else session.network_instance
    return {
        "peer-address": _value(_address(device, session)),
        "peer-as": _value(str(session.remote_as or 0)),
        "peer-state": _value(session.state.capitalize()),
        "peer-cfg-rti": _value(instance),
    }


def bgp_summary(device: VirtualDevice) -> str:
    """`show bgp summary`."""
    sessions = device.observe().sessions
    down = sum(not session.established for session in sessions)
    lines = [
        "Threading mode: BGP I/O",
        f"Groups: {len(sessions)} Peers: {len(sessions)} Down peers: {down}",
        BGP_HEADER,
    ]
    for session in sessions:
        state = "Establ" if session.established else session.state.capitalize()
        lines.append(
            f"{_address(device.name, session):<24} {session.remote_as or 0:>5}{0:>11}{0:>11}{0:>8}{0:>8} 0:00 {state}"
        )
    return "\n".join(lines)


def bfd(device: VirtualDevice) -> str:
    """`show bfd session | display json`."""
    entries = (
        {
            "session-neighbor": _value(_address(device.name, session)),
            "session-state": _value("Up" if session.bfd_up else "Down"),
            "session-interface": _value(f"{session.interface}{UNIT}"),
        }
        for session in device.observe().sessions
        if session.bfd_up is not None
    )
    return _json("bfd-session-information", "bfd-session", entries)


def arp(device: VirtualDevice) -> str:
    """`show arp no-resolve | display json`."""
    entries = (
        {"ip-address": _value(address), "interface-name": _value(unit)} for address, unit in _resolved(device, 4)
    )
    return _json("arp-table-information", "arp-table-entry", entries)


def nd(device: VirtualDevice) -> str:
    """`show ipv6 neighbors | display json`."""
    entries = (
        {"ipv6-nd-neighbor-address": _value(address), "ipv6-nd-interface-name": _value(unit)}
        for address, unit in _resolved(device, 6)
    )
    return _json("ipv6-nd-information", "ipv6-nd-entry", entries)


def _resolved(device: VirtualDevice, version: int) -> Iterator[tuple[str, str]]:
    """Addresses that ports have resolved, with the unit of each."""
    for port in device.ports():
        yield from (
            (str(each.address), f"{port.name}{UNIT}") for each in port.resolved if each.address.version == version
        )


def compared(running: str, candidate: str) -> str:
    """`show | compare`: what a candidate adds and removes, below the place of each."""
    before, after = dict.fromkeys(read(running)), dict.fromkeys(read(candidate))
    changes: dict[Statement, list[str]] = {}
    for sign, statements in (("-", _without(before, after)), ("+", _without(after, before))):
        for statement in statements:
            place, leaf = statement[:-2], statement[-2:]
            changes.setdefault(place, []).append(f"{sign}{INDENT}{shown(leaf)};")
    return "\n".join(line for place, lines in changes.items() for line in (_header(place), *lines))


def _without(statements: Iterable[Statement], others: Mapping[Statement, None]) -> Iterator[Statement]:
    return (statement for statement in statements if statement not in others)


def _header(place: Statement) -> str:
    return f"[edit {shown(place)}]" if place else "[edit]"


def _address(device: str, session: ObservedBgpSession) -> str:
    """The address of a peer; that of an unnumbered one is link-local, with its interface."""
    if not isinstance(session.peer, str):
        return str(session.peer)
    tail = sha256(f"{device} {session.peer}".encode()).digest()[:8]
    address = IPv6Address(LINK_LOCAL + tail)
    return f"{address}%{session.peer}{UNIT}"


def _mac(name: str) -> str:
    return ":".join(f"{byte:02x}" for byte in b"\x02" + sha256(name.encode()).digest()[:5])


def _value(text: str) -> Sequence[Mapping[str, str]]:
    return [{"data": text}]


def _json(root: str, entry: str, entries: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps({root: [{entry: list(entries)}]}, indent=1)
