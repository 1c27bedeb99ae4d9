"""Kubernetes: the labels, Kueue's levels and Volcano's HyperNodes have the segments and pods of the plan.

Objects keep the rules of their definitions: Kueue v1beta2 (ff69552), Volcano HyperNode v1alpha1 (ed72c7c). No cluster
runs here.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import yaml
from tests.documents.designs import FABRICS, NAMES
from tests.exports.slurm_rules import read_conf

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design

KUBERNETES, SLURM = export_named("kubernetes"), export_named("slurm")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
NODE_LABEL = re.compile(rf"({SUBDOMAIN.pattern}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])")


def labels_of(script: str) -> dict[str, dict[str, str]]:
    """The labels that a script gives each node."""
    labels: dict[str, dict[str, str]] = {}
    for line in script.splitlines()[3:]:
        command, verb, overwrite, kind, *words = shlex.split(line)
        assert (command, verb, overwrite, kind) == ("kubectl", "label", "--overwrite", "nodes")
        given = dict(word.split("=") for word in words if "=" in word)
        assert all(NODE_LABEL.fullmatch(key) and LABEL_VALUE.fullmatch(value) for key, value in given.items())
        for node in (word for word in words if "=" not in word):
            assert SUBDOMAIN.fullmatch(node)
            assert labels.setdefault(node, given) is given
    return labels


def hyper_nodes(text: str) -> dict[str, tuple[int, str, list[str]]]:
    """The tier, kind and names of the members of each HyperNode."""
    nodes = {}
    for each in yaml.safe_load_all(text):
        assert (each["apiVersion"], each["kind"]) == ("topology.volcano.sh/v1alpha1", "HyperNode")
        spec: dict[str, Any] = each["spec"]
        assert {tuple(member) for member in spec["members"]} == {("type", "selector")}
        (kind,) = {member["type"] for member in spec["members"]}
        assert kind in ("Node", "HyperNode")
        members = [member["selector"]["exactMatch"]["name"] for member in spec["members"]]
        assert all(SUBDOMAIN.fullmatch(name) for name in (each["metadata"]["name"], *members))
        nodes[each["metadata"]["name"]] = spec["tier"], kind, members
    return nodes


def layers(fabric: Design) -> dict[str, list[str]]:
    """The switches of Slurm's tree above each host, nearest first."""
    tree = read_conf(dict(SLURM.documents(fabric, HostNames()))["slurm/tree/topology.conf"])
    parents = {child: switch for switch, children in tree.children.items() for child in children}
    above = {}
    for segment, hosts in tree.nodes.items():
        path = [segment]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        above |= dict.fromkeys(hosts, path)
    return above


@pytest.mark.parametrize("name", NAMES)
def test_tier_0_of_a_node_is_its_segment_and_each_further_tier_what_that_is_in(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    labels = labels_of(dict(KUBERNETES.documents(fabric, HostNames()))["kubernetes/label-nodes.sh"])
    common = {
        "railfab/fabric": fabric.topology.fabric,
        "railfab/rails": str(fabric.intent.hosts.nics),
        "railfab/planes": str(fabric.intent.backend.planes),
    }
    assert labels == {
        host: {f"fabric.topograph.run/tier-{tier}": switch for tier, switch in enumerate(path)} | common
        for host, path in layers(fabric).items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_kueue_has_the_tiers_of_the_labels_from_the_widest_and_hosts_last(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    files = dict(KUBERNETES.documents(fabric, HostNames()))
    topology, flavor = yaml.safe_load_all(files["kubernetes/kueue.yaml"])
    assert {topology["apiVersion"], flavor["apiVersion"]} == {"kueue.x-k8s.io/v1beta2"}
    levels = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    assert 1 <= len(levels) <= 16
    assert all(len(level) <= 316 and NODE_LABEL.fullmatch(level) for level in levels)
    labels = labels_of(files["kubernetes/label-nodes.sh"])
    tiers = sorted((key for key in next(iter(labels.values())) if "tier-" in key), reverse=True)
    assert levels == [*tiers, "kubernetes.io/hostname"]
    assert flavor["spec"]["topologyName"] == topology["metadata"]["name"]
    assert flavor["spec"]["nodeLabels"].items() <= next(iter(labels.values())).items()


@pytest.mark.parametrize("name", NAMES)
def test_a_hyper_node_of_tier_1_has_the_nodes_of_a_segment_and_those_above_have_hyper_nodes(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    nodes = hyper_nodes(dict(KUBERNETES.documents(fabric, HostNames()))["kubernetes/volcano.yaml"])
    parents = {member: name for name, (_, _, members) in nodes.items() for member in members}
    assert {kind for tier, kind, _ in nodes.values() if tier == 1} == {"Node"}
    assert {kind for tier, kind, _ in nodes.values() if tier > 1} <= {"HyperNode"}
    for host, path in layers(fabric).items():
        assert parents[host] == path[0]
        assert [nodes[switch][0] for switch in path] == [*range(1, len(path) + 1)]
        assert [parents[switch] for switch in path[:-1]] == path[1:]


def test_a_name_that_no_node_can_have_is_refused() -> None:
    fabric = design(FABRICS / "single-switch.yml")
    host = fabric.topology.hosts()[0].name
    with pytest.raises(RailfabError, match=r"^GPU_1: is no name of Kubernetes: small letters, .+ with --hosts\.$"):
        list(KUBERNETES.documents(fabric, HostNames({host: "GPU_1"})))
