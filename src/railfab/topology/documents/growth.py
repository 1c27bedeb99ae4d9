"""How far a fabric may grow before its ports, addresses or AS numbers run out."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import FabricIntent
from railfab.topology.dimensions import Dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """what: hosts of a segment, segments of a pod, pods. now: how many there are. room: how many there may be."""

    what: str
    now: int
    room: int


def growth(intent: FabricIntent) -> tuple[Room, ...]:
    """Of each kind of thing that may be added without changing what stands."""
    plan, backend = Dimensions(intent), intent.backend
    return tuple(
        Room(what=what, now=now, room=max(now, room))
        for what, now, room in (
            ("hosts of a segment", backend.segments.hosts, min(plan.growth_hosts, plan.host_room)),
            ("segments of a pod", backend.segments.count, plan.growth_segments),
            ("pods", backend.pods, plan.growth_pods),
        )
    )


def largest_gpus(intent: FabricIntent) -> int:
    """GPUs of the fabric when it has grown as far as it may."""
    hosts = 1
    for room in growth(intent):
        hosts *= room.room
    return hosts * intent.hosts.gpus
