"""Shortest paths of a scenario as next-hop groups."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from railfab.sim.network import Bools, Ints, Routing


def shortest_paths(near: Ints, far: Ints, is_switch: Bools) -> Routing:
    """Next hops of every switch to every host, by number of links; in ascending order of the neighbours' numbers."""
    nodes = len(is_switch)
    hosts, switches = np.flatnonzero(~is_switch), np.flatnonzero(is_switch)
    destination, row = np.full(nodes, -1), np.full(nodes, -1)
    destination[hosts], row[switches] = np.arange(len(hosts)), np.arange(len(switches))
    out: list[list[int]] = [[] for _ in range(nodes)]
    for link in np.argsort(far, kind="stable"):
        out[near[link]].append(int(link))
    group = np.full((len(switches), len(hosts)), -1)
    numbers: dict[tuple[int, ...], int] = {}
    for column, host in enumerate(hosts):
        distance = _distances(int(host), out, far, is_switch)
        for switch in switches:
            hops = tuple(link for link in out[switch] if distance[far[link]] == distance[switch] - 1)
            if hops:
                group[row[switch], column] = numbers.setdefault(hops, len(numbers))
    sizes = [len(hops) for hops in numbers]
    return Routing(
        destination=destination,
        row=row,
        group=group,
        begin=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        members=np.array([link for hops in numbers for link in hops], np.int64),
    )


def _distances(host: int, out: Sequence[Sequence[int]], far: Ints, is_switch: Bools) -> list[int]:
    """Number of links from every node to a host; only switches pass packets on. Unreachable: a large number."""
    distance = [1 << 30] * len(out)
    distance[host] = 0
    queue = deque([host])
    while queue:
        node = queue.popleft()
        if node != host and not is_switch[node]:
            continue
        for link in out[node]:
            neighbour = int(far[link])
            if distance[neighbour] == 1 << 30:
                distance[neighbour] = distance[node] + 1
                queue.append(neighbour)
    return distance
