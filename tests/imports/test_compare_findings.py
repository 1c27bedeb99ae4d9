"""Text of each finding of `compare`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address, ip_interface
from pathlib import Path
from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.findings import Finding, Severity
from railfab.imports import ExistingLink, ExistingNode, ExistingPort, ExistingTopology, existing_topology
from railfab.imports.compare import LISTED, compare, differences, match_topology
from railfab.intent import load_intent
from railfab.topology import Role, Topology, wire

FABRICS = Path(__file__).resolve().parents[2] / "inventory" / "fabrics"
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@pytest.fixture(scope="module")
def topology() -> Topology:
    return wire(fabric(profile__underlay="numbered"))


@pytest.fixture
def found(topology: Topology) -> ExistingTopology:
    return existing_topology(topology, "lab.clab.yml")


def with_node(found: ExistingTopology, name: str, **changes: Any) -> ExistingTopology:
    nodes = tuple(replace(node, **changes) if node.name == name else node for node in found.nodes)
    return replace(found, nodes=nodes)


def under_another_name(found: ExistingTopology, name: str, cables: int) -> ExistingTopology:
    """The node is renamed, and only its first few cables exist."""
    links, kept = [], 0
    for link in found.links:
        ends = tuple(replace(end, node="other") if end.node == name else end for end in (link.a, link.z))
        kept += "other" in (ends[0].node, ends[1].node)
        if name not in (link.a.node, link.z.node) or kept <= cables:
            links.append(ExistingLink(*ends))
    nodes = tuple(replace(node, name="other") if node.name == name else node for node in found.nodes)
    return replace(found, nodes=nodes, links=tuple(links))


def test_a_renamed_node_is_identified_if_half_of_its_cables_exist(topology: Topology, found: ExistingTopology) -> None:
    cables = sum(LEAF in (link.a.node, link.z.node) for link in found.links)
    assert cables % 2 == 0

    def about_the_leaf(kept: int) -> list[str]:
        findings = compare(topology, under_another_name(found, LEAF, kept))
        return [finding.problem for finding in findings if finding.where == LEAF]

    assert about_the_leaf(cables // 2)[0] == "is named other in lab.clab.yml"
    assert about_the_leaf(cables // 2 - 1)[0] == "is not in lab.clab.yml"


def with_port(found: ExistingTopology, node: str, name: str, **changes: Any) -> ExistingTopology:
    def changed(port: ExistingPort) -> ExistingPort:
        return replace(port, **changes) if (port.node, port.name) == (node, name) else port

    return replace(found, links=tuple(ExistingLink(changed(link.a), changed(link.z)) for link in found.links))


def with_link(found: ExistingTopology, a: tuple[str, str], z: tuple[str, str]) -> ExistingTopology:
    ends = (ExistingPort(node=node, name=name) for node, name in (a, z))
    return replace(found, links=(*found.links, ExistingLink(*ends)))


CASES: dict[str, tuple[Callable[[ExistingTopology], ExistingTopology], str]] = {
    "role": (
        lambda found: with_node(found, LEAF, role=Role.SPINE),
        "pod1-seg1-leaf1: is a spine in lab.clab.yml, and a leaf in the intent. Correct it there, or change the "
        "intent.",
    ),
    "model": (
        lambda found: with_node(found, LEAF, model="7220 IXR-D3L"),
        "pod1-seg1-leaf1: is a 7220 IXR-D3L in lab.clab.yml, and a 7220-ixr-d5 in the intent. Correct it there, "
        "or change the intent.",
    ),
    "platform": (
        lambda found: with_node(found, LEAF, platform="eos"),
        "pod1-seg1-leaf1: runs eos in lab.clab.yml, and srlinux in the intent. Correct it there, or change the intent.",
    ),
    "as number": (
        lambda found: with_node(found, LEAF, asn=65001),
        "pod1-seg1-leaf1: has AS 65001, not 4200001001. Correct it there.",
    ),
    "loopback": (
        lambda found: with_node(found, LEAF, loopbacks=(ip_address("10.0.0.1"),)),
        "pod1-seg1-leaf1: has loopback 10.0.0.1, not 10.255.1.1. Correct it there.",
    ),
    "node too many": (
        lambda found: replace(found, nodes=(*found.nodes, ExistingNode(name="probe"))),
        "probe: is in lab.clab.yml and not in the intent. Remove it there, or add it to the intent.",
    ),
    "link too many": (
        lambda found: with_link(found, (LEAF, "ethernet-1/10"), (SPINE, "ethernet-1/31")),
        "pod1-seg1-leaf1 ethernet-1/10: is cabled to pod1-spine1 ethernet-1/31, but the intent has no such "
        "link. Remove it, or add it to the intent.",
    ),
    "a second cable in a port": (
        lambda found: with_link(found, (LEAF, "ethernet-1/32"), (SPINE, "ethernet-1/31")),
        "pod1-seg1-leaf1 ethernet-1/32: is also cabled to pod1-spine1 ethernet-1/31, but the intent has no such "
        "link. Remove it, or add it to the intent.",
    ),
    "speed": (
        lambda found: with_port(found, LEAF, "ethernet-1/32", rate_gbps=200),
        "pod1-seg1-leaf1 ethernet-1/32: 200 Gb/s there, 400 Gb/s in the intent. Correct it there, or change the "
        "intent.",
    ),
    "a port too slow": (
        lambda found: with_port(found, LEAF, "ethernet-1/32", rate_gbps=None, most_gbps=100),
        "pod1-seg1-leaf1 ethernet-1/32: at most 100 Gb/s there, 400 Gb/s in the intent. Correct it there, or "
        "change the intent.",
    ),
    "address": (
        lambda found: with_port(found, SPINE, "ethernet-1/1", addresses=(ip_interface("10.9.9.9/31"),)),
        "pod1-spine1 ethernet-1/1: has address 10.9.9.9/31, not 100.64.0.0/31. Correct it there.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_difference_is_reported_once_with_this_text(
    case: str, topology: Topology, found: ExistingTopology
) -> None:
    edit, said = CASES[case]
    assert [str(finding) for finding in compare(topology, edit(found))] == [said]


def test_unexpected_objects_are_warnings_and_missing_or_different_ones_errors(
    topology: Topology, found: ExistingTopology
) -> None:
    severities = {case: compare(topology, edit(found))[0].severity for case, (edit, _) in CASES.items()}
    warnings = {case for case, severity in severities.items() if severity is Severity.WARNING}
    assert warnings == {"node too many", "link too many", "a second cable in a port"}


def test_a_swap_is_reported_for_the_switch_with_both_cables(topology: Topology, found: ExistingTopology) -> None:
    """Spines 1 and 2 of one leaf; then one spine's ports to two leaves."""
    one, other = uplink(found, LEAF, "ethernet-1/32"), uplink(found, LEAF, "ethernet-1/31")
    assert str(swapped(topology, found, one, other)) == (
        "pod1-seg1-leaf1 ethernet-1/32 and pod1-seg1-leaf1 ethernet-1/31: are swapped: the first is cabled to "
        "pod1-spine1 ethernet-1/2, the other to pod1-spine1 ethernet-1/1. Swap them back."
    )
    far = uplink(found, "pod1-seg1-leaf2", "ethernet-1/32")
    assert str(swapped(topology, found, one, far)) == (
        "pod1-spine1 ethernet-1/5 and pod1-spine1 ethernet-1/1: are swapped: the first is cabled to "
        "pod1-seg1-leaf1 ethernet-1/32, the other to pod1-seg1-leaf2 ethernet-1/32. Swap them back."
    )


def uplink(found: ExistingTopology, node: str, name: str) -> ExistingLink:
    return next(link for link in found.links if (link.a.node, link.a.name) == (node, name))


def swapped(topology: Topology, found: ExistingTopology, one: ExistingLink, other: ExistingLink) -> Finding:
    crossed = {one: ExistingLink(one.a, other.z), other: ExistingLink(other.a, one.z)}
    (finding,) = compare(topology, replace(found, links=tuple(crossed.get(link, link) for link in found.links)))
    return finding


def test_a_cable_in_the_port_of_another_one_names_the_intended_port(
    topology: Topology, found: ExistingTopology
) -> None:
    one, other = uplink(found, LEAF, "ethernet-1/32"), uplink(found, LEAF, "ethernet-1/30")
    links = tuple(ExistingLink(one.a, other.z) if link == one else link for link in found.links if link != other)
    (finding,) = compare(topology, replace(found, links=links))
    assert str(finding) == (
        "pod1-seg1-leaf1 ethernet-1/32: is cabled to pod1-spine1 ethernet-1/3, not to pod1-spine1 ethernet-1/1, "
        "where pod1-seg1-leaf1 ethernet-1/30 belongs. Move the cable."
    )


def test_an_unregistered_as_number_is_reported_if_the_source_registers_any(
    topology: Topology, found: ExistingTopology
) -> None:
    unknown = with_node(found, LEAF, asn=None)
    assert compare(topology, unknown) == ()
    registered = replace(unknown, asns=frozenset(node.asn for node in topology.nodes if node.asn) - {4200001001})
    (finding,) = compare(topology, registered)
    assert str(finding) == ("pod1-seg1-leaf1: its AS 4200001001 is not registered in lab.clab.yml. Register it there.")


def test_link_local_addresses_are_ignored() -> None:
    topology = wire(fabric())
    found = with_port(existing_topology(topology), LEAF, "ethernet-1/32", addresses=(ip_interface("fe80::1/64"),))
    assert compare(topology, found) == ()
    (finding,) = compare(topology, with_port(found, LEAF, "ethernet-1/32", addresses=(ip_interface("10.1.1.1/31"),)))
    assert finding.problem == "has address 10.1.1.1/31, not none"


@pytest.mark.parametrize(
    ("spelled", "same"),
    [
        ("7220 IXR-D5", True),
        ("Nokia 7220 IXR-D5", True),
        ("7220-IXR-D5-AC-F2B", True),
        ("7220 IXR-D5T", False),
        ("7220 IXR-D", False),
    ],
)
def test_a_model_is_recognized_in_any_spelling(
    spelled: str, same: bool, topology: Topology, found: ExistingTopology
) -> None:
    assert (compare(topology, with_node(found, LEAF, model=spelled)) == ()) is same


def test_ports_can_be_identified_by_position(topology: Topology, found: ExistingTopology) -> None:
    ports = {(port.node, port.name): (port.cage, port.lane) for port, _, _ in topology.ports() if port.cage}

    def counted(port: ExistingPort) -> ExistingPort:
        position = ports.get((port.node, port.name))
        return port if position is None else replace(port, name=f"x{position}", position=position)

    links = tuple(ExistingLink(counted(link.a), counted(link.z)) for link in found.links)
    assert compare(topology, replace(found, links=links)) == ()


def test_of_many_findings_of_a_kind_some_are_listed_and_the_others_counted() -> None:
    topology = wire(fabric(backend__segments__hosts=8, backend__spines__count=8))
    found = existing_topology(topology, "lab.clab.yml")
    findings = compare(topology, replace(found, links=()))
    assert len(findings) == LISTED
    assert findings[0].problem == "is not cabled to pod1-seg1-leaf1 ethernet-1/1/1"
    cables = len(topology.links)
    assert str(findings[-1]) == (
        f"{place(topology, LISTED - 1)} and {cables - LISTED} more: are not cabled. Connect it, or remove it "
        "from the intent."
    )


def test_for_programs_every_finding_is_listed() -> None:
    topology = wire(fabric(backend__segments__hosts=8, backend__spines__count=8))
    found = replace(existing_topology(topology, "lab.clab.yml"), links=())
    findings = differences(topology, found, match_topology(topology, found), most=None)
    assert len(findings) == len(topology.links)
    assert {finding.problem.partition(" to ")[0] for finding in findings} == {"is not cabled"}


def place(topology: Topology, index: int) -> str:
    port = topology.links[index].a
    return f"{port.node} {port.name}"


def test_topologies_without_common_nodes_report_every_switch_and_every_unknown_node(topology: Topology) -> None:
    stranger = ExistingTopology(
        source="other.clab.yml", nodes=(ExistingNode(name="r1"), ExistingNode(name="r2")), links=()
    )
    findings = compare(topology, stranger)
    assert [finding.where for finding in findings] == [*(node.name for node in topology.switches()), "r1", "r2"]
    assert match_topology(topology, stranger).not_compared == ("hosts",)


def test_time_is_linear_in_links() -> None:
    """24 times the links: 576 times the time if any step looked at all links for each."""

    def seconds(name: str) -> float:
        topology = wire(load_intent(FABRICS / name))
        found = existing_topology(topology)
        found = replace(found, links=tuple(ExistingLink(link.z, link.a) for link in found.links[1:]))
        took = []
        for _ in range(2):
            began = time.process_time()
            assert len(compare(topology, found)) == 1
            took.append(time.process_time() - began)
        return min(took)

    assert seconds("gpu16384.yml") < 120 * seconds("gpu1024.yml")
