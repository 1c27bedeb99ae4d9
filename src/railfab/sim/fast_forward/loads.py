"""Which links can congest: what the NIC ports that send over a link can send at most, against the rate of the link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.kernel.records import MAX_HOPS, QUEUES, SENDING, State
from railfab.sim.network import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loads:
    """Flows that send, and their links.

    numbers: of the flows that have packets to send. Axes (flow, hop), for these flows: links (-1 beyond the path),
    queues (of the queue before each link). Axis (link,): congestible; flows, how many of these pass.
    """

    numbers: Ints
    links: Ints
    queues: Ints
    congestible: Bools
    flows: Ints

    @classmethod
    def of(cls, st: State, queue_of: Ints) -> Loads:
        flows = st.flows
        numbers = np.flatnonzero((flows.state == SENDING) & (flows.sent < flows.packets))
        links = st.path.reshape(-1, MAX_HOPS)[numbers].astype(np.int64)
        bound = _bound_gbps(st, numbers, links)
        rate = _rate_gbps(st)
        return cls(
            numbers=numbers,
            links=links,
            queues=_queues(st, numbers, links, queue_of),
            congestible=bound > rate * (1 + 1e-9),
            flows=np.bincount(links[links >= 0], minlength=len(st.links)),
        )

    def any_on_path(self, marked: Bools) -> Bools:
        """(flow,) whether a link of the path is marked."""
        return np.asarray((marked[self.links] & (self.links >= 0)).any(axis=1))


def _rate_gbps(st: State) -> Floats:
    with np.errstate(divide="ignore"):
        return np.where(st.links.ps_per_byte > 0, 8000.0 / st.links.ps_per_byte, 0.0)


def _bound_gbps(st: State, numbers: Ints, links: Ints) -> Floats:
    """(link,) the most that can come to a link: of each NIC port what its flows may send, at most the port's rate."""
    flows = st.flows[numbers]
    start = st.transports.start_rate[flows.transport]
    most = np.where((start > 0) & (flows.reacts == 0), np.minimum(start, flows.line_rate), flows.line_rate)
    used = links >= 0
    pairs = (links * len(st.nodes) + flows.source[:, None])[used]
    pair, place = np.unique(pairs, return_inverse=True)
    together = np.bincount(place, weights=np.broadcast_to(most[:, None], links.shape)[used], minlength=len(pair))
    port = _rate_gbps(st)[st.nodes.link[pair % len(st.nodes)]]
    weights = np.minimum(together, port)
    return np.bincount(pair // len(st.nodes), weights=weights, minlength=len(st.links)).astype(np.float64)


def _queues(st: State, numbers: Ints, links: Ints, queue_of: Ints) -> Ints:
    """The queue before each link of a path: of the NIC, then by traffic class at each switch."""
    flows = st.flows[numbers]
    queue = np.empty_like(links)
    queue[:, 0] = flows.queue
    queue[:, 1:] = queue_of[links[:, :-1], flows.traffic_class[:, None]]
    return np.where(links >= 0, links * QUEUES + queue, -1)
