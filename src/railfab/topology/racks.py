"""Rack elevation: rack and unit of each host and switch.

The position of a node depends only on its own numbers, so adding a host, a segment or a pod moves no node:

- hosts are in racks of their segment, `hosts.per_rack` per rack: `pod1-seg1-r1`;
- rail switches are in the middle of the row of their segment, so that host cables are short: `pod1-seg1-net1`;
- spines are at the end of the rows of their pod: `pod1-net1`; super-spines between the pods: `super-net1`;
- each further plane has separate racks: `plane2-pod1-seg1-net1`;
- in the racks of another network, leaves use the lower half and spines the upper half: `front-net1`;
- storage servers have separate racks: `store-r1`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from railfab.findings import DesignCode, Finding, Severity
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, remedy
from railfab.topology.equipment import host_of
from railfab.topology.model import Net, Node, Role, Topology
from railfab.topology.optics import SERVER_UNITS

RACK_UNITS = 48
"""Height of a rack [U]."""
SWITCH_UNITS = 32
"""Units of a network rack for switches; the rest is for patch panels and cable bends [U]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Position in a rack. unit: the lowest unit, from 1. units: height."""

    rack: str
    unit: int
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of racks that are filled one after another. first_unit: from 0; in_rack: nodes per rack."""

    name: str
    in_rack: int
    units: int
    first_unit: int = 0

    def position(self, index: int) -> Position:
        """index: from 1."""
        rack, slot = divmod(index - 1, self.in_rack)
        return Position(rack=f"{self.name}{rack + 1}", unit=self.first_unit + slot * self.units + 1, units=self.units)


def racks(topology: Topology, intent: FabricIntent) -> dict[str, Position]:
    """The position of each node, by name. Raises TopologyError for an unknown host model."""
    return {node.name: _ROWS[node.role](topology, intent, node).position(node.index) for node in topology.nodes}


def rack_findings(topology: Topology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that the hosts of a rack fit into it."""
    units, per_rack = host_of(intent.hosts).units, intent.hosts.per_rack
    in_segment = max((node.index for node in topology.hosts()), default=0)
    needed = min(per_rack, in_segment) * units
    if needed > RACK_UNITS:
        yield Finding(
            severity=Severity.WARNING,
            code=DesignCode.RACK_SPACE,
            where="hosts.per_rack",
            problem=f"{min(per_rack, in_segment)} hosts of {units} U need {needed} U, and a rack has {RACK_UNITS} U",
            remedy=remedy(Choice(f"at most {RACK_UNITS // units}", {"hosts.per_rack": RACK_UNITS // units})),
        )


def _hosts(_: Topology, intent: FabricIntent, node: Node) -> _Row:
    units = host_of(intent.hosts).units
    return _Row(name=f"pod{node.pod}-seg{node.segment}-r", in_rack=intent.hosts.per_rack, units=units)


def _servers(_: Topology, __: FabricIntent, ___: Node) -> _Row:
    return _Row(name="store-r", in_rack=SWITCH_UNITS // SERVER_UNITS, units=SERVER_UNITS)


def _leaves(topology: Topology, _: FabricIntent, node: Node) -> _Row:
    if node.net is not Net.BACKEND:
        return _half(topology, node, 0)
    return _switches(topology, node, f"pod{node.pod}-seg{node.segment}-net")


def _spines(topology: Topology, _: FabricIntent, node: Node) -> _Row:
    if node.net is not Net.BACKEND:
        return _half(topology, node, RACK_UNITS // 2)
    return _switches(topology, node, f"pod{node.pod}-net")


def _supers(topology: Topology, _: FabricIntent, node: Node) -> _Row:
    return _switches(topology, node, "super-net")


def _switches(topology: Topology, node: Node, name: str) -> _Row:
    units = max(1, topology.model_of(node).units)
    plane = f"plane{node.plane}-" if node.plane > 1 else ""
    return _Row(name=f"{plane}{name}", in_rack=max(1, SWITCH_UNITS // units), units=units)


def _half(topology: Topology, node: Node, first_unit: int) -> _Row:
    """A row of half racks of another network, named by the first word of its switch names after the prefix of the
    fabric; a chassis higher than half a rack has a whole rack."""
    units, network = max(1, topology.model_of(node).units), node.name.split("-")[-2]
    if units > RACK_UNITS // 2:
        return _Row(name=f"{network}-{node.role}-net", in_rack=1, units=units)
    return _Row(name=f"{network}-net", in_rack=RACK_UNITS // 2 // units, units=units, first_unit=first_unit)


_ROWS: Mapping[Role, Callable[[Topology, FabricIntent, Node], _Row]] = {
    Role.HOST: _hosts,
    Role.SERVER: _servers,
    Role.LEAF: _leaves,
    Role.SPINE: _spines,
    Role.SUPER: _supers,
}
