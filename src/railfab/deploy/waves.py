"""Waves: the order in which the switches of a fabric are changed, so that what they lose together stays small.

The first wave is the canary: the leaf and the spine that carry least. Then plane after plane, each switch is in the
first wave that takes it, in the order of failure domains: pods, segments, rails. A wave takes a switch unless together
they cut a NIC off that none of them cuts off alone, or lose more than `change.max_bandwidth_loss` of a rail or of a
tier; a switch that loses more by itself has a wave in which it is the only one of its rail and tier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from railfab.fabric import Design
from railfab.topology import TIERS, Net, Node, Role
from railfab.topology.outages import Outage, Outages, outages

NETWORKS = (Net.BACKEND, Net.STORAGE, Net.FRONTEND, Net.MANAGEMENT)
"""Networks in the order in which they are changed. The management network is last: the others are reached by it."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Wave:
    """Switches that are changed at the same time. number: from 1. outage: of all of them together."""

    number: int
    switches: tuple[str, ...]
    canary: bool
    outage: Outage


def waves_of(fabric: Design, changing: Collection[str], *, drained: Collection[str] = ()) -> tuple[Wave, ...]:
    """The waves in which these switches are changed. drained: switches that forward nothing meanwhile."""
    lost = outages(fabric.topology)
    nodes = sorted((node for node in fabric.topology.switches() if node.name in changing), key=_domain)
    canary = canary_of(nodes, lost)
    rest = [node for node in nodes if node.name not in canary]
    limit = fabric.intent.change.max_bandwidth_loss / 100
    packed = [canary] if canary else []
    for plane in sorted({node.plane for node in rest}):
        packed += _packed([node.name for node in rest if node.plane == plane], lost, limit, frozenset(drained))
    return tuple(
        Wave(number, tuple(names), number == 1, lost(frozenset(names) | frozenset(drained)))
        for number, names in enumerate(packed, 1)
    )


def _domain(node: Node) -> tuple[int, ...]:
    """The key by which switches are ordered: leaves of a segment follow each other, then spines, then super-spines."""
    return node.plane, NETWORKS.index(node.net), TIERS[node.role], node.pod, node.segment or 0, node.index


def canary_of(nodes: Sequence[Node], lost: Outages) -> list[str]:
    """The leaf and the spine that carry least, of the first network that changes."""
    names: list[str] = []
    for role in (Role.LEAF, Role.SPINE):
        of_role = [node.name for node in nodes if node.role is role and node.net is nodes[0].net]
        if of_role:
            names.append(min(of_role, key=lambda name: sum(lost.of_switch.get(name, {}).values())))
    if not names:
        return [node.name for node in nodes[:1]]
    return names[:1] if lost.cut_together(set(names[:1]), names[-1]) else names


@dataclass
class _Packing:
    """A wave that is being filled. gbps: what it has lost of each group. switches: also those that are drained."""

    names: list[str] = field(default_factory=list)
    gbps: dict[str, float] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)

    def takes(self, name: str, lost: Outages, limit: float) -> bool:
        """Whether a switch can be changed with those of the wave."""
        for group, gbps in lost.of_switch.get(name, {}).items():
            before = self.gbps.get(group, 0.0)
            if before and (before + gbps) / lost.gbps[group] > limit + ROUNDING:
                return False
        return not lost.cut_together(self.switches, name)

    def add(self, name: str, lost: Outages) -> None:
        self.names.append(name)
        self.count(name, lost)

    def count(self, name: str, lost: Outages) -> None:
        self.switches.add(name)
        for group, gbps in lost.of_switch.get(name, {}).items():
            self.gbps[group] = self.gbps.get(group, 0.0) + gbps


def _packed(names: Iterable[str], lost: Outages, limit: float, drained: frozenset[str]) -> list[list[str]]:
    """Switches in the first wave that takes each."""
    waves: list[_Packing] = []
    for name in names:
        for wave in waves:
            if wave.takes(name, lost, limit):
                break
        else:
            wave = _Packing()
            for other in sorted(drained):
                wave.count(other, lost)
            waves.append(wave)
        wave.add(name, lost)
    return [wave.names for wave in waves]
