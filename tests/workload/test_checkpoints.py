"""Laws of checkpoints: their bytes, what a step waits for them, and which designs can take them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import fabric
from tests.workload.test_plan import plan

from railfab.errors import RailfabError
from railfab.intent import FabricIntent, Job
from railfab.intent.step_conditions import Checkpoint
from railfab.topology import wire
from railfab.workload import JobEstimate, estimate
from railfab.workload.checkpoints import CheckpointTime, checkpoint_time, host_bytes, storage_side
from railfab.workload.shapes import parameters

ROOMY = {"gpus": 8, "nic_ports": 2, "rate_gbps": 200, "gpu_memory_gb": 192}
STORAGE = {
    "protocol": "roce",
    "nic_ports": 2,
    "rate_gbps": 200,
    "servers": 4,
    "leaves": {"count": 2, "model": "7220-ixr-d5"},
}
SEPARATE = fabric(hosts=ROOMY, storage={**STORAGE, "spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}})
SHARED = fabric(hosts=ROOMY, profile={"lossless": {"weight": 60}, "storage_class": {"weight": 30}})

TOPOLOGY = wire(SEPARATE)


def estimated(intent: FabricIntent = SEPARATE, **checkpoint: Any) -> JobEstimate:
    document: dict[str, Any] = {"version": 1, "job": "made", "model": "llama3-8b"}
    document["parallelism"] = {"tp": 8, "micro_batches": 8}
    if checkpoint:
        every = {} if "every_s" in checkpoint else {"every_steps": 10}
        document["checkpoint"] = {**every, **checkpoint}
    return estimate(Job.model_validate(document), intent, TOPOLOGY)


def taken(intent: FabricIntent = SEPARATE, **checkpoint: Any) -> CheckpointTime:
    step = estimated(intent, **{"asynchronous": False, **checkpoint})
    assert step.checkpoint is not None
    assert step.step_s == pytest.approx(step.compute_s + step.bubble_s + sum(step.exposed_s.values()))
    assert step.exposed_s["checkpoint"] == pytest.approx(step.checkpoint.waits_s / step.checkpoint.steps)
    return step.checkpoint


@pytest.mark.parametrize(
    ("model", "parallelism"),
    [
        ("llama3-70b", {"tp": 8, "pp": 4}),
        ("mixtral-8x7b", {"tp": 4, "pp": 2, "ep": 8}),
        ("llama3-8b", {"tp": 2, "cp": 2}),
    ],
)
def test_the_hosts_write_each_parameter_once_with_its_state(model: str, parallelism: dict[str, Any]) -> None:
    """14 bytes: BF16, and three times FP32; but for the padding of the vocabulary."""
    made = plan(hosts=16, model=model, **parallelism)
    written = host_bytes(Checkpoint(every_steps=1), made)
    assert len(written) == 16
    assert sum(written) == pytest.approx(14 * parameters(made.shape), rel=0.01)
    assert max(written) / min(written) < 1.2
    assert sum(host_bytes(Checkpoint(every_steps=1, bytes=10**12), made)) == pytest.approx(1e12)


def test_a_write_takes_the_nics_of_a_host_or_the_storage_whichever_is_slower() -> None:
    """112 GB of 8 hosts with 2 x 200 Gb/s to 4 servers with as much, half of the hosts' rate; less headers of RoCE."""
    by_servers, by_hosts, slow = taken(), taken(intent=_with_servers(40)), taken(storage_gbps=80)
    assert by_servers.bytes == pytest.approx(14 * 8.03e9, rel=0.01)
    assert by_servers.write_s == pytest.approx(by_servers.bytes / (4 * 50e9 * 0.9767), rel=0.001)
    assert by_hosts.write_s == pytest.approx(by_servers.write_s / 2, rel=0.001)
    assert slow.write_s == pytest.approx(slow.bytes / 10e9, rel=0.001)
    assert taken(intent=_with_servers(4, "nvme-tcp")).write_s < by_servers.write_s


def _with_servers(servers: int, protocol: str = "roce") -> FabricIntent:
    assert SEPARATE.storage is not None
    storage = SEPARATE.storage.model_copy(update={"servers": servers, "protocol": protocol})
    return SEPARATE.model_copy(update={"storage": storage})


def test_gpus_wait_for_all_of_a_write_that_is_not_asynchronous() -> None:
    once, twice = taken(), taken(every_steps=20)
    assert once.waits_s == once.write_s
    assert twice.step_s == pytest.approx(once.step_s / 2)
    assert estimated().exposed_s.keys() == estimated(every_steps=10).exposed_s.keys() - {"checkpoint"}


@given(bytes_=st.integers(1, 10**13), steps=st.integers(1, 50), more=st.integers(1, 10**12))
@settings(max_examples=examples(15), deadline=None)
def test_more_bytes_never_cost_less_and_asynchronous_writes_cost_at_most_the_copy_more(
    bytes_: int, steps: int, more: int
) -> None:
    waits, much, beside = (
        taken(bytes=size, every_steps=steps, asynchronous=later).waits_s
        for size, later in ((bytes_, False), (bytes_ + more, False), (bytes_, True))
    )
    copy_s = bytes_ / 64 / 50e9
    assert waits <= much
    assert copy_s * 0.99 <= beside <= waits + copy_s * 1.01


def test_an_asynchronous_write_on_a_network_of_its_own_costs_the_copy_unless_the_last_one_is_not_done() -> None:
    often, rare = (taken(asynchronous=True, storage_gbps=40, every_steps=steps) for steps in (1, 100))
    step_s = estimated().step_s
    assert rare.waits_s == pytest.approx(rare.bytes / 64 / 50e9, rel=0.02)
    assert often.waits_s == pytest.approx(rare.waits_s + often.write_s - step_s, rel=1e-6)
    assert taken(asynchronous=True, copy_gbps=40).waits_s == pytest.approx(10 * rare.waits_s, rel=1e-6)


def test_an_interval_is_at_least_as_many_steps() -> None:
    step_s = estimated().step_s
    assert [taken(every_s=part * step_s).steps for part in (0.1, 1.0, 2.5)] == [1, 1, 3]


def test_collectives_wait_for_an_asynchronous_write_on_the_same_nics_and_for_no_other() -> None:
    asked = {"asynchronous": True, "storage_gbps": 800, "every_steps": 5}
    beside, shared = taken(**asked), taken(intent=SHARED, **asked)
    assert (beside.network, shared.network) == ("storage", "backend")
    assert beside.waits_s < shared.waits_s < beside.waits_s + shared.write_s
    light = SHARED.model_copy(
        update={"profile": fabric(profile={"lossless": {"weight": 60}, "storage_class": {"weight": 1}}).profile}
    )
    assert beside.waits_s < taken(intent=light, **asked).waits_s < shared.waits_s


def test_collectives_are_delayed_by_no_more_than_the_whole_write() -> None:
    """Where steps that share the NICs with it would take ten times as long."""
    asked = Checkpoint(every_steps=100, storage_gbps=800, asynchronous=True, copy_gbps=10**7)
    side, made = storage_side(asked, SHARED), plan(hosts=8, model="llama3-8b", tp=8)
    little, much = (checkpoint_time(asked, made, side, step_s=1.0, shared_step_s=slow) for slow in (1.1, 10.0))
    assert little.waits_s == pytest.approx(0.1 * little.write_s, rel=0.01)
    assert much.waits_s == pytest.approx(much.write_s, rel=0.01)


@pytest.mark.parametrize(
    ("intent", "message"),
    [
        (
            fabric(hosts=ROOMY),
            "checkpoint: the design has no storage network, and its backend no class of storage. Leave it out, or add "
            "storage or profile.storage_class to the intent.",
        ),
        (
            SHARED,
            "checkpoint: the design has no storage servers, whose ports would be the rate of the storage. State "
            "storage_gbps, for example 800.",
        ),
        (
            _with_servers(0),
            "checkpoint: the design has no storage servers, whose ports would be the rate of the storage. State "
            "storage_gbps, for example 800.",
        ),
    ],
)
def test_a_design_without_storage_refuses_checkpoints_and_the_remedy_works(intent: FabricIntent, message: str) -> None:
    with pytest.raises(RailfabError) as refused:
        estimated(intent, every_steps=10)
    assert str(refused.value) == message
    if "storage_gbps" in message:
        assert storage_side(Checkpoint(every_steps=1, storage_gbps=800), intent).storage_bytes_per_s == 100e9
    else:
        assert estimated(intent).checkpoint is None
