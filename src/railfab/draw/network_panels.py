"""Panels for the networks other than the backend: spines, leaves, and the nodes cabled to the leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from railfab.draw.cables import CableCurves, LineWidths
from railfab.draw.captions import (
    LINE,
    NAME_SIZE,
    cell_names,
    first_that_fits,
    fit_lines,
    shorten_name,
    switch_facts,
    tooltip_text,
    wrap_phrases,
)
from railfab.draw.cells import MIXED, Cell, switch_cells
from railfab.draw.counts import cable_lines, cable_totals, tier_lines, tier_summaries
from railfab.draw.equivalence import equivalence_classes, node_attributes
from railfab.draw.graph import NetworkGraph, tier_of
from railfab.draw.layout import HEADER, MARGIN, PADDING
from railfab.draw.shapes import switch_shape
from railfab.draw.svg import Box, rectangle, text_line
from railfab.text.counted import counted
from railfab.topology import Net, Node, Role, Topology

PANEL_WIDTH, MIN_WIDTH = 400.0, 320.0
SWITCH_WIDTH, STACK_WIDTH, SWITCH_HEIGHT, GAP, ROW_GAP = 120.0, 144.0, 40.0, 18.0, 48.0
MOST_CLIENTS = 3
NAMES = {Net.FRONTEND: "Frontend", Net.STORAGE: "Storage", Net.MANAGEMENT: "Management", Net.BACKEND: "Backend"}
CLIENTS = {Role.HOST: "host", Role.SERVER: "storage server"}
LIMITS = (None, 4, 2, 1)


def network_panels(
    topology: Topology, graphs: Sequence[tuple[Net, NetworkGraph]], *, top: float, width: float
) -> list[NetworkPanel]:
    """Panels of equal height, side by side over the width [px]. One with a wide row takes space from the others."""
    if not graphs:
        return []
    room = width - MARGIN * (len(graphs) + 1)
    drafts = [NetworkPanel(topology, net, graph, Box(0, top, room / len(graphs), 0)) for net, graph in graphs]
    needed = [panel.needed_width for panel in drafts]
    spare = max(0.0, room - sum(needed)) / len(needed)
    widths = [(each + spare) * min(1.0, room / sum(needed)) for each in needed]
    panels = [replace(panel, box=replace(panel.box, width=each)) for panel, each in zip(drafts, widths, strict=True)]
    height = max(panel.needed_height for panel in panels)
    lefts = accumulate(widths, lambda left, each: left + each + MARGIN, initial=MARGIN)
    return [
        replace(panel, box=Box(left, top, panel.box.width, height)) for panel, left in zip(panels, lefts, strict=False)
    ]


@dataclass(frozen=True)
class NetworkPanel:
    """Panel of one network."""

    topology: Topology
    net: Net
    graph: NetworkGraph
    box: Box

    @cached_property
    def node_indices(self) -> tuple[int, ...]:
        """Indices of the switches of the network."""
        nodes = enumerate(self.topology.nodes)
        return tuple(index for index, node in nodes if node.net is self.net and tier_of(node))

    @cached_property
    def rows(self) -> list[tuple[Cell, ...]]:
        """Rows of cells, from super-spines and spines down to the clients of the leaves."""
        found = [self._switches(role) for role in (Role.SUPER, Role.SPINE, Role.LEAF)]
        return [row for row in [*found, self._clients()] if row]

    def _switches(self, role: Role) -> tuple[Cell, ...]:
        """The row of a role with the most cells that fits the width. Two cells always fit."""
        here = [index for index in self.node_indices if self._node(index).role is role]
        signatures = {index: self._signature(index) for index in here}
        most = int((self._room + GAP) // (STACK_WIDTH + GAP))
        rows = (switch_cells(self.topology.nodes, signatures, role=role, limit=limit, most=most) for limit in LIMITS)
        return next(row for row in rows if _row_width(row) <= self._room)

    @property
    def _room(self) -> float:
        return self.box.width - 2 * PADDING

    def _node(self, index: int) -> Node:
        return self.topology.nodes[index]

    def _signature(self, index: int) -> Hashable:
        """Signature of a switch: attributes, cables to the same switches, number of cables to each class of clients."""
        cables: Counter[Hashable] = Counter()
        for edge in self.graph.edges_of(index):
            other = edge.high if edge.low == index else edge.low
            far_end = other if other in self._own else self._client_classes.get(other)
            cables[edge.low == index, far_end, edge.cable_type] += self.graph.edges[edge]
        return node_attributes(self._node(index)), frozenset(cables.items())

    @cached_property
    def _own(self) -> frozenset[int]:
        return frozenset(self.node_indices)

    @cached_property
    def _client_classes(self) -> Mapping[int, tuple[str, tuple[tuple[int, int], ...]]]:
        """Class of each client: what it is, and the number of its ports by speed [Gb/s]."""
        ports: dict[int, Counter[int]] = {}
        for edge, count in self.graph.edges.items():
            if edge.low not in self._own:
                rate = self.graph.cable_types[edge.cable_type].rate_gbps
                ports.setdefault(edge.low, Counter())[rate] += count
        return {
            index: (CLIENTS.get(self._node(index).role, "switch"), tuple(sorted(found.items())))
            for index, found in sorted(ports.items())
        }

    def _clients(self) -> tuple[Cell, ...]:
        """Cells of the hosts, servers and switches of other networks; clients of one class share a cell."""
        cells = []
        for members in equivalence_classes(self._client_classes):
            what, ports = self._client_classes[members[0]]
            each = ", ".join(f"{count} × {rate}G" for rate, count in ports) + " each"
            cells.append(Cell(role=Role.SERVER, node_indices=members, name=counted(len(members), what), note=each))
        if len(cells) <= MOST_CLIENTS:
            return tuple(cells)
        rest = tuple(sorted(index for cell in cells[MOST_CLIENTS - 1 :] for index in cell.node_indices))
        other = Cell(role=Role.SERVER, node_indices=rest, name=f"{len(rest):,} others", note=MIXED)
        return (*cells[: MOST_CLIENTS - 1], other)

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """Boxes of the cells, each row centred in the panel."""
        found = {}
        y = self.box.y + HEADER + 10
        for row in self.rows:
            widest = (self._room - GAP * (len(row) - 1)) / len(row)
            widths = [min(_width(cell), widest) for cell in row]
            x = self.box.middle - (sum(widths) + GAP * (len(row) - 1)) / 2
            for cell, width in zip(row, widths, strict=True):
                found[cell.key] = Box(x, y, width, SWITCH_HEIGHT)
                x += width + GAP
            y += SWITCH_HEIGHT + ROW_GAP
        return found

    @cached_property
    def notes(self) -> list[str]:
        """Texts about the tiers and the cables."""
        found = []
        for role, here in tier_summaries(self.graph, self.node_indices).items():
            word = {Role.LEAF: "Leaves", Role.SPINE: "Spines"}.get(role, "Super-spines")
            below = [f"{'' if index else 'cables below: '}{line}" for index, line in enumerate(cable_lines(here))]
            switches = [f"{'' if index else f'{word}: '}{line}" for index, line in enumerate(tier_lines(here))]
            found += wrap_phrases([*switches, *below], self._room)
        return found

    @property
    def needed_width(self) -> float:
        """Width at which no box is narrower than it should be [px]."""
        return max(MIN_WIDTH, *(_row_width(row) + 2 * PADDING for row in self.rows))

    @property
    def needed_height(self) -> float:
        rows = len(self.rows) * (SWITCH_HEIGHT + ROW_GAP) - ROW_GAP
        return HEADER + 10 + rows + 10 + LINE * len(self.notes) + PADDING

    @cached_property
    def cells(self) -> dict[int, Cell]:
        return {cell.key: cell for row in self.rows for cell in row}

    @cached_property
    def cabling(self) -> CableCurves:
        totals = cable_totals(self.graph, self.cells.values())
        return CableCurves(self.boxes, totals, cell_names(self.topology.nodes, self.cells), {})

    def body(self, widths: LineWidths) -> Iterator[str]:
        """SVG elements of the panel."""
        yield rectangle(self.box, "frame", radius=10)
        yield text_line(self.box.x + PADDING, self.box.y + 21, NAMES[self.net], "title")
        yield text_line(self.box.x + self.box.width - PADDING, self.box.y + 21, self._summary(), "end")
        yield from self.cabling.lines(widths)
        for key, cell in self.cells.items():
            box, tooltip = self.boxes[key], tooltip_text(self.topology.nodes, cell)
            yield switch_shape(
                box, cell, self._lines(cell, box.width), tooltip=tooltip, rails=set(), height=SWITCH_HEIGHT
            )
        bottom = self.box.y + HEADER + 10 + len(self.rows) * (SWITCH_HEIGHT + ROW_GAP) - ROW_GAP
        for index, line in enumerate(self.notes, start=1):
            yield text_line(self.box.x + PADDING, bottom + 10 + LINE * index, line, "side")

    def _summary(self) -> str:
        counts = Counter(self._node(index).role for index in self.node_indices)
        parts = [(counts[Role.LEAF], "leaf"), (counts[Role.SPINE], "spine"), (self.graph.cable_count(), "cable")]
        return " · ".join(counted(count, what) for count, what in parts if count)

    def _lines(self, cell: Cell, width: float) -> list[str]:
        if cell.name:
            names = cell.name, cell.name.replace("storage servers", "servers")
            return fit_lines([first_that_fits(names, width, NAME_SIZE, bold=True), cell.note], width)
        node = self._node(cell.key)
        return fit_lines([shorten_name(node.name, width), first_that_fits(switch_facts(node), width)], width)


def _width(cell: Cell) -> float:
    return STACK_WIDTH if cell.name else SWITCH_WIDTH


def _row_width(row: Sequence[Cell]) -> float:
    return sum(map(_width, row)) + GAP * (len(row) - 1)
