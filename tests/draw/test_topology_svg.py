"""The picture of a fabric is well-formed, complete, and the same every time."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer import Typer
from typer.testing import CliRunner

from railfab.cli.draw import draw
from railfab.draw import topology_svg
from railfab.draw.backend import Picture
from railfab.draw.svg import Box
from railfab.draw.wires import read_wiring
from railfab.errors import RailfabError
from railfab.intent import load_intent
from railfab.topology import Link, Net, Node, Port, Role, Topology, wire

SVG = "{http://www.w3.org/2000/svg}"
INTENTS = ("inventory/fabrics/pod64.yml", "labs/frr-pod/intent.yml")


@pytest.fixture(params=INTENTS)
def fabric(request: pytest.FixtureRequest, repository: Path) -> Topology:
    return wire(load_intent(repository / request.param))


def _port(node: str, name: str, rail: int | None = None) -> Port:
    return Port(node=node, name=name, cage=0, lane=None, rate_gbps=100, rail=rail, address=None)


def _cable(host: str, leaf: str, rail: int) -> Link:
    ports = _port(host, f"rail{rail}-p0", rail), _port(leaf, f"{host}-{rail}", rail)
    return Link(a=ports[0], z=ports[1], rate_gbps=100, cable_m=3)


@pytest.fixture
def rail_optimised() -> Topology:
    """One switch a rail; host3 lacks its second NIC; one name needs escaping. No spines."""
    hosts = [Node(name=f"pod1-seg1-host{h}", role=Role.HOST, pod=1, segment=1, index=h) for h in (1, 2, 3)]
    names = ("pod1-seg1-leaf1", 'leaf<2> & "co"')
    leaves = [Node(name=name, role=Role.LEAF, pod=1, segment=1, index=i, model="m") for i, name in enumerate(names, 1)]
    links = [_cable(host.name, name, rail) for host in hosts for rail, name in enumerate(names, 1)]
    return Topology(fabric="tiny", nodes=(*hosts, *leaves), links=tuple(links[:-1]))


def _texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_every_switch_is_named_and_every_host_is_somewhere(fabric: Topology) -> None:
    picture = topology_svg(fabric)
    assert {node.name for node in fabric.switches()} <= set(_texts(picture))
    assert all(node.name in picture for node in fabric.hosts())


def test_the_same_fabric_is_the_same_picture(fabric: Topology) -> None:
    assert topology_svg(fabric) == topology_svg(fabric)


def test_nothing_stands_on_anything_else_or_beyond_the_edge(fabric: Topology) -> None:
    places = Picture(fabric, read_wiring(fabric)[Net.BACKEND], None).layout
    boxes = list(places.boxes.values())
    assert all(_inside(box, places.size) for box in boxes)
    assert not any(_overlap(one, other) for i, one in enumerate(boxes) for other in boxes[i + 1 :])


def _inside(box: Box, size: Box) -> bool:
    return box.x >= 0 and box.y >= 0 and box.x + box.width <= size.width and box.bottom <= size.height


def _overlap(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (beside or one.bottom <= other.y or other.bottom <= one.y)


def test_pod64_is_drawn_as_agreed(repository: Path) -> None:
    """Changed on purpose? Look at it on a light and a dark page, then `railfab draw` it again."""
    golden = Path(__file__).parent / "golden" / "pod64.svg"
    intent = load_intent(repository / INTENTS[0])
    assert topology_svg(wire(intent), intent.hosts) == golden.read_text()


def test_hosts_that_are_cabled_alike_are_one_card(rail_optimised: Topology) -> None:
    texts = _texts(topology_svg(rail_optimised))
    assert "pod1-seg1-host1 … host2" in texts
    assert "2 hosts of 2 rails, 1 port each" in texts
    assert "pod1-seg1-host3" in texts
    assert "1 host of 1 rail, 1 port each" in texts


def test_names_are_escaped_and_a_switch_of_one_rail_says_which(rail_optimised: Topology) -> None:
    texts = _texts(topology_svg(rail_optimised))
    assert 'leaf<2> & "co"' in texts
    assert {"rail 1", "rail 2"} <= set(texts)
    assert "5 × 100G, 3 m" in texts
    assert "Spines" not in texts


def test_the_picture_suits_light_and_dark_pages(fabric: Topology) -> None:
    picture = topology_svg(fabric)
    assert "@media(prefers-color-scheme:dark)" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def _drawn(*arguments: str | Path) -> str:
    app = Typer()
    app.command()(draw)
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_command_writes_a_file_or_prints(tmp_path: Path, repository: Path) -> None:
    intent = repository / INTENTS[1]
    fabric = load_intent(intent)
    assert _drawn(intent, "-o", tmp_path / "out.svg") == ""
    assert _drawn(intent) == (tmp_path / "out.svg").read_text() == topology_svg(wire(fabric), fabric.hosts)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(RailfabError) as caught:
        _drawn(repository / INTENTS[1], "-o", tmp_path / "absent" / "out.svg")
    assert str(caught.value) == (
        f"{tmp_path}/absent/out.svg: cannot be written: No such file or directory. Choose another place with -o."
    )
