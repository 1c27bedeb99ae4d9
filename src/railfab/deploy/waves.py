"""Waves: the order in which the switches of a fabric are changed, so that what they lose together stays small.

The first wave is the canary: the leaf and the spine that carry least. The others follow plane after plane, then the
management network, by which all others are reached. A wave takes a switch unless together they are a redundant pair, or
cut a NIC off that none of them cuts off alone, or lose more than `change.max_bandwidth_loss` of a rail or of a tier; a
switch that loses more by itself has a wave in which it is the only one of its rail and tier.

Each switch has its place in the waves of the whole fabric, in which the switches of a failure domain (a segment, the
spines of a pod) follow each other. Those that change keep that order, and as many as a wave takes are changed together:
one more switch makes no two others change in the opposite order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from railfab.fabric import Design
from railfab.topology import TIERS, Net, Node, Role
from railfab.topology.outages import Outage, Outages, outages

NETWORKS = (Net.BACKEND, Net.STORAGE, Net.FRONTEND, Net.MANAGEMENT)
"""Networks in the order in which they are changed."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Wave:
    """Switches that are changed at the same time.

    number: from 1. outage: of all of them together, and of what is drained.
    """

    number: int
    switches: tuple[str, ...]
    canary: bool
    outage: Outage


def waves_of(fabric: Design, changing: Collection[str], *, drained: Collection[str] = ()) -> tuple[Wave, ...]:
    """The waves in which these switches are changed. drained: switches that forward nothing meanwhile."""
    names, out = frozenset(changing), frozenset(drained)
    lost = outages(fabric.topology)
    base_gbps = {group: share * lost.gbps[group] for group, share in lost.shares(out).items()}
    budget = _Budget(lost, fabric.intent.change.max_bandwidth_loss / 100, out, base_gbps)
    nodes = sorted(fabric.topology.switches(), key=_place)
    changed = [node for node in nodes if node.name in names]
    if not changed:
        return ()
    canary = canary_of(changed, lost)
    waves = [canary]
    for _, stage in groupby(nodes, key=_stage):
        left = [name for name in _ordered(stage, budget) if name in names and name not in canary]
        waves += _cut(left, budget)
    places = {node.name: place for place, node in enumerate(nodes)}
    return tuple(
        Wave(number, tuple(sorted(switches, key=places.__getitem__)), number == 1, lost(out.union(switches)))
        for number, switches in enumerate(waves, 1)
    )


def _stage(node: Node) -> tuple[bool, int]:
    """What is finished before the next begins: a plane, then the management network."""
    return node.net is Net.MANAGEMENT, node.plane


def _place(node: Node) -> tuple[int, ...]:
    """The key by which switches are ordered: leaves of a segment follow each other, then spines, then super-spines."""
    return *_stage(node), NETWORKS.index(node.net), TIERS[node.role], node.pod, node.segment or 0, node.index


def canary_of(nodes: Sequence[Node], lost: Outages) -> list[str]:
    """The leaf and the spine that carry least, of the first network that changes; of neither, the least of all.

    The least is that with the fewest NICs behind it, then with the least bandwidth, then the first.
    """

    def carried(name: str) -> tuple[int, float]:
        return lost.nics_behind(name), sum(lost.of_switch.get(name, {}).values())

    by_role: dict[Role, list[str]] = {}
    for node in nodes:
        if node.net is nodes[0].net and _stage(node) == _stage(nodes[0]):
            by_role.setdefault(node.role, []).append(node.name)
    tiers = [by_role[role] for role in (Role.LEAF, Role.SPINE) if role in by_role] or by_role.values()
    return [min(tier, key=carried) for tier in tiers]


@dataclass(frozen=True)
class _Budget:
    """What a wave may lose. limit: share of a rail or tier. drained: switches that are lost already. base_gbps: what
    these have of each group."""

    lost: Outages
    limit: float
    drained: frozenset[str]
    base_gbps: Mapping[str, float]


@dataclass
class _Packing:
    """A wave that is being filled. gbps: what its switches have of each group, apart from those that are drained."""

    budget: _Budget
    names: list[str] = field(default_factory=list)
    switches: set[str] = field(default_factory=set)
    gbps: Counter[str] = field(default_factory=Counter)

    def takes(self, name: str) -> bool:
        """Whether a switch can be changed with those of the wave."""
        lost, limit, base_gbps = self.budget.lost, self.budget.limit, self.budget.base_gbps
        if name in self.budget.drained:
            return lost.peers.get(name, frozenset()).isdisjoint(self.switches)
        for group, gbps in lost.of_switch.get(name, {}).items():
            before = self.gbps[group]
            if before and (before + gbps + base_gbps.get(group, 0.0)) / lost.gbps[group] > limit + ROUNDING:
                return False
        return not lost.cut_together(self.switches, name, self.budget.drained)

    def add(self, name: str) -> None:
        self.names.append(name)
        self.switches.add(name)
        if name not in self.budget.drained:
            self.gbps.update(self.budget.lost.of_switch.get(name, {}))


def _ordered(nodes: Iterable[Node], budget: _Budget) -> Iterator[str]:
    """Switches wave by wave, each in the first wave that takes it."""
    waves: list[_Packing] = []
    for node in nodes:
        wave = next((wave for wave in waves if wave.takes(node.name)), None)
        if wave is None:
            waves.append(wave := _Packing(budget))
        wave.add(node.name)
    return (name for wave in waves for name in wave.names)


def _cut(names: Iterable[str], budget: _Budget) -> list[list[str]]:
    """The fewest waves of switches that follow each other in this order."""
    waves: list[_Packing] = []
    for name in names:
        if not waves or not waves[-1].takes(name):
            waves.append(_Packing(budget))
        waves[-1].add(name)
    return [wave.names for wave in waves]
