"""Slurm: `topology.conf` of the plugins topology/tree and topology/block, and `topology.yaml` with both.

A switch of the tree, and a block, is a segment: all rail switches of one group of hosts. A rail switch is none, since
a host that is below several leaf switches has no place in a tree (Slurm, Topology Guide).
Sources: Slurm's topology.conf(5), topology.yaml(5) and Topology Guide, releases 22.05 to 25.11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from railfab.errors import RailfabError, raise_all
from railfab.exports.contract import ExportFormat
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.fabric.segments import HostPlaces, places
from railfab.text.hostlist import hostlist

MOST_CHARACTERS = 63
"""Of a name: Slurm's are shorter than 64."""
MOST_LEVELS = 15
"""The largest size of blocks is 2 ** 15 times the base (topology.conf(5), BlockSizes)."""
TREE, BLOCK = "railfab-tree", "railfab-block"
"""Names of the topologies in topology.yaml."""


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The files of Slurm. Raises RailfabError, or Problems, for hosts that Slurm cannot name."""
    tree, of_fabric = places(design), design.topology.fabric
    nodes = {segment.name: names.of(segment.hosts) for segment in tree.segments}
    raise_all(list(_too_long([*nodes, *(name for hosts in nodes.values() for name in hosts)])))
    lists = {segment: hostlist(hosts) for segment, hosts in nodes.items()}
    yield "slurm/tree/topology.conf", _tree(tree, lists, of_fabric)
    yield "slurm/block/topology.conf", _block(tree, lists, of_fabric)
    yield "slurm/topology.yaml", _yaml(tree, lists, of_fabric)


EXPORT = ExportFormat(
    help="topology.conf of Slurm, as a tree and as blocks, and topology.yaml (25.05) with both",
    documents=documents,
    with_plan=True,
)


def _too_long(names: Sequence[str]) -> Iterator[RailfabError]:
    for name in names:
        if len(name) > MOST_CHARACTERS:
            problem = f"has {len(name)} characters, and Slurm takes {MOST_CHARACTERS}"
            yield RailfabError(name, problem, "Give it a shorter name with --hosts")


def _tree(tree: HostPlaces, lists: dict[str, str], fabric: str) -> str:
    lines = [
        f"# {fabric}: topology/tree of Slurm. A switch is a segment (all rail switches of a group of hosts), a pod, or",
        "# what connects the pods.",
    ]
    if not tree.pods and len(tree.segments) > 1:
        lines.append("# No spines connect the segments, so that a job stays within one of them.")
    lines += [f"SwitchName={segment.name} Nodes={lists[segment.name]}" for segment in tree.segments]
    lines += [f"SwitchName={name} Switches={children}" for name, children in _parents(tree)]
    return "\n".join((*lines, ""))


def _parents(tree: HostPlaces) -> Iterator[tuple[str, str]]:
    """The switches above the segments, with their children: pods that have several segments or siblings, then all."""
    for pod, segments in tree.pods.items():
        yield pod, hostlist(segment.name for segment in segments)
    if tree.fabric is not None:
        yield tree.fabric, hostlist(tree.pods)


def block_sizes(in_pods: Sequence[int], base: int) -> list[int]:
    """The sizes of blocks [hosts]: of a segment, and of 2, 4, ... segments.

    Blocks of one size follow each other, so that only sizes are stated of which each fills pods, or lies in one. base:
    hosts of the smallest segment. in_pods: segments of each pod, in the order of the blocks.
    """
    segments, ends = sum(in_pods), frozenset(accumulate(in_pods, initial=0))
    counts = [2**level for level in range(MOST_LEVELS + 1) if 2**level <= segments]
    return [base * count for count in counts if _fits(count, ends)]


def _fits(count: int, ends: frozenset[int]) -> bool:
    """Whether each row of so many blocks lies in a pod, or begins and ends where pods do. ends: of pods, from 0."""
    for row in range(0, max(ends) - max(ends) % count, count):
        inside = any(row < end < row + count for end in ends)
        if inside and not {row, row + count} <= ends:
            return False
    return True


def _sizes(tree: HostPlaces) -> list[int]:
    """The sizes of the blocks: a block of Slurm has at least the hosts of the base."""
    base = min(len(segment.hosts) for segment in tree.segments)
    return block_sizes([len(within) for within in tree.pods.values()], base) if tree.pods else [base]


def _unequal(tree: HostPlaces) -> list[str]:
    """A comment for segments of which some have fewer hosts."""
    hosts = [len(segment.hosts) for segment in tree.segments]
    if min(hosts) == max(hosts):
        return []
    return [f"# Segments are unequal, of {min(hosts)} to {max(hosts)} hosts: the base of BlockSizes is the smallest."]


def _block(tree: HostPlaces, lists: dict[str, str], fabric: str) -> str:
    lines = [
        f"# {fabric}: topology/block of Slurm (23.11). BlockName is a segment: all rail switches of a group of hosts."
    ]
    lines += _unequal(tree)
    lines += [f"BlockName={segment.name} Nodes={lists[segment.name]}" for segment in tree.segments]
    lines.append(f"BlockSizes={','.join(map(str, _sizes(tree)))}")
    return "\n".join((*lines, ""))


def _yaml(tree: HostPlaces, lists: dict[str, str], fabric: str) -> str:
    """Both topologies. Slurm wants the key `topology` first in each entry, and hosts as text in its notation."""
    import yaml

    switches = [{"switch": segment.name, "nodes": lists[segment.name]} for segment in tree.segments]
    switches += [{"switch": name, "children": children} for name, children in _parents(tree)]
    blocks = [{"block": segment.name, "nodes": lists[segment.name]} for segment in tree.segments]
    entries: list[dict[str, Any]] = [
        {"topology": TREE, "cluster_default": True, "tree": {"switches": switches}},
        {
            "topology": BLOCK,
            "cluster_default": False,
            "block": {"block_sizes": _sizes(tree), "blocks": blocks},
        },
    ]
    notes = [
        f"# {fabric}: topologies of Slurm (25.05), which reads no topology.conf where this file is.",
        *_unequal(tree),
    ]
    return "\n".join((*notes, "---", "")) + yaml.safe_dump(entries, sort_keys=False, width=1_000_000)
