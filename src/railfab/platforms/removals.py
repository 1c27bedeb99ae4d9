"""Device models without the settings that a platform omits, or that the operating system below it makes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
    SEVERITIES,
    BalancingMode,
    BgpNeighbor,
    BgpTimers,
    Classifier,
    ClassThresholds,
    DeviceModel,
    Family,
    HashField,
    Interface,
    Lag,
    LoadBalancing,
    NetworkInstance,
    NextHop,
    Port,
    PortProfile,
    PortQos,
    Qos,
    Svi,
    in_order,
    lag_name,
    svi_name,
)

CLASSIFIER = "fabric"
"""Name of the classifier of a switch that has only one, without a name."""


def mtu(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda found: replace(found, mtu_bytes=None))


def port_speed(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda found: replace(found, rate_gbps=None) if isinstance(found, Port) else found)


def fec(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda found: replace(found, fec=None) if isinstance(found, Port) else found)


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
        neighbors = tuple(replace(found, timers=without(found.timers)) for found in model.bgp.neighbors)
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
    moved = _each(model, lambda found: replace(found, network_instance=found.network_instance and DEFAULT_INSTANCE))
    kept = tuple(found for found in model.network_instances if model.bgp is not None or found.vni is not None)
    return in_order(replace(moved, network_instances=kept))


def gateways(model: DeviceModel) -> DeviceModel:
    """Anycast gateways as addresses, each with the MAC address that the system gives it."""

    def changed(found: Interface) -> Interface:
        if not isinstance(found, Svi):
            return found
        return replace(found, addresses=(*found.addresses, *found.gateways), gateways=(), gateway_mac=None)

    return in_order(_each(model, changed))


def vxlan(model: DeviceModel) -> DeviceModel:
    """No VTEP, and VLANs without a VNI."""
    return replace(model, vtep=None, vlans=tuple(replace(found, vni=None) for found in model.vlans))


def evpn_next_hops(model: DeviceModel) -> DeviceModel:
    """EVPN sessions that keep next hops as the others do, on a system on which all of them do."""
    if model.bgp is None:
        return model

    def changed(found: BgpNeighbor) -> BgpNeighbor:
        keeps = found.families == (Family.EVPN,) and found.next_hop is NextHop.UNCHANGED
        return replace(found, next_hop=NextHop.DEFAULT) if keeps else found

    return replace(model, bgp=replace(model.bgp, neighbors=tuple(map(changed, model.bgp.neighbors))))


def vrf_without_bgp(model: DeviceModel) -> DeviceModel:
    """VRFs without what BGP alone uses."""
    found = (
        replace(instance, rd=None, import_targets=(), export_targets=(), router_id=None)
        for instance in model.network_instances
    )
    return replace(model, network_instances=tuple(found))


PEER_LINK_NUMBER = 1000
"""Number that the LAG of the peer link has in a model, on a platform where it has a name instead."""


def peer_link_number(model: DeviceModel) -> DeviceModel:
    """The LAG of the peer link with the number of a platform where it has none, wherever it is named."""
    if model.mlag is None:
        return model
    old, new = model.mlag.peer_link, lag_name(PEER_LINK_NUMBER)

    def renamed(interface: Interface) -> Interface:
        return replace(interface, name=new) if interface.name == old else interface

    def neighbor(found: BgpNeighbor) -> BgpNeighbor:
        source = new if found.update_source == old else found.update_source
        return replace(found, peer=new if found.peer == old else found.peer, update_source=source)

    found = replace(_each(model, renamed), mlag=replace(model.mlag, peer_link=new))
    if found.bgp is not None:
        found = replace(found, bgp=replace(found.bgp, neighbors=tuple(map(neighbor, found.bgp.neighbors))))
    ports = found.qos.ports if found.qos else ()
    named = tuple(replace(port, interface=new) if port.interface == old else port for port in ports)
    return in_order(_qos(found, ports=named))


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
    return replace(model, vlans=tuple(replace(found, name=svi_name(found.vlan_id)) for found in model.vlans))


def watchdog_recovery(model: DeviceModel) -> DeviceModel:
    """A PFC watchdog with one time."""
    watchdog = model.qos.watchdog if model.qos is not None else None
    return _qos(model, watchdog=watchdog and replace(watchdog, recover_ms=watchdog.detect_ms))


def cable_length(model: DeviceModel) -> DeviceModel:
    profiles = model.qos.profiles if model.qos is not None else ()
    return _qos(model, profiles=tuple(replace(found, cable_m=None) for found in profiles))


def bridging(model: DeviceModel) -> DeviceModel:
    """Ports and LAGs in no VLAN, in the default network instance."""

    def changed(found: Interface) -> Interface:
        if isinstance(found, Port | Lag) and found.vlans is not None:
            return replace(found, vlans=None, network_instance=DEFAULT_INSTANCE)
        return found

    return _each(model, changed)


def members(model: DeviceModel) -> DeviceModel:
    """LAGs without members, and the members as ports that the system binds."""
    names = {name for found in model.interfaces if isinstance(found, Lag) for name in found.members}

    def changed(found: Interface) -> Interface:
        if isinstance(found, Lag):
            return replace(found, members=(), lacp=True)
        return replace(found, network_instance=DEFAULT_INSTANCE) if found.name in names else found

    return _each(model, changed)


def hash_fields(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda found: replace(found, fields=()))


def packet_spraying(model: DeviceModel) -> DeviceModel:
    """Adaptive routing, on a switch that sprays packets by the load of its ports only."""
    return _balancing(model, lambda found: replace(found, mode=BalancingMode.ADAPTIVE))


def hash_queue_pair(model: DeviceModel) -> DeviceModel:
    """The other fields alone, on a switch that hashes the queue pair beside them by itself."""
    return _balancing(
        model,
        lambda found: replace(found, fields=tuple(field for field in found.fields if field != HashField.QUEUE_PAIR)),
    )


def hash_seed(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda found: replace(found, seed=None))


def management_vrf(model: DeviceModel) -> DeviceModel:
    """Servers in the default network instance: the system runs their clients in a VRF."""
    return _management(model, network_instance=DEFAULT_INSTANCE)


def class_names(model: DeviceModel) -> DeviceModel:
    """Classes named after their queues, `queue3`, on a switch where they have no names."""
    if model.qos is None:
        return model
    qos, names = model.qos, {found.name: queue_class(found.queue) for found in model.qos.classes}
    trimming = qos.trimming and replace(qos.trimming, traffic_class=_renamed(qos.trimming.traffic_class, names))
    return replace(
        model,
        qos=replace(
            qos,
            classes=tuple(replace(found, name=names[found.name]) for found in qos.classes),
            default_class=_renamed(qos.default_class, names),
            classifiers=tuple(_of_renamed_classes(found, names) for found in qos.classifiers),
            profiles=tuple(_with_renamed_classes(found, names) for found in qos.profiles),
            ports=tuple(_port_with_renamed_classes(found, names) for found in qos.ports),
            trimming=trimming,
        ),
    )


def queue_class(queue: int) -> str:
    """The name of the class of a queue on a switch where classes have no names."""
    return f"queue{queue}"


def _renamed(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _of_renamed_classes(classifier: Classifier, names: Mapping[str, str]) -> Classifier:
    return replace(classifier, dscp=tuple((point, _renamed(name, names)) for point, name in classifier.dscp))


def _with_renamed_classes(profile: PortProfile, names: Mapping[str, str]) -> PortProfile:
    renamed = (replace(found, traffic_class=_renamed(found.traffic_class, names)) for found in profile.thresholds)
    return replace(profile, thresholds=tuple(renamed))


def _port_with_renamed_classes(port: PortQos, names: Mapping[str, str]) -> PortQos:
    own = (replace(found, traffic_class=_renamed(found.traffic_class, names)) for found in port.priorities)
    return replace(port, ecn=tuple(_renamed(name, names) for name in port.ecn), priorities=tuple(own))


def classifier_names(model: DeviceModel) -> DeviceModel:
    """The only classifier named `fabric`, on a switch where it has no name."""
    if model.qos is None or len(model.qos.classifiers) != 1:
        return model
    (only,) = model.qos.classifiers
    ports = tuple(replace(port, classifier=port.classifier and CLASSIFIER) for port in model.qos.ports)
    return _qos(model, classifiers=(replace(only, name=CLASSIFIER),), ports=ports)


def mlag_domain_name(model: DeviceModel) -> DeviceModel:
    """The MLAG pair with a number from 1 to 1000, by its name, that is the same on both of its switches."""
    if model.mlag is None:
        return model
    number = zlib.crc32(model.mlag.domain.encode()) % 1000 + 1
    return replace(model, mlag=replace(model.mlag, domain=str(number)))


def obeyed_priority(model: DeviceModel) -> DeviceModel:
    """Classes that obey pause frames of the priority that they send."""
    if model.qos is None:
        return model
    return _qos(model, classes=tuple(replace(cls, obeyed_priority=cls.pfc_priority) for cls in model.qos.classes))


def has_separate_pause_thresholds(found: ClassThresholds) -> bool:
    """Whether a class has only some of its three pause thresholds, or may never resume."""
    stated = [found.xoff_bytes, found.xon_offset_bytes, found.headroom_bytes]
    if None in stated:
        return any(value is not None for value in stated)
    return (found.xon_offset_bytes or 0) > (found.xoff_bytes or 0)


def separate_pause_thresholds(model: DeviceModel) -> DeviceModel:
    """Classes with all of their pause thresholds, or with those of the platform."""

    def without(found: ClassThresholds) -> ClassThresholds:
        if not has_separate_pause_thresholds(found):
            return found
        return replace(found, xoff_bytes=None, xon_offset_bytes=None, headroom_bytes=None)

    return _each_threshold(model, without)


def thresholds_per_profile(model: DeviceModel) -> DeviceModel:
    """One alpha for each class, and one headroom and resume threshold, in every profile: the safe one of all values.

    That is the smallest alpha, and the largest headroom and distance of the resume threshold, which hold for all
    lossless classes.
    """
    if model.qos is None:
        return model
    qos, lossless = model.qos, {found.name for found in model.qos.lossless()}
    stated = [found for profile in qos.profiles for found in profile.thresholds]
    xon = max((found.xon_offset_bytes for found in stated if found.xon_offset_bytes is not None), default=None)
    headroom = max((found.headroom_bytes for found in stated if found.headroom_bytes is not None), default=None)
    alphas: dict[str, float] = {}
    for found in stated:
        if found.alpha is not None:
            alphas[found.traffic_class] = min(found.alpha, alphas.get(found.traffic_class, found.alpha))

    def changed(profile: PortProfile) -> PortProfile:
        shared = (
            replace(
                profile.of(found.name) or ClassThresholds(traffic_class=found.name),
                alpha=alphas.get(found.name),
                xon_offset_bytes=xon if found.name in lossless else None,
                headroom_bytes=headroom if found.name in lossless else None,
            )
            for found in qos.classes
        )
        return replace(profile, thresholds=tuple(found for found in shared if _states_something(found)))

    return _qos(model, profiles=tuple(map(changed, qos.profiles)))


def _states_something(found: ClassThresholds) -> bool:
    return found != ClassThresholds(traffic_class=found.traffic_class)


def flowlet_gap(model: DeviceModel) -> DeviceModel:
    if model.load_balancing is None:
        return model
    return replace(model, load_balancing=replace(model.load_balancing, flowlet_gap_us=None))


def alpha_beside_limit(model: DeviceModel) -> DeviceModel:
    """Queues with a fixed limit without an alpha."""
    return _each_threshold(model, lambda found: found if found.limit_bytes is None else replace(found, alpha=None))


def threshold(name: str) -> Callable[[DeviceModel], DeviceModel]:
    """A change that removes one field from the thresholds of every class; a class without any other has none."""
    gone: dict[str, Any] = {name: None}
    return lambda model: _each_threshold(model, lambda found: replace(found, **gone))


def _each_threshold(model: DeviceModel, change: Callable[[ClassThresholds], ClassThresholds]) -> DeviceModel:
    """The model with other thresholds of each class; a class that has none left is in no profile."""

    def without(profile: PortProfile) -> PortProfile:
        left = map(change, profile.thresholds)
        stated = tuple(found for found in left if found != ClassThresholds(traffic_class=found.traffic_class))
        return replace(profile, thresholds=stated)

    if model.qos is None:
        return model
    return _qos(model, profiles=tuple(map(without, model.qos.profiles)))


def pool(name: str) -> Callable[[DeviceModel], DeviceModel]:
    """A change that removes one size of the switch's buffer pools."""
    return lambda model: _qos(model, **{name: None})


def _qos(model: DeviceModel, **fields: Any) -> DeviceModel:
    qos: Qos | None = model.qos
    return model if qos is None else replace(model, qos=replace(qos, **fields))


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
