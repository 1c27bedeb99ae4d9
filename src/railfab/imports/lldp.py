"""LLDP of hosts: what `lldpcli -f json0 show neighbors details` printed, one file a host, HOST.json."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from railfab.fabric.host_names import short_name
from railfab.hosts.lldp import COMMAND, LldpNeighbor, LldpTextError, lldp_neighbors
from railfab.imports.document import read_text
from railfab.imports.existing import SourceError, raise_first
from railfab.yaml_reader.files import Unread

MAX_BYTES = 50_000_000
WRITE_IT = f"Write it with `{COMMAND}`"
REMEDIES = {
    Unread.MISSING: WRITE_IT,
    Unread.REFUSED: f"Make it a readable file, with what `{COMMAND}` prints",
    Unread.ENCODING: WRITE_IT,
    Unread.SIZE: WRITE_IT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNeighbors:
    """The neighbours that a host sees. host: its name in the cluster, that of the file."""

    host: str
    neighbors: tuple[LldpNeighbor, ...]


def read_host_neighbors(folder: Path) -> tuple[HostNeighbors, ...]:
    """The neighbours in each *.json of a folder. Raises SourceError, or Problems, for files that are none, and for two
    of one host."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        raise SourceError(str(folder), "cannot be read", "Name a readable folder") from None
    if not paths:
        problem = "has no *.json, one for each host"
        raise SourceError(str(folder), problem, f"Write HOST.json on each host with `{COMMAND}`")
    hosts: list[HostNeighbors] = []
    errors: list[SourceError] = []
    files: dict[str, Path] = {}
    for path in paths:
        first = files.setdefault(short_name(path.stem), path)
        if first is not path:
            problem = f"is of the same host as {first.name}: domains are not compared"
            errors.append(SourceError(str(path), problem, "Keep the newer file, and remove the older one"))
            continue
        try:
            hosts.append(HostNeighbors(host=path.stem, neighbors=tuple(_neighbors(path))))
        except SourceError as error:
            errors.append(error)
    raise_first(str(folder), errors)
    return tuple(hosts)


def _neighbors(path: Path) -> Iterator[LldpNeighbor]:
    text = read_text(path, MAX_BYTES, REMEDIES)
    try:
        yield from lldp_neighbors(text)
    except LldpTextError as error:
        where = (
            f"{path}:{error.where}"
            if error.where.isdecimal()
            else f"{path}: {error.where}"
            if error.where
            else str(path)
        )
        raise SourceError(where, error.problem, WRITE_IT) from None
