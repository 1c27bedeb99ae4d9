"""Waves of a change: canary first, then never more at once than the fabric can lose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from benchmarks.wave_fabrics import intent_of
from hypothesis import given
from hypothesis import strategies as st
from tests.sampled import sampled

from railfab.deploy import waves_of
from railfab.deploy.waves import canary_of
from railfab.fabric import Design, design
from railfab.intent.change import ChangeSettings
from railfab.topology import CabledPort, Link, Net, Node, Role
from railfab.topology.outages import outages

ROOT = Path(__file__).parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
NAMES = ("pod64", "multi-pod", "multi-rail", "dual-mlag", "dual-plane", "cluster", "single-switch", "dual-esi")
DESIGNS = {name: design(FABRICS / f"{name}.yml") for name in NAMES}


def every(fabric: Design) -> list[str]:
    return [node.name for node in fabric.topology.switches()]


def limited(fabric: Design, percent: float) -> Design:
    """The design with another bound of what a wave may lose."""
    change = ChangeSettings(max_bandwidth_loss=percent)
    return replace(fabric, intent=fabric.intent.model_copy(update={"change": change}))


def drawn(data: st.DataObject, name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Switches that change, and a few that are drained."""
    names = st.sampled_from(every(DESIGNS[name]))
    return data.draw(st.frozensets(names)), data.draw(st.frozensets(names, max_size=2))


def check_waves(name: str, percent: float, changing: Collection[str], drained: Collection[str]) -> None:
    """Each rule, computed anew from the links alone."""
    waves = waves_of(limited(DESIGNS[name], percent), changing, drained=drained)
    assert Counter(switch for wave in waves for switch in wave.switches) == Counter(changing)
    assert [wave.number for wave in waves] == list(range(1, len(waves) + 1))
    assert [wave.canary for wave in waves] == [number == 1 for number in range(1, len(waves) + 1)]
    for wave in waves:
        assert not any(pair <= set(wave.switches) for pair in PAIRS[name])
        for group, parts in BANDWIDTH[name].items():
            added = [parts[switch] for switch in wave.switches if parts.get(switch) and switch not in drained]
            lost = sum(added) + sum(parts[switch] for switch in drained)
            assert len(added) <= 1 or lost <= percent / 100 * sum(parts.values()) + 1e-6, (group, wave.switches)
        alone = [REACH[name].cut_off({switch, *drained}) for switch in wave.switches]
        cut_off = REACH[name].cut_off({*wave.switches, *drained})
        assert cut_off <= set().union(*alone), wave
        assert wave.outage.cut_off == tuple(sorted({host for host, _, _ in cut_off}))
    stages = [{stage(DESIGNS[name].topology.by_name[switch]) for switch in wave.switches} for wave in waves]
    assert all(len(each) == 1 for each in stages)
    assert stages == sorted(stages, key=min)


def stage(node: Node) -> tuple[bool, int]:
    """Planes follow each other, then the management network."""
    return node.net is Net.MANAGEMENT, node.plane


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("percent", [25, 60, 100])
def test_the_waves_of_all_switches_keep_the_rules(name: str, percent: float) -> None:
    names = every(DESIGNS[name])
    of_a_pair = [max(pair) for pair in PAIRS[name][:1]]
    for drained in ([], names[:1], names[-1:], names[1::7], of_a_pair):
        check_waves(name, percent, names, drained)


@given(data=st.data(), name=st.sampled_from(NAMES))
def test_the_waves_of_some_switches_keep_the_rules(data: st.DataObject, name: str) -> None:
    check_waves(name, data.draw(st.sampled_from((25, 60, 100))), *drawn(data, name))


def bandwidth(fabric: Design) -> dict[str, Counter[str]]:
    """Bandwidth of each switch to what is below it, by rail and by tier."""
    nodes, groups = fabric.topology.by_name, dict[str, Counter[str]]()
    for low, high, link in lower_first(fabric):
        node = nodes[high.node]
        tier = f"{node.net} {node.role} {node.pod if node.role is Role.SPINE else 0}"
        groups.setdefault(tier, Counter())[node.name] += link.rate_gbps
        if low.rail and node.net is Net.BACKEND:
            groups.setdefault(f"rail {low.rail}", Counter())[node.name] += link.rate_gbps
    return groups


def lower_first(fabric: Design) -> Iterator[tuple[CabledPort, CabledPort, Link]]:
    """The ends of each link that is not of a pair, and the link. Switches of other networks are below management."""
    heights = {Role.HOST: 0, Role.SERVER: 0, Role.LEAF: 1, Role.SPINE: 2, Role.SUPER: 3}
    tall = {
        node.name: heights[node.role] + (10 if node.net is Net.MANAGEMENT and node.is_switch else 0)
        for node in fabric.topology.nodes
    }
    for link in fabric.topology.links:
        low, high = sorted((link.a, link.z), key=lambda port: tall[port.node])
        if tall[low.node] < tall[high.node]:
            yield low, high, link


BANDWIDTH = {name: bandwidth(fabric) for name, fabric in DESIGNS.items()}


class Reach:
    """The NICs of hosts and servers that reach a leaf with an uplink left, if it had one: by walking the links."""

    def __init__(self, fabric: Design) -> None:
        nodes = fabric.topology.by_name
        self.leaves: dict[tuple[str, Net, int | None], set[str]] = {}
        self.uplinks: dict[str, set[str]] = {}
        for low, high, _ in lower_first(fabric):
            net = nodes[high.node].net
            if net is Net.MANAGEMENT:
                continue
            if nodes[low.node].is_switch:
                self.uplinks.setdefault(low.node, set()).add(high.node)
            else:
                self.leaves.setdefault((low.node, net, low.rail), set()).add(high.node)

    def cut_off(self, out: Collection[str]) -> set[tuple[str, Net, int | None]]:
        dead = {leaf for leaf, spines in self.uplinks.items() if spines <= set(out)} | set(out)
        return {nic for nic, leaves in self.leaves.items() if leaves <= dead}


REACH = {name: Reach(fabric) for name, fabric in DESIGNS.items()}


def pairs(fabric: Design) -> list[set[str]]:
    """Switches of a tier with a cable between them, or with a LAG of a host."""
    nodes, linked = fabric.topology.by_name, [{link.a.node, link.z.node} for link in fabric.topology.links]
    pairs = [pair for pair in linked if len({(nodes[switch].role, nodes[switch].net) for switch in pair}) == 1]
    return pairs + [set(bond.switches) for bond in fabric.topology.bonds if len(bond.switches) > 1]


PAIRS = {name: pairs(fabric) for name, fabric in DESIGNS.items()}


@given(data=st.data(), name=st.sampled_from(NAMES))
def test_a_further_switch_reverses_the_order_of_no_others(data: st.DataObject, name: str) -> None:
    fabric, (changing, drained) = DESIGNS[name], drawn(data, name)
    more = changing | {data.draw(st.sampled_from(every(fabric)))}
    before, after = ([wave.switches for wave in waves_of(fabric, names, drained=drained)] for names in (changing, more))
    canaries = {switch for waves in (before[:1], after[:1]) for wave in waves for switch in wave}
    was, now = ({switch: number for number, wave in enumerate(waves) for switch in wave} for waves in (before, after))
    for first, second in combinations(sorted(changing - canaries), 2):
        assert (was[first] - was[second]) * (now[first] - now[second]) >= 0


@pytest.mark.parametrize("drained", ["pod1-spine2", "pod1-spine3"])
def test_a_drained_switch_is_changed_at_no_cost(drained: str) -> None:
    spines = [f"pod1-spine{number}" for number in range(1, 4)]
    waves = waves_of(DESIGNS["multi-pod"], ["pod1-seg1-leaf1", *spines], drained=[drained])
    assert [wave.switches for wave in waves] == [("pod1-seg1-leaf1", spines[0]), tuple(spines[1:])]


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


def test_what_is_drained_leaves_less_for_a_wave() -> None:
    fabric, spines = limited(DESIGNS["multi-pod"], 50), [f"pod1-spine{number}" for number in range(1, 4)]
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
    emptier = replace(smaller, nics_on={**lost.nics_on, leaves[-2]: lost.nics_on[leaves[-2]][1:]})
    assert canary_of(nodes, emptier) == [leaves[-2]]
    assert canary_of(nodes, lost) == [leaves[0]]


@pytest.mark.parametrize("ports", [1, 2])
def test_a_fabric_of_512_switches_has_at_most_twelve_waves(tmp_path: Path, ports: int) -> None:
    """With one port for each NIC every leaf cuts GPUs off; with two no two leaves of a pair go together."""
    path = tmp_path / "fabric.yml"
    path.write_text(intent_of(512, nic_ports=ports))
    fabric = design(path)
    assert len(every(fabric)) == 512
    assert len(waves_of(fabric, every(fabric))) <= 12


@pytest.mark.parametrize(
    "path",
    sampled(
        {path.stem: path for folder in (FABRICS, ROOT / "benchmarks" / "fabrics") for path in folder.glob("*.yml")},
        few=["multi-pod-72", "gpu1024"],
    ),
)
def test_each_fabric_here_has_at_most_twelve_waves(path: Path) -> None:
    fabric = design(path)
    assert len(waves_of(fabric, every(fabric))) <= 12


def test_a_smaller_bound_makes_more_waves() -> None:
    wide, narrow = DESIGNS["multi-pod"], limited(DESIGNS["multi-pod"], 12.5)
    assert len(waves_of(narrow, every(narrow))) > len(waves_of(wide, every(wide)))


def test_the_waves_of_a_fabric_depend_on_no_order() -> None:
    fabric = DESIGNS["multi-pod"]
    names = every(fabric)
    assert waves_of(fabric, names) == waves_of(fabric, list(reversed(names)))
    assert all(set(a.switches).isdisjoint(b.switches) for a, b in combinations(waves_of(fabric, names), 2))
