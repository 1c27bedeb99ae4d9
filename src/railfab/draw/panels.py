"""The networks beside the backend, each a small panel: its spines and leaves, and who is cabled to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.alike import classes, make
from railfab.draw.cables import Cabling
from railfab.draw.captions import (
    LINE,
    NAME_SIZE,
    boxed,
    everyone,
    facts,
    first_that_fits,
    fitting_name,
    joined,
    names_of,
)
from railfab.draw.cells import SEVERAL, Cell, switch_cells
from railfab.draw.layout import HEADER, MARGIN, PADDING
from railfab.draw.svg import Box, rectangle, words
from railfab.draw.tally import cable_lines, joints, tier_lines, tiers
from railfab.draw.tiles import switch_tile
from railfab.draw.wires import Wiring, tier
from railfab.topology import Net, Node, Role, Topology
from railfab.units import counted

PANEL_WIDTH = 400.0
TILE, STACK, TILE_HEIGHT, GAP, ROW_GAP = 116.0, 140.0, 40.0, 12.0, 44.0
MOST_CLIENTS = 3
NAMES = {Net.FRONTEND: "Frontend", Net.STORAGE: "Storage", Net.MANAGEMENT: "Management", Net.BACKEND: "Backend"}
CLIENTS = {Role.HOST: "host", Role.SERVER: "storage server"}
LIMITS = (None, 4, 2, 1)


def panels(topology: Topology, wirings: Sequence[tuple[Net, Wiring]], *, top: float, width: float) -> list[Panel]:
    """Side by side over the width, equally high [px]."""
    if not wirings:
        return []
    each = (width - MARGIN * (len(wirings) + 1)) / len(wirings)
    drafts = [Panel(topology, net, wiring, Box(0, top, each, 0)) for net, wiring in wirings]
    height = max(panel.needed_height for panel in drafts)
    boxes = (Box(MARGIN + place * (each + MARGIN), top, each, height) for place in range(len(drafts)))
    return [Panel(topology, panel.net, panel.wiring, box) for panel, box in zip(drafts, boxes, strict=True)]


@dataclass(frozen=True)
class Panel:
    """One network in a box."""

    topology: Topology
    net: Net
    wiring: Wiring
    box: Box

    @cached_property
    def inside(self) -> tuple[int, ...]:
        """Places of its own switches."""
        nodes = enumerate(self.topology.nodes)
        return tuple(place for place, node in nodes if node.net is self.net and tier(node))

    @cached_property
    def rows(self) -> list[tuple[Cell, ...]]:
        """From the spines down to who is cabled to the leaves."""
        found = [self._switches(role) for role in (Role.SUPER, Role.SPINE, Role.LEAF)]
        return [row for row in [*found, self._clients()] if row]

    def _switches(self, role: Role) -> tuple[Cell, ...]:
        """As many as there is room for; the rest as they are alike. Two boxes always fit."""
        here = [place for place in self.inside if self._node(place).role is role]
        alike = {place: self._signature(place) for place in here}
        most = int((self._room + GAP) // (STACK + GAP))
        rows = (switch_cells(self.topology.nodes, alike, role=role, limit=limit, most=most) for limit in LIMITS)
        return next(row for row in rows if _row_width(row) <= self._room)

    @property
    def _room(self) -> float:
        return self.box.width - 2 * PADDING

    def _node(self, place: int) -> Node:
        return self.topology.nodes[place]

    def _signature(self, place: int) -> Hashable:
        """Its model, its cables to the very same switches, and how many to clients of each kind."""
        cables: Counter[Hashable] = Counter()
        for wire in self.wiring.at(place):
            other = wire.high if wire.low == place else wire.low
            known = other if other in self._own else self._clients_of.get(other)
            cables[wire.low == place, known, wire.kind] += self.wiring.wires[wire]
        return make(self._node(place)), frozenset(cables.items())

    @cached_property
    def _own(self) -> frozenset[int]:
        return frozenset(self.inside)

    @cached_property
    def _clients_of(self) -> Mapping[int, tuple[str, tuple[tuple[int, int], ...]]]:
        """What each client is, and how many of its ports have which speed."""
        ports: dict[int, Counter[int]] = {}
        for wire, count in self.wiring.wires.items():
            if wire.low not in self._own:
                rate = self.wiring.kinds[wire.kind].rate_gbps
                ports.setdefault(wire.low, Counter())[rate] += count
        return {
            place: (CLIENTS.get(self._node(place).role, "switch"), tuple(sorted(found.items())))
            for place, found in sorted(ports.items())
        }

    def _clients(self) -> tuple[Cell, ...]:
        """Hosts, servers and switches of other networks, those with equal ports together."""
        cells = []
        for kind in classes(self._clients_of):
            what, ports = self._clients_of[kind[0]]
            each = ", ".join(f"{count} × {rate}G" for rate, count in ports) + " each"
            cells.append(Cell(role=Role.SERVER, places=kind, name=counted(len(kind), what), like=each))
        if len(cells) <= MOST_CLIENTS:
            return tuple(cells)
        rest = tuple(sorted(place for cell in cells[MOST_CLIENTS - 1 :] for place in cell.places))
        other = Cell(role=Role.SERVER, places=rest, name=f"{len(rest):,} others", like=SEVERAL)
        return (*cells[: MOST_CLIENTS - 1], other)

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """Rows below each other, in the middle of the panel."""
        found = {}
        y = self.box.y + HEADER + 10
        for row in self.rows:
            widest = (self._room - GAP * (len(row) - 1)) / len(row)
            widths = [min(_width(cell), widest) for cell in row]
            x = self.box.middle - (sum(widths) + GAP * (len(row) - 1)) / 2
            for cell, width in zip(row, widths, strict=True):
                found[cell.key] = Box(x, y, width, TILE_HEIGHT)
                x += width + GAP
            y += TILE_HEIGHT + ROW_GAP
        return found

    @cached_property
    def notes(self) -> list[str]:
        """Its tiers and cables in words."""
        found = []
        for role, here in tiers(self.wiring, self.inside).items():
            word = {Role.LEAF: "leaves", Role.SPINE: "spines"}.get(role, "super-spines")
            below = [line + " below" if not place else line for place, line in enumerate(cable_lines(here))]
            phrases = [
                f"{'' if place else word.capitalize() + ' '}{line}" for place, line in enumerate(tier_lines(here))
            ]
            found += joined([*phrases, *below], self._room)
        return found

    @property
    def needed_height(self) -> float:
        rows = len(self.rows) * (TILE_HEIGHT + ROW_GAP) - ROW_GAP
        return HEADER + 10 + rows + 10 + LINE * len(self.notes) + PADDING

    def body(self) -> Iterator[str]:
        """The panel with everything in it."""
        cells = {cell.key: cell for row in self.rows for cell in row}
        found = joints(self.wiring, cells.values())
        yield rectangle(self.box, "frame", radius=10)
        yield words(self.box.x + PADDING, self.box.y + 21, NAMES[self.net], "title")
        yield words(self.box.x + self.box.width - PADDING, self.box.y + 21, self._summary(), "end")
        yield from Cabling(self.boxes, found, names_of(self.topology.nodes, cells), {}).lines()
        for key, cell in cells.items():
            box, tooltip = self.boxes[key], everyone(self.topology.nodes, cell)
            yield switch_tile(box, cell, self._lines(cell, box.width), tooltip=tooltip, rails=set(), height=TILE_HEIGHT)
        bottom = self.box.y + HEADER + 10 + len(self.rows) * (TILE_HEIGHT + ROW_GAP) - ROW_GAP
        for place, line in enumerate(self.notes, start=1):
            yield words(self.box.x + PADDING, bottom + 10 + LINE * place, line, "side")

    def _summary(self) -> str:
        counts = Counter(self._node(place).role for place in self.inside)
        parts = [(counts[Role.LEAF], "leaf"), (counts[Role.SPINE], "spine"), (self.wiring.total(), "cable")]
        return " · ".join(counted(count, what) for count, what in parts if count)

    def _lines(self, cell: Cell, width: float) -> list[str]:
        if cell.name:
            names = cell.name, cell.name.replace("storage servers", "servers")
            return boxed([first_that_fits(names, width, NAME_SIZE, bold=True), cell.like], width)
        node = self._node(cell.key)
        return boxed([fitting_name(node.name, width), first_that_fits(facts(node), width)], width)


def _width(cell: Cell) -> float:
    return STACK if cell.name else TILE


def _row_width(row: Sequence[Cell]) -> float:
    return sum(map(_width, row)) + GAP * (len(row) - 1)
