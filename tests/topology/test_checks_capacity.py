"""Oversubscription, held to what is stated."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.laws import examples
from tests.topology.edits import said, shown, with_links
from tests.topology.fabric_intents import fabric, fabrics

from railfab.intent import FabricIntent, load_intent
from railfab.topology import Topology, capacities, findings, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


def three_tiers(*, ratio: float | None = None, leaf: int = 2, spine: int = 2, supers: int = 4) -> FabricIntent:
    """Two pods; links of a leaf to a spine, of a spine to a super-spine."""
    above = {"count": supers, "links_per_spine": spine, "rate_gbps": 400, "model": "7220-ixr-d5"}
    stated = {} if ratio is None else {"backend__oversubscription": ratio}
    return fabric(backend__pods=2, backend__super_spines=above, backend__spines__links_per_leaf=leaf, **stated)


def over(intent: FabricIntent) -> list[str]:
    return [line for line in said(wire(intent), intent) if " share " in line]


def test_a_full_leaf_of_1_to_1_says_nothing() -> None:
    assert over(fabric()) == []


def test_alike_leaves_are_one_warning_when_no_ratio_is_stated() -> None:
    assert over(fabric(backend__spines__links_per_leaf=1)) == [
        "warning pod1-seg1-leaf1 and 3 more: 3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1). Set"
        " backend.spines.links_per_leaf: 2, backend.spines.count: 8 or backend.oversubscription: 2 (if "
        "blocking is intended)."
    ]


def test_what_was_stated_and_is_not_held_is_an_error() -> None:
    assert over(fabric(backend__spines__links_per_leaf=1, backend__oversubscription=1.5)) == [
        "error pod1-seg1-leaf1 and 3 more: 3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1; the "
        "limit is 1.5:1). Set backend.spines.links_per_leaf: 2, backend.spines.count: 6, "
        "backend.spines.count: 8 or backend.oversubscription: 2 (if blocking is intended)."
    ]


@pytest.mark.parametrize("ratio", [2, 3])
def test_a_stated_ratio_that_is_held_says_nothing(ratio: int) -> None:
    assert over(fabric(backend__spines__links_per_leaf=1, backend__oversubscription=ratio)) == []


def test_a_stated_ratio_that_is_exceeded_by_half_a_percent_is_an_error() -> None:
    (line,) = over(fabric(backend__spines__links_per_leaf=1, backend__oversubscription=1.99))
    assert line.startswith("error ")
    assert "(2.00:1; the limit is 1.99:1)" in line


def test_spines_are_held_to_it_too() -> None:
    assert over(three_tiers(spine=1)) == [
        "warning pod1-spine1 and 7 more: 3200 Gb/s of leaves share 1600 Gb/s of uplinks (2.00:1). Set "
        "backend.super_spines.links_per_spine: 2, backend.super_spines.count: 8 or "
        "backend.oversubscription: 2 (if blocking is intended)."
    ]


def test_tiers_that_hold_the_ratio_one_by_one_multiply_between_pods() -> None:
    assert over(three_tiers(leaf=1, spine=1, supers=2, ratio=2)) == [
        "warning pod1 and 1 more: 12800 Gb/s of hosts share 3200 Gb/s to other pods (4.00:1), although each "
        "tier is within 2:1. Add super_spines or links_per_spine, if jobs span pods."
    ]


def test_one_switch_that_lost_links_stands_alone() -> None:
    intent = fabric(backend__spines__links_per_leaf=2)
    topology = with_links(
        wire(intent), lambda link: None if (link.a.node, link.z.node) == ("pod1-seg2-leaf1", "pod1-spine4") else link
    )
    assert [line for line in said(topology, intent) if " share " in line] == [
        "warning pod1-seg2-leaf1: 3200 Gb/s of hosts share 2400 Gb/s of uplinks (1.33:1). Set "
        "backend.spines.links_per_leaf: 2, backend.spines.count: 6, backend.spines.count: 8 or "
        "backend.oversubscription: 1.34 (if blocking is intended)."
    ]


def test_without_spines_there_is_no_ratio_and_nothing_blocks() -> None:
    topology = wire(fabric(backend__spines=None, backend__segments__count=1))
    assert [(one.up_gbps, one.ratio) for one in capacities(topology)] == [(0, None)] * 2


def test_spines_under_super_spines_have_a_capacity() -> None:
    named = {one.node: (one.down_gbps, one.up_gbps) for one in capacities(wire(three_tiers()))}
    assert named["pod2-spine4"] == (3200, 3200)
    assert "super1" not in named


@given(fabrics())
@settings(max_examples=examples(30), deadline=None)
def test_what_leaves_take_in_is_what_hosts_send_and_every_finding_is_true(
    built: tuple[FabricIntent, Topology],
) -> None:
    intent, topology = built
    hosts = intent.hosts
    found = capacities(topology)
    leaves = [one for one in found if "leaf" in one.node]
    ports = len(topology.hosts()) * hosts.nics * hosts.nic_ports
    assert sum(one.down_gbps for one in leaves) == ports * hosts.rate_gbps
    worst = max((one.ratio or 0 for one in leaves), default=0)
    if spines := [one for one in found if one not in leaves]:
        handed = sum(min(one.down_gbps, one.up_gbps) for one in leaves)
        worst = max(worst, handed / sum(one.up_gbps for one in spines))
    lines = [one for one in findings(topology, intent) if " of uplinks (" in one.problem]
    assert bool(lines) == (worst > intent.backend.oversubscription)


def test_other_networks_have_ratios_of_their_own() -> None:
    """Six hosts of 2 x 100G on two leaves, 3:1 stated; and 6 hosts and 3 servers of 2 x 200G, 2:1 stated."""
    intent = load_intent(FABRICS / "cluster.yml")
    whole = wire(intent)
    assert said(whole, intent) == []
    narrow = with_links(whole, lambda link: None if link.z.node in ("front-spine2", "store-spine2") else link)
    narrow = with_links(narrow, lambda link: replace(link, rate_gbps=40) if link.z.node == "front-spine1" else link)
    found = [line for line in said(narrow, intent) if " share " in line]
    assert found == [
        "error front-leaf1 and 1 more: 600 Gb/s of hosts share 40 Gb/s of uplinks (15.00:1; the limit is"
        " 3:1). Set frontend.spines.links_per_leaf: 5, frontend.spines.count: 10, frontend.spines.count:"
        " 16 or frontend.oversubscription: 15 (if blocking is intended).",
        "error store-leaf1 and 1 more: 1800 Gb/s of hosts share 800 Gb/s of uplinks (2.25:1; the limit "
        "is 2:1). Set storage.spines.links_per_leaf: 2, storage.spines.count: 3, storage.spines.count: 4"
        " or storage.oversubscription: 2.25 (if blocking is intended).",
    ]


def test_a_spine_is_not_charged_with_uplinks_that_no_host_fills() -> None:
    """Two hosts where four fit fill half of what their leaves have up: half of that suffices to other pods."""
    tiers = {
        "backend__segments": {"count": 2, "hosts": 2, "rail_switches": 2, "model": "7220-ixr-d5"},
        "backend__spines": {"count": 4, "links_per_leaf": 2, "rate_gbps": 400, "model": "7220-ixr-d5"},
        "backend__super_spines": {"count": 4, "links_per_spine": 1, "rate_gbps": 400, "model": "7220-ixr-d5"},
    }
    half = fabric(**tiers)
    assert findings(wire(half), half) == ()
    tiers["backend__segments"]["hosts"] = 4
    full = fabric(**tiers)
    assert [shown(found) for found in findings(wire(full), full)] == [
        "warning pod1-spine1 and 3 more: 3200 Gb/s of leaves share 1600 Gb/s of uplinks (2.00:1). Set "
        "backend.super_spines.links_per_spine: 2, backend.super_spines.count: 8 or "
        "backend.oversubscription: 2 (if blocking is intended)."
    ]
