"""Renders the BGP speaker of a device model: one `router bgp` for each network instance, with its address families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    NetworkInstance,
    NextHop,
    natural,
)
from railfab.platforms.frr.names import bfd_profile_name, device_name
from railfab.platforms.shared.line_tree import Line

DEFAULT_TIMERS_S = {"datacenter": (3, 9), "traditional": (60, 180)}
"""Default BGP keepalive and hold time of each `frr defaults` profile [s] (doc/user/bgp.rst, profiles)."""

DEFAULT_MAX_PATHS = 256
"""--enable-multipath of Debian's build of zebra."""

REQUIRES_POLICY = "bgp ebgp-requires-policy"
DRAIN = "bgp graceful-shutdown"
MULTIPATH_RELAX = "bgp bestpath as-path multipath-relax"
REDISTRIBUTE = "redistribute connected"
UNICAST = {Family.IPV4: "ipv4 unicast", Family.IPV6: "ipv6 unicast"}
FAMILIES = {**UNICAST, Family.EVPN: "l2vpn evpn"}
ALL_VNIS = "advertise-all-vni"
PREFIXES = "advertise ipv4 unicast"
"""Routes of a VRF as EVPN prefix routes (type 5, RFC 9136)."""

VERSIONS = {Family.IPV4: 4, Family.IPV6: 6}
NEXT_HOPS = {NextHop.SELF: "next-hop-self force", NextHop.UNCHANGED: "attribute-unchanged next-hop"}
"""`force`: routes that a route reflector passes on have the switch as their next hop too."""


def routers(model: DeviceModel) -> Iterator[Line]:
    """The router of the default network instance, then those of the others by name."""
    bgp = model.bgp
    if bgp is None:
        return
    instances = {instance.name: instance for instance in model.network_instances}
    used = {neighbor.network_instance for neighbor in bgp.neighbors}
    used |= {aggregate.network_instance for aggregate in bgp.aggregates} | set(instances)
    default = NetworkInstance(name=DEFAULT_INSTANCE, router_id=bgp.router_id)
    yield _router(f"router bgp {bgp.asn}", bgp, default, drain=model.drain)
    for name in sorted(used - {DEFAULT_INSTANCE}):
        instance = instances.get(name, NetworkInstance(name=name))
        yield _router(f"router bgp {bgp.asn} vrf {name}", bgp, instance, drain=model.drain)


def _router(header: str, bgp: BgpSpeaker, instance: NetworkInstance, *, drain: bool) -> Line:
    name, router_id = instance.name, instance.router_id
    neighbors = sorted(
        (neighbor for neighbor in bgp.neighbors if neighbor.network_instance == name), key=_neighbor_order
    )
    lines = [
        *([f"bgp router-id {router_id}"] if router_id is not None else []),
        *([REQUIRES_POLICY] if bgp.requires_policy else []),
        *([f"bgp cluster-id {bgp.cluster_id}"] if bgp.cluster_id is not None else []),
        *([DRAIN] if drain else []),
        *([MULTIPATH_RELAX] if bgp.multiple_as else []),
        *(line for neighbor in neighbors for line in _neighbor(neighbor, bgp)),
    ]
    aggregates = [aggregate for aggregate in bgp.aggregates if aggregate.network_instance == name]
    families = (
        *(_family(family, bgp, neighbors, aggregates, name) for family in UNICAST),
        _evpn(instance, neighbors),
    )
    return Line(header, (*map(Line, lines), *(family for family in families if family.children)))


def _evpn(instance: NetworkInstance, neighbors: Sequence[BgpNeighbor]) -> Line:
    """EVPN: all VNIs of the system in the default network instance; RD, targets and prefixes of a VRF in its own.

    FRR derives the targets of a VLAN from its VNI, and compares only that part of received ones (FRR 8.4,
    doc/user/evpn.rst, bgpd/bgp_evpn.c, map_vni_to_rt), so switches with different AS numbers import each other's.
    """
    lines = [line for neighbor in neighbors for line in _of_family(neighbor, Family.EVPN)]
    if lines:
        lines.append(ALL_VNIS)
    if instance.vni is not None:
        lines.append(PREFIXES)
    if instance.rd is not None:
        lines.append(f"rd {instance.rd}")
    lines += [f"route-target import {target}" for target in instance.import_targets]
    lines += [f"route-target export {target}" for target in instance.export_targets]
    return Line(f"address-family {FAMILIES[Family.EVPN]}", tuple(map(Line, lines)))


def _neighbor_order(neighbor: BgpNeighbor) -> tuple[int, int, tuple[tuple[int, str], ...]]:
    """Sort key of FRR's order: unnumbered neighbours by interface, then IPv4 and IPv6 addresses."""
    if isinstance(neighbor.peer, str):
        return (0, 0, natural(device_name(neighbor.peer)))
    return (neighbor.peer.version, int(neighbor.peer), ())


def peer_name(neighbor: BgpNeighbor) -> str:
    """FRR's name of a neighbour: its address, or the interface of an unnumbered one."""
    return device_name(neighbor.peer) if isinstance(neighbor.peer, str) else str(neighbor.peer)


def _neighbor(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Iterator[str]:
    """Without `v6only` FRR uses the IPv4 address of an interface that has a /30 or /31.

    It sends the packets of an iBGP session with the highest TTL, so that one has no `ebgp-multihop`.
    """
    head = f"neighbor {peer_name(neighbor)}"
    yield f"{head} {'interface v6only ' if neighbor.unnumbered else ''}remote-as {neighbor.remote_as}"
    if neighbor.description:
        yield f"{head} description {' '.join(neighbor.description.split())}"
    if not neighbor.enabled:
        yield f"{head} shutdown"
    if neighbor.bfd is not None:
        yield f"{head} bfd"
        yield f"{head} bfd profile {bfd_profile_name(neighbor.bfd)}"
    if neighbor.multihop_ttl is not None and not neighbor.is_internal(bgp.asn):
        yield f"{head} ebgp-multihop {neighbor.multihop_ttl}"
    if neighbor.update_source is not None:
        yield f"{head} update-source {device_name(neighbor.update_source)}"
    yield from (f"{head} {line}" for line in _timers(neighbor.timers))
    if bgp.receive_ipv6_next_hops and isinstance(neighbor.peer, IPv6Address) and Family.IPV4 in neighbor.families:
        yield f"{head} capability extended-nexthop"


def _timers(timers: BgpTimers) -> Iterator[str]:
    """Timers of the neighbour, not of the router: a change resets no other session."""
    if timers.advertisement_interval_s is not None:
        yield f"advertisement-interval {timers.advertisement_interval_s}"
    if (timers.keepalive_s, timers.hold_s) != DEFAULT_TIMERS_S["datacenter"]:
        yield f"timers {timers.keepalive_s} {timers.hold_s}"
    if timers.connect_retry_s is not None:
        yield f"timers connect {timers.connect_retry_s}"


def _family(
    family: Family, bgp: BgpSpeaker, neighbors: Sequence[BgpNeighbor], aggregates: Sequence[Aggregate], instance: str
) -> Line:
    """One address family of a network instance; without lines when it is not used."""
    of_family = sorted(
        (aggregate for aggregate in aggregates if aggregate.prefix.version == VERSIONS[family]), key=_aggregate_order
    )
    lines = [
        f"aggregate-address {aggregate.prefix}{' summary-only' * aggregate.summary_only}" for aggregate in of_family
    ]
    carried = {family for neighbor in neighbors for family in neighbor.families}
    used = bool(of_family) or family in carried or (family is Family.IPV4 and Family.IPV6 not in carried)
    lines += [REDISTRIBUTE] * (used and (instance != DEFAULT_INSTANCE or family in bgp.originated))
    lines += [line for neighbor in neighbors for line in _of_family(neighbor, family)]
    if used:
        lines += [f"maximum-paths {bgp.max_paths}"] * (bgp.max_paths != DEFAULT_MAX_PATHS)
        lines += [f"maximum-paths ibgp {bgp.max_paths_internal}"] * (bgp.max_paths_internal != DEFAULT_MAX_PATHS)
    return Line(f"address-family {FAMILIES[family]}", tuple(map(Line, lines)))


def _aggregate_order(aggregate: Aggregate) -> tuple[int, int]:
    return int(aggregate.prefix.network_address), aggregate.prefix.prefixlen


def _of_family(neighbor: BgpNeighbor, family: Family) -> Iterator[str]:
    """FRR activates a neighbour for IPv4 by itself, and for no other family; of EVPN it always keeps the next hop
    (bgpd/bgpd.c, peer_new), which it does not show."""
    head = f"neighbor {peer_name(neighbor)}"
    if family not in neighbor.families:
        if family is Family.IPV4:
            yield f"no {head} activate"
        return
    if family is not Family.IPV4:
        yield f"{head} activate"
    if neighbor.reflector_client:
        yield f"{head} route-reflector-client"
    if neighbor.next_hop is NextHop.SELF:
        yield f"{head} {NEXT_HOPS[NextHop.SELF]}"
    if neighbor.prefix_limit is not None:
        yield f"{head} maximum-prefix {neighbor.prefix_limit} warning-only"
    for direction, policies in (("in", neighbor.import_policies), ("out", neighbor.export_policies)):
        yield from (f"{head} route-map {policy} {direction}" for policy in policies)
    if neighbor.next_hop is NextHop.UNCHANGED and family is not Family.EVPN:
        yield f"{head} {NEXT_HOPS[NextHop.UNCHANGED]}"
