"""What NVIDIA's operators want: objects by the rules of their definitions, with the hosts, rails and planes of a plan.

Rules: NIC Configuration Operator 8bfbeb3 (NicConfigurationTemplate v1alpha1), NVIDIA IPAM 3ce4a34 (CIDRPool v1alpha1
and its validation), Network Operator b06827e (SpectrumXRailPoolConfig v1alpha2). No cluster runs here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import ip_address, ip_network
from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from tests.documents.designs import FABRICS, NAMES, grown
from tests.laws import examples

from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design
from railfab.hosts.catalogue import nic_of
from railfab.intent import FabricIntent
from railfab.topology import wire

NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
VERSIONS = {
    "NicConfigurationTemplate": "configuration.net.nvidia.com/v1alpha1",
    "CIDRPool": "nv-ipam.nvidia.com/v1alpha1",
    "SpectrumXRailPoolConfig": "spectrumx.nvidia.com/v1alpha2",
}


def objects(fabric: Design, names: HostNames | None = None) -> dict[str, list[dict[str, Any]]]:
    """The objects of the manifest by kind, none without one; each keeps the rules of its definition."""
    files = dict(export_named("kubernetes").documents(fabric, names or HostNames()))
    kinds: dict[str, list[dict[str, Any]]] = {kind: [] for kind in VERSIONS}
    for each in yaml.safe_load_all(files.get("kubernetes/nvidia.yaml", "")):
        assert each["apiVersion"] == VERSIONS[each["kind"]]
        assert NAME.fullmatch(each["metadata"]["name"])
        kinds[each["kind"]].append(each)
        {"NicConfigurationTemplate": template, "CIDRPool": pool, "SpectrumXRailPoolConfig": rails}[each["kind"]](
            each["spec"]
        )
    return kinds


def template(spec: dict[str, Any]) -> None:
    assert {*spec} <= {"nodeSelector", "nicSelector", "resetToDefault", "template"}
    assert isinstance(spec["nicSelector"]["nicType"], str)
    settings_ = spec["template"]
    assert isinstance(settings_["numVfs"], int)
    assert settings_["linkType"] in ("Ethernet", "Infiniband")
    roce = settings_["roceOptimized"]
    assert roce["enabled"] is True
    assert roce["roceMode"] in (1, 2)
    qos = roce["qos"]
    assert re.fullmatch(r"([01],){7}[01]", qos["pfc"])
    assert {*qos} <= {"trust", "pfc", "tos", "cableLen", "ecn", "pauseFrames"}
    assert 0 <= qos["ecn"]["priority"] <= 7


def pool(spec: dict[str, Any]) -> None:
    cidr, length = ip_network(spec["cidr"]), spec["perNodeNetworkPrefix"]
    assert cidr.prefixlen <= length <= cidr.max_prefixlen
    nodes, prefixes = set(), set()
    for allocation in spec["staticAllocations"]:
        prefix = ip_network(allocation["prefix"])
        assert prefix.prefixlen == length
        assert prefix.subnet_of(cidr)
        assert ip_address(allocation["gateway"]) in prefix
        nodes.add(allocation["nodeName"])
        prefixes.add(prefix)
    assert len(nodes) == len(prefixes) == len(spec["staticAllocations"])
    assert spec["gatewayIndex"] < 2 ** (cidr.max_prefixlen - length)
    assert all({*route} == {"dst"} and ip_network(route["dst"]) for route in spec["routes"])
    assert all({*term} == {"matchExpressions"} for term in spec["nodeSelector"]["nodeSelectorTerms"])


def rails(spec: dict[str, Any]) -> None:
    assert spec["numVfs"] >= 1
    assert spec["railTopology"]
    for rail in spec["railTopology"]:
        assert {*rail} == {"name", "mtu", "nicSelector", "cidrPoolRef"}
        assert rail["nicSelector"]["pfNames"]


@pytest.mark.parametrize("name", NAMES)
def test_each_host_has_its_addresses_and_gateways_on_each_port(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    kinds = objects(fabric)
    nic, attach = nic_of(fabric.intent), fabric.intent.hosts.attach
    if nic is None or nic.family != "mlx5" or attach != "routed":
        assert not any(kinds.values())
        return
    read = {
        (allocation["nodeName"], each["metadata"]["name"].removeprefix(f"{fabric.topology.fabric}-")): allocation
        for each in kinds["CIDRPool"]
        for allocation in each["spec"]["staticAllocations"]
    }
    planned = {(link.a.node, link.a.name): link for link in fabric.topology.links if link.a.rail is not None}
    assert read.keys() == planned.keys()
    for place, link in planned.items():
        assert link.a.address is not None
        assert (read[place]["prefix"], read[place]["gateway"]) == (
            str(link.a.address.network),
            str(link.z.address.ip),
        )


@pytest.mark.parametrize("name", ["pod64", "dual-plane", "shared-nic"])
def test_a_rail_has_the_pool_and_the_port_of_one_rail_and_plane(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    kinds = objects(fabric)
    (config,) = kinds["SpectrumXRailPoolConfig"]
    pools = {each["metadata"]["name"]: each["spec"] for each in kinds["CIDRPool"]}
    for rail in config["spec"]["railTopology"]:
        (port,) = rail["nicSelector"]["pfNames"]
        links = [link for link in fabric.topology.links if link.a.name == port]
        assert len({(link.a.rail, fabric.topology.node(link.z.node).plane) for link in links}) == 1
        allocated = {allocation["prefix"] for allocation in pools[rail["cidrPoolRef"]]["staticAllocations"]}
        assert allocated == {str(link.a.address.network) for link in links}
        routes = [ip_network(route["dst"]) for route in pools[rail["cidrPoolRef"]]["routes"]]
        assert all(any(link.a.address.network.subnet_of(route) for route in routes) for link in links)
    assert len(pools) == len(config["spec"]["railTopology"]) == fabric.intent.hosts.nics * fabric.intent.hosts.nic_ports


def test_routes_of_two_ports_never_overlap_so_that_a_pod_has_one_for_each_destination() -> None:
    pools = objects(design(FABRICS / "pod64.yml"))["CIDRPool"]
    routes = [ip_network(route["dst"]) for each in pools for route in each["spec"]["routes"]]
    ordered = sorted(routes)
    assert not any(a.overlaps(b) for a, b in pairwise(ordered))


def test_the_nics_have_the_class_of_the_switches() -> None:
    fabric = design(FABRICS / "pod64.yml")
    (each,) = objects(fabric)["NicConfigurationTemplate"]
    qos = each["spec"]["template"]["roceOptimized"]["qos"]
    assert each["spec"]["nicSelector"]["nicType"] == "101d"
    assert (qos["pfc"], qos["tos"], qos["cableLen"]) == ("0,0,0,1,0,0,0,0", 26 * 4, 5)
    profile = fabric.intent.profile.model_copy(update={"lossless": None})
    lossy = replace(fabric, intent=fabric.intent.model_copy(update={"profile": profile}))
    assert objects(lossy)["NicConfigurationTemplate"] == []
    assert objects(lossy)["CIDRPool"] == objects(fabric)["CIDRPool"]


def test_a_nic_of_another_vendor_has_no_manifest() -> None:
    fabric = design(FABRICS / "pod64.yml")
    hosts = fabric.intent.hosts.model_copy(update={"nic": "pollara-400"})
    assert not any(objects(replace(fabric, intent=fabric.intent.model_copy(update={"hosts": hosts}))).values())


def test_nodes_have_the_names_of_the_cluster() -> None:
    fabric = design(FABRICS / "pod64.yml")
    pools = objects(fabric, HostNames({"pod1-seg1-host1": "007"}))["CIDRPool"]
    assert {each["spec"]["staticAllocations"][0]["nodeName"] for each in pools} == {"007"}


@given(grown())
@settings(max_examples=examples(10))
def test_a_plan_that_grew_keeps_every_address_and_pool(intents: tuple[FabricIntent, FabricIntent]) -> None:
    base = design(FABRICS / "pod64.yml")
    before, after = (objects(replace(base, intent=intent, topology=wire(intent))) for intent in intents)
    for old, new in zip(before["CIDRPool"], after["CIDRPool"], strict=True):
        assert old["metadata"] == new["metadata"]
        for key in ("staticAllocations", "routes"):
            assert [entry for entry in new["spec"][key] if entry in old["spec"][key]] == old["spec"][key]
        rest = ("cidr", "perNodeNetworkPrefix", "gatewayIndex", "nodeSelector")
        assert [old["spec"][key] for key in rest] == [new["spec"][key] for key in rest]
    assert before["SpectrumXRailPoolConfig"] == after["SpectrumXRailPoolConfig"]
