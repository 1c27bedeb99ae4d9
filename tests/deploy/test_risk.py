"""Risk of the waves of a change: the rows that an operator reads."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from railfab.deploy import GroupLoss, Wave, risk_of, waves_of
from railfab.fabric import Design, design
from railfab.topology import Net
from railfab.topology.failures import FailureKind, failure_domains
from railfab.topology.outages import outages
from railfab.topology.services import Unit

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


def waves_with(fabric: Design, *switches: str) -> tuple[Wave, ...]:
    """One wave with these switches."""
    return (Wave(1, switches, canary=True, outage=outages(fabric.topology)(switches)),)


@pytest.mark.parametrize("name", ["pod64", "multi-pod", "shared-nic", "gpu1024", "cluster", "dual-plane"])
def test_the_risk_of_a_leaf_is_that_of_its_failure_domain(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    domains = [
        domain
        for domain in failure_domains(fabric.topology, fabric.intent)
        if domain.kind is FailureKind.LEAF and domain.unit is Unit.GPU and domain.net is not Net.MANAGEMENT
    ]
    assert domains
    for domain in domains:
        (row,) = risk_of(fabric, waves_with(fabric, domain.example))
        assert (row.cut_off, row.less_redundant) == (domain.cut_off, domain.affected - domain.cut_off)


def test_the_rows_of_a_pod_say_what_each_wave_risks() -> None:
    fabric = design(FABRICS / "pod64.yml")
    rows = risk_of(fabric, waves_of(fabric, [node.name for node in fabric.topology.switches()]))
    assert [row.switches for row in rows] == [
        "pod1-seg1-leaf1, pod1-spine1",
        "pod1-seg1-leaf2, pod1-spine2",
        "pod1-seg2-leaf1, pod1-spine3",
        "pod1-seg2-leaf2, pod1-spine4",
    ]
    for row in rows:
        assert (row.cut_off, row.less_redundant) == (0, 32)
        assert (row.rail, row.tier) == (GroupLoss("rail 1", 0.25), GroupLoss("leaves", 0.25))
        assert json.loads(json.dumps(asdict(row)))["rail"] == {"group": "rail 1", "share": 0.25}


def test_what_is_drained_is_at_risk_too() -> None:
    fabric = design(FABRICS / "pod64.yml")
    changing, drained = ["pod1-seg1-leaf1"], ["pod1-seg1-leaf2"]
    (row,) = risk_of(fabric, waves_of(fabric, changing, drained=drained), drained=drained)
    assert (row.cut_off, row.less_redundant, row.rail) == (32, 0, GroupLoss("rail 1", 0.5))


def test_a_spine_loses_of_its_tier_alone_and_storage_leaves_of_no_rail() -> None:
    fabric = design(FABRICS / "cluster.yml")
    (spine,) = risk_of(fabric, waves_with(fabric, "pod1-spine1"))
    assert (spine.cut_off, spine.less_redundant, spine.rail) == (0, 0, None)
    assert spine.tier == GroupLoss("spines of pod1", 0.5)
    (leaves,) = risk_of(fabric, waves_with(fabric, "store-leaf1", "store-leaf2"))
    gpus = sum(fabric.intent.hosts.gpus for _ in fabric.topology.hosts())
    assert (leaves.cut_off, leaves.rail, leaves.tier) == (gpus, None, GroupLoss("storage leaves", 1.0))
    (management,) = risk_of(fabric, waves_with(fabric, "mgmt-leaf1"))
    assert (management.cut_off, management.less_redundant) == (0, 0)
