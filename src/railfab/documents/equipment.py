"""What a network takes, without prices: switches by tier, optics, cables and power, and how much of that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.documents.overview import ROLES
from railfab.documents.plan import Plan
from railfab.documents.power import host_optics_w
from railfab.text.counted import counted, listed
from railfab.topology import Net


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """The networks of a design. switches: by tier, with the network where that is not the backend.

    optics: transceivers, at both ends. cables: with those that have their ends attached. power_w: the most that
    switches with their optics, and the ends of cables in hosts, take; None where that of a part is unknown, which
    `unknown` names.
    """

    gpus: int
    switches: dict[str, int]
    optics: int
    cables: int
    power_w: float | None
    unknown: tuple[str, ...]


def equipment(plan: Plan) -> Equipment:
    """The equipment of a plan."""
    columns = plan.bill.columns
    quantities: Counter[str] = Counter()
    for row in plan.bill.rows:
        quantities[str(row[columns.index("item")])] += int(row[columns.index("quantity")] or 0)
    unknown = tuple(_unknown(plan))
    switches = plan.topology.switches()
    tiers = Counter(
        ROLES[node.role] if node.net is Net.BACKEND else f"{node.net} {ROLES[node.role]}" for node in switches
    )
    hosts_w = sum(host_optics_w(plan.topology, plan.intent).values())
    return Equipment(
        gpus=plan.gpus,
        switches=dict(tiers),
        optics=quantities["optic"],
        cables=quantities["cable"],
        power_w=None if unknown else hosts_w + sum(plan.topology.model_of(node).power_w for node in switches),
        unknown=unknown,
    )


def _unknown(plan: Plan) -> Iterator[str]:
    """What of the power is not known."""
    models = Counter(node.model for node in plan.topology.switches() if not plan.topology.model_of(node).power_w)
    if models:
        yield f"the power of {listed([f'{count:,} {model}' for model, count in models.items()])}"
    columns = plan.bill.columns
    links = sum(
        int(row[columns.index("quantity")] or 0)
        for row in plan.bill.rows
        if str(row[columns.index("part")]).startswith("unknown")
    )
    if links:
        yield f"what connects {counted(links, 'link')}"
