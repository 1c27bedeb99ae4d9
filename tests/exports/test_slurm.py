"""Slurm: each host is in the segment of the plan, and a plan that grew moves none; by rules and by slurmctld."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.designs import FABRICS, NAMES, grown
from tests.exports.slurm_controller import expanded, folded, topology_of
from tests.exports.slurm_rules import Read, expand, read_conf, read_yaml

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.exports.formats.slurm import block_sizes
from railfab.fabric import Design, design
from railfab.intent import FabricIntent
from railfab.text.hostlist import hostlist
from railfab.topology import wire

SLURM = export_named("slurm")


def read_files(fabric: Design, names: HostNames | None = None) -> tuple[Read, Read]:
    """The tree and the blocks of a design, the same in both formats."""
    files = dict(SLURM.documents(fabric, names or HostNames()))
    tree, blocks = read_conf(files["slurm/tree/topology.conf"]), read_conf(files["slurm/block/topology.conf"])
    assert read_yaml(files["slurm/topology.yaml"]) == {"tree": tree, "block": blocks}
    assert tree.nodes == blocks.nodes
    return tree, blocks


def segments_of(fabric: Design) -> dict[str, list[str]]:
    """The hosts that have the same rail switches, by the name of their segment."""
    by_switches: dict[frozenset[str], list[str]] = {}
    for host in fabric.topology.hosts():
        peers = {peer.node for _, peer, _ in fabric.topology.ports_of(host.name)}
        leaves = frozenset(peer for peer in peers if fabric.topology.node(peer).net == "backend")
        by_switches.setdefault(leaves, []).append(host.name)
    return {hosts[0].rpartition("-host")[0]: hosts for hosts in by_switches.values()}


def designed(intent: FabricIntent, name: str = "pod64") -> Design:
    return Design(document=design(FABRICS / f"{name}.yml").document, intent=intent, topology=wire(intent))


@pytest.mark.parametrize("name", NAMES)
def test_a_leaf_of_the_tree_and_a_block_are_the_hosts_on_the_same_rail_switches(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    tree, _ = read_files(fabric)
    assert tree.nodes == segments_of(fabric)


@pytest.mark.parametrize("name", NAMES)
def test_segments_have_a_switch_above_them_where_spines_connect_them(name: str) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    tree, _ = read_files(fabric)
    tops = {*tree.nodes, *tree.children} - {child for children in tree.children.values() for child in children}
    assert len(tops) == (1 if fabric.intent.backend.spines else len(tree.nodes))


@given(grown())
def test_a_plan_that_grew_moves_no_host_and_renames_no_switch(sizes: tuple[FabricIntent, FabricIntent]) -> None:
    before, after = (read_files(designed(intent))[0] for intent in sizes)
    for segment, hosts in before.nodes.items():
        assert {*hosts} <= {*after.nodes[segment]}
    for pod, segments in before.children.items():
        assert {*segments} <= {*after.children[pod]}


@given(st.integers(1, 200), st.integers(1, 12), st.integers(1, 64))
def test_blocks_of_each_size_fill_pods_or_lie_in_one(pods: int, in_pod: int, base: int) -> None:
    sizes = block_sizes([in_pod] * pods, base)
    assert sizes[0] == base
    for size in sizes:
        count = size // base
        places = range(pods * in_pod // count)
        of_pods = [{segment // in_pod for segment in range(place * count, (place + 1) * count)} for place in places]
        assert all(len(of_pod) == 1 or len(of_pod) * in_pod == count for of_pod in of_pods)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(1, 64))
def test_blocks_of_unequal_pods_fill_whole_pods_or_lie_in_one(in_pods: list[int], base: int) -> None:
    pod_of = [pod for pod, segments in enumerate(in_pods) for _ in range(segments)]
    sizes = block_sizes(in_pods, base)
    assert sizes[0] == base
    for count in (2**level for level in range(7) if 2**level <= len(pod_of)):
        rows = [pod_of[row : row + count] for row in range(0, len(pod_of) - count + 1, count)]
        whole = [all(pod_of.count(pod) == row.count(pod) for pod in row) or len({*row}) == 1 for row in rows]
        assert (base * count in sizes) is all(whole)


def test_names_of_the_cluster_take_the_place_of_those_of_the_plan() -> None:
    fabric = design(FABRICS / "pod64.yml")
    given_names = {host.name: f"gpu{number:03}" for number, host in enumerate(fabric.topology.hosts(), start=1)}
    tree, _ = read_files(fabric, HostNames(given_names))
    assert tree.nodes["pod1-seg2"] == ["gpu005", "gpu006", "gpu007", "gpu008"]


def test_a_name_that_slurm_does_not_take_is_refused() -> None:
    fabric = design(FABRICS / "single-switch.yml")
    names = HostNames({host.name: f"{host.name}{'-' + 'x' * 60}" for host in fabric.topology.hosts()[:1]})
    with pytest.raises(RailfabError, match=r"has 76 characters, and Slurm takes 63\. Give it a shorter name"):
        list(SLURM.documents(fabric, names))


numbered = st.builds(
    lambda head, number, width: f"{head}{number:0{width}}",
    st.sampled_from(("gpu", "pod1-seg1-host", "a1-", "n", "dgx_")),
    st.integers(0, 130),
    st.integers(1, 4),
)
any_names = st.lists(st.one_of(numbered, st.sampled_from(("login", "h1a", "gpu"))), max_size=12, unique=True)


@given(any_names)
def test_a_hostlist_has_its_names_in_their_order(names: list[str]) -> None:
    assert expand(hostlist(names)) == names


@pytest.mark.slurm
def test_slurm_expands_a_hostlist_to_its_names_and_folds_them_as_it_does() -> None:
    names = [*(f"gpu{number:03}" for number in (1, 2, 3, 12, 98, 99, 100)), "n9", "n10", "n11", "login", "h1a", "h2a"]
    names += [f"pod{pod}-seg1-host{host}" for pod in (1, 2) for host in range(1, 12)]
    assert expanded(hostlist(names)) == names
    assert hostlist(names) == folded(names)


@pytest.mark.slurm
@pytest.mark.parametrize("name", ["multi-pod", "dual-plane", "cluster"])
def test_slurmctld_gives_the_segments_pods_and_hosts_of_the_plan_back(name: str, tmp_path: Path) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    text = dict(SLURM.documents(fabric, HostNames()))["slurm/tree/topology.conf"]
    tree = read_conf(text)
    shown = topology_of(tmp_path, text, hostlist(host.name for host in fabric.topology.hosts()))
    assert {switch: {*each.nodes} for switch, each in shown.items() if each.level == 0} == {
        segment: {*hosts} for segment, hosts in segments_of(fabric).items()
    }
    assert {switch: {*each.switches} for switch, each in shown.items() if each.level} == {
        switch: {*children} for switch, children in tree.children.items()
    }


@pytest.mark.slurm
def test_slurmctld_refuses_a_file_that_is_no_tree(tmp_path: Path) -> None:
    text = "SwitchName=a Nodes=h1\nSwitchName=b Switches=a,missing\n"
    with pytest.raises(subprocess.CalledProcessError) as refused:
        topology_of(tmp_path, text, "h1")
    assert "missing" in refused.value.stderr
