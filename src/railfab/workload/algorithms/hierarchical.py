"""Scale-up network inside the hosts, rails between them: position h k + j is rank j of host h, of k ranks each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from railfab.workload.algorithms.rounds import ChannelRounds, Rows, check_transfers, in_turn, pairs, rows
from railfab.workload.algorithms.trees import TimedTree, both_ways, timed, two_tree
from railfab.workload.ranks import RanksByHost


def _inside(ranks: RanksByHost) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of positions on the same host."""
    source, target = pairs(ranks.per_host)
    start = np.arange(ranks.hosts)[:, None] * ranks.per_host
    return (start + source).ravel(), (start + target).ravel()


def _rails(ranks: RanksByHost, *, reduces: bool) -> Rows:
    """A ring on each rail: the piece of each position passes the hosts, or what is added up for it does."""
    here = np.arange(ranks.count)
    first = here - ranks.per_host if reduces else here
    return rows(
        *(0, here, (here + ranks.per_host) % ranks.count),
        times=ranks.hosts - 1,
        first=first % ranks.count,
        shift=-ranks.per_host,
        reduces=reduces,
    )


def _scatter(ranks: RanksByHost) -> Rows:
    """All that is meant for a rail gathers there inside the hosts, then a ring on each rail."""
    source, target = _inside(ranks)
    share = {"count": ranks.hosts, "stride": ranks.per_host}
    inside = rows(0, source, target, first=target % ranks.per_host, reduces=True, **share)
    return in_turn(inside, _rails(ranks, reduces=True)) if ranks.hosts > 1 else inside


def _gather(ranks: RanksByHost) -> Rows:
    source, target = _inside(ranks)
    share = {"count": ranks.hosts, "stride": ranks.per_host}
    inside = rows(0, source, target, first=source % ranks.per_host, **share)
    return in_turn(_rails(ranks, reduces=False), inside) if ranks.hosts > 1 else inside


def reduce_scatter(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """Inside every host at once, then a ring on each rail."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_scatter(ranks))


def all_gather(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """A ring on each rail, then inside every host at once."""
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=_gather(ranks))


def all_reduce(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """ReduceScatter inside the hosts and on the rails, then AllGather on the rails and inside."""
    table = in_turn(_scatter(ranks), _gather(ranks))
    return ChannelRounds(parts=ranks.count, pieces=ranks.count, table=table)


def all_to_all(ranks: RanksByHost, _chunks: int) -> ChannelRounds:
    """All that is meant for a rail gathers there inside the host, then goes to each host in one message (PXN).

    Piece a n + b is that of a for b.
    """
    count, per_host = ranks.count, ranks.per_host
    check_transfers(count * (per_host + ranks.hosts))
    source, target = _inside(ranks)
    first = source * count + target % per_host
    inside = rows(0, source, target, first=first, count=ranks.hosts, stride=per_host)
    here = np.repeat(np.arange(count), ranks.hosts - 1)
    there = (here.reshape(count, -1) + per_host * np.arange(1, ranks.hosts)).ravel() % count
    start = here // per_host * per_host
    outside = rows(0, here, there, first=start * count + there, count=per_host, stride=count)
    table = in_turn(inside, outside) if per_host > 1 else outside
    return ChannelRounds(parts=count, pieces=count**2, table=table)


def nvls_tree(ranks: RanksByHost, chunks: int) -> ChannelRounds:
    """AllReduce by the switch of the scale-up network inside, and by two trees on each rail between hosts (NVLSTree).

    Rank j of each host is the head of part j: the switch adds up what all send to it, and copies what it sends to all.
    """
    source, target = _inside(ranks)
    sends = np.arange(ranks.per_host)
    tables: list[Rows] = []
    for number in range(2):
        tree: TimedTree = timed(two_tree(ranks.hosts, number), begin=1)
        offset = number * chunks
        into = rows(0, source, target, times=chunks, shift=1, reduces=True, in_switch=True)
        into["first"] = target % ranks.per_host * 2 * chunks + offset
        out = rows(0, source, target, times=chunks, shift=1, in_switch=True)
        out["first"] = source % ranks.per_host * 2 * chunks + offset
        out["begin"] = np.array(tree.down)[source // ranks.per_host] + 1
        tables += [into, out]
        for head in sends.tolist():
            heads = range(head, ranks.count, ranks.per_host)
            tables += both_ways(tree, heads, first=head * 2 * chunks + offset, chunks=chunks)
    parts = 2 * chunks * ranks.per_host
    return ChannelRounds(parts=parts, pieces=parts, table=np.concatenate(tables))
