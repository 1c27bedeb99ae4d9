"""What a picture shows of a topology: cells, each one switch or many that are alike, in rows.

Every node of the backend is in exactly one cell, so that what is counted in the picture is what is there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
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
SEVERAL = "of several kinds"
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


class Show(Enum):
    """What a row shows of units of which some are alike."""

    ALL = 1
    """Each by itself."""
    FIRST = 2
    """The first of each kind by itself, and the others of its kind in one box."""
    KINDS = 3
    """Each kind in one box; by itself what is the only one of its kind."""


@dataclass(frozen=True, slots=True)
class Part(Generic[Key]):
    """Some of the units (segments, pods, planes, groups) of a row. whole: one that is shown by itself; like: the shown
    one that each is as; alike: they are all of one kind."""

    members: tuple[Key, ...]
    whole: bool = False
    like: Key | None = None
    alike: bool = False


def parts(signatures: Mapping[Key, Signature], show: Show, most: int) -> list[Part[Key]]:
    """At most so many parts; units of several kinds share the last one where there are more. The first and the rarest
    are shown rather than others."""
    order = {unit: place for place, unit in enumerate(signatures)}
    sized = [(len(kind), part) for kind in classes(signatures) for part in _kind_parts(kind, show)]
    sized.sort(key=lambda item: order[item[1].members[0]])
    if len(sized) > most:
        wanted = sorted(range(1, len(sized)), key=lambda place: (sized[place][0], place))[: most - 2]
        shown = {0, *wanted} if most > 1 else set()
        rest = [unit for place, (_, part) in enumerate(sized) if place not in shown for unit in part.members]
        mixed = Part(tuple(sorted(rest, key=order.__getitem__)))
        return [*(sized[place][1] for place in sorted(shown)), mixed]
    return [part for _, part in sized]


def _kind_parts(kind: tuple[Key, ...], show: Show) -> Iterator[Part[Key]]:
    if show is Show.KINDS and len(kind) > 1:
        yield Part(kind, alike=True)
        return
    shown = len(kind) if show is Show.ALL else 1
    yield from (Part((unit,), whole=True) for unit in kind[:shown])
    if kind[shown:]:
        yield Part(kind[shown:], like=kind[0], alike=True)


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
    return (*cells[: most - 1], others(role, rest, alone=most == 1))


def others(role: Role, places: tuple[int, ...], *, alone: bool) -> Cell:
    """Nodes that differ from each other. alone: none is shown beside them."""
    name = f"{len(places):,} {'' if alone else 'more '}{PLURALS[role]}"
    return Cell(role=role, places=places, name=name, like=SEVERAL)


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
        name = f"{_stem(nodes[some[0]])}{PLURALS[role]} {ranges(nodes[place].index for place in some)}"
        yield Cell(role=role, places=some, name=name, like=like)
    yield from (Cell(role=role, places=(place,)) for place in last)


def _stem(node: Node) -> str:
    """The segment that leaves are in, by their names; pods and groups have frames."""
    stem = node.name.rpartition("-")[0]
    return f"{stem} " if node.role is Role.LEAF and stem else ""


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
