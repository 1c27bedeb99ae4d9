"""Laws of the collective operations, and their closed form against two simulators of others."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.workload.references import rows

from railfab.errors import IntentError
from railfab.intent import Collective
from railfab.intent.job import ALGORITHMS
from railfab.workload.operations import OPERATIONS, Round, edges, seconds

NIC_BYTES_PER_S, LATENCY_S = 50e9, 1e-6
"""Two links of 500 ns through one switch."""
OPTIMAL = [
    ("allreduce", "ring"),
    ("allreduce", "halving-doubling"),
    ("allreduce", "direct"),
    *(("allgather", name) for name in OPERATIONS["allgather"].algorithms),
    *(("reducescatter", name) for name in OPERATIONS["reducescatter"].algorithms),
    *(("alltoall", name) for name in OPERATIONS["alltoall"].algorithms),
]
"""Algorithms that send no byte twice."""
CASES = [(name, algorithm) for name, operation in OPERATIONS.items() for algorithm in operation.algorithms]


def rounds(name: str, algorithm: str, ranks: int, size_bytes: float) -> list[Round]:
    return list(OPERATIONS[name].rounds(ranks, size_bytes, algorithm))


def test_a_job_names_exactly_the_algorithms_that_there_are() -> None:
    assert get_args(Collective.model_fields["op"].annotation) == tuple(ALGORITHMS)
    collectives = {name: tuple(operation.algorithms) for name, operation in OPERATIONS.items() if name != "sendrecv"}
    assert dict(ALGORITHMS) == collectives


@pytest.mark.parametrize(("name", "algorithm"), OPTIMAL)
@given(exponent=st.integers(1, 5), size_bytes=st.integers(1, 10**12))
@settings(max_examples=examples(10), deadline=None)
def test_each_rank_sends_the_bus_factor_times_the_array(
    name: str, algorithm: str, exponent: int, size_bytes: int
) -> None:
    ranks = 1 << exponent
    sent = [0.0] * ranks
    for (source, _), payload_bytes in edges(rounds(name, algorithm, ranks, size_bytes), ranks).items():
        sent[source] += payload_bytes
    assert sent == pytest.approx([OPERATIONS[name].bus_factor(ranks) * size_bytes] * ranks)


def known(name: str, algorithm: str, ranks: int) -> list[set[int]]:
    """The ranks whose data could have reached each rank, by way of others too."""
    reached = [{rank} for rank in range(ranks)]
    for turn in rounds(name, algorithm, ranks, 1.0):
        for _ in range(turn.times):
            before = [set(sources) for sources in reached]
            for rank in range(ranks):
                for peer in turn.peers(rank):
                    reached[peer] |= before[rank]
    return reached


@pytest.mark.parametrize(("name", "algorithm"), [case for case in CASES if case[0] not in ("broadcast", "sendrecv")])
@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_the_data_of_every_rank_reaches_every_rank(name: str, algorithm: str, ranks: int) -> None:
    assert known(name, algorithm, ranks) == [set(range(ranks))] * ranks


@pytest.mark.parametrize("algorithm", OPERATIONS["broadcast"].algorithms)
def test_a_broadcast_reaches_every_rank(algorithm: str) -> None:
    assert all(0 in sources for sources in known("broadcast", algorithm, 16))


def test_an_alltoall_sends_each_part_to_its_own_rank_alone() -> None:
    for algorithm in OPERATIONS["alltoall"].algorithms:
        parts = edges(rounds("alltoall", algorithm, 6, 60.0), 6)
        assert parts == {(a, b): 10.0 for a in range(6) for b in range(6) if a != b}


def test_an_algorithm_for_powers_of_two_refuses_other_numbers() -> None:
    with pytest.raises(IntentError) as refused:
        rounds("allreduce", "halving-doubling", 6, 1.0)
    problem = "halving-doubling needs a power of two ranks, and there are 6. Use ring."
    assert str(refused.value) == f"collective.algorithm: {problem}"


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


def test_the_closed_form_is_that_of_simgrid_on_a_flat_switch() -> None:
    """SimGrid's clock starts one latency before: every row, of any size, has 1.0 us more than its steps."""
    assert len(FLAT) > 40
    for row in FLAT:
        name, algorithm = NAMES.get(row["op"], row["op"]), SIMGRID[row["op"], row["algorithm"]]
        steps = rounds(name, algorithm, int(row["ranks"]), int(row["bytes"]))
        here_s = LATENCY_S + seconds(steps, bytes_per_s=NIC_BYTES_PER_S, latency_s=LATENCY_S)
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


def test_the_closed_form_is_that_of_astra_sim_with_one_chunk() -> None:
    """ASTRA-sim shares no bandwidth: its direct algorithms send to every rank at the full rate, and are left out."""
    assert len(UNAWARE) > 40
    for row in UNAWARE:
        ranks = int(row["ranks"])
        whole = int(row["bytes"]) * (ranks if row["op"] == "allgather" else 1)
        steps = rounds(row["op"], ASTRA[row["op"], row["algorithm"]], ranks, whole)
        here_s = seconds(steps, bytes_per_s=NIC_BYTES_PER_S, latency_s=LATENCY_S)
        bar = 0.05 if row["op"] == "reducescatter" else 0.025
        assert here_s * 1e9 == pytest.approx(float(row["time_ns"]), rel=bar), row
