"""Check that defaults reserve no uplinks far beyond what the present hosts can fill.

Without `links_per_leaf`, a rail switch has the uplinks of a full one, so that hosts can be added without moving cables.
With few hosts on large switches most of them stay idle, with their optics, fibres and ports of spines. The same holds
for `links_per_spine` with few segments.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from railfab.findings import DesignCode, Finding, warning
from railfab.intent import FabricIntent
from railfab.text.counted import counted
from railfab.text.remedies import SET, Choice, remedy, setting
from railfab.topology.dimensions import Dimensions

MOST_TIMES = 2
"""Uplinks by default, as a multiple of those that present hosts can fill, above which they are reported."""
MOST_IDLE = 100
"""Idle uplinks of all switches of the tier, from which on exactly that multiple is reported too."""
NO_GROWTH = "if {} will not grow"


def overbuilt(intent: FabricIntent) -> Iterator[Finding]:
    """Check the uplinks of rail switches; and those of spines, if the rail switches are in order."""
    plan, growth = Dimensions(intent), intent.backend.growth
    if plan.spines is None:
        return
    uplinks, needed = plan.uplinks, plan.exact_uplinks_of_today
    if plan.spines.links_per_leaf is None and growth.hosts is None and _is_far(uplinks, needed, _leaves(plan)):
        yield _of_leaves(plan, uplinks, needed)
        return
    if plan.supers is not None and plan.supers.links_per_spine is None and growth.segments is None:
        needed = _spine_uplinks_needed(plan)
        if _is_far(plan.spine_uplinks, needed, plan.spines.count * intent.backend.pods * intent.backend.planes):
            yield _of_spines(plan, needed)


def _is_far(uplinks: int, needed: float, switches: int) -> bool:
    """Whether switches with so many uplinks each have far more than they need."""
    idle = switches * (uplinks - needed)
    return uplinks > MOST_TIMES * needed or (uplinks == MOST_TIMES * needed and idle >= MOST_IDLE)


def _leaves(plan: Dimensions) -> int:
    """Rail switches of the fabric."""
    backend = plan.intent.backend
    return backend.planes * backend.pods * plan.leaves_per_pod


def _spine_uplinks_needed(plan: Dimensions) -> float:
    """Uplinks of a spine that the present rail switches can fill at the stated ratio."""
    assert plan.spines is not None
    assert plan.supers is not None
    hosts = plan.intent.hosts.rate_gbps * plan.segments.hosts * plan.links_per_host_and_leaf
    from_leaf = min(plan.links_per_leaf * plan.spines.rate_gbps, hosts / plan.spines.count)
    return plan.leaves_per_pod * from_leaf / (plan.supers.rate_gbps * plan.intent.backend.oversubscription)


def _of_leaves(plan: Dimensions, uplinks: int, needed: float) -> Finding:
    assert plan.spines is not None
    hosts, spines = plan.segments.hosts, plan.spines.count
    links = max(1, ceil(needed / spines))
    bounds = dict.fromkeys((hosts, int(links * spines / needed * hosts)))
    choices = [
        *(setting("backend.growth.hosts", bound, NO_GROWTH.format("segments")) for bound in bounds),
        setting("backend.spines.links_per_leaf", links),
    ]
    if links * spines > MOST_TIMES * needed:
        choices += _fewer(spines, ceil(needed))
    return warning(
        DesignCode.OVERBUILT,
        "backend.spines.links_per_leaf",
        f"without a statement, a rail switch has the {uplinks} uplinks that it needs with {plan.host_room} hosts: "
        f"{uplinks / needed:.1f} times what its {counted(hosts, 'host')} can fill",
        remedy(*choices),
    )


def _fewer(spines: int, uplinks: int) -> Iterator[Choice]:
    """The most spines that divide the uplinks that are needed, where even one link to each spine is too many."""
    for count in range(min(uplinks, spines - 1), 0, -1):
        if spines % count == 0 and uplinks % count == 0:
            changes = {"backend.spines.count": count, "backend.spines.links_per_leaf": ceil(uplinks / count)}
            text = " with ".join(f"{key}: {value}" for key, value in changes.items())
            yield Choice(text, changes, SET)
            return


def _of_spines(plan: Dimensions, needed: float) -> Finding:
    assert plan.supers is not None
    segments = plan.segments.count
    links = max(1, ceil(needed / plan.supers_per_group))
    return warning(
        DesignCode.OVERBUILT,
        "backend.super_spines.links_per_spine",
        f"without a statement, a spine has the {plan.spine_uplinks} uplinks that it needs with "
        f"{counted(plan.leaf_room or 0, 'rail switch')}: {plan.spine_uplinks / needed:.1f} times what its "
        f"{counted(plan.leaves_per_pod, 'rail switch')} can fill",
        remedy(
            setting("backend.growth.segments", segments, NO_GROWTH.format("pods")),
            setting("backend.super_spines.links_per_spine", links),
        ),
    )
