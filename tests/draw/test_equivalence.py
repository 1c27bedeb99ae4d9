"""Parts share a box only if their cables prove them equivalent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.draw.pictures import Design, texts
from tests.laws import examples

from railfab.draw import topology_svg
from railfab.draw.backend import BackendPicture
from railfab.draw.cells import number_ranges
from railfab.draw.equivalence import Signatures, equivalence_classes
from railfab.draw.graph import network_graphs
from railfab.topology import Link, Net, Node, Role, Topology

designs = st.builds(
    Design,
    planes=st.integers(1, 2),
    pods=st.integers(1, 4),
    segments=st.integers(2, 7),
    hosts=st.integers(1, 3),
    leaves=st.sampled_from([1, 2, 4]),
    spines=st.integers(1, 6),
    supers=st.integers(0, 4),
)

CHANGES: dict[str, Callable[[Link], Link]] = {
    "rate": lambda link: replace(link, rate_gbps=link.rate_gbps * 2),
    "length": lambda link: replace(link, cable_m=link.cable_m + 1),
    "rail": lambda link: replace(link, a=replace(link.a, rail=99), z=replace(link.z, rail=99)),
    "vlan": lambda link: replace(link, z=replace(link.z, vlan=7)),
    "lag": lambda link: replace(link, a=replace(link.a, bundle=1), z=replace(link.z, bundle=1)),
}


def signatures(topology: Topology) -> Signatures:
    picture = _picture(topology)
    return Signatures(picture.graph, picture.node_indices)


def _picture(topology: Topology) -> BackendPicture:
    return BackendPicture(topology, network_graphs(topology)[Net.BACKEND], None)


def segment_of(node: Node) -> tuple[int, int | None]:
    return node.pod, node.segment


def shown_separately(topology: Topology, odd: Node) -> bool:
    """Whether no box mixes nodes of the odd node's segment with nodes of another segment."""
    boxes = (
        {segment_of(topology.nodes[index]) for index in cell.node_indices} for cell in _picture(topology).cells.values()
    )
    return all(len(units) == 1 for units in boxes if segment_of(odd) in units)


@given(designs)
@settings(max_examples=examples(30))
def test_a_regular_fabric_has_one_class_of_segments_of_pods_and_of_planes(design: Design) -> None:
    found = signatures(design.topology())
    assert [len(equivalence_classes(units)) for units in (found.segments, found.pods, found.planes)] == [1, 1, 1]


@pytest.mark.parametrize("change", CHANGES)
@given(data=st.data(), design=designs)
@settings(max_examples=examples(15))
def test_a_segment_with_one_odd_cable_is_shown_separately(change: str, data: st.DataObject, design: Design) -> None:
    topology = design.topology()
    nodes = topology.by_name
    links = [number for number, link in enumerate(topology.links) if nodes[link.a.node].segment]
    number = data.draw(st.sampled_from(links))
    odd = nodes[topology.links[number].a.node]
    changed = [*topology.links[:number], CHANGES[change](topology.links[number]), *topology.links[number + 1 :]]
    fabric = replace(topology, links=tuple(changed))
    found = equivalence_classes(signatures(fabric).segments)
    assert [unit for unit in found if segment_of(odd) in unit] == [(segment_of(odd),)]
    assert shown_separately(fabric, odd)
    assert f"pod{odd.pod}-seg{odd.segment}-host1" in topology_svg(fabric)


@given(data=st.data(), design=designs)
@settings(max_examples=examples(15))
def test_a_segment_that_lacks_one_cable_is_shown_separately(data: st.DataObject, design: Design) -> None:
    topology = design.topology()
    links = [number for number, link in enumerate(topology.links) if topology.node(link.a.node).segment]
    number = data.draw(st.sampled_from(links))
    odd = topology.node(topology.links[number].a.node)
    fabric = replace(topology, links=topology.links[:number] + topology.links[number + 1 :])
    assert shown_separately(fabric, odd)


@given(data=st.data(), design=designs)
@settings(max_examples=examples(15))
def test_a_segment_with_a_switch_of_another_model_is_shown_separately(data: st.DataObject, design: Design) -> None:
    topology = design.topology()
    odd = data.draw(st.sampled_from([node for node in topology.nodes if node.role is Role.LEAF]))
    nodes = tuple(replace(node, model="other") if node is odd else node for node in topology.nodes)
    assert shown_separately(replace(topology, nodes=nodes), odd)


def test_segments_with_crossed_cables_are_not_equivalent() -> None:
    """Each segment keeps the number of its cables of each type; equivalence needs more."""
    topology = Design(segments=4, leaves=1).topology()
    links = list(topology.links)
    one, other = (
        next(number for number, link in enumerate(links) if link.a.node == f"pod1-seg{segment}-host1")
        for segment in (2, 3)
    )
    links[one], links[other] = replace(links[one], z=links[other].z), replace(links[other], z=links[one].z)
    found = equivalence_classes(signatures(replace(topology, links=tuple(links))).segments)
    assert found == (((1, 1), (1, 4)), ((1, 2),), ((1, 3),))


def test_a_plane_with_one_odd_cable_is_shown_separately() -> None:
    topology = Design(planes=4, segments=2, leaves=2, spines=2).topology()
    odd = next(link for link in topology.links if link.a.node == "plane3-pod1-seg1-leaf1")
    links = tuple(CHANGES["rate"](link) if link is odd else link for link in topology.links)
    assert {"Plane 1", "Planes 2-4"} <= set(texts(topology_svg(topology)))
    assert {"Plane 1", "Planes 2, 4", "Plane 3 (plane3-*)"} <= set(texts(topology_svg(replace(topology, links=links))))


def test_a_pod_and_a_group_with_one_odd_cable_are_shown_separately() -> None:
    topology = Design(pods=12, segments=1, spines=8, supers=32, groups=8).topology()
    shown = set(texts(topology_svg(topology)))
    assert {"Pod 1", "pods 2-12", "each like pod 1", "Group 1", "groups 2-8", "each like group 1"} <= shown
    odd = next(link for link in topology.links if link.a.node == "pod5-spine3")
    links = tuple(CHANGES["rate"](link) if link is odd else link for link in topology.links if link)
    shown = set(texts(topology_svg(replace(topology, links=links))))
    assert {"Pod 1", "pods 2-4, 6-12", "Pod 5", "Group 1", "groups 2, 4-8", "Group 3", "1 × 800G, 100 m"} <= shown


def test_spines_that_differ_are_named() -> None:
    topology = Design(segments=6, spines=32).topology()
    assert {"pod1-spine1", "pod1-spine2", "spines 3-31", "pod1-spine32"} <= set(texts(topology_svg(topology)))
    nodes = tuple(replace(node, reflector=node.name == "pod1-spine7") for node in topology.nodes)
    shown = texts(topology_svg(replace(topology, nodes=nodes)))
    assert "pod1-spine7" in shown
    assert any("reflector" in text for text in shown)


def test_nodes_with_repeated_indices_have_different_ranks() -> None:
    """As in imported topologies, all indices are 1."""
    topology = Design(segments=3, leaves=2).topology()
    nodes = tuple(replace(node, index=1) for node in topology.nodes)
    found = signatures(replace(topology, nodes=nodes))
    assert len(equivalence_classes(found.segments)) == 1
    assert topology_svg(replace(topology, nodes=nodes))


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([3], "3"), ([1, 2, 3], "1-3"), ([5, 2, 4, 9], "2, 4-5, 9"), ([2, 2], "2")]
)
def test_numbers_are_written_as_ranges(numbers: list[int], text: str) -> None:
    assert number_ranges(numbers) == text
