"""NX-OS's names of what a device model names: interfaces, VRFs, lists of policies, communities, and ranges of VLANs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from railfab.device import DEFAULT_INSTANCE, MANAGEMENT_VRF, lag_name, loopback_name, svi_name

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

_CANONICAL = re.compile(r"(loopback|lag|vlan)(\d+)")
_NATIVE = re.compile(r"(loopback|port-channel|Vlan)(\d+)")
_WORDS = {"loopback": "loopback", "lag": "port-channel", "vlan": "Vlan"}
_KINDS = {"loopback": loopback_name, "port-channel": lag_name, "Vlan": svi_name}


def device_name(name: str) -> str:
    """NX-OS's name of an interface of a model: `port-channel1` and `Vlan10` of `lag1` and `vlan10`."""
    found = _CANONICAL.fullmatch(name)
    return f"{_WORDS[found[1]]}{found[2]}" if found else name


def interface_name(device: str) -> str:
    """The name in every model of an interface that NX-OS names so; a port keeps its name."""
    found = _NATIVE.fullmatch(device)
    return _KINDS[found[1]](int(found[2])) if found else device


def kind_of(device: str) -> str:
    """`loopback`, `port-channel` or `Vlan` of NX-OS's name of an interface; empty for a port."""
    found = _NATIVE.fullmatch(device)
    return found[1] if found else ""


def vrf_name(instance: str) -> str:
    """NX-OS's name of a network instance."""
    return MANAGEMENT if instance == MANAGEMENT_VRF else instance


def instance_name(vrf: str | None) -> str:
    """The network instance of a VRF; of no VRF the default one."""
    if vrf is None:
        return DEFAULT_INSTANCE
    return MANAGEMENT_VRF if vrf == MANAGEMENT else vrf


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as NX-OS writes them: `1,4-6`; two neighbours are a range too."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def numbers_in(text: str) -> Iterator[int]:
    """The numbers of a text that `ranges` writes. Raises ValueError."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def mac_text(mac: str) -> str:
    """A MAC address as NX-OS writes it: `0200.5e00.0101` of `02:00:5e:00:01:01`."""
    digits = mac.replace(":", "")
    return ".".join(digits[place : place + 4] for place in (0, 4, 8))


def mac_of(text: str) -> str:
    """A MAC address of NX-OS as models have it."""
    digits = re.sub(r"[.:-]", "", text).lower()
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))
