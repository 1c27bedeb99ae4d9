"""The rules of Slurm for topology.conf and topology.yaml, as its manual and source state them, and readers of both.

No package of Debian 12 knows blocks or YAML, so that these stand in for slurmctld there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

ENTRY = re.compile(r"(\w+)=(\S+)")
RANGE = re.compile(r"([^,\[]*)(?:\[([^\]]*)\])?(?:,|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a file says. nodes: of each leaf switch or block; children: of each other switch; sizes: of blocks."""

    nodes: Mapping[str, list[str]]
    children: Mapping[str, list[str]] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()


def expand(hostlist: str) -> list[str]:
    """The names of a hostlist with at most one bracket a name, at its end."""
    names = []
    for head, bracket in (match for match in RANGE.findall(hostlist) if any(match)):
        for part in bracket.split(",") if bracket else [""]:
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1) if part else []
            names += [head + str(number).zfill(len(first)) for number in numbers] if part else [head]
    return names


def read_conf(text: str) -> Read:
    """A topology.conf; checked."""
    entries = [dict(ENTRY.findall(line)) for line in text.splitlines() if not line.startswith("#")]
    kind = "BlockName" if any("BlockName" in entry for entry in entries) else "SwitchName"
    named = [entry for entry in entries if kind in entry]
    assert not any("Nodes" in entry and "Switches" in entry for entry in named)
    sizes = next((entry["BlockSizes"] for entry in entries if "BlockSizes" in entry), "")
    return checked(
        Read(
            nodes={entry[kind]: expand(entry["Nodes"]) for entry in named if "Nodes" in entry},
            children={entry[kind]: expand(entry["Switches"]) for entry in named if "Switches" in entry},
            sizes=tuple(map(int, sizes.split(","))) if sizes else (),
        ),
        len(named),
    )


def read_yaml(text: str) -> dict[str, Read]:
    """The topologies of a topology.yaml by plugin; checked."""
    found = {}
    entries: list[dict[str, Any]] = yaml.safe_load(text)
    assert sum(entry["cluster_default"] for entry in entries) == 1
    assert len({entry["topology"] for entry in entries}) == len(entries)
    for entry in entries:
        assert next(iter(entry)) == "topology"
        if "tree" in entry:
            switches = entry["tree"]["switches"]
            nodes = {each["switch"]: expand(each["nodes"]) for each in switches if "nodes" in each}
            children = {each["switch"]: expand(each["children"]) for each in switches if "children" in each}
            found["tree"] = checked(Read(nodes=nodes, children=children), len(switches))
        if "block" in entry:
            blocks = entry["block"]["blocks"]
            nodes = {each["block"]: expand(each["nodes"]) for each in blocks}
            found["block"] = checked(Read(nodes=nodes, sizes=tuple(entry["block"]["block_sizes"])), len(blocks))
    return found


def checked(read: Read, entries: int) -> Read:
    """The same, if it keeps the rules: names once and shorter than 64, a tree, each node once, sizes by powers of 2."""
    assert len(read.nodes) + len(read.children) == entries
    hosts = [host for hosts in read.nodes.values() for host in hosts]
    assert len(set(hosts)) == len(hosts)
    assert all(len(name) < 64 for name in (*hosts, *read.nodes, *read.children))
    below = [child for children in read.children.values() for child in children]
    assert len(set(below)) == len(below)
    assert {*below} <= {*read.nodes, *read.children}
    if read.sizes:
        base = read.sizes[0]
        assert base <= min(map(len, read.nodes.values()))
        ratios = [size / base for size in read.sizes]
        assert all(ratio in {2.0**level for level in range(16)} for ratio in ratios)
        assert ratios == sorted(set(ratios))
        assert ratios[-1] <= len(read.nodes)
    return read
