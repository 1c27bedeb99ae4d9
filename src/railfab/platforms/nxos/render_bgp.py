"""Renders the BGP speaker of a device model: one `router bgp`, with the VRFs in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BgpNeighbor,
    BgpSpeaker,
    DeviceModel,
    Family,
    NetworkInstance,
    NextHop,
    Remote,
)
from railfab.platforms.nxos.names import DIRECT, device_name, vrf_name
from railfab.platforms.nxos.render_policy import applied_maps
from railfab.platforms.shared.line_tree import Line

DEFAULT_TIMERS_S = (60, 180)
"""Default keepalive and hold time [s] (Nexus 9000 Unicast Routing guide, Advanced BGP, Default Settings)."""
DRAIN = "graceful-shutdown activate"
MULTIPATH_RELAX = "bestpath as-path multipath-relax"
REDISTRIBUTE = f"redistribute direct route-map {DIRECT}"
KEEP_TARGETS = "retain route-target all"
FAMILIES = {Family.IPV4: "ipv4 unicast", Family.IPV6: "ipv6 unicast", Family.EVPN: "l2vpn evpn"}
VERSIONS = {Family.IPV4: 4, Family.IPV6: 6}
NEXT_HOP_SELF = "next-hop-self all"
"""`all`: routes that a route reflector passes on have the switch as their next hop too."""


def router(model: DeviceModel) -> Iterator[Line]:
    """The BGP speaker with all of its network instances."""
    bgp = model.bgp
    if bgp is None:
        return
    lines = list(_instance(model, bgp, DEFAULT_INSTANCE, bgp.router_id))
    instances = {instance.name: instance for instance in model.network_instances}
    others = {neighbor.network_instance for neighbor in bgp.neighbors} | instances.keys()
    others |= {aggregate.network_instance for aggregate in bgp.aggregates}
    for name in sorted(others - {DEFAULT_INSTANCE}):
        instance = instances.get(name) or NetworkInstance(name=name)
        children = tuple(_instance(model, bgp, name, instance.router_id))
        lines.append(Line(f"vrf {vrf_name(name)}", children))
    yield Line(f"router bgp {bgp.asn}", tuple(lines))


def _instance(model: DeviceModel, bgp: BgpSpeaker, name: str, router_id: IPv4Address | None) -> Iterator[Line]:
    """The lines of one network instance."""
    neighbors = [neighbor for neighbor in bgp.neighbors if neighbor.network_instance == name]
    retries = {neighbor.timers.connect_retry_s for neighbor in neighbors} - {None}
    if router_id is not None:
        yield Line(f"router-id {router_id}")
    if bgp.cluster_id is not None and name == DEFAULT_INSTANCE:
        yield Line(f"cluster-id {bgp.cluster_id}")
    if model.drain and name == DEFAULT_INSTANCE:
        yield Line(DRAIN)
    if retries:
        yield Line(f"reconnect-interval {min(seconds for seconds in retries if seconds is not None)}")
    if bgp.multiple_as:
        yield Line(MULTIPATH_RELAX)
    aggregates = [aggregate for aggregate in bgp.aggregates if aggregate.network_instance == name]
    for family in FAMILIES:
        yield from _family(family, model, bgp, neighbors, aggregates, name)
    for neighbor in neighbors:
        yield Line(f"neighbor {peer_name(neighbor)}", tuple(_neighbor(neighbor, bgp)))


def peer_name(neighbor: BgpNeighbor) -> str:
    """NX-OS's name of a neighbour: its address, or the interface of an unnumbered one."""
    return device_name(neighbor.peer) if isinstance(neighbor.peer, str) else str(neighbor.peer)


def _family(
    family: Family,
    model: DeviceModel,
    bgp: BgpSpeaker,
    neighbors: Sequence[BgpNeighbor],
    aggregates: Sequence[Aggregate],
    instance: str,
) -> Iterator[Line]:
    """One address family of a network instance, where it is used; IPv4 where no other is."""
    used = any(family in neighbor.families for neighbor in neighbors)
    if family is Family.EVPN:
        if used:
            lines = [KEEP_TARGETS] if model.vtep is None else list(_paths(bgp))
            yield Line(f"address-family {FAMILIES[family]}", tuple(map(Line, lines)))
        return
    of_family = [aggregate for aggregate in aggregates if aggregate.prefix.version == VERSIONS[family]]
    if not (
        used
        or of_family
        or (family is Family.IPV4 and not any(Family.IPV6 in neighbor.families for neighbor in neighbors))
    ):
        return
    lines = [REDISTRIBUTE] * (instance != DEFAULT_INSTANCE or family in bgp.originated)
    lines += ["advertise l2vpn evpn"] * _is_overlaid(model, instance)
    lines += [
        f"aggregate-address {aggregate.prefix}{' summary-only' * aggregate.summary_only}" for aggregate in of_family
    ]
    yield Line(f"address-family {FAMILIES[family]}", tuple(map(Line, (*lines, *_paths(bgp)))))


def _paths(bgp: BgpSpeaker) -> Iterator[str]:
    """Number of paths; without it a MAC address behind an Ethernet segment has one VTEP (VXLAN guide, Configuring VXLAN
    EVPN Multihoming)."""
    if bgp.max_paths > 1:
        yield f"maximum-paths {bgp.max_paths}"
    if bgp.max_paths_internal > 1:
        yield f"maximum-paths ibgp {bgp.max_paths_internal}"


def _is_overlaid(model: DeviceModel, instance: str) -> bool:
    """Whether a VRF has a VNI, so that its routes are EVPN routes too."""
    return any(vrf.name == instance and vrf.vni is not None for vrf in model.network_instances)


def _neighbor(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Iterator[Line]:
    """A session. One of iBGP has no `ebgp-multihop`."""
    timers = neighbor.timers
    if neighbor.bfd is not None:
        yield Line("bfd")
    yield Line(f"remote-as {bgp.asn if neighbor.remote_as is Remote.INTERNAL else neighbor.remote_as}")
    if neighbor.description:
        yield Line(f"description {neighbor.description}")
    if neighbor.update_source is not None:
        yield Line(f"update-source {device_name(neighbor.update_source)}")
    if neighbor.multihop_ttl is not None and not neighbor.is_internal(bgp.asn):
        yield Line(f"ebgp-multihop {neighbor.multihop_ttl}")
    if (timers.keepalive_s, timers.hold_s) != DEFAULT_TIMERS_S:
        yield Line(f"timers {timers.keepalive_s} {timers.hold_s}")
    if not neighbor.enabled:
        yield Line("shutdown")
    for family in neighbor.families:
        yield Line(f"address-family {FAMILIES[family]}", tuple(map(Line, _of_family(neighbor, bgp))))


def _of_family(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Iterator[str]:
    """The lines of a session in one of its families; NX-OS sends no communities unless configured to."""
    if neighbor.timers.advertisement_interval_s is not None:
        yield f"advertisement-interval {neighbor.timers.advertisement_interval_s}"
    yield "send-community"
    yield "send-community extended"
    if neighbor.reflector_client:
        yield "route-reflector-client"
    if neighbor.next_hop is NextHop.SELF:
        yield NEXT_HOP_SELF
    yield from (f"route-map {name} {direction}" for direction, name in applied_maps(neighbor, bgp).items())
    if neighbor.prefix_limit is not None:
        yield f"maximum-prefix {neighbor.prefix_limit} warning-only"
