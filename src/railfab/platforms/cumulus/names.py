"""Names of interfaces on Cumulus Linux: `lo`, `bond1` and `vlan10` are a model's loopback, LAGs and SVIs."""

from __future__ import annotations

import re
from functools import lru_cache

from railfab.device import LOOPBACK, lag_name, number_of, svi_name

LO, PEER_LINK = "lo", "peerlink"
PEER_LINK_CONTROL = "peerlink.4094"
"""The subinterface of the peer link over which the two switches of an MLAG pair speak."""

PEER_LINK_LAG = lag_name(1000)
"""The LAG of a model that is the peer link: NVUE has only one, which has a name and no number."""

BRIDGE = "br_default"
"""The VLAN-aware bridge that NVUE makes by itself."""

_PORT = re.compile(r"swp(\d+)(?:s(\d+))?")
_BOND = re.compile(r"bond(0|[1-9]\d*)")
_VLAN = re.compile(r"vlan([1-9]\d*)")
_RANGE = re.compile(r"(.*?)(\d+)-(\d+)")
_PREFIXED = re.compile(r"(.*?)(\d+(?:-\d+)?)")
MOST_OF_RANGE = 4096
"""Largest number of names that one range can stand for."""


_KINDS = {"swp": _PORT, "eth": re.compile(r"eth\d+"), "bond": _BOND, "svi": _VLAN}


def kind_of(name: str) -> str | None:
    """The type that NVUE gives an interface of this name; None for a name from which it does not follow."""
    if name in (LO, PEER_LINK):
        return "loopback" if name == LO else PEER_LINK
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(name)), None)


def is_port(name: str) -> bool:
    """Whether it is a front-panel port or a lane of one."""
    return _PORT.fullmatch(name) is not None


def cage_of(lane: str) -> str | None:
    """The cage of a breakout port; None for another interface."""
    match = _PORT.fullmatch(lane)
    return f"swp{match[1]}" if match and match[2] else None


def lanes_of(cage: str, count: int) -> list[str]:
    """The ports of a broken-out cage: `swp1s0`, `swp1s1`."""
    return [f"{cage}s{lane}" for lane in range(count)]


@lru_cache(maxsize=4096)
def device_name(name: str) -> str:
    """The name on a switch of an interface of a model."""
    if name == LOOPBACK:
        return LO
    if name == PEER_LINK_LAG:
        return PEER_LINK
    return f"bond{number_of(name)}" if re.fullmatch(r"lag\d+", name) else name


@lru_cache(maxsize=4096)
def model_name(name: str) -> str | None:
    """The name in a model of an interface of a switch; None for one that a model does not have, such as `eth0`."""
    if name in (LO, PEER_LINK):
        return LOOPBACK if name == LO else PEER_LINK_LAG
    if is_port(name):
        return name
    if match := _BOND.fullmatch(name):
        return lag_name(int(match[1]))
    return svi_name(int(match[1])) if (match := _VLAN.fullmatch(name)) else None


RESERVED = frozenset(("auto", "none", "null", "any", "all"))
"""Names that nothing can have (cumulus-linux-517, NVUE Format Reference, Reserved Names)."""
PREFIX = "p-"
"""Begins a name that a switch would not take as a model has it."""


def allowed(name: str) -> str:
    """A name of a policy, a VRF or a profile as a switch takes it: one that begins with a letter and is not reserved.

    `p-200g-3m` for `200g-3m` (cumulus-linux-517, NVUE Format Reference, profile-name and generic-name).
    """
    usable = name[:1].isalpha() and name not in RESERVED and not name.startswith(PREFIX)
    return name if usable else f"{PREFIX}{name}"


def given(name: str) -> str:
    """The name that a model has for one of a switch."""
    return name.removeprefix(PREFIX)


def expanded(names: str) -> list[str]:
    """The names that a list of ranges stands for: `swp1-2,5` is swp1, swp2 and swp5. One that is no range is itself."""
    members: list[str] = []
    prefix = ""
    for part in names.split(","):
        if (match := _PREFIXED.fullmatch(part)) is None:
            return [names]
        prefix = match[1] or prefix
        members.extend(_range(f"{prefix}{match[2]}"))
    return members if 0 < len(members) <= MOST_OF_RANGE else [names]


def _range(name: str) -> list[str]:
    match = _RANGE.fullmatch(name)
    if match is None:
        return [name]
    first, last = int(match[2]), int(match[3])
    return [f"{match[1]}{number}" for number in range(first, last + 1)] if first <= last < first + MOST_OF_RANGE else []
