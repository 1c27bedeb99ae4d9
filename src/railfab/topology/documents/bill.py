"""The bill of materials: what is bought, and how many of it.

A cage that is broken out takes one transceiver, or one end of a breakout cable, for all its lanes. So a line says
besides its quantity how many cable ends (of optics) or links (of cables) it serves: all cables serve as many links as
the fabric has, and all optics twice as many ends as there are optical links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from railfab.intent import FabricIntent
from railfab.topology.documents.fittings import LinkMedia, link_media
from railfab.topology.documents.overview import ROLES
from railfab.topology.documents.table import Cell, Table
from railfab.topology.equipment import Media
from railfab.topology.model import Link, Port, Role, Topology

COLUMNS = ("item", "part", "length_m", "quantity", "serves", "used_as")
Part = tuple[str, float]
"""Name and length [m]."""


def bill_of_materials(topology: Topology, intent: FabricIntent) -> Table:
    """Hosts, switches, optics and cables, grouped and counted."""
    media = link_media(topology, intent)
    rows = (*_hosts(topology, intent), *_switches(topology), *_optics(topology, media), *_cables(topology, media))
    return Table(name="bill-of-materials", columns=COLUMNS, rows=rows)


def _hosts(topology: Topology, intent: FabricIntent) -> Iterator[tuple[Cell, ...]]:
    if hosts := len(topology.hosts()):
        yield "host", intent.hosts.model, None, hosts, None, f"GPU server, {intent.hosts.gpus} GPUs"
    if servers := sum(node.role is Role.SERVER for node in topology.nodes):
        yield "host", "storage server", None, servers, None, "storage server"


def _switches(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    kinds = Counter((node.model, node.net, node.role, node.platform) for node in topology.switches())
    for (model, net, role, platform), count in kinds.items():
        yield "switch", model, None, count, None, f"{net} {ROLES[role]}, {platform}"


def _optics(topology: Topology, media: LinkMedia) -> Iterator[tuple[Cell, ...]]:
    """A transceiver for each port, or for each cage that is broken out."""
    whole: Counter[str] = Counter()
    cages: Counter[tuple[str, int, str, int]] = Counter()
    for link in topology.links:
        kind = media(link)
        if kind is None or not kind.pluggables_per_end:
            continue
        for port in (link.a, link.z):
            if port.lane is None:
                whole[kind.name] += 1
            else:
                cages[port.node, port.cage, kind.name, link.rate_gbps] += 1
    for part, count in whole.items():
        yield "optic", part, None, count, count, "one a port"
    found: dict[str, list[int]] = {}
    for (node, _, optic, rate), ends in cages.items():
        lanes = topology.model_of(topology.node(node)).lanes_for(rate) or 1
        found.setdefault(f"{lanes * rate}G module of {lanes} x {optic}", []).append(ends)
    for part, served in found.items():
        yield "optic", part, None, len(served), sum(served), "one a broken-out cage"


def _cables(topology: Topology, media: LinkMedia) -> Iterator[tuple[Cell, ...]]:
    """A cable for each link; where its ends are attached, one breakout cable for the links of a cage."""
    single: Counter[Part] = Counter()
    fans: Counter[tuple[Part, str, int]] = Counter()
    for link in topology.links:
        kind = media(link)
        if kind is not None and not kind.pluggables_per_end and (fan := _fan(link)):
            fans[(f"{kind.name}, breakout", link.cable_m), fan.node, fan.cage] += 1
        else:
            single[_cable(kind, link), link.cable_m] += 1
    for (part, metres), count in sorted(single.items()):
        yield "cable", part, f"{metres:g}", count, count, "one a link"
    found: dict[Part, list[int]] = {}
    for (fan_part, _, _), links in fans.items():
        found.setdefault(fan_part, []).append(links)
    for (part, metres), served in sorted(found.items()):
        yield "cable", part, f"{metres:g}", len(served), sum(served), "one a broken-out cage"


def _cable(kind: Media | None, link: Link) -> str:
    if kind is None:
        return f"unknown, for {link.rate_gbps}G"
    return f"fibre for {kind.name}" if kind.pluggables_per_end else kind.name


def _fan(link: Link) -> Port | None:
    """The end that is broken out, where the other is not."""
    if (link.a.lane is None) == (link.z.lane is None):
        return None
    return link.z if link.a.lane is None else link.a
