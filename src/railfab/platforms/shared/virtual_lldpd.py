"""Outputs of lldpd for the neighbours that a virtual switch hears, in text and JSON.

Layout: lldpctl, in SONiC's doc/Command-Reference.md. The time to live of a neighbour is left out, which is not known.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence

from railfab.platforms.twin_face import VirtualNeighbor, VirtualPort

RULER = "-" * 79
CHASSIS = "mac 02:00:00:00:00:02"
"""Identifier of every neighbour, as in the neighbour tables."""


def details(ports: Sequence[VirtualPort], port_id: str) -> str:
    """The output of `lldpctl`. port_id: kind of the identifiers of ports: `ifname` or `local`."""
    heard = [(port.name, neighbor) for port in ports for neighbor in port.neighbors]
    entries = [line for number, each in enumerate(heard, 1) for line in _entry(number, *each, port_id)]
    return "".join(f"{line}\n" for line in (RULER, "LLDP neighbors:", RULER, *entries))


def as_json(ports: Sequence[VirtualPort]) -> str:
    """The output of `lldpcli show neighbors -f json`."""
    shown = [
        {
            port.name: {
                "via": "LLDP",
                "chassis": {neighbor.name: {"capability": [{"type": "Router", "enabled": True}]}},
                "port": {"id": {"type": "ifname", "value": neighbor.port}, "descr": neighbor.description},
            }
        }
        for port in ports
        for neighbor in port.neighbors
    ]
    return json.dumps({"lldp": {"interface": shown} if shown else {}})


def _entry(number: int, port: str, neighbor: VirtualNeighbor, port_id: str) -> Iterator[str]:
    yield f"Interface:    {port}, via: LLDP, RID: {number}, Time: {_age(time.time() - neighbor.since_s)}"
    yield "  Chassis:"
    yield f"    ChassisID:    {CHASSIS}"
    yield f"    SysName:      {neighbor.name}"
    yield "    Capability:   Bridge, on"
    yield "    Capability:   Router, on"
    yield "  Port:"
    yield f"    PortID:       {port_id} {neighbor.port}"
    yield f"    PortDescr:    {neighbor.description}"
    yield RULER


def _age(seconds: float) -> str:
    days, rest = divmod(max(0, int(seconds)), 86_400)
    return f"{days} day{'s' if days > 1 else ''}, {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
