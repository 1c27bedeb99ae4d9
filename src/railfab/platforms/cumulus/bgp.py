"""Renders the BGP speaker of a device model: `router bgp`, and `vrf NAME router bgp` of each VRF that has sessions.

No peer groups, so that a change of one session touches no other. NVUE has no setting for RFC 8212: a session without
policy accepts and announces everything, so that one of a model that requires policies has a route map that denies
every route.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address
from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    NetworkInstance,
    NextHop,
)
from railfab.platforms.cumulus.names import allowed, device_name
from railfab.platforms.cumulus.nodes import OFF, ON, stated, switch
from railfab.platforms.shared.json_tree import Json

UNICAST = {Family.IPV4: 4, Family.IPV6: 6}
NO_POLICY = "no-policy"
"""The route map of a session without policy, which denies every route (RFC 8212)."""


def render_speaker(model: DeviceModel) -> Json | None:
    """`router bgp`: what all VRFs share. A drained switch announces every route as one to avoid (RFC 8326)."""
    bgp = model.bgp
    if bgp is None:
        return None
    shutdown = ON if model.drain else None
    router_id = str(bgp.router_id) if bgp.router_id is not None else None
    return {"state": ON, "autonomous-system": bgp.asn, **stated(router_id=router_id, graceful_shutdown=shutdown)}


def render_vrfs(model: DeviceModel) -> Json:
    """Every VRF by its name, the default one where it has a speaker."""
    named = {instance.name: instance for instance in model.network_instances}
    vrfs: Json = {}
    for name in sorted({DEFAULT_INSTANCE, *named, *_instances(model.bgp)}):
        entry = stated(evpn=_l3_vni(named.get(name)), router=stated(bgp=_router(model.bgp, name, named.get(name))))
        if entry or name in named:
            vrfs[allowed(name)] = entry
    return vrfs


def _instances(bgp: BgpSpeaker | None) -> set[str]:
    """The VRFs with sessions or aggregates."""
    if bgp is None:
        return set()
    of_sessions = {neighbor.network_instance for neighbor in bgp.neighbors}
    return of_sessions | {aggregate.network_instance for aggregate in bgp.aggregates}


def _l3_vni(instance: NetworkInstance | None) -> Json | None:
    if instance is None or instance.vni is None:
        return None
    return {"state": ON, "vni": {str(instance.vni): {}}}


def _router(bgp: BgpSpeaker | None, name: str, instance: NetworkInstance | None) -> Json:
    """`vrf NAME router bgp`; what belongs to the VRF also without a speaker."""
    vrf = _of_vrf(instance) if instance is not None else {}
    if bgp is None or (name != DEFAULT_INSTANCE and name not in _instances(bgp) and instance is None):
        return vrf
    neighbors = [neighbor for neighbor in bgp.neighbors if neighbor.network_instance == name]
    aggregates = [aggregate for aggregate in bgp.aggregates if aggregate.network_instance == name]
    exports = instance is not None and instance.vni is not None
    return {
        "state": ON,
        **vrf,
        "address-family": _families(bgp, neighbors, aggregates, name, exports=exports),
        **stated(
            path_selection={"multipath": {"aspath-ignore": ON}} if bgp.multiple_as else None,
            route_reflection=_reflection(bgp, neighbors),
            neighbor={_peer(neighbor): _neighbor(neighbor, bgp) for neighbor in neighbors},
        ),
    }


def _of_vrf(instance: NetworkInstance) -> Json:
    targets = (
        ("route-export", "to-evpn", instance.export_targets),
        ("route-import", "from-evpn", instance.import_targets),
    )
    communities: Json = {
        name: {peer: {"route-target": {target: {} for target in values}}} for name, peer, values in targets if values
    }
    router_id = str(instance.router_id) if instance.router_id is not None else None
    return {**stated(rd=instance.rd, router_id=router_id), **communities}


def _reflection(bgp: BgpSpeaker, neighbors: Sequence[BgpNeighbor]) -> Json | None:
    if bgp.cluster_id is None and not any(neighbor.reflector_client for neighbor in neighbors):
        return None
    return {"state": ON, **stated(cluster_id=str(bgp.cluster_id) if bgp.cluster_id is not None else None)}


def _families(
    bgp: BgpSpeaker, neighbors: Sequence[BgpNeighbor], aggregates: Sequence[Aggregate], vrf: str, *, exports: bool
) -> Json:
    """The families that a VRF uses; IPv4 where it uses none, because its connected routes are announced."""
    used = {family for neighbor in neighbors for family in neighbor.families}
    used |= {
        family
        for family, version in UNICAST.items()
        if any(aggregate.prefix.version == version for aggregate in aggregates)
    }
    if not used & set(UNICAST):
        used.add(Family.IPV4)
    families: Json = {}
    for family in sorted(used, key=list(Family).index):
        of_family = [aggregate for aggregate in aggregates if aggregate.prefix.version == UNICAST.get(family)]
        originated = vrf != DEFAULT_INSTANCE or family in bgp.originated
        unicast = _unicast(bgp, of_family, originated=originated, exports=exports)
        families[str(family)] = unicast if family in UNICAST else {"state": ON}
    return families


def _unicast(bgp: BgpSpeaker, aggregates: Sequence[Aggregate], *, originated: bool, exports: bool) -> Json:
    """A family with its connected routes, if they are originated; a VRF with an overlay also announces them there."""
    routes = {str(aggregate.prefix): {"summary-only": switch(aggregate.summary_only)} for aggregate in aggregates}
    return {
        "state": ON,
        **stated(redistribute={"connected": {"state": ON}} if originated else None),
        "multipaths": {"ebgp": bgp.max_paths, "ibgp": bgp.max_paths_internal},
        **stated(aggregate_route=routes, route_export={"to-evpn": {"state": ON}} if exports else None),
    }


def _peer(neighbor: BgpNeighbor) -> str:
    return device_name(neighbor.peer) if isinstance(neighbor.peer, str) else str(neighbor.peer)


def _neighbor(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Json:
    """One session. IPv4 routes of one over IPv6 need a capability, which NVUE turns on by itself where unnumbered."""
    remote: Any = neighbor.remote_as if isinstance(neighbor.remote_as, int) else str(neighbor.remote_as)
    over_ipv6 = isinstance(neighbor.peer, IPv6Address) and Family.IPV4 in neighbor.families
    return {
        "type": "unnumbered" if neighbor.unnumbered else "numbered",
        **stated(
            remote_as=remote or None,
            description=neighbor.description,
            shutdown=None if neighbor.enabled else ON,
            update_source=neighbor.update_source and device_name(neighbor.update_source),
            multihop_ttl=neighbor.multihop_ttl,
            bfd={"profile": _bfd_profile(neighbor.bfd)} if neighbor.bfd is not None else None,
            capabilities={"extended-nexthop": ON} if over_ipv6 and bgp.receive_ipv6_next_hops else None,
        ),
        "timers": _timers(neighbor.timers),
        "address-family": dict(_neighbor_families(neighbor, bgp)),
    }


def _timers(timers: BgpTimers) -> Json:
    return {
        "keepalive": timers.keepalive_s,
        "hold": timers.hold_s,
        **stated(connection_retry=timers.connect_retry_s, route_advertisement=timers.advertisement_interval_s),
    }


def render_bfd(bgp: BgpSpeaker | None) -> Json | None:
    """`router bfd`: a profile for each set of timers, which sessions name."""
    timers = {neighbor.bfd for neighbor in bgp.neighbors if neighbor.bfd is not None} if bgp is not None else set()
    profiles = {_bfd_profile(bfd): _bfd(bfd) for bfd in timers}
    return {"state": ON, "profile": dict(sorted(profiles.items()))} if profiles else None


def _bfd_profile(timers: BfdTimers) -> str:
    return "-".join(["bfd", *map(str, _bfd(timers).values())])


def _bfd(timers: BfdTimers) -> Json:
    receive_ms = timers.receive_ms if timers.receive_ms is not None else timers.interval_ms
    return {
        "min-tx-interval": timers.interval_ms,
        "min-rx-interval": receive_ms,
        "detect-multiplier": timers.multiplier,
    }


def _neighbor_families(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Iterator[tuple[str, Json]]:
    """FRR activates a session for IPv4 by itself, and for no other family."""
    if Family.IPV4 not in neighbor.families:
        yield str(Family.IPV4), {"state": OFF}
    for family in neighbor.families:
        limit = neighbor.prefix_limit if family in UNICAST else None
        yield (
            str(family),
            {
                "state": ON,
                **stated(
                    policy=_policies(neighbor, bgp),
                    route_reflector_client=ON if neighbor.reflector_client else None,
                    nexthop_setting="force" if neighbor.next_hop is NextHop.SELF else None,
                    attribute_mod={"nexthop": OFF} if neighbor.next_hop is NextHop.UNCHANGED else None,
                    prefix_limits={"inbound": {"maximum": limit, "warning-only": ON}} if limit is not None else None,
                ),
            },
        )


def _policies(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Json:
    """The route map of each direction. `force`: routes that a reflector passes on have the switch as next hop too."""
    nothing = (NO_POLICY,) if denies_without_policy(neighbor, bgp) else ()
    maps: Json = {}
    for direction, policies in (("inbound", neighbor.import_policies), ("outbound", neighbor.export_policies)):
        for name in policies or nothing:
            maps[direction] = {"route-map": allowed(name) if policies else name}
    return maps


def denies_without_policy(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> bool:
    """Whether a session without policy is to accept and announce nothing."""
    return bgp.requires_policy and not neighbor.is_internal(bgp.asn)


def needs_no_policy(model: DeviceModel) -> bool:
    """Whether the route map that denies every route is used."""
    bgp = model.bgp
    return bgp is not None and any(
        denies_without_policy(neighbor, bgp) and not (neighbor.import_policies and neighbor.export_policies)
        for neighbor in bgp.neighbors
    )
