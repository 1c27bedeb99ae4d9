"""Names that hosts have in a cluster: those of the plan, or those that a file gives them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from railfab.errors import RailfabError, raise_all
from railfab.text.counted import counted
from railfab.text.folding import folded
from railfab.topology import Topology
from railfab.yaml_reader.files import Unread, UnreadableFile, file_text
from railfab.yaml_reader.sections import SETTINGS, Faulty, composed
from railfab.yaml_reader.tree import Keyed, Scalar

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
"""A host name (RFC 1123), also one with the underscores that some clusters have."""
MAX_BYTES = 50_000_000
"""Limit of what is read of a file: more than 131,072 GPUs need, and an end for endless files."""
LIMITS = replace(SETTINGS, unique_levels=1)
"""No host is there twice."""
Entry = tuple[int, str, str]
"""A line of a file: its number, the name in the plan, and the name in the cluster."""


@dataclass(frozen=True, slots=True)
class HostNames:
    """Names of hosts: those given, by the names of the plan, and these themselves for others."""

    given: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, host: str) -> str:
        """The name in the cluster of a host of the plan."""
        return self.given.get(host, host)

    def of(self, hosts: Iterable[str]) -> list[str]:
        return [self[host] for host in hosts]

    def planned(self, hosts: Iterable[str]) -> dict[str, str]:
        """The names in the plan of these hosts, by those in the cluster without a domain."""
        return {short_name(self[host]): host for host in hosts}


def short_name(host: str) -> str:
    """A name without its domain."""
    return host.partition(".")[0]


def read_host_names(path: Path, topology: Topology) -> HostNames:
    """The names in a file: YAML with `plan: cluster` a line, or CSV with two columns, with or without a heading.

    Each GPU server of the plan must be there once, and nothing else. Raises RailfabError, or Problems with each fault,
    with the file and the line.
    """
    try:
        text = file_text(path, MAX_BYTES)
    except UnreadableFile as error:
        problem = error.problem if error.why is Unread.MISSING else f"the file {error.problem}"
        raise RailfabError(str(path), problem, "Name a YAML or CSV file of host names") from None
    entries = list(_rows(path, text) if path.suffix == ".csv" else _keys(path, text))
    planned = [node.name for node in topology.hosts()]
    raise_all([*_faults(path, entries, frozenset(planned)), *_missing(path, entries, planned)])
    return HostNames({host: name for _, host, name in entries})


def _rows(path: Path, text: str) -> Iterator[Entry]:
    reader = csv.reader(text.splitlines())
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#") or (reader.line_num == 1 and cells == ["plan", "cluster"]):
            continue
        if len(cells) != 2:
            where, problem = f"{path}:{reader.line_num}", f"{counted(len(cells), 'column')} are no pair of names"
            raise RailfabError(where, problem, "Give the name in the plan and the name in the cluster")
        yield reader.line_num, cells[0], cells[1]


def _keys(path: Path, text: str) -> Iterator[Entry]:
    """The lines of a mapping, with names as they are written: `007` and `on` are names."""
    try:
        tree = composed(text, LIMITS)
    except Faulty as error:
        raise RailfabError(f"{path}:{error.fault.line}", f"invalid YAML ({error})", "Correct its syntax") from None
    if not isinstance(tree, Keyed):
        raise RailfabError(str(path), "the file contains no mapping", "Give a line `PLAN: CLUSTER` for each host")
    for host, value in tree.entries.items():
        yield tree.lines[host], host, value.text if isinstance(value, Scalar) else ""


def _faults(path: Path, entries: Sequence[Entry], planned: frozenset[str]) -> Iterator[RailfabError]:
    """Hosts that the plan does not have, names that are no host names, and what is there twice."""
    hosts: dict[str, int] = {}
    names: dict[str, int] = {}
    for line, host, name in entries:
        where = f"{path}:{line}"
        if host not in planned:
            yield RailfabError(where, f"the plan has no GPU server {host!r}", "Use its name in the plan, or remove it")
        if NAME.fullmatch(name) is None:
            yield RailfabError(where, f"{name!r} is no host name", "Use letters, digits, hyphens and dots")
        for value, known in ((host, hosts), (name, names)):
            if known.setdefault(value, line) != line:
                yield RailfabError(where, f"{value!r} is on line {known[value]} already", "Name each host once")


def _missing(path: Path, entries: Sequence[Entry], planned: Sequence[str]) -> Iterator[RailfabError]:
    present = {host for _, host, _ in entries}
    missing = [host for host in planned if host not in present]
    if missing:
        has = "has" if len(missing) == 1 else "have"
        problem = f"{counted(len(missing), 'GPU server')} of the plan {has} no name ({folded(missing)})"
        yield RailfabError(str(path), problem, "Give a name to each, or leave out the file")
