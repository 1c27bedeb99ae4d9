"""Whether a fabric can be built of its switches: asked of its dimensions, before anything is wired."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from railfab.errors import RailfabError, TopologyError, raise_all
from railfab.topology.addresses import LEAVES_PER_POD
from railfab.topology.catalogue import SwitchModel
from railfab.topology.dimensions import Dimensions

Check = Callable[[Dimensions], Iterator[RailfabError]]


def check_buildable(plan: Dimensions) -> None:
    """Raise TopologyError, or Problems, with every reason why this fabric cannot be wired."""
    raise_all([error for check in CHECKS for error in check(plan)])


def _models_run_their_platforms(plan: Dimensions) -> Iterator[RailfabError]:
    backend = plan.intent.backend
    for place, tier, model in (
        ("backend.segments", backend.segments, plan.leaf_model),
        ("backend.spines", backend.spines, plan.spine_model),
    ):
        if tier.platform not in model.names:
            known = ", ".join(sorted(model.names))
            yield TopologyError(place, f"{model.name} does not run platform {tier.platform!r}", f"Use {known}")


def _ports_have_their_speed(plan: Dimensions) -> Iterator[RailfabError]:
    host_gbps, uplink_gbps = plan.intent.hosts.rate_gbps, plan.intent.backend.spines.rate_gbps
    if plan.leaf_model.lanes_for(host_gbps) is None:
        yield _no_speed("hosts.rate_gbps", plan.leaf_model, host_gbps)
    models = {model.name: model for model in (plan.leaf_model, plan.spine_model)}
    for model in models.values():
        if uplink_gbps not in model.speeds_gbps:
            yield _no_speed("backend.spines.rate_gbps", model, uplink_gbps)


def _no_speed(place: str, model: SwitchModel, rate_gbps: int) -> TopologyError:
    speeds = {*model.speeds_gbps, *(speed for broken in model.breakouts.values() for speed in broken)}
    choice = ", ".join(str(speed) for speed in sorted(speeds))
    return TopologyError(place, f"{model.name} has no port of {rate_gbps} Gb/s", f"Use one of {choice}")


def _rail_switches_share_nic_ports(plan: Dimensions) -> Iterator[RailfabError]:
    hosts, switches = plan.intent.hosts, plan.intent.backend.segments.rail_switches
    ports = hosts.gpus * hosts.nic_ports
    if ports % switches:
        yield TopologyError(
            "backend.segments.rail_switches",
            f"{switches} rail switches cannot share the {ports} NIC ports of a host evenly",
            f"Use a divisor of {ports}",
        )


def _spines_share_uplinks(plan: Dimensions) -> Iterator[RailfabError]:
    """More spines than uplinks are needed is no problem: each gets one."""
    spines, uplinks = plan.intent.backend.spines, plan.uplinks_needed
    if uplinks > spines.count and uplinks % spines.count:
        yield TopologyError(
            "backend.spines.count",
            f"{spines.count} spines cannot share the {uplinks} uplinks that a rail switch needs evenly",
            f"Use a divisor of {uplinks}",
        )


def _ports_suffice(plan: Dimensions) -> Iterator[RailfabError]:
    uplinks = plan.links_per_leaf * plan.intent.backend.spines.count
    for place, model, needed, what in (
        (
            "backend.segments",
            plan.leaf_model,
            plan.host_cages + uplinks,
            f"{plan.host_cages} for hosts and {uplinks} up",
        ),
        (
            "backend.spines",
            plan.spine_model,
            plan.leaves_per_pod * plan.links_per_leaf,
            "one for each link of each leaf",
        ),
    ):
        if needed > model.cages:
            yield TopologyError(
                place,
                f"{needed} ports are needed ({what}) and {model.name} has {model.cages}",
                "Use fewer or larger ones",
            )


def _addresses_suffice(plan: Dimensions) -> Iterator[RailfabError]:
    leaves = plan.leaves_per_pod
    if leaves > LEAVES_PER_POD:
        yield TopologyError(
            "backend.segments", f"{leaves} rail switches in a pod, the address plan has {LEAVES_PER_POD}", "Use fewer"
        )


CHECKS: tuple[Check, ...] = (
    _models_run_their_platforms,
    _ports_have_their_speed,
    _rail_switches_share_nic_ports,
    _spines_share_uplinks,
    _ports_suffice,
    _addresses_suffice,
)
