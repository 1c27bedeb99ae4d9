"""Oversubscription: what each tier takes in from below and can hand up, held to the ratio that is stated.

Links are full duplex: the ratio upwards is the one downwards too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from railfab.findings import DesignCode, Finding, Severity, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike
from railfab.topology.model import Net, Node, Role, Topology
from railfab.topology.sorted_links import Wired

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a switch takes in from below and can hand up [Gb/s]; up_gbps is 0 where nothing is above."""

    node: str
    down_gbps: int
    up_gbps: int

    @property
    def ratio(self) -> float | None:
        """Oversubscription, down to up; None with nothing above."""
        return self.down_gbps / self.up_gbps if self.up_gbps else None


@dataclass(frozen=True, slots=True)
class Limit:
    """The most oversubscription that a network may have. stated: by the user, not by default."""

    ratio: float
    stated: bool


def capacities(topology: Topology) -> tuple[Capacity, ...]:
    """Of every leaf, and of every spine that has something above, in the order of the topology."""
    return tuple(capacity for _, capacity in _measured(Wired(topology)))


def _measured(wired: Wired) -> Iterator[tuple[Node, Capacity]]:
    found, down, up = wired.links, Counter[str](), Counter[str]()
    for links in (found.hosts, found.managed, found.rising):
        for link in links:
            down[link.z.node] += link.rate_gbps
    for link in found.rising:
        up[link.a.node] += link.rate_gbps
    for node in wired.topology.nodes:
        if node.role is Role.LEAF or (node.role is Role.SPINE and node.name in up):
            yield node, Capacity(node=node.name, down_gbps=down[node.name], up_gbps=up[node.name])


def oversubscription(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """Of each leaf and spine; then of each pod as a whole, where every tier alone holds the ratio."""
    measured, limits = tuple(_measured(wired)), _limits(intent)
    over = tuple(
        _over(node, capacity, limits[node.net])
        for node, capacity in _loaded(wired, measured)
        if node.net in limits and _exceeds(capacity, limits[node.net])
    )
    yield from alike(over)
    if not over and intent.backend.super_spines:
        yield from alike(_pods(wired, measured, limits[Net.BACKEND]))


def _loaded(wired: Wired, measured: Iterable[tuple[Node, Capacity]]) -> Iterator[tuple[Node, Capacity]]:
    """With what can come from below: a leaf that has more uplinks than its hosts fill loads each only in part."""
    of_leaf = {node.name: capacity for node, capacity in measured if node.role is Role.LEAF}
    load: defaultdict[str, float] = defaultdict(float)
    for link in wired.links.rising:
        if (leaf := of_leaf.get(link.a.node)) is not None:
            load[link.z.node] += link.rate_gbps * min(1.0, leaf.down_gbps / leaf.up_gbps)
    for node, capacity in measured:
        yield node, replace(capacity, down_gbps=round(load[node.name])) if node.role is Role.SPINE else capacity


def _limits(intent: FabricIntent) -> dict[Net, Limit]:
    """The management network has none."""
    networks = {Net.BACKEND: intent.backend, Net.FRONTEND: intent.frontend, Net.STORAGE: intent.storage}
    return {
        net: Limit(network.oversubscription, "oversubscription" in network.model_fields_set)
        for net, network in networks.items()
        if network is not None
    }


def _exceeds(capacity: Capacity, limit: Limit) -> bool:
    return capacity.ratio is not None and capacity.ratio > limit.ratio + ROUNDING


def _over(node: Node, capacity: Capacity, limit: Limit) -> Finding:
    """An error where the user stated the ratio, else a warning."""
    below, missing = ("hosts", "spines") if node.role is Role.LEAF else ("leaves", "super_spines")
    links = "links_per_leaf" if node.role is Role.LEAF else "links_per_spine"
    even = limit.ratio == 1
    held = "" if even else f", {limit.ratio:g}:1 at most"
    aim = " for a non-blocking fabric" if even else f", or state a higher {node.net}.oversubscription"
    return Finding(
        severity=Severity.ERROR if limit.stated else Severity.WARNING,
        code=DesignCode.OVERSUBSCRIPTION,
        where=capacity.node,
        problem=f"{capacity.down_gbps} Gb/s of {below} share {capacity.up_gbps} Gb/s up ({capacity.ratio:.2f}:1{held})",
        remedy=f"Add {missing} or {links}{aim}",
    )


def _pods(wired: Wired, measured: Iterable[tuple[Node, Capacity]], limit: Limit) -> Iterator[Finding]:
    """Two tiers of 2:1 are 4:1 between pods. Always a warning: the ratio is stated of a tier."""
    backend = {node.name: node for node in wired.topology.nodes if node.net is Net.BACKEND}
    down, up = Counter[int](), Counter[int]()
    for link in wired.links.hosts:
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
                f"though no tier is above {limit.ratio:g}:1",
                "Add super_spines or links_per_spine, if jobs span pods",
            )
