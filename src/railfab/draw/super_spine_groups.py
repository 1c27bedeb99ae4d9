"""Groups of super-spines that share no cable, and their signatures: equal for equivalent groups."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.equivalence import Signature, node_attributes
from railfab.draw.graph import NetworkGraph
from railfab.topology import Role


@dataclass(frozen=True, slots=True)
class SuperSpineGroup:
    """Super-spines cabled to the spines of the same numbers in every pod.

    supers: indices of the super-spines, in order; spines: numbers of the spines in their pods.
    """

    supers: tuple[int, ...]
    spines: tuple[int, ...]


def find_groups(graph: NetworkGraph, supers: Sequence[int]) -> tuple[SuperSpineGroup, ...]:
    """The groups of one plane's super-spines, in the order of the first super-spine of each (union-find)."""
    root: dict[int, int] = {}

    def group_of(spine: int) -> int:
        while root.setdefault(spine, spine) != spine:
            spine = root[spine]
        return spine

    spines_of = {index: _spine_numbers(graph, index) for index in supers}
    for numbers in spines_of.values():
        for spine in numbers:
            root[group_of(spine)] = group_of(numbers[0])
    found: dict[int, tuple[list[int], set[int]]] = {}
    for index, numbers in spines_of.items():
        members, spines = found.setdefault(group_of(numbers[0]) if numbers else 0, ([], set()))
        members.append(index)
        spines.update(numbers)
    return tuple(
        SuperSpineGroup(supers=tuple(members), spines=tuple(sorted(spines))) for members, spines in found.values()
    )


def _spine_numbers(graph: NetworkGraph, index: int) -> list[int]:
    """Numbers, in their pods, of the spines that a super-spine is cabled to."""
    lows = (edge.low for edge in graph.edges_of(index))
    return sorted({graph.ranks[low] for low in lows if graph.nodes[low].role is Role.SPINE})


def group_signature(graph: NetworkGraph, group: SuperSpineGroup) -> Signature:
    """Its super-spines in order, each with its cables to spines by pod and order in the group."""
    order = {number: index for index, number in enumerate(group.spines)}

    def cables(index: int) -> Hashable:
        return frozenset(
            (graph.nodes[edge.low].pod, order.get(graph.ranks[edge.low], -edge.low), edge.cable_type, graph.edges[edge])
            for edge in graph.edges_of(index)
        )

    return tuple((node_attributes(graph.nodes[index]), cables(index)) for index in group.supers)


def super_signatures(graph: NetworkGraph, group: SuperSpineGroup) -> dict[int, Signature]:
    """Signature of each super-spine of a group: its cables to the same spines."""
    return {
        index: (
            node_attributes(graph.nodes[index]),
            frozenset((edge.low, edge.cable_type, graph.edges[edge]) for edge in graph.edges_of(index)),
        )
        for index in group.supers
    }


def spine_signatures(
    graph: NetworkGraph, spines: Sequence[int], group_class: Mapping[int, Hashable], order: Mapping[int, int]
) -> dict[int, Signature]:
    """Signature of each spine of a pod: its cables to the same leaves, and to super-spines of equal order in equivalent
    groups.

    group_class, order: of each super-spine, the class of its group and its order in the group.
    """

    def cables(index: int) -> Hashable:
        return frozenset(
            (
                edge.low if edge.high == index else (group_class.get(edge.high), order.get(edge.high)),
                edge.cable_type,
                graph.edges[edge],
            )
            for edge in graph.edges_of(index)
        )

    return {index: (node_attributes(graph.nodes[index]), cables(index)) for index in spines}
