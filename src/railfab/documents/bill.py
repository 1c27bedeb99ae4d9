"""The bill of materials: items and quantities.

A breakout cage uses one transceiver, or one end of a cable, for all its lanes. So a row has, in addition to its
quantity, the number of cable ends (of optics) or links (of cables) that it serves: all cables together serve every link
of the fabric, and all optics twice as many ends as there are optical links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from railfab.documents.overview import ROLES
from railfab.documents.table import Cell, Table
from railfab.intent import FabricIntent
from railfab.topology.equipment import Media
from railfab.topology.model import CabledPort, Link, Role, Topology
from railfab.topology.optics import LinkMedia, link_media

COLUMNS = ("item", "part", "length_m", "quantity", "serves", "used_as")
BREAKOUT, TRUNK = "one per breakout cage", "one per pair of breakout cages"
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
    """A transceiver per port, or per breakout cage."""
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
        yield "optic", part, None, count, count, "one per port"
    found: dict[str, list[int]] = {}
    for (node, _, optic, rate), ends in cages.items():
        lanes = topology.model_of(topology.node(node)).lanes_for(rate) or 1
        found.setdefault(f"{lanes * rate}G module of {lanes} x {optic}", []).append(ends)
    for part, served in found.items():
        yield "optic", part, None, len(served), sum(served), BREAKOUT


def _cables(topology: Topology, media: LinkMedia) -> Iterator[tuple[Cell, ...]]:
    """A cable per link; a DAC, AEC or AOC for all links of a breakout cage."""
    single: Counter[Part] = Counter()
    shared: dict[str, Counter[tuple[Part, str, int]]] = {BREAKOUT: Counter(), TRUNK: Counter()}
    for link in topology.links:
        kind, split = media(link), _split(link)
        if kind is None or kind.pluggables_per_end or split is None:
            single[_cable(kind, link), link.cable_m] += 1
            continue
        use, cage = split
        part = _of_cage(topology, kind, link, cage, "breakout cable" if use == BREAKOUT else "cable")
        shared[use][(part, link.cable_m), cage.node, cage.cage] += 1
    for (part, metres), count in sorted(single.items()):
        yield "cable", part, metres, count, count, "one per link"
    for use, cages in shared.items():
        found: dict[Part, list[int]] = {}
        for (shared_part, _, _), links in cages.items():
            found.setdefault(shared_part, []).append(links)
        for (part, metres), served in sorted(found.items()):
            yield "cable", part, metres, len(served), sum(served), use


def _cable(kind: Media | None, link: Link) -> str:
    if kind is None:
        return f"unknown, for {link.rate_gbps}G"
    return f"fibre for {kind.name}" if kind.pluggables_per_end else kind.name


def _of_cage(topology: Topology, kind: Media, link: Link, cage: CabledPort, what: str) -> str:
    """Name of a cable for all links of a breakout cage, by the rate of its plug there."""
    links = topology.model_of(topology.node(cage.node)).lanes_for(link.rate_gbps) or 1
    return f"{links * link.rate_gbps}G {what} of {links} x {kind.name}"


def _split(link: Link) -> tuple[str, CabledPort] | None:
    """The way in which the links of a cage share a cable, and the cage; None without breakout."""
    a, z = link.a, link.z
    if a.lane is None and z.lane is None:
        return None
    if a.lane is not None and z.lane is not None:
        return TRUNK, a
    return BREAKOUT, z if a.lane is None else a
