"""A backend as planes of pods of segments of cells, in a given level of detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.cells import MIXED, Cell, Expansion, RowPart, mixed_cell, number_ranges, row_parts, switch_cells
from railfab.draw.equivalence import Segment, Signatures, equivalence_classes, segment_of
from railfab.draw.graph import NetworkGraph
from railfab.draw.super_spine_groups import (
    SuperSpineGroup,
    find_groups,
    group_signature,
    spine_signatures,
    super_signatures,
)
from railfab.topology import Role

MOST_HOST_CELLS = 3
ABOVE_HOSTS = (Role.SUPER, Role.SPINE, Role.LEAF)

Unit = tuple[Role, int, int, int]
"""Role, plane (0 for hosts, which are in all planes), pod and segment of a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """Level of detail. most: parts in a row of planes, pods, segments or groups.

    leaves: cells for each equivalence class of leaves in a segment; upper: the same for the spines of a pod and for
    super-spines; None for one cell for each switch. row: cells of one segment, pod or group, whatever its classes.
    """

    planes: Expansion = Expansion.ALL
    pods: Expansion = Expansion.ALL
    segments: Expansion = Expansion.ALL
    leaves: int | None = None
    upper: int | None = None
    most: int = 6
    row: int = 8


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment, or several equivalent ones. leaves: of one plane."""

    leaves: tuple[Cell, ...]
    hosts: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class PodView:
    """One pod, or several equivalent ones."""

    name: str
    spines: tuple[Cell, ...]
    segments: tuple[SegmentView, ...]


@dataclass(frozen=True, slots=True)
class GroupView:
    """Super-spines of one group, or of several equivalent ones."""

    name: str
    supers: tuple[Cell, ...]


GroupViews = Sequence[tuple[GroupView, tuple[SuperSpineGroup, ...]]]
"""Each view of groups with the groups in it."""


@dataclass(frozen=True, slots=True)
class PlaneView:
    """One plane, or several equivalent ones. number: of the first; hosts: in the segments of the first plane only."""

    number: int
    name: str
    groups: tuple[GroupView, ...]
    pods: tuple[PodView, ...]

    def cells(self) -> list[Cell]:
        above = [cell for group in self.groups for cell in group.supers]
        below = [cell for pod in self.pods for segment in pod.segments for cell in segment.leaves]
        return [*above, *(cell for pod in self.pods for cell in pod.spines), *below]


@dataclass(frozen=True, slots=True)
class FabricView:
    planes: tuple[PlaneView, ...]

    def host_cells(self) -> list[Cell]:
        return [cell for pod in self.planes[0].pods for segment in pod.segments for cell in segment.hosts]

    def cells(self) -> list[Cell]:
        return [*self.host_cells(), *(cell for plane in self.planes for cell in plane.cells())]


@dataclass(frozen=True)
class ViewBuilder:
    """Builds views of one backend. node_indices: of its hosts and switches."""

    graph: NetworkGraph
    node_indices: Sequence[int]

    @cached_property
    def signatures(self) -> Signatures:
        return Signatures(self.graph, self.node_indices)

    @cached_property
    def _by_unit(self) -> Mapping[Unit, list[int]]:
        found: dict[Unit, list[int]] = {}
        for index in self.node_indices:
            node = self.graph.nodes[index]
            plane = 0 if node.role is Role.HOST else node.plane
            found.setdefault((node.role, plane, *segment_of(node)), []).append(index)
        return found

    @cached_property
    def _groups_of_plane(self) -> Mapping[int, list[tuple[SuperSpineGroup, int]]]:
        """The groups of each plane, each with the number of its equivalence class."""
        found: dict[int, list[tuple[SuperSpineGroup, int]]] = {}
        for plane in self.signatures.planes:
            groups = find_groups(self.graph, self._by_unit.get((Role.SUPER, plane, 0, 0), []))
            signatures = {number: group_signature(self.graph, group) for number, group in enumerate(groups)}
            classes = enumerate(equivalence_classes(signatures))
            class_of = {number: class_number for class_number, members in classes for number in members}
            found[plane] = [(group, class_of[number]) for number, group in enumerate(groups)]
        return found

    def view(self, detail: Detail) -> FabricView:
        planes = row_parts(self.signatures.planes, detail.planes, min(detail.most, 4))
        return FabricView(tuple(self._plane(part, detail, hosts=part is planes[0]) for part in planes))

    def _plane(self, part: RowPart[int], detail: Detail, *, hosts: bool) -> PlaneView:
        name, note = part_name("plane", part) if len(self.signatures.planes) > 1 else ("", "")
        if part.individual:
            plane = part.members[0]
            if plane > 1:
                name = f"{name} (plane{plane}-*)"
            groups = self._group_views(plane, detail)
            parts = row_parts(self.signatures.pods, detail.pods, detail.most)
            pods = tuple(self._pod(pod, plane, groups, detail, hosts=hosts) for pod in parts)
            return PlaneView(plane, name, tuple(view for view, _ in groups), pods)
        units = [unit for unit in self._by_unit if unit[1] in part.members]
        supers, spines, leaves = (self._collapsed(role, units, name, note) for role in ABOVE_HOSTS)
        above = (GroupView("", supers),) if supers else ()
        return PlaneView(part.members[0], name, above, (PodView("", spines, (SegmentView(leaves, ()),)),))

    def _group_views(self, plane: int, detail: Detail) -> GroupViews:
        """The super-spines of a plane."""
        groups = [group for group, _ in self._groups_of_plane[plane]]
        classes = dict(enumerate((class_number for _, class_number in self._groups_of_plane[plane]), start=1))
        expansion = Expansion.ALL if detail.upper is None else Expansion.FIRST_OF_CLASS
        return [
            (self._group(part, groups, detail), tuple(groups[number - 1] for number in part.members))
            for part in row_parts(classes, expansion, min(detail.most, 4))
        ]

    def _group(self, part: RowPart[int], groups: Sequence[SuperSpineGroup], detail: Detail) -> GroupView:
        name, note = part_name("group", part)
        if part.individual:
            signatures = super_signatures(self.graph, groups[part.members[0] - 1])
            cells = switch_cells(self.graph.nodes, signatures, role=Role.SUPER, limit=detail.upper, most=detail.row)
            return GroupView(name if len(groups) > 1 else "", cells)
        indices = tuple(index for number in part.members for index in groups[number - 1].supers)
        return GroupView("", (Cell(role=Role.SUPER, node_indices=indices, name=name, note=note),))

    def _pod(self, part: RowPart[int], plane: int, groups: GroupViews, detail: Detail, *, hosts: bool) -> PodView:
        name, note = part_name("pod", part)
        if not part.individual:
            units = [unit for unit in self._by_unit if unit[1] in (0, plane) and unit[2] in part.members]
            spines, leaves = (self._collapsed(role, units, name, note) for role in (Role.SPINE, Role.LEAF))
            below = self._collapsed(Role.HOST, units, name, note) if hosts else ()
            return PodView("", spines, (SegmentView(leaves, below),))
        pod = part.members[0]
        signatures = {
            segment: signature for segment, signature in self.signatures.segments.items() if segment[0] == pod
        }
        parts = row_parts(signatures, detail.segments, detail.most)
        segments = tuple(self._segment(segment, plane, detail, hosts=hosts) for segment in parts)
        several = len(self.signatures.pods) > 1
        return PodView(name if several else "", self._spines(pod, plane, groups, detail), segments)

    def _spines(self, pod: int, plane: int, groups: GroupViews, detail: Detail) -> tuple[Cell, ...]:
        """Spines of one pod. Spines cabled to different group views share no cell."""
        spines = self._by_unit.get((Role.SPINE, plane, pod, 0), [])
        group_class = {index: number for group, number in self._groups_of_plane[plane] for index in group.supers}
        order = {index: rank for group, _ in self._groups_of_plane[plane] for rank, index in enumerate(group.supers)}
        signatures = spine_signatures(self.graph, spines, group_class, order)
        view_of = {spine: view for view, (_, inside) in enumerate(groups) for group in inside for spine in group.spines}
        split_by = {index: view_of.get(self.graph.ranks[index], -1) for index in spines}
        return switch_cells(
            self.graph.nodes, signatures, role=Role.SPINE, limit=detail.upper, split_by=split_by, most=detail.row
        )

    def _segment(self, part: RowPart[Segment], plane: int, detail: Detail, *, hosts: bool) -> SegmentView:
        if part.individual:
            leaves = self.signatures.leaves(self._by_unit.get((Role.LEAF, plane, *part.members[0]), []))
            cells = switch_cells(self.graph.nodes, leaves, role=Role.LEAF, limit=detail.leaves, most=detail.row)
            return SegmentView(cells, self._hosts(part.members[0], detail) if hosts else ())
        numbers = tuple(segment for _, segment in part.members)
        same_as = part.same_as[1] if part.same_as else None
        name, note = part_name("segment", RowPart(numbers, same_as=same_as, equivalent=part.equivalent))
        units = [unit for unit in self._by_unit if unit[1] in (0, plane) and unit[2:] in part.members]
        below = self._collapsed(Role.HOST, units, name, note) if hosts else ()
        return SegmentView(self._collapsed(Role.LEAF, units, name, note), below)

    def _hosts(self, segment: Segment, detail: Detail) -> tuple[Cell, ...]:
        """Hosts of a segment; hosts with the same cabling share a cell."""
        classes = equivalence_classes(self.signatures.hosts(self._by_unit.get((Role.HOST, 0, *segment), [])))
        cells = [Cell(role=Role.HOST, node_indices=members) for members in classes]
        most = min(MOST_HOST_CELLS, detail.row)
        if len(cells) <= most:
            return tuple(cells)
        rest = tuple(sorted(index for cell in cells[most - 1 :] for index in cell.node_indices))
        return (*cells[: most - 1], mixed_cell(Role.HOST, rest, only=most == 1))

    def _collapsed(self, role: Role, units: Sequence[Unit], name: str, note: str) -> tuple[Cell, ...]:
        """One cell with all nodes of a role in the units; none if there are no such nodes."""
        indices = tuple(index for unit in units if unit[0] is role for index in self._by_unit[unit])
        return (Cell(role=role, node_indices=indices, name=name, note=note),) if indices else ()


def part_name(word: str, part: RowPart[int]) -> tuple[str, str]:
    """Name of a part, and a note that names the unit its members are equivalent to."""
    count = len(part.members)
    name = f"{word if count == 1 else f'{word}s'} {number_ranges(part.members)}"
    if part.individual:
        return name, ""
    if part.same_as is not None:
        return name, f"{'like' if count == 1 else 'each like'} {word} {part.same_as}"
    return (name, "all identical") if part.equivalent else (f"{count:,} more {word}s", MIXED)
