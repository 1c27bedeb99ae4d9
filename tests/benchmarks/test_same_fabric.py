"""What is compared is the same fabric in the words of each tool."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from benchmarks.same_fabric import (
    EOS,
    FRR,
    LARGE,
    SHAPES,
    SMALL,
    Hardware,
    Shape,
    netlab_topology,
    railfab_intent,
)

from railfab.intent import load_intent
from railfab.topology import Role, Topology, findings, wire

shapes = pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])


def test_shapes_are_named_by_their_switches() -> None:
    assert {switches: shape.switches for switches, shape in SHAPES.items()} == {
        switches: switches for switches in SHAPES
    }


def test_the_largest_fabric_has_the_switches_and_sessions_of_its_shape(tmp_path: Path) -> None:
    (tmp_path / "measured.yml").write_text(railfab_intent(SHAPES[1024], EOS))
    intent = load_intent(tmp_path / "measured.yml")
    topology = wire(intent)
    assert len(topology.switches()) == 1024
    assert len(between_switches(topology)) == SHAPES[1024].sessions
    assert findings(topology, intent) == ()


@shapes
@pytest.mark.parametrize("hardware", [FRR, EOS], ids=lambda hardware: hardware.platform)
def test_the_intent_has_the_switches_links_and_sessions_of_its_shape(
    shape: Shape, hardware: Hardware, tmp_path: Path
) -> None:
    (tmp_path / "measured.yml").write_text(railfab_intent(shape, hardware))
    intent = load_intent(tmp_path / "measured.yml")
    topology = wire(intent)
    assert len(topology.switches()) == shape.switches
    assert len(topology.links) == shape.links
    assert len(between_switches(topology)) == shape.sessions
    assert all(port.address is not None for port, _, _ in topology.ports())
    assert findings(topology, intent) == ()


@shapes
def test_netlab_is_given_the_same_graph_with_the_same_as_numbers(shape: Shape, tmp_path: Path) -> None:
    (tmp_path / "measured.yml").write_text(railfab_intent(shape, FRR))
    topology = wire(load_intent(tmp_path / "measured.yml"))
    given = yaml.load(netlab_topology(shape), Loader=yaml.CSafeLoader)
    asn = {name: node["bgp.as"] for name, node in given["nodes"].items()}
    joined = [link.split("-") for link in given["links"]]
    degrees = Counter(name for ends in joined for name in ends)
    assert len(given["links"]) == shape.links
    assert sum(len(ends) == 2 for ends in joined) == shape.sessions
    assert Counter((number, degrees[name]) for name, number in asn.items()) == Counter(as_and_degrees(topology))


def as_and_degrees(topology: Topology) -> list[tuple[int, int]]:
    """AS number and links of every switch."""
    return [(node.asn or 0, len(topology.ports_of(node.name))) for node in topology.switches()]


def between_switches(topology: Topology) -> list[str]:
    nodes = topology.by_name
    return [link.a.name for link in topology.links if nodes[link.a.node].role is not Role.HOST]
