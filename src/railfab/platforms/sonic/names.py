"""SONiC's names of what a device model names: interfaces, VRFs and the lists of policies."""

from __future__ import annotations

import re

from railfab.device import DEFAULT_INSTANCE, lag_name, loopback_name, svi_name

VRF_PREFIX = "Vrf"
"""The beginning of every name of a VRF (sonic-vrf, name); a model has the rest of it."""

_DEVICES = {"loopback": "Loopback", "lag": "PortChannel", "vlan": "Vlan"}
_KINDS = {"Loopback": loopback_name, "PortChannel": lag_name, "Vlan": svi_name}
_CANONICAL = re.compile(r"(loopback|lag|vlan)(0|[1-9]\d*)")
_DEVICE = re.compile(r"(Loopback|PortChannel|Vlan)(0|[1-9]\d*)")


def device_name(name: str) -> str:
    """SONiC's name of an interface of a model: `Loopback0`, `PortChannel1`, `Vlan10`; a port keeps its name."""
    found = _CANONICAL.fullmatch(name)
    return f"{_DEVICES[found[1]]}{found[2]}" if found else name


def interface_name(device: str) -> str:
    """The name in every model of an interface that SONiC names so; a port keeps its name."""
    found = _DEVICE.fullmatch(device)
    return _KINDS[found[1]](int(found[2])) if found else device


def number_in(device: str) -> int | None:
    """The number of a loopback, LAG or VLAN; None for another name."""
    found = _DEVICE.fullmatch(device)
    return int(found[2]) if found else None


def vrf_name(instance: str) -> str:
    """SONiC's name of a network instance: `Vrftenant1`, with at most 15 characters as of every interface."""
    return instance if instance == DEFAULT_INSTANCE else f"{VRF_PREFIX}{instance}"


def instance_name(vrf: str) -> str:
    return vrf if vrf == DEFAULT_INSTANCE else vrf.removeprefix(VRF_PREFIX)


def list_name(policy: str, sequence: int) -> str:
    """The prefix set, community set or AS path set of one rule; each rule has its own."""
    return f"{policy}_{sequence}"
