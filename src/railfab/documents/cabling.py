"""The cabling plan: one row per cable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from railfab.documents.table import Cell, Table
from railfab.intent import FabricIntent
from railfab.topology.model import Link, Topology, link_network
from railfab.topology.optics import link_media, media_name
from railfab.topology.racks import Position

COLUMNS = (
    "from_node",
    "from_rack",
    "from_unit",
    "from_port",
    "to_node",
    "to_rack",
    "to_unit",
    "to_port",
    "speed_gbps",
    "media",
    "length_m",
    "network",
    "plane",
    "rail",
    "label",
)


def cabling(topology: Topology, intent: FabricIntent, positions: Mapping[str, Position]) -> Table:
    """Every cable, with the label for both ends."""
    return Table(name="cabling", columns=COLUMNS, rows=list(_rows(topology, intent, positions)))


def _rows(topology: Topology, intent: FabricIntent, positions: Mapping[str, Position]) -> Iterator[tuple[Cell, ...]]:
    nodes = topology.by_name
    media, metres = link_media(topology, intent), cache("{:g}".format)
    for link in topology.links:
        a, z = link.a, link.z
        from_, to = positions[a.node], positions[z.node]
        end = nodes[z.node]
        yield (
            a.node,
            from_.rack,
            from_.unit,
            a.name,
            z.node,
            to.rack,
            to.unit,
            z.name,
            link.rate_gbps,
            media_name(media(link)),
            metres(link.cable_m),
            link_network(nodes[a.node], end),
            end.plane,
            a.rail,
            label(link),
        )


def label(link: Link) -> str:
    """The label for both ends of a cable."""
    return f"{link.a.node}:{link.a.name}--{link.z.node}:{link.z.name}"
