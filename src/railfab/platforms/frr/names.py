"""FRR's and Linux's names of what a device model names: interfaces, lists of policies, BFD profiles, communities."""

from __future__ import annotations

import re

from railfab.device import BfdTimers, lag_name, loopback_name, svi_name

LOOPBACK_DEVICE = "lo"
"""Linux's own loopback is the first loopback of a model; others are dummy devices `lo1`, `lo2`, ..."""

LAG_DEVICE = "bond"
SVI_DEVICE = "vlan"
WELL_KNOWN = {
    0x00000000: "internet",
    0xFFFF0000: "graceful-shutdown",
    0xFFFF0001: "accept-own",
    0xFFFF0002: "route-filter-translated-v4",
    0xFFFF0003: "route-filter-v4",
    0xFFFF0004: "route-filter-translated-v6",
    0xFFFF0005: "route-filter-v6",
    0xFFFF0006: "llgr-stale",
    0xFFFF0007: "no-llgr",
    0xFFFF0008: "accept-own-nexthop",
    0xFFFF029A: "blackhole",
    0xFFFFFF01: "no-export",
    0xFFFFFF02: "no-advertise",
    0xFFFFFF03: "local-AS",
    0xFFFFFF04: "no-peer",
}
"""Communities that FRR 8.4 shows by name, in the order in which it shows them."""

_NUMBERS = {name: number for number, name in WELL_KNOWN.items()}
_DEVICES = {"loopback": LOOPBACK_DEVICE, "lag": LAG_DEVICE, "vlan": SVI_DEVICE}
_CANONICAL = re.compile(r"(loopback|lag|vlan)(\d+)")
_DEVICE = re.compile(rf"({LOOPBACK_DEVICE}|{LAG_DEVICE}|{SVI_DEVICE})([1-9]\d*)")
_KINDS = {LOOPBACK_DEVICE: loopback_name, LAG_DEVICE: lag_name, SVI_DEVICE: svi_name}


def device_name(name: str) -> str:
    """Linux's name of an interface of a model: `lo`, `bond1` and `vlan10` of `loopback0`, `lag1` and `vlan10`."""
    if name == loopback_name(0):
        return LOOPBACK_DEVICE
    match = _CANONICAL.fullmatch(name)
    return f"{_DEVICES[match[1]]}{match[2]}" if match else name


def interface_name(device: str) -> str:
    """The name in every model of an interface that Linux names so; a port keeps its name."""
    if device == LOOPBACK_DEVICE:
        return loopback_name(0)
    match = _DEVICE.fullmatch(device)
    return _KINDS[match[1]](int(match[2])) if match else device


def kind_of(name: str) -> str:
    """`loopback`, `lag` or `vlan` of an interface of a model; empty for a port."""
    match = _CANONICAL.fullmatch(name)
    return match[1] if match else ""


def bfd_profile_name(timers: BfdTimers) -> str:
    """FRR does not show BFD timers of a neighbour and cannot remove those of a profile, so other timers need another
    profile; otherwise a rollback could not restore the former timers."""
    return f"FABRIC-{timers.interval_ms}X{timers.multiplier}"


def community_number(community: str) -> int:
    """Sort key of FRR's order of communities. Raises ValueError for text that is none."""
    if community in _NUMBERS:
        return _NUMBERS[community]
    high, low = (int(part) for part in community.split(":"))
    if not 0 <= high <= 0xFFFF or not 0 <= low <= 0xFFFF:
        raise ValueError(f"{community} is not within 0:0 to 65535:65535")
    return high << 16 | low


def community_name(community: str) -> str:
    """A community as FRR shows it: `graceful-shutdown` for `65535:0`."""
    return WELL_KNOWN.get(community_number(community), community)
