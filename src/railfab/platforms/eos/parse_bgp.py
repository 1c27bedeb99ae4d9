"""Makes the BGP speaker of a device model of a parsed configuration."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import TypeVar

from railfab.device import DEFAULT_INSTANCE, Bgp, BgpNeighbor, BgpTimers, Family, NextHop, Remote
from railfab.platforms.eos.draft import Draft, DraftNeighbor, DraftRouter
from railfab.platforms.eos.render_bgp import DEFAULT_TIMERS_S

T = TypeVar("T")


def bgp_of(draft: Draft) -> Bgp | None:
    """The speaker of all network instances."""
    router = draft.router
    if router is None:
        return None
    found = tuple(_all_neighbors(router))
    ipv6_next_hops = all(has for _, has in found)
    speaker = Bgp(
        asn=router.asn,
        router_id=router.router_id,
        max_paths=router.max_paths,
        neighbors=tuple(neighbor for neighbor, _ in found),
        multiple_as=router.multiple_as,
        advertise_ipv6_next_hops=ipv6_next_hops,
        receive_ipv6_next_hops=ipv6_next_hops,
        requires_policy=router.requires_policy == {"in", "out"},
        cluster_id=router.cluster_id,
        aggregates=tuple(router.aggregates),
    )
    return speaker.with_one_number_of_paths()


def _all_neighbors(router: DraftRouter) -> Iterator[tuple[BgpNeighbor, bool]]:
    """The neighbours, each with whether it can carry the IPv4 routes that it carries: over IPv6 it needs a line."""
    for (instance, peer), own in router.neighbors.items():
        if own.is_group or not (own.over_interface or _is_address(peer)):
            continue
        group = router.neighbors.get((DEFAULT_INSTANCE, own.group or ""), DraftNeighbor())
        neighbor = _neighbor(router, instance, peer, own, group)
        over_ipv6 = own.over_interface or ":" in peer
        needs = over_ipv6 and Family.IPV4 in neighbor.families
        yield neighbor, not needs or own.ipv6_next_hops or group.ipv6_next_hops


def _is_address(peer: str) -> bool:
    """Whether it is no peer group that is used without being defined."""
    try:
        ip_address(peer)
    except ValueError:
        return False
    return True


def _neighbor(router: DraftRouter, instance: str, peer: str, own: DraftNeighbor, group: DraftNeighbor) -> BgpNeighbor:
    """A neighbour with the settings of its peer group where it states none itself."""
    keepalive_s, hold_s = own.keepalive_hold_s or group.keepalive_hold_s or DEFAULT_TIMERS_S
    remote_as = own.remote_as or group.remote_as or 0
    policies = {**group.policies, **own.policies}
    return BgpNeighbor(
        peer=peer if own.over_interface else ip_address(peer),
        remote_as=Remote.INTERNAL if remote_as == router.asn else remote_as,
        timers=BgpTimers(keepalive_s=keepalive_s, hold_s=hold_s),
        network_instance=instance,
        description=own.description or group.description,
        enabled=own.enabled and group.enabled,
        update_source=own.update_source or group.update_source,
        multihop_ttl=_stated(own.multihop_ttl, group.multihop_ttl),
        families=tuple(own.active | group.active),
        import_policies=(policies["in"],) if "in" in policies else (),
        export_policies=(policies["out"],) if "out" in policies else (),
        reflector_client=own.reflector_client or group.reflector_client,
        next_hop=own.next_hop or group.next_hop or NextHop.DEFAULT,
        bfd=own.bfd or group.bfd,
        prefix_limit=_stated(own.routes, group.routes) or None,
    )


def _stated(own: T | None, group: T | None) -> T | None:
    return group if own is None else own
