"""The timeline of the stages of a pipeline: each stage does its parts one after another until the step has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.draw.step_timeline import BACKWARD, FORWARD, IDLE
from railfab.fabric import design
from railfab.intent import Job
from railfab.simulate.pictures import stage_rows
from railfab.workload import JobEstimate, estimate
from railfab.workload.schedule import followed_batches

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"


def step(**parallelism: int) -> JobEstimate:
    document = {"version": 1, "job": "made", "model": "llama3-70b", "parallelism": {"tp": 8, **parallelism}}
    fabric = design(POD64)
    return estimate(Job.model_validate(document), fabric.intent, fabric.topology)


@pytest.mark.parametrize("vpp", [1, 5])
def test_blocks_of_every_stage_follow_each_other_until_the_step_ends(vpp: int) -> None:
    result = step(pp=4, vpp=vpp, micro_batches=16)
    rows = list(stage_rows(result.pipeline, 16))
    assert [row.name for row in rows] == ["stage 1", "stage 2", "stage 3", "stage 4"]
    for row in rows:
        ends = [0.0, *(block.begin_s + block.duration_s for block in row.blocks)]
        assert [block.begin_s for block in row.blocks] == pytest.approx(ends[:-1], abs=1e-7)
        assert ends[-1] == pytest.approx(result.step_s, rel=1e-9)


@pytest.mark.parametrize("vpp", [1, 5])
def test_blocks_of_the_slowest_stage_are_the_parts_of_the_step(vpp: int) -> None:
    """What is neither computation nor communication of a pass is the bubble, and what parameters and gradients add."""
    result = step(pp=4, vpp=vpp, micro_batches=16)
    row = list(stage_rows(result.pipeline, 16))[result.stage]
    sums: dict[str, float] = {}
    for block in row.blocks:
        sums[block.kind] = sums.get(block.kind, 0.0) + block.duration_s
    assert sums[FORWARD] + sums[BACKWARD] == pytest.approx(result.compute_s)
    assert sums["tp"] == pytest.approx(result.exposed_s["tp"])
    assert sums.get("pp", 0.0) == pytest.approx(result.exposed_s["pp"])
    waits = sums[IDLE] + sums.get("parameters", 0.0) + sums.get("gradients", 0.0)
    assert waits == pytest.approx(result.bubble_s + result.exposed_s["dp"])


def test_stages_begin_one_after_another() -> None:
    rows = list(stage_rows(step(pp=4, micro_batches=8).pipeline, 8))
    begins = [next(block.begin_s for block in row.blocks if block.kind == FORWARD) for row in rows]
    assert begins == sorted(set(begins))


def test_whole_groups_of_many_micro_batches_are_followed() -> None:
    batches = followed_batches(4, micro_batches=10_000, vpp=1, most_passes=2000)
    assert 4 * batches * 2 <= 2000
    assert batches % 4 == 0
    assert followed_batches(4, micro_batches=16, vpp=1, most_passes=2000) == 16
