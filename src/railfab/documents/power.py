"""Largest power of each rack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railfab.documents.table import Cell, Table
from railfab.intent import FabricIntent
from railfab.topology.equipment import host_of
from railfab.topology.model import TIERS, Role, Topology
from railfab.topology.optics import SERVER_W, link_media
from railfab.topology.racks import Position

COLUMNS = ("rack", "hosts", "servers", "switches", "hosts_w", "servers_w", "switches_w", "optics_w", "power_w")


@dataclass(slots=True)
class _Rack:
    """Devices of a rack and their power [W]. optics_w: optics in hosts; the power of a switch includes its optics."""

    hosts: int = 0
    servers: int = 0
    switches: int = 0
    hosts_w: int = 0
    servers_w: int = 0
    switches_w: int = 0
    optics_w: float = 0.0

    def row(self, rack: str) -> tuple[Cell, ...]:
        counts = self.hosts, self.servers, self.switches
        optics_w = round(self.optics_w)
        return rack, *counts, self.hosts_w, self.servers_w, self.switches_w, optics_w, round(self.power_w)

    @property
    def power_w(self) -> float:
        return self.hosts_w + self.servers_w + self.switches_w + self.optics_w


def power(topology: Topology, intent: FabricIntent, positions: Mapping[str, Position]) -> Table:
    """Power per rack [W], in the order of the racks."""
    racks: dict[str, _Rack] = {}
    optics_w = host_optics_w(topology, intent)
    for node in topology.nodes:
        rack = racks.setdefault(positions[node.name].rack, _Rack())
        if node.role is Role.HOST:
            rack.hosts += 1
            rack.hosts_w += host_of(intent.hosts).power_w
        elif node.role is Role.SERVER:
            rack.servers += 1
            rack.servers_w += SERVER_W
        else:
            rack.switches += 1
            rack.switches_w += topology.model_of(node).power_w
        rack.optics_w += optics_w.get(node.name, 0)
    return Table(name="power", columns=COLUMNS, rows=[rack.row(name) for name, rack in racks.items()])


def host_optics_w(topology: Topology, intent: FabricIntent) -> Mapping[str, float]:
    """Power of the cable ends in each host and storage server [W]."""
    found: dict[str, float] = {}
    media, nodes = link_media(topology, intent), topology.by_name
    for link in topology.links:
        if TIERS[nodes[link.a.node].role] == 0 and (kind := media(link)):
            found[link.a.node] = found.get(link.a.node, 0.0) + kind.power_w
    return found
