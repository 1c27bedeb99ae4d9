"""Slurm's topology.conf and topology.yaml: which hosts it has together, and where that is not what the plan says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from railfab.imports.document import read_text, read_tree
from railfab.imports.existing import SourceError
from railfab.yaml_reader.files import Unread
from railfab.yaml_reader.tree import Keyed, Listed, Scalar, Tree

MAX_BYTES = 50_000_000
MOST_NAMES = 1_000_000
"""Names of one hostlist, from which on it is no list of hosts."""
OTHER_FILE = "Name a topology.conf or topology.yaml of Slurm"
REMEDIES = {
    Unread.MISSING: OTHER_FILE,
    Unread.REFUSED: "Check its permissions",
    Unread.ENCODING: OTHER_FILE,
    Unread.SIZE: OTHER_FILE,
}
SETTING = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
ITEM = re.compile(r"((?:[^,\[\]]|\[[^\]]*\])+)(?:,|$)")
PART = re.compile(r"\[([^\]]*)\]|([^\[\]]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmTopology:
    """What a file says. groups: the hosts of each leaf switch or block, by its name; parents: of switches."""

    source: str
    groups: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, str]

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(host for hosts in self.groups.values() for host in hosts))


def is_slurm(path: str) -> bool:
    """Whether a file has a name that Slurm's topology has."""
    return path.endswith(".conf") or Path(path).name == "topology.yaml"


def read_slurm(path: Path) -> SlurmTopology:
    """The topology in a file; of several the tree. Raises SourceError with the place in the file."""
    text = read_text(path, MAX_BYTES, REMEDIES)
    entries = list(_yaml(path, text) if path.suffix == ".yaml" else _conf(path, text))
    groups, parents = {}, {}
    for where, name, nodes, children in entries:
        if nodes is not None:
            groups[name] = tuple(_expanded(where, nodes))
        for child in _expanded(where, children) if children is not None else ():
            parents[child] = name
    if not groups:
        raise SourceError(str(path), "has no switch or block with nodes", OTHER_FILE)
    return SlurmTopology(source=path.name, groups=groups, parents=parents)


Entry = tuple[str, str, str | None, str | None]
"""Place in the file, name of a switch or block, its hosts, and the switches below it, as hostlists."""


def _conf(path: Path, text: str) -> Iterator[Entry]:
    """The lines of a topology.conf; a backslash at the end continues one, and names of settings have any case."""
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), start=1):
        stated = {key.lower(): value.strip('"') for key, value in SETTING.findall(line.partition("#")[0])}
        name = stated.get("switchname") or stated.get("blockname")
        if name is not None:
            yield f"{path}:{number}", name, stated.get("nodes"), stated.get("switches")


def _yaml(path: Path, text: str) -> Iterator[Entry]:
    """The entries of a topology.yaml: of the first tree, or of the first blocks without one."""
    document = read_tree(str(path), text)
    plugins = document.entries if isinstance(document, Listed) else ()
    for plugin, kind, key in (("tree", "switches", "switch"), ("block", "blocks", "block")):
        chosen = next(
            (listed for each in plugins if (listed := _member(_member(each, plugin), kind)) is not None), None
        )
        if chosen is None:
            continue
        if not isinstance(chosen, Listed):
            raise SourceError(f"{path}:{chosen.line}", f"{kind} is no list", OTHER_FILE)
        for entry in chosen.entries:
            where = f"{path}:{entry.line}"
            name = _text(where, entry, key)
            if name is None:
                raise SourceError(where, f"an entry of {kind} has no {key}", OTHER_FILE)
            yield where, name, _text(where, entry, "nodes"), _text(where, entry, "children")
        return


def _member(tree: Tree | None, key: str) -> Tree | None:
    return tree.entries.get(key) if isinstance(tree, Keyed) else None


def _text(where: str, entry: Tree, key: str) -> str | None:
    """A text of an entry; None without one."""
    value = _member(entry, key)
    if value is None or (isinstance(value, Scalar) and value.is_null):
        return None
    if not isinstance(value, Scalar):
        raise SourceError(where, f"{key} is no text", "Write it as gpu[001-008,012]")
    return value.text


def _expanded(where: str, hostlist: str) -> Iterator[str]:
    """The names of a hostlist, with any number of brackets. Raises SourceError for one that is malformed."""
    left = MOST_NAMES
    place = 0
    while place < len(hostlist):
        item = ITEM.match(hostlist, place)
        if item is None:
            raise SourceError(where, f"{hostlist[place:]!r} is no list of hosts", "Write it as gpu[001-008,012]")
        if "[" in item[1] and not item[1].endswith("]"):
            raise SourceError(
                where, f"Slurm reads no text after the last bracket of {item[1]}", "List these hosts singly"
            )
        choices = [_choices(where, bracket) if bracket else [plain] for bracket, plain in PART.findall(item[1])]
        for parts in product(*choices):
            left -= 1
            if left < 0:
                raise SourceError(where, f"a list has more than {MOST_NAMES:,} hosts", "Write it as gpu[001-008,012]")
            yield "".join(parts)
        place = item.end()


def _choices(where: str, bracket: str) -> list[str]:
    """The numbers in a bracket, with their leading zeros."""
    numbers: list[str] = []
    for part in bracket.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise SourceError(where, f"[{bracket}] is no list of numbers", "Write it as [001-008,012]")
        low, high = int(first), int(last or first)
        if high - low + len(numbers) >= MOST_NAMES:
            raise SourceError(where, f"[{bracket}] has more than {MOST_NAMES:,} numbers", "Write it as [001-008,012]")
        numbers += [str(number).zfill(len(first)) for number in range(low, high + 1)]
    return numbers
