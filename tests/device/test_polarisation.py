"""Polarisation: tiers with the same hash are found where the upper one has a choice of paths, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from railfab.deploy.gates import ConfigurationGate
from railfab.device import BalancingMode, HashField, LoadBalancing, polarised_tiers
from railfab.fabric import Design, design
from railfab.topology import TIERS

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
SEEDED = LoadBalancing(seed=10)


def fabric_of(tmp_path: Path, *, links_per_leaf: int = 1, nic_ports: int = 1, pods: int = 1) -> Design:
    """Two rail switches and two spines in each pod, and two super-spines where there are several pods."""
    path = tmp_path / "intent.yml"
    model = "model: 7220-ixr-d5, platform: srlinux"
    above = f"  pods: {pods}\n  super_spines: {{count: 2, rate_gbps: 400, {model}, cable_m: 40}}\n" if pods > 1 else ""
    path.write_text(
        f"""\
version: 1
fabric: small
profile: {{hash: {{seed: 10}}}}
hosts: {{gpus: 2, nic_ports: {nic_ports}, rate_gbps: 100}}
backend:
{above}  segments: {{count: 2, hosts: 2, rail_switches: {nic_ports}, {model}, cable_m: 5}}
  spines: {{count: 2, links_per_leaf: {links_per_leaf}, rate_gbps: 400, {model}, cable_m: 40}}
"""
    )
    return design(path)


def polarised(fabric: Design, balancing: LoadBalancing | None = SEEDED) -> dict[str, str]:
    """Problems by switch, where all have the same hash."""
    every = dict.fromkeys(fabric.models, balancing)
    return {finding.where: finding.problem for finding in polarised_tiers(fabric.topology, every)}


@pytest.mark.parametrize("choice", [{"links_per_leaf": 2}, {"nic_ports": 2}])
def test_spines_with_a_choice_of_paths_must_not_hash_as_their_leaves_do(tmp_path: Path, choice: dict[str, int]) -> None:
    fabric = fabric_of(tmp_path, **choice)
    leaves = {node.name for node in fabric.topology.switches() if TIERS[node.role] == 1}
    found = polarised(fabric)
    assert found.keys() == leaves
    assert found[LEAF].startswith("chooses paths by the same hash as pod1-spine[1-2] above it (seed 10), so")
    as_planned = {name: model.load_balancing for name, model in fabric.models.items()}
    assert list(polarised_tiers(fabric.topology, as_planned)) == []


def test_spines_with_one_path_to_each_destination_may(tmp_path: Path) -> None:
    assert polarised(fabric_of(tmp_path)) == {}


def test_with_a_tier_above_spines_have_a_choice_and_super_spines_have_one_of_the_spines_of_a_pod(
    tmp_path: Path,
) -> None:
    fabric = fabric_of(tmp_path, pods=2)
    tiers = {TIERS[fabric.topology.node(name).role] for name in polarised(fabric)}
    assert tiers == {1, 2}


@pytest.mark.parametrize(
    "harmless",
    [None, LoadBalancing(), replace(SEEDED, mode=BalancingMode.PACKET), replace(SEEDED, mode=BalancingMode.ADAPTIVE)],
)
def test_without_a_seed_or_without_a_hash_tiers_do_not_choose_alike(
    tmp_path: Path, harmless: LoadBalancing | None
) -> None:
    assert polarised(fabric_of(tmp_path, links_per_leaf=2), harmless) == {}


def test_other_fields_or_another_seed_of_the_upper_tier_are_another_hash(tmp_path: Path) -> None:
    fabric = fabric_of(tmp_path, links_per_leaf=2)
    for upper in (replace(SEEDED, seed=11), replace(SEEDED, fields=(HashField.SOURCE_PORT,))):
        tiers = {node.name: TIERS[node.role] for node in fabric.topology.switches()}
        every = {name: upper if tier == 2 else SEEDED for name, tier in tiers.items()}
        assert list(polarised_tiers(fabric.topology, every)) == []


def test_a_gate_knows_the_hashes_of_the_switches_beside_the_wave(tmp_path: Path) -> None:
    """Those that the deploy gives them, else those of the intent; the intent gives spines the seed 11."""
    fabric = fabric_of(tmp_path, links_per_leaf=2)

    def failing(seeds: dict[str, int], wave: str) -> list[str]:
        texts = {
            name: fabric.texts[name].replace(f'"hash-seed": {seed ^ 1}', f'"hash-seed": {seed}')
            for name, seed in seeds.items()
        }
        assert all(texts[name] != fabric.texts[name] for name in texts)
        failures = ConfigurationGate(fabric, texts, fabric.texts).failures([wave])
        assert {failure.after for failure in failures} <= {"hash-polarised"}
        return [failure.series for failure in failures]

    assert failing({LEAF: 11}, LEAF) == [LEAF]
    assert failing({SPINE: 10}, SPINE) == [f"{LEAF} and 1 more"]
    swapped = {LEAF: 11, "pod1-seg2-leaf1": 11, SPINE: 10, "pod1-spine2": 10}
    assert [failing(swapped, name) for name in (LEAF, SPINE)] == [[], []]
