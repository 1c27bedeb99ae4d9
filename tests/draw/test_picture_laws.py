"""Laws for the picture of any fabric, of one switch and of five thousand."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.draw.pictures import (
    TOUCH,
    Design,
    frames,
    labels,
    node_boxes,
    overlap,
    page,
    text_boxes,
    texts,
    with_network,
    within,
)
from tests.fabric.sampled import wired
from tests.laws import examples
from tests.sampled import sampled

from railfab.draw import topology_svg
from railfab.draw.backend import BackendPicture
from railfab.draw.graph import network_graphs
from railfab.draw.svg import Box
from railfab.intent import Hosts
from railfab.topology import Net, Role, Topology

FABRICS = {path.stem: path for path in sorted((Path(__file__).parents[2] / "inventory" / "fabrics").glob("*.yml"))}
MOST_BYTES, MOST_WIDTH = 150_000, 1400

designs = st.builds(
    Design,
    planes=st.integers(1, 4),
    pods=st.integers(1, 6),
    segments=st.integers(1, 6),
    hosts=st.integers(1, 3),
    leaves=st.sampled_from([1, 2, 3, 4, 8, 16]),
    rails=st.sampled_from([1, 2, 8, 16, 24]),
    spines=st.integers(0, 9),
    supers=st.integers(0, 9),
    groups=st.integers(1, 4),
)
LARGE = (
    Design(segments=1, hosts=1, leaves=1, rails=72, spines=0),
    Design(segments=10, leaves=64, rails=64, hosts=1, spines=64),
    Design(pods=64, segments=4, leaves=2, hosts=2, spines=4, supers=64),
    Design(planes=8, pods=4, segments=4, leaves=4, hosts=2, spines=8, supers=16, groups=4),
    Design(pods=300, segments=1, leaves=1, hosts=1, rails=1, spines=0),
)


def beside(room: Box) -> Box:
    """A text with the space that it needs beside it."""
    return Box(room.x - TOUCH, room.y, room.width + 2 * TOUCH, room.height)


def check_readable(topology: Topology, hosts: Hosts | None = None) -> str:
    """The picture, after checks: limited size, and texts that overlap neither each other nor an edge."""
    picture = topology_svg(topology, hosts)
    whole, words = page(picture), text_boxes(picture)
    assert len(picture.encode()) < MOST_BYTES
    assert whole.width <= MOST_WIDTH
    assert all(within(box, whole) for _, box in words)
    found = sorted(words, key=lambda item: item[1].y)
    for number, (text, box) in enumerate(found):
        for other, beyond in found[number + 1 :]:
            assert not overlap(box, beyond), (text, other)
    boxes = [box for _, box, _ in node_boxes(picture)]
    for number, (_, box, inside) in enumerate(node_boxes(picture)):
        assert within(box, whole)
        assert all(within(beside(room), box) for _, room in inside), inside
        assert not any(overlap(box, other) for other in boxes[number + 1 :])
        assert all(within(box, frame) or not overlap(box, frame) for frame in frames(picture))
    on_colour = labels(picture)  # the name of a plane is on its frame
    for text, box in words:
        edges = () if text in on_colour else frames(picture)
        assert all(within(beside(box), frame) or not overlap(beside(box), frame) for frame in edges), text
    return picture


@pytest.mark.parametrize("path", sampled(FABRICS, few=FABRICS.keys() - {"gpu32768", "gpu131072"}))
def test_the_picture_of_each_design_can_be_read(path: Path) -> None:
    intent, topology = wired(path)
    check_readable(topology, intent.hosts)


@given(designs)
@settings(max_examples=examples(25))
def test_the_picture_of_any_regular_fabric_can_be_read(design: Design) -> None:
    check_readable(design.topology(), Hosts())


@pytest.mark.parametrize("design", LARGE, ids=str)
def test_the_picture_of_a_large_fabric_can_be_read(design: Design) -> None:
    check_readable(design.topology())


@given(
    designs.filter(lambda design: design.pods * design.segments * design.leaves < 60), st.randoms(use_true_random=False)
)
@settings(max_examples=examples(12))
def test_the_picture_of_an_irregular_fabric_can_be_read(design: Design, dice: object) -> None:
    """Cables of random lengths: no two parts are equivalent."""
    topology = design.topology()
    lengths = [dice.choice((1, 2, 3, 5, 7)) for _ in topology.links]  # type: ignore[attr-defined]
    links = tuple(replace(link, cable_m=length) for link, length in zip(topology.links, lengths, strict=True))
    check_readable(replace(topology, links=links))
    check_counts(replace(topology, links=links))


@given(st.integers(1, 40), st.integers(0, 20), st.integers(0, 30), designs)
@settings(max_examples=examples(25))
def test_the_picture_of_a_cluster_can_be_read(leaves: int, spines: int, servers: int, design: Design) -> None:
    topology = replace(design, pods=1, planes=1).topology()
    for net in (Net.FRONTEND, Net.STORAGE, Net.MANAGEMENT):
        topology = with_network(
            topology, net, leaves=leaves, spines=spines, servers=servers if net is Net.STORAGE else 0
        )
    picture = check_readable(topology)
    assert {"Backend", "Frontend", "Storage", "Management"} <= set(texts(picture))
    assert counts_of_panels(picture) == _counts_by_net(topology)


def counts_of_panels(picture: str) -> list[tuple[int, int, int]]:
    """Leaves, spines and cables by the headings of the panels."""
    heads = [text for text in texts(picture) if re.match(r"[\d,]+ lea(f|ves) ", text)]
    return sorted(tuple(_number(word, head) for word in ("lea", "spine", "cable")) for head in heads)  # type: ignore[misc]


def _counts_by_net(topology: Topology) -> list[tuple[int, int, int]]:
    graphs = network_graphs(topology)
    return sorted(
        (
            sum(node.net is net and node.role is Role.LEAF for node in topology.nodes),
            sum(node.net is net and node.role is Role.SPINE for node in topology.nodes),
            graphs[net].cable_count(),
        )
        for net in (Net.FRONTEND, Net.STORAGE, Net.MANAGEMENT)
    )


def _number(word: str, text: str) -> int:
    found = re.search(rf"([\d,]+) {word}", text)
    return int(found[1].replace(",", "")) if found else 0


def check_counts(topology: Topology) -> None:
    """Check that the counts in the picture are those of the topology."""
    picture = topology_svg(topology)
    shown: Counter[str] = Counter()
    for look, _, words in node_boxes(picture):
        what = {"leaf": "(rail )?switch", "spine": "spine", "super": "super-spine", "hosts": "host"}[look]
        plural = {"leaf": "leaves", "super": "supers"}.get(look, f"{what}s")
        counts = [
            int(found[1].replace(",", ""))
            for text, _ in words
            if (found := re.match(rf"([\d,]+) (more )?({what}|{plural})", text))
        ]
        shown[look] += counts[0] if counts else 1
    roles = Counter("hosts" if node.role is Role.HOST else node.role.value for node in topology.nodes)
    assert shown == roles
    beside_tiers = [text for text, box in text_boxes(picture) if box.x == 24]
    cables = [re.match(r"([\d,]+) (× \d+G|other cables)", text) for text in beside_tiers]
    assert sum(int(found[1].replace(",", "")) for found in cables if found) == len(topology.links)
    models = [re.match(r"([\d,]+) × m32", text) for text in beside_tiers]
    assert sum(int(found[1].replace(",", "")) for found in models if found) == len(topology.switches())


@given(designs)
@settings(max_examples=examples(25))
def test_the_counts_in_a_picture_are_those_of_the_topology(design: Design) -> None:
    check_counts(design.topology())


@pytest.mark.parametrize("design", LARGE, ids=str)
def test_the_counts_in_the_picture_of_a_large_fabric_are_those_of_the_topology(design: Design) -> None:
    check_counts(design.topology())


def picture_of(topology: Topology) -> BackendPicture:
    return BackendPicture(topology, network_graphs(topology)[Net.BACKEND], None)


@given(designs)
@settings(max_examples=examples(25))
def test_every_node_is_in_one_box_and_every_cable_between_two(design: Design) -> None:
    topology = design.topology()
    picture = picture_of(topology)
    places = Counter(index for cell in picture.cells.values() for index in cell.node_indices)
    assert places == Counter(range(len(topology.nodes)))
    assert sum(totals.cables for totals in picture.cable_totals.values()) == len(topology.links)


@given(designs)
@settings(max_examples=examples(25))
def test_every_node_is_named(design: Design) -> None:
    """Each node in the picture or in a tooltip; of more than 64 nodes in one box, the first and the last."""
    topology = design.topology()
    picture = topology_svg(topology)
    for cell in picture_of(topology).cells.values():
        names = [topology.nodes[index].name for index in cell.node_indices]
        listed = ", ".join(names) if len(names) <= 64 else f"{names[0]} … {names[-1]}, {len(names):,} in total"
        assert listed in picture


@given(designs, st.randoms(use_true_random=False))
@settings(max_examples=examples(20))
def test_the_order_of_cables_does_not_change_the_picture(design: Design, dice: object) -> None:
    topology = design.topology()
    links = list(topology.links)
    dice.shuffle(links)  # type: ignore[attr-defined]
    assert topology_svg(replace(topology, links=tuple(links))) == topology_svg(topology)


def test_an_empty_fabric_and_hosts_without_cables_have_pictures() -> None:
    unconnected = replace(Design(leaves=1, spines=0).topology(), links=())
    empty = Topology(fabric="empty", nodes=(), links=())
    assert texts(check_readable(empty)) == ["empty", "no nodes"]
    assert "4 hosts" in texts(check_readable(unconnected))


@pytest.mark.matrix
def test_131072_gpus_fit_one_page() -> None:
    intent, topology = wired(FABRICS["gpu131072"])
    picture = topology_svg(topology, intent.hosts)
    assert len(picture.encode()) < MOST_BYTES
    assert page(picture).width <= MOST_WIDTH
    assert {"segments 2-8", "each like segment 1", "pods 2-64", "each like pod 1", "groups 2-32"} <= set(texts(picture))
    assert {"65,536 × 800G, 40 m", "25.6 : 25.6 Tb/s, 1:1"} <= set(texts(picture))


STROKE = re.compile(r'stroke-width="([\d.]+)"(?: stroke="[^"]+")?><title>[^<]*: ([^<]*)</title>')
SAMPLE = re.compile(r'h28" stroke-width="([\d.]+)" class="cable"/>\n<text [^>]*>([\d,]+) (?:or more )?cables?<')


def line_widths(picture: str) -> dict[int, float]:
    """Stroke width by the number of cables, of the lines with a tooltip such as `leaf1 to spine1: 2 × 400G`."""
    found: dict[int, float] = {}
    for width, rates in STROKE.findall(picture):
        if "×" in rates:
            cables = sum(int(rate.split(" ×")[0].replace(",", "")) for rate in rates.split(", "))
            assert found.setdefault(cables, float(width)) == float(width)
    return found


@given(designs)
@settings(max_examples=examples(10))
def test_the_legend_shows_how_many_cables_a_line_of_some_width_stands_for(design: Design) -> None:
    topology = with_network(replace(design, planes=1).topology(), Net.MANAGEMENT, leaves=2, spines=2)
    picture = topology_svg(topology)
    drawn = line_widths(picture)
    legend = {int(cables.replace(",", "")): float(width) for width, cables in SAMPLE.findall(picture)}
    assert legend
    assert {min(drawn.values()), max(drawn.values())} <= set(legend.values())
    assert all(drawn[cables] == width for cables, width in legend.items())
    assert list(legend.values()) == sorted(legend.values())
