"""The routes of all switches, as arrays over switches and prefix groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from railfab.device import Family, IpAddress
from railfab.forwarding.attributes import Numbers, RouteAttributes
from railfab.forwarding.links import LinkTable
from railfab.forwarding.next_hop_groups import NO_HOPS, NextHopGroups
from railfab.forwarding.peers import Peers
from railfab.forwarding.policies import Policies
from railfab.forwarding.ports import Configs
from railfab.forwarding.prefix_groups import NO_GROUPS, Connected, PrefixGroups
from railfab.forwarding.prefixes import covering
from railfab.forwarding.sessions import PrefixCounts

SessionCounts = Mapping[Family, PrefixCounts]
"""Numbers of prefixes of one session."""

Columns = NDArray[np.bool_]
"""(group,) which groups are meant."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RouteTables:
    """Shared by all states of a fabric: numbered filters, attributes and next-hop groups."""

    policies: Policies = field(default_factory=Policies)
    attributes: RouteAttributes = field(default_factory=RouteAttributes)
    hops: NextHopGroups = field(default_factory=NextHopGroups)


@dataclass(frozen=True, kw_only=True, eq=False)
class Routes:
    """Routes of all switches. Axes of the arrays: (switch, group).

    connected: per switch, the egress link of each of its own prefixes (None for loopbacks and aggregates).
    rows: row of each switch. cost: of the best route, `UNREACHED` without one. best, hops: the number of its
    attributes, and of the next-hop group, in `tables`. programmed: the next-hop groups that packets take; those of
    `hops` once they are in the hardware, and the same array while all are. bandwidth: sum of the link bandwidths of the
    next hops as they were received, 0 without any. counts: numbers of prefixes by switch, as far as they were asked
    for.
    """

    tables: RouteTables
    rows: Mapping[str, int]
    connected: Connected
    groups: PrefixGroups
    peers: Mapping[str, Peers]
    cost: NDArray[np.int32]
    best: Numbers
    hops: NDArray[np.int32]
    programmed: NDArray[np.int32]
    bandwidth: NDArray[np.int32]
    counts: dict[str, Mapping[str, SessionCounts]]

    @property
    def every(self) -> Columns:
        return np.ones(len(self.groups.keys), bool)

    def egress(self, switch: str, address: IpAddress) -> tuple[int, ...]:
        """The links by which a packet to this address may leave; none without a route, or to the switch itself."""
        own, row = self.connected.get(switch, {}), self.rows[switch]
        for length in self.groups.lengths.get(address.max_prefixlen, ()):
            prefix = covering(address, length)
            if prefix in own:
                link = own[prefix]
                return () if link is None else (link,)
            group = self.groups.numbers.get(prefix)
            if group is not None and (number := int(self.programmed[row, group])) != NO_HOPS:
                return self.tables.hops.links[number]
        return ()


def no_routes(links: LinkTable) -> Routes:
    """The routes of a fabric in which no switch is configured."""
    names = [node.name for node in links.topology.switches()]
    shape = (len(names), 0)
    hops = np.zeros(shape, np.int32)
    return Routes(
        tables=RouteTables(),
        rows={name: row for row, name in enumerate(names)},
        connected={},
        groups=NO_GROUPS,
        peers={},
        cost=np.zeros(shape, np.int32),
        best=np.zeros(shape, np.int32),
        hops=hops,
        programmed=hops,
        bandwidth=np.zeros(shape, np.int32),
        counts={},
    )


def filters_in_use(configs: Configs) -> tuple[int, ...]:
    """The numbers of the filters of all sessions."""
    return tuple(sorted(frozenset[int]().union(*(config.filters for config in configs.values()))))
