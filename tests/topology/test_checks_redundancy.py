"""Redundancy that is claimed, and what hangs on one switch."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.topology.edits import said, with_links
from tests.topology.fabric_intents import fabric

from railfab.intent import FabricIntent, load_intent
from railfab.topology import Topology, wire

SUPERS = {"links_per_spine": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}


def lines(intent: FabricIntent, word: str, topology: Topology | None = None) -> list[str]:
    return [line for line in said(topology or wire(intent), intent) if word in line]


def test_a_claim_that_is_built_says_nothing() -> None:
    for survives in ("nothing", "link", "switch"):
        assert lines(fabric(backend__survives=survives), "survives") == []


def test_nics_of_one_port_survive_neither_their_link_nor_their_switch() -> None:
    link = (
        "error pod1-seg1-host1:rail1-p0--pod1-seg1-leaf1:ethernet-1/1/1 and 63 more: with the loss of this host link, "
        "1 GPU loses all of the bandwidth to every GPU, but backend.survives is {}. Add NIC ports to a second rail "
        "switch, or set {}."
    )
    leaf = (
        "error pod1-seg1-leaf1 and 3 more: with the loss of this leaf, 16 GPUs lose all of the bandwidth"
        " to every GPU, but backend.survives is switch. Add NIC ports to a second rail switch, or set "
        "backend.survives: link or backend.survives: nothing."
    )
    nothing, weaker = "backend.survives: nothing", "backend.survives: link or backend.survives: nothing"
    assert lines(fabric(hosts__nic_ports=1, backend__survives="link"), "survives") == [link.format("link", nothing)]
    assert lines(fabric(hosts__nic_ports=1, backend__survives="switch"), "survives") == [
        link.format("switch", weaker),
        leaf.format(weaker),
    ]


def test_one_spine_and_one_super_spine_are_not_survived() -> None:
    intent = fabric(
        backend__survives="switch",
        backend__pods=2,
        backend__spines__count=1,
        backend__spines__links_per_leaf=4,
        backend__super_spines=SUPERS | {"count": 1},
    )
    assert lines(intent, "survives") == [
        "error pod1-spine1 and 1 more: with the loss of this spine, 64 GPUs lose all of the bandwidth to"
        " GPUs behind other leaves, but backend.survives is switch. Add spines, or set backend.survives:"
        " link or backend.survives: nothing.",
        "error super1: with the loss of this super-spine, 128 GPUs lose all of the bandwidth to GPUs of "
        "other pods, but backend.survives is switch. Add super-spines, or set backend.survives: link or "
        "backend.survives: nothing.",
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
        "error pod1-seg1-leaf1:ethernet-1/32--pod1-spine1:ethernet-1/1 and 3 more: with the loss of this"
        " leaf-spine link, 32 GPUs lose all of the bandwidth to GPUs behind other leaves, but "
        "backend.survives is link. Add spines, or set backend.survives: nothing.",
        "error pod1-spine1:ethernet-1/32--super1:ethernet-1/1 and 1 more: with the loss of this "
        "spine-super link, 64 GPUs lose all of the bandwidth to GPUs of other pods, but backend.survives"
        " is link. Add super-spines, or set backend.survives: nothing.",
    ]


def test_nics_whose_ports_all_meet_one_switch() -> None:
    assert lines(fabric(backend__segments__rail_switches=1), "this NIC") == [
        "warning pod1-seg1-host1 rail1 and 63 more: all 2 backend ports of this NIC connect to pod1-seg1-leaf1, "
        "whose failure disconnects it. Use more rail_switches, so that they connect to two switches."
    ]


def paired(attach: str) -> tuple[FabricIntent, Topology]:
    intent = fabric(hosts__attach=attach)
    return intent, wire(intent)


@pytest.mark.parametrize("attach", ["mlag", "esi"])
def test_lags_over_pairs_say_nothing(attach: str) -> None:
    intent, topology = paired(attach)
    assert [line for line in said(topology, intent) if "LAG" in line or "keepalive" in line] == []


def test_lags_that_are_not_over_two_switches() -> None:
    intent, topology = paired("mlag")
    one, other, *rest = topology.bonds
    bonds = (replace(one, ports=one.ports[:1]), replace(other, switches=other.switches[:1] * 2), *rest)
    assert lines(intent, "LAG", replace(topology, bonds=bonds)) == [
        "warning pod1-seg1-host1 bond1: a LAG with one port survives no failure. Add a port on another switch.",
        "warning pod1-seg1-host1 bond2: all 2 ports of the LAG connect to pod1-seg1-leaf1, so it does not "
        "survive its failure. Connect them to two switches.",
    ]


def test_an_mlag_without_peer_links_is_none() -> None:
    intent, topology = paired("mlag")
    parted = with_links(topology, lambda link: None if "leaf" in link.a.node and "leaf" in link.z.node else link)
    assert lines(intent, "LAG", parted) == [
        "error pod1-seg1-host1 bond1 and 31 more: the LAG connects to pod1-seg1-leaf1 and "
        "pod1-seg1-leaf2, which have no peer link for MLAG. Add peer links, or set hosts.attach: esi "
        "(Ethernet segments).",
        "error pod1-seg2-host1 bond1 and 31 more: the LAG connects to pod1-seg2-leaf1 and "
        "pod1-seg2-leaf2, which have no peer link for MLAG. Add peer links, or set hosts.attach: esi "
        "(Ethernet segments).",
    ]


NO_BACKUP = (
    "note pod1-seg1-leaf1 pod1-seg1-leaf2: the switches of a pair have no path beside their peer link, so that no "
    "keepalive runs (mlag backup, heartbeat): when the peer link fails, each takes the other for down, and both go on "
    "alone. State management.leaves, over which the keepalive then runs, or spines."
)


@pytest.mark.parametrize(
    ("name", "management", "said_of_it"),
    [
        ("dual-mlag", "", [NO_BACKUP]),
        ("dual-mlag", "management: {}\n", [NO_BACKUP]),
        ("dual-mlag", "management:\n  leaves: {count: 1, model: 7215-ixs-a1, cable_m: 5}\n", []),
        ("dual-esi", "", []),
    ],
)
def test_a_pair_needs_a_path_beside_its_peer_link(
    tmp_path: Path, name: str, management: str, said_of_it: list[str]
) -> None:
    """With spines the keepalive runs over them: `test_lags_over_pairs_say_nothing`."""
    document = Path(__file__).parents[2] / "inventory" / "fabrics" / f"{name}.yml"
    (tmp_path / "fabric.yml").write_text(document.read_text() + management)
    intent = load_intent(tmp_path / "fabric.yml")
    assert [line for line in said(wire(intent), intent) if "keepalive" in line] == said_of_it


def test_gpus_that_no_path_joins() -> None:
    islands = fabric(backend__spines=None)
    assert lines(islands, "no path") == [
        "error pod1-seg2-host1: there is no path to pod1-seg1-host1; 4 of 8 hosts have none. Add spines "
        "(super-spines between pods)."
    ]
    rails = fabric(backend__spines=None, backend__segments__count=1, hosts__nic_ports=1, hosts__scale_up=False)
    assert lines(rails, "no path") == [
        "error pod1-seg1-host1 rail5: there is no path to pod1-seg1-host1 rail1; 16 of 32 NICs have none. Add "
        "spines (super-spines between pods), or a scale-up network in the hosts."
    ]
    over_scale_up = fabric(backend__spines=None, backend__segments__count=1, hosts__nic_ports=1)
    assert lines(over_scale_up, "no path") == []


@pytest.mark.parametrize("scale_up", [False, None])
def test_planes_are_no_islands_each_gpu_is_in_both(scale_up: bool | None) -> None:
    assert (
        lines(fabric(backend__planes=2, backend__segments__rail_switches=1, hosts__scale_up=scale_up), "no path") == []
    )
