"""Names of interfaces on SR Linux: `system0`, `lo1`, `lag1` and `irb0.10` are a model's loopbacks, LAGs and SVIs."""

from __future__ import annotations

import re
from functools import lru_cache

from railfab.device import LOOPBACK, lag_name, loopback_name, number_of, svi_name

SYSTEM = "system0"
IRB = "irb0"
"""The integrated routing and bridging interface, whose subinterfaces are the SVIs: subinterface 10 routes VLAN 10."""

_PORT = re.compile(r"ethernet-(\d+)/(\d+)(?:/(\d+))?")
_LOOPBACK = re.compile(r"lo([1-9]\d*)")
_LAG = re.compile(r"lag\d+")
_MODEL_LOOPBACK = re.compile(r"loopback\d+")
_MODEL_SVI = re.compile(r"vlan\d+")
_MANAGED = re.compile(r"system0|(?:lo|lag|irb)\d+")


def is_managed(name: str) -> bool:
    """Whether railfab manages the interface: ports, loopbacks, LAGs and SVIs, not the management port."""
    return is_port(name) or _MANAGED.fullmatch(name) is not None


def is_port(name: str) -> bool:
    """Whether it is a front-panel port or a lane of one."""
    return bool(front_panel(name))


@lru_cache(maxsize=4096)
def front_panel(name: str) -> tuple[int, ...]:
    """Slot, port and lane of an interface, for sorting; empty for one that is not on the front panel."""
    match = _PORT.fullmatch(name)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def cage_of(lane: str) -> str:
    """The cage of a breakout port."""
    return lane.rpartition("/")[0]


def is_svi(name: str) -> bool:
    """Whether it is the name of an SVI in a model, which is also that of its VLAN's mac-vrf."""
    return _MODEL_SVI.fullmatch(name) is not None


def native_loopback(name: str) -> str:
    """`system0` is the loopback with the router ID, `lo1` the next one."""
    return SYSTEM if name == LOOPBACK else f"lo{number_of(name)}"


def model_loopback(native: str) -> str | None:
    """The name of a loopback in a model; None for an interface that is no loopback of a model, such as `lo0`."""
    if native == SYSTEM:
        return LOOPBACK
    match = _LOOPBACK.fullmatch(native)
    return loopback_name(int(match[1])) if match else None


def model_lag(native: str) -> str | None:
    """The name of a LAG in a model; None for another interface."""
    return lag_name(number_of(native)) if _LAG.fullmatch(native) else None


@lru_cache(maxsize=4096)
def subinterface(name: str) -> str:
    """The routed subinterface of a model's interface: `ethernet-1/9.0`, `system0.0`, `irb0.10`."""
    if is_svi(name):
        return f"{IRB}.{number_of(name)}"
    return f"{native_loopback(name) if _MODEL_LOOPBACK.fullmatch(name) else name}.0"


@lru_cache(maxsize=4096)
def interface_of(subinterface_name: str) -> str | None:
    """The model's interface of a routed subinterface; None when a model has no name for it."""
    port, _, index = subinterface_name.rpartition(".")
    if port == IRB:
        return svi_name(int(index)) if index.isdecimal() else None
    if index != "0":
        return None
    return port if is_port(port) or model_lag(port) else model_loopback(port)
