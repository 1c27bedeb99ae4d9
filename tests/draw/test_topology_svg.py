"""The picture of a fabric is well-formed, complete and deterministic."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.draw.pictures import Design, overlap, texts, with_network, within
from typer import Typer
from typer.testing import CliRunner

from railfab.cli.draw import draw
from railfab.draw import topology_svg
from railfab.draw.backend import BackendPicture
from railfab.draw.graph import network_graphs
from railfab.errors import RailfabError
from railfab.intent import Hosts, ScaleUp, load_intent
from railfab.topology import CabledPort, Link, Net, Node, Role, Topology, wire

GOLDEN = Path(__file__).parent / "golden"
INTENTS = ("inventory/fabrics/pod64.yml", "labs/frr-pod/intent.yml")


@pytest.fixture(params=INTENTS)
def fabric(request: pytest.FixtureRequest, repository: Path) -> Topology:
    return wire(load_intent(repository / request.param))


def _port(node: str, name: str, rail: int | None = None) -> CabledPort:
    return CabledPort(node=node, name=name, cage=0, lane=None, rate_gbps=100, rail=rail, address=None)


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


def test_the_picture_names_every_switch_and_every_host(fabric: Topology) -> None:
    picture = topology_svg(fabric)
    assert {node.name for node in fabric.switches()} <= set(texts(picture))
    assert {"Spines", "Rail switches", "Hosts"} <= set(texts(picture))
    assert all(node.name in picture for node in fabric.hosts())


def test_the_picture_is_deterministic(fabric: Topology) -> None:
    assert topology_svg(fabric) == topology_svg(fabric)


def test_boxes_overlap_neither_each_other_nor_the_edge(fabric: Topology) -> None:
    places = BackendPicture(fabric, network_graphs(fabric)[Net.BACKEND], None).layout
    boxes = list(places.boxes.values())
    assert all(within(box, places.size) for box in boxes)
    assert not any(overlap(one, other) for i, one in enumerate(boxes) for other in boxes[i + 1 :])


GENERATED = {
    "one-switch": Design(segments=1, hosts=3, leaves=1, spines=0).topology(),
    "planes": Design(planes=2, segments=5, leaves=8, spines=4).topology(),
    "groups": Design(pods=12, segments=3, leaves=2, spines=8, supers=32, groups=8).topology(),
    "cluster": with_network(
        with_network(Design(segments=1).topology(), Net.STORAGE, leaves=3, spines=2, servers=4),
        Net.MANAGEMENT,
        leaves=40,
        spines=2,
    ),
}


@pytest.mark.parametrize("name", ["pod64", "dual-mlag"])
def test_the_picture_of_an_intent_equals_its_golden_file(name: str, repository: Path) -> None:
    """After an intended change, look at it on a light and a dark page, and write it with `railfab draw`."""
    intent = load_intent(repository / "inventory" / "fabrics" / f"{name}.yml")
    assert topology_svg(wire(intent), intent.hosts) == (GOLDEN / f"{name}.svg").read_text()


@pytest.mark.parametrize("name", GENERATED)
def test_the_picture_of_a_generated_fabric_equals_its_golden_file(name: str) -> None:
    """After an intended change, look at it, and write the output of `topology_svg` to the file."""
    assert topology_svg(GENERATED[name]) == (GOLDEN / f"{name}.svg").read_text()


def test_hosts_with_the_same_cabling_share_a_box(rail_optimised: Topology) -> None:
    shown = texts(topology_svg(rail_optimised))
    assert "pod1-seg1-host1 … host2" in shown
    assert "2 hosts of 2 rails, 1 port each" in shown
    assert "pod1-seg1-host3" in shown
    assert "1 host of 1 rail, 1 port each" in shown


def test_names_are_escaped_and_a_switch_of_one_rail_names_it(rail_optimised: Topology) -> None:
    shown = texts(topology_svg(rail_optimised))
    assert 'leaf<2> & "co"' in shown
    assert {"rail 1", "rail 2"} <= set(shown)
    assert "5 × 100G, 3 m" in shown
    assert "Spines" not in shown


def test_the_picture_has_styles_for_light_and_dark_pages(fabric: Topology) -> None:
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


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(RailfabError) as caught:
        _drawn(repository / INTENTS[1], "-o", tmp_path / "absent" / "out.svg")
    assert str(caught.value) == (
        f"{tmp_path}/absent/out.svg: cannot be written: No such file or directory. Choose another place with -o."
    )


def test_a_pair_shows_its_peer_link_and_the_link_aggregation_of_hosts(repository: Path) -> None:
    for name, how in (("dual-mlag", "MLAG"), ("dual-esi", "EVPN ESI")):
        shown = texts(topology_svg(wire(load_intent(repository / "inventory" / "fabrics" / f"{name}.yml"))))
        assert "peer link" in shown
        assert any(text.endswith(f"LAG over two switches ({how})") for text in shown)


def test_front_panels_of_few_switches_show_the_rail_of_each_cage(repository: Path) -> None:
    topology = wire(load_intent(repository / "inventory" / "fabrics" / "rail-blocks.yml"))
    picture = topology_svg(topology)
    for rail, cages in ((1, (1, 4, 7, 10)), (2, (13, 16, 19, 22)), (8, (38, 41, 44, 47))):
        assert all(f"<title>cage {cage}: rail {rail}, pod1-seg1-host" in picture for cage in cages)
    assert "<title>cage 3: free</title>" in picture


def test_hosts_show_their_gpus_shared_nics_and_scale_up() -> None:
    hosts = Hosts(gpus=8, nic_per=4, scale_up=ScaleUp(name="NVLink", gbps_per_gpu=3600))
    shown = texts(topology_svg(Design(rails=2).topology(), hosts))
    assert "64 GPUs · 8 hosts · 4 rail switches · 2 spines · 24 cables" in shown
    assert {"4 hosts of 2 rails, 1 port each, 4 GPUs share a NIC", "8 GPUs on NVLink, 3.6 Tb/s each"} <= set(shown)
    apart = topology_svg(Design().topology(), Hosts(scale_up=None))
    assert "GPUs on" not in apart


def test_the_capacity_of_a_tier_is_shown_with_its_ratio() -> None:
    shown = texts(topology_svg(Design(rails=8, spines=2).topology()))
    assert {"1.6 : 0.8 Tb/s, 2:1", "1.6 Tb/s down", "64 × 100G, 5 m", "8 × 400G, 40 m", "4 × m32"} <= set(shown)
    more = texts(topology_svg(Design(rails=8, spines=8).topology()))
    assert "1.6 : 3.2 Tb/s, 1:2" in more


def test_a_file_that_is_not_named_svg_is_refused(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(RailfabError, match=r"out\.png: is not the name of an SVG file\. Use -o .*out\.svg\.$"):
        draw(repository / INTENTS[1], tmp_path / "out.png")
    assert not (tmp_path / "out.png").exists()
