"""A backend as planes of pods of segments of cells, in as much detail as is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.alike import Alike, Segment, classes, segment_of
from railfab.draw.cells import SEVERAL, Cell, Part, Show, others, parts, ranges, switch_cells
from railfab.draw.groups import Group, find_groups, group_signature, spine_signatures, super_signatures
from railfab.draw.wires import Wiring
from railfab.topology import Role

MOST_HOST_CELLS = 3
ABOVE_HOSTS = (Role.SUPER, Role.SPINE, Role.LEAF)

At = tuple[Role, int, int, int]
"""Role, plane (0 for hosts, which are in all), pod and segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much of what repeats is shown. most: parts of a row of planes, pods, segments or groups at most.

    leaves: at most so many of each kind in a segment; upper: of a pod's spines, and of super-spines; None for all.
    row: at most so many boxes of one segment, pod or group, however much its switches differ.
    """

    planes: Show = Show.ALL
    pods: Show = Show.ALL
    segments: Show = Show.ALL
    leaves: int | None = None
    upper: int | None = None
    most: int = 6
    row: int = 8


@dataclass(frozen=True, slots=True)
class Column:
    """One segment, or several that are alike. leaves: of one plane."""

    leaves: tuple[Cell, ...]
    hosts: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One pod, or several that are alike."""

    name: str
    spines: tuple[Cell, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Super-spines of one group, or of several that are alike."""

    name: str
    supers: tuple[Cell, ...]


Clusters = Sequence[tuple[Cluster, tuple[Group, ...]]]


@dataclass(frozen=True, slots=True)
class PlaneView:
    """number: of the first plane it stands for. Hosts are in no plane: every plane's columns name the same ones."""

    number: int
    name: str
    groups: tuple[Cluster, ...]
    blocks: tuple[Block, ...]

    def cells(self) -> list[Cell]:
        above = [cell for group in self.groups for cell in group.supers]
        below = [cell for block in self.blocks for column in block.columns for cell in column.leaves]
        return [*above, *(cell for block in self.blocks for cell in block.spines), *below]


@dataclass(frozen=True, slots=True)
class View:
    planes: tuple[PlaneView, ...]

    def host_cells(self) -> list[Cell]:
        return [cell for block in self.planes[0].blocks for column in block.columns for cell in column.hosts]

    def cells(self) -> list[Cell]:
        return [*self.host_cells(), *(cell for plane in self.planes for cell in plane.cells())]


@dataclass(frozen=True)
class Viewer:
    """Makes views of one backend."""

    wiring: Wiring
    inside: Sequence[int]

    @cached_property
    def alike(self) -> Alike:
        return Alike(self.wiring, self.inside)

    @cached_property
    def _at(self) -> Mapping[At, list[int]]:
        found: dict[At, list[int]] = {}
        for place in self.inside:
            node = self.wiring.nodes[place]
            plane = 0 if node.role is Role.HOST else node.plane
            found.setdefault((node.role, plane, *segment_of(node)), []).append(place)
        return found

    @cached_property
    def _grouped(self) -> Mapping[int, list[tuple[Group, int]]]:
        """The groups of each plane, each with a number that it shares with those that are alike."""
        found: dict[int, list[tuple[Group, int]]] = {}
        for plane in self.alike.planes:
            groups = find_groups(self.wiring, self._at.get((Role.SUPER, plane, 0, 0), []))
            kinds = classes({number: group_signature(self.wiring, group) for number, group in enumerate(groups)})
            kind = {number: place for place, members in enumerate(kinds) for number in members}
            found[plane] = [(group, kind[number]) for number, group in enumerate(groups)]
        return found

    def view(self, detail: Detail) -> View:
        planes = parts(self.alike.planes, detail.planes, min(detail.most, 4))
        return View(tuple(self._plane(part, detail, first=part is planes[0]) for part in planes))

    def _plane(self, part: Part[int], detail: Detail, *, first: bool) -> PlaneView:
        name, like = called("plane", part) if len(self.alike.planes) > 1 else ("", "")
        if part.whole:
            plane = part.members[0]
            if plane > 1:
                name = f"{name}: plane{plane}-…"
            groups = self._groups(plane, detail)
            pods = parts(self.alike.pods, detail.pods, detail.most)
            blocks = (self._block(pod, plane, groups, detail, hosts=first) for pod in pods)
            return PlaneView(plane, name, tuple(cluster for cluster, _ in groups), tuple(blocks))
        chosen = [at for at in self._at if at[1] in part.members]
        supers, spines, leaves = (self._stack(role, chosen, name, like) for role in ABOVE_HOSTS)
        clusters = (Cluster("", supers),) if supers else ()
        return PlaneView(part.members[0], name, clusters, (Block("", spines, (Column(leaves, ()),)),))

    def _groups(self, plane: int, detail: Detail) -> list[tuple[Cluster, tuple[Group, ...]]]:
        """The super-spines of a plane, and which groups each cluster of the picture stands for."""
        groups = [group for group, _ in self._grouped[plane]]
        signatures = dict(enumerate((kind for _, kind in self._grouped[plane]), start=1))
        shown = parts(signatures, Show.ALL if detail.upper is None else Show.FIRST, min(detail.most, 4))
        return [
            (self._cluster(part, groups, detail), tuple(groups[number - 1] for number in part.members))
            for part in shown
        ]

    def _cluster(self, part: Part[int], groups: Sequence[Group], detail: Detail) -> Cluster:
        name, like = called("group", part)
        if part.whole:
            alike = super_signatures(self.wiring, groups[part.members[0] - 1])
            cells = switch_cells(self.wiring.nodes, alike, role=Role.SUPER, limit=detail.upper, most=detail.row)
            return Cluster(name if len(groups) > 1 else "", cells)
        places = tuple(place for number in part.members for place in groups[number - 1].supers)
        return Cluster("", (Cell(role=Role.SUPER, places=places, name=name, like=like),))

    def _block(self, part: Part[int], plane: int, groups: Clusters, detail: Detail, *, hosts: bool) -> Block:
        name, like = called("pod", part)
        if not part.whole:
            chosen = [at for at in self._at if at[1] in (0, plane) and at[2] in part.members]
            spines, leaves = (self._stack(role, chosen, name, like) for role in (Role.SPINE, Role.LEAF))
            below = self._stack(Role.HOST, chosen, name, like) if hosts else ()
            return Block("", spines, (Column(leaves, below),))
        pod = part.members[0]
        segments = {unit: signature for unit, signature in self.alike.segments.items() if unit[0] == pod}
        columns = (
            self._column(units, plane, detail, hosts=hosts) for units in parts(segments, detail.segments, detail.most)
        )
        several = len(self.alike.pods) > 1
        return Block(name if several else "", self._spines(pod, plane, groups, detail), tuple(columns))

    def _spines(self, pod: int, plane: int, groups: Clusters, detail: Detail) -> tuple[Cell, ...]:
        """Spines of one pod, those between the shown ones apart by the clusters that they meet."""
        spines = self._at.get((Role.SPINE, plane, pod, 0), [])
        known = {place: kind for group, kind in self._grouped[plane] for place in group.supers}
        order = {place: rank for group, _ in self._grouped[plane] for rank, place in enumerate(group.supers)}
        cluster = {spine: number for number, (_, met) in enumerate(groups) for group in met for spine in group.spines}
        alike = spine_signatures(self.wiring, spines, known, order)
        apart = {place: cluster.get(self.wiring.ranks[place], -1) for place in spines}
        return switch_cells(self.wiring.nodes, alike, role=Role.SPINE, limit=detail.upper, apart=apart, most=detail.row)

    def _column(self, part: Part[Segment], plane: int, detail: Detail, *, hosts: bool) -> Column:
        like = part.like[1] if part.like else None
        numbers = tuple(segment for _, segment in part.members)
        name, as_what = called("segment", Part(numbers, whole=part.whole, like=like, alike=part.alike))
        if part.whole:
            leaves = self.alike.leaves(self._at.get((Role.LEAF, plane, *part.members[0]), []))
            cells = switch_cells(self.wiring.nodes, leaves, role=Role.LEAF, limit=detail.leaves, most=detail.row)
            return Column(cells, self._hosts(part.members[0], detail) if hosts else ())
        chosen = [at for at in self._at if at[1] in (0, plane) and at[2:] in part.members]
        below = self._stack(Role.HOST, chosen, name, as_what) if hosts else ()
        return Column(self._stack(Role.LEAF, chosen, name, as_what), below)

    def _hosts(self, unit: Segment, detail: Detail) -> tuple[Cell, ...]:
        """Hosts of a segment, those that are cabled alike together."""
        kinds = classes(self.alike.hosts(self._at.get((Role.HOST, 0, *unit), [])))
        cells = [Cell(role=Role.HOST, places=kind) for kind in kinds]
        most = min(MOST_HOST_CELLS, detail.row)
        if len(cells) <= most:
            return tuple(cells)
        rest = tuple(sorted(place for cell in cells[most - 1 :] for place in cell.places))
        return (*cells[: most - 1], others(Role.HOST, rest, alone=most == 1))

    def _stack(self, role: Role, chosen: Sequence[At], name: str, like: str) -> tuple[Cell, ...]:
        """All the nodes of a role there, as one cell; none where there are none."""
        places = tuple(place for at in chosen if at[0] is role for place in self._at[at])
        return (Cell(role=role, places=places, name=name, like=like),) if places else ()


def called(word: str, part: Part[int]) -> tuple[str, str]:
    """What a part is called, and what each of it is as."""
    count = len(part.members)
    name = f"{word if count == 1 else f'{word}s'} {ranges(part.members)}"
    if part.whole:
        return name, ""
    if part.like is not None:
        return name, f"{'as' if count == 1 else 'each as'} {word} {part.like}"
    return (name, "all alike") if part.alike else (f"{count:,} more {word}s", SEVERAL)
