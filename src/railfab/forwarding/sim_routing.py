"""The simulator's next-hop groups: the routes of all switches to every host port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from railfab.device import IpAddress
from railfab.forwarding.lags import InterfaceLink, spread
from railfab.forwarding.links import LinkTable
from railfab.forwarding.next_hop_groups import NO_HOPS
from railfab.forwarding.prefixes import Prefix, covering
from railfab.forwarding.route_table import Routes
from railfab.sim import Routing

Groups = NDArray[np.int32]

NO_PREFIX = (0, 0, 0)
"""Stands for no prefix; has no bits."""


def routing(links: LinkTable, routes: Routes, lags: Mapping[int, InterfaceLink], closed: Sequence[int] = ()) -> Routing:
    """Next hops by the longest prefix. Each host port is a destination of its own, in the order of `LinkTable.nics`.

    The groups are those of `routes.tables.hops`, and after them one for each link to a connected prefix. lags:
    see `spread`. closed: links that no full packet passes; a flow whose hash chooses one has no path.
    """
    connected = sorted({link for own in routes.connected.values() for link in own.values() if link is not None})
    table = routes.tables.hops.links
    groups = [spread(group, lags) for group in (*table, *((link,) for link in connected))]
    begin = np.cumsum([0, *map(len, groups)])
    single = {link: len(table) + place for place, link in enumerate(connected)}
    switches = len(links.switches)
    nodes = switches + len(links.nics)
    members = np.fromiter(chain.from_iterable(groups), np.int64, int(begin[-1]))
    members[np.isin(members, list(closed))] = -1
    return Routing(
        destination=np.where(np.arange(nodes) < switches, -1, np.arange(nodes) - switches),
        row=np.where(np.arange(nodes) < switches, np.arange(nodes), -1),
        group=_groups(links, routes, single),
        begin=np.asarray(begin, np.int64),
        members=members,
    )


def _groups(links: LinkTable, routes: Routes, single: dict[int, int]) -> Groups:
    """(switch, host port) the number of the group, -1 without a route. single: the group of a connected link."""
    found = np.full((len(links.switches), len(links.nics)), -1, np.int32)
    owners = _owners(routes)
    for prefixes in _by_length(links, routes):
        numbers = np.array([routes.groups.numbers.get(prefix, -1) for prefix in prefixes], np.int64)
        known = np.flatnonzero(numbers >= 0)
        hops = routes.programmed[:, numbers[known]]
        found[:, known] = np.where(hops == NO_HOPS, found[:, known], hops)
        for column, prefix in enumerate(prefixes):
            for row, link in owners.get(prefix, ()):
                found[row, column] = -1 if link is None else single[link]
    return found


def _by_length(links: LinkTable, routes: Routes) -> list[list[Prefix]]:
    """For every length of prefixes, from short to long, the prefix that the address of each host port is in."""
    addresses = [_address(links, int(link)) for link in links.nics]
    lengths = {bits: sorted(found) for bits, found in routes.groups.lengths.items()}
    deepest = max(map(len, lengths.values()), default=0)
    return [[_prefix(address, lengths, level) for address in addresses] for level in range(deepest)]


def _prefix(address: IpAddress | None, lengths: Mapping[int, Sequence[int]], level: int) -> Prefix:
    held = lengths.get(address.max_prefixlen, ()) if address else ()
    return covering(address, held[level]) if address and level < len(held) else NO_PREFIX


def _address(links: LinkTable, link: int) -> IpAddress | None:
    found = links.near[link].address
    return found.ip if found else None


def _owners(routes: Routes) -> dict[Prefix, list[tuple[int, int | None]]]:
    """By prefix, the switches that originate it, and the link by which they reach it; None for their own addresses."""
    found: dict[Prefix, list[tuple[int, int | None]]] = defaultdict(list)
    for name, own in routes.connected.items():
        for prefix, link in own.items():
            found[prefix].append((routes.rows[name], link))
    return dict(found)
