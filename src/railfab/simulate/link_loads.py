"""Loads of links while flows are all active at once: the link on which a flow waits, and the slowest rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.fabric.route_links import RouteLinks
from railfab.fabric.routed import RoutedFabric
from railfab.forwarding import Connections
from railfab.sim.fluid import fluid_rates
from railfab.simulate.contention import BusyLink
from railfab.simulate.endless import EndlessFlows
from railfab.simulate.ordered import Carriers, Floats, Numbers
from railfab.topology import PortKey
from railfab.workload import TransferRounds

SLACK = 1e-3
"""Relative difference of rates that count as equal."""
FULL = 2 * SLACK
"""Share of a link that may be free where it is full."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlowestInterval:
    """The equal rounds in which the slowest group spends most time, with all of their flows active at once.

    times: number of rounds. transfers: of one of them. route_bytes_per_s: (route,) rate of a flow on it, 0 for one that
    is not used. crossing: (link,) flows; full: (link,). busiest: the link on which the slowest flow waits.
    """

    times: int
    transfers: NDArray[np.intp]
    route_bytes_per_s: Floats
    crossing: Numbers
    full: NDArray[np.bool_]
    busiest: BusyLink | None


def alone_bytes_per_s(paths: Numbers, shares: Floats, capacity: Floats) -> Floats:
    """(route,) the rate of a flow on each that has all links for itself [bytes/s]."""
    with np.errstate(divide="ignore"):
        rates: Floats = np.where(paths >= 0, capacity[paths] / shares, np.inf).min(axis=1)
    return rates


def slowest_interval(
    rounds: TransferRounds,
    carriers: Carriers,
    capacity: Floats,
    slowest: NDArray[np.bool_],
    connections: Connections,
    fabric: RoutedFabric,
    endless: EndlessFlows | None = None,
) -> tuple[Floats, SlowestInterval | None]:
    """The largest share of its capacity that each link carries, (link,), and the rounds that take longest.

    slowest: (transfer,) those of the slowest group. endless: flows of other jobs.
    """
    peak, worst_s, worst = np.zeros(len(capacity)), 0.0, None
    for times, transfers in rounds.intervals():
        used = np.flatnonzero(np.isin(carriers.transfer, transfers))
        route = carriers.route[used]
        routes = RouteLinks(links=carriers.paths[route], shares=carriers.shares[route])
        load = _Load(routes, carriers.alike[used], capacity, endless)
        np.maximum(peak, load.share, out=peak)
        payload = carriers.share[used] * rounds.payload_bytes[carriers.transfer[used]]
        seconds = np.where(slowest[carriers.transfer[used]], times * payload / load.rates, 0.0)
        flow = int(seconds.argmax())
        if seconds[flow] <= worst_s:
            continue
        worst_s, busiest = float(seconds[flow]), None
        if route[flow] < len(connections):
            busiest = load.busiest(flow, connections[int(route[flow])][1], fabric)
        rates = np.zeros(len(carriers.paths))
        rates[route] = load.rates
        worst = SlowestInterval(
            times=times,
            transfers=transfers,
            route_bytes_per_s=rates,
            crossing=load.crossing,
            full=load.share >= 1 - FULL,
            busiest=busiest,
        )
    return peak, worst


def busiest_of(
    routes: RouteLinks, capacity: Floats, payload_bytes: Floats, connections: Connections, fabric: RoutedFabric
) -> BusyLink | None:
    """The link that limits the slowest of flows that are all active at once, of which some have payload.

    routes: (flow,) those of the connections.
    """
    load = _Load(routes, np.ones(len(payload_bytes), np.int64), capacity)
    flow = int((payload_bytes / load.rates).argmax())
    return load.busiest(flow, connections[flow][1], fabric)


class _Load:
    """Flows that are all active at once, and endless ones. rates: (flow,) [bytes/s]. crossing: (link,) flows, with all
    or some of their packets. share: (link,) of the capacity that they take."""

    def __init__(
        self, routes: RouteLinks, alike: Numbers, capacity: Floats, endless: EndlessFlows | None = None
    ) -> None:
        self._paths, self._capacity, count = routes.links, capacity, len(capacity)
        if endless is not None:
            routes = RouteLinks.together([routes, endless.routes])
            alike = np.concatenate((alike, endless.alike))
        paths, used = routes.links, routes.links >= 0
        rates = fluid_rates(paths, capacity, alike, shares=routes.shares, slack=SLACK)
        self.rates = rates[: len(self._paths)]
        hops, links = used.sum(axis=1), paths[used]
        self.crossing = np.bincount(links, np.repeat(alike, hops), minlength=count).astype(np.int64)
        sent = routes.shares[used] * np.repeat(alike * rates, hops)
        load = np.bincount(links, sent, minlength=count)
        self.share = np.divide(load, capacity, out=np.zeros(count), where=(capacity > 0) & (capacity < np.inf))

    def busiest(self, flow: int, target: PortKey, fabric: RoutedFabric) -> BusyLink | None:
        """The full link between two switches on the path of a flow that most flows cross."""
        way = self._paths[flow][self._paths[flow] >= 0]
        full = [link for link in way[1:-1].tolist() if self.share[link] >= 1 - FULL]
        if not full:
            return None
        link, ends = max(full, key=lambda link: int(self.crossing[link])), way[[0, -1]]
        return BusyLink(
            link=link,
            flows=int(self.crossing[link]),
            fair_flows=float(self.crossing[list(fabric.choices(link, target))].mean()),
            share=float(self.rates[flow] / (self._capacity[ends] / self.crossing[ends]).min()),
        )
