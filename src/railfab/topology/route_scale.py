"""Prefixes and next-hop groups that the switches of a backend hold, by tier.

Counted without failures, with all switches of a plane: a loopback for each, and the prefixes of hosts: a /31 for each
routed link, or one prefix for each rail of a rail switch, or the subnets of VLANs. Spines do not learn the loopbacks of
their equals, which have the same AS number, so they hold a few less. Every failed link between switches adds next-hop
groups, since the prefixes behind it have other next hops than before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.intent import FabricIntent
from railfab.topology.catalogue import SwitchModel
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Net, Role, Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUse:
    """What a switch of a tier holds. prefixes: of hosts and loopbacks. groups: distinct sets of next hops."""

    role: Role
    model: SwitchModel
    prefixes: int
    groups: int


def table_use(topology: Topology, intent: FabricIntent) -> tuple[TableUse, ...]:
    """The largest use of each tier; nothing for hosts in an overlay, whose routes are in other tables."""
    plan = Dimensions(intent)
    if plan.spines is None or intent.profile.data_plane == "vxlan":
        return ()
    announced, most_local = _host_prefixes(topology), _most_local(topology)
    planes = Counter(node.plane for node in topology.switches() if node.net is Net.BACKEND)
    prefixes = max(count + announced[plane] for plane, count in planes.items())
    return tuple(
        TableUse(role=role, model=model, prefixes=prefixes + (most_local if role is Role.LEAF else 0), groups=groups)
        for role, model, groups in _groups(plan)
    )


def _host_prefixes(topology: Topology) -> Counter[int]:
    """Number of announced prefixes of hosts in each plane."""
    nodes, found = topology.by_name, Counter[int]()
    summarised = {summary.node for summary in topology.summaries}
    for summary in topology.summaries:
        found[nodes[summary.node].plane] += 1
    subnets = {(nodes[gateway.node].plane, gateway.subnet): gateway.node for gateway in topology.gateways}
    for (plane, _), node in subnets.items():
        found[plane] += nodes[node].net is Net.BACKEND and node not in summarised
    if not any(nodes[node].net is Net.BACKEND for node in subnets.values()):
        for link in topology.links:
            if link.a.rail is not None and link.z.node not in summarised:
                found[nodes[link.z.node].plane] += 1
    return found


def _most_local(topology: Topology) -> int:
    """The most prefixes that a rail switch holds beside an aggregate that it announces for them."""
    summarised = {summary.node for summary in topology.summaries}
    local = Counter(link.z.node for link in topology.links if link.a.rail is not None and link.z.node in summarised)
    return max(local.values(), default=0)


def _groups(plan: Dimensions) -> Iterator[tuple[Role, SwitchModel, int]]:
    """Next-hop groups of each tier: one for all uplinks, and one for each switch that has a set of links of its own.

    Leaf: each spine; each group of super-spines, whose loopbacks are behind its spines. Spine: each leaf, each
    super-spine. Super-spine: each spine, and each pod.
    """
    assert plan.spines is not None
    assert plan.spine_model is not None
    groups = plan.supers.groups if plan.supers and plan.supers.groups > 1 else 0
    yield Role.LEAF, plan.leaf_model, 1 + plan.spines.count + groups
    up = 1 + plan.supers_per_group if plan.supers else 0
    yield Role.SPINE, plan.spine_model, plan.leaves_per_pod + up
    if plan.super_model:
        pods = plan.intent.backend.pods
        yield Role.SUPER, plan.super_model, pods * (1 + plan.spines_per_group)
