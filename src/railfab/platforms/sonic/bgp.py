"""Renders the BGP speaker in unified mode (sonic-bgp-global, -bgp-neighbor, -bgp-common, -route-common).

frrcfgd writes these tables to FRR (sonic-buildimage, src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import (
    DEFAULT_INSTANCE,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    DeviceModel,
    Family,
    NetworkInstance,
    NextHop,
    Remote,
)
from railfab.platforms.sonic.names import device_name, vrf_name
from railfab.platforms.sonic.tables import DOWN, TRUE, UP, Row, Tables, boolean, key, merged, stated

FAMILIES = {Family.IPV4: "ipv4_unicast", Family.IPV6: "ipv6_unicast", Family.EVPN: "l2vpn_evpn"}
UNICAST = {Family.IPV4: "ipv4", Family.IPV6: "ipv6"}
"""Families whose connected routes are announced, by their names in ROUTE_REDISTRIBUTE."""

DEFAULT_BFD = BfdTimers(interval_ms=300, multiplier=3)
"""Timers of a session whose neighbour states none (FRR, doc/user/bfd.rst)."""


def render_bgp(model: DeviceModel) -> Tables:
    bgp = model.bgp
    instances = {instance.name: instance for instance in model.network_instances}
    if bgp is None:
        return merged(_instance(instance, None, model) for instance in instances.values())
    used = {neighbor.network_instance for neighbor in bgp.neighbors} | {*instances}
    used |= {aggregate.network_instance for aggregate in bgp.aggregates}
    default = NetworkInstance(name=DEFAULT_INSTANCE, router_id=bgp.router_id)
    others = (instances.get(name, NetworkInstance(name=name)) for name in sorted(used - {DEFAULT_INSTANCE}))
    return merged(
        (
            *(_instance(instance, bgp, model) for instance in (default, *others)),
            *(_neighbor(neighbor) for neighbor in bgp.neighbors),
            _aggregates(bgp),
        )
    )


def _instance(instance: NetworkInstance, bgp: BgpSpeaker | None, model: DeviceModel) -> Tables:
    """The speaker of one network instance; of one without BGP the router ID, RD and targets."""
    vrf = vrf_name(instance.name)
    evpn = _evpn(instance, model)
    tables: Tables = {"BGP_GLOBALS_AF": {key(vrf, FAMILIES[Family.EVPN]): evpn} if evpn else {}}
    row = stated(router_id=instance.router_id)
    if bgp is not None:
        row |= _speaker(bgp, is_default=instance.name == DEFAULT_INSTANCE, drain=model.drain)
        paths = stated(max_ebgp_paths=bgp.max_paths, max_ibgp_paths=bgp.max_paths_internal)
        tables["BGP_GLOBALS_AF"] |= {key(vrf, FAMILIES[family]): dict(paths) for family in UNICAST}
        tables["ROUTE_REDISTRIBUTE"] = {key(vrf, "connected", "bgp", UNICAST[family]): {} for family in bgp.originated}
    tables["BGP_GLOBALS"] = {vrf: row} if row or evpn else {}
    return tables


def _speaker(bgp: BgpSpeaker, *, is_default: bool, drain: bool) -> Row:
    return stated(
        local_asn=bgp.asn,
        load_balance_mp_relax=bgp.multiple_as,
        rr_cluster_id=bgp.cluster_id if is_default else None,
        graceful_shutdown=TRUE if drain else None,
    )


def _evpn(instance: NetworkInstance, model: DeviceModel) -> Row:
    """EVPN of a network instance: all VNIs are announced by the default one, RD and targets belong to a VRF.

    The fields of a VRF are those that frrcfgd reads; sonic-yang-models of August 2026 lack them.
    """
    if instance.name == DEFAULT_INSTANCE:
        return {"advertise-all-vni": TRUE} if announces_vnis(model) else {}
    row = stated(
        **{
            "route-distinguisher": instance.rd,
            "import-rts": list(instance.import_targets) or None,
            "export-rts": list(instance.export_targets) or None,
        }
    )
    prefixes = {f"advertise-{family}-unicast": TRUE for family in UNICAST.values()}
    return {**row, **prefixes} if instance.vni is not None else row


def announces_vnis(model: DeviceModel) -> bool:
    """Whether the switch announces its VNIs: a VTEP with an EVPN session."""
    return model.vtep is not None and any(Family.EVPN in neighbor.families for neighbor in model.neighbors)


def _neighbor(neighbor: BgpNeighbor) -> Tables:
    vrf, peer = vrf_name(neighbor.network_instance), peer_name(neighbor)
    families = {key(vrf, peer, FAMILIES[family]): _family(neighbor, family) for family in neighbor.families}
    return {"BGP_NEIGHBOR": {key(vrf, peer): _session(neighbor)}, "BGP_NEIGHBOR_AF": families}


def peer_name(neighbor: BgpNeighbor) -> str:
    """SONiC's name of a neighbour: its address, or the interface of an unnumbered one."""
    return device_name(neighbor.peer) if isinstance(neighbor.peer, str) else str(neighbor.peer)


def _session(neighbor: BgpNeighbor) -> Row:
    remote, timers = neighbor.remote_as, neighbor.timers
    return stated(
        asn=None if isinstance(remote, Remote) or not remote else remote,
        peer_type=remote.value if isinstance(remote, Remote) else None,
        name=neighbor.description or None,
        admin_status=UP if neighbor.enabled else DOWN,
        local_addr=None if neighbor.update_source is None else device_name(neighbor.update_source),
        ebgp_multihop=None if neighbor.multihop_ttl is None else TRUE,
        ebgp_multihop_ttl=neighbor.multihop_ttl,
        keepalive=timers.keepalive_s,
        holdtime=timers.hold_s,
        conn_retry=timers.connect_retry_s,
        min_adv_interval=timers.advertisement_interval_s,
        capability_ext_nexthop=TRUE if neighbor.unnumbered else None,
        **_bfd(neighbor.bfd),
    )


def _bfd(timers: BfdTimers | None) -> Row:
    """BFD of a session. Timers other than FRR's own are newer than August 2026 (sonic-bgp-common 022dec1f)."""
    if timers is None:
        return {}
    if timers == DEFAULT_BFD:
        return {"bfd": TRUE}
    return stated(
        bfd=TRUE,
        desired_minimum_tx_interval=timers.interval_ms,
        required_minimum_receive=timers.interval_ms if timers.receive_ms is None else timers.receive_ms,
        detection_multiplier=timers.multiplier,
    )


def _family(neighbor: BgpNeighbor, family: Family) -> Row:
    """One family of a session. Reflected routes keep their next hop without `nexthop_self_force`."""
    limit = neighbor.prefix_limit if family in UNICAST else None
    is_self = neighbor.next_hop is NextHop.SELF
    return stated(
        admin_status=UP,
        route_map_in=list(neighbor.import_policies) or None,
        route_map_out=list(neighbor.export_policies) or None,
        rrclient=TRUE if neighbor.reflector_client else None,
        nhself=TRUE if is_self else None,
        nexthop_self_force=TRUE if is_self else None,
        unchanged_nexthop=TRUE if neighbor.next_hop is NextHop.UNCHANGED else None,
        max_prefix_limit=limit,
        max_prefix_warning_only=None if limit is None else TRUE,
    )


def _aggregates(bgp: BgpSpeaker) -> Tables:
    return {"BGP_GLOBALS_AF_AGGREGATE_ADDR": dict(_aggregate_rows(bgp))}


def _aggregate_rows(bgp: BgpSpeaker) -> Iterator[tuple[str, Row]]:
    for aggregate in bgp.aggregates:
        family = FAMILIES[Family.IPV4 if aggregate.prefix.version == 4 else Family.IPV6]
        row = {"summary_only": boolean(aggregate.summary_only)}
        yield key(vrf_name(aggregate.network_instance), family, aggregate.prefix), row
