"""SONiC's names of what a device model names: interfaces, VRFs and the lists of policies."""

from __future__ import annotations

from railfab.device import DEFAULT_INSTANCE
from railfab.platforms.shared.native_names import NativeNames

VRF_PREFIX = "Vrf"
"""The beginning of every name of a VRF (sonic-vrf, name); a model has the rest of it."""

_NAMES = NativeNames(loopback="Loopback", lag="PortChannel", vlan="Vlan")
device_name = _NAMES.device_name
interface_name = _NAMES.interface_name
number_in = _NAMES.number_in


def vrf_name(instance: str) -> str:
    """SONiC's name of a network instance: `Vrftenant1`, with at most 15 characters as of every interface."""
    return instance if instance == DEFAULT_INSTANCE else f"{VRF_PREFIX}{instance}"


def instance_name(vrf: str) -> str:
    return vrf if vrf == DEFAULT_INSTANCE else vrf.removeprefix(VRF_PREFIX)


def list_name(policy: str, sequence: int) -> str:
    """The prefix set, community set or AS path set of one rule; each rule has its own."""
    return f"{policy}_{sequence}"
