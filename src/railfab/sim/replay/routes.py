"""Shortest paths of a scenario as next-hop groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from railfab.sim.kernel.records import MAX_HOPS
from railfab.sim.network import Bools, Ints, Routing

UNREACHABLE = -1


def shortest_paths(near: Ints, far: Ints, is_switch: Bools) -> Routing:
    """Next hops of every switch to every host, by number of links; in ascending order of the neighbours' numbers.

    Hosts have at most one cable, so that all hosts of a switch have the routes to this switch.
    """
    nodes = len(is_switch)
    hosts, switches = np.flatnonzero(~is_switch), np.flatnonzero(is_switch)
    destination, row = np.full(nodes, -1), np.full(nodes, -1)
    destination[hosts], row[switches] = np.arange(len(hosts)), np.arange(len(switches))
    links = np.lexsort((far, near))
    between = links[is_switch[near[links]] & is_switch[far[links]]]
    down = links[is_switch[near[links]] & ~is_switch[far[links]]]
    targets, target_of = np.unique(near[down], return_inverse=True)
    distance = switch_distances(row[near[between]], row[far[between]], row[targets], len(switches))
    group = np.full((len(switches), len(hosts)), -1, np.int32)
    lists: list[Ints] = []
    places = (np.searchsorted(near[between], switches, side) for side in ("left", "right"))
    for s, (first, last) in enumerate(zip(*places, strict=True)):
        out = between[first:last]
        reaches = (distance[row[far[out]]] == distance[s] - 1) & (distance[s] > 0)
        group[s, destination[far[down]]] = _numbered(reaches, out, lists)[target_of]
    group[row[near[down]], destination[far[down]]] = len(lists) + np.arange(len(down))
    lists += [down[place : place + 1] for place in range(len(down))]
    begin = np.concatenate([[0], np.cumsum([len(one) for one in lists], dtype=np.int64)])
    members = np.concatenate([np.zeros(0, np.int64), *lists])
    return Routing(destination=destination, row=row, group=group, begin=begin, members=members)


def _numbered(reaches: Bools, out: Ints, lists: list[Ints]) -> Ints:
    """Number of the group of each column of (link, target), -1 for none; new groups are added to the lists."""
    patterns, which = np.unique(reaches, axis=1, return_inverse=True)
    numbers = np.full(patterns.shape[1], -1)
    for place, pattern in enumerate(patterns.T):
        if pattern.any():
            numbers[place] = len(lists)
            lists.append(out[pattern])
    return numbers[which.ravel()]


def switch_distances(near: Ints, far: Ints, targets: Ints, count: int) -> NDArray[np.int8]:
    """Number of links from switches to some of them; (switch, target), -1 where it is more than a packet may cross.

    The targets that are so many links away are bits of each switch, which its neighbours have had one link before.
    """
    distance = np.full((count, len(targets)), UNREACHABLE, np.int8)
    order = np.argsort(near, kind="stable")
    switches, begins = np.unique(near[order], return_index=True)
    found = np.zeros((count, len(targets)), bool)
    found[targets, np.arange(len(targets))] = True
    frontier = np.packbits(found, axis=1)
    seen = np.zeros_like(frontier)
    for hops in range(MAX_HOPS):
        distance[np.unpackbits(frontier, axis=1, count=len(targets)).astype(bool)] = hops
        seen |= frontier
        following = np.zeros_like(frontier)
        if len(switches):
            following[switches] = np.bitwise_or.reduceat(frontier[far[order]], begins, axis=0)
        frontier = following & ~seen
        if not frontier.any():
            break
    return distance
