"""Rings, chains and circles: every rank sends to the rank that follows at a distance."""

from __future__ import annotations

import numpy as np

from railfab.workload.algorithms.rounds import ChannelRounds, Rows, in_turn, pairs, rows
from railfab.workload.ranks import RanksByHost


def _scatter(ranks: int) -> Rows:
    """Each piece goes around once, and ends, added up, at the position of its number."""
    here = np.arange(ranks)
    return rows(0, here, (here + 1) % ranks, times=ranks - 1, first=(here - 1) % ranks, shift=-1, reduces=True)


def ring_gather(ranks: int) -> Rows:
    """The piece of each position goes around once."""
    here = np.arange(ranks)
    return rows(0, here, (here + 1) % ranks, times=ranks - 1, first=here, shift=-1)


def reduce_scatter(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_scatter(ranks.count))


def all_gather(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Pass the piece of each rank around."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=ring_gather(ranks.count))


def all_reduce(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """ReduceScatter, then AllGather (Patarasuk and Yuan, 2009)."""
    table = in_turn(_scatter(ranks.count), ring_gather(ranks.count))
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)


def broadcast(ranks: RanksByHost, chunks: int) -> ChannelRounds:
    """Pass the chunks of rank 0 along a chain, one behind another."""
    here = np.arange(ranks.count - 1)
    table = rows(0, here, here + 1, times=chunks, shift=1)
    table["begin"] = here
    return ChannelRounds(parts=chunks, pieces=chunks, table=table)


def send(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Each rank sends its array to the next one, the last to the first."""
    here = np.arange(ranks.count)
    table = rows(0, here, (here + 1) % ranks.count, first=here)
    return ChannelRounds(parts=1, pieces=ranks.count, table=table)


def pairwise_reduce_scatter(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """In the d-th round each rank sends the part of the rank at distance d to it."""
    source, target = pairs(ranks.count)
    table = rows(0, source, target, first=target, reduces=True)
    table["begin"] = (target - source) % ranks.count - 1
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)


def pairwise_all_to_all(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """In the d-th round each rank sends to the rank at distance d; piece a n + b is that of a for b."""
    source, target = pairs(ranks.count)
    table = rows(0, source, target, first=source * ranks.count + target)
    table["begin"] = (target - source) % ranks.count - 1
    return ChannelRounds(parts=ranks.count, pieces=ranks.count**2, table=table)
