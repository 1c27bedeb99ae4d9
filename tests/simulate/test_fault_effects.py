"""Each fault changes what it should and only that: operations, their groups and the link on which they wait.

Operations that it does not touch are equal to those of the same job on the healthy fabric, to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.routed import routed
from railfab.forwarding import FabricChange, converge
from railfab.intent import Job
from railfab.simulate import FabricEstimate, faults, simulate_job
from railfab.simulate import job as simulated
from railfab.simulate.exchange import exchange

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
SHAPE = {"layers": 4, "hidden": 1024, "heads": 8, "ffn": 4096, "vocabulary": 32000, "sequence": 1024}
RING = {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "1GB"}}
EXCHANGE = {"collective": {"op": "alltoall", "bytes": "64MB", "group": "all"}}
SEGMENT = [f"pod1-seg1-host{number}" for number in range(1, 5)]
PHASES: Mapping[str, object] = {"phases": [{"compute": {"ms": 5}}, RING, EXCHANGE]}
JOBS: Mapping[str, Mapping[str, object]] = {
    "phases": PHASES,
    "one segment": {**PHASES, "hosts": SEGMENT},
    "training": {"model": SHAPE, "parallelism": {"tp": 8, "pp": 2, "micro_batches": 4}},
}
RAIL, ALL, PP, SCATTER, GATHER = "rail allreduce", "all alltoall", "pp sendrecv", "dp reducescatter", "dp allgather"
EVERY = range(1000)
FIRST_STAGE = range(8)
"""Groups of data parallelism of the first stage, one for each tensor rank: replicas are hosts 1 to 4."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What becomes of an operation. groups: those that get slower; None: some change, by their hashes. ratio: of the
    slowest group to the slowest of the healthy fabric. link: the one on which it waits, where that is not one of a NIC.
    frees: links, so that groups that had waited on them may get faster."""

    groups: Sequence[int] | None = EVERY
    ratio: tuple[float, float]
    link: str = ""
    frees: bool = False


def times(factor: float, groups: Sequence[int] = EVERY) -> Change:
    """Slower by this factor, but for latencies and for the bytes that hosts keep."""
    return Change(groups=groups, ratio=(factor * 0.93, factor * 1.005))


def waiting(link: str, most: float = 20.0, groups: Sequence[int] | None = None) -> Change:
    return Change(groups=groups, ratio=(1.002, most), link=link)


@dataclass(frozen=True, kw_only=True)
class Case:
    faults: tuple[str, ...] = ()
    job: str = "phases"
    fabric: str = "pod64"
    seed: int = 1
    changes: Mapping[str, Change] = field(default_factory=dict)


BEYOND = Change(ratio=(1.6, 2.0))
"""Twice the time that NICs allow, where hashes collide on the healthy fabric."""
PORT = "pod1-seg1-host1:rail1-p0"
CASES = {
    "one spine less": Case(faults=("switch=pod1-spine1",), changes={ALL: waiting("pod1-spine[234] ", 1.5, EVERY)}),
    "three spines less": Case(
        faults=tuple(f"switch=pod1-spine{number}" for number in (1, 2, 3)),
        changes={RAIL: waiting("pod1-spine4 ", 2.0, EVERY), ALL: waiting("pod1-spine4 ", 3.0, EVERY)},
    ),
    "a leaf off": Case(faults=("switch=pod1-seg1-leaf1",), changes={RAIL: times(2), ALL: times(2)}),
    "a leaf off in a training step": Case(
        faults=("switch=pod1-seg1-leaf1",),
        job="training",
        changes={PP: waiting("leaf", 2.0, EVERY), SCATTER: times(2, FIRST_STAGE), GATHER: times(2, FIRST_STAGE)},
    ),
    "a leaf off in a segment beside the job": Case(faults=("switch=pod1-seg2-leaf1",), job="one segment"),
    "a spine off beside a job in a segment": Case(faults=("switch=pod1-spine2",), job="one segment"),
    "a slow host": Case(faults=("slow-host=pod1-seg1-host1:25",), changes={RAIL: times(4), ALL: times(4)}),
    "a slow host in a training step": Case(
        faults=("slow-host=pod1-seg1-host1:25",),
        job="training",
        changes={
            PP: Change(groups=FIRST_STAGE, ratio=(1.5, 4.0), frees=True),
            SCATTER: times(4, FIRST_STAGE),
            GATHER: times(4, FIRST_STAGE),
        },
    ),
    "a host that is as fast as its NICs": Case(faults=("slow-host=pod1-seg1-host1:100",)),
    "a slow host beside the job": Case(faults=("slow-host=pod1-seg2-host1:1",), job="one segment"),
    "a host off beside the job": Case(faults=("host=pod1-seg2-host1",), job="one segment"),
    "a NIC with one port": Case(faults=(f"cable={PORT}",), changes={RAIL: times(2, [0]), ALL: times(2)}),
    "a NIC with one port in a training step": Case(
        faults=(f"cable={PORT}",),
        job="training",
        changes={
            PP: Change(groups=[0], ratio=(1.02, 1.2), link="ethernet-1/", frees=True),
            SCATTER: times(2, [0]),
            GATHER: times(2, [0]),
        },
    ),
    "a NIC of another rail with one port": Case(
        faults=("cable=pod1-seg2-host3:rail5-p1",), changes={RAIL: times(2, [4]), ALL: times(2)}
    ),
    "a NIC port at half rate": Case(faults=(f"slow-port={PORT}:50",), changes={RAIL: times(2, [0]), ALL: times(2)}),
    "the leaf's end of that cable at half rate": Case(
        faults=("slow-port=pod1-seg1-leaf1:ethernet-1/1/1:50",), changes={RAIL: times(2, [0]), ALL: times(2)}
    ),
    "a port that is as fast as its cable": Case(faults=(f"slow-port={PORT}:100",)),
    "an uplink cut": Case(faults=("cable=pod1-spine1:ethernet-1/1",), changes={ALL: waiting("pod1-", 1.5, EVERY)}),
    "an uplink at an eighth of its rate": Case(
        faults=("slow-port=pod1-spine1:ethernet-1/1:50",),
        changes={
            RAIL: waiting("pod1-spine1 ethernet-1/1 ", 2.1),
            ALL: waiting("pod1-spine1 ethernet-1/1(?!\\d)", 6.0, EVERY),
        },
    ),
    "an uplink at an eighth of its rate in a training step": Case(
        faults=("slow-port=pod1-spine1:ethernet-1/1:50",),
        job="training",
        changes={PP: waiting("pod1-spine1 ethernet-1/1(?!\\d)", 4.0)},
    ),
    "hashes that collide": Case(
        seed=3, job="training", changes={PP: Change(groups=None, ratio=(0.8, 1.2), link="ethernet-1/")}
    ),
    "a spine less between pods": Case(
        fabric="multi-pod", faults=("switch=pod1-spine1",), changes={ALL: waiting("pod1-spine[234] ", 1.5, EVERY)}
    ),
    "a spine less in a pod beside the job": Case(fabric="multi-pod", faults=("switch=pod2-spine1",), job="one segment"),
    "two super-spines of four less": Case(
        fabric="multi-pod",
        faults=("switch=super1", "switch=super2"),
        changes={ALL: waiting("super[34] ", 3.0, EVERY)},
    ),
    "a slow host in a pod": Case(
        fabric="multi-pod", faults=("slow-host=pod2-seg2-host4:50",), changes={RAIL: times(2), ALL: BEYOND}
    ),
    "a NIC in a pod with one port": Case(
        fabric="multi-pod",
        faults=("cable=pod2-seg1-host2:rail8-p1",),
        changes={RAIL: times(2, [7]), ALL: waiting("pod2-spine", 2.0, EVERY)},
    ),
}


@cache
def fabric_named(name: str) -> Design:
    return design(FABRICS / f"{name}.yml")


@dataclass(frozen=True)
class Figures:
    """A run, and the seconds of each group by operation."""

    estimate: FabricEstimate
    seconds: Mapping[str, np.ndarray]


def figures(case: Case) -> Figures:
    times: list[np.ndarray] = []

    def recorded(*arguments: object) -> object:
        result = exchange(*arguments)
        if result is not None:
            times.append(result.seconds)
        return result

    fabric = fabric_named(case.fabric)
    job = Job.model_validate({"version": 1, "job": "made", **JOBS[case.job]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "exchange", recorded)
        run = simulate_job(job, fabric, seed=case.seed, change=faults(case.faults, fabric.topology))
    names = [f"{held.group} {held.op}" for held in run.contentions]
    return Figures(run, dict(zip(names, times, strict=True)))


@cache
def figures_of(name: str) -> Figures:
    return figures(CASES[name])


@cache
def healthy(fabric: str, job: str) -> Figures:
    return figures(Case(fabric=fabric, job=job))


@pytest.mark.parametrize("name", CASES)
def test_a_fault_changes_what_it_should_and_only_that(name: str) -> None:
    case = CASES[name]
    before, after = healthy(case.fabric, case.job), figures_of(name)
    assert after.seconds.keys() == before.seconds.keys() >= case.changes.keys()
    for held, intact in zip(after.estimate.contentions, before.estimate.contentions, strict=True):
        operation = f"{held.group} {held.op}"
        now, then = after.seconds[operation], before.seconds[operation]
        assert held.ideal_s == intact.ideal_s
        change = case.changes.get(operation)
        if change is None:
            assert np.array_equal(now, then), operation
            assert held == intact
            continue
        slower = np.flatnonzero(now > then * 1.001).tolist()
        rest_now, rest_then = np.delete(now, slower), np.delete(then, slower)
        if change.groups is None:
            assert 0 < np.isclose(now, then, rtol=1e-9).sum() < len(now)
        else:
            assert slower == [group for group in change.groups if group < len(now)], operation
            assert change.frees or rest_now == pytest.approx(rest_then, rel=1e-9), operation
        assert change.ratio[0] < now.max() / then.max() < change.ratio[1], (operation, now.max() / then.max())
        assert re.search(change.link, held.link), (operation, held.link)
        assert bool(held.link) == bool(change.link), (operation, held.link)


@pytest.mark.parametrize("name", CASES)
def test_closed_form_parts_of_a_step_stay_as_they_are(name: str) -> None:
    case = CASES[name]
    before, after = healthy(case.fabric, case.job).estimate.step, figures_of(name).estimate.step
    touched = {operation.split()[0] for operation in case.changes}
    assert after.compute_s == before.compute_s
    assert {key for key, seconds in after.exposed_s.items() if seconds != before.exposed_s[key]} <= touched
    calls = [(turn.group, turn.op, turn.calls, turn.size_bytes, turn.algorithm) for turn in before.collectives]
    assert [(turn.group, turn.op, turn.calls, turn.size_bytes, turn.algorithm) for turn in after.collectives] == calls


def test_there_are_twenty_faults_of_all_kinds() -> None:
    kinds = {text.partition("=")[0] for case in CASES.values() for text in case.faults}
    assert len(CASES) >= 20
    assert kinds == {"cable", "switch", "host", "slow-host", "slow-port"}


def test_a_host_without_power_cuts_off_its_ranks() -> None:
    with pytest.raises(RailfabError, match=r"pod1-seg1-host1 .*no path"):
        figures(Case(faults=("host=pod1-seg1-host1",)))


def test_a_rate_is_that_of_the_least_and_an_infinite_one_is_as_before() -> None:
    fabric = fabric_named("pod64")
    slow = routed(fabric, faults([f"slow-port={PORT}:50"], fabric.topology)).state
    (node, _, interface), links = PORT.partition(":"), slow.links
    port = (node, interface)
    both = [links.egress[port], links.egress[port] ^ 1]
    assert slow.network.rate_gbps[both].tolist() == [50.0, 50.0]
    healed = converge(slow, FabricChange({}, reduced={port: np.inf}))
    assert not healed.same_network(slow)
    assert np.array_equal(healed.network.rate_gbps, routed(fabric).planned.network.rate_gbps)
    assert healed.routes is slow.routes or healed.same_routing(slow)
