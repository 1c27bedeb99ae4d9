"""A fabric as LLDP shows it: as planned it is exported as the plan, else where hosts and links are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.commands import run as command
from tests.documents.designs import FABRICS, NAMES
from tests.exports.slurm_controller import topology_of
from tests.exports.slurm_rules import Read, read_conf, read_yaml
from tests.twin.small_fabric import INTENT, LEAF

from railfab.deploy.schedulers import hosts_behind
from railfab.device import Observed, ObservedInterface
from railfab.errors import RailfabError
from railfab.exports import HostNames, export_formats, export_named
from railfab.exports.graph import backend_graph
from railfab.fabric import Design, design
from railfab.fabric.live import LiveDesign, live_design
from railfab.fabric.segments import places
from railfab.text.hostlist import hostlist
from railfab.topology import Net, PortKey, Role, Topology
from railfab.topology.model import link_network
from railfab.twin import Twin

Far = dict[PortKey, PortKey | None]
"""What each port of a switch hears; None where it is down."""


SLURM = export_named("slurm")


@cache
def fabric_named(name: str) -> Design:
    return design(FABRICS / f"{name}.yml")


def planned(topology: Topology) -> Far:
    """The far end of each cabled port of a switch of the backend."""
    nodes = topology.by_name
    return {
        (port.node, port.name): (peer.node, peer.name)
        for port, peer, link in topology.ports()
        if nodes[port.node].is_switch
        and link_network(nodes[link.a.node], nodes[link.z.node]) is Net.BACKEND
        and not topology.manages_switch(link)
    }


def observed(far: Far, silent: frozenset[str] = frozenset()) -> dict[str, Observed]:
    """What the switches see. silent: nodes that send no LLDP."""
    interfaces: dict[str, list[ObservedInterface]] = {}
    for (node, name), end in far.items():
        device, port = (None, None) if end is None or end[0] in silent else end
        seen = ObservedInterface(name=name, oper_up=end is not None, neighbor_device=device, neighbor_interface=port)
        interfaces.setdefault(node, []).append(seen)
    return {node: Observed(interfaces=tuple(seen), sessions=()) for node, seen in interfaces.items()}


def live(fabric: Design, far: Far) -> LiveDesign:
    return live_design(fabric, observed(far))


def slurm(fabric: Design) -> tuple[Read, Read]:
    """The tree and the blocks, by readers that check Slurm's rules; topology.yaml has the same."""
    texts = dict(SLURM.documents(fabric, HostNames()))
    tree, blocks = (read_conf(texts[f"slurm/{kind}/topology.conf"]) for kind in ("tree", "block"))
    assert read_yaml(texts["slurm/topology.yaml"]) == {"tree": tree, "block": blocks}
    return tree, blocks


def texts(fabric: Design) -> dict[str, object]:
    """The files of every format that can say a fabric."""
    files: dict[str, object] = {}
    for name, exported in export_formats().items():
        try:
            files[name] = list(exported.documents(fabric, HostNames()))
        except RailfabError as error:  # the plan is refused alike
            files[name] = str(error)
    return files


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_fabric_as_planned_is_exported_as_its_plan(name: str, silent: bool) -> None:
    fabric = fabric_named(name)
    hosts = frozenset(node.name for node in fabric.topology.nodes if not node.is_switch) if silent else frozenset()
    far = planned(fabric.topology)
    found = live_design(fabric, observed(far, hosts))
    assert found.differences == ()
    assert texts(found.design) == texts(fabric)
    of_hosts = sum(end is not None and end[0] in hosts for end in far.values())
    assert (found.unknown, found.seen) == (of_hosts, found.links - of_hosts)


@pytest.mark.parametrize(
    ("lldp", "seen"),
    [
        (True, "160 of 160 links of the backend seen, 0 unknown"),
        (False, "0 of 160 links of the backend seen, 160 unknown"),
    ],
)
def test_what_no_switch_hears_is_not_said_to_be_as_planned(lldp: bool, seen: str) -> None:
    """Without LLDP, as in a lab of network namespaces, ports are up and have no neighbors."""
    fabric = fabric_named("pod64")
    far = planned(fabric.topology)
    silent = frozenset() if lldp else frozenset(end[0] for end in far.values() if end is not None)
    verdict = "as planned" if lldp else "no link is proved to be as planned"
    summary = live_design(fabric, observed(far, silent)).summary
    assert summary == f"{seen} and taken from the plan: {verdict}"


def test_names_that_hosts_give_their_nics_are_no_difference() -> None:
    fabric = fabric_named("multi-rail")
    far = {
        port: end if end is None or fabric.topology.node(end[0]).is_switch else (f"{end[0]}.site.example", "ens1f0np0")
        for port, end in planned(fabric.topology).items()
    }
    assert live(fabric, far).differences == ()


def ports_of(far: Far, host: str) -> list[PortKey]:
    return [port for port, end in far.items() if end is not None and end[0] == host]


def exchange(far: Far, one: str, other: str) -> None:
    """Exchange all cables of two hosts."""
    for port, instead in zip(ports_of(far, one), ports_of(far, other), strict=True):
        far[port], far[instead] = far[instead], far[port]


def test_hosts_that_have_changed_places_are_in_the_segments_of_their_cables() -> None:
    fabric = fabric_named("multi-pod")
    far = planned(fabric.topology)
    one, other = "pod1-seg1-host2", "pod2-seg2-host1"
    exchange(far, one, other)
    found = live(fabric, far)
    tree, _ = slurm(found.design)
    before, _ = slurm(fabric)
    instead = {one: other, other: one}
    assert {segment: {*hosts} for segment, hosts in tree.nodes.items()} == {
        segment: {instead.get(host, host) for host in hosts} for segment, hosts in before.nodes.items()
    }
    assert tree.children == before.children
    assert f"{one} is on the rail switches of pod2-seg2, not of pod1-seg1" in found.differences
    links = {frozenset((link.a.node, link.z.node)) for link in backend_graph(found.design).links}
    assert {frozenset((host, end[0])) for end in ports_of(planned(fabric.topology), other) for host in (one,)} <= links


def test_hosts_without_a_link_are_left_out_and_unequal_segments_are_stated() -> None:
    fabric = fabric_named("multi-pod")
    far = planned(fabric.topology)
    for host in ("pod1-seg1-host1", "pod1-seg1-host3", "pod2-seg1-host4"):
        far |= dict.fromkeys(ports_of(far, host))
    found = live(fabric, far)
    tree, blocks = slurm(found.design)
    assert {segment: len(hosts) for segment, hosts in tree.nodes.items()} == {
        "pod1-seg1": 2,
        "pod1-seg2": 4,
        "pod2-seg1": 3,
        "pod2-seg2": 4,
    }
    assert blocks.sizes == (2, 4, 8)
    stated = "# Segments are unequal, of 2 to 4 hosts: the base of BlockSizes is the smallest.\n"
    for file in ("slurm/block/topology.conf", "slurm/topology.yaml"):
        assert stated in dict(SLURM.documents(found.design, HostNames()))[file]
        assert "unequal" not in dict(SLURM.documents(fabric, HostNames()))[file]
    assert found.differences[-1].startswith("hosts without a link, left out: pod1-seg1-host")


def test_a_segment_and_a_pod_without_hosts_are_no_switches() -> None:
    fabric = fabric_named("multi-pod")
    far = planned(fabric.topology)
    for host in (node.name for node in fabric.topology.hosts() if node.pod == 2 or node.segment == 2):
        far |= dict.fromkeys(ports_of(far, host))
    tree, blocks = slurm(live(fabric, far).design)
    assert tree.nodes.keys() == {"pod1-seg1"}
    assert tree.children == {"pod1": ["pod1-seg1"]}
    assert blocks.sizes == (4,)


def test_a_switch_whose_ports_are_down_takes_the_hosts_that_it_cuts_off_out_of_the_tree() -> None:
    fabric = fabric_named("multi-rail")
    leaf = next(node.name for node in fabric.topology.nodes if node.role is Role.LEAF)
    far = planned(fabric.topology)
    far |= dict.fromkeys(ports_of(far, leaf)) | {port: None for port in far if port[0] == leaf}
    tree, _ = slurm(live(fabric, far).design)
    left = {host for hosts in tree.nodes.values() for host in hosts}
    assert {host.name for host in fabric.topology.hosts()} - left == {*hosts_behind(fabric, [leaf]).cut_off}
    assert left


@settings(max_examples=40)
@given(st.data())
def test_every_host_with_a_link_is_in_one_segment_whatever_is_cut_or_exchanged(data: st.DataObject) -> None:
    fabric = fabric_named("multi-pod")
    far, hosts = planned(fabric.topology), [host.name for host in fabric.topology.hosts()]
    for _ in range(data.draw(st.integers(0, 4))):
        exchange(far, *data.draw(st.lists(st.sampled_from(hosts), min_size=2, max_size=2, unique=True)))
    cut = data.draw(st.lists(st.sampled_from(sorted(far)), max_size=30, unique=True))
    far |= dict.fromkeys(cut)
    up: dict[str, list[str]] = {}
    for port, end in far.items():
        if end is not None and end[0] in hosts:
            up.setdefault(end[0], []).append(port[0])
    found = live(fabric, far)
    if not up:
        return
    tree, _ = slurm(found.design)
    segment_of = {host: segment for segment, within in tree.nodes.items() for host in within}
    assert segment_of.keys() == up.keys()
    for host, leaves in up.items():
        assert {leaf.rpartition("-")[0] for leaf in leaves} == {segment_of[host]}
    graph = backend_graph(found.design)
    assert len(graph.nics) == len(up) * fabric.intent.hosts.nics
    list(graph.numbered())


def test_no_format_fails_on_a_fabric_that_is_not_as_planned() -> None:
    fabric = fabric_named("multi-pod")
    far = planned(fabric.topology)
    exchange(far, "pod1-seg1-host1", "pod2-seg1-host1")
    far |= dict.fromkeys(ports_of(far, "pod1-seg1-host2"))
    before, after = texts(fabric), texts(live(fabric, far).design)
    assert {name for name in before if before[name] != after[name]} >= {"slurm", "topograph", "kubernetes", "ns3"}
    assert {name for name, exported in export_formats().items() if exported.equal} == {"htsim", "astra-sim"}
    assert before["nccl"] == after["nccl"]


@pytest.mark.parametrize(("moved", "segment"), [(3, 1), (4, 1), (5, 2)])
def test_a_host_whose_nics_are_in_two_segments_is_in_that_of_most(moved: int, segment: int) -> None:
    fabric = fabric_named("multi-rail")
    far = planned(fabric.topology)
    one, other = ports_of(far, "pod1-seg1-host1"), ports_of(far, "pod1-seg2-host1")
    for port, instead in list(zip(one, other, strict=True))[-moved:]:
        far[port], far[instead] = far[instead], far[port]
    found = live(fabric, far)
    assert found.design.topology.node("pod1-seg1-host1").segment == segment
    assert sum("is cabled to" in line for line in found.differences) == 2 * moved


def test_what_is_not_in_the_plan_is_left_out_and_switches_that_were_not_read_stay_as_planned() -> None:
    fabric = fabric_named("multi-rail")
    far = planned(fabric.topology)
    port = ports_of(far, "pod1-seg1-host1")[0]
    far[port] = ("office-switch", "ge-0/0/1")
    found = live(fabric, far)
    belongs = planned(fabric.topology)[port] or ()
    assert found.differences == (f"{' '.join(port)} is cabled to office-switch ge-0/0/1, not to {' '.join(belongs)}",)
    assert len(found.design.topology.links) == len(fabric.topology.links) - 1
    few = {node: seen for node, seen in observed(planned(fabric.topology)).items() if "spine" not in node}
    (line,) = live_design(fabric, few).differences
    assert line.startswith("switches not read, whose links are as planned: pod1-spine")
    assert live_design(fabric, few).design.topology.links == fabric.topology.links


@contextmanager
def small_twin(folder: Path) -> Iterator[tuple[Twin, Path]]:
    """A twin of a small fabric, and its intent."""
    intent = folder / "small.yml"
    intent.write_text(INTENT)
    with Twin(design(intent), state=folder, base_port=0, configured=True) as twin:
        yield twin, intent


def test_the_command_exports_what_a_twin_shows(tmp_path: Path) -> None:
    with small_twin(tmp_path) as (twin, intent):
        arguments = (str(intent), "--from", "live", "--on", "twin", "--state", str(tmp_path))
        whole = command("export", "slurm", *arguments)
        assert whole.returncode == 0
        assert whole.stdout == command("export", "slurm", str(intent)).stdout
        seen = "4 of 12 links of the backend seen, 8 unknown and taken from the plan: what is seen is as planned"
        assert whole.stderr == f"live: {seen}\n"
        topology = design(intent).topology
        ports = [port.name for port, peer, _ in topology.ports_of(LEAF) if peer.node == "pod1-seg1-host2"]
        for port in ports:
            twin.control.set_link(LEAF, port, up=False)
        cut = command("export", "slurm", *arguments)
        assert cut.returncode == 0
        assert "SwitchName=pod1-seg1 Nodes=pod1-seg1-host1\n" in cut.stdout
        assert "BlockSizes=1,2\n" in cut.stdout
        assert "live: hosts without a link, left out: pod1-seg1-host2\n" in cut.stderr
        refused = command("export", "htsim", *arguments)
        assert refused.returncode == 2
        assert refused.stderr.splitlines()[-1] == (
            "railfab: --from live: the switches of a tier of htsim's fat trees are equal, and the live fabric is not "
            "as planned. Use --from plan."
        )


def test_a_twin_is_not_asked_for_the_plan() -> None:
    shown = command("export", "slurm", str(FABRICS / "pod64.yml"), "--on", "twin")
    assert shown.returncode == 2
    assert "Add --from live, or leave out --on." in shown.stderr


@pytest.mark.slurm
def test_slurm_reads_the_tree_of_a_fabric_whose_segments_are_unequal(tmp_path: Path) -> None:
    fabric = fabric_named("multi-pod")
    far = planned(fabric.topology)
    far |= dict.fromkeys(ports_of(far, "pod1-seg1-host2"))
    exchange(far, "pod1-seg1-host1", "pod2-seg1-host1")
    found = live(fabric, far)
    tree = places(found.design)
    text = dict(SLURM.documents(found.design, HostNames()))["slurm/tree/topology.conf"]
    hosts = [host for segment in tree.segments for host in segment.hosts]
    shown = topology_of(tmp_path, text, hostlist(hosts))
    for segment in tree.segments:
        assert shown[segment.name].nodes == {*segment.hosts}
    assert len(shown["pod1-seg1"].nodes) == 3
    assert shown["fabric"].nodes == {*hosts}
