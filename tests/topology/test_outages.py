"""Outages: what a fabric loses while several of its switches forward nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.fabric import design
from railfab.topology import Net, Role
from railfab.topology.failures import FailureKind, failure_domains
from railfab.topology.outages import outages, tier_of

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
NAMES = ("pod64", "multi-pod", "multi-rail", "dual-mlag", "dual-plane", "cluster", "single-switch", "rail-blocks")
DESIGNS = {name: design(FABRICS / f"{name}.yml") for name in NAMES}
INDEXED = {name: outages(fabric.topology) for name, fabric in DESIGNS.items()}
fabrics = st.sampled_from(NAMES)


def switches(name: str) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from([node.name for node in DESIGNS[name].topology.switches()]))


@settings(max_examples=examples(300))
@given(data=st.data(), name=fabrics)
def test_more_switches_lose_no_less(data: st.DataObject, name: str) -> None:
    lost = INDEXED[name]
    some, more = data.draw(switches(name)), data.draw(switches(name))
    fewer, all_of_them = lost(some), lost(some | more)
    assert all(share <= all_of_them.lost[group] + 1e-12 for group, share in fewer.lost.items())
    assert set(fewer.cut_off) <= set(all_of_them.cut_off)
    assert set(fewer.cut_off).isdisjoint(fewer.less_redundant)
    assert set(fewer.less_redundant) <= set(all_of_them.less_redundant) | set(all_of_them.cut_off)


@settings(max_examples=examples(600))
@given(data=st.data(), name=fabrics)
def test_a_switch_is_cut_together_with_others_as_the_outages_of_all_and_of_each_say(
    data: st.DataObject, name: str
) -> None:
    lost = INDEXED[name]
    some, drained = data.draw(switches(name)), data.draw(switches(name))
    one_more = data.draw(st.sampled_from(sorted(lost.of_switch)))
    if not lost.peers.get(one_more, frozenset()) & some:
        cut, cut_before, cut_alone = (
            lost.nics_without(out)[0] for out in (some | drained | {one_more}, some | drained, drained | {one_more})
        )
        assert lost.cut_together(some, one_more, drained) == bool(cut - cut_before - cut_alone)


@given(data=st.data(), name=fabrics)
def test_a_nic_has_lost_all_of_its_leaves_or_some(data: st.DataObject, name: str) -> None:
    lost, out = INDEXED[name], data.draw(switches(name))
    cut, fewer = lost.nics_without(out)
    assert not cut & fewer
    assert {nic for nic, leaves in lost.nics.items() if leaves <= out} <= cut
    assert {nic for nic, leaves in lost.nics.items() if leaves & out} <= cut | fewer


@pytest.mark.parametrize("name", NAMES)
def test_all_switches_of_a_tier_lose_all_of_it_and_one_loses_its_part(name: str) -> None:
    lost, topology = INDEXED[name], DESIGNS[name].topology
    tiers: dict[str, set[str]] = {}
    for node in topology.switches():
        if node.name in lost.of_switch:
            tiers.setdefault(tier_of(node), set()).add(node.name)
    for tier, members in tiers.items():
        assert lost(members).lost[tier] == pytest.approx(1.0)
        assert sum(lost({member}).lost[tier] for member in members) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["pod64", "multi-pod", "multi-rail", "dual-plane", "rail-blocks"])
def test_a_single_leaf_cuts_off_as_its_failure_domain_does(name: str) -> None:
    fabric = DESIGNS[name]
    domains = [
        domain
        for domain in failure_domains(fabric.topology, fabric.intent)
        if (domain.net, domain.kind) == (Net.BACKEND, FailureKind.LEAF)
    ]
    assert domains
    for domain in domains:
        outage = INDEXED[name]({domain.example})
        assert bool(outage.cut_off) == bool(domain.cut_off)
        assert bool(outage.less_redundant) == (bool(domain.affected) and not domain.cut_off)


def test_a_dual_homed_pod_loses_a_host_with_both_leaves_of_its_segment() -> None:
    lost = INDEXED["pod64"]
    leaf, both = {"pod1-seg1-leaf1"}, {"pod1-seg1-leaf1", "pod1-seg1-leaf2"}
    hosts = tuple(f"pod1-seg1-host{number}" for number in range(1, 5))
    assert (lost(leaf).cut_off, lost(leaf).less_redundant) == ((), hosts)
    assert (lost(both).cut_off, lost(both).less_redundant) == (hosts, ())
    assert lost(leaf).lost["rail 1"] == pytest.approx(0.25)
    assert lost.cut_together(leaf, "pod1-seg1-leaf2")
    assert not lost.cut_together(leaf, "pod1-seg2-leaf1")


def test_leaves_without_an_uplink_that_forwards_cut_their_hosts_off() -> None:
    lost = INDEXED["pod64"]
    spines = frozenset(f"pod1-spine{number}" for number in range(1, 5))
    assert len(lost(spines).cut_off) == 8
    assert lost.cut_together(spines - {"pod1-spine4"}, "pod1-spine4")
    assert not lost(spines - {"pod1-spine4"}).cut_off


def test_a_pair_with_a_peer_link_is_never_out_together() -> None:
    fabric, lost = DESIGNS["dual-mlag"], INDEXED["dual-mlag"]
    pairs = {frozenset((name, peer)) for name, peers in lost.peers.items() for peer in peers}
    assert pairs
    without_hosts = replace(lost, nics_on={})
    for pair in pairs:
        first, second = sorted(pair)
        assert without_hosts.cut_together({first}, second)
        assert fabric.topology.by_name[first].role is Role.LEAF


def test_the_management_network_cuts_nobody_off() -> None:
    fabric, lost = DESIGNS["cluster"], INDEXED["cluster"]
    management = {node.name for node in fabric.topology.switches() if node.net is Net.MANAGEMENT}
    assert management
    assert not lost(management).cut_off
    assert any(group.startswith("management") for group in lost(management).lost)


def test_nothing_lost_is_nothing() -> None:
    outage = INDEXED["pod64"](())
    assert (dict(outage.lost), outage.cut_off, outage.less_redundant) == ({}, (), ())


def test_behind_a_spine_are_the_nics_of_all_its_leaves() -> None:
    lost = INDEXED["pod64"]
    assert [lost.nics_behind(name) for name in ("pod1-seg1-leaf1", "pod1-spine1", "nowhere")] == [32, 64, 0]
