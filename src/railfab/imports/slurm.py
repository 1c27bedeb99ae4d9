"""Slurm's topology.conf and topology.yaml: which hosts it has together, and where that is not what the plan says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from railfab.imports.document import read_text, read_tree
from railfab.imports.existing import SourceError
from railfab.text.hostlist import HostlistError, expanded
from railfab.yaml_reader.files import Unread
from railfab.yaml_reader.tree import Keyed, Listed, Scalar, Tree

MAX_BYTES = 50_000_000
OTHER_FILE = "Name a topology.conf or topology.yaml of Slurm"
REMEDIES = {
    Unread.MISSING: OTHER_FILE,
    Unread.REFUSED: "Check its permissions",
    Unread.ENCODING: OTHER_FILE,
    Unread.SIZE: OTHER_FILE,
}
SETTING = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")


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


def _expanded(where: str, hosts: str) -> Iterator[str]:
    """The names of a hostlist. Raises SourceError for one that is malformed."""
    try:
        yield from expanded(hosts)
    except HostlistError as error:
        raise SourceError(where, str(error), error.remedy) from None
