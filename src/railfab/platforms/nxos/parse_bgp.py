"""Puts the lines of `router bgp` together to a BGP speaker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    NextHop,
    Remote,
    interfaces_of_peers,
)
from railfab.platforms.nxos.draft import DraftFamily, NxosDraft, NxosNeighbor, NxosRouter
from railfab.platforms.nxos.names import DENY_ALL, KEPT_NEXT_HOP, PERMIT_ALL, interface_name, kind_of
from railfab.platforms.nxos.parse_policy import policy_name
from railfab.platforms.nxos.render_bgp import DEFAULT_TIMERS_S, FAMILIES, MULTIPATH_RELAX
from railfab.platforms.nxos.render_interfaces import DEFAULT_BFD


def speaker(draft: NxosDraft) -> BgpSpeaker | None:
    """The speaker of all network instances, with the settings of the default one."""
    if draft.asn is None:
        return None
    router = draft.routers[DEFAULT_INSTANCE]
    return BgpSpeaker(
        asn=draft.asn,
        router_id=router.router_id,
        max_paths=_first(router.max_paths),
        max_paths_internal=_first(router.max_paths_internal),
        neighbors=tuple(_neighbors(draft, draft.asn)),
        multiple_as=MULTIPATH_RELAX in router.flags,
        requires_policy=not any(_open_sessions(draft)),
        cluster_id=router.cluster_id,
        aggregates=tuple(
            Aggregate(prefix=prefix, summary_only=summary_only, network_instance=name)
            for name, settings in draft.routers.items()
            for prefix, summary_only in settings.aggregates
        ),
    ).with_originated(router.originated)


def _first(paths: Mapping[Family, int]) -> int:
    """The value of the first unicast family."""
    return next((paths[family] for family in FAMILIES if family in paths and family is not Family.EVPN), 1)


def _open_sessions(draft: NxosDraft) -> Iterator[bool]:
    """Whether an external session has a direction without a route map, which accepts or announces everything."""
    for router in draft.routers.values():
        for neighbor in router.neighbors.values():
            if neighbor.remote_as not in (None, draft.asn):
                yield from (len(family.policies) < 2 for family in neighbor.families.values())


def _neighbors(draft: NxosDraft, asn: int) -> Iterator[BgpNeighbor]:
    """The neighbours with an AS number; others (of a template, a range of addresses, a word) are unmodelled."""
    for instance, router in draft.routers.items():
        for peer, neighbor in router.neighbors.items():
            if neighbor.remote_as is not None and (_is_interface(peer) or _is_address(peer)):
                yield _neighbor(instance, router, peer, neighbor, asn)


def _is_interface(peer: str) -> bool:
    return bool(kind_of(peer)) or peer.startswith("Ethernet")


def _is_address(peer: str) -> bool:
    try:
        ip_address(peer)
    except ValueError:
        return False
    return True


def _neighbor(instance: str, router: NxosRouter, peer: str, neighbor: NxosNeighbor, asn: int) -> BgpNeighbor:
    families = [family for family in FAMILIES if family in neighbor.families]
    settings = neighbor.families[families[0]] if families else DraftFamily()
    exported = settings.policies.get("out", "")
    keepalive_s, hold_s = neighbor.keepalive_hold_s or router.keepalive_hold_s or DEFAULT_TIMERS_S
    return BgpNeighbor(
        peer=interface_name(peer) if _is_interface(peer) else ip_address(peer),
        remote_as=Remote.INTERNAL if neighbor.remote_as == asn else neighbor.remote_as or 0,
        timers=BgpTimers(
            keepalive_s=keepalive_s,
            hold_s=hold_s,
            connect_retry_s=router.reconnect_s,
            advertisement_interval_s=settings.advertisement_s,
        ),
        network_instance=instance,
        description=neighbor.description,
        enabled=neighbor.enabled,
        update_source=interface_name(neighbor.update_source) if neighbor.update_source is not None else None,
        multihop_ttl=neighbor.multihop_ttl,
        families=tuple(families),
        import_policies=_policies(settings.policies.get("in", "")),
        export_policies=_policies(exported),
        reflector_client=settings.reflector_client,
        next_hop=NextHop.UNCHANGED if exported.endswith(KEPT_NEXT_HOP) else settings.next_hop,
        bfd=DEFAULT_BFD if neighbor.bfd else None,
        prefix_limit=settings.prefix_limit,
    )


def _policies(route_map: str) -> tuple[str, ...]:
    """The policy of a route map; none for one that stands for none."""
    name = policy_name(route_map)
    return () if name in ("", DENY_ALL, PERMIT_ALL) else (name,)


def bfd_of_sessions(model: DeviceModel, timers: Mapping[str, BfdTimers]) -> Iterator[tuple[BgpNeighbor, BfdTimers]]:
    """The sessions with BFD and their timers: those of the interface. timers: by interface."""
    connected = interfaces_of_peers(model)
    for neighbor in model.neighbors:
        if neighbor.bfd is not None:
            yield neighbor, timers.get(connected.get(neighbor.key, ""), DEFAULT_BFD)
