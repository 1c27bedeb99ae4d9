"""Which parts of a network are wired alike, proved from its cables and not from its intent.

Two parts are alike when renumbering one gives the other: switches of equal numbers have the same model, and every cable
joins the same numbers at the same speed and length, on the same rail and VLAN. What is outside must be the very same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from railfab.draw.wires import Wire, Wiring, tier
from railfab.topology import Node, Role

Key = TypeVar("Key", bound=Hashable)
Segment = tuple[int, int]
"""Pod and segment; segment 0 for hosts and leaves that are in none."""
Signature = Hashable
HERE = -1
"""In place of the number of the pod, segment or plane that is compared."""


def classes(signatures: Mapping[Key, Signature]) -> tuple[tuple[Key, ...], ...]:
    """Keys with equal signatures together, in the order of their first ones."""
    found: dict[Signature, list[Key]] = {}
    for key, signature in signatures.items():
        found.setdefault(signature, []).append(key)
    return tuple(tuple(keys) for keys in found.values())


def segment_of(node: Node) -> Segment:
    return node.pod, node.segment or 0


def make(node: Node) -> Signature:
    return node.model, node.platform, node.reflector


@dataclass(frozen=True)
class Alike:
    """Signatures of the parts of a backend, each made when it is first asked for."""

    wiring: Wiring
    inside: Sequence[int]
    """Nodes of the backend: the hosts and its switches."""

    def _named(self, name: Callable[[Node], Hashable]) -> dict[int, int]:
        """A small number for how each node is called from some place; the name is (role, ..., rank)."""
        numbers: dict[Hashable, int] = {}
        called: dict[int, int] = {}
        for place, (node, rank) in enumerate(zip(self.wiring.nodes, self.wiring.ranks, strict=True)):
            whole = (node.net, node.role, name(node), rank)
            called[place] = numbers.setdefault(whole, len(numbers))
        return called

    @cached_property
    def in_segment(self) -> Mapping[int, int]:
        """What each node is called in its own segment."""
        return self._named(lambda node: (node.plane,))

    @cached_property
    def in_pod(self) -> Mapping[int, int]:
        """What each node is called in its own pod; below none, to differ from the names of a segment."""
        called = self._named(lambda node: (node.plane, node.segment))
        return {place: -1 - 2 * number for place, number in called.items()}

    @cached_property
    def in_whole(self) -> Mapping[int, int]:
        """What each node is called from afar; below none and even, to differ from the names of a pod."""
        called = self._named(lambda node: (node.plane, node.pod, node.segment))
        return {place: -2 - 2 * number for place, number in called.items()}

    @cached_property
    def in_plane(self) -> Mapping[int, int]:
        """What each node is called in its plane."""
        return self._named(lambda node: (node.pod, node.segment))

    @cached_property
    def segments(self) -> dict[Segment, Signature]:
        """Signature of each segment: hosts, leaves, the cables between them and those upwards."""
        found: dict[Segment, list[Hashable]] = defaultdict(list)
        nodes = self.wiring.nodes
        for place in self.inside:
            if tier(nodes[place]) < 2:
                found[segment_of(nodes[place])].append((self.in_segment[place], make(nodes[place])))
        for wire, count in self.wiring.wires.items():
            for unit in {segment_of(nodes[end]) for end in wire[:2] if tier(nodes[end]) < 2}:
                found[unit].append((self._seen(wire.low, unit), self._seen(wire.high, unit), wire[2:], count))
        return {unit: frozenset(found[unit]) for unit in sorted(found)}

    def _seen(self, place: int, unit: Segment) -> int:
        """What a node is called from a segment."""
        node = self.wiring.nodes[place]
        if node.pod != unit[0]:
            return self.in_whole[place]
        return self.in_segment[place] if tier(node) < 2 and (node.segment or 0) == unit[1] else self.in_pod[place]

    @cached_property
    def pods(self) -> dict[int, Signature]:
        """Signature of each pod: its segments by number and class, its spines and the cables at them."""
        found: dict[int, list[Hashable]] = defaultdict(list)
        nodes = self.wiring.nodes
        for number, kind in enumerate(classes(self.segments)):
            for pod, segment in kind:
                found[pod].append((segment, number))
        for place in self.inside:
            if nodes[place].role is Role.SPINE:
                found[nodes[place].pod].append((self.in_pod[place], make(nodes[place])))
        for wire, count in self._above_segments():
            for pod in {nodes[end].pod for end in wire[:2] if nodes[end].role is Role.SPINE}:
                ends = [self.in_pod[end] if nodes[end].pod == pod else self.in_whole[end] for end in wire[:2]]
                found[pod].append((*ends, wire[2:], count))
        return {pod: frozenset(found[pod]) for pod in sorted(found)}

    def _above_segments(self) -> list[tuple[Wire, int]]:
        """Cables that no signature of a segment in the same pod tells of."""
        nodes = self.wiring.nodes
        return [
            counted
            for counted in self.wiring.wires.items()
            if tier(nodes[counted[0].low]) > 1 or nodes[counted[0].low].pod != nodes[counted[0].high].pod
        ]

    @cached_property
    def planes(self) -> dict[int, Signature]:
        """Signature of each plane: all its switches and cables."""
        found: dict[int, list[Hashable]] = defaultdict(list)
        nodes = self.wiring.nodes
        for place in self.inside:
            if tier(nodes[place]):
                found[nodes[place].plane].append((self.in_plane[place], make(nodes[place])))
        for wire, count in self.wiring.wires.items():
            found[nodes[wire.high].plane].append((self.in_plane[wire.low], self.in_plane[wire.high], wire[2:], count))
        return {plane: frozenset(found[plane]) for plane in sorted(found)}

    def hosts(self, places: Iterable[int]) -> dict[int, Signature]:
        """Signature of each host: its cables, to the very same switches."""
        return {place: frozenset((wire[1:], count) for wire, count in self._at(place)) for place in places}

    def leaves(self, places: Iterable[int]) -> dict[int, Signature]:
        """Signature of each leaf of a segment: its cables to the same hosts, in the order of its own rails, and to the
        same spines."""
        return {place: self._leaf(place) for place in places}

    def _leaf(self, place: int) -> Signature:
        wires = self._at(place)
        rails = {rail: order for order, rail in enumerate(sorted({wire.rail for wire, _ in wires}))}
        cables = Counter((self._beyond(wire, place), rails[wire.rail], wire[3:5], count) for wire, count in wires)
        return make(self.wiring.nodes[place]), frozenset(cables.items())

    def _beyond(self, wire: Wire, place: int) -> Hashable:
        """The other end, by its place; for the other switch of a pair, that it is one."""
        other = wire.high if wire.low == place else wire.low
        return HERE if tier(self.wiring.nodes[other]) == tier(self.wiring.nodes[place]) else other

    def _at(self, place: int) -> Sequence[tuple[Wire, int]]:
        return self.wiring.ends.get(place, ())
