"""Growth of each dimension, and its limit."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.subject import Subject
from railfab.documents.growth import Room, growth, largest_gpus
from railfab.text.counted import counted
from railfab.topology.attachment import Attachment


def rooms(subject: Subject) -> Iterator[str]:
    """Current and largest number of hosts, segments and pods, with the limit."""
    found = hosts, segments, pods = growth(subject.intent)
    limits = _hosts(subject, hosts), _segments(subject, segments), _pods(subject, pods)
    for room, why in zip(found, limits, strict=True):
        yield f"{room.what[0].upper()}{room.what[1:]}: {room.now:,} now, {room.room:,} at most: {why}."
    unchanged = "without a change of any name, port, address or AS number"
    if subject.dimensions.leaf_room is None:
        gpus = counted(hosts.room * subject.intent.hosts.gpus, "GPU")
        yield f"So a segment may grow to {gpus} {unchanged}; more GPUs need spines."
    else:
        yield f"So the fabric may grow to {counted(largest_gpus(subject.intent), 'GPU')} {unchanged}."


def _hosts(subject: Subject, hosts: Room) -> str:
    plan, stated = subject.dimensions, subject.intent.backend.growth.hosts
    if subject.intent.hosts.attach != "routed" and hosts.room < min(plan.growth_hosts, plan.host_room):
        own = Attachment(plan)
        return f"the /{own.rail_prefix} of a rail has addresses for {counted(own.hosts_of_subnet(), 'host')}"
    if stated is not None:
        return f"`growth.hosts` is {stated}"
    if not isinstance(plan.segments.ports, str):
        return "the cages that the intent assigns to each rail have no more ports"
    up, peers = plan.uplink_cages, plan.peer_links
    cages = plan.leaf_model.cages - up - peers
    taken = " and ".join([f"{up} for uplinks"] * (up > 0) + [f"{peers} for peer links"] * (peers > 0))
    left = (
        f"a rail switch has {plan.leaf_model.cages} cages, less {taken}: {cages}"
        if taken
        else f"the {cages} cages of a rail switch"
    )
    split = f" of {plan.host_lanes} ports" if plan.host_lanes > 1 else ""
    return f"{left}{split} give {counted(cages * plan.host_lanes, 'port')}, {plan.links_per_host_and_leaf} per host"


def _pool(subject: Subject) -> str:
    return f"{Attachment(subject.dimensions).subnets.pool} has no prefixes for more rail switches"


def _segments(subject: Subject, segments: Room) -> str:
    plan, stated = subject.dimensions, subject.intent.backend.growth.segments
    if segments.room < plan.growth_segments:
        return _pool(subject)
    if stated is not None:
        return f"`growth.segments` is {stated}"
    if plan.leaf_room is None:
        return "segments are not connected, and addresses are reserved for this number"
    switches = counted(plan.segments.rail_switches, "rail switch")
    return f"a spine has ports for {counted(plan.leaf_room, 'rail switch')}, and a segment has {switches}"


def _pods(subject: Subject, pods: Room) -> str:
    plan, stated = subject.dimensions, subject.intent.backend.growth.pods
    if pods.room < plan.growth_pods:
        return _pool(subject)
    if stated is not None:
        return f"`growth.pods` is {stated}"
    if plan.pod_room is None:
        return "more pods need super-spines"
    links = plan.spines_per_group * plan.links_per_spine
    return f"a super-spine has ports for this number, with {counted(links, 'link')} to each"
