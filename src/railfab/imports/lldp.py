"""LLDP of hosts: `lldpcli -f json0 show neighbors details`, one file a host, HOST.json.

Source: lldpd 1.0.16 (Debian 12). In json0 what may be there several times is a list, also where it is there once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from railfab.bounded_json import load_json
from railfab.fabric.host_names import short_name
from railfab.imports.document import read_text
from railfab.imports.existing import SourceError, raise_first
from railfab.yaml_reader.files import Unread

MAX_BYTES = 50_000_000
COMMAND = "lldpcli -f json0 show neighbors details"
WRITE_IT = f"Write it with `{COMMAND}`"
REMEDIES = {
    Unread.MISSING: WRITE_IT,
    Unread.REFUSED: f"Make it a readable file, with what `{COMMAND}` prints",
    Unread.ENCODING: WRITE_IT,
    Unread.SIZE: WRITE_IT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LldpNeighbor:
    """A neighbour of a NIC. names: of its port, the identifier first, then the description."""

    nic: str
    device: str
    names: tuple[str, ...]


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
    try:
        document = load_json(read_text(path, MAX_BYTES, REMEDIES))
    except json.JSONDecodeError as error:
        problem = f"is not JSON ({error.msg}, column {error.colno})"
        raise SourceError(f"{path}:{error.lineno}", problem, WRITE_IT) from None
    except ValueError as error:
        raise SourceError(str(path), f"is {error}", WRITE_IT) from None
    lldp = document.get("lldp") if isinstance(document, dict) else None
    if isinstance(lldp, dict):
        problem = "was written with -f json, whose shape depends on the number of neighbours"
        raise SourceError(str(path), problem, WRITE_IT)
    if not isinstance(lldp, list) or not all(isinstance(part, dict) for part in lldp):
        raise SourceError(str(path), "has no list lldp", WRITE_IT)
    for part in lldp:
        for number, entry in enumerate(_listed(path, part, "interface")):
            yield _neighbor(f"{path}: interface {number + 1}", entry)


def _listed(where: Path | str, holder: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The mappings of a list; none without it."""
    value = holder.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise SourceError(str(where), f"{key} is no list of mappings", WRITE_IT)
    return value


def _neighbor(where: str, entry: dict[str, Any]) -> LldpNeighbor:
    """A neighbour; a device without a name has its identifier."""
    nic = entry.get("name")
    if not isinstance(nic, str) or not nic:
        raise SourceError(where, "has no name", WRITE_IT)
    devices = [
        value
        for chassis in _listed(where, entry, "chassis")
        for key in ("name", "id")
        for value in _values(where, chassis, key)
    ]
    names = [
        value
        for port in _listed(where, entry, "port")
        for key in ("id", "descr")
        for value in _values(where, port, key)
    ]
    if not devices or not names:
        missing = "chassis" if not devices else "port"
        raise SourceError(f"{where} ({nic})", f"has no {missing} with a name or an identifier", WRITE_IT)
    return LldpNeighbor(nic=nic, device=devices[0], names=tuple(dict.fromkeys(names)))


def _values(where: str, holder: dict[str, Any], key: str) -> Iterator[str]:
    for part in _listed(where, holder, key):
        value = part.get("value")
        if isinstance(value, str) and value:
            yield value
