"""Waves of a change: canary first, then never more at once than the fabric can lose."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sampled import sampled

from railfab.deploy import waves_of
from railfab.deploy.waves import canary_of
from railfab.fabric import Design, design
from railfab.topology import Net, Role
from railfab.topology.outages import outages

ROOT = Path(__file__).parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
NAMES = ("pod64", "multi-pod", "multi-rail", "dual-mlag", "dual-plane", "cluster", "single-switch", "rail-blocks")
DESIGNS = {name: design(FABRICS / f"{name}.yml") for name in NAMES}


def every(fabric: Design) -> list[str]:
    return [node.name for node in fabric.topology.switches()]


@given(data=st.data(), name=st.sampled_from(NAMES))
def test_each_changing_switch_is_in_a_wave_and_no_other_is(data: st.DataObject, name: str) -> None:
    fabric = DESIGNS[name]
    changing = data.draw(st.frozensets(st.sampled_from(every(fabric))))
    waves = waves_of(fabric, changing)
    assert Counter(name for wave in waves for name in wave.switches) == Counter(changing)
    assert [wave.number for wave in waves] == list(range(1, len(waves) + 1))
    assert [wave.canary for wave in waves] == [number == 1 for number in range(1, len(waves) + 1)]


@pytest.mark.parametrize("name", NAMES)
def test_a_wave_keeps_the_bound_of_each_rail_and_tier(name: str) -> None:
    """Counted here from the links alone: bandwidth below each switch, by rail and by tier."""
    fabric = DESIGNS[name]
    bandwidth = _bandwidth(fabric)
    for wave in waves_of(fabric, every(fabric)):
        for group, parts in bandwidth.items():
            lost = [parts[switch] for switch in wave.switches if parts.get(switch)]
            assert len(lost) <= 1 or sum(lost) <= 0.25 * sum(parts.values()) + 1e-6, (group, wave.switches)


def _bandwidth(fabric: Design) -> dict[str, Counter[str]]:
    """Bandwidth of each switch to what is below it, by rail and by tier."""
    nodes, heights = fabric.topology.by_name, {Role.HOST: 0, Role.SERVER: 0, Role.LEAF: 1, Role.SPINE: 2, Role.SUPER: 3}
    groups: dict[str, Counter[str]] = {}
    for link in fabric.topology.links:
        low, high = sorted((link.a, link.z), key=lambda port: heights[nodes[port.node].role])
        node = nodes[high.node]
        if node.net is Net.MANAGEMENT or heights[nodes[low.node].role] == heights[node.role]:
            continue
        tier = f"{node.net} {node.role} {node.pod if node.role is Role.SPINE else 0}"
        groups.setdefault(tier, Counter())[node.name] += link.rate_gbps
        if low.rail and node.net is Net.BACKEND:
            groups.setdefault(f"rail {low.rail}", Counter())[node.name] += link.rate_gbps
    return groups


@pytest.mark.parametrize("name", ["pod64", "multi-pod", "dual-mlag", "dual-plane"])
def test_a_wave_cuts_off_no_host_that_none_of_its_switches_cuts_off_alone(name: str) -> None:
    fabric = DESIGNS[name]
    leaves: dict[tuple[str, Net, int | None], set[str]] = {}
    for link in fabric.topology.links:
        for host, switch in ((link.a, link.z), (link.z, link.a)):
            net = fabric.topology.by_name[switch.node].net
            is_host = fabric.topology.by_name[host.node].role is Role.HOST
            if is_host and net is not Net.MANAGEMENT:
                leaves.setdefault((host.node, net, host.rail), set()).add(switch.node)
    for wave in waves_of(fabric, every(fabric)):
        for nic, switches in leaves.items():
            assert len(switches) == 1 or not switches <= set(wave.switches), (nic, wave)


def test_the_canary_is_the_leaf_and_the_spine_that_carry_least() -> None:
    fabric = DESIGNS["multi-pod"]
    first = waves_of(fabric, every(fabric))[0]
    assert first.switches == ("pod1-seg1-leaf1", "pod1-spine1")
    only_supers = waves_of(fabric, ["super1", "super2"])
    assert [wave.switches for wave in only_supers] == [("super1",), ("super2",)]
    assert waves_of(fabric, []) == ()


def test_a_drained_switch_counts_as_lost() -> None:
    fabric = DESIGNS["multi-pod"]
    spines = [f"pod1-spine{number}" for number in range(1, 5)]
    waves = waves_of(fabric, ["pod1-seg1-leaf1", *spines[:2], "pod2-spine1"], drained=["pod1-spine4"])
    assert [wave.switches for wave in waves] == [("pod1-seg1-leaf1", "pod1-spine1"), ("pod1-spine2", "pod2-spine1")]
    assert waves[1].outage.lost["spines of pod1"] == pytest.approx(0.5)


def test_what_is_drained_leaves_less_for_a_wave(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_text(f"{(FABRICS / 'multi-pod.yml').read_text()}\nchange: {{max_bandwidth_loss: 50}}\n")
    fabric, spines = design(path), [f"pod1-spine{number}" for number in range(1, 4)]
    assert [wave.switches for wave in waves_of(fabric, spines)] == [(spines[0],), (spines[1], spines[2])]
    drained = waves_of(fabric, spines, drained=["pod1-spine4"])
    assert [wave.switches for wave in drained] == [(name,) for name in spines]


def test_of_unequal_leaves_the_smaller_is_the_canary() -> None:
    fabric = DESIGNS["cluster"]
    lost = outages(fabric.topology)
    leaves = [node.name for node in fabric.topology.switches() if node.role is Role.LEAF and node.net is Net.BACKEND]
    smaller = replace(lost, of_switch={**lost.of_switch, leaves[-1]: {"leaves": 1.0}})
    nodes = [node for node in fabric.topology.switches() if node.name in leaves]
    assert canary_of(nodes, smaller) == [leaves[-1]]
    assert canary_of(nodes, lost) == [leaves[0]]


def test_planes_follow_each_other() -> None:
    fabric = DESIGNS["dual-plane"]
    planes = [
        {fabric.topology.by_name[name].plane for name in wave.switches} for wave in waves_of(fabric, every(fabric))
    ]
    assert all(len(each) == 1 for each in planes)
    order = [next(iter(each)) for each in planes[1:]]
    assert order == sorted(order)


def test_peers_of_a_pair_are_in_different_waves() -> None:
    fabric = DESIGNS["dual-mlag"]
    pairs = [
        {link.a.node, link.z.node}
        for link in fabric.topology.links
        if fabric.topology.by_name[link.a.node].role is fabric.topology.by_name[link.z.node].role is Role.LEAF
    ]
    assert pairs
    for wave, pair in ((wave, pair) for wave in waves_of(fabric, every(fabric)) for pair in pairs):
        assert not pair <= set(wave.switches)


@pytest.mark.parametrize("name", sampled(["srlinux-640", "srlinux-256", "multi-pod-72"], few=["multi-pod-72"]))
def test_a_large_fabric_has_at_most_twelve_waves(name: str) -> None:
    fabric = design(ROOT / "benchmarks" / "fabrics" / f"{name}.yml")
    assert len(waves_of(fabric, every(fabric))) <= 12


def test_a_smaller_bound_makes_more_waves(tmp_path: Path) -> None:
    text = (FABRICS / "multi-pod.yml").read_text()
    path = tmp_path / "f.yml"
    path.write_text(f"{text}\nchange: {{max_bandwidth_loss: 12.5}}\n")
    fabric, wide = design(path), DESIGNS["multi-pod"]
    assert len(waves_of(fabric, every(fabric))) > len(waves_of(wide, every(wide)))


def test_the_waves_of_a_fabric_depend_on_no_order() -> None:
    fabric = DESIGNS["multi-pod"]
    names = every(fabric)
    assert waves_of(fabric, names) == waves_of(fabric, list(reversed(names)))
    assert all(set(a.switches).isdisjoint(b.switches) for a, b in combinations(waves_of(fabric, names), 2))
