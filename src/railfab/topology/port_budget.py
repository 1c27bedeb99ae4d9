"""Check that the switches of each tier have enough ports, and compute remedies.

Every remedy with a number is verified: with it, the tier has enough ports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from railfab.errors import RailfabError, TopologyError
from railfab.text.counted import counted
from railfab.text.remedies import Choice, Remedy, remedy
from railfab.topology.dimensions import Dimensions

LARGER = Choice("a larger model")


def ports_suffice(plan: Dimensions) -> Iterator[RailfabError]:
    """An error for each tier that needs more cages than its model has."""
    if _leaf_cages(plan) > plan.leaf_model.cages:
        hosts, peers, uplinks = plan.host_cages_used, plan.peer_links, plan.uplink_cages
        uses = f"{hosts} for hosts and {uplinks} for uplinks" + (f" and {peers} for peer links" if peers else "")
        problem = (
            f"{_leaf_cages(plan)} ports are needed ({uses}) and {plan.leaf_model.name} has {plan.leaf_model.cages}"
        )
        yield TopologyError("backend.segments", problem, _use(_leaf_remedies(plan)))
    if plan.spine_model and _spine_cages(plan) > plan.spine_model.cages:
        up = plan.spine_up_cages
        uses = f"{_spine_down_cages(plan)} for leaves and {up} for uplinks" if up else "one for each link of each leaf"
        problem = (
            f"{_spine_cages(plan)} ports are needed ({uses}) and {plan.spine_model.name} has {plan.spine_model.cages}"
        )
        yield TopologyError("backend.spines", problem, _use(_spine_remedies(plan)))
    if plan.super_model and _super_cages(plan) > plan.super_model.cages:
        uses = "one for each link of each spine"
        problem = (
            f"{_super_cages(plan)} ports are needed ({uses}) and {plan.super_model.name} has {plan.super_model.cages}"
        )
        yield TopologyError("backend.super_spines", problem, _use(_super_remedies(plan)))


def _leaf_cages(plan: Dimensions) -> int:
    return plan.host_cages_used + plan.peer_links + plan.uplink_cages


def _spine_down_cages(plan: Dimensions) -> int:
    return -(-plan.leaves_per_pod * plan.links_per_leaf // plan.spine_down_lanes)


def _spine_cages(plan: Dimensions) -> int:
    return _spine_down_cages(plan) + plan.spine_up_cages


def _super_cages(plan: Dimensions) -> int:
    links = plan.intent.backend.pods * plan.spines_per_group * plan.links_per_spine
    return -(-links // plan.super_lanes)


def _use(choices: Iterator[Choice]) -> Remedy:
    return remedy(*choices, LARGER)


def _leaf_remedies(plan: Dimensions) -> Iterator[Choice]:
    if plan.host_room:
        yield Choice(f"at most {counted(plan.host_room, 'host')}", {"backend.segments.hosts": plan.host_room})
    if plan.links_per_host_and_leaf > 1:
        more = 2 * plan.segments.rail_switches
        yield Choice(f"{more} rail_switches", {"backend.segments.rail_switches": more})


def _spine_remedies(plan: Dimensions) -> Iterator[Choice]:
    assert plan.spines is not None
    if plan.spines.links_per_leaf and plan.links_per_leaf > 1:
        fewer = plan.links_per_leaf // 2
        yield Choice(f"{counted(fewer, 'link')} per leaf", {"backend.spines.links_per_leaf": fewer})
    exact = plan.exact_uplinks_without_peers
    for count in range(2 * plan.spines.count, plan.uplinks_of_full_leaf + 1, plan.spines.count):
        if (exact % count == 0 or exact != int(exact)) and _has_ports_for_leaves(_changed(plan, "spines", count=count)):
            yield Choice(f"{count} spines", {"backend.spines.count": count})
            break
    if room := (plan.leaf_room or 0) // plan.segments.rail_switches:
        yield Choice(f"at most {counted(room, 'segment')}", {"backend.segments.count": room})
    hosts = plan.segments.hosts
    if not plan.intent.backend.growth.hosts and _has_ports_for_leaves(_changed(plan, "growth", hosts=hosts)):
        yield Choice(f"growth.hosts: {hosts} (if segments will not grow)", {"backend.growth.hosts": hosts})


def _super_remedies(plan: Dimensions) -> Iterator[Choice]:
    assert plan.supers is not None
    if plan.supers.links_per_spine and plan.links_per_spine > 1:
        fewer = plan.links_per_spine // 2
        yield Choice(f"{counted(fewer, 'link')} per spine", {"backend.super_spines.links_per_spine": fewer})
    most = plan.uplinks_of_full_spine * plan.supers.groups
    for count in range(2 * plan.supers.count, most + 1, plan.supers.count):
        if _has_ports_for_spines(_changed(plan, "super_spines", count=count)):
            yield Choice(f"{count} super_spines", {"backend.super_spines.count": count})
            break
    if plan.pod_room:
        yield Choice(f"at most {counted(plan.pod_room, 'pod')}", {"backend.pods": plan.pod_room})


def _has_ports_for_leaves(plan: Dimensions) -> bool:
    assert plan.spine_model is not None
    return _spine_cages(plan) <= plan.spine_model.cages and _leaf_cages(plan) <= plan.leaf_model.cages


def _has_ports_for_spines(plan: Dimensions) -> bool:
    assert plan.super_model is not None
    assert plan.spine_model is not None
    return _super_cages(plan) <= plan.super_model.cages and _spine_cages(plan) <= plan.spine_model.cages


def _changed(plan: Dimensions, part: str, **values: Any) -> Dimensions:
    """The same fabric with other values in one part of its backend."""
    backend = plan.intent.backend
    changed = getattr(backend, part).model_copy(update=values)
    return Dimensions(plan.intent.model_copy(update={"backend": backend.model_copy(update={part: changed})}))
