"""Cells of a picture: a cell is one box, of one node or of several equivalent nodes; cells are in rows.

Every node of the backend is in exactly one cell, so that the counts in the picture are those of the topology.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from railfab.draw.equivalence import Signature, equivalence_classes
from railfab.text import folding
from railfab.topology import Node, Role

Key = TypeVar("Key", bound=Hashable)

PLURALS = {
    Role.HOST: "hosts",
    Role.SERVER: "storage servers",
    Role.LEAF: "leaves",
    Role.SPINE: "spines",
    Role.SUPER: "super-spines",
}
MIXED = "of several kinds"
MOST_CELLS = 8
"""Limit for a row that collapses equivalent switches; switches beyond it share one cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One box of the picture. node_indices: of its nodes in the topology.

    name: of several nodes; empty for one node, and for hosts, whose own names are shown.
    note: the node or unit, shown elsewhere, that each node is equivalent to; empty if none is.
    """

    role: Role
    node_indices: tuple[int, ...]
    name: str = ""
    note: str = ""

    @property
    def key(self) -> int:
        """Index of the first node, which is in no other cell."""
        return self.node_indices[0]


class Expansion(Enum):
    """How a row shows equivalent units."""

    ALL = 1
    """Every unit individually."""
    FIRST_OF_CLASS = 2
    """The first unit of each equivalence class individually, the others of the class in one box."""
    COLLAPSED = 3
    """Each equivalence class in one box; a unit without equivalents individually."""


@dataclass(frozen=True, slots=True)
class RowPart(Generic[Key]):
    """Some of the units (segments, pods, planes, groups) of a row.

    individual: one unit, shown in full; same_as: the unit shown in full that each is equivalent to; equivalent: all are
    of one equivalence class.
    """

    members: tuple[Key, ...]
    individual: bool = False
    same_as: Key | None = None
    equivalent: bool = False


def row_parts(signatures: Mapping[Key, Signature], expansion: Expansion, most: int) -> list[RowPart[Key]]:
    """The parts of a row, at most `most`. Beyond that, units of several classes share the last part; the first unit and
    those of the smallest classes keep parts of their own."""
    order = {unit: index for index, unit in enumerate(signatures)}
    classes = equivalence_classes(signatures)
    sized = [(len(members), part) for members in classes for part in _class_parts(members, expansion)]
    sized.sort(key=lambda item: order[item[1].members[0]])
    if len(sized) > most:
        wanted = sorted(range(1, len(sized)), key=lambda index: (sized[index][0], index))[: most - 2]
        shown = {0, *wanted} if most > 1 else set()
        rest = [unit for index, (_, part) in enumerate(sized) if index not in shown for unit in part.members]
        mixed = RowPart(tuple(sorted(rest, key=order.__getitem__)))
        return [*(sized[index][1] for index in sorted(shown)), mixed]
    return [part for _, part in sized]


def _class_parts(members: tuple[Key, ...], expansion: Expansion) -> Iterator[RowPart[Key]]:
    if expansion is Expansion.COLLAPSED and len(members) > 1:
        yield RowPart(members, equivalent=True)
        return
    shown = len(members) if expansion is Expansion.ALL else 1
    yield from (RowPart((unit,), individual=True) for unit in members[:shown])
    if members[shown:]:
        yield RowPart(members[shown:], same_as=members[0], equivalent=True)


def switch_cells(
    nodes: Sequence[Node],
    signatures: Mapping[int, Signature],
    *,
    role: Role,
    limit: int | None,
    split_by: Mapping[int, Hashable] | None = None,
    most: int = MOST_CELLS,
) -> tuple[Cell, ...]:
    """A row of switches, one cell each, or at most `limit` cells for each equivalence class.

    limit 4: the first two, those between, the last; 2: the first, the others; 1: all in one cell. split_by: switches
    with different values of this never share a cell. most: cells of the row.
    """
    if limit is None or len(signatures) <= limit:
        return tuple(Cell(role=role, node_indices=(index,)) for index in signatures)
    classes = equivalence_classes(signatures)
    cells = [cell for members in classes for cell in _class_cells(nodes, members, role, limit, split_by or {})]
    cells.sort(key=lambda cell: cell.key)
    if len(cells) <= most:
        return tuple(cells)
    rest = tuple(sorted(index for cell in cells[most - 1 :] for index in cell.node_indices))
    return (*cells[: most - 1], mixed_cell(role, rest, only=most == 1))


def mixed_cell(role: Role, node_indices: tuple[int, ...], *, only: bool) -> Cell:
    """One cell of nodes that are not equivalent. only: it is the only cell of its row."""
    name = f"{len(node_indices):,} {'' if only else 'more '}{PLURALS[role]}"
    return Cell(role=role, node_indices=node_indices, name=name, note=MIXED)


def _class_cells(
    nodes: Sequence[Node], members: tuple[int, ...], role: Role, limit: int, split_by: Mapping[int, Hashable]
) -> Iterator[Cell]:
    if len(members) <= limit:
        yield from (Cell(role=role, node_indices=(index,)) for index in members)
        return
    shown = {4: 2, 2: 1}.get(limit, 0)
    last = members[-1:] if limit == 4 else ()
    rest = members[shown : len(members) - len(last)]
    yield from (Cell(role=role, node_indices=(index,)) for index in members[:shown])
    note = f"each like {short_name(nodes[members[0]].name)}" if shown else ""
    for indices in equivalence_classes({index: split_by.get(index) for index in rest}):
        name = (
            f"{_name_prefix(nodes[indices[0]])}{PLURALS[role]} {number_ranges(nodes[index].index for index in indices)}"
        )
        yield Cell(role=role, node_indices=indices, name=name, note=note)
    yield from (Cell(role=role, node_indices=(index,)) for index in last)


def _name_prefix(node: Node) -> str:
    """Segment of a leaf, taken from its name; empty for spines and super-spines, whose frames name the pod or group."""
    prefix = node.name.rpartition("-")[0]
    return f"{prefix} " if node.role is Role.LEAF and prefix else ""


def short_name(name: str) -> str:
    """`spine1` of `pod1-spine1`."""
    return name.rpartition("-")[2]


def number_ranges(numbers: Iterable[int]) -> str:
    """Numbers in any order as ranges: `2, 4-8`."""
    return folding.number_ranges(sorted(set(numbers))).replace(",", ", ")
