"""Checkpoints and slow links on the links of a fabric: the closed form where nothing is in their way, and what is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import FabricEstimate, simulate_job
from railfab.simulate.named_faults import faults
from railfab.topology import wire
from railfab.workload import estimate

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
JOB = {"version": 1, "job": "made", "model": "llama3-8b", "parallelism": {"tp": 4, "micro_batches": 8}}


@pytest.fixture(scope="module")
def cluster() -> Design:
    """Six hosts and three storage servers, with 2 x 200 Gb/s each on two leaves of the storage network."""
    return design(FABRICS / "cluster.yml")


def run(fabric: Design, *texts: str, **keys: Any) -> FabricEstimate:
    job = Job.model_validate({**JOB, **keys})
    return simulate_job(job, fabric, change=faults(texts, fabric.topology))


CHECKPOINT = {"checkpoint": {"every_steps": 10}}


def test_a_checkpoint_takes_as_long_as_in_closed_form_where_only_ports_limit_it(cluster: Design) -> None:
    result = run(cluster, **CHECKPOINT)
    closed = estimate(Job.model_validate({**JOB, **CHECKPOINT}), cluster.intent, cluster.topology).checkpoint
    held = next(held for held in result.contentions if held.group == "checkpoint")
    assert closed is not None
    assert result.step.checkpoint is not None
    assert result.step.checkpoint.write_s == pytest.approx(closed.write_s, rel=0.005)
    assert (held.groups, held.busiest, result.unfollowed) == (6, None, ())


def test_a_slow_link_slows_what_crosses_it_and_nothing_else(cluster: Design) -> None:
    """A port of a server with a tenth of its rate; a NIC port of a host; a port of a host on the frontend."""

    def seconds(link: str) -> dict[str, float]:
        result = run(cluster, **CHECKPOINT, stragglers=[{"link": link, "factor": 10}])
        assert result.slow_links == 1
        return {f"{held.group} {held.op}": held.slowest_s for held in result.contentions}

    healthy = {f"{held.group} {held.op}": held.slowest_s for held in run(cluster, **CHECKPOINT).contentions}
    server, nic, front = map(
        seconds, ("store-server1:store-p0", "pod1-seg1-host1:rail1-p0", "pod1-seg1-host1:front-p0")
    )
    assert front == healthy
    assert {kind for kind in healthy if server[kind] > healthy[kind]} == {"checkpoint write"}
    assert {kind for kind in healthy if nic[kind] > healthy[kind]} == {"dp reducescatter", "dp allgather"}
    assert server["checkpoint write"] == pytest.approx(10 * healthy["checkpoint write"], rel=0.01)
    assert nic["dp allgather"] == pytest.approx(10 * healthy["dp allgather"], rel=0.01)


def test_a_link_of_factor_1_changes_nothing_and_a_slower_one_never_helps(cluster: Design) -> None:
    asked = [{"every": "link", "probability": 0.3, "factor": factor} for factor in (1, 2, 3)]
    steps = [run(cluster, **CHECKPOINT, stragglers=[each]).step.step_s for each in asked]
    assert steps[0] == run(cluster, **CHECKPOINT).step.step_s
    assert steps[0] < steps[1] < steps[2]


def test_a_port_of_a_server_that_is_cut_off_leaves_the_other_one(cluster: Design) -> None:
    """A third of the bytes of all cross one port in place of two."""
    healthy, cut = (
        next(held for held in run(cluster, *texts, **CHECKPOINT).contentions if held.group == "checkpoint")
        for texts in ((), ("cable=store-server1:store-p0",))
    )
    assert cut.slowest_s == pytest.approx(2 * healthy.slowest_s, rel=0.01)


def test_the_rate_of_the_storage_limits_all_hosts_together(cluster: Design) -> None:
    slow = run(cluster, checkpoint={"every_steps": 10, "storage_gbps": 80}).step.checkpoint
    assert slow is not None
    assert slow.write_s == pytest.approx(slow.bytes / 10e9, rel=0.005)


def test_a_checkpoint_that_no_server_takes_is_in_closed_form_and_named() -> None:
    shared = fabric(
        hosts={"gpus": 8, "nic_ports": 2, "rate_gbps": 100, "gpu_memory_gb": 192},
        profile={"lossless": {"weight": 60}, "storage_class": {"weight": 30}},
    )
    there = Design(document=design(FABRICS / "pod64.yml").document, intent=shared, topology=wire(shared))
    result = run(there, checkpoint={"every_steps": 10, "storage_gbps": 800})
    assert result.unfollowed == ("checkpoint is in closed form: the design has no storage servers where it goes",)
