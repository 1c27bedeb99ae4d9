"""The step of a model as transfers: their bytes are those of its operations, and it takes what the closed form says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.errors import RailfabError
from railfab.intent import Job
from railfab.topology import wire
from railfab.workload import Stage, estimate, stages

INTENT = fabric(hosts={"gpus": 4, "nic_ports": 2, "rate_gbps": 100})
TOPOLOGY = wire(INTENT)
"""Eight hosts with 4 GPUs on two segments."""
MODEL = {"layers": 8, "hidden": 2048, "heads": 16, "ffn": 5632, "vocabulary": 32_000, "sequence": 2048}
SHARED = {"lossless": {"weight": 60}, "storage_class": {"weight": 30}}
WIDE = {**MODEL, "hidden": 4096, "heads": 32, "ffn": 11_008}
EXPERTS = {**MODEL, "experts": {"count": 8, "per_token": 2, "ffn": 2048}}


def job(model: dict[str, Any] = MODEL, hosts: int | str = "all", **fields: Any) -> Job:
    return Job.model_validate({"version": 1, "job": "made", "hosts": hosts, "model": model, **fields})


def step(model: dict[str, Any] = MODEL, hosts: int | str = "all", **fields: Any) -> Stage:
    return stages(job(model, hosts, **fields), TOPOLOGY, INTENT)[0]


def sent_bytes(stage: Stage, op: str) -> float:
    places = [place for call in stage.calls if call.op == op for place in call.places]
    return sum(stage.transfers[place].payload_bytes for place in places)


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pipeline": (WIDE, {"tp": 4, "pp": 4, "vpp": 2, "micro_batches": 8}),
    "sends that are waited for": (MODEL, {"tp": 4, "pp": 4, "micro_batches": 8}),
    "context": (MODEL, {"tp": 4, "cp": 4, "micro_batches": 2}),
    "experts": (EXPERTS, {"tp": 4, "ep": 8, "micro_batches": 2}),
    "tensor groups on two hosts": (MODEL, {"tp": 8, "micro_batches": 2}),
    "without overlap": (MODEL, {"overlap": False}),
    "zero-2": (MODEL, {"tp": 4, "optimizer": "zero-2", "micro_batches": 2}),
    "zero-3": (MODEL, {"tp": 4, "optimizer": "zero-3", "micro_batches": 2}),
}


SAMPLE = ("pipeline", "experts")


@pytest.mark.parametrize(
    "name", [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.matrix) for name in CASES]
)
def test_an_ideal_step_takes_what_the_closed_form_says(name: str) -> None:
    """But for sends beside computation, which the closed form takes to arrive at once."""
    model, parallelism = CASES[name]
    made = job(model, parallelism=parallelism)
    ideal_s = stages(made, TOPOLOGY, INTENT)[0].ideal_s
    assert ideal_s == pytest.approx(estimate(made, INTENT, TOPOLOGY).step_s, rel=0.05)


def test_every_transfer_waits_for_earlier_ones_only() -> None:
    made = step(parallelism={"tp": 4, "pp": 2, "micro_batches": 2}).transfers
    assert all(max(transfer.after, default=-1) < place for place, transfer in enumerate(made))


def test_a_boundary_of_stages_carries_the_activations_of_every_micro_batch_both_ways() -> None:
    """A tensor rank sends its part of 2 bytes x 2048 tokens x 2048 for each of 4 micro-batches, over 3 boundaries."""
    made = step(parallelism={"tp": 4, "pp": 4, "micro_batches": 4})
    assert sent_bytes(made, "sendrecv") == pytest.approx(2 * 8 * 4 * 3 * 4 * 2 * 2048 * 2048 / 4 / 4)
    assert sent_bytes(made, "sendrecv") == pytest.approx(
        sum(call.size_bytes for call in made.calls if call.op == "sendrecv")
    )


@pytest.mark.parametrize("overlap", [True, False])
def test_gradients_and_parameters_cross_the_network_once(overlap: bool) -> None:
    """Of two replicas on each NIC each has half of what it reduces and gathers, in however many pieces."""
    made = step(hosts=2, parallelism={"tp": 4, "overlap": overlap})
    turns = {turn.op: turn for turn in estimate(job(hosts=2, parallelism={"tp": 4}), INTENT, TOPOLOGY).collectives}
    for op in ("reducescatter", "allgather"):
        whole = next(turn for turn in turns.values() if turn.op == op and turn.group == "dp")
        assert sent_bytes(made, op) == pytest.approx(8 * whole.size_bytes / 2)


def test_the_algorithm_that_a_job_names_is_that_of_its_transfers() -> None:
    """In a ring a host sends to the next one; directly it sends to all."""

    def pairs(name: str) -> Counter[tuple[str, str]]:
        made = step(hosts=4, parallelism={"tp": 4}, algorithm={"dp": name})
        return Counter(
            (transfer.source[0], transfer.target[0]) for transfer in made.transfers if transfer.payload_bytes > 0
        )

    assert (len(pairs("ring")), len(pairs("direct"))) == (4, 12)


def test_a_slow_host_delays_the_step_and_not_its_ideal() -> None:
    """A stage on it computes twice as long in each of its passes."""
    parallelism = {"tp": 4, "pp": 2, "micro_batches": 4}
    healthy = step(parallelism=parallelism)
    slow = step(parallelism=parallelism, stragglers=[{"host": TOPOLOGY.hosts()[0].name, "factor": 2}])
    rests = [sum(transfer.gap_ns for transfer in made.transfers) for made in (healthy, slow)]
    assert slow.ideal_s == healthy.ideal_s
    assert rests[1] > 1.05 * rests[0]


def test_checkpoints_come_every_so_many_steps() -> None:
    intent = fabric(hosts={"gpus": 4, "nic_ports": 2, "rate_gbps": 100}, profile=SHARED)
    made = job(checkpoint={"every_steps": 3, "bytes": "80GB", "storage_gbps": 800}, parallelism={"tp": 4})
    run, checkpoint = stages(made, wire(intent), intent)
    assert (run.every, checkpoint.every, checkpoint.transfers) == (1, 3, ())
    assert checkpoint.compute_ns == pytest.approx(80e9 / 100e9 * 1e9, rel=0.1)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"checkpoint": {"every_steps": 3}}, "the design has no storage network"),
        ({"parallelism": {"tp": 3}}, "tp 3 x cp 1 x pp 1 = 3 does not divide the 32 GPUs of the job"),
        ({"parallelism": {"tp": 4, "ep": 8, "micro_batches": 2000}}, "a step has more than 200,000 computations"),
    ],
)
def test_what_a_twin_cannot_run_is_refused_with_the_key(fields: dict[str, Any], problem: str) -> None:
    intent = fabric(hosts={"gpus": 4, "nic_ports": 2, "rate_gbps": 100})
    with pytest.raises(RailfabError, match=problem):
        stages(job(EXPERTS, **fields), wire(intent), intent)
