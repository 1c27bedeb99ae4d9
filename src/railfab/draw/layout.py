"""Where everything stands: super-spines above, then spines, rail switches by segment, hosts at the bottom. A grid needs
no solver, and the same topology always gives the same picture. What does not fit is shown in less detail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from railfab.draw.cells import Cell
from railfab.draw.detail import Sizes, ladder
from railfab.draw.svg import Box
from railfab.draw.view import Block, Column, PlaneView, View, Viewer
from railfab.topology import Role

MOST_WIDTH = 1400.0
GUTTER, MARGIN = 176.0, 24.0
TITLE_HEIGHT, TIER_GAP = 64.0, 132.0
SWITCH_HEIGHT = 58.0
HEADER, PADDING = 28.0, 14.0
"""Of a frame: room for its name, and around what it holds."""
PEER_GAP = 92.0


@dataclass(frozen=True, slots=True)
class Frame:
    """What holds a plane, a pod or a group of super-spines together. plane: its number; 0 for the others."""

    box: Box
    name: str
    plane: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """boxes: by key of the cell; rows: top of each tier, and of the hosts."""

    view: View
    sizes: Sizes
    boxes: Mapping[int, Box]
    frames: Sequence[Frame]
    rows: Mapping[Role, float]
    size: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What a layout asks of who writes in and beside the boxes. tier_heights: room that a tier needs
    down to the next; peers: rail switches of a segment have cables between them."""

    card_height: Callable[[Cell, float], float]
    tier_heights: Mapping[Role, float] = field(default_factory=dict)
    leaf_height: float = SWITCH_HEIGHT
    leaf_width: float = 0.0
    peers: bool = False
    top: float = TITLE_HEIGHT
    least_width: float = 0.0


def arrange(viewer: Viewer, measures: Measures) -> Layout:
    """The view with the most detail that is not too wide, with places for all its cells."""
    placer = None
    for detail, sizes in ladder(viewer):
        view = viewer.view(detail)
        for size in sizes:
            placer = Placer(view, size, measures)
            if placer.width() <= MOST_WIDTH - GUTTER - MARGIN:
                return placer.layout()
    assert placer is not None
    return placer.layout()


@dataclass
class Placer:
    """Places one view in one size."""

    view: View
    sizes: Sizes
    measures: Measures
    boxes: dict[int, Box] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    @property
    def several_planes(self) -> bool:
        return bool(self.view.planes[0].name)

    def width(self) -> float:
        """Of everything right of the gutter."""
        return max(self._planes_width(), self._cards_width(self.view.host_cells()) if self.several_planes else 0)

    def _planes_width(self) -> float:
        planes = sum(self._plane_width(plane) for plane in self.view.planes)
        return planes + self.sizes.pod_gap * (len(self.view.planes) - 1)

    def _cards_width(self, hosts: Sequence[Cell]) -> float:
        return len(hosts) * self.sizes.card + self.sizes.gap * max(len(hosts) - 1, 0)

    def _plane_width(self, plane: PlaneView) -> float:
        blocks = sum(self._block_width(block) for block in plane.blocks)
        below = blocks + self.sizes.pod_gap * (len(plane.blocks) - 1)
        return max(below, self._supers_width(plane)) + (2 * self.sizes.padding if self.several_planes else 0)

    def _supers_width(self, plane: PlaneView) -> float:
        rows = sum(
            self._row_width(group.supers) + (2 * self.sizes.padding if group.name else 0) for group in plane.groups
        )
        return rows + self.sizes.segment_gap * max(len(plane.groups) - 1, 0)

    def _block_width(self, block: Block) -> float:
        return max(self._columns_width(block), self._row_width(block.spines)) + 2 * self._padding(block)

    def _padding(self, block: Block) -> float:
        return self.sizes.padding if block.name else 0

    def _columns_width(self, block: Block) -> float:
        columns = sum(self._column_width(column) for column in block.columns)
        return columns + self.sizes.segment_gap * max(len(block.columns) - 1, 0)

    def _column_width(self, column: Column) -> float:
        leaves = self._row_width(column.leaves, self._leaf_gap)
        if self.several_planes:
            return max(leaves, self.sizes.tile)
        return max(leaves, self._cards_width(column.hosts), self.sizes.tile)

    @property
    def _leaf_gap(self) -> float:
        return max(self.sizes.gap, PEER_GAP if self.measures.peers else 0)

    def _row_width(self, cells: Sequence[Cell], gap: float | None = None) -> float:
        return sum(map(self._width, cells)) + (gap or self.sizes.gap) * max(len(cells) - 1, 0)

    def _width(self, cell: Cell) -> float:
        if cell.name:
            return max(self.sizes.tile, self.sizes.stack)
        return max(self.sizes.tile, self.measures.leaf_width if cell.role is Role.LEAF else 0)

    def layout(self) -> Layout:
        """Everything in its place."""
        rows, below_leaves = self._rows()
        left = GUTTER + max(self.measures.least_width - GUTTER - MARGIN - self.width(), 0) / 2
        x, right = left + (self.width() - self._planes_width()) / 2, left + self.width()
        for plane in self.view.planes:
            width = self._plane_width(plane)
            self._place_plane(plane, x, width, rows)
            if self.several_planes:
                top = self.measures.top + PADDING
                box = Box(x, top, width, below_leaves + PADDING - top)
                self.frames.append(Frame(box, plane.name, plane.number))
            x += width + self.sizes.pod_gap
        if self.several_planes:
            self._place_shared_hosts(left, right, rows)
        self._level_cards()
        self.frames.extend(self._pod_frames(rows))
        bottom = max((box.bottom for box in self.boxes.values()), default=TITLE_HEIGHT)
        bottom = max([bottom, *(frame.box.bottom for frame in self.frames)])
        size = Box(0, 0, max(right + MARGIN, self.measures.least_width), bottom + MARGIN)
        return Layout(view=self.view, sizes=self.sizes, boxes=self.boxes, frames=self.frames, rows=rows, size=size)

    def _rows(self) -> tuple[dict[Role, float], float]:
        """Top of each row, and the bottom of the rail switches."""
        rows: dict[Role, float] = {}
        planes = self.view.planes
        y = self.measures.top + (HEADER + PADDING if self.several_planes else 0)
        if any(plane.groups for plane in planes):
            y += HEADER if any(group.name for plane in planes for group in plane.groups) else 0
            rows[Role.SUPER] = y
            y += self._pitch(Role.SUPER)
        y += HEADER if any(block.name for plane in planes for block in plane.blocks) else 0
        if any(block.spines for plane in planes for block in plane.blocks):
            rows[Role.SPINE] = y
            y += self._pitch(Role.SPINE)
        rows[Role.LEAF] = y
        room = max(self.measures.leaf_height + TIER_GAP * 0.7, self.measures.tier_heights.get(Role.LEAF, 0))
        rows[Role.HOST] = y + room + (2 * self.sizes.padding if self.several_planes else 0)
        return rows, y + self.measures.leaf_height

    def _pitch(self, role: Role) -> float:
        return max(SWITCH_HEIGHT + TIER_GAP, self.measures.tier_heights.get(role, 0))

    def _place_plane(self, plane: PlaneView, x: float, width: float, rows: Mapping[Role, float]) -> None:
        self._place_supers(plane, x + (width - self._supers_width(plane)) / 2, rows)
        blocks = sum(self._block_width(block) for block in plane.blocks)
        left = x + (width - blocks - self.sizes.pod_gap * (len(plane.blocks) - 1)) / 2
        for block in plane.blocks:
            self._place_block(block, left, rows)
            left += self._block_width(block) + self.sizes.pod_gap

    def _place_supers(self, plane: PlaneView, left: float, rows: Mapping[Role, float]) -> None:
        for group in plane.groups:
            padding = self.sizes.padding if group.name else 0
            width = self._row_width(group.supers)
            self._place_row(group.supers, left + padding, rows[Role.SUPER], width)
            if group.name:
                top = rows[Role.SUPER] - HEADER
                box = Box(left, top, width + 2 * padding, HEADER + SWITCH_HEIGHT + PADDING)
                self.frames.append(Frame(box, group.name))
            left += width + 2 * padding + self.sizes.segment_gap

    def _place_block(self, block: Block, x: float, rows: Mapping[Role, float]) -> None:
        width = self._block_width(block)
        if block.spines:
            self._place_row(block.spines, x, rows[Role.SPINE], width)
        left = x + (width - self._columns_width(block)) / 2
        for column in block.columns:
            column_width = self._column_width(column)
            row = Box(left, rows[Role.LEAF], column_width, self.measures.leaf_height)
            self._place_row(column.leaves, left, row.y, column_width, row.height, self._leaf_gap)
            if not self.several_planes:
                self._place_cards(column.hosts, left, rows[Role.HOST], column_width)
            left += column_width + self.sizes.segment_gap

    def _place_row(
        self,
        cells: Sequence[Cell],
        x: float,
        y: float,
        width: float,
        height: float = SWITCH_HEIGHT,
        gap: float | None = None,
    ) -> None:
        """Switches side by side, in the middle of the width."""
        left = x + (width - self._row_width(cells, gap)) / 2
        for cell in cells:
            self.boxes[cell.key] = Box(left, y, self._width(cell), height)
            left += self._width(cell) + (gap or self.sizes.gap)

    def _place_cards(self, hosts: Sequence[Cell], x: float, y: float, width: float) -> None:
        """Cards that share the width."""
        each = (width - self.sizes.gap * (len(hosts) - 1)) / max(len(hosts), 1)
        for place, cell in enumerate(hosts):
            box = Box(x + place * (each + self.sizes.gap), y, each, self.measures.card_height(cell, each))
            self.boxes[cell.key] = box

    def _pod_frames(self, rows: Mapping[Role, float]) -> Iterator[Frame]:
        """Around all that stands in a pod."""
        top = rows.get(Role.SPINE, rows[Role.LEAF]) - HEADER
        for block in (block for plane in self.view.planes for block in plane.blocks if block.name):
            below = [cell for column in block.columns for cell in (*column.leaves, *column.hosts)]
            if self.several_planes:
                below = [cell for cell in below if cell.role is not Role.HOST]
            inside = [self.boxes[cell.key] for cell in (*block.spines, *below)]
            left, right = min(box.x for box in inside), max(box.x + box.width for box in inside)
            margin, bottom = self.sizes.padding, max(box.bottom for box in inside)
            box = Box(left - margin, top, right - left + 2 * margin, bottom + PADDING - top)
            yield Frame(box, block.name)

    def _level_cards(self) -> None:
        """Cards of hosts as high as the highest."""
        keys = [cell.key for cell in self.view.host_cells()]
        highest = max((self.boxes[key].height for key in keys), default=0)
        self.boxes.update({key: replace(self.boxes[key], height=highest) for key in keys})

    def _place_shared_hosts(self, left: float, right: float, rows: Mapping[Role, float]) -> None:
        """Hosts below all planes."""
        self._place_cards(self.view.host_cells(), left, rows[Role.HOST], right - left)
