"""The fabric as it is designed: durations of transfers on its links, and whether a network is that one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from itertools import pairwise, starmap

import numpy as np

from railfab.fabric import Design
from railfab.fabric.routed import RoutedFabric, routed
from railfab.forwarding import Connections
from railfab.sim import Network, Routing
from railfab.workload import Transfer
from railfab.workload.ideal_times import is_crossing, seconds_on_links


class DesignLinks:
    """The links of a design, whose switches run its configurations, with all cables. seed: of the hashes."""

    def __init__(self, design: Design, seed: int) -> None:
        self._design, self._seed = design, seed

    def seconds(self, transfers: Sequence[Transfer]) -> float:
        """Duration of transfers that wait for each other, on the links that the hashes choose, or, where switches
        choose for each packet, on all of them [s].

        Raises RailfabError for a design without routes, and for ports that do not reach each other on it.
        """
        sent = [transfers[place] for place in np.flatnonzero(is_crossing(transfers)).tolist()]
        routes = self._fabric.paths(Connections.of([(each.source, each.target, each.stream) for each in sent]))
        return seconds_on_links(transfers, routes.links, self._fabric.planned_bytes_per_s, routes.shares)

    def are(self, network: Network, routing: Routing) -> bool:
        """Whether a network and its routes are those of the design."""
        planned = self._fabric.state
        return _same_network(network, planned.network) and _same_routes(routing, planned.routing)

    @cached_property
    def _fabric(self) -> RoutedFabric:
        return routed(self._design).with_seed(self._seed)


def _same_network(network: Network, planned: Network) -> bool:
    return all(np.array_equal(getattr(network, each.name), getattr(planned, each.name)) for each in fields(planned))


def _same_routes(routing: Routing, planned: Routing) -> bool:
    """Whether all next-hop groups have the same links; what a fabric went through gives them other numbers."""
    places = ((routing.row, planned.row), (routing.destination, planned.destination))
    if not all(starmap(np.array_equal, places)) or routing.group.shape != planned.group.shape:
        return False
    known: dict[tuple[int, ...], int] = {}
    numbers = [np.append(_group_numbers(each, known), -1)[each.group] for each in (routing, planned)]
    return np.array_equal(*numbers)


def _group_numbers(routing: Routing, known: dict[tuple[int, ...], int]) -> list[int]:
    """(group,) a number for the links of each group, equal for equal ones. known: those so far."""
    members, begin = routing.members.tolist(), routing.begin.tolist()
    return [known.setdefault(tuple(members[first:last]), len(known)) for first, last in pairwise(begin)]
