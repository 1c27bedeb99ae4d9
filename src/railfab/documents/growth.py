"""The largest size of a fabric that its ports, addresses and AS numbers allow."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import FabricIntent
from railfab.topology.attachment import Attachment
from railfab.topology.dimensions import Dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Growth of one dimension. what: hosts of a segment, segments of a pod, pods. now: number. room: largest number."""

    what: str
    now: int
    room: int


def growth(intent: FabricIntent) -> tuple[Room, ...]:
    """Growth of each dimension without a change of existing elements; all limits can be reached together."""
    plan, backend = Dimensions(intent), intent.backend
    hosts, segments, pods = min(plan.growth_hosts, plan.host_room), plan.growth_segments, plan.growth_pods
    if intent.hosts.attach != "routed":
        hosts = min(hosts, Attachment(plan).hosts_of_subnet())
        segments, pods = _within_pool(plan, Attachment(plan))
    return tuple(
        Room(what=what, now=now, room=max(now, room))
        for what, now, room in (
            ("hosts of a segment", backend.segments.hosts, hosts),
            ("segments of a pod", backend.segments.count, segments),
            ("pods", backend.pods, pods),
        )
    )


def _within_pool(plan: Dimensions, attachment: Attachment) -> tuple[int, int]:
    """Largest numbers of segments per pod and of pods for which the pool has prefixes. Prefixes are reserved for the
    largest number of rail switches of each pod in each plane; only the last pod may have fewer."""
    subnets, backend = attachment.subnets, plan.intent.backend
    prefixes = subnets.pool.num_addresses // attachment.stride - (0 if subnets.rails == "own" else 1)
    switches = prefixes * (2 if attachment.paired else 1)
    before = (backend.planes - 1) * plan.growth_pods
    pods = switches // plan.growth_leaves - before
    if pods >= backend.pods:
        return plan.growth_segments, min(plan.growth_pods, pods)
    rest = switches - (before + backend.pods - 1) * plan.growth_leaves
    return min(plan.growth_segments, rest // plan.segments.rail_switches), backend.pods


def largest_gpus(intent: FabricIntent) -> int:
    """GPUs of the fabric at its largest size."""
    hosts = 1
    for room in growth(intent):
        hosts *= room.room
    return hosts * intent.hosts.gpus
