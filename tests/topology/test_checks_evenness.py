"""Wiring that is not even, rails that stray and planes that meet: odd topologies made by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.edits import between, end, said, with_links
from tests.topology.fabric_intents import fabric, fabrics

from railfab.intent import FabricIntent
from railfab.topology import Link, Topology, wire

EVENLY = "Use equal links: ECMP divides traffic evenly over paths, so the slowest path limits all."
INTENT = fabric(backend__spines__links_per_leaf=2)
POD = wire(INTENT)


def lines(topology: Topology, word: str, intent: FabricIntent = INTENT) -> list[str]:
    return [line for line in said(topology, intent) if word in line]


def drop(topology: Topology, leaf: str, spine: str, count: int) -> Topology:
    """Without `count` of the links between leaves and spines whose names begin so, for each leaf."""
    gone: dict[tuple[str, str], int] = {}

    def kept(link: Link) -> Link | None:
        ends = link.a.node, link.z.node
        if between(link, leaf, spine) and gone.get(ends, 0) < count:
            gone[ends] = gone.get(ends, 0) + 1
            return None
        return link

    return with_links(topology, kept)


def test_a_leaf_with_fewer_links_to_one_spine_than_to_another() -> None:
    odd = drop(POD, "pod1-seg1-leaf1", "pod1-spine3", 1)
    assert lines(odd, "to pod1-spine") == [
        f"warning pod1-seg1-leaf1: has 2 links (800 Gb/s) to pod1-spine1 and 1 link (400 Gb/s) to pod1-spine3. {EVENLY}"
    ]


def test_a_leaf_with_slower_links_to_one_spine_than_to_another() -> None:
    slow = with_links(
        POD, lambda link: replace(link, rate_gbps=200) if between(link, "pod1-seg2", "pod1-spine1") else link
    )
    assert lines(slow, "to pod1-spine") == [
        f"warning pod1-seg2-leaf1 and 1 more: has 2 links (800 Gb/s) to pod1-spine2 and 2 links (400 Gb/s) to "
        f"pod1-spine1. {EVENLY}"
    ]


def test_a_spine_that_misses_a_leaf() -> None:
    odd = drop(POD, "pod1-seg2-leaf2", "pod1-spine4", 2)
    assert lines(odd, "no link") == [
        "error pod1-seg2-leaf2: has no link to pod1-spine4, unlike other switches of its role. Connect it to "
        "every spine that they connect to."
    ]
    assert lines(odd, "of downlinks") == [
        f"warning pod1-spine4: has 2400 Gb/s of downlinks, and pod1-spine1 has 3200. {EVENLY}"
    ]


SUPERS = {"count": 4, "links_per_spine": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_super_spines_with_unequal_share_and_spines_that_miss_one(groups: int) -> None:
    links = 2 * groups
    intent = fabric(
        backend__pods=2,
        backend__spines__links_per_leaf=2,
        backend__super_spines=SUPERS | {"groups": groups, "links_per_spine": links},
    )
    whole = wire(intent)
    assert said(whole, intent) == []
    odd = drop(whole, "pod2-spine1", "super1", links)
    assert (
        "error pod2-spine1: has no link to super1, unlike other switches of its role. "
        in lines(odd, "no link", intent)[0]
    )
    assert lines(odd, "of downlinks", intent) == [
        f"warning super1: has {6400 - 400 * links} Gb/s of downlinks, and super2 has 6400. {EVENLY}"
    ]


def test_a_nic_cabled_to_another_switch_than_its_rail() -> None:
    intent = fabric(hosts__nic_ports=1)
    whole = wire(intent)
    stray = with_links(
        whole,
        lambda link: (
            end(link, z={"node": "pod1-seg1-leaf2", "name": "ethernet-1/20"})
            if (link.a.node, link.a.name) == ("pod1-seg1-host3", "rail1-p0")
            else link
        ),
    )
    assert lines(stray, "other NICs of the rail", intent) == [
        "warning pod1-seg1-host3 rail1: connects to pod1-seg1-leaf2, but the other NICs of the rail connect to "
        "pod1-seg1-leaf1. Connect all NICs of a rail to the same switches, so that its traffic takes the shortest path."
    ]


PLANES = fabric(backend__planes=2, backend__segments__rail_switches=1, backend__spines__links_per_leaf=2)


def test_a_link_that_joins_two_planes() -> None:
    joined = with_links(
        wire(PLANES),
        lambda link: (
            end(link, z={"node": "plane2-pod1-spine1"}) if between(link, "pod1-seg1-leaf1", "pod1-spine1") else link
        ),
    )
    found = lines(joined, "must be separate", PLANES)
    assert len(found) == 1
    assert found[0].startswith("error pod1-seg1-leaf1 ")
    assert " and 1 more: a link to plane2-pod1-spine1 connects planes 1 and 2, which must be separate. " in found[0]
    assert found[0].endswith("Connect it to a switch of its plane.")


def test_a_nic_port_in_a_plane_that_is_not_its_own() -> None:
    """Both ports of a NIC exchanged: each meets a switch, and the wrong one."""
    other = {"pod1-seg1-leaf1": "plane2-pod1-seg1-leaf1", "plane2-pod1-seg1-leaf1": "pod1-seg1-leaf1"}
    swapped = with_links(
        wire(PLANES),
        lambda link: (
            end(link, z={"node": other[link.z.node]}) if link.a.node == "pod1-seg1-host2" and link.a.rail == 3 else link
        ),
    )
    assert lines(swapped, "port of plane", PLANES) == [
        "error pod1-seg1-host2 rail3-p0: a port of plane 1 connects to a switch of plane 2. Connect it to a "
        "switch of its plane.",
        "error pod1-seg1-host2 rail3-p1: a port of plane 2 connects to a switch of plane 1. Connect it to a "
        "switch of its plane.",
    ]
    assert [line for line in said(wire(PLANES), PLANES) if "plane" in line] == []


@given(fabrics(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_whatever_is_wired_is_even_and_any_missing_uplink_is_seen(
    built: tuple[FabricIntent, Topology], data: st.DataObject
) -> None:
    intent, topology = built
    words = ("no link", "of downlinks", "Gb/s) to", "other NICs", "plane ", "planes ")
    assert [line for line in said(topology, intent) if any(word in line for word in words)] == []
    uplinks = [link for link in topology.links if "host" not in link.a.node and "leaf" not in link.z.node]
    upper = {link.z.node for link in uplinks}
    if len(upper) > 1:
        gone = data.draw(st.sampled_from(uplinks))
        odd = replace(topology, links=tuple(link for link in topology.links if link is not gone))
        lonely = len({link.z.node for link in uplinks if link.a.node == gone.a.node}) == 1
        assert lonely or any(any(word in line for word in words[:3]) for line in said(odd, intent))
