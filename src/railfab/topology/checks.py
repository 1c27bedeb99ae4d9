"""Whether a fabric can be built of its switches, and what a careful colleague would say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from railfab.errors import RailfabError, TopologyError, raise_all
from railfab.topology.addresses import LEAVES_PER_POD
from railfab.topology.catalogue import SwitchModel
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import LinkKind, Node, Role, Topology, link_kind

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


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a careful colleague would say of a fabric that can be built."""

    severity: Severity
    where: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}. {self.remedy}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a switch takes in from below and can hand up [Gb/s]."""

    node: str
    down_gbps: int
    up_gbps: int

    @property
    def non_blocking(self) -> bool:
        return self.up_gbps >= self.down_gbps

    @property
    def ratio(self) -> float:
        """Oversubscription, down to up."""
        return self.down_gbps / self.up_gbps


def capacities(topology: Topology) -> tuple[Capacity, ...]:
    """Of every rail switch, in the order of the topology."""
    totals: dict[tuple[str, LinkKind], int] = {}
    roles = {node.name: node.role for node in topology.nodes}
    for port, peer, link in topology.ports():
        key = port.node, link_kind(roles[port.node], roles[peer.node])
        totals[key] = totals.get(key, 0) + link.rate_gbps
    return tuple(
        Capacity(node=node.name, down_gbps=totals[node.name, LinkKind.HOST], up_gbps=totals[node.name, LinkKind.UPLINK])
        for node in _leaves(topology)
    )


def _leaves(topology: Topology) -> Iterator[Node]:
    return (node for node in topology.nodes if node.role is Role.LEAF)


def findings(topology: Topology) -> tuple[Finding, ...]:
    """Every finding, all reported together."""
    return tuple(
        Finding(
            severity=Severity.WARNING,
            where=capacity.node,
            problem=f"{capacity.down_gbps} Gb/s of hosts share {capacity.up_gbps} Gb/s up ({capacity.ratio:.2f}:1)",
            remedy="Add spines or links_per_leaf for a non-blocking fabric",
        )
        for capacity in capacities(topology)
        if not capacity.non_blocking
    )
