"""Renders a device model to FRR configuration, as a tree of lines.

Every line is written as FRR 8.4 shows it, and FRR's default values are omitted as FRR omits them; otherwise every push
would report changes. No peer groups: a change to a group resets all of its sessions, a change to a neighbour only its
own.
"""

from __future__ import annotations

import re

from railfab.device import BfdTimers, BgpNeighbor, DeviceModel, Interface, PrefixRange
from railfab.platforms.shared.line_tree import Line

IMPORT, EXPORT = "IMPORT", "EXPORT"
"""Names of the prefix lists, and of the route maps that apply them."""

BFD_PROFILE = "FABRIC-{interval_ms}X{multiplier}"
"""Name of the BFD profile. FRR does not show BFD timers of a neighbour and cannot remove those of a profile, so other
timers need another profile; otherwise a rollback could not restore the former timers."""

DEFAULTS = "datacenter"
DEFAULT_TIMERS_S = {"datacenter": (3, 9), "traditional": (60, 180)}
"""Default BGP keepalive and hold time of each `frr defaults` profile [s] (doc/user/bgp.rst, profiles)."""

DEFAULT_MAX_PATHS = 256
"""--enable-multipath of Debian's build of zebra."""

DEFAULT_BFD_MULTIPLIER = 3
DEFAULT_BFD_INTERVAL_MS = 300
MULTIPATH_RELAX = "bgp bestpath as-path multipath-relax"
REDISTRIBUTE = f"redistribute connected route-map {EXPORT}"
ADDRESS_FAMILY = "address-family ipv4 unicast"
ROUTER_ADVERTISEMENTS = "no ipv6 nd suppress-ra"

_DIGITS = re.compile(r"(\d+)")


def render(model: DeviceModel) -> tuple[Line, ...]:
    """The whole configuration of one switch."""
    return (
        *_header(model),
        Line("interface lo", (Line(f"ip address {model.loopback}/32"),)),
        *(_interface(interface) for interface in model.interfaces),
        _router(model),
        *_prefix_list(EXPORT, model.bgp.export_prefixes),
        *_prefix_list(IMPORT, model.bgp.import_prefixes),
        _route_map(EXPORT),
        _route_map(IMPORT),
        *_bfd(model),
    )


def _header(model: DeviceModel) -> tuple[Line, ...]:
    return (
        Line(f"frr defaults {DEFAULTS}"),
        Line(f"hostname {model.name}"),
        Line("log syslog informational"),
        Line("service integrated-vtysh-config"),
    )


def _interface(interface: Interface) -> Line:
    """FRR reduces white space in a description to single blanks."""
    lines = []
    if interface.description:
        lines.append(Line(f"description {' '.join(interface.description.split())}"))
    if interface.address is not None:
        lines.append(Line(f"ip address {interface.address}"))
    if interface.unnumbered:
        lines.append(Line(ROUTER_ADVERTISEMENTS))
    if not interface.enabled:
        lines.append(Line("shutdown"))
    return Line(f"interface {interface.name}", tuple(lines))


def _router(model: DeviceModel) -> Line:
    bgp = model.bgp
    lines = [Line(f"bgp router-id {bgp.router_id}"), Line(MULTIPATH_RELAX)]
    if (bgp.keepalive_s, bgp.hold_s) != DEFAULT_TIMERS_S[DEFAULTS]:
        lines.append(Line(f"timers bgp {bgp.keepalive_s} {bgp.hold_s}"))
    neighbors = sorted(bgp.neighbors, key=_order)
    for neighbor in neighbors:
        lines += _neighbor(neighbor, model.bfd)
    family = [Line(REDISTRIBUTE)]
    for neighbor in neighbors:
        family.append(Line(f"neighbor {peer_of(neighbor)} route-map {IMPORT} in"))
        family.append(Line(f"neighbor {peer_of(neighbor)} route-map {EXPORT} out"))
    if bgp.max_paths != DEFAULT_MAX_PATHS:
        family.append(Line(f"maximum-paths {bgp.max_paths}"))
    return Line(f"router bgp {bgp.asn}", (*lines, Line(ADDRESS_FAMILY, tuple(family))))


def _neighbor(neighbor: BgpNeighbor, timers: BfdTimers | None) -> list[Line]:
    """Without `v6only` FRR uses the IPv4 address of an interface that has a /30 or /31."""
    peer = peer_of(neighbor)
    via = "" if neighbor.address else "interface v6only "
    lines = [Line(f"neighbor {peer} {via}remote-as {neighbor.remote_as}")]
    if neighbor.bfd:
        lines.append(Line(f"neighbor {peer} bfd"))
        if timers is not None:
            lines.append(Line(f"neighbor {peer} bfd profile {_profile(timers)}"))
    return lines


def peer_of(neighbor: BgpNeighbor) -> str:
    """FRR's name of the neighbour: its address, or the interface of an unnumbered one."""
    return str(neighbor.address) if neighbor.address else neighbor.interface


def _order(neighbor: BgpNeighbor) -> tuple[int, int, tuple[tuple[str, int], ...]]:
    """Sort key of FRR's order: unnumbered neighbours by natural name order (swp2 before swp10), then by address."""
    if neighbor.address:
        return (1, int(neighbor.address), ())
    words = _DIGITS.split(neighbor.interface)
    names, numbers = words[::2], [int(word) for word in words[1::2]]
    return (0, 0, tuple(zip(names, [*numbers, -1], strict=True)))


def _prefix_list(name: str, ranges: tuple[PrefixRange, ...]) -> tuple[Line, ...]:
    """Entries in steps of five, as FRR numbers them; `deny any` when nothing is permitted."""
    start = f"ip prefix-list {name} seq"
    if not ranges:
        return (Line(f"{start} 5 deny any"),)
    return tuple(
        Line(f"{start} {5 * position} permit {_range(found)}") for position, found in enumerate(ranges, start=1)
    )


def _range(found: PrefixRange) -> str:
    """FRR requires `ge` to be longer than the prefix and omits both bounds for an exact match."""
    length = found.prefix.prefixlen
    ge = f" ge {found.ge}" if found.ge > length else ""
    le = f" le {found.le}" if found.le > length else ""
    return f"{found.prefix}{ge}{le}"


def _route_map(name: str) -> Line:
    return Line(f"route-map {name} permit 10", (Line(f"match ip address prefix-list {name}"),))


def _bfd(model: DeviceModel) -> tuple[Line, ...]:
    """The BFD profile of all sessions; none when BFD is off."""
    if model.bfd is None:
        return ()
    lines = []
    if model.bfd.multiplier != DEFAULT_BFD_MULTIPLIER:
        lines.append(Line(f"detect-multiplier {model.bfd.multiplier}"))
    if model.bfd.interval_ms != DEFAULT_BFD_INTERVAL_MS:
        lines.append(Line(f"transmit-interval {model.bfd.interval_ms}"))
        lines.append(Line(f"receive-interval {model.bfd.interval_ms}"))
    return (Line("bfd", (Line(f"profile {_profile(model.bfd)}", tuple(lines)),)),)


def _profile(timers: BfdTimers) -> str:
    return BFD_PROFILE.format(interval_ms=timers.interval_ms, multiplier=timers.multiplier)
