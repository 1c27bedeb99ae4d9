"""Addresses and discriminators of virtual switches, made of names: the same in every run."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address

LARGEST_DISCRIMINATOR = 0x7FFFFFFF


@lru_cache(maxsize=1 << 17)
def link_local(device: str, interface: str) -> IPv6Address:
    """The link-local address that the port of a device has for its peer."""
    tail = sha256(f"{device} {interface}".encode()).digest()[:8]
    return IPv6Address(b"\xfe\x80" + bytes(6) + tail)


def discriminator(device: str, peer: str) -> str:
    """The local discriminator of a BFD session (RFC 5880, section 4.1), which is not 0."""
    digest = sha256(f"{device} {peer} bfd".encode()).digest()
    return str(int.from_bytes(digest[:4], "big") & LARGEST_DISCRIMINATOR or 1)


@lru_cache(maxsize=1 << 17)
def mac_address(name: str) -> str:
    """A locally administered MAC address."""
    digest = sha256(name.encode()).digest()
    return ":".join(f"{byte:02X}" for byte in (digest[0] & 0xFE | 2, *digest[1:6]))


@lru_cache(maxsize=1 << 17)
def is_address(text: str) -> bool:
    """Whether this is an IP address, and not the name of an interface."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
