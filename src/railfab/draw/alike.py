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
PEER = -1
"""In place of the other switch of a pair."""


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

    def _named(self, name: Callable[[Node], Hashable], first: int) -> list[int]:
        """A number for how each node is called from some place; first: 0 to 2, to differ from other places."""
        numbers: dict[Hashable, int] = {}
        called = ((node.net, node.role, name(node), rank) for node, rank in zip(self._nodes, self._ranks, strict=True))
        return [3 * numbers.setdefault(whole, len(numbers)) + first for whole in called]

    @property
    def _nodes(self) -> Sequence[Node]:
        return self.wiring.nodes

    @property
    def _ranks(self) -> Sequence[int]:
        return self.wiring.ranks

    @cached_property
    def _in_segment(self) -> Sequence[int]:
        """What each node is called in its own segment."""
        return self._named(lambda node: node.plane, 0)

    @cached_property
    def _in_pod(self) -> Sequence[int]:
        """What each node is called in its own pod."""
        return self._named(lambda node: (node.plane, node.segment), 1)

    @cached_property
    def _afar(self) -> Sequence[int]:
        """What each node is called from outside its pod."""
        return self._named(lambda node: (node.plane, node.pod, node.segment), 2)

    @cached_property
    def _in_plane(self) -> Sequence[int]:
        """What each node is called in its plane."""
        return self._named(lambda node: (node.pod, node.segment), 0)

    @cached_property
    def _units(self) -> Sequence[Segment | None]:
        """The segment of each host and leaf."""
        return [segment_of(node) if tier(node) < 2 else None for node in self._nodes]

    @cached_property
    def segments(self) -> dict[Segment, Signature]:
        """Signature of each segment: hosts, leaves, the cables between them and those upwards."""
        found: dict[Segment, list[Hashable]] = defaultdict(list)
        units, called = self._units, self._in_segment
        for place in self.inside:
            if (unit := units[place]) is not None:
                found[unit].append((called[place], make(self._nodes[place])))
        for (low, high, kind), count in self.wiring.wires.items():
            unit, above = units[low], units[high]
            if unit is not None:
                other = called[high] if above == unit else self._seen(high, unit)
                found[unit].append((called[low], other, kind, count))
            if above is not None and above != unit:
                found[above].append((self._seen(low, above), called[high], kind, count))
        return {unit: frozenset(found[unit]) for unit in sorted(found)}

    def _seen(self, place: int, unit: Segment) -> int:
        """What a node outside a segment is called from it."""
        return self._in_pod[place] if self._nodes[place].pod == unit[0] else self._afar[place]

    @cached_property
    def pods(self) -> dict[int, Signature]:
        """Signature of each pod: its segments by number and class, its spines and the cables above them."""
        found: dict[int, list[Hashable]] = defaultdict(list)
        for number, kind in enumerate(classes(self.segments)):
            for pod, segment in kind:
                found[pod].append((segment, number))
        for place in self.inside:
            if self._nodes[place].role is Role.SPINE:
                found[self._nodes[place].pod].append((self._in_pod[place], make(self._nodes[place])))
        for wire, count in self.wiring.wires.items():
            ends = [self._nodes[end].pod for end in wire[:2]] if self._above_segments(wire) else []
            for pod in {*ends} - {0}:
                names = [
                    self._in_pod[end] if at == pod else self._afar[end] for end, at in zip(wire, ends, strict=False)
                ]
                found[pod].append((*names, wire.kind, count))
        return {pod: frozenset(found[pod]) for pod in sorted(found)}

    def _above_segments(self, wire: Wire) -> bool:
        """No signature of a segment in the same pod tells of it."""
        return self._units[wire.low] is None or self._nodes[wire.low].pod != self._nodes[wire.high].pod

    @cached_property
    def planes(self) -> dict[int, Signature]:
        """Signature of each plane: all its switches and cables; nothing of one that is alone."""
        numbers = sorted({self._nodes[place].plane for place in self.inside if tier(self._nodes[place])})
        if len(numbers) < 2:
            return dict.fromkeys(numbers or [1])
        found: dict[int, list[Hashable]] = {number: [] for number in numbers}
        for place in self.inside:
            if tier(self._nodes[place]):
                found[self._nodes[place].plane].append((self._in_plane[place], make(self._nodes[place])))
        for (low, high, kind), count in self.wiring.wires.items():
            found[self._nodes[high].plane].append((self._in_plane[low], self._in_plane[high], kind, count))
        return {plane: frozenset(items) for plane, items in found.items()}

    def hosts(self, places: Iterable[int]) -> dict[int, Signature]:
        """Signature of each host: its cables, to the very same switches."""
        wires = self.wiring.wires
        return {place: frozenset((wire[1:], wires[wire]) for wire in self.wiring.at(place)) for place in places}

    def leaves(self, places: Iterable[int]) -> dict[int, Signature]:
        """Signature of each leaf of a segment: its cables to the same hosts, in the order of its own rails, and to the
        same spines."""
        return {place: self._leaf(place) for place in places}

    def _leaf(self, place: int) -> Signature:
        wires = [(wire, self.wiring.kinds[wire.kind]) for wire in self.wiring.at(place)]
        rails = {rail: order for order, rail in enumerate(sorted({kind.rail for _, kind in wires}))}
        cables = Counter(
            (
                self._beyond(wire, place),
                rails[kind.rail],
                kind.rate_gbps,
                kind.cable_m,
                kind.lag,
                self.wiring.wires[wire],
            )
            for wire, kind in wires
        )
        return make(self._nodes[place]), frozenset(cables.items())

    def _beyond(self, wire: Wire, place: int) -> Hashable:
        """The other end, by its place; for the other switch of a pair, that it is one."""
        other = wire.high if wire.low == place else wire.low
        return PEER if tier(self._nodes[other]) == tier(self._nodes[place]) else other
