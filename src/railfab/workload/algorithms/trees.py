"""Trees: chunks pass up to the root, added up, and down again, one behind another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from railfab.workload.algorithms.rounds import ChannelRounds, Rows, rows
from railfab.workload.ranks import RanksByHost

Parents = Sequence[int]
"""The parent of each node; that of the root is -1."""


def balanced_tree(nodes: int, tree: int = 0) -> Parents:  # noqa: ARG001
    """The binary tree with the children 2 i + 1 and 2 i + 2 of node i."""
    return [(node - 1) // 2 for node in range(nodes)]


def two_tree(nodes: int, tree: int) -> Parents:
    """The first or second of two binary trees; inner nodes of one are leaves of the other (Sanders, Speck and Traeff,
    Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009; the trees of NCCL, src/graph/trees.cc).

    In the first, leaves and inner nodes take turns below the root 0. The second is its mirror image, or with an odd
    number of nodes the same tree moved by one.
    """

    def parent(node: int) -> int:
        lowest = node & -node
        above = node ^ lowest | lowest << 1
        return above if above < nodes else node ^ lowest

    first = [-1, *(parent(node) for node in range(1, nodes))]
    if not tree:
        return first
    if nodes % 2 == 0:
        return [-1 if up < 0 else nodes - 1 - up for up in reversed(first)]
    return [-1 if up < 0 else (up + 1) % nodes for up in (*first[-1:], *first[:-1])]


@dataclass(frozen=True, slots=True)
class TimedTree:
    """A tree with the rounds in which the first chunk passes. up: sent to the parent; down: sent by the parent."""

    parents: Parents
    up: Sequence[int]
    down: Sequence[int]


def timed(parents: Parents, begin: int = 0) -> TimedTree:
    """The rounds of a tree whose leaves send in round `begin`: a node sends up when all its children have."""
    heights, depths = [0] * len(parents), [0] * len(parents)
    for leaf in range(len(parents)):
        path = [leaf]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        depths[leaf] = len(path) - 1
        for height, node in enumerate(path):
            heights[node] = max(heights[node], height)
    top = begin + max(heights)
    return TimedTree(parents, [begin + height for height in heights], [top + depth - 1 for depth in depths])


def both_ways(tree: TimedTree, ranks: Sequence[int], *, first: int, chunks: int) -> Iterator[Rows]:
    """Chunks pass all edges of a tree up and down. ranks: position of each node. first: number of the first chunk."""
    nodes = [node for node, parent in enumerate(tree.parents) if parent >= 0]
    if not nodes:
        return
    child = np.array([ranks[node] for node in nodes])
    parent = np.array([ranks[tree.parents[node]] for node in nodes])
    up = rows(0, child, parent, times=chunks, first=first, shift=1, reduces=True)
    down = rows(0, parent, child, times=chunks, first=first, shift=1)
    up["begin"], down["begin"] = ([begins[node] for node in nodes] for begins in (tree.up, tree.down))
    yield from (up, down)


def with_chains(parents: Parents, ranks: RanksByHost) -> Parents:
    """A tree of hosts as one of positions: the first rank of a host is its node, the others a chain behind it."""
    starts = ranks.starts
    return [
        position - 1 if position > start else (starts[parents[host]] if parents[host] >= 0 else -1)
        for host, start in enumerate(starts)
        for position in range(start, start + ranks.counts[host])
    ]


def _all_reduce(ranks: RanksByHost, chunks: int, *, trees: int, shape: Callable[[int, int], Parents]) -> ChannelRounds:
    table = [
        part
        for number in range(trees)
        for part in both_ways(
            timed(with_chains(shape(ranks.hosts, number), ranks)),
            range(ranks.count),
            first=number * chunks,
            chunks=chunks,
        )
    ]
    return ChannelRounds(parts=trees * chunks, pieces=trees * chunks, table=np.concatenate(table))


tree_all_reduce = partial(_all_reduce, trees=1, shape=balanced_tree)
double_tree_all_reduce = partial(_all_reduce, trees=2, shape=two_tree)
