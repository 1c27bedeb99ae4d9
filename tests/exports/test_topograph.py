"""Topograph: the model and the graph have each host of the plan, with its segment, pod and fabric, closest first.

Topograph's own reader of models (e2b6250) gave the layers of `graph.json` for six designs; it needs Go and is not run
here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from tests.documents.designs import FABRICS, NAMES
from tests.exports.slurm_rules import expand, read_conf

from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design

TOPOGRAPH, SLURM = export_named("topograph"), export_named("slurm")


def layers_of_model(text: str) -> dict[str, list[str]]:
    """The switches above each host of a model, closest first, by the rules of Topograph's reader.

    A switch has one parent, a block names a switch that is stated, a host is in one block, and a node text has one
    bracket at most.
    """
    model: dict[str, Any] = yaml.safe_load(text)
    parents: dict[str, str] = {}
    for name, switch in model["switches"].items():
        assert switch is not None
        for child in switch.get("switches", ()):
            assert child in model["switches"]
            assert parents.setdefault(child, name) == name
    layers: dict[str, list[str]] = {}
    for block in model["blocks"]:
        assert block["switch"] in model["switches"]
        above = [block["switch"]]
        while above[-1] in parents:
            above.append(parents[above[-1]])
        for nodes in block["nodes"]:
            assert nodes.count("[") <= 1
            for host in expand(nodes):
                assert host not in layers
                layers[host] = above
    return layers


def read_files(fabric: Design, names: HostNames | None = None) -> dict[str, list[str]]:
    """The layers of each host, the same in both files."""
    files = dict(TOPOGRAPH.documents(fabric, names or HostNames()))
    instances = json.loads(files["topograph/graph.json"])["instances"]
    layers = {instance["id"]: instance["network_layers"] for instance in instances}
    assert len(layers) == len(instances)
    assert layers_of_model(files["topograph/model.yaml"]) == layers
    return layers


@pytest.mark.parametrize("name", NAMES)
def test_the_layers_of_a_host_are_the_switches_above_it_in_the_tree_of_slurm(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    tree = read_conf(dict(SLURM.documents(fabric, HostNames()))["slurm/tree/topology.conf"])
    parents = {child: switch for switch, children in tree.children.items() for child in children}
    layers = read_files(fabric)
    assert {*layers} == {host.name for host in fabric.topology.hosts()}
    for segment, hosts in tree.nodes.items():
        above = [segment]
        while above[-1] in parents:
            above.append(parents[above[-1]])
        assert all(layers[host] == above for host in hosts)


def test_hosts_of_other_names_are_texts_with_one_bracket_each() -> None:
    fabric = design(FABRICS / "pod64.yml")
    given_names = ("login", "gpu08", "gpu09", "gpu10", "a1b", "x-7", "x-9", "y1")
    names = HostNames({host.name: name for host, name in zip(fabric.topology.hosts(), given_names, strict=True)})
    assert [*read_files(fabric, names)] == [*given_names]
    blocks = yaml.safe_load(dict(TOPOGRAPH.documents(fabric, names))["topograph/model.yaml"])["blocks"]
    assert [block["nodes"] for block in blocks] == [["login", "gpu[08-10]"], ["a1b", "x-[7,9]", "y1"]]
