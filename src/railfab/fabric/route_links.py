"""The links of routes: one after another, or all of those between which switches choose for each packet or burst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from railfab.sim import Balancing, Network, Routing
from railfab.workload.algorithms import TooManyTransfers

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_CANDIDATES = 20_000_000
"""Candidate links of all routes, for which a process has some 2 GB."""
_MOST_TIERS = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RouteLinks:
    """Links of routes. links: (route, hop), those of both ends first and last, -1 behind the last. shares: (route, hop)
    of the packets that take each; behind the last link they have no meaning."""

    links: Numbers
    shares: Floats

    @classmethod
    def single(cls, links: Numbers) -> RouteLinks:
        """Routes of which each packet takes all links."""
        return cls(links=links, shares=np.broadcast_to(1.0, links.shape))

    def only(self, routes: NDArray[Any]) -> RouteLinks:
        """Some of the routes, by number or by mask."""
        return RouteLinks(links=self.links[routes], shares=self.shares[routes])

    @classmethod
    def together(cls, parts: Sequence[RouteLinks]) -> RouteLinks:
        """The routes of all parts."""
        hops = max(part.links.shape[1] for part in parts)

        def padded(array: NDArray[Any], value: int) -> NDArray[Any]:
            return np.pad(array, ((0, 0), (0, hops - array.shape[1])), constant_values=value)

        links = np.concatenate([padded(part.links, -1) for part in parts])
        return cls(links=links, shares=np.concatenate([padded(part.shares, 1) for part in parts]))


def candidate_links(network: Network, routing: Routing, first: Numbers, target: Numbers) -> tuple[RouteLinks, Numbers]:
    """All links that packets may take, and the routes of which some packets do not arrive.

    first: (route,) the link of the source. target: (route,) the node of the target. A switch divides packets evenly
    over the links of its next-hop group, an adaptive one in proportion to their rates. Raises TooManyTransfers.
    """
    ends = np.column_stack((network.far[first], target))
    pairs, row = np.unique(ends, axis=0, return_inverse=True)
    row = row.ravel()
    spread = _Spread(network, routing, pairs[:, 0], pairs[:, 1])
    between = spread.links()
    if len(first) * (between.links.shape[1] + 1) > MOST_CANDIDATES:
        raise _too_many(len(first))
    links = np.column_stack((first, between.links[row]))
    shares = np.column_stack((np.ones(len(first)), between.shares[row]))
    lost = spread.lost[row] | ~network.up[first]
    return RouteLinks(links=links, shares=shares), np.flatnonzero(lost)


def _too_many(routes: int) -> TooManyTransfers:
    problem = f"{routes:,} connections have more than {MOST_CANDIDATES:,} links between which switches choose"
    return TooManyTransfers("profile.ecmp", problem, "Use another algorithm, or fewer hosts")


class _Spread:
    """Packets from switches to targets, tier by tier. lost: (pair,) whether some do not arrive."""

    def __init__(self, network: Network, routing: Routing, switch: Numbers, target: Numbers) -> None:
        self._network, self._routing, self._target = network, routing, target
        self._pair: Numbers = np.arange(len(switch))
        self._node: Numbers = switch
        self._share: Floats = np.ones(len(switch))
        self.lost = np.zeros(len(switch), bool)

    def links(self) -> RouteLinks:
        """(pair, hop) the links of each pair, tier after tier."""
        tiers: list[tuple[Numbers, Numbers, Floats]] = []
        while len(self._pair) and len(tiers) < _MOST_TIERS:
            tiers.append(self._tier())
        self.lost[self._pair] = True
        pair, link, share = (np.concatenate(column) for column in zip(*tiers, strict=True))
        order = np.argsort(pair, kind="stable")
        counts = np.bincount(pair, minlength=len(self.lost))
        hop = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
        links = np.full((len(counts), int(counts.max(initial=1))), -1, np.int64)
        shares = np.zeros(links.shape)
        links[pair[order], hop], shares[pair[order], hop] = link[order], share[order]
        return RouteLinks(links=links, shares=shares)

    def _tier(self) -> tuple[Numbers, Numbers, Floats]:
        """The pair, link and share of packets of each link of the next-hop groups; move on over these."""
        network, routing = self._network, self._routing
        group = routing.group[routing.row[self._node], routing.destination[self._target[self._pair]]]
        begin = np.where(group >= 0, routing.begin[group], 0)
        size = np.where(group >= 0, routing.begin[group + 1] - begin, 0)
        self.lost[self._pair[size == 0]] = True
        if size.sum() > MOST_CANDIDATES:
            raise _too_many(len(self.lost))
        at = np.repeat(np.arange(len(size)), size)
        link = routing.members[np.arange(len(at)) + np.repeat(begin - (np.cumsum(size) - size), size)]
        self.lost[self._pair[at[link < 0]]] = True
        at, link = at[link >= 0], link[link >= 0]
        adaptive = network.balancing[self._node[at]] == int(Balancing.ADAPTIVE)
        weight = np.where(adaptive, network.rate_gbps[link], 1.0)
        share = self._share[at] * weight / np.bincount(at, weight, len(size))[at]
        pair = self._pair[at]
        self._move(pair, network.far[link], share)
        return pair, link, share

    def _move(self, pair: Numbers, node: Numbers, share: Floats) -> None:
        """Let packets arrive at nodes; those of a pair at one switch go on together."""
        network = self._network
        self.lost[pair[~network.is_switch[node] & (node != self._target[pair])]] = True
        goes_on = network.is_switch[node]
        keys, number = np.unique(pair[goes_on] * network.nodes + node[goes_on], return_inverse=True)
        self._pair, self._node = keys // network.nodes, keys % network.nodes
        self._share = np.bincount(number, share[goes_on], len(keys)).astype(float)
