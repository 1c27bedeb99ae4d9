"""Division of the pool of an access network: an eighth for loopbacks, an eighth for servers of the site, a quarter for
links between switches, the upper half for members. Every address is computed from the number of a leaf or spine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

PURPOSES = 4
"""Parts of the upper half, if members are in VLANs by purpose."""


@dataclass(frozen=True)
class NetworkPools:
    """The parts of a pool. access_ports, uplinks: largest number per leaf."""

    pool: IPv4Network
    access_ports: int
    uplinks: int

    @cached_property
    def loopbacks(self) -> IPv4Network:
        return IPv4Network((self._base, self.pool.prefixlen + 3))

    @cached_property
    def servers(self) -> IPv4Network:
        """Addresses for servers of the site; railfab assigns none of them."""
        return IPv4Network((self._base + self.pool.num_addresses // 8, self.pool.prefixlen + 3))

    @cached_property
    def fabric_links(self) -> IPv4Network:
        return IPv4Network((self._base + self.pool.num_addresses // 4, self.pool.prefixlen + 2))

    @cached_property
    def members(self) -> IPv4Network:
        return IPv4Network((self._base + self._half, self.pool.prefixlen + 1))

    @cached_property
    def _base(self) -> int:
        return int(self.pool.network_address)

    @cached_property
    def _half(self) -> int:
        return self.pool.num_addresses // 2

    @cached_property
    def link_stride(self) -> int:
        """Addresses per leaf for its routed access links, a /31 each."""
        return _power(2 * self.access_ports)

    @cached_property
    def uplink_stride(self) -> int:
        return _power(2 * self.uplinks)

    @cached_property
    def port_stride(self) -> int:
        """Addresses per leaf and VLAN for its members, with network, gateway and broadcast address."""
        return _power(self.access_ports + 3)

    def leaf_loopback(self, leaf: int) -> IPv4Address:
        return IPv4Address(self._base + leaf)

    def spine_loopback(self, spine: int) -> IPv4Address:
        """The loopback of a spine: from the end downwards, without the last, which looks like a broadcast address."""
        return IPv4Address(self._base + self.pool.num_addresses // 8 - 1 - spine)

    def link(self, leaf: int, position: int) -> tuple[IPv4Interface, IPv4Interface]:
        """Addresses of member and leaf on a routed access link: a /31 (RFC 3021), the leaf even."""
        return pair(self._base + self._half + (leaf - 1) * self.link_stride + 2 * position)

    def uplink(self, leaf: int, uplink: int) -> tuple[IPv4Interface, IPv4Interface]:
        """Addresses of leaf and spine on an uplink: a /31, the spine even."""
        return pair(int(self.fabric_links.network_address) + (leaf - 1) * self.uplink_stride + 2 * uplink)

    def leaf_subnet(self, purpose: int, leaf: int) -> IPv4Network:
        """The subnet of a leaf for a purpose (from 0)."""
        base = int(self.purpose_subnet(purpose).network_address) + (leaf - 1) * self.port_stride
        return IPv4Network((base, 33 - self.port_stride.bit_length()))

    def purpose_subnet(self, purpose: int) -> IPv4Network:
        """The subnet of a purpose: a quarter of the upper half."""
        return IPv4Network((self._base + self._half + purpose * (self._half // PURPOSES), self.pool.prefixlen + 3))


def pair(even: int) -> tuple[IPv4Interface, IPv4Interface]:
    """Both ends of a /31: odd, even."""
    return IPv4Interface((even + 1, 31)), IPv4Interface((even, 31))


def _power(count: int) -> int:
    """The next power of two."""
    return 1 << max(0, count - 1).bit_length()
