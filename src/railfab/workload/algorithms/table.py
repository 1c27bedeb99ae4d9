"""The table of algorithms: a function to rounds of transfers each, and the bytes that a rank sends, beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from railfab.errors import IntentError
from railfab.workload.algorithms import exchanges, hierarchical, rings, trees
from railfab.workload.algorithms.rounds import ChannelRounds, TransferRounds
from railfab.workload.operations import OPERATIONS
from railfab.workload.ranks import RanksByHost

RING_CHUNK_BYTES, TREE_CHUNK_BYTES, NVLS_CHUNK_BYTES = 2 << 20, 512 << 10, 128 << 10
RING_SLICE_BYTES, DIRECT_SLICE_BYTES = 1 << 20, 128 << 10
"""Chunks that pass a channel one behind another with the protocol Simple: 4 steps, and a step, of the 8 in the buffer
of 4 MiB; and of NVLS. Slices are what the network sends at once: half a chunk of a ring, and a chunk of the others
(NCCL 2.30.7, src/graph/tuning.cc and src/enqueue.cc)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """An algorithm of an operation.

    rounds: the transfers of a channel, for ranks and a number of chunks. wire_factor: bytes that the busiest rank sends
    or receives over all its links, whichever is more, for each byte of the array. needs: empty, POWER_OF_TWO or ALIKE.
    chunk_bytes: largest chunk where chunks follow one another, else None. slice_bytes: most that is sent at once, None
    where NCCL does not have the algorithm.
    """

    rounds: Callable[[RanksByHost, int], ChannelRounds]
    wire_factor: Callable[[RanksByHost], float]
    needs: str = ""
    chunk_bytes: int | None = None
    slice_bytes: int | None = None

    def obstacle(self, ranks: RanksByHost) -> str:
        """What the ranks lack; empty where it can serve them."""
        if self.needs == POWER_OF_TWO and ranks.count & (ranks.count - 1):
            return f"{POWER_OF_TWO} ranks, and there are {ranks.count}"
        if self.needs == ALIKE and not ranks.alike:
            return f"{ALIKE}, and there are {min(ranks.counts)} to {ranks.per_host}"
        return ""


POWER_OF_TWO, ALIKE = "a power of two", "equally many ranks on each host"


def _once(ranks: RanksByHost) -> float:
    """Every part but the own crosses the link of a rank once."""
    return (ranks.count - 1) / ranks.count


def _twice(ranks: RanksByHost) -> float:
    return 2 * (ranks.count - 1) / ranks.count


def _whole(ranks: RanksByHost) -> float:  # noqa: ARG001
    return 1.0


def _whole_each_time(ranks: RanksByHost) -> float:
    """The whole array in each of log2 n rounds."""
    return float(ceil(log2(ranks.count)))


def _edges_of(shape: Callable[[int, int], trees.Parents], number_of_trees: int) -> Callable[[RanksByHost], float]:
    """The most edges that end at a rank, each of which carries the array of a tree up and down."""

    def factor(ranks: RanksByHost) -> float:
        edges = [0] * ranks.count
        for number in range(number_of_trees):
            for child, parent in enumerate(trees.with_chains(shape(ranks.hosts, number), ranks)):
                if parent >= 0:
                    edges[child] += 1
                    edges[parent] += 1
        return max(edges) / number_of_trees

    return factor


def _nvls(ranks: RanksByHost) -> float:
    """Inside a host each part but the own goes into the switch, and comes out; outside, a part passes two trees."""
    heads = _edges_of(trees.two_tree, 2)(RanksByHost((1,) * ranks.hosts))
    return (ranks.per_host - 1 + bool(ranks.per_host > 1) + heads) / ranks.per_host


def _scattered(ranks: RanksByHost) -> float:
    """Rank 0 passes on all but its part, then a ring passes each part but one."""
    return 2 * _once(ranks)


def _by_rail(ranks: RanksByHost) -> float:
    """All that is not for the own rail crosses the scale-up network, all that is not for the own host a NIC."""
    return (ranks.per_host - 1) / ranks.per_host + (ranks.hosts - 1) / ranks.hosts


ALGORITHMS: Mapping[str, Mapping[str, Algorithm]] = {
    "allreduce": {
        "ring": Algorithm(rounds=rings.all_reduce, wire_factor=_twice, slice_bytes=RING_SLICE_BYTES),
        "tree": Algorithm(
            rounds=trees.tree_all_reduce,
            wire_factor=_edges_of(trees.balanced_tree, 1),
            chunk_bytes=TREE_CHUNK_BYTES,
        ),
        "double-binary-tree": Algorithm(
            rounds=trees.double_tree_all_reduce,
            wire_factor=_edges_of(trees.two_tree, 2),
            chunk_bytes=TREE_CHUNK_BYTES,
            slice_bytes=TREE_CHUNK_BYTES,
        ),
        "nvls-tree": Algorithm(
            rounds=hierarchical.nvls_tree,
            wire_factor=_nvls,
            needs=ALIKE,
            chunk_bytes=NVLS_CHUNK_BYTES,
            slice_bytes=NVLS_CHUNK_BYTES,
        ),
        "hierarchical": Algorithm(rounds=hierarchical.all_reduce, wire_factor=_twice, needs=ALIKE),
        "halving-doubling": Algorithm(rounds=exchanges.halving_doubling, wire_factor=_twice, needs=POWER_OF_TWO),
        "recursive-doubling": Algorithm(
            rounds=exchanges.recursive_doubling, wire_factor=_whole_each_time, needs=POWER_OF_TWO
        ),
        "direct": Algorithm(rounds=exchanges.direct_all_reduce, wire_factor=_twice),
    },
    "allgather": {
        "ring": Algorithm(rounds=rings.all_gather, wire_factor=_once, slice_bytes=RING_SLICE_BYTES),
        "pat": Algorithm(rounds=exchanges.bruck_gather, wire_factor=_once),
        "hierarchical": Algorithm(rounds=hierarchical.all_gather, wire_factor=_once, needs=ALIKE),
        "recursive-doubling": Algorithm(
            rounds=exchanges.recursive_doubling_gather, wire_factor=_once, needs=POWER_OF_TWO
        ),
        "direct": Algorithm(rounds=exchanges.direct_all_gather, wire_factor=_once),
    },
    "reducescatter": {
        "ring": Algorithm(rounds=rings.reduce_scatter, wire_factor=_once, slice_bytes=RING_SLICE_BYTES),
        "pat": Algorithm(rounds=exchanges.bruck_scatter, wire_factor=_once),
        "hierarchical": Algorithm(rounds=hierarchical.reduce_scatter, wire_factor=_once, needs=ALIKE),
        "pairwise": Algorithm(rounds=rings.pairwise_reduce_scatter, wire_factor=_once),
        "recursive-halving": Algorithm(rounds=exchanges.recursive_halving, wire_factor=_once, needs=POWER_OF_TWO),
        "direct": Algorithm(rounds=exchanges.direct_reduce_scatter, wire_factor=_once),
    },
    "alltoall": {
        "pairwise": Algorithm(rounds=rings.pairwise_all_to_all, wire_factor=_once),
        "direct": Algorithm(rounds=exchanges.direct_all_to_all, wire_factor=_once, slice_bytes=DIRECT_SLICE_BYTES),
        "hierarchical": Algorithm(rounds=hierarchical.all_to_all, wire_factor=_by_rail, needs=ALIKE),
    },
    "broadcast": {
        "binomial": Algorithm(rounds=exchanges.binomial, wire_factor=_whole_each_time),
        "scatter-allgather": Algorithm(rounds=exchanges.scatter_allgather, wire_factor=_scattered, needs=POWER_OF_TWO),
        "ring": Algorithm(
            rounds=rings.broadcast, wire_factor=_whole, chunk_bytes=RING_CHUNK_BYTES, slice_bytes=RING_SLICE_BYTES
        ),
    },
    "sendrecv": {"direct": Algorithm(rounds=rings.send, wire_factor=_whole, slice_bytes=DIRECT_SLICE_BYTES)},
}
"""Algorithms by operation and name; the first of each is that of a twin where a job names none."""


def algorithm_of(op: str, name: str | None, ranks: RanksByHost) -> Algorithm:
    """An algorithm of an operation, by default the first. Raises IntentError for ranks that it cannot serve."""
    known = ALGORITHMS[op]
    algorithm = known[name or next(iter(known))]
    if lack := algorithm.obstacle(ranks):
        able = next(known_name for known_name, entry in known.items() if not entry.obstacle(ranks))
        raise IntentError("collective.algorithm", f"{name} needs {lack}", f"Use {able}")
    return algorithm


def transfer_rounds(
    op: str, name: str | None, ranks: RanksByHost, size_bytes: float, *, channels: int = 1
) -> TransferRounds:
    """The transfers of an operation on an array of this size, which `channels` channels divide equally.

    Channel c begins on each host with rank c modulo the ranks of the host, so that rings and trees reach a host at
    another GPU, and its NIC, in each; but for ranks with a role of their own. Raises IntentError for ranks that the
    algorithm cannot serve.
    """
    algorithm = algorithm_of(op, name, ranks)
    share = size_bytes / channels
    chunks = max(1, ceil(share / algorithm.chunk_bytes)) if algorithm.chunk_bytes else 1
    plan = algorithm.rounds(ranks, chunks)
    ranks_at = np.stack([_ranks_at(op, ranks, channel) for channel in range(channels)])
    table = np.tile(plan.table, channels)
    table["channel"] = np.repeat(np.arange(channels), len(plan.table))
    for end in ("source", "target"):
        table[end] = ranks_at[:, plan.table[end]].ravel()
    return TransferRounds(
        ranks=ranks.count,
        table=table,
        pieces=plan.pieces,
        piece_bytes=share / plan.parts,
        ranks_at=ranks_at,
        slice_bytes=algorithm.slice_bytes,
    )


def _ranks_at(op: str, ranks: RanksByHost, channel: int) -> NDArray[np.int32]:
    """The rank at each position of a channel."""
    kept = {"none": 0, "root": 1, "all": ranks.hosts}[OPERATIONS[op].fixed]
    here = [
        start + (place + (channel if host >= kept else 0)) % count
        for host, (start, count) in enumerate(zip(ranks.starts, ranks.counts, strict=True))
        for place in range(count)
    ]
    return np.array(here, np.int32)
