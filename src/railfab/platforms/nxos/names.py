"""NX-OS's names of what a device model names: interfaces, VRFs, lists of policies, communities."""

from __future__ import annotations

from railfab.device import DEFAULT_INSTANCE, MANAGEMENT_VRF
from railfab.platforms.shared.native_names import NativeNames

MANAGEMENT = "management"
"""VRF of mgmt0, which no other name can have (Nexus 9000 Fundamentals guide, Default VRF)."""

DIRECT = "RAILFAB-DIRECT"
"""Route map of `redistribute direct`, which NX-OS does not take without one."""
DENY_ALL = "RAILFAB-DENY"
"""Route map of a session that has no policy, where RFC 8212 applies: NX-OS accepts and announces everything."""
PERMIT_ALL = "RAILFAB-PERMIT"
"""Route map of a session without a policy that needs one for its next hop."""
KEPT_NEXT_HOP = "-NEXT-HOP-UNCHANGED"
"""End of the name of a route map that also keeps the next hop: NX-OS has no such setting of a session."""

_NAMES = NativeNames(loopback="loopback", lag="port-channel", vlan="Vlan")
device_name = _NAMES.device_name
interface_name = _NAMES.interface_name
kind_of = _NAMES.kind_of


def segment_identifier(mac: str, number: int) -> str:
    """The identifier that NX-OS makes of the system MAC and the number of an Ethernet segment (RFC 7432, type 3)."""
    return f"03:{mac}:{number.to_bytes(3, 'big').hex(':')}"


def segment_parts(esi: str) -> tuple[str, int]:
    """The system MAC and the number of an identifier of type 3."""
    octets = esi.split(":")
    return ":".join(octets[1:7]), int("".join(octets[7:]), 16)


def vrf_name(instance: str) -> str:
    """NX-OS's name of a network instance."""
    return MANAGEMENT if instance == MANAGEMENT_VRF else instance


def instance_name(vrf: str | None) -> str:
    """The network instance of a VRF; of no VRF the default one."""
    if vrf is None:
        return DEFAULT_INSTANCE
    return MANAGEMENT_VRF if vrf == MANAGEMENT else vrf
