"""Topologies of simulators: nodes, links and rates are those of the backend of the plan, or one line says why not.

htsim of commit 40ccb05 ran flows on its files for the committed designs; it is no package, and not run here.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from tests.documents.designs import FABRICS, NAMES

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.exports.formats.ns3 import milliseconds
from railfab.fabric import Design, design
from railfab.topology import Net, Role
from railfab.topology.model import link_network

Ends = tuple[str, str, int]
"""The lower end of a link (host and rail, or switch), the upper end, and its rate [Gb/s]."""
FAT_TREES = (
    "dual-rail",
    "mixed-eos-spine",
    "multi-rail",
    "pod64",
    "pod64-800g",
    "pod64-bundle",
    "routed",
    "single-rail",
)
REFUSED = {
    "dual-plane": "the backend has 2 planes, and htsim's fat trees do not. Use railfab export ns3.",
    "rail-blocks": "the rail switches have no spines above them, and htsim's fat trees do not. Use railfab export ns3.",
    "multi-pod": "spines of a pod share super-spines, and htsim's fat trees do not. Use railfab export ns3.",
    "shared-nic": "switches have 16 ports down and 32 up, and htsim's fat trees do not. Use railfab export ns3.",
}


def files_of(name: str, fabric: Design) -> dict[str, str]:
    return dict(export_named(name).documents(fabric, HostNames()))


def links_of_plan(fabric: Design) -> Counter[Ends]:
    """The links of the backend."""
    nodes = fabric.topology.by_name
    return Counter(
        (link.a.node if link.a.rail is None else f"{link.a.node} {link.a.rail}", link.z.node, link.rate_gbps)
        for link in fabric.topology.links
        if link_network(nodes[link.a.node], nodes[link.z.node]) is Net.BACKEND
    )


def backend_switches(fabric: Design) -> list[str]:
    return [switch.name for switch in fabric.topology.switches() if switch.net is Net.BACKEND]


def named(text: str) -> dict[int, str]:
    """Host and rail of each node of a table."""
    return {int(row["node"]): f"{row['host']} {row['rail']}" for row in csv.DictReader(text.splitlines())}


@pytest.mark.parametrize("name", NAMES)
def test_ns3_has_the_nics_switches_and_links_of_the_backend(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    files = files_of("ns3", fabric)
    counts, switches, *lines = files["ns3/topology.txt"].splitlines()
    nodes = named(files["ns3/nodes.csv"]) | dict(zip(map(int, switches.split()), backend_switches(fabric), strict=True))
    assert [*map(int, counts.split())] == [len(nodes), len(switches.split()), len(lines)]
    assert sorted(nodes) == list(range(len(nodes)))
    links = [line.split() for line in lines]
    assert Counter(
        (nodes[int(lower)], nodes[int(upper)], int(rate.removesuffix("Gbps"))) for lower, upper, rate, _, _ in links
    ) == links_of_plan(fabric)
    assert {errors for *_, errors in links} == {"0"}


def test_the_delay_of_a_link_is_five_nanoseconds_a_metre() -> None:
    fabric = design(FABRICS / "pod64.yml")
    delays = {line.split()[3] for line in files_of("ns3", fabric)["ns3/topology.txt"].splitlines()[2:]}
    assert delays == {milliseconds(5 * link.cable_m) for link in fabric.topology.links}
    assert milliseconds(25) == "0.000025ms"
    assert milliseconds(500) == "0.0005ms"


@pytest.mark.parametrize("name", ["pod64", "multi-pod", "dual-plane", "rail-blocks"])
def test_simai_has_an_nvswitch_a_host_beside_them(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    files = files_of("simai", fabric)
    heading, switches, *lines = files["simai/topology.txt"].splitlines()
    hosts = [host.name for host in fabric.topology.hosts()]
    nodes, gpus, nv_switches, others, links, kind = heading.split()
    assert (int(gpus), int(nv_switches), int(others)) == (8, len(hosts), len(backend_switches(fabric)))
    assert (int(links), kind) == (len(lines), "H100")
    numbers = [*map(int, switches.split())]
    names = named(files["simai/nodes.csv"])
    nics = dict(names)
    names |= dict(zip(numbers, (*hosts, *backend_switches(fabric)), strict=True))
    assert (len(names), sorted(names)) == (int(nodes), list(range(int(nodes))))
    ends = Counter(
        (names[int(lower)], names[int(upper)], int(rate.removesuffix("Gbps")))
        for lower, upper, rate, *_ in map(str.split, lines)
    )
    assert ends == links_of_plan(fabric) + Counter((nic, nic.split()[0], 3600) for nic in nics.values())


@pytest.mark.parametrize(
    ("name", "changes", "problem"),
    [
        ("shared-nic", {}, "hosts.nic_per: 4 GPUs share a NIC, and SimAI connects each GPU to its switch."),
        (
            "pod64",
            {"scale_up": False},
            "hosts.scale_up: the hosts have no scale-up network, and SimAI connects each GPU",
        ),
    ],
)
def test_simai_refuses_hosts_that_it_cannot_say(
    name: str, changes: dict[str, object], problem: str, tmp_path: Path
) -> None:
    content = yaml.safe_load((FABRICS / f"{name}.yml").read_text())
    content["hosts"] = content.get("hosts", {}) | changes
    path = tmp_path / "changed.yml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(RailfabError) as refused:
        files_of("simai", design(path))
    assert problem in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_the_dimensions_of_astra_sim_multiply_to_the_gpus(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    files = files_of("astra-sim", fabric)
    network = yaml.safe_load(files["astra-sim/network.yml"])
    sizes, rates = network["npus_count"], network["bandwidth"]
    assert sizes[0] * (sizes[1] if len(sizes) > 1 else 1) == len(fabric.topology.hosts()) * fabric.intent.hosts.gpus
    assert json.loads(files["astra-sim/logical.json"]) == {"logical-dims": [str(size) for size in sizes]}
    assert {len(values) for values in network.values()} == {len(sizes)}
    hosts = fabric.intent.hosts
    gbps = hosts.rate_gbps * hosts.nic_ports * hosts.nics / hosts.gpus
    assert rates[-1] * 2**30 * 8 / 1e9 == pytest.approx(gbps, rel=1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class FatTree:
    """The switches that htsim builds of a file, by its rules. rates: of a leaf and of a spine downwards [Gb/s]."""

    leaves: int
    spines: int
    supers: int
    rates: tuple[int, int]


def fat_tree(text: str) -> FatTree:
    """The tree of a `.topo` file. It must keep what htsim's reader demands of radix, bundle and oversubscription."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    head = {key: int(value) for key, value in lines[:3]}
    tiers: list[dict[str, int]] = []
    for key, value in lines[3:]:
        if key == "Tier":
            tiers.append({})
        else:
            tiers[-1][key] = int(value)
    assert len(tiers) == head["Tiers"]
    nodes, pod, rate = head["Nodes"], head["Podsize"], tiers[0]["Downlink_speed_Gbps"]
    assert {tier["Downlink_speed_Gbps"] for tier in tiers} == {rate}
    assert nodes % pod == 0 == pod % tiers[0]["Radix_Down"]
    pods, links = nodes // pod, nodes
    switches = [nodes // tiers[0]["Radix_Down"]]
    for lower, upper in pairwise(tiers):
        share = lower.get("Oversubscribed", 1)
        assert lower["Radix_Down"] // lower["Radix_Up"] == share
        assert links % share == 0
        links //= share
        switches.append(links // upper["Radix_Down"])
        assert switches[-1] * upper["Radix_Down"] == links
        assert lower["Radix_Up"] % upper.get("Bundle", 1) == 0 == upper["Radix_Down"] % upper.get("Bundle", 1)
    spines_of_pod = switches[1] // pods
    assert spines_of_pod * tiers[1].get("Bundle", 1) == tiers[0]["Radix_Up"]
    supers = switches[2] if len(switches) > 2 else 0
    if supers:
        assert supers % spines_of_pod == 0
        assert supers * tiers[2].get("Bundle", 1) // spines_of_pod == tiers[1]["Radix_Up"]
    down = rate * tiers[0]["Radix_Down"], rate * tiers[1]["Radix_Down"]
    return FatTree(leaves=switches[0], spines=switches[1], supers=supers, rates=down)


def switches_of(fabric: Design) -> Mapping[Role, int]:
    return Counter(switch.role for switch in fabric.topology.switches() if switch.net is Net.BACKEND)


def checked_tree(fabric: Design) -> FatTree:
    """The tree of a design: as many switches of a tier as in the plan, and each node at the rail switch of its port."""
    files = files_of("htsim", fabric)
    tree, counts = fat_tree(files["htsim/fat_tree.topo"]), switches_of(fabric)
    assert (tree.leaves, tree.spines, tree.supers) == (counts[Role.LEAF], counts[Role.SPINE], counts[Role.SUPER])
    ports = list(csv.DictReader(files["htsim/nodes.csv"].splitlines()))
    assert [int(port["node"]) for port in ports] == list(range(len(ports)))
    leaves = [switch.name for switch in fabric.topology.switches() if switch.role is Role.LEAF]
    peers = {(link.a.node, link.a.name): link.z.node for link in fabric.topology.links}
    of_leaf = len(ports) // len(leaves)
    assert all(peers[port["host"], port["port"]] == leaves[place // of_leaf] for place, port in enumerate(ports))
    return tree


@pytest.mark.parametrize("name", FAT_TREES)
def test_htsim_has_the_switches_of_each_tier_and_each_port_at_its_rail_switch(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    tree = checked_tree(fabric)
    for role, rate in zip((Role.LEAF, Role.SPINE), tree.rates, strict=True):
        switch = next(node.name for node in fabric.topology.switches() if node.role is role)
        assert rate == sum(link.rate_gbps for link in fabric.topology.links if link.z.node == switch)


def test_htsim_has_three_tiers_where_each_spine_of_a_pod_has_super_spines_of_its_own(tmp_path: Path) -> None:
    content = yaml.safe_load((FABRICS / "multi-pod.yml").read_text())
    content["backend"]["super_spines"] |= {"count": 4, "groups": 4, "links_per_spine": 8}
    path = tmp_path / "grouped.yml"
    path.write_text(yaml.safe_dump(content))
    assert checked_tree(design(path)).supers == 4


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_fat_tree_of_htsim_is_refused_with_the_reason(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    with pytest.raises(RailfabError) as refused:
        files_of("htsim", fabric)
    assert str(refused.value) == f"{fabric.path}: {REFUSED[name]}"


@pytest.mark.parametrize("name", ["ns3", "simai", "htsim"])
def test_tables_of_nodes_have_the_names_of_the_cluster(name: str) -> None:
    fabric = design(FABRICS / "pod64.yml")
    names = HostNames({host.name: f"gpu{number}" for number, host in enumerate(fabric.topology.hosts())})
    table = dict(export_named(name).documents(fabric, names))[f"{name}/nodes.csv"]
    assert {row["host"] for row in csv.DictReader(table.splitlines())} == {f"gpu{number}" for number in range(8)}
