"""What a picture counts: cables between cells, switches and capacity of each tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.cells import Cell
from railfab.draw.wires import Wiring, tier
from railfab.topology import Role

Pair = tuple[int, int]
"""Keys of the lower and the upper cell."""


CableKind = tuple[int, float, bool]
"""Speed [Gb/s] and length [m] of a cable, and whether it is part of a port channel."""


@dataclass(frozen=True, slots=True)
class Joint:
    """All the cables between two cells. rails: how many of each rail, 0 for those of none; rates: of each speed."""

    rails: Counter[int]
    rates: Counter[int]
    vlans: set[int]

    @property
    def cables(self) -> int:
        return self.rates.total()


def joints(wiring: Wiring, cells: Iterable[Cell]) -> dict[Pair, Joint]:
    """The cables of a network between the cells that its nodes are in."""
    cell_of = {place: cell.key for cell in cells for place in cell.places}
    found: dict[Pair, Joint] = {}
    for (low, high, number), count in wiring.wires.items():
        pair, kind = (cell_of[low], cell_of[high]), wiring.kinds[number]
        joint = found.get(pair)
        if joint is None:
            joint = found[pair] = Joint(Counter(), Counter(), set())
        joint.rails[kind.rail] += count
        joint.rates[kind.rate_gbps] += count
        if kind.vlan:
            joint.vlans.add(kind.vlan)
    return found


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a switch carries to its lower and upper sides [Gb/s]."""

    down_gbps: int
    up_gbps: int


@dataclass(frozen=True, slots=True)
class Tier:
    """The switches of one role. models: how many of each; capacities: how many switches have each; below: cables that
    lead down; peers: cables among themselves."""

    role: Role
    models: Counter[str]
    capacities: Counter[Capacity]
    below: Counter[CableKind]
    peers: Counter[CableKind]


def tiers(wiring: Wiring, switches: Sequence[int]) -> dict[Role, Tier]:
    """The tiers of one network, the highest first."""
    nodes = wiring.nodes
    down: Counter[int] = Counter()
    up: Counter[int] = Counter()
    found: dict[Role, Tier] = {}
    for role in (Role.SUPER, Role.SPINE, Role.LEAF):
        here = [place for place in switches if nodes[place].role is role]
        if here:
            models = Counter(nodes[place].model or "" for place in here)
            found[role] = Tier(role, models, Counter(), Counter(), Counter())
    sides = [(node.net, tier(node)) for node in nodes]
    above = [found.get(node.role) for node in nodes]
    for (low, high, number), count in wiring.wires.items():
        tier_ = above[high]
        assert tier_ is not None
        kind = wiring.kinds[number]
        peers = sides[low] == sides[high]
        (tier_.peers if peers else tier_.below)[kind.rate_gbps, kind.cable_m, kind.lag] += count
        if not peers:
            down[high] += count * kind.rate_gbps
            up[low] += count * kind.rate_gbps
    for place in switches:
        found[nodes[place].role].capacities[Capacity(down[place], up[place])] += 1
    return found


def tier_lines(tier: Tier) -> list[str]:
    """What is written beside a tier: its switches, and what each carries down and up."""
    models = [
        (f"{count:,} × {model}" if model else f"{count:,}", count)
        for model, count in sorted(tier.models.items(), key=lambda item: (-item[1], item[0]))
    ]
    ordered = sorted(tier.capacities.items(), key=lambda item: (-item[1], item[0].up_gbps, item[0].down_gbps))
    fast = any(max(capacity.down_gbps, capacity.up_gbps) >= 1000 for capacity in tier.capacities)
    carried = [
        (_carried(capacity, 0 if not place else count, fast=fast), count)
        for place, (capacity, count) in enumerate(ordered)
        if capacity.down_gbps or capacity.up_gbps
    ]
    return [*shortened(models, "switches"), *shortened(carried, "switches")]


def cable_lines(tier: Tier) -> list[str]:
    """The cables below a tier, and those among its switches."""
    return [*_cables(tier.below, ""), *_cables(tier.peers, " peer")]


def _cables(kinds: Mapping[CableKind, int], where: str) -> list[str]:
    lines = [
        (f"{count:,} × {rate_gbps}G{where}, {cable_m:g} m{' (LAG)' if lag and not where else ''}", count)
        for (rate_gbps, cable_m, lag), count in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    ]
    return shortened(lines, "cables")


def shortened(lines: list[tuple[str, int]], what: str, most: int = 3) -> list[str]:
    """At most so many lines; the last tells how many of the things that they count are not in the others."""
    if len(lines) <= most:
        return [line for line, _ in lines]
    return [*(line for line, _ in lines[: most - 1]), f"{sum(count for _, count in lines[most - 1 :]):,} other {what}"]


def _carried(capacity: Capacity, count: int, *, fast: bool) -> str:
    """`3.2 : 3.2 Tb/s, 1:1`: down, up, and their ratio. count: of switches that are not as most are, and of which the
    unit is said already; fast: in Tb/s."""
    down, up = (gbps / 1000 if fast else gbps for gbps in (capacity.down_gbps, capacity.up_gbps))
    before, unit = (f"{count:,} × ", "") if count else ("", " Tb/s" if fast else " Gb/s")
    if not (up and down):
        return f"{before}{max(down, up):.4g}{unit} {'down' if down else 'up'}"
    ratio = f"{down / up:.3g}:1" if down >= up else f"1:{up / down:.3g}"
    return f"{before}{down:.4g} : {up:.4g}{unit}, {ratio}"
