"""Slurm's topology against the plan: what railfab exports is no difference, and each mistake is one finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.commands import run
from tests.documents.designs import FABRICS, NAMES
from tests.exports.slurm_controller import expanded

from railfab.exports import HostNames, export_named
from railfab.fabric import design
from railfab.fabric.segments import places
from railfab.imports.existing import SourceError
from railfab.imports.slurm import read_slurm
from railfab.imports.slurm_compare import slurm_differences

MULTI_POD = design(FABRICS / "multi-pod.yml")
NO_NAMES = HostNames()
TREE = dict(export_named("slurm").documents(MULTI_POD, NO_NAMES))["slurm/tree/topology.conf"]


def findings_of(text: str, folder: Path, names: HostNames = NO_NAMES) -> list[tuple[str, str]]:
    """Code and place of each finding about the topology of multi-pod."""
    path = folder / "topology.conf"
    path.write_text(text)
    return [(each.code, each.where) for each in slurm_differences(places(MULTI_POD), read_slurm(path), names)]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_exported_is_no_difference(name: str, tmp_path: Path) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    for file, text in export_named("slurm").documents(fabric, NO_NAMES):
        path = tmp_path / Path(file).name
        path.write_text(text)
        slurm = read_slurm(path)
        assert {*slurm.hosts} == {host.name for host in fabric.topology.hosts()}
        assert slurm_differences(places(fabric), slurm, NO_NAMES) == ()


EDITS = {
    "a host is missing": (("pod1-seg1-host[1-4]", "pod1-seg1-host[1-3]"), [("node-missing", "pod1-seg1-host4")]),
    "a host is unknown": (("host[1-4]\n", "host[1-4],gpu99\n"), [("node-unexpected", "gpu99")]),
    "a host is in another segment": (
        (
            "pod1-seg1-host[1-4]\nSwitchName=pod1-seg2 Nodes=",
            "pod1-seg1-host[1-3]\nSwitchName=pod1-seg2 Nodes=pod1-seg1-host4,",
        ),
        [("segment-differs", "pod1-seg1-host4")],
    ),
    "a host is in two segments": (
        ("SwitchName=pod1-seg2 Nodes=", "SwitchName=pod1-seg2 Nodes=pod1-seg1-host4,"),
        [("segment-differs", "pod1-seg1-host4")],
    ),
    "two segments are exchanged": (
        (
            "Switches=pod1-seg[1-2]\nSwitchName=pod2 Switches=pod2-seg[1-2]",
            "Switches=pod1-seg1,pod2-seg2\nSwitchName=pod2 Switches=pod2-seg1,pod1-seg2",
        ),
        [("pod-differs", "pod2-seg2"), ("pod-differs", "pod1-seg2")],
    ),
    "other names of switches": (("pod1-seg1 Nodes", "rack7 Nodes"), []),
    "a segment in two parts": (
        (
            "SwitchName=pod1-seg1 Nodes=pod1-seg1-host[1-4]",
            "SwitchName=a Nodes=pod1-seg1-host[1-2]\nSwitchName=b Nodes=pod1-seg1-host[3-4]",
        ),
        [],
    ),
}
"""Edits of the exported tree, and what is said of them."""


@pytest.mark.parametrize("edit", EDITS)
def test_each_mistake_is_one_finding(edit: str, tmp_path: Path) -> None:
    (old, new), expected = EDITS[edit]
    assert old in TREE
    assert findings_of(TREE.replace(old, new, 1), tmp_path) == expected


def test_rail_switches_as_leaves_are_a_finding_for_each_host(tmp_path: Path) -> None:
    hosts = [host.name for host in MULTI_POD.topology.hosts()]
    text = "".join(f"SwitchName=rail{rail} Nodes={','.join(hosts)}\n" for rail in (1, 2))
    assert findings_of(text, tmp_path) == [("segment-differs", host) for host in hosts]


def test_hosts_have_the_names_of_the_cluster(tmp_path: Path) -> None:
    names = HostNames({host.name: f"gpu{number:02}" for number, host in enumerate(MULTI_POD.topology.hosts())})
    text = dict(export_named("slurm").documents(MULTI_POD, names))["slurm/tree/topology.conf"]
    assert findings_of(text, tmp_path, names) == []
    assert ("node-missing", "pod1-seg1-host1") in findings_of(text, tmp_path)


SPELLINGS = (
    "switchname=s1 nodes=pod1-seg1-host[1-4] # the first\n",
    'SwitchName=s1 Nodes="pod1-seg1-host[1-4]" LinkSpeed=1\n',
    "SwitchName=s1 \\\n  Nodes=pod1-seg1-host[1,2,3-4]\n",
    "SwitchName=s1 Nodes=pod[1]-seg[1]-host[1-4]\n",
)


@pytest.mark.parametrize("text", SPELLINGS)
def test_other_spellings_of_a_line_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "topology.conf"
    path.write_text(text)
    assert read_slurm(path).groups == {"s1": tuple(f"pod1-seg1-host{host}" for host in range(1, 5))}


FAULTS = {
    "SwitchName=a Nodes=gpu[1-\n": "topology.conf:1: 'gpu[1-' is no list of hosts. Write it as gpu[001-008,012].",
    "\nSwitchName=a Nodes=gpu[a-b]\n": "topology.conf:2: [a-b] is no list of numbers. Write it as [001-008,012].",
    "SwitchName=a Nodes=gpu[1-99999999]\n": "topology.conf:1: [1-99999999] has more than 1,000,000 numbers.",
    "SwitchName=a Nodes=g[1-2000]n[1-2000]\n": "topology.conf:1: a list has more than 1,000,000 hosts.",
    "SwitchName=a Nodes=gpu[1-2]-ib\n": "topology.conf:1: Slurm reads no text after the last bracket of gpu[1-2]-ib. ",
    "# nothing\n": "topology.conf: has no switch or block with nodes. Name a topology.conf",
    "- tree: {switches: 5}\n": "topology.yaml:1: switches is no list. Name a topology.conf",
    "- tree: {switches: [{switch: s, nodes: [a, b]}]}\n": "topology.yaml:1: nodes is no text. Write it as",
    "- tree:\n    switches:\n    - {switch: s, children: [a]}\n": "topology.yaml:3: children is no text. Write it as",
    "- block: {blocks: [{nodes: a}]}\n": "topology.yaml:1: an entry of blocks has no block. Name a topology.conf",
    "- tree: [1]\n": "topology.yaml: has no switch or block with nodes. Name a topology.conf",
    "tree: {}\n": "topology.yaml: has no switch or block with nodes. Name a topology.conf",
    "": "topology.yaml: has no switch or block with nodes. Name a topology.conf",
    "- [1\n": "topology.yaml:2: is not YAML",
}
"""What is said of a text, with the file that it is in first."""


@pytest.mark.parametrize("text", FAULTS)
def test_a_file_that_cannot_be_read_is_one_line_with_its_place(text: str, tmp_path: Path) -> None:
    path = tmp_path / FAULTS[text].partition(":")[0]
    path.write_text(text)
    with pytest.raises(SourceError) as refused:
        read_slurm(path)
    assert str(refused.value).startswith(f"{tmp_path}/{FAULTS[text]}")


def test_names_in_a_yaml_file_are_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "topology.yaml"
    path.write_text("- block:\n    block_sizes: [2]\n    blocks:\n    - {block: 1e3, nodes: 007}\n")
    assert read_slurm(path).groups == {"1e3": ("007",)}


@pytest.mark.slurm
@pytest.mark.parametrize("hostlist", ["gpu[08-11,3]", "r[1-2]n[01-02]", "a,b[1-3],c[2,4]", "x1y,x2y"])
def test_hostlists_have_the_names_that_slurm_gives_them(hostlist: str, tmp_path: Path) -> None:
    path = tmp_path / "topology.conf"
    path.write_text(f"SwitchName=s Nodes={hostlist}\n")
    assert sorted(read_slurm(path).groups["s"]) == sorted(expanded(hostlist))


def test_the_command_says_how_many_hosts_it_has_compared(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(TREE)
    done = run("compare", FABRICS / "multi-pod.yml", "--with", "topology.conf", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "16 hosts in 4 groups of topology.conf compared with multi-pod: no difference\n"
    document = json.loads(
        run("compare", FABRICS / "multi-pod.yml", "--with", "topology.conf", "--output", "json", cwd=tmp_path).stdout
    )
    assert (document["nodes"], document["findings"]) == (16, [])


def test_names_of_hosts_are_refused_for_what_is_no_topology_of_slurm(tmp_path: Path) -> None:
    done = run("compare", FABRICS / "pod64.yml", "--with", "lab.clab.yml", "--hosts", "names.csv", cwd=tmp_path)
    assert done.returncode == 2
    problem = "is no topology of Slurm and no folder of LLDP, which --hosts is for"
    assert done.stderr == f"railfab: lab.clab.yml: {problem}. Leave out --hosts.\n"
