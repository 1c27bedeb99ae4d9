"""Laws of `compare`: an intended topology has no difference, and every edit is reported for exactly its ports."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import fabric, fabrics

from railfab.imports import ExistingLink, ExistingPort, ExistingTopology, existing_topology
from railfab.imports.compare import compare, match_topology
from railfab.intent import FabricIntent, load_intent
from railfab.topology import Net, Role, Topology, wire

FABRICS = Path(__file__).resolve().parents[2] / "inventory" / "fabrics"
Built = tuple[FabricIntent, Topology]


def place(port: ExistingPort) -> str:
    return f"{port.node} {port.name}"


def places(link: ExistingLink) -> set[str]:
    return {place(link.a), place(link.z)}


def named(text: str, found: ExistingTopology) -> set[str]:
    """The ports that a text names; a name that is a prefix of another one does not match it."""
    words = [word.rstrip(",.:") for word in text.split()]
    known = {(port.node, port.name) for port in found.all_ports()}
    return {f"{node} {name}" for node, name in pairwise(words) if (node, name) in known}


def with_links(found: ExistingTopology, *links: ExistingLink | None, at: tuple[int, ...]) -> ExistingTopology:
    """The existing topology with some links replaced, by index; None removes a link."""
    every: list[ExistingLink | None] = list(found.links)
    for index, link in zip(at, links, strict=True):
        every[index] = link
    return replace(found, links=tuple(link for link in every if link is not None))


def edited(found: ExistingTopology, draw: st.DataObject) -> int:
    return draw.draw(st.integers(0, len(found.links) - 1), label="link")


@given(fabrics())
@settings(max_examples=examples(40))
def test_an_intended_topology_has_no_difference(built: Built) -> None:
    _, topology = built
    found = existing_topology(topology)
    assert compare(topology, found) == ()
    assert match_topology(topology, found).not_compared == ()


@given(fabrics(), st.randoms(use_true_random=False))
@settings(max_examples=examples(40))
def test_the_order_of_nodes_and_links_and_the_direction_of_cables_do_not_matter(built: Built, random: object) -> None:
    _, topology = built
    found = existing_topology(topology)
    nodes, links = list(found.nodes), [ExistingLink(link.z, link.a) for link in found.links]
    random.shuffle(nodes)  # type: ignore[attr-defined]
    random.shuffle(links)  # type: ignore[attr-defined]
    assert compare(topology, replace(found, nodes=tuple(nodes), links=tuple(links))) == ()


@given(fabrics(), st.data())
@settings(max_examples=examples(40))
def test_a_missing_link_is_reported_once_with_both_ends(built: Built, draw: st.DataObject) -> None:
    _, topology = built
    found = existing_topology(topology)
    index = edited(found, draw)
    (finding,) = compare(topology, with_links(found, None, at=(index,)))
    assert named(str(finding), found) == places(found.links[index])
    assert "is not cabled to" in finding.problem


@given(fabrics(), st.data())
@settings(max_examples=examples(60))
def test_two_swapped_links_are_reported_as_one_swap_with_all_four_ends(built: Built, draw: st.DataObject) -> None:
    _, topology = built
    found = existing_topology(topology)
    one, other = edited(found, draw), edited(found, draw)
    assume(one != other)
    first, second = found.links[one], found.links[other]
    crossed = ExistingLink(first.a, second.z), ExistingLink(second.a, first.z)
    (finding,) = compare(topology, with_links(found, *crossed, at=(one, other)))
    assert named(str(finding), found) == places(first) | places(second)
    assert "are swapped" in finding.problem


@given(fabrics(), st.data())
@settings(max_examples=examples(40))
def test_a_cable_in_a_free_port_is_reported_once_with_both_ports(built: Built, draw: st.DataObject) -> None:
    _, topology = built
    found = existing_topology(topology)
    index = edited(found, draw)
    link = found.links[index]
    moved = ExistingLink(link.a, replace(link.z, name="free"))
    wrong = with_links(found, moved, at=(index,))
    (finding,) = compare(topology, wrong)
    assert finding.where == place(link.a)
    assert finding.problem == f"is cabled to {link.z.node} free, not to {place(link.z)}"


@given(fabrics(), st.data())
@settings(max_examples=examples(40))
def test_cables_rotated_over_three_ports_are_reported_one_by_one(built: Built, draw: st.DataObject) -> None:
    """Three cables, each in the port of the next one: no two of them are a swap."""
    _, topology = built
    found = existing_topology(topology)
    assume(len(found.links) >= 3)
    at = tuple(draw.draw(st.lists(st.integers(0, len(found.links) - 1), min_size=3, max_size=3, unique=True)))
    links = [found.links[index] for index in at]
    moved = [ExistingLink(links[k].a, links[(k + 1) % 3].z) for k in range(3)]
    findings = compare(topology, with_links(found, *moved, at=at))
    assert sorted(finding.where for finding in findings) == sorted(place(link.a) for link in links)
    assert set().union(*(named(str(finding), found) for finding in findings)) == set().union(*map(places, links))


@given(fabrics(), st.data(), st.sampled_from(["a", "z", "both"]))
@settings(max_examples=examples(40))
def test_a_different_speed_is_reported_for_its_ports(built: Built, draw: st.DataObject, side: str) -> None:
    _, topology = built
    found = existing_topology(topology)
    index = edited(found, draw)
    link = found.links[index]
    slow = ExistingLink(
        replace(link.a, rate_gbps=7) if side != "z" else link.a, replace(link.z, rate_gbps=7) if side != "a" else link.z
    )
    (finding,) = compare(topology, with_links(found, slow, at=(index,)))
    ends = {"a": {place(link.a)}, "z": {place(link.z)}, "both": places(link)}[side]
    assert named(str(finding), found) == ends
    assert finding.problem == f"7 Gb/s there, {link.a.rate_gbps} Gb/s in the intent"


@given(fabrics(), st.data())
@settings(max_examples=examples(40))
def test_a_renamed_node_is_identified_by_its_cables(built: Built, draw: st.DataObject) -> None:
    _, topology = built
    found = existing_topology(topology, "the lab")
    wired = sorted({port.node for port in found.all_ports()})
    name = draw.draw(st.sampled_from(wired))

    def renamed(port: ExistingPort) -> ExistingPort:
        return replace(port, node="other") if port.node == name else port

    nodes = tuple(replace(node, name="other") if node.name == name else node for node in found.nodes)
    links = tuple(ExistingLink(renamed(link.a), renamed(link.z)) for link in found.links)
    (finding,) = compare(topology, replace(found, nodes=nodes, links=links))
    assert (finding.where, finding.problem) == (name, "is named other in the lab")


@given(fabrics(), st.data())
@settings(max_examples=examples(40))
def test_a_missing_switch_with_its_cables_is_reported_once(built: Built, draw: st.DataObject) -> None:
    _, topology = built
    found = existing_topology(topology, "the lab")
    name = draw.draw(st.sampled_from([node.name for node in topology.switches()]))
    nodes = tuple(node for node in found.nodes if node.name != name)
    links = tuple(link for link in found.links if name not in (link.a.node, link.z.node))
    (finding,) = compare(topology, replace(found, nodes=nodes, links=links))
    assert (finding.where, finding.problem) == (name, "is not in the lab")


@given(fabrics())
@settings(max_examples=examples(40))
def test_a_source_without_hosts_has_no_difference_and_hosts_are_reported_as_not_compared(built: Built) -> None:
    _, topology = built
    found = existing_topology(topology)
    hosts = {node.name for node in topology.hosts()}
    bare = replace(
        found,
        nodes=tuple(node for node in found.nodes if node.name not in hosts),
        links=tuple(link for link in found.links if not {link.a.node, link.z.node} & hosts),
    )
    assert compare(topology, bare) == ()
    assert match_topology(topology, bare).not_compared == ("hosts",)


@given(fabrics())
@settings(max_examples=examples(40))
def test_a_source_with_names_and_cables_only_has_no_difference(built: Built) -> None:
    _, topology = built
    found = existing_topology(topology)
    links = tuple(
        ExistingLink(*(ExistingPort(node=p.node, name=p.name) for p in (link.a, link.z))) for link in found.links
    )
    nodes = tuple(replace(node, role=None, model=None, platform=None, asn=None, loopbacks=()) for node in found.nodes)
    assert compare(topology, replace(found, nodes=nodes, links=links)) == ()


@given(fabrics())
@settings(max_examples=examples(40))
def test_nics_with_other_names_are_identified_by_their_switch_ports(built: Built) -> None:
    """NIC names of the operating system."""
    _, topology = built
    found = existing_topology(topology)
    hosts = [node.name for node in topology.hosts()]

    def nic(port: ExistingPort) -> ExistingPort:
        return replace(port, name=f"ens-{port.name}") if port.node in hosts else port

    links = tuple(ExistingLink(nic(link.a), nic(link.z)) for link in found.links)
    other = replace(found, links=links)
    assert compare(topology, other) == ()
    (words,) = match_topology(topology, other).not_compared
    assert words.startswith("NIC at the end of each cable, on pod1-seg1-host1")


def test_a_moved_cable_of_a_host_with_other_nic_names_is_reported() -> None:
    topology = wire(fabric())
    found = existing_topology(topology)
    hosts = {node.name for node in topology.hosts()}
    one, other = (
        next(link for link in found.links if link.a.node == host) for host in ("pod1-seg1-host1", "pod1-seg1-host2")
    )
    links = []
    for link in found.links:
        z = {place(one.z): other.z, place(other.z): one.z}.get(place(link.z), link.z)
        links.append(ExistingLink(replace(link.a, name=f"ens-{link.a.name}") if link.a.node in hosts else link.a, z))
    findings = compare(topology, replace(found, links=tuple(links)))
    assert [(finding.where, finding.problem) for finding in findings] == [
        (
            "pod1-seg1-leaf1 ethernet-1/3/1",
            "is cabled to pod1-seg1-host1 ens-rail1-p0, not to pod1-seg1-host2 rail1-p0",
        ),
        (
            "pod1-seg1-leaf1 ethernet-1/1/1",
            "is cabled to pod1-seg1-host2 ens-rail1-p0, not to pod1-seg1-host1 rail1-p0",
        ),
    ]


@pytest.fixture(scope="module")
def cluster() -> Topology:
    return wire(load_intent(FABRICS / "cluster.yml"))


@pytest.mark.parametrize("name", [path.name for path in sorted(FABRICS.glob("*.yml")) if "gpu" not in path.name])
def test_every_design_has_no_difference_from_itself(name: str) -> None:
    topology = wire(load_intent(FABRICS / name))
    found = existing_topology(topology)
    assert (compare(topology, found), match_topology(topology, found).not_compared) == ((), ())


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (Net.FRONTEND, ("frontend switches",)),
        (Net.STORAGE, ("storage servers", "storage switches")),
        (Net.MANAGEMENT, ("management switches",)),
    ],
)
def test_a_source_without_a_network_has_no_difference_and_the_network_is_reported(
    cluster: Topology, net: Net, words: tuple[str, ...]
) -> None:
    found = existing_topology(cluster)
    gone = {node.name for node in cluster.nodes if node.net is net and node.role is not Role.HOST}
    bare = replace(
        found,
        nodes=tuple(node for node in found.nodes if node.name not in gone),
        links=tuple(link for link in found.links if not {link.a.node, link.z.node} & gone),
    )
    assert (compare(cluster, bare), match_topology(cluster, bare).not_compared) == ((), words)


def test_a_host_can_have_intended_port_names_on_one_network_and_others_on_another(cluster: Topology) -> None:
    """`bmc` has the same name everywhere, NICs do not."""
    found = existing_topology(cluster)

    def nic(port: ExistingPort) -> ExistingPort:
        return replace(port, name=f"ens-{port.name}") if port.name.startswith("rail") else port

    links = tuple(ExistingLink(nic(link.a), link.z) for link in found.links)
    other = replace(found, links=links)
    assert compare(cluster, other) == ()
    (words,) = match_topology(cluster, other).not_compared
    assert words == "NIC at the end of each cable, on pod1-seg1-host1 and 5 more: names differ from the intent"


def test_a_wrong_port_name_among_intended_ones_is_a_wrong_port(cluster: Topology) -> None:
    found = existing_topology(cluster)
    index = next(k for k, link in enumerate(found.links) if place(link.a) == "pod1-seg1-host1 rail1-p0")
    link = found.links[index]
    wrong = ExistingLink(replace(link.a, name="rail1-p9"), link.z)
    (finding,) = compare(cluster, with_links(found, wrong, at=(index,)))
    assert (finding.where, finding.problem) == (
        "pod1-seg1-leaf1 ethernet-1/1/1",
        "is cabled to pod1-seg1-host1 rail1-p9, not to pod1-seg1-host1 rail1-p0",
    )
