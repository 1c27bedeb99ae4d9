"""Check of oversubscription: downlink to uplink capacity of each tier, compared with the ratio of the intent.

Links are full duplex: the ratio is the same in both directions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil

from railfab.findings import DesignCode, Finding, Severity, warning
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, remedy, setting
from railfab.topology.checks.deduplicate import deduplicate
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Net, Node, Role, Topology

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Downlink and uplink capacity of a switch [Gb/s]; up_gbps is 0 without uplinks."""

    node: str
    down_gbps: int
    up_gbps: int

    @property
    def ratio(self) -> float | None:
        """Oversubscription: downlink to uplink capacity; None without uplinks."""
        return self.down_gbps / self.up_gbps if self.up_gbps else None


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest oversubscription that a network may have. stated: by the user, not by default."""

    ratio: float
    stated: bool


def capacities(topology: Topology) -> tuple[Capacity, ...]:
    """The capacity of every leaf, and of every spine with uplinks, in the order of the topology."""
    return tuple(capacity for _, capacity in _measured(IndexedTopology(topology)))


def _measured(indexed: IndexedTopology) -> Iterator[tuple[Node, Capacity]]:
    found, down, up = indexed.links, Counter[str](), Counter[str]()
    for links in (found.hosts, found.managed, found.uplinks):
        for link in links:
            down[link.z.node] += link.rate_gbps
    for link in found.uplinks:
        up[link.a.node] += link.rate_gbps
    for node in indexed.topology.nodes:
        if node.role is Role.LEAF or (node.role is Role.SPINE and node.name in up):
            yield node, Capacity(node=node.name, down_gbps=down[node.name], up_gbps=up[node.name])


def oversubscription(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check each leaf and spine; then each pod as a whole, if every tier is within the ratio."""
    measured, limits = tuple(_measured(indexed)), _limits(intent)
    over = tuple(
        _over(node, capacity, limits[node.net], intent)
        for node, capacity in _loaded(indexed, measured)
        if node.net in limits and _exceeds(capacity, limits[node.net])
    )
    yield from deduplicate(over)
    if not over and intent.backend.super_spines:
        yield from deduplicate(_pods(indexed, measured, limits[Net.BACKEND]))


def _loaded(indexed: IndexedTopology, measured: Iterable[tuple[Node, Capacity]]) -> Iterator[tuple[Node, Capacity]]:
    """The capacities, with the load of a spine limited to what its leaves can receive from hosts."""
    of_leaf = {node.name: capacity for node, capacity in measured if node.role is Role.LEAF}
    load: defaultdict[str, float] = defaultdict(float)
    for link in indexed.links.uplinks:
        if (leaf := of_leaf.get(link.a.node)) is not None:
            load[link.z.node] += link.rate_gbps * min(1.0, leaf.down_gbps / leaf.up_gbps)
    for node, capacity in measured:
        yield node, replace(capacity, down_gbps=round(load[node.name])) if node.role is Role.SPINE else capacity


def _limits(intent: FabricIntent) -> dict[Net, Limit]:
    """The limit of each network; the management network has none."""
    networks = {Net.BACKEND: intent.backend, Net.FRONTEND: intent.frontend, Net.STORAGE: intent.storage}
    return {
        net: Limit(network.oversubscription, "oversubscription" in network.model_fields_set)
        for net, network in networks.items()
        if network is not None
    }


def _exceeds(capacity: Capacity, limit: Limit) -> bool:
    return capacity.ratio is not None and capacity.ratio > limit.ratio + ROUNDING


def _over(node: Node, capacity: Capacity, limit: Limit, intent: FabricIntent) -> Finding:
    """An error if the user stated the ratio, else a warning."""
    below = "hosts" if node.role is Role.LEAF else "leaves"
    non_blocking = limit.ratio == 1
    limit_text = "" if non_blocking else f"; the limit is {limit.ratio:g}:1"
    return Finding(
        severity=Severity.ERROR if limit.stated else Severity.WARNING,
        code=DesignCode.OVERSUBSCRIPTION,
        where=capacity.node,
        problem=f"{capacity.down_gbps} Gb/s of {below} share {capacity.up_gbps} Gb/s of uplinks "
        f"({capacity.ratio:.2f}:1{limit_text})",
        remedy=remedy(*_more_uplinks(node, capacity, limit, intent)),
    )


def _more_uplinks(node: Node, capacity: Capacity, limit: Limit, intent: FabricIntent) -> Iterator[Choice]:
    """More links or switches above, until the ratio is met; or the ratio that there is."""
    network = getattr(intent, node.net)
    above, links = ("spines", "links_per_leaf") if node.role is Role.LEAF else ("super_spines", "links_per_spine")
    tier = getattr(network, above)
    times = capacity.down_gbps / capacity.up_gbps / limit.ratio
    now = capacity.up_gbps // tier.rate_gbps // max(1, tier.count // getattr(tier, "groups", 1))
    yield setting(f"{node.net}.{above}.{links}", ceil(max(1, now) * times - ROUNDING))
    exact = ceil(tier.count * times - ROUNDING)
    for count in dict.fromkeys((exact, 1 << (exact - 1).bit_length())):
        yield setting(f"{node.net}.{above}.count", count)
    assert capacity.ratio is not None
    yield setting(f"{node.net}.oversubscription", ceil(100 * capacity.ratio) / 100, "if blocking is intended")


def _pods(indexed: IndexedTopology, measured: Iterable[tuple[Node, Capacity]], limit: Limit) -> Iterator[Finding]:
    """Check the ratio between pods: two tiers of 2:1 are 4:1. Always a warning, since the limit is per tier."""
    backend = {node.name: node for node in indexed.topology.nodes if node.net is Net.BACKEND}
    down, up = Counter[int](), Counter[int]()
    for link in indexed.links.hosts:
        if (leaf := backend.get(link.z.node)) is not None:
            down[leaf.pod] += link.rate_gbps
    for node, capacity in measured:
        if node.role is Role.SPINE and node.name in backend:
            up[node.pod] += capacity.up_gbps
    for pod, down_gbps in down.items():
        whole = Capacity(node=f"pod{pod}", down_gbps=down_gbps, up_gbps=up[pod])
        if _exceeds(whole, limit):
            yield warning(
                DesignCode.POD_OVERSUBSCRIPTION,
                whole.node,
                f"{whole.down_gbps} Gb/s of hosts share {whole.up_gbps} Gb/s to other pods ({whole.ratio:.2f}:1), "
                f"although each tier is within {limit.ratio:g}:1",
                "Add super_spines or links_per_spine, if jobs span pods",
            )
