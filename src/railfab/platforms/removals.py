"""Device models without the settings that a platform omits, or that the operating system below it makes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
    SEVERITIES,
    BalancingMode,
    BgpNeighbor,
    BgpTimers,
    DeviceModel,
    Family,
    HashField,
    Interface,
    Lag,
    LoadBalancing,
    NetworkInstance,
    NextHop,
    Port,
    Svi,
    in_order,
    lag_name,
    svi_name,
)
from railfab.platforms.qos_removals import with_qos


def mtu(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda interface: replace(interface, mtu_bytes=None))


def port_speed(model: DeviceModel) -> DeviceModel:
    return _each(
        model, lambda interface: replace(interface, rate_gbps=None) if isinstance(interface, Port) else interface
    )


def fec(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda interface: replace(interface, fec=None) if isinstance(interface, Port) else interface)


def vlans(model: DeviceModel) -> DeviceModel:
    return replace(model, vlans=())


def timer(name: str) -> Callable[[DeviceModel], DeviceModel]:
    """A change that removes one timer from every session."""
    gone: dict[str, Any] = {name: None}

    @lru_cache(maxsize=64)  # the sessions of a switch share their timers
    def without(timers: BgpTimers) -> BgpTimers:
        return replace(timers, **gone)

    def changed(model: DeviceModel) -> DeviceModel:
        if model.bgp is None:
            return model
        neighbors = tuple(replace(neighbor, timers=without(neighbor.timers)) for neighbor in model.bgp.neighbors)
        return replace(model, bgp=replace(model.bgp, neighbors=neighbors))

    return changed


def max_paths_internal(model: DeviceModel) -> DeviceModel:
    return model if model.bgp is None else replace(model, bgp=model.bgp.with_one_number_of_paths())


def belongs_to_bgp(instance: NetworkInstance) -> bool:
    """Whether a VRF has settings that some platforms have only in BGP."""
    return bool(instance.rd or instance.import_targets or instance.export_targets or instance.router_id)


def vrf_members(model: DeviceModel) -> DeviceModel:
    """Interfaces in the default network instance, and no VRF that has neither a VNI nor BGP.

    The order of the sessions follows, because it is that of the interfaces in their own network instance.
    """
    moved = _each(
        model, lambda interface: replace(interface, network_instance=interface.network_instance and DEFAULT_INSTANCE)
    )
    kept = tuple(instance for instance in model.network_instances if model.bgp is not None or instance.vni is not None)
    return in_order(replace(moved, network_instances=kept))


def gateways(model: DeviceModel) -> DeviceModel:
    """Anycast gateways as addresses, each with the MAC address that the system gives it."""

    def changed(interface: Interface) -> Interface:
        if not isinstance(interface, Svi):
            return interface
        return replace(interface, addresses=(*interface.addresses, *interface.gateways), gateways=(), gateway_mac=None)

    return in_order(_each(model, changed))


def gateway_addresses(model: DeviceModel) -> DeviceModel:
    """Anycast gateways alone."""

    def changed(interface: Interface) -> Interface:
        return replace(interface, addresses=()) if isinstance(interface, Svi) and interface.gateways else interface

    return _each(model, changed)


def vxlan(model: DeviceModel) -> DeviceModel:
    """No VTEP, and VLANs without a VNI."""
    return replace(model, vtep=None, vlans=tuple(replace(vlan, vni=None) for vlan in model.vlans))


def evpn_next_hops(model: DeviceModel) -> DeviceModel:
    """EVPN sessions that keep next hops as the others do, on a system on which all of them do."""
    if model.bgp is None:
        return model

    def changed(neighbor: BgpNeighbor) -> BgpNeighbor:
        keeps = neighbor.families == (Family.EVPN,) and neighbor.next_hop is NextHop.UNCHANGED
        return replace(neighbor, next_hop=NextHop.DEFAULT) if keeps else neighbor

    return replace(model, bgp=replace(model.bgp, neighbors=tuple(map(changed, model.bgp.neighbors))))


def vrf_without_bgp(model: DeviceModel) -> DeviceModel:
    """VRFs without what BGP alone uses."""
    instances = (
        replace(instance, rd=None, import_targets=(), export_targets=(), router_id=None)
        for instance in model.network_instances
    )
    return replace(model, network_instances=tuple(instances))


PEER_LINK_NUMBER = 1000
"""Number that the LAG of the peer link has in a model, on a platform where it has a name instead."""


def peer_link_number(model: DeviceModel) -> DeviceModel:
    """The LAG of the peer link with the number of a platform where it has none, wherever it is named."""
    if model.mlag is None:
        return model
    old, new = model.mlag.peer_link, lag_name(PEER_LINK_NUMBER)

    def renamed(interface: Interface) -> Interface:
        return replace(interface, name=new) if interface.name == old else interface

    def neighbor(session: BgpNeighbor) -> BgpNeighbor:
        source = new if session.update_source == old else session.update_source
        return replace(session, peer=new if session.peer == old else session.peer, update_source=source)

    changed = replace(_each(model, renamed), mlag=replace(model.mlag, peer_link=new))
    if changed.bgp is not None:
        changed = replace(changed, bgp=replace(changed.bgp, neighbors=tuple(map(neighbor, changed.bgp.neighbors))))
    ports = changed.qos.ports if changed.qos else ()
    named = tuple(replace(port, interface=new) if port.interface == old else port for port in ports)
    return in_order(with_qos(changed, ports=named))


def mlag_keepalive_source(model: DeviceModel) -> DeviceModel:
    if model.mlag is None or model.mlag.keepalive is None:
        return model
    return replace(model, mlag=replace(model.mlag, keepalive=replace(model.mlag.keepalive, source=None)))


def mlag_peer_addresses(model: DeviceModel) -> DeviceModel:
    return model if model.mlag is None else replace(model, mlag=replace(model.mlag, address=None, peer=None))


def mlag_system_mac(model: DeviceModel) -> DeviceModel:
    return model if model.mlag is None else replace(model, mlag=replace(model.mlag, system_mac=None))


def syslog_alerts(model: DeviceModel) -> DeviceModel:
    """Levels above critical as that, which sends more."""
    if model.management is None:
        return model
    above = SEVERITIES[:2]
    servers = (
        replace(server, level=SEVERITIES[2]) if server.level in above else server for server in model.management.syslog
    )
    return _management(model, syslog=tuple(servers))


def syslog_levels(model: DeviceModel) -> DeviceModel:
    """All syslog servers with the lowest severity of any."""
    management = model.management
    if management is None or not management.syslog:
        return model
    lowest = max((server.level for server in management.syslog), key=SEVERITIES.index)
    servers = tuple(replace(server, level=lowest) for server in management.syslog)
    return replace(model, management=replace(management, syslog=servers))


def vlan_names(model: DeviceModel) -> DeviceModel:
    """VLANs named by their number, `vlan10`, on a switch where they have no names."""
    return replace(model, vlans=tuple(replace(vlan, name=svi_name(vlan.vlan_id)) for vlan in model.vlans))


def bridging(model: DeviceModel) -> DeviceModel:
    """Ports and LAGs in no VLAN, in the default network instance."""

    def changed(interface: Interface) -> Interface:
        if isinstance(interface, Port | Lag) and interface.vlans is not None:
            return replace(interface, vlans=None, network_instance=DEFAULT_INSTANCE)
        return interface

    return _each(model, changed)


def members(model: DeviceModel) -> DeviceModel:
    """LAGs without members, and the members as ports that the system binds."""
    names = {name for lag in model.interfaces if isinstance(lag, Lag) for name in lag.members}

    def changed(member: Interface) -> Interface:
        if isinstance(member, Lag):
            return replace(member, members=(), lacp=True)
        return replace(member, network_instance=DEFAULT_INSTANCE) if member.name in names else member

    return _each(model, changed)


def hash_fields(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda balancing: replace(balancing, fields=()))


def packet_spraying(model: DeviceModel) -> DeviceModel:
    """Adaptive routing, on a switch that sprays packets by the load of its ports only."""
    return _balancing(model, lambda balancing: replace(balancing, mode=BalancingMode.ADAPTIVE))


def hash_queue_pair(model: DeviceModel) -> DeviceModel:
    """The other fields alone, on a switch that hashes the queue pair beside them by itself."""
    return _balancing(
        model,
        lambda balancing: replace(
            balancing, fields=tuple(field for field in balancing.fields if field != HashField.QUEUE_PAIR)
        ),
    )


def hash_seed(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda balancing: replace(balancing, seed=None))


def management_vrf(model: DeviceModel) -> DeviceModel:
    """Servers in the default network instance: the system runs their clients in a VRF."""
    return _management(model, network_instance=DEFAULT_INSTANCE)


def mlag_domain_name(model: DeviceModel) -> DeviceModel:
    """The MLAG pair with a number from 1 to 1000, by its name, that is the same on both of its switches."""
    if model.mlag is None:
        return model
    number = zlib.crc32(model.mlag.domain.encode()) % 1000 + 1
    return replace(model, mlag=replace(model.mlag, domain=str(number)))


def flowlet_gap(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda balancing: replace(balancing, flowlet_gap_us=None))


def ntp(model: DeviceModel) -> DeviceModel:
    return _management(model, ntp=())


def syslog(model: DeviceModel) -> DeviceModel:
    return _management(model, syslog=())


def aaa(model: DeviceModel) -> DeviceModel:
    return _management(model, aaa=())


def gnmi_server(model: DeviceModel) -> DeviceModel:
    return _management(model, gnmi=None)


def banner(model: DeviceModel) -> DeviceModel:
    return _management(model, banner=None)


def _management(model: DeviceModel, **fields: Any) -> DeviceModel:
    if model.management is None:
        return model
    return replace(model, management=replace(model.management, **fields).stated())


def _each(model: DeviceModel, change: Callable[[Interface], Interface]) -> DeviceModel:
    return replace(model, interfaces=tuple(map(change, model.interfaces)))


def _balancing(model: DeviceModel, change: Callable[[LoadBalancing], LoadBalancing]) -> DeviceModel:
    """The model with other load balancing; None of it where everything is then the platform's default."""
    left = change(model.load_balancing or LoadBalancing())
    return replace(model, load_balancing=None if left == LoadBalancing() else left)
