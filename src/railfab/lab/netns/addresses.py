"""Management network of a lab: an IPv4 range without address or route on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.errors import LabError

POOLS = tuple(IPv4Network(pool) for pool in ("172.31.0.0/16", "172.30.0.0/16", "198.18.0.0/15"))
"""Address pools, in order of preference: private, then benchmarking (RFC 1918, RFC 2544)."""

SMALLEST_PREFIX = 24


@dataclass(frozen=True, slots=True)
class ManagementAddresses:
    """Management addresses. gateway: address of the bridge. addresses: one per switch, by name."""

    gateway: IPv4Interface
    addresses: dict[str, IPv4Interface]


def management(switches: Sequence[str], taken: Iterable[IPv4Network]) -> ManagementAddresses:
    """Addresses of the bridge and the switches in the first free range.

    Raises LabError when no pool has a free range.
    """
    network = _free_network(len(switches) + 1, tuple(taken))
    hosts = network.hosts()
    return ManagementAddresses(_on(network, next(hosts)), {name: _on(network, next(hosts)) for name in switches})


def _on(network: IPv4Network, address: IPv4Address) -> IPv4Interface:
    return IPv4Interface((address, network.prefixlen))


def _free_network(addresses: int, taken: tuple[IPv4Network, ...]) -> IPv4Network:
    prefix = min(SMALLEST_PREFIX, 32 - (addresses + 1).bit_length())
    for pool in POOLS:
        for network in pool.subnets(new_prefix=max(prefix, pool.prefixlen)):
            if network.num_addresses - 2 >= addresses and not any(network.overlaps(other) for other in taken):
                return network
    pools = ", ".join(map(str, POOLS))
    raise LabError("management network", f"no free range in {pools}", "Remove an address or a route that overlaps them")
