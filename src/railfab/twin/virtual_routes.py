"""The active routes of a virtual switch, as its show commands list them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network

from railfab.device import IpNetwork
from railfab.forwarding import ForwardingState
from railfab.forwarding.next_hop_groups import NO_HOPS
from railfab.forwarding.prefixes import IPV4_BITS, Prefix
from railfab.platforms import VirtualRoute


def virtual_routes(state: ForwardingState, name: str) -> Iterator[VirtualRoute]:
    """The routes of a switch: those of its interfaces, then those that BGP has taught it."""
    routes = state.routes
    for prefix, link in routes.connected.get(name, {}).items():
        yield VirtualRoute(_network(prefix), () if link is None else (state.interface_of(link),), None)
    row, tables = routes.rows[name], routes.tables
    for prefix, group in routes.groups.numbers.items():
        if (number := int(routes.hops[row, group])) != NO_HOPS:
            interfaces = tuple(dict.fromkeys(state.interface_of(link) for link in tables.hops.links[number]))
            best = tables.attributes.values[int(routes.best[row, group])]
            yield VirtualRoute(_network(prefix), interfaces, best.path, best.preference, best.med)


def _network(prefix: Prefix) -> IpNetwork:
    bits, address, length = prefix
    return IPv4Network((address, length)) if bits == IPV4_BITS else IPv6Network((address, length))
