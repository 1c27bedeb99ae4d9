"""Names and numbers as switches of several platforms write them: interfaces, MAC addresses, lists of ranges."""

from __future__ import annotations

import re
from ipaddress import ip_interface

from railfab.device import IpInterface, lag_name, loopback_name, svi_name
from railfab.platforms.shared.statements import within

IP_WORDS = {4: "ip", 6: "ipv6"}
"""The words with which lines of addresses and prefixes begin, by IP version."""

VERSIONS = {word: version for version, word in IP_WORDS.items()}
_CANONICAL = re.compile(r"(loopback|lag|vlan)(0|[1-9]\d*)")
_MAC = re.compile(r"[0-9a-f]{12}")


class NativeNames:
    """Names of the loopbacks, LAGs and SVIs of a platform: its word for the kind, and the number in the model."""

    def __init__(self, *, loopback: str, lag: str, vlan: str) -> None:
        self._words = {"loopback": loopback, "lag": lag, "vlan": vlan}
        self._kinds = {word: kind for kind, word in self._words.items()}
        self._names = {loopback: loopback_name, lag: lag_name, vlan: svi_name}
        self._device = re.compile(rf"({'|'.join(map(re.escape, self._kinds))})(0|[1-9]\d*)")

    def device_name(self, name: str) -> str:
        """The platform's name of an interface of a model; a port keeps its name."""
        match = _CANONICAL.fullmatch(name)
        return f"{self._words[match[1]]}{match[2]}" if match else name

    def interface_name(self, device: str) -> str:
        """The name in every model of an interface of the platform."""
        match = self._device.fullmatch(device)
        return self._names[match[1]](int(match[2])) if match else device

    def kind_of(self, device: str) -> str:
        """`loopback`, `lag` or `vlan` of the platform's name of an interface; empty for a port."""
        match = self._device.fullmatch(device)
        return self._kinds[match[1]] if match else ""

    def number_in(self, device: str) -> int | None:
        """The number of a loopback, LAG or SVI; None for another name."""
        match = self._device.fullmatch(device)
        return int(match[2]) if match else None


def interface_address(word: str, text: str) -> IpInterface:
    """The address of a line that begins with one of IP_WORDS. Raises ValueError for one of the other family."""
    address = ip_interface(text)
    if address.version != VERSIONS[word]:
        raise ValueError(f"{text} is not an IPv{VERSIONS[word]} address")
    return address


def dotted_mac(mac: str) -> str:
    """`0200.0001.0001` of `02:00:00:01:00:01`."""
    digits = mac.replace(":", "")
    return ".".join(digits[place : place + 4] for place in range(0, 12, 4))


def plain_mac(text: str) -> str:
    """The address with colons. Raises ValueError for text that has not twelve hexadecimal digits."""
    digits = re.sub(r"[.:-]", "", text).lower()
    if not _MAC.fullmatch(digits):
        raise ValueError(f"{text} is not a MAC address")
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))


def numbers_in(ranges: str, low: int, high: int) -> tuple[int, ...]:
    """The numbers of a list such as `10,20-22`, ascending. Raises ValueError for another text or outside the bounds."""
    numbers: set[int] = set()
    for part in ranges.split(","):
        first, dash, last = part.partition("-")
        begin = within(first, low, high)
        numbers.update(range(begin, (within(last, begin, high) if dash else begin) + 1))
    return tuple(sorted(numbers))
