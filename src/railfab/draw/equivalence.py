"""Equivalent parts of a network, proved from its cables and not from its intent.

Two parts are equivalent when renumbering one gives the other (an isomorphism): switches of equal numbers have the same
model, and every cable joins the same numbers at the same speed and length, on the same rail and VLAN. Nodes outside the
two parts are not renumbered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from railfab.draw.graph import Edge, NetworkGraph, tier_of
from railfab.topology import Node, Role

Key = TypeVar("Key", bound=Hashable)
Segment = tuple[int, int]
"""Pod and segment; segment 0 for hosts and leaves without one."""
Signature = Hashable
"""Equal for equivalent parts."""
PEER = -1
"""Stands for the other switch of a pair."""


def equivalence_classes(signatures: Mapping[Key, Signature]) -> tuple[tuple[Key, ...], ...]:
    """Keys grouped by equal signature, in the order of the first key of each class."""
    found: dict[Signature, list[Key]] = {}
    for key, signature in signatures.items():
        found.setdefault(signature, []).append(key)
    return tuple(tuple(keys) for keys in found.values())


def segment_of(node: Node) -> Segment:
    return node.pod, node.segment or 0


def node_attributes(node: Node) -> Signature:
    return node.model, node.platform, node.reflector


@dataclass(frozen=True)
class Signatures:
    """Signatures of the parts of a backend, each computed on first use. node_indices: of its hosts and switches."""

    graph: NetworkGraph
    node_indices: Sequence[int]

    def _labels(self, relative_name: Callable[[Node], Hashable], scope: int) -> list[int]:
        """A number for each node's name relative to a unit. scope: 0 to 2; labels of two scopes never collide."""
        numbers: dict[Hashable, int] = {}
        names = (
            (node.net, node.role, relative_name(node), rank)
            for node, rank in zip(self._nodes, self._ranks, strict=True)
        )
        return [3 * numbers.setdefault(name, len(numbers)) + scope for name in names]

    @property
    def _nodes(self) -> Sequence[Node]:
        return self.graph.nodes

    @property
    def _ranks(self) -> Sequence[int]:
        return self.graph.ranks

    @cached_property
    def _segment_labels(self) -> Sequence[int]:
        """Label of each node within its segment."""
        return self._labels(lambda node: node.plane, 0)

    @cached_property
    def _pod_labels(self) -> Sequence[int]:
        """Label of each node within its pod."""
        return self._labels(lambda node: (node.plane, node.segment), 1)

    @cached_property
    def _fabric_labels(self) -> Sequence[int]:
        """Label of each node within the fabric."""
        return self._labels(lambda node: (node.plane, node.pod, node.segment), 2)

    @cached_property
    def _plane_labels(self) -> Sequence[int]:
        """Label of each node within its plane."""
        return self._labels(lambda node: (node.pod, node.segment), 0)

    @cached_property
    def _segment_by_node(self) -> Sequence[Segment | None]:
        """Segment of each host and leaf."""
        return [segment_of(node) if tier_of(node) < 2 else None for node in self._nodes]

    @cached_property
    def segments(self) -> dict[Segment, Signature]:
        """Signature of each segment: hosts, leaves, the cables between them and the cables to the tier above."""
        found: dict[Segment, list[Hashable]] = defaultdict(list)
        segments, labels = self._segment_by_node, self._segment_labels
        for index in self.node_indices:
            if (segment := segments[index]) is not None:
                found[segment].append((labels[index], node_attributes(self._nodes[index])))
        for (low, high, cable_type), count in self.graph.edges.items():
            segment, above = segments[low], segments[high]
            if segment is not None:
                other = labels[high] if above == segment else self._outside_label(high, segment)
                found[segment].append((labels[low], other, cable_type, count))
            if above is not None and above != segment:
                found[above].append((self._outside_label(low, above), labels[high], cable_type, count))
        return {segment: frozenset(found[segment]) for segment in sorted(found)}

    def _outside_label(self, index: int, segment: Segment) -> int:
        """Label of a node outside a segment in the signature of that segment."""
        return self._pod_labels[index] if self._nodes[index].pod == segment[0] else self._fabric_labels[index]

    @cached_property
    def pods(self) -> dict[int, Signature]:
        """Signature of each pod: its segments by number and class, its spines and the cables above them."""
        found: dict[int, list[Hashable]] = defaultdict(list)
        for number, members in enumerate(equivalence_classes(self.segments)):
            for pod, segment in members:
                found[pod].append((segment, number))
        for index in self.node_indices:
            if self._nodes[index].role is Role.SPINE:
                found[self._nodes[index].pod].append((self._pod_labels[index], node_attributes(self._nodes[index])))
        for edge, count in self.graph.edges.items():
            ends = [self._nodes[end].pod for end in edge[:2]] if self._is_above_segments(edge) else []
            for pod in {*ends} - {0}:
                labels = [
                    self._pod_labels[end] if at == pod else self._fabric_labels[end]
                    for end, at in zip(edge, ends, strict=False)
                ]
                found[pod].append((*labels, edge.cable_type, count))
        return {pod: frozenset(found[pod]) for pod in sorted(found)}

    def _is_above_segments(self, edge: Edge) -> bool:
        """No signature of a segment in the same pod contains the edge."""
        return self._segment_by_node[edge.low] is None or self._nodes[edge.low].pod != self._nodes[edge.high].pod

    @cached_property
    def planes(self) -> dict[int, Signature]:
        """Signature of each plane: all its switches and cables; None for the only plane."""
        numbers = sorted({self._nodes[index].plane for index in self.node_indices if tier_of(self._nodes[index])})
        if len(numbers) < 2:
            return dict.fromkeys(numbers or [1])
        found: dict[int, list[Hashable]] = {number: [] for number in numbers}
        for index in self.node_indices:
            if tier_of(self._nodes[index]):
                found[self._nodes[index].plane].append((self._plane_labels[index], node_attributes(self._nodes[index])))
        for (low, high, cable_type), count in self.graph.edges.items():
            found[self._nodes[high].plane].append(
                (self._plane_labels[low], self._plane_labels[high], cable_type, count)
            )
        return {plane: frozenset(items) for plane, items in found.items()}

    def hosts(self, indices: Iterable[int]) -> dict[int, Signature]:
        """Signature of each host: its cables, to the same switches."""
        edges = self.graph.edges
        return {index: frozenset((edge[1:], edges[edge]) for edge in self.graph.edges_of(index)) for index in indices}

    def leaves(self, indices: Iterable[int]) -> dict[int, Signature]:
        """Signature of each leaf of a segment: its cables to the same hosts, rails in their order on the leaf, and its
        cables to the same spines."""
        return {index: self._leaf(index) for index in indices}

    def _leaf(self, index: int) -> Signature:
        edges = [(edge, self.graph.cable_types[edge.cable_type]) for edge in self.graph.edges_of(index)]
        rails = {rail: order for order, rail in enumerate(sorted({cable_type.rail for _, cable_type in edges}))}
        cables = Counter(
            (
                self._far_end(edge, index),
                rails[cable_type.rail],
                cable_type.rate_gbps,
                cable_type.cable_m,
                cable_type.lag,
                self.graph.edges[edge],
            )
            for edge, cable_type in edges
        )
        return node_attributes(self._nodes[index]), frozenset(cables.items())

    def _far_end(self, edge: Edge, index: int) -> Hashable:
        """Index of the node at the other end; PEER for the other switch of a pair."""
        other = edge.high if edge.low == index else edge.low
        return PEER if tier_of(self._nodes[other]) == tier_of(self._nodes[index]) else other
