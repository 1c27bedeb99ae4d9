"""Designs against each other: what takes longer, and on which link; and what their networks take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from railfab.documents import planned
from railfab.documents.equipment import equipment
from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import FabricEstimate, simulate_job
from railfab.simulate.difference import NamedRun, differences
from railfab.simulate.named_faults import faults
from railfab.workload import estimate

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
NARROW = [f"switch=pod1-spine{number}" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


def named(name: str, fabric: Design, collective: dict[str, object], *texts: str) -> NamedRun:
    phases = [{"compute": {"ms": 1}}, {"collective": collective}]
    job = Job.model_validate({"version": 1, "job": "made", "phases": phases})
    return NamedRun(fabric=name, run=simulate_job(job, fabric, change=faults(texts, fabric.topology)))


EXCHANGE = {"op": "alltoall", "bytes": 64_000_000, "group": "all"}
RING = {"op": "allreduce", "algorithm": "ring", "bytes": 1_000_000_000}


def test_the_difference_of_a_step_is_that_of_the_operation_that_waits_for_a_link(pod64: Design) -> None:
    slow, fast = named("narrow", pod64, EXCHANGE, *NARROW), named("wide", pod64, EXCHANGE)
    (difference,) = differences(slow, fast)
    (contention,) = slow.run.contentions
    assert (difference.fabric, difference.than, difference.link) == ("narrow", "wide", contention.link)
    assert difference.reason.startswith("1,224 flows where 1024.0 is the mean of its group: the links are too few")
    assert difference.extra_s == pytest.approx(slow.run.step.step_s - fast.run.step.step_s)
    assert differences(fast, slow) == ()


def test_equal_runs_do_not_differ(pod64: Design) -> None:
    assert differences(named("a", pod64, RING), named("b", pod64, RING)) == ()


def test_what_nics_limit_has_no_link(pod64: Design) -> None:
    """A NIC has two ports of 100G in pod64, and one of 400G there; both in closed form."""
    phases = [{"collective": RING}]
    job = Job.model_validate({"version": 1, "job": "made", "hosts": 8, "phases": phases})
    runs = [
        NamedRun(
            fabric=fabric.intent.fabric,
            run=FabricEstimate(seed=0, step=estimate(job, fabric.intent, fabric.topology), contentions=()),
        )
        for fabric in (pod64, design(FABRICS / "single-rail.yml"))
    ]
    (difference,) = differences(*runs)
    assert difference.link == ""
    assert difference.reason == "its NICs and hosts give 23.4 GB/s of bus bandwidth where single-rail has 46.7"
    assert differences(*reversed(runs)) == ()


def test_a_link_on_which_both_wait_alike_is_no_reason(pod64: Design) -> None:
    fast = named("once", pod64, EXCHANGE, *NARROW)
    (turn,) = fast.run.step.collectives
    twice = replace(fast.run.step, collectives=(replace(turn, calls=2),))
    (difference,) = differences(NamedRun(fabric="twice", run=replace(fast.run, step=twice)), fast)
    assert (difference.link, difference.reason) == ("", "the slowest stage sends more")
    assert difference.extra_s == pytest.approx(turn.call_s)


@pytest.mark.parametrize("name", ["pod64", "multi-pod", "cluster", "pod64-800g"])
def test_equipment_is_what_the_documents_of_the_plan_count(name: str) -> None:
    plan = planned(FABRICS / f"{name}.yml")
    parts = equipment(plan)
    assert sum(parts.switches.values()) == len(plan.topology.switches())
    quantity = plan.bill.columns.index("quantity")
    assert parts.optics == sum(row[quantity] for row in plan.bill.rows if row[0] == "optic")
    assert parts.cables == sum(row[quantity] for row in plan.bill.rows if row[0] == "cable")
    columns = [plan.power.columns.index(column) for column in ("switches_w", "optics_w")]
    racks = sum(row[column] for row in plan.power.rows for column in columns)
    assert parts.power_w == pytest.approx(racks, abs=len(plan.power.rows)), "racks are rounded"
    assert parts.unknown == ()


def test_power_that_is_not_known_is_said_and_not_guessed() -> None:
    plan = planned(FABRICS / "pod64.yml")
    models = {name: replace(model, power_w=0) for name, model in plan.topology.models.items()}
    parts = equipment(replace(plan, topology=replace(plan.topology, models=models)))
    assert parts.power_w is None
    assert parts.unknown == ("the power of 8 7220-ixr-d5",)
    assert parts.optics == equipment(plan).optics
