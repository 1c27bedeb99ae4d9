"""Shape of a fabric: tiers, rails, planes, and the ports of a rail switch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from railfab.documents.explain.formats import capacity, joined, numbered, ranges
from railfab.documents.explain.subject import Subject
from railfab.text.counted import counted
from railfab.topology import Role
from railfab.topology.front_panel import host_panel_positions, peer_cages, uplink_position

PATHS = {
    1: "a rail switch",
    2: "a rail switch, a spine and a rail switch",
    3: "a rail switch, a spine, a super-spine, a spine and a rail switch",
}
LISTED = 8
"""Largest number of rail switches of a segment that are listed one by one."""


def fabric(subject: Subject) -> Iterator[str]:
    """Tiers, stages, and numbers of hosts, switches and cables."""
    intent, backend = subject.intent, subject.intent.backend
    tiers = 1 + (backend.spines is not None) + (backend.super_spines is not None)
    yield (
        f"The backend of {intent.fabric} has {counted(tiers, 'tier')} and {counted(2 * tiers - 1, 'stage')}: "
        f"at most, a packet passes {PATHS[tiers]}."
    )
    hosts = subject.counts[Role.HOST]
    of_segments = f"{counted(backend.segments.count, 'segment')} of {counted(backend.segments.hosts, 'host')}"
    yield (
        f"{counted(backend.pods, 'pod')} of {of_segments}: {counted(hosts, 'host')} with "
        f"{counted(intent.hosts.gpus, 'GPU')} each, {counted(hosts * intent.hosts.gpus, 'GPU')}."
    )
    yield f"{_switches(subject)}. {_cables(subject)}."
    if backend.spines is None:
        yield _rail_only(subject)


def _switches(subject: Subject) -> str:
    backend, counts = subject.intent.backend, subject.counts
    planes = f"{counted(backend.planes, 'plane')} x " if backend.planes > 1 else ""
    pods = f"{planes}{counted(backend.pods, 'pod')}"
    segments = f"{counted(backend.segments.count, 'segment')} x {backend.segments.rail_switches}"
    parts = [f"{counted(counts[Role.LEAF], 'rail switch')} ({pods} x {segments})"]
    if backend.spines:
        parts.append(f"{counted(counts[Role.SPINE], 'spine')} ({pods} x {backend.spines.count})")
    if backend.super_spines:
        supers = counted(counts[Role.SUPER], "super-spine")
        parts.append(supers + (f" ({planes}{backend.super_spines.count:,})" if planes else ""))
    return joined(parts)


def _cables(subject: Subject) -> str:
    between = {
        (Role.HOST, Role.LEAF): "to hosts",
        (Role.LEAF, Role.LEAF): "between the two switches of a pair",
        (Role.LEAF, Role.SPINE): "between rail switches and spines",
        (Role.SPINE, Role.SUPER): "between spines and super-spines",
    }
    parts = [f"{count:,} {between[ends]}" for ends, count in subject.cables.items()]
    return f"Cables: {joined(parts)}"


def _rail_only(subject: Subject) -> str:
    backend, rail_switches = subject.intent.backend, subject.intent.backend.segments.rail_switches
    if backend.segments.count > 1:
        islands = f"the {counted(backend.segments.count, 'segment')} are not connected by this network"
        return f"No spine connects the rail switches: {islands}."
    if rail_switches == 1:
        return "One switch connects all hosts."
    return "No spine connects the rail switches (rail-only): the traffic of a rail stays on its own switches."


def rails(subject: Subject) -> Iterator[str]:
    """Number of rails, and the rails of each switch."""
    hosts, plan = subject.intent.hosts, subject.dimensions
    per = "one per GPU" if hosts.gpus_per_nic == 1 else f"one per {hosts.gpus_per_nic} GPUs"
    ports = hosts.nics * hosts.nic_ports
    yield (
        f"A host has {counted(hosts.nics, 'NIC')}, {per}, with {counted(hosts.nic_ports, 'port')} of "
        f"{capacity(hosts.rate_gbps)} each: {counted(ports, 'port')}, {capacity(ports * hosts.rate_gbps)} per host "
        f"and {capacity(ports * hosts.rate_gbps / hosts.gpus)} per GPU."
    )
    yield f"NIC r of every host is rail r: {counted(hosts.nics, 'rail')}."
    yield _assignment(subject)
    served = list(islice(plan.rails_of.items(), LISTED))
    for switch, numbers in served:
        yield f"Rail switch {switch} of every segment serves {numbered('rail', numbers)}{_port_words(subject, switch)}."
    if len(plan.rails_of) > len(served):
        yield f"And so on to rail switch {len(plan.rails_of)}."


def _port_words(subject: Subject, switch: int) -> str:
    """The NIC ports of a switch, if the ports of a plane connect to several switches."""
    if subject.intent.hosts.nic_ports == 1 or subject.intent.backend.planes > 1:
        return ""
    ports = sorted({port.port for port in subject.dimensions.nic_ports if port.switch == switch})
    return f", by {numbered('port', ports)} of each NIC"


def _assignment(subject: Subject) -> str:
    """The rail switches of a NIC, by its ports in one plane."""
    hosts, backend = subject.intent.hosts, subject.intent.backend
    switches, in_plane = backend.segments.rail_switches, hosts.nic_ports // backend.planes
    side = min(in_plane, switches)
    sets = switches // side
    where = " in a plane" if backend.planes > 1 else ""
    ports = f"The {in_plane} ports of a NIC{where} connect" if in_plane > 1 else f"The port of a NIC{where} connects"
    rails_each = counted(hosts.nics // sets, "rail")
    if side == 1:
        return (
            f"{ports} to one rail switch. A segment has {counted(switches, 'rail switch')}, with {rails_each} on each."
        )
    return (
        f"{ports} to {side} adjacent rail switches, so that one may fail. A segment has "
        f"{counted(switches, 'rail switch')}, {counted(sets, 'such set')} with {rails_each} on each."
    )


def ports(subject: Subject) -> Iterator[str]:
    """Breakout, and the cages of hosts, peer links and uplinks."""
    plan, hosts = subject.dimensions, subject.intent.hosts
    model, lanes = plan.leaf_model, plan.host_lanes
    split = f"is split into {lanes} ports (breakout)" if lanes > 1 else "is one port, not split"
    if not plan.segments.breakout:
        split += ", as the intent states"
    yield (
        f"Rail switches are {model.name} ({model.vendor}, {model.silicon}): {counted(model.cages, 'cage')} of "
        f"{capacity(max(model.speeds_gbps))}. At the {capacity(hosts.rate_gbps)} of a NIC port, a cage {split}."
    )
    count = plan.segments.hosts * plan.links_per_host_and_leaf
    cages = sorted(
        {cage for port in plan.nic_ports if port.switch == 1 for cage, _ in host_panel_positions(plan, port)}
    )
    yield (
        f"{counted(plan.segments.hosts, 'host')} with {counted(plan.links_per_host_and_leaf, 'link')} each to a rail "
        f"switch make {counted(count, 'host port')}, on {numbered('cage', cages)}. {_order(subject)}"
    )
    if plan.peer_links:
        yield (
            f"{counted(plan.peer_links, 'link')} to the other switch of its pair, on "
            f"{numbered('cage', peer_cages(plan))}, carry the traffic of hosts that have lost a port."
        )
    if plan.uplinks:
        up = [uplink_position(plan, uplink)[0] for uplink in range(plan.uplinks)]
        yield f"{counted(plan.uplinks, 'uplink')} use {numbered('cage', up)}, from the last downwards."


def _order(subject: Subject) -> str:
    plan = subject.dimensions
    if plan.segments.ports == "by-host":
        return "They use cages from the first upwards, host by host."
    if plan.segments.ports == "by-rail":
        room, block = counted(plan.growth_hosts, "host"), counted(plan.block_ports, "port")
        return f"Each rail has a block of {block}, for up to {room} per segment."
    return f"The intent states the cages of each rail: rail 1 has {ranges(plan.segments.ports[1])}."


def planes(subject: Subject) -> Iterator[str]:
    """The planes, and the effect of the loss of one."""
    count, hosts = subject.intent.backend.planes, subject.intent.hosts
    if count > 1:
        ports_of: dict[int, list[int]] = {}
        for port in subject.dimensions.nic_ports:
            ports_of.setdefault(port.plane, []).append(port.port)
        which = joined([f"{numbered('port', ports)} in plane {plane}" for plane, ports in sorted(ports_of.items())])
        yield (
            f"The {hosts.nic_ports} ports of a NIC are divided among {count} planes, {which}, which have separate "
            f"switches and no links between them: the loss of a plane costs each GPU {100 / count:.3g} % of its "
            "bandwidth."
        )
