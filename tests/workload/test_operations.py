"""The rounds of collective operations against two simulators of others."""

from __future__ import annotations

from typing import get_args

import pytest
from tests.workload.references import rows

from railfab.intent import Collective
from railfab.intent.algorithms import ALGORITHMS as NAMES_IN_JOBS
from railfab.workload import ALGORITHMS, RanksByHost, transfer_rounds

NIC_BYTES_PER_S, LATENCY_S = 50e9, 1e-6
"""Two links of 500 ns through one switch."""


def seconds(op: str, algorithm: str, ranks: int, size_bytes: float) -> float:
    rounds = transfer_rounds(op, algorithm, RanksByHost((1,) * ranks), size_bytes)
    return rounds.seconds(bytes_per_s=NIC_BYTES_PER_S, latency_s=LATENCY_S)


def test_a_job_names_exactly_the_algorithms_that_there_are() -> None:
    assert get_args(Collective.model_fields["op"].annotation) == tuple(NAMES_IN_JOBS)
    assert dict(NAMES_IN_JOBS) == {op: tuple(names) for op, names in ALGORITHMS.items() if op != "sendrecv"}


SIMGRID = {
    ("allreduce", "lr"): "ring",
    ("allreduce", "rab_rdb"): "halving-doubling",
    ("allreduce", "rdb"): "recursive-doubling",
    ("alltoall", "ring"): "pairwise",
    ("alltoall", "pair"): "pairwise",
    ("alltoall", "basic_linear"): "direct",
    ("allgather", "ring"): "ring",
    ("allgather", "rdb"): "recursive-doubling",
    ("reduce_scatter", "ompi_ring"): "ring",
    ("reduce_scatter", "mpich_pair"): "pairwise",
    ("bcast", "binomial_tree"): "binomial",
    ("bcast", "scatter_LR_allgather"): "scatter-allgather",
}
NAMES = {"reduce_scatter": "reducescatter", "bcast": "broadcast"}
FLAT = [
    row
    for row in rows("collectives_simgrid.csv")
    if row["topology"].startswith("flat") and (row["op"], row["algorithm"]) in SIMGRID
]


def test_the_rounds_take_as_long_as_in_simgrid_on_a_flat_switch() -> None:
    """SimGrid's clock starts one latency before: every row, of any size, has 1.0 us more than its steps."""
    assert len(FLAT) > 40
    for row in FLAT:
        name, algorithm = NAMES.get(row["op"], row["op"]), SIMGRID[row["op"], row["algorithm"]]
        here_s = LATENCY_S + seconds(name, algorithm, int(row["ranks"]), int(row["bytes"]))
        assert here_s * 1e6 == pytest.approx(float(row["time_us"]), rel=0.005), row


ASTRA = {
    ("allreduce", "ring"): "ring",
    ("allreduce", "halvingDoubling"): "halving-doubling",
    ("allgather", "ring"): "ring",
    ("allgather", "halvingDoubling"): "recursive-doubling",
    ("reducescatter", "ring"): "ring",
}
UNAWARE = [
    row
    for row in rows("collectives_astra.csv")
    if row["scenario"].startswith("flat")
    and (row["backend"], row["active_chunks"]) == ("congestion_unaware", "1")
    and (row["op"], row["algorithm"]) in ASTRA
]


def test_the_rounds_take_as_long_as_in_astra_sim_with_one_chunk() -> None:
    """ASTRA-sim shares no bandwidth: its direct algorithms send to every rank at the full rate, and are left out."""
    assert len(UNAWARE) > 40
    for row in UNAWARE:
        ranks = int(row["ranks"])
        whole = int(row["bytes"]) * (ranks if row["op"] == "allgather" else 1)
        here_s = seconds(row["op"], ASTRA[row["op"], row["algorithm"]], ranks, whole)
        bar = 0.05 if row["op"] == "reducescatter" else 0.025
        assert here_s * 1e9 == pytest.approx(float(row["time_ns"]), rel=bar), row
