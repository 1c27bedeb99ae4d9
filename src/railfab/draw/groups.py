"""Super-spines by what they join: groups that share no cable, and which of them are alike."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.alike import Signature, make
from railfab.draw.wires import Wiring
from railfab.topology import Role


@dataclass(frozen=True, slots=True)
class Group:
    """Super-spines that the same numbers of spines meet, in every pod. Places in the topology, in order; spines: their
    numbers."""

    supers: tuple[int, ...]
    spines: tuple[int, ...]


def find_groups(wiring: Wiring, supers: Sequence[int]) -> tuple[Group, ...]:
    """The groups of one plane's super-spines, in the order of their first ones."""
    root: dict[int, int] = {}

    def group_of(spine: int) -> int:
        while root.setdefault(spine, spine) != spine:
            spine = root[spine]
        return spine

    meets = {place: _spine_numbers(wiring, place) for place in supers}
    for numbers in meets.values():
        for spine in numbers:
            root[group_of(spine)] = group_of(numbers[0])
    found: dict[int, tuple[list[int], set[int]]] = {}
    for place, numbers in meets.items():
        members, spines = found.setdefault(group_of(numbers[0]) if numbers else 0, ([], set()))
        members.append(place)
        spines.update(numbers)
    return tuple(Group(supers=tuple(members), spines=tuple(sorted(spines))) for members, spines in found.values())


def _spine_numbers(wiring: Wiring, place: int) -> list[int]:
    """Numbers, in their pods, of the spines that a super-spine meets."""
    lows = (wire.low for wire in wiring.at(place))
    return sorted({wiring.ranks[low] for low in lows if wiring.nodes[low].role is Role.SPINE})


def group_signature(wiring: Wiring, group: Group) -> Signature:
    """Its super-spines in order, each with its cables to spines by pod and order in the group."""
    order = {number: place for place, number in enumerate(group.spines)}

    def cables(place: int) -> Hashable:
        return frozenset(
            (wiring.nodes[wire.low].pod, order.get(wiring.ranks[wire.low], -wire.low), wire.kind, wiring.wires[wire])
            for wire in wiring.at(place)
        )

    return tuple((make(wiring.nodes[place]), cables(place)) for place in group.supers)


def super_signatures(wiring: Wiring, group: Group) -> dict[int, Signature]:
    """Of each super-spine of a group: its cables to the very same spines."""
    return {
        place: (
            make(wiring.nodes[place]),
            frozenset((wire.low, wire.kind, wiring.wires[wire]) for wire in wiring.at(place)),
        )
        for place in group.supers
    }


def spine_signatures(
    wiring: Wiring, spines: Sequence[int], known: Mapping[int, Hashable], order: Mapping[int, int]
) -> dict[int, Signature]:
    """Of each spine of a pod: its cables to the very same leaves, and upwards to super-spines of equal order in groups
    that are known to be alike. known, order: of each super-spine."""

    def cables(place: int) -> Hashable:
        return frozenset(
            (
                wire.low if wire.high == place else (known.get(wire.high), order.get(wire.high)),
                wire.kind,
                wiring.wires[wire],
            )
            for wire in wiring.at(place)
        )

    return {place: (make(wiring.nodes[place]), cables(place)) for place in spines}
