"""Layout of a picture on a grid: super-spines at the top, then spines, rail switches by segment, hosts at the bottom.

The layout is deterministic. A view that is too wide for the page is replaced by one with less detail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from railfab.draw.cells import Cell
from railfab.draw.detail_levels import Sizes, detail_levels
from railfab.draw.svg import Box
from railfab.draw.view import FabricView, PlaneView, PodView, SegmentView, ViewBuilder
from railfab.topology import Role

MOST_WIDTH = 1400.0
GUTTER, MARGIN = 176.0, 24.0
TITLE_HEIGHT, TIER_GAP = 64.0, 132.0
SWITCH_HEIGHT = 58.0
HEADER, PADDING = 28.0, 14.0
"""Space in a frame for its name, and around its content [px]."""
PEER_GAP = 92.0


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame around a plane, a pod or a group of super-spines. plane: number of the plane; 0 for a pod or group."""

    box: Box
    name: str
    plane: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """boxes: by key of the cell; rows: upper edge of each tier and of the hosts [px]."""

    view: FabricView
    sizes: Sizes
    boxes: Mapping[int, Box]
    frames: Sequence[Frame]
    rows: Mapping[Role, float]
    size: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """Space that texts and panels need [px]. card_height: of a box of hosts, by its width; tier_heights: from a tier
    down to the next; peers: there are cables between rail switches."""

    card_height: Callable[[Cell, float], float]
    tier_heights: Mapping[Role, float] = field(default_factory=dict)
    leaf_height: float = SWITCH_HEIGHT
    leaf_width: float = 0.0
    peers: bool = False
    top: float = TITLE_HEIGHT
    least_width: float = 0.0


def fit_layout(builder: ViewBuilder, measurements: Measurements) -> Layout:
    """The layout of the view with the most detail that is not wider than MOST_WIDTH."""
    candidate = None
    for detail, sizes in detail_levels(builder):
        view = builder.view(detail)
        for size in sizes:
            candidate = LayoutBuilder(view, size, measurements)
            if candidate.width() <= MOST_WIDTH - GUTTER - MARGIN:
                return candidate.layout()
    assert candidate is not None
    return candidate.layout()


@dataclass
class LayoutBuilder:
    """Lays out one view with boxes of one size."""

    view: FabricView
    sizes: Sizes
    measurements: Measurements
    boxes: dict[int, Box] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    @property
    def several_planes(self) -> bool:
        return bool(self.view.planes[0].name)

    def width(self) -> float:
        """Width of everything right of the gutter [px]."""
        return max(self._planes_width(), self._cards_width(self.view.host_cells()) if self.several_planes else 0)

    def _planes_width(self) -> float:
        planes = sum(self._plane_width(plane) for plane in self.view.planes)
        return planes + self.sizes.pod_gap * (len(self.view.planes) - 1)

    def _cards_width(self, hosts: Sequence[Cell]) -> float:
        return len(hosts) * self.sizes.card + self.sizes.gap * max(len(hosts) - 1, 0)

    def _plane_width(self, plane: PlaneView) -> float:
        pods = sum(self._pod_width(pod) for pod in plane.pods)
        below = pods + self.sizes.pod_gap * (len(plane.pods) - 1)
        return max(below, self._supers_width(plane)) + (2 * self.sizes.padding if self.several_planes else 0)

    def _supers_width(self, plane: PlaneView) -> float:
        rows = sum(
            self._row_width(group.supers) + (2 * self.sizes.padding if group.name else 0) for group in plane.groups
        )
        return rows + self.sizes.segment_gap * max(len(plane.groups) - 1, 0)

    def _pod_width(self, pod: PodView) -> float:
        return max(self._segments_width(pod), self._row_width(pod.spines)) + 2 * self._padding(pod)

    def _padding(self, pod: PodView) -> float:
        return self.sizes.padding if pod.name else 0

    def _segments_width(self, pod: PodView) -> float:
        segments = sum(self._segment_width(segment) for segment in pod.segments)
        return segments + self.sizes.segment_gap * max(len(pod.segments) - 1, 0)

    def _segment_width(self, segment: SegmentView) -> float:
        leaves = self._row_width(segment.leaves, self._leaf_gap)
        if self.several_planes:
            return max(leaves, self.sizes.switch)
        return max(leaves, self._cards_width(segment.hosts), self.sizes.switch)

    @property
    def _leaf_gap(self) -> float:
        return max(self.sizes.gap, PEER_GAP if self.measurements.peers else 0)

    def _row_width(self, cells: Sequence[Cell], gap: float | None = None) -> float:
        return sum(map(self._width, cells)) + (gap or self.sizes.gap) * max(len(cells) - 1, 0)

    def _width(self, cell: Cell) -> float:
        if cell.name:
            return max(self.sizes.switch, self.sizes.stack)
        return max(self.sizes.switch, self.measurements.leaf_width if cell.role is Role.LEAF else 0)

    def layout(self) -> Layout:
        """Boxes of all cells, and all frames."""
        rows, below_leaves = self._rows()
        left = GUTTER + max(self.measurements.least_width - GUTTER - MARGIN - self.width(), 0) / 2
        x, right = left + (self.width() - self._planes_width()) / 2, left + self.width()
        for plane in self.view.planes:
            width = self._plane_width(plane)
            self._place_plane(plane, x, width, rows)
            if self.several_planes:
                top = self.measurements.top + PADDING
                box = Box(x, top, width, below_leaves + PADDING - top)
                self.frames.append(Frame(box, plane.name, plane.number))
            x += width + self.sizes.pod_gap
        if self.several_planes:
            self._place_shared_hosts(left, right, rows)
        self._level_cards()
        self.frames.extend(self._pod_frames(rows))
        bottom = max((box.bottom for box in self.boxes.values()), default=TITLE_HEIGHT)
        bottom = max([bottom, *(frame.box.bottom for frame in self.frames)])
        size = Box(0, 0, max(right + MARGIN, self.measurements.least_width), bottom + MARGIN)
        return Layout(view=self.view, sizes=self.sizes, boxes=self.boxes, frames=self.frames, rows=rows, size=size)

    def _rows(self) -> tuple[dict[Role, float], float]:
        """Upper edge of each row, and lower edge of the rail switches [px]."""
        rows: dict[Role, float] = {}
        planes = self.view.planes
        y = self.measurements.top + (HEADER + PADDING if self.several_planes else 0)
        if any(plane.groups for plane in planes):
            y += HEADER if any(group.name for plane in planes for group in plane.groups) else 0
            rows[Role.SUPER] = y
            y += self._pitch(Role.SUPER)
        y += HEADER if any(pod.name for plane in planes for pod in plane.pods) else 0
        if any(pod.spines for plane in planes for pod in plane.pods):
            rows[Role.SPINE] = y
            y += self._pitch(Role.SPINE)
        rows[Role.LEAF] = y
        room = max(self.measurements.leaf_height + TIER_GAP * 0.7, self.measurements.tier_heights.get(Role.LEAF, 0))
        rows[Role.HOST] = y + room + (2 * self.sizes.padding if self.several_planes else 0)
        return rows, y + self.measurements.leaf_height

    def _pitch(self, role: Role) -> float:
        return max(SWITCH_HEIGHT + TIER_GAP, self.measurements.tier_heights.get(role, 0))

    def _place_plane(self, plane: PlaneView, x: float, width: float, rows: Mapping[Role, float]) -> None:
        self._place_supers(plane, x + (width - self._supers_width(plane)) / 2, rows)
        pods = sum(self._pod_width(pod) for pod in plane.pods)
        left = x + (width - pods - self.sizes.pod_gap * (len(plane.pods) - 1)) / 2
        for pod in plane.pods:
            self._place_pod(pod, left, rows)
            left += self._pod_width(pod) + self.sizes.pod_gap

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

    def _place_pod(self, pod: PodView, x: float, rows: Mapping[Role, float]) -> None:
        width = self._pod_width(pod)
        if pod.spines:
            self._place_row(pod.spines, x, rows[Role.SPINE], width)
        left = x + (width - self._segments_width(pod)) / 2
        for segment in pod.segments:
            segment_width = self._segment_width(segment)
            row = Box(left, rows[Role.LEAF], segment_width, self.measurements.leaf_height)
            self._place_row(segment.leaves, left, row.y, segment_width, row.height, self._leaf_gap)
            if not self.several_planes:
                self._place_cards(segment.hosts, left, rows[Role.HOST], segment_width)
            left += segment_width + self.sizes.segment_gap

    def _place_row(
        self,
        cells: Sequence[Cell],
        x: float,
        y: float,
        width: float,
        height: float = SWITCH_HEIGHT,
        gap: float | None = None,
    ) -> None:
        """Place switches side by side, centred in the width."""
        left = x + (width - self._row_width(cells, gap)) / 2
        for cell in cells:
            self.boxes[cell.key] = Box(left, y, self._width(cell), height)
            left += self._width(cell) + (gap or self.sizes.gap)

    def _place_cards(self, hosts: Sequence[Cell], x: float, y: float, width: float) -> None:
        """Place boxes of hosts side by side, as wide as the width allows."""
        each = (width - self.sizes.gap * (len(hosts) - 1)) / max(len(hosts), 1)
        for index, cell in enumerate(hosts):
            box = Box(x + index * (each + self.sizes.gap), y, each, self.measurements.card_height(cell, each))
            self.boxes[cell.key] = box

    def _pod_frames(self, rows: Mapping[Role, float]) -> Iterator[Frame]:
        """A frame around each pod."""
        top = rows.get(Role.SPINE, rows[Role.LEAF]) - HEADER
        for pod in (pod for plane in self.view.planes for pod in plane.pods if pod.name):
            below = [cell for segment in pod.segments for cell in (*segment.leaves, *segment.hosts)]
            if self.several_planes:
                below = [cell for cell in below if cell.role is not Role.HOST]
            inside = [self.boxes[cell.key] for cell in (*pod.spines, *below)]
            left, right = min(box.x for box in inside), max(box.x + box.width for box in inside)
            margin, bottom = self.sizes.padding, max(box.bottom for box in inside)
            box = Box(left - margin, top, right - left + 2 * margin, bottom + PADDING - top)
            yield Frame(box, pod.name)

    def _level_cards(self) -> None:
        """Give all boxes of hosts the height of the highest."""
        keys = [cell.key for cell in self.view.host_cells()]
        highest = max((self.boxes[key].height for key in keys), default=0)
        self.boxes.update({key: replace(self.boxes[key], height=highest) for key in keys})

    def _place_shared_hosts(self, left: float, right: float, rows: Mapping[Role, float]) -> None:
        """Place the hosts below all planes."""
        self._place_cards(self.view.host_cells(), left, rows[Role.HOST], right - left)
