"""Exchanges: with every rank at once, or with ranks at distances that are powers of two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from railfab.workload.algorithms.rings import ring_gather
from railfab.workload.algorithms.rounds import ChannelRounds, Rows, end, in_turn, pairs, rows
from railfab.workload.ranks import RanksByHost


def _direct_scatter(count: int) -> Rows:
    source, target = pairs(count)
    return rows(0, source, target, first=target, reduces=True)


def _direct_gather(count: int) -> Rows:
    source, target = pairs(count)
    return rows(0, source, target, first=source)


def direct_reduce_scatter(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Each rank sends each part to its rank at once."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_direct_scatter(ranks.count))


def direct_all_gather(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Each rank sends its part to every rank at once."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_direct_gather(ranks.count))


def direct_all_reduce(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """ReduceScatter, then AllGather, each at once."""
    table = in_turn(_direct_scatter(ranks.count), _direct_gather(ranks.count))
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)


def direct_all_to_all(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Each rank sends to every rank at once; piece a n + b is that of a for b."""
    source, target = pairs(ranks.count)
    table = rows(0, source, target, first=source * ranks.count + target)
    return ChannelRounds(parts=ranks.count, pieces=ranks.count**2, table=table)


def _distances(count: int) -> list[int]:
    """Powers of two below the number of ranks."""
    return [1 << exponent for exponent in range((count - 1).bit_length())]


def _block(here: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """The first of the aligned block of this size in which a position is."""
    return here // size * size


def _halving(count: int) -> Rows:
    here = np.arange(count)
    return in_turn(
        *(
            rows(0, here, here ^ distance, first=_block(here ^ distance, distance), count=distance, reduces=True)
            for distance in reversed(_distances(count))
        )
    )


def _doubling(count: int) -> Rows:
    here = np.arange(count)
    return in_turn(
        *(
            rows(0, here, here ^ distance, first=_block(here, distance), count=distance)
            for distance in _distances(count)
        )
    )


def recursive_halving(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Exchange halves, then quarters, ..., with a rank that is half as far each time."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_halving(ranks.count))


def recursive_doubling_gather(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Exchange all that has come, with a rank that is twice as far each time."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_doubling(ranks.count))


def _bruck(count: int) -> Rows:
    here = np.arange(count)
    return in_turn(
        *(
            rows(0, here, (here - distance) % count, first=here, count=min(distance, count - distance))
            for distance in _distances(count)
        )
    )


def bruck_gather(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Send all that has come, to a rank that is twice as far each time (Bruck et al., 1997).

    PAT of NCCL has these transfers in an order that needs smaller buffers.
    """
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_bruck(ranks.count))


def bruck_scatter(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """The gather backwards: what it copies from a rank is added up there."""
    gather = _bruck(ranks.count)
    table = gather.copy()
    table["source"], table["target"] = gather["target"], gather["source"]
    table["begin"] = end(gather) - 1 - gather["begin"]
    table["reduces"] = True
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)


def halving_doubling(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Rabenseifner's: a ReduceScatter by halves, then an AllGather by doubling."""
    table = in_turn(_halving(ranks.count), _doubling(ranks.count))
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)


def recursive_doubling(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Exchange whole arrays, with a rank that is twice as far each time."""
    here = np.arange(ranks.count)
    table = in_turn(*(rows(0, here, here ^ distance, reduces=True) for distance in _distances(ranks.count)))
    return ChannelRounds(parts=1, pieces=1, table=table)


def binomial(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Broadcast of whole arrays: each rank that has it sends it on, to a rank that is half as far each time."""
    turns = []
    for distance in reversed(_distances(ranks.count)):
        here = np.arange(0, ranks.count - distance, 2 * distance)
        turns.append(rows(0, here, here + distance))
    return ChannelRounds(parts=1, pieces=1, table=in_turn(*turns))


def scatter_allgather(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Broadcast: halves of what a rank has pass down a tree from rank 0, then a ring gathers the parts."""
    turns = []
    for distance in reversed(_distances(ranks.count)):
        here = np.arange(0, ranks.count, 2 * distance)
        turns.append(rows(0, here, here + distance, first=here + distance, count=distance))
    table = in_turn(*turns, ring_gather(ranks.count))
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)
