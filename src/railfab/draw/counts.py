"""Counts that a picture shows: cables between cells, switches and capacity of each tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.cells import Cell
from railfab.draw.graph import NetworkGraph, tier_of
from railfab.topology import Role

Pair = tuple[int, int]
"""Keys of the lower and the upper cell."""
CableSpec = tuple[int, float, bool]
"""Speed [Gb/s] and length [m] of a cable, and whether it is part of a port channel."""


@dataclass(frozen=True, slots=True)
class CableTotals:
    """Numbers of cables between two cells. rails: by rail, 0 for cables without one; rates: by speed [Gb/s]."""

    rails: Counter[int]
    rates: Counter[int]
    vlans: set[int]

    @property
    def cables(self) -> int:
        return self.rates.total()


def cable_totals(graph: NetworkGraph, cells: Iterable[Cell]) -> dict[Pair, CableTotals]:
    """Numbers of cables of a network between each two cells."""
    cell_of = {index: cell.key for cell in cells for index in cell.node_indices}
    found: dict[Pair, CableTotals] = {}
    for (low, high, number), count in graph.edges.items():
        pair, cable_type = (cell_of[low], cell_of[high]), graph.cable_types[number]
        totals = found.get(pair)
        if totals is None:
            totals = found[pair] = CableTotals(Counter(), Counter(), set())
        totals.rails[cable_type.rail] += count
        totals.rates[cable_type.rate_gbps] += count
        if cable_type.vlan:
            totals.vlans.add(cable_type.vlan)
    return found


@dataclass(frozen=True, slots=True)
class TierCapacity:
    """Capacity of a switch towards the tier below and the tier above [Gb/s]."""

    down_gbps: int
    up_gbps: int


@dataclass(frozen=True, slots=True)
class TierSummary:
    """The switches of one role. models, capacities: number of switches with each; below: cables to the tier below;
    peers: cables between the switches of the tier."""

    role: Role
    models: Counter[str]
    capacities: Counter[TierCapacity]
    below: Counter[CableSpec]
    peers: Counter[CableSpec]


def tier_summaries(graph: NetworkGraph, switches: Sequence[int]) -> dict[Role, TierSummary]:
    """Summaries of the tiers of one network, the highest tier first."""
    nodes = graph.nodes
    down: Counter[int] = Counter()
    up: Counter[int] = Counter()
    found: dict[Role, TierSummary] = {}
    for role in (Role.SUPER, Role.SPINE, Role.LEAF):
        here = [index for index in switches if nodes[index].role is role]
        if here:
            models = Counter(nodes[index].model or "" for index in here)
            found[role] = TierSummary(role, models, Counter(), Counter(), Counter())
    sides = [(node.net, tier_of(node)) for node in nodes]
    summaries = [found.get(node.role) for node in nodes]
    for (low, high, number), count in graph.edges.items():
        upper = summaries[high]
        assert upper is not None
        cable_type = graph.cable_types[number]
        peers = sides[low] == sides[high]
        (upper.peers if peers else upper.below)[cable_type.rate_gbps, cable_type.cable_m, cable_type.lag] += count
        if not peers:
            down[high] += count * cable_type.rate_gbps
            up[low] += count * cable_type.rate_gbps
    for index in switches:
        found[nodes[index].role].capacities[TierCapacity(down[index], up[index])] += 1
    return found


def tier_lines(tier: TierSummary) -> list[str]:
    """Text beside a tier: its switches, and their capacity down and up."""
    models = [
        (f"{count:,} × {model}" if model else f"{count:,}", count)
        for model, count in sorted(tier.models.items(), key=lambda item: (-item[1], item[0]))
    ]
    ordered = sorted(tier.capacities.items(), key=lambda item: (-item[1], item[0].up_gbps, item[0].down_gbps))
    fast = any(max(capacity.down_gbps, capacity.up_gbps) >= 1000 for capacity in tier.capacities)
    capacities = [
        (_capacity_text(capacity, 0 if not index else count, fast=fast), count)
        for index, (capacity, count) in enumerate(ordered)
        if capacity.down_gbps or capacity.up_gbps
    ]
    return [*shortened(models, "switches"), *shortened(capacities, "switches")]


def cable_lines(tier: TierSummary) -> list[str]:
    """Text beside a tier: the cables below it, and those between its switches."""
    return [*_cable_texts(tier.below, ""), *_cable_texts(tier.peers, " peer")]


def _cable_texts(cables: Mapping[CableSpec, int], suffix: str) -> list[str]:
    lines = [
        (f"{count:,} × {rate_gbps}G{suffix}, {cable_m:g} m{' (LAG)' if lag and not suffix else ''}", count)
        for (rate_gbps, cable_m, lag), count in sorted(cables.items(), key=lambda item: (-item[1], item[0]))
    ]
    return shortened(lines, "cables")


def shortened(lines: list[tuple[str, int]], what: str, most: int = 3) -> list[str]:
    """At most `most` lines; the last one sums up the counts of the lines left out."""
    if len(lines) <= most:
        return [line for line, _ in lines]
    return [*(line for line, _ in lines[: most - 1]), f"{sum(count for _, count in lines[most - 1 :]):,} other {what}"]


def _capacity_text(capacity: TierCapacity, count: int, *, fast: bool) -> str:
    """`3.2 : 3.2 Tb/s, 1:1`: down, up, and their ratio.

    count: of the switches with this capacity, 0 for the most frequent one; with a count, the unit is left out. fast: in
    Tb/s.
    """
    down, up = (gbps / 1000 if fast else gbps for gbps in (capacity.down_gbps, capacity.up_gbps))
    before, unit = (f"{count:,} × ", "") if count else ("", " Tb/s" if fast else " Gb/s")
    if not (up and down):
        return f"{before}{max(down, up):.4g}{unit} {'down' if down else 'up'}"
    ratio = f"{down / up:.3g}:1" if down >= up else f"1:{up / down:.3g}"
    return f"{before}{down:.4g} : {up:.4g}{unit}, {ratio}"
