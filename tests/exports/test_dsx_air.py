"""DSX Air: what is read back has the nodes, ports and cables of the plan. The rules are those of its documentation."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.commands import run
from tests.documents.designs import FABRICS, NAMES, grown
from tests.laws import examples

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design
from railfab.imports import SourceError, read_air
from railfab.imports.compare import compare, match_topology
from railfab.intent import FabricIntent
from railfab.topology import wire

AIR = export_named("dsx-air")
POD64 = FABRICS / "pod64-cumulus.yml"


def on_cumulus(fabric: Design) -> Design:
    """A design whose switches all run Cumulus Linux."""
    nodes = tuple(replace(node, platform="cumulus") if node.is_switch else node for node in fabric.topology.nodes)
    return replace(fabric, topology=replace(fabric.topology, nodes=nodes))


def exported(fabric: Design, names: HostNames | None = None) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """The document, and the port of the plan by host and interface."""
    files = dict(AIR.documents(fabric, names or HostNames()))
    rows = csv.DictReader(StringIO(files["dsx-air/interfaces.csv"]))
    return json.loads(files["dsx-air/topology.json"]), {(row["host"], row["interface"]): row["port"] for row in rows}


def written(fabric: Design, folder: Path) -> Path:
    path = folder / "topology.json"
    path.write_text(dict(AIR.documents(fabric, HostNames()))["dsx-air/topology.json"])
    return path


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_back_has_the_nodes_and_cables_of_the_plan(name: str, tmp_path: Path) -> None:
    fabric = on_cumulus(design(FABRICS / f"{name}.yml"))
    topology = read_air(written(fabric, tmp_path))
    assert compare(fabric.topology, topology) == ()
    assert match_topology(fabric.topology, topology).absent == frozenset()
    assert len(topology.links) == len(fabric.topology.links)


@pytest.mark.parametrize("name", NAMES)
def test_an_interface_of_a_host_is_a_port_of_the_plan_with_its_rail_and_switch(name: str) -> None:
    fabric = on_cumulus(design(FABRICS / f"{name}.yml"))
    document, ports = exported(fabric)
    content, topology = document["content"], fabric.topology
    assert {*content["nodes"]} == {node.name for node in topology.nodes}
    read = set()
    for ends in content["links"]:
        pair = [(end["node"], end["interface"]) for end in ends]
        read.add(frozenset((node, ports.get((node, name), name)) for node, name in pair))
    management = {"mgmt0": "eth0"}
    planned = {
        frozenset(
            (port.node, port.name if port.cage or not topology.node(port.node).is_switch else management[port.name])
            for port in (link.a, link.z)
        )
        for link in topology.links
    }
    assert read == planned
    assert len(content["links"]) == len(planned)
    interfaces = [name for ends in content["links"] for name in (end["interface"] for end in ends)]
    assert all(re.fullmatch(r"eth\d+|[\w/.:-]+", name) for name in interfaces)
    assert all(re.fullmatch(r"eth[1-9]\d*", interface) for _, interface in ports)


def test_ports_of_switches_have_the_names_of_cumulus_and_nodes_what_air_asks_for() -> None:
    document, _ = exported(design(POD64))
    assert {"format", "title", "ztp", "content"} == {*document}
    content = document["content"]
    switches = {name for name, node in content["nodes"].items() if node["os"].startswith("cumulus-vx-")}
    assert switches == {node.name for node in design(POD64).topology.switches()}
    ends = [end for link in content["links"] for end in link]
    assert all(re.fullmatch(r"swp\d+(s\d)?", end["interface"]) for end in ends if end["node"] in switches)
    assert all({*node} == {"os", "cpu", "memory", "storage"} for node in content["nodes"].values())


def test_the_management_network_is_that_of_the_plan_or_stated() -> None:
    own, _ = exported(on_cumulus(design(FABRICS / "cluster.yml")))
    assert own["content"]["oob"] is False
    assert any(end["interface"] == "eth0" for link in own["content"]["links"] for end in link)
    without, _ = exported(design(POD64))
    assert {*without["content"]["oob"]["nodes"]} == {"oob-mgmt-server", "oob-mgmt-switch"}


def test_hosts_have_the_names_of_the_cluster() -> None:
    document, ports = exported(design(POD64), HostNames({"pod1-seg1-host1": "gpu01"}))
    assert "gpu01" in document["content"]["nodes"]
    assert "pod1-seg1-host1" not in json.dumps(document)
    assert ports["gpu01", "eth1"] == "rail1-p0"


@given(grown())
@settings(max_examples=examples(10))
def test_a_plan_that_grew_has_every_node_and_link_as_before(intents: tuple[FabricIntent, FabricIntent]) -> None:
    base = design(POD64)
    before, after = (exported(on_cumulus(replace(base, intent=intent, topology=wire(intent)))) for intent in intents)
    assert before[0]["content"]["nodes"].items() <= after[0]["content"]["nodes"].items()
    links = [json.dumps(link) for link in after[0]["content"]["links"]]
    assert {json.dumps(link) for link in before[0]["content"]["links"]} <= {*links}
    assert before[1].items() <= after[1].items()


def test_switches_that_air_cannot_run_are_refused() -> None:
    with pytest.raises(RailfabError, match=r"pod64.yml: pod1-seg1-leaf1 and 7 more do not run .+cumulus\.$"):
        list(AIR.documents(design(FABRICS / "pod64.yml"), HostNames()))


def test_two_swapped_cables_are_one_finding_of_compare(tmp_path: Path) -> None:
    path = written(design(POD64), tmp_path)
    document = json.loads(path.read_text())
    links = document["content"]["links"]
    uplinks = [number for number, link in enumerate(links) if "spine" in link[1]["node"]]
    a, z = uplinks[0], uplinks[1]
    links[a][1], links[z][1] = links[z][1], links[a][1]
    links.append([{"node": "pod1-seg1-host1", "interface": "eth99"}, "outbound"])
    path.write_text(json.dumps(document))
    done = run("compare", POD64, "--with", path)
    assert done.returncode == 1
    assert done.stdout.count("are swapped: ") == 1
    path.write_text(json.dumps(document["content"]))
    assert run("compare", POD64, "--with", path).stdout == done.stdout


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"nodes": []}, "topology.json: nodes: is no mapping of nodes. Name a topology that DSX Air has exported."),
        ({"links": {}}, "topology.json: links: is no list. Name a topology that DSX Air has exported."),
        ({"links": [7]}, "links[0]: is no pair of ports of nodes. Give node and interface of both."),
        (
            {"links": [[{"node": "a", "interface": "eth1"}, {"node": "b", "interface": "eth1"}]]},
            "links[0]: is no pair of ports of nodes. Give node and interface of both.",
        ),
        (
            {"links": [[{"node": "a", "interface": "eth1"}, {"node": "a", "interface": "eth1"}]]},
            "links[0]: a eth1 is also an end of links[0]. Give each link interfaces of its own.",
        ),
    ],
)
def test_a_file_that_is_malformed_is_one_line(change: dict[str, Any], expected: str, tmp_path: Path) -> None:
    path = tmp_path / "topology.json"
    path.write_text(json.dumps({"format": "JSON", "content": {"nodes": {"a": {}}, "links": [], **change}}))
    done = run("compare", POD64, "--with", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{expected}\n")
    with pytest.raises(SourceError):
        read_air(path)


def test_a_text_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topology.json"
    path.write_text("{")
    with pytest.raises(SourceError, match=r"topology.json: is not JSON \(.+Name a topology that DSX Air"):
        read_air(path)
