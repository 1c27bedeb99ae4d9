"""LLDP of a host, as `lldpcli -f json0 show neighbors details` prints it.

Source: lldpd 1.0.16 (Debian 12). In json0 what may be there several times is a list, also where it is there once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from railfab.bounded_json import load_json

COMMAND = "lldpcli -f json0 show neighbors details"
SPOKEN = ("ifname", "local")
"""Kinds of port identifiers that are the name of a port; where it is of another kind (`mac`), the description is."""


class LldpTextError(ValueError):
    """A text that lldpcli did not print. where: the line, or the interface; empty for the whole text."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)
        self.where, self.problem = where, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class LldpNeighbor:
    """A neighbour of a NIC. names: of its port, the identifier first, then the description. port: that of the two by
    which its device calls it."""

    nic: str
    device: str
    names: tuple[str, ...]
    port: str


def lldp_neighbors(text: str) -> Iterator[LldpNeighbor]:
    """The neighbours in the output of lldpcli. Raises LldpTextError."""
    try:
        document = load_json(text)
    except json.JSONDecodeError as error:
        raise LldpTextError(str(error.lineno), f"is not JSON ({error.msg}, column {error.colno})") from None
    except ValueError as error:
        raise LldpTextError("", f"is {error}") from None
    lldp = document.get("lldp") if isinstance(document, dict) else None
    if isinstance(lldp, dict):
        raise LldpTextError("", "was written with -f json, whose shape depends on the number of neighbours")
    if not isinstance(lldp, list) or not all(isinstance(part, dict) for part in lldp):
        raise LldpTextError("", "has no list lldp")
    for part in lldp:
        for number, entry in enumerate(_listed("", part, "interface")):
            yield _neighbor(f"interface {number + 1}", entry)


def _listed(where: str, holder: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The mappings of a list; none without it."""
    value = holder.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise LldpTextError(where, f"{key} is no list of mappings")
    return value


def _neighbor(where: str, entry: dict[str, Any]) -> LldpNeighbor:
    """A neighbour; a device without a name has its identifier."""
    nic = entry.get("name")
    if not isinstance(nic, str) or not nic:
        raise LldpTextError(where, "has no name")
    chassis, ports = _listed(where, entry, "chassis"), _listed(where, entry, "port")
    devices = [name for part in chassis for key in ("name", "id") for _, name in _values(where, part, key)]
    names = [named for part in ports for key in ("id", "descr") for named in _values(where, part, key)]
    if not devices or not names:
        missing = "chassis" if not devices else "port"
        raise LldpTextError(f"{where} ({nic})", f"has no {missing} with a name or an identifier")
    kind, first = names[0]
    port = first if kind in SPOKEN else names[-1][1]
    return LldpNeighbor(nic=nic, device=devices[0], names=tuple(dict.fromkeys(name for _, name in names)), port=port)


def _values(where: str, holder: dict[str, Any], key: str) -> Iterator[tuple[str, str]]:
    """Kind, and text, of each value."""
    for part in _listed(where, holder, key):
        value = part.get("value")
        if isinstance(value, str) and value:
            yield str(part.get("type", "")), value
