"""Redundancy that is claimed, and what hangs on one switch."""

from dataclasses import replace

import pytest
from tests.topology.edits import said, with_links
from tests.topology.fabric_intents import fabric

from railfab.intent import FabricIntent
from railfab.topology import Topology, wire

SUPERS = {"links_per_spine": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}


def lines(intent: FabricIntent, word: str, topology: Topology | None = None) -> list[str]:
    return [line for line in said(topology or wire(intent), intent) if word in line]


def test_a_claim_that_is_built_says_nothing() -> None:
    for survives in ("nothing", "link", "switch"):
        assert lines(fabric(backend__survives=survives), "survives") == []


def test_nics_of_one_port_survive_neither_their_link_nor_their_switch() -> None:
    link = (
        "error pod1-seg1-host1:rail1-p0--pod1-seg1-leaf1:ethernet-1/1/1 and 63 more: the loss of this host link cuts "
        "1 GPU off from every GPU, and backend.survives says {}. "
        "Add NIC ports that meet two rail switches, or claim less."
    )
    leaf = (
        "error pod1-seg1-leaf1 and 3 more: the loss of this leaf cuts 16 GPUs off from every GPU, and "
        "backend.survives says switch. Add NIC ports that meet two rail switches, or claim less."
    )
    assert lines(fabric(hosts__nic_ports=1, backend__survives="link"), "survives") == [link.format("link")]
    assert lines(fabric(hosts__nic_ports=1, backend__survives="switch"), "survives") == [link.format("switch"), leaf]


def test_one_spine_and_one_super_spine_are_not_survived() -> None:
    intent = fabric(
        backend__survives="switch",
        backend__pods=2,
        backend__spines__count=1,
        backend__spines__links_per_leaf=4,
        backend__super_spines=SUPERS | {"count": 1},
    )
    assert lines(intent, "survives") == [
        "error pod1-spine1 and 1 more: the loss of this spine cuts 64 GPUs off from GPUs behind other leaves, and "
        "backend.survives says switch. Add spines, or claim less.",
        "error super1: the loss of this super-spine cuts 128 GPUs off from GPUs of other pods, and "
        "backend.survives says switch. Add super-spines, or claim less.",
    ]


def test_one_link_to_all_other_leaves_or_pods_is_not_survived() -> None:
    intent = fabric(
        backend__survives="link",
        backend__pods=2,
        backend__segments__rail_switches=1,
        backend__spines__count=1,
        backend__spines__links_per_leaf=1,
        backend__super_spines=SUPERS | {"count": 1, "links_per_spine": 1},
    )
    assert lines(intent, "survives") == [
        "error pod1-seg1-leaf1:ethernet-1/32--pod1-spine1:ethernet-1/1 and 3 more: the loss of this leaf-spine link "
        "cuts 32 GPUs off from GPUs behind other leaves, and backend.survives says link. Add spines, or claim less.",
        "error pod1-spine1:ethernet-1/32--super1:ethernet-1/1 and 1 more: the loss of this spine-super link cuts "
        "64 GPUs off from GPUs of other pods, and backend.survives says link. Add super-spines, or claim less.",
    ]


def test_nics_whose_ports_all_meet_one_switch() -> None:
    assert lines(fabric(backend__segments__rail_switches=1), "this NIC") == [
        "warning pod1-seg1-host1 rail1 and 63 more: all 2 backend ports of this NIC meet pod1-seg1-leaf1, which cuts "
        "it off when it fails. Use more rail_switches so that they meet two."
    ]


def paired(attach: str) -> tuple[FabricIntent, Topology]:
    intent = fabric(hosts__attach=attach)
    return intent, wire(intent)


@pytest.mark.parametrize("attach", ["mlag", "esi"])
def test_lags_over_pairs_say_nothing(attach: str) -> None:
    intent, topology = paired(attach)
    assert [line for line in said(topology, intent) if "LAG" in line] == []


def test_lags_that_are_not_over_two_switches() -> None:
    intent, topology = paired("mlag")
    one, other, *rest = topology.bonds
    bonds = (replace(one, ports=one.ports[:1]), replace(other, switches=other.switches[:1] * 2), *rest)
    assert lines(intent, "LAG", replace(topology, bonds=bonds)) == [
        "warning pod1-seg1-host1 bond1: a LAG of one port survives nothing. Give it a port on another switch.",
        "warning pod1-seg1-host1 bond2: all 2 ports of a LAG meet pod1-seg1-leaf1, so that it does not survive it. "
        "Spread them over a pair of switches.",
    ]


def test_an_mlag_without_peer_links_is_none() -> None:
    intent, topology = paired("mlag")
    parted = with_links(topology, lambda link: None if "leaf" in link.a.node and "leaf" in link.z.node else link)
    assert lines(intent, "LAG", parted) == [
        "error pod1-seg1-host1 bond1 and 31 more: a LAG over pod1-seg1-leaf1 and pod1-seg1-leaf2, which no peer link "
        "joins, is no MLAG. Add peer links, or an Ethernet segment (attach: esi).",
        "error pod1-seg2-host1 bond1 and 31 more: a LAG over pod1-seg2-leaf1 and pod1-seg2-leaf2, which no peer link "
        "joins, is no MLAG. Add peer links, or an Ethernet segment (attach: esi).",
    ]


def test_gpus_that_no_path_joins() -> None:
    islands = fabric(backend__spines=None)
    assert lines(islands, "no path") == [
        "error pod1-seg2-host1: no path joins it and pod1-seg1-host1; the same holds of 4 of 8 hosts. "
        "Add spines (super-spines between pods)."
    ]
    rails = fabric(backend__spines=None, backend__segments__count=1, hosts__nic_ports=1, hosts__scale_up=False)
    assert lines(rails, "no path") == [
        "error pod1-seg1-host1 rail5: no path joins it and pod1-seg1-host1 rail1; the same holds of 16 of 32 NICs. "
        "Add spines (super-spines between pods), or a scale-up network in the hosts."
    ]
    over_scale_up = fabric(backend__spines=None, backend__segments__count=1, hosts__nic_ports=1)
    assert lines(over_scale_up, "no path") == []


@pytest.mark.parametrize("scale_up", [False, None])
def test_planes_are_no_islands_each_gpu_is_in_both(scale_up: bool | None) -> None:
    assert (
        lines(fabric(backend__planes=2, backend__segments__rail_switches=1, hosts__scale_up=scale_up), "no path") == []
    )
