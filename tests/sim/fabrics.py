"""Small networks for laws and closed forms, and flows on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from railfab.sim import QUEUES, Engine, Flow, Framing, Network, Routing, plain_network
from railfab.sim.replay.routes import shortest_paths

LOSSLESS = 3
"""The queue and PFC priority of class 0 in `lossless`."""
OCTETS = Framing(payload_bytes=1000, header_bytes=0, gap_bytes=0, ack_bytes=0, cnp_bytes=0)
"""Octets are payload, and acknowledgements take no time: closed forms need no headers."""


def network_of(
    cables: Iterable[tuple[int, int]], is_switch: Sequence[bool], rate_gbps: Any = 100.0, **options: Any
) -> Network:
    """Cable i is link 2i from its first node to its second, and link 2i + 1 back."""
    ends = np.array(list(cables))
    near, far = ends.ravel(), ends[:, ::-1].ravel()
    rates = np.repeat(np.broadcast_to(np.asarray(rate_gbps, float), len(ends)), 2)
    return plain_network(near, far, np.array(is_switch), rates, **options)


def star(hosts: int, rate_gbps: Any = 100.0, **options: Any) -> Network:
    """Hosts 0.. around one switch, host i on cable i."""
    return network_of([(host, hosts) for host in range(hosts)], [False] * hosts + [True], rate_gbps, **options)


def leaf_spine(leaves: int, hosts: int, spines: int, rate_gbps: float = 100.0, **options: Any) -> Network:
    """Hosts 0.. on each leaf in turn, then leaves, then spines; each leaf with one cable to each spine."""
    first_leaf = leaves * hosts
    first_spine = first_leaf + leaves
    cables = [(host, first_leaf + host // hosts) for host in range(first_leaf)]
    cables += [(first_leaf + leaf, first_spine + spine) for leaf in range(leaves) for spine in range(spines)]
    return network_of(cables, [False] * first_leaf + [True] * (leaves + spines), rate_gbps, **options)


def routes(network: Network) -> Routing:
    """Shortest paths over the links that are up."""
    up = np.flatnonzero(network.up)
    found = shortest_paths(network.near[up], network.far[up], network.is_switch)
    return replace(found, members=up[found.members])


def lossless(
    network: Network,
    *,
    xoff_bytes: float = 100_000.0,
    xon_gap_bytes: float = 2_000.0,
    headroom_bytes: float | None = None,
    **options: Any,
) -> Network:
    """With class 0 in queue 3 and PFC for it at all switches; headroom for a round trip and two frames at each end."""
    into_switch = network.is_switch[network.far]
    at = np.zeros((network.links, QUEUES), bool)
    at[:, LOSSLESS] = into_switch
    needed = 2 * network.rate_gbps / 8 * network.delay_ns + 4 * 4200
    headroom = needed if headroom_bytes is None else np.full(network.links, headroom_bytes)
    queue_of, priority_of = network.queue_of.copy(), network.priority_of.copy()
    queue_of[:, 0] = priority_of[:, 0] = LOSSLESS
    nic_queue = network.nic_queue.copy()
    nic_queue[0] = LOSSLESS
    pause_queue = np.full((network.links, QUEUES), -1)
    pause_queue[:, LOSSLESS] = LOSSLESS
    return replace(
        network,
        queue_of=queue_of,
        priority_of=priority_of,
        nic_queue=nic_queue,
        pfc_sent=at,
        xoff_bytes=np.where(at, xoff_bytes, np.inf),
        xon_gap_bytes=np.where(at, xon_gap_bytes, 0.0),
        headroom_bytes=np.where(at, headroom[:, None], 0.0),
        pause_queue=pause_queue,
        **options,
    )


def marking(network: Network, kmin_bytes: float, kmax_bytes: float, pmax: float) -> Network:
    """With ECN in all queues of switches."""
    at = np.repeat(network.is_switch[network.near][:, None], QUEUES, axis=1)
    return replace(
        network,
        kmin_bytes=np.where(at, kmin_bytes, np.inf),
        kmax_bytes=np.where(at, kmax_bytes, np.inf),
        pmax=np.where(at, pmax, 0.0),
    )


def limited(network: Network, limit_bytes: float) -> Network:
    """With short queues in all switches."""
    at = network.is_switch[network.near][:, None]
    return replace(network, limit_bytes=np.where(at, np.full((1, QUEUES), limit_bytes), np.inf))


def flow(id: int, source: int, target: int, payload_bytes: int, **options: Any) -> Flow:
    """A flow whose hash words follow from its ends and its number."""
    words = {"source_word": 7 + source, "target_word": 7 + target, "entropy": 50_000 + id, "back_entropy": 60_000 + id}
    return Flow(id=id, source=source, target=target, payload_bytes=payload_bytes, **(words | options))


def incast(senders: int, payload_bytes: int, **options: Any) -> list[Flow]:
    """From hosts 1.. to host 0."""
    return [flow(sender, sender, 0, payload_bytes, **options) for sender in range(1, senders + 1)]


def engine_of(network: Network, flows: Sequence[Flow], **options: Any) -> Engine:
    engine = Engine(network, routes(network), **options)
    engine.add(flows)
    return engine


def without_cables(network: Network, cables: Iterable[int]) -> Network:
    up = network.up.copy()
    for cable in cables:
        up[2 * cable : 2 * cable + 2] = False
    return replace(network, up=up)
