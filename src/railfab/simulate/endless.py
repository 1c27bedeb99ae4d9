"""Flows of other jobs that are active all the time, as the flows of a collective see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from railfab.fabric.route_links import RouteLinks
from railfab.sim.fluid import FluidFlows

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EndlessFlows:
    """Flows that never end. routes: (flow,), no two alike; alike: (flow,) how many equal flows each stands for."""

    routes: RouteLinks
    alike: Numbers

    @classmethod
    def of(cls, routes: RouteLinks) -> EndlessFlows:
        """Flows on these routes, equal ones together."""
        rows = np.column_stack((routes.links, np.where(routes.links >= 0, routes.shares, 1.0)))
        _, first, alike = np.unique(rows, axis=0, return_index=True, return_counts=True)
        return cls(routes=routes.only(first), alike=alike.astype(np.int64))

    @classmethod
    def of_all(cls, parts: Sequence[EndlessFlows]) -> EndlessFlows:
        """The flows of all parts."""
        routes = RouteLinks.together([part.routes for part in parts])
        return cls(routes=routes, alike=np.concatenate([part.alike for part in parts]))

    def on(self, links: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(flow,) whether a flow crosses any of these links, (link,)."""
        crosses: NDArray[np.bool_] = links[self.routes.links] & (self.routes.links >= 0)
        return np.asarray(crosses.any(axis=1))

    def joined_to(self, links: NDArray[np.bool_]) -> EndlessFlows | None:
        """The flows that share a link with these links, (link,), or with such a flow; None for none."""
        reached, joined = links.copy(), self.on(links)
        while True:
            paths = self.routes.links[joined]
            reached[paths[paths >= 0]] = True
            further = self.on(reached)
            if np.array_equal(further, joined):
                break
            joined = further
        return EndlessFlows(routes=self.routes.only(joined), alike=self.alike[joined]) if joined.any() else None

    def crossing(self, link: int) -> int:
        """Number of flows on a link."""
        return int(self.alike[(self.routes.links == link).any(axis=1)].sum())

    def beside(self, flows: FluidFlows) -> FluidFlows:
        """Flows, and behind them these."""
        count, given = len(self.alike), RouteLinks.single(flows.paths)
        if flows.shares is not None:
            given = RouteLinks(links=flows.paths, shares=flows.shares)
        routes = RouteLinks.together([given, self.routes])
        return replace(
            flows,
            paths=routes.links,
            shares=routes.shares,
            route=np.concatenate((flows.route, len(flows.paths) + np.arange(count))),
            alike=np.concatenate((flows.alike, self.alike)),
            payload_bytes=np.concatenate((flows.payload_bytes, np.full(count, np.inf))),
            latency_s=np.concatenate((flows.latency_s, np.zeros(count))),
        )
