"""What a picture shows of a topology: cells, each one switch or many that are alike, in rows.

Every node of the backend is in exactly one cell, so that what is counted in the picture is what is there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from railfab.draw.alike import Signature, classes
from railfab.topology import Node, Role

Key = TypeVar("Key", bound=Hashable)

PLURALS = {
    Role.HOST: "hosts",
    Role.SERVER: "storage servers",
    Role.LEAF: "leaves",
    Role.SPINE: "spines",
    Role.SUPER: "super-spines",
}
OTHERWISE = "each wired otherwise"
MOST_CELLS = 8
"""Of one row that does not show everything: the ones that differ beyond that are one cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One box of the picture. places: of its nodes in the topology.

    name: what its nodes are together; empty for one node, and for hosts, which their own names tell.
    like: what each of them is as; empty where they are not as another that is shown.
    """

    role: Role
    places: tuple[int, ...]
    name: str = ""
    like: str = ""

    @property
    def key(self) -> int:
        """A node is in one cell only, so its first one tells cells apart."""
        return self.places[0]


@dataclass(frozen=True, slots=True)
class Part(Generic[Key]):
    """Some of the units (segments, pods, planes, groups) of a row. like: the shown one that each is as; whole: it is
    shown itself."""

    members: tuple[Key, ...]
    like: Key | None
    whole: bool


def parts(signatures: Mapping[Key, Signature], *, expand: bool, most: int) -> list[Part[Key]]:
    """One part for each unit that is shown, one for those that are alike it, and one for all beyond the most."""
    found: list[Part[Key]] = []
    for kind in classes(signatures):
        if expand:
            found += (Part((unit,), None, True) for unit in kind)
        else:
            found.append(Part(kind[:1], None, True))
            if kind[1:]:
                found.append(Part(kind[1:], kind[0], False))
    order = {unit: place for place, unit in enumerate(signatures)}
    found.sort(key=lambda part: order[part.members[0]])
    if len(found) <= most:
        return found
    rest = sorted((unit for part in found[most - 1 :] for unit in part.members), key=order.__getitem__)
    return [*found[: most - 1], Part(tuple(rest), None, False)]


def switch_cells(
    nodes: Sequence[Node],
    signatures: Mapping[int, Signature],
    *,
    role: Role,
    limit: int | None,
    apart: Mapping[int, Hashable] | None = None,
    most: int = MOST_CELLS,
) -> tuple[Cell, ...]:
    """A row of switches: all of them, or at most `limit` cells of each kind (4: two, those between, the last; 2: one
    and the others; 1: all together). apart: those between that differ in this are in cells of their own."""
    if limit is None or len(signatures) <= limit:
        return tuple(Cell(role=role, places=(place,)) for place in signatures)
    cells = [cell for kind in classes(signatures) for cell in _kind_cells(nodes, kind, role, limit, apart or {})]
    cells.sort(key=lambda cell: cell.key)
    if len(cells) <= most:
        return tuple(cells)
    rest = tuple(sorted(place for cell in cells[most - 1 :] for place in cell.places))
    return (
        *cells[: most - 1],
        Cell(role=role, places=rest, name=f"{len(rest):,} more {PLURALS[role]}", like=OTHERWISE),
    )


def _kind_cells(
    nodes: Sequence[Node], kind: tuple[int, ...], role: Role, limit: int, apart: Mapping[int, Hashable]
) -> Iterator[Cell]:
    if len(kind) <= limit:
        yield from (Cell(role=role, places=(place,)) for place in kind)
        return
    shown = {4: 2, 2: 1}.get(limit, 0)
    last = kind[-1:] if limit == 4 else ()
    rest = kind[shown : len(kind) - len(last)]
    yield from (Cell(role=role, places=(place,)) for place in kind[:shown])
    like = f"each as {short(nodes[kind[0]].name)}" if shown else ""
    for some in classes({place: apart.get(place) for place in rest}):
        yield Cell(role=role, places=some, name=f"{PLURALS[role]} {_indices(nodes, some)}", like=like)
    yield from (Cell(role=role, places=(place,)) for place in last)


def _indices(nodes: Sequence[Node], places: Iterable[int]) -> str:
    return ranges(nodes[place].index for place in places)


def short(name: str) -> str:
    """`spine1` of `pod1-spine1`."""
    return name.rpartition("-")[2]


def ranges(numbers: Iterable[int]) -> str:
    """`2, 4-8`"""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
