"""Prefixes as integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from railfab.device import IpAddress, IpNetwork, PrefixRange

Prefix = tuple[int, int, int]
"""Bits of an address of its family, network address, and prefix length."""

IPV4_BITS = 32


def prefix_of(network: IpNetwork) -> Prefix:
    return network.max_prefixlen, int(network.network_address), network.prefixlen


def covering(address: IpAddress, length: int) -> Prefix:
    """The prefix of this length that an address is in."""
    bits = address.max_prefixlen
    return bits, int(address) >> (bits - length) << (bits - length), length


@dataclass(slots=True)
class Prefixes:
    """Prefixes to compare with ranges; each range is compared once."""

    values: Sequence[Prefix]
    _families: dict[int, tuple[NDArray[np.int64], NDArray[np.generic], NDArray[np.int64]]] = field(init=False)
    _ranges: dict[PrefixRange, NDArray[np.bool_]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places: dict[int, list[int]] = {}
        for place, (bits, _, _) in enumerate(self.values):
            places.setdefault(bits, []).append(place)
        self._families = {bits: self._columns(bits, found) for bits, found in places.items()}

    def _columns(
        self, bits: int, places: list[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.generic], NDArray[np.int64]]:
        """Places, network addresses and lengths of one family. Addresses of IPv6 fit no integer of numpy."""
        networks = np.array([self.values[place][1] for place in places], np.int64 if bits == IPV4_BITS else object)
        return np.array(places, np.int64), networks, np.array([self.values[place][2] for place in places], np.int64)

    def inside(self, ranges: Sequence[PrefixRange]) -> NDArray[np.bool_]:
        """(prefix,) whether one of the ranges contains each prefix; without ranges, all are inside."""
        if not ranges:
            return np.ones(len(self.values), bool)
        return np.asarray(np.logical_or.reduce([self._within(found) for found in ranges]))

    def _within(self, found: PrefixRange) -> NDArray[np.bool_]:
        held = self._ranges.get(found)
        if held is None:
            held = self._ranges[found] = self._compare(found)
        return held

    def _compare(self, found: PrefixRange) -> NDArray[np.bool_]:
        result, bits = np.zeros(len(self.values), bool), found.prefix.max_prefixlen
        if bits in self._families:
            places, networks, lengths = self._families[bits]
            shift = bits - found.prefix.prefixlen
            same = networks >> shift == int(found.prefix.network_address) >> shift  # type: ignore[operator]
            in_range = (lengths >= max(found.ge, found.prefix.prefixlen)) & (lengths <= found.le)
            result[places] = same.astype(bool) & in_range
        return result
