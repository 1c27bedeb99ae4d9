"""Topologies and runs of SimGrid's SMPI that `collectives_simgrid.csv` has, and the same for the fluid model."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from railfab.sim.fluid import fluid_ends
from railfab.simulate.ordered import Carriers, Waits, ordered_flows
from railfab.workload import RanksByHost, transfer_rounds

ALGORITHMS = {
    ("allreduce", "lr"): ("allreduce", "ring"),
    ("allreduce", "rab_rdb"): ("allreduce", "halving-doubling"),
    ("allreduce", "rdb"): ("allreduce", "recursive-doubling"),
    ("allgather", "rdb"): ("allgather", "recursive-doubling"),
    ("reduce_scatter", "ompi_ring"): ("reducescatter", "ring"),
    ("reduce_scatter", "mpich_pair"): ("reducescatter", "pairwise"),
    ("alltoall", "ring"): ("alltoall", "pairwise"),
    ("alltoall", "basic_linear"): ("alltoall", "direct"),
    ("bcast", "binomial_tree"): ("broadcast", "binomial"),
    ("bcast", "scatter_LR_allgather"): ("broadcast", "scatter-allgather"),
}
"""Ours by SMPI's names. Without allreduce `redbcast`, alltoall `pair` (ranks whose numbers differ in bits), and
allgather `ring`, which is no ring."""
TREES = {"ft2_64": (8, 8), "ft2_256": (16, 16), "ft3_64": (4, 4, 4)}
LINK_BYTES_PER_S, LINK_S = 50e9, 500e-9
DETACHED_BYTES = 64 << 10
"""SMPI's `smpi/send-is-detached-thresh`: the sender of less does not wait until it has arrived."""


@dataclass(frozen=True, slots=True)
class Run:
    """A row of the table."""

    topology: str
    order: str
    op: str
    algorithm: str
    ranks: int
    size_bytes: float
    seconds: float

    @classmethod
    def of(cls, row: dict[str, str]) -> Run:
        return cls(
            row["topology"],
            row["order"],
            row["op"],
            row["algorithm"],
            int(row["ranks"]),
            float(row["bytes"]),
            float(row["time_us"]) / 1e6,
        )

    @property
    def hosts(self) -> list[int]:
        """The host of each rank."""
        hosts = list(range(self.ranks))
        if self.order == "shuffled":
            random.Random(7).shuffle(hosts)
        return hosts


def ways(topology: str, count: int) -> tuple[Callable[[int, int], list[int]], dict[object, int]]:
    """The links between two hosts, on SimGrid's routes (d-mod-k), and the numbers of links so far."""
    numbers: dict[object, int] = {}

    def link(*key: object) -> int:
        return numbers.setdefault(key, len(numbers))

    def way(source: int, target: int) -> list[int]:
        up, down = [link("up", 0, source)], [link("down", 0, target)]
        below, choice = 1, 1
        for level, width in enumerate(TREES.get(topology, ())[:-1]):
            below *= width
            if source // below == target // below:
                break
            up.append(link("up", level + 1, source // below, target % (choice * width)))
            down.append(link("down", level + 1, target // below, target % (choice * width)))
            choice *= width
        return up + down[::-1]

    for source in range(count):
        for target in range(count):
            if source != target:
                way(source, target)
    return way, numbers


def simulated_s(run: Run) -> float:
    """The same run on the fluid model, with what SimGrid's clock adds: the latency of the longest way."""
    way, numbers = ways(run.topology, run.ranks)
    op, name = ALGORITHMS[run.op, run.algorithm]
    rounds = transfer_rounds(op, name, RanksByHost((1,) * run.ranks), run.size_bytes)
    hosts, table = run.hosts, rounds.table
    rows = [way(hosts[source], hosts[target]) for source, target in zip(table["source"], table["target"], strict=True)]
    paths = np.full((len(rows), max(map(len, rows))), -1, np.int64)
    for path, row in zip(paths, rows, strict=True):
        path[: len(row)] = row
    carriers = Carriers(
        transfer=np.arange(len(rows)),
        route=np.arange(len(rows)),
        share=np.ones(len(rows)),
        latency_s=(paths >= 0).sum(axis=1) * LINK_S,
        alike=np.ones(len(rows), np.int64),
        paths=paths,
        shares=np.ones(paths.shape),
    )
    flows, _ = ordered_flows(rounds, carriers, Waits(buffered_bytes=DETACHED_BYTES, targets=True))
    longest = max(len(way(0, target)) for target in range(1, run.ranks))
    return float(fluid_ends(flows, np.full(len(numbers), LINK_BYTES_PER_S)).max()) + longest * LINK_S
