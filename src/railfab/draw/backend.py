"""Picture of the backend: tiers from top to bottom; planes, pods and segments from left to right; rails in colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.cables import CableCurves, LineWidths
from railfab.draw.captions import LINE, SINGULARS, HostCaptions, SwitchCaptions, cell_names, host_lags, tooltip_text
from railfab.draw.cells import Cell
from railfab.draw.counts import CableTotals, Pair, TierSummary, cable_lines, cable_totals, tier_lines, tier_summaries
from railfab.draw.front_panels import FrontPanels, front_panels
from railfab.draw.graph import NetworkGraph, tier_of
from railfab.draw.layout import GUTTER, HEADER, MARGIN, SWITCH_HEIGHT, TITLE_HEIGHT, Layout, Measurements, fit_layout
from railfab.draw.shapes import card_height, frame_shape, host_card, switch_shape
from railfab.draw.svg import text_line
from railfab.draw.text_width import truncated
from railfab.draw.view import FabricView, ViewBuilder
from railfab.intent import Hosts
from railfab.text.counted import counted
from railfab.topology import Net, Role, Topology

TIER_NAMES = {Role.SUPER: "Super-spines", Role.SPINE: "Spines", Role.LEAF: "Rail switches", Role.HOST: "Hosts"}


@dataclass(frozen=True)
class BackendPicture:
    """Picture of the backend of a topology. named: leave space for its name; least_width: of the page [px]."""

    topology: Topology
    graph: NetworkGraph
    hosts: Hosts | None
    named: bool = False
    least_width: float = 0.0

    @cached_property
    def node_indices(self) -> tuple[int, ...]:
        """Indices of the hosts and of the switches of this network."""
        nodes = enumerate(self.topology.nodes)
        return tuple(index for index, node in nodes if node.net is Net.BACKEND and node.role in TIER_NAMES)

    @cached_property
    def tier_summaries(self) -> Mapping[Role, TierSummary]:
        return tier_summaries(self.graph, [index for index in self.node_indices if tier_of(self.topology.nodes[index])])

    @cached_property
    def layout(self) -> Layout:
        return fit_layout(ViewBuilder(self.graph, self.node_indices), self._measurements())

    def _measurements(self) -> Measurements:
        lines = {role: [*tier_lines(tier), *cable_lines(tier)] for role, tier in self.tier_summaries.items()}
        return Measurements(
            card_height=self._card_height,
            tier_heights={role: LINE * len(texts) + 80 for role, texts in lines.items()},
            peers=Role.LEAF in self.tier_summaries and bool(self.tier_summaries[Role.LEAF].peers),
            leaf_height=SWITCH_HEIGHT + self.front_panels.height,
            leaf_width=self.front_panels.width,
            top=TITLE_HEIGHT + (HEADER if self.named else 0),
            least_width=self.least_width,
        )

    @cached_property
    def front_panels(self) -> FrontPanels:
        return front_panels(self.topology, [self.topology.nodes[index] for index in self.node_indices])

    def _card_height(self, cell: Cell, width: float) -> float:
        notes = len(self.host_captions.lines(cell, width)) - 1
        scale_up = self.host_captions.scale_up(width)
        return card_height(notes, chips=self.host_captions.has_rails(cell), scale_up=bool(scale_up))

    @property
    def view(self) -> FabricView:
        return self.layout.view

    @cached_property
    def cells(self) -> dict[int, Cell]:
        return {cell.key: cell for cell in self.view.cells()}

    @cached_property
    def cable_totals(self) -> dict[Pair, CableTotals]:
        return cable_totals(self.graph, self.cells.values())

    @cached_property
    def host_captions(self) -> HostCaptions:
        return HostCaptions(self.graph, self.hosts, host_lags(self.topology))

    @cached_property
    def rails(self) -> dict[int, set[int]]:
        """Rails of each cell of hosts or rail switches, by key of the cell."""
        found: dict[int, set[int]] = {}
        for pair, totals in self.cable_totals.items():
            for key in pair:
                found.setdefault(key, set()).update(totals.rails.keys() - {0})
        return found

    @cached_property
    def switch_captions(self) -> SwitchCaptions:
        vlans = {high: totals.vlans for (_, high), totals in self.cable_totals.items() if totals.vlans}
        return SwitchCaptions(self.topology.nodes, self.rails, vlans)

    def body(self, widths: LineWidths) -> Iterator[str]:
        """SVG elements of the backend."""
        yield from self._tier_texts()
        yield from (part for frame in self.layout.frames for part in frame_shape(frame))
        yield from self.cabling.lines(widths)
        for cell in self.cells.values():
            yield from self._card(cell) if cell.role is Role.HOST else self._switch(cell)

    @cached_property
    def cabling(self) -> CableCurves:
        several = len(self.view.planes) > 1
        planes = {cell.key: plane.number for plane in self.view.planes for cell in plane.cells() if several}
        return CableCurves(self.layout.boxes, self.cable_totals, cell_names(self.topology.nodes, self.cells), planes)

    def summary(self) -> str:
        """`8 hosts · 4 rail switches · 4 spines · 160 cables`"""
        counts = Counter(self.topology.nodes[index].role for index in self.node_indices)
        gpus = [(counts[Role.HOST] * self.hosts.gpus, "GPU")] if self.hosts else []
        roles = [(counts[role], SINGULARS[role]) for role in (Role.HOST, Role.LEAF, Role.SPINE, Role.SUPER)]
        parts = (*gpus, *roles, (self.graph.cable_count(), "cable"))
        return " · ".join(counted(count, what) for count, what in parts if count)

    def _tier_texts(self) -> Iterator[str]:
        """Text beside each tier: its name, its switches or hosts, and the cables below it."""
        room = GUTTER - MARGIN - 8
        for role, y in self.layout.rows.items():
            if role not in {cell.role for cell in self.cells.values()}:
                continue
            yield text_line(MARGIN, y + 20, TIER_NAMES[role], "title")
            about = tier_lines(self.tier_summaries[role]) if role in self.tier_summaries else self._host_lines()
            below = cable_lines(self.tier_summaries[role]) if role in self.tier_summaries else []
            start = max(y + 104, y + 50 + LINE * len(about))
            for index, line in enumerate(about):
                yield text_line(MARGIN, y + 36 + LINE * index, truncated(line, room, 11), "side")
            for index, line in enumerate(below):
                yield text_line(MARGIN, start + LINE * index, truncated(line, room, 11), "side")

    def _host_lines(self) -> list[str]:
        count = sum(self.topology.nodes[index].role is Role.HOST for index in self.node_indices)
        return [f"{count:,} × {counted(self.hosts.gpus, 'GPU')}"] if self.hosts else [f"{count:,}"]

    def _switch(self, cell: Cell) -> Iterator[str]:
        box, tooltip = self.layout.boxes[cell.key], tooltip_text(self.topology.nodes, cell)
        lines = self.switch_captions.lines(cell, box.width)
        rails = set() if self.front_panels.height else self.rails.get(cell.key, set())
        yield switch_shape(box, cell, lines, tooltip=tooltip, rails=rails, height=SWITCH_HEIGHT)
        if cell.role is Role.LEAF:
            yield from self.front_panels.svg(cell.key, box, box.y + SWITCH_HEIGHT)

    def _card(self, cell: Cell) -> Iterator[str]:
        box, tooltip = self.layout.boxes[cell.key], tooltip_text(self.topology.nodes, cell)
        lines = self.host_captions.lines(cell, box.width)
        scale_up, rails = self.host_captions.scale_up(box.width), sorted(self.rails.get(cell.key, ()))
        yield host_card(box, cell, lines, tooltip=tooltip, rails=rails, scale_up=scale_up)
