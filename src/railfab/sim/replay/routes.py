"""Shortest paths of a scenario as next-hop groups."""

from __future__ import annotations

import numpy as np

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
    group = np.full((len(switches), len(hosts)), -1)
    links = np.argsort(far, kind="stable")
    between = links[is_switch[near[links]] & is_switch[far[links]]]
    down = links[is_switch[near[links]] & ~is_switch[far[links]]]
    distance = switch_distances(row[near[between]], row[far[between]], len(switches))
    hosts_of = [destination[far[down[near[down] == switch]]] for switch in switches]
    lists: list[Ints] = []
    for s, switch in enumerate(switches):
        out = between[near[between] == switch]
        reaches = distance[row[far[out]]] == distance[s] - 1
        reaches &= distance[s] > 0
        number = _numbered(reaches, out, lists)
        for t, columns in enumerate(hosts_of):
            group[s, columns] = number[t]
    for link in down:
        group[row[near[link]], destination[far[link]]] = len(lists)
        lists.append(np.array([link]))
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


def switch_distances(near: Ints, far: Ints, count: int) -> Ints:
    """Number of links from switch to switch; (from, to), -1 where there is no way."""
    adjacent = np.zeros((count, count), np.float32)
    adjacent[near, far] = 1
    distance = np.full((count, count), UNREACHABLE)
    frontier = np.eye(count, dtype=bool)
    hops = 0
    while frontier.any():
        distance[frontier] = hops
        frontier = (frontier.astype(np.float32) @ adjacent > 0) & (distance == UNREACHABLE)
        hops += 1
    return distance
