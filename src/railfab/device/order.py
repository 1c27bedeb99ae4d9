"""The order of everything in a device model, so that equal configurations are equal models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from railfab.device.interfaces import DEFAULT_INSTANCE, Interface, IpInterface, IpNetwork, Lag, Loopback, Port, Svi
from railfab.device.model import DeviceModel, interfaces_of_peers
from railfab.device.qos import PortProfile, PortQos, Qos, TrafficClass
from railfab.device.routing import Aggregate, BgpNeighbor, BgpSpeaker, Family, Policy, PolicyRule, PrefixRange
from railfab.device.system import ManagementAccess

KINDS: Mapping[type[Interface], int] = {kind: place for place, kind in enumerate((Port, Loopback, Lag, Svi))}
"""Kinds of interfaces by their place."""
NUMBER = re.compile(r"(\d+)")


@lru_cache(maxsize=65_536)
def natural(name: str) -> tuple[tuple[int, str], ...]:
    """The key by which names sort with their numbers by value: `ethernet-1/2` before `ethernet-1/10`."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in NUMBER.split(name))


def in_order(model: DeviceModel) -> DeviceModel:
    """The model with everything in its order, whatever the order of a configuration.

    Ports by front panel, then loopbacks, LAGs and SVIs by number. Addresses, prefixes and aggregates by family, then
    value. Neighbours by network instance, the default one first: those over an interface in the order of the
    interfaces, then the others by address. Classes by queue. QoS of ports in the order of the interfaces. What has a
    name, by name. Servers of the management by address. The rules of a policy and the policies of a neighbour keep
    their order, because it is their meaning.
    """
    interfaces = tuple(_interface(interface) for interface in sorted(model.interfaces, key=_interface_key))
    ordered = replace(
        model,
        breakouts=tuple(sorted(model.breakouts, key=lambda breakout: natural(breakout.cage))),
        interfaces=interfaces,
        policies=tuple(_policy(policy) for policy in sorted(model.policies, key=lambda policy: policy.name)),
        network_instances=tuple(sorted(model.network_instances, key=lambda instance: instance.name)),
        vlans=tuple(sorted(model.vlans, key=lambda vlan: vlan.vlan_id)),
        qos=_qos(model.qos, interfaces) if model.qos else None,
        management=_management(model.management) if model.management else None,
        lldp=replace(model.lldp, silent=tuple(sorted(model.lldp.silent, key=natural))),
        unmodelled=tuple(sorted(model.unmodelled)),
    )
    return replace(ordered, bgp=_bgp(model.bgp, ordered)) if model.bgp else ordered


def _management(management: ManagementAccess) -> ManagementAccess:
    return replace(
        management,
        ntp=tuple(sorted(management.ntp, key=natural)),
        syslog=tuple(sorted(management.syslog, key=lambda server: natural(server.address))),
        aaa=tuple(sorted(management.aaa, key=lambda server: (server.protocol, natural(server.address)))),
    )


def _interface_key(interface: Interface) -> tuple[int, tuple[tuple[int, str], ...]]:
    return KINDS[type(interface)], natural(interface.name)


def _interface(interface: Interface) -> Interface:
    if len(interface.addresses) > 1:
        interface = replace(interface, addresses=_addresses(interface.addresses))
    if isinstance(interface, Lag):
        return replace(interface, members=tuple(sorted(interface.members, key=natural)))
    return replace(interface, gateways=_addresses(interface.gateways)) if isinstance(interface, Svi) else interface


def _addresses(addresses: Iterable[IpInterface]) -> tuple[IpInterface, ...]:
    return tuple(sorted(addresses, key=lambda address: (address.version, int(address), address.network.prefixlen)))


def _network_key(network: IpNetwork) -> tuple[int, int, int]:
    return network.version, int(network.network_address), network.prefixlen


def _policy(policy: Policy) -> Policy:
    return replace(policy, rules=tuple(map(_rule, policy.rules)))


def _rule(rule: PolicyRule) -> PolicyRule:
    return replace(
        rule,
        prefixes=tuple(sorted(rule.prefixes, key=_range_key)),
        communities=tuple(sorted(rule.communities)),
        set_communities=tuple(sorted(rule.set_communities)),
    )


def _range_key(prefix_range: PrefixRange) -> tuple[tuple[int, int, int], int, int]:
    return _network_key(prefix_range.prefix), prefix_range.ge, prefix_range.le


def _bgp(bgp: BgpSpeaker, model: DeviceModel) -> BgpSpeaker:
    places = {interface.name: place for place, interface in enumerate(model.interfaces)}
    interfaces = interfaces_of_peers(model)
    return replace(
        bgp,
        neighbors=tuple(
            _with_families(neighbor)
            for neighbor in sorted(bgp.neighbors, key=lambda neighbor: _neighbor_key(neighbor, interfaces, places))
        ),
        aggregates=tuple(sorted(bgp.aggregates, key=_aggregate_key)),
    )


def _with_families(neighbor: BgpNeighbor) -> BgpNeighbor:
    if len(neighbor.families) < 2:
        return neighbor
    return replace(neighbor, families=tuple(sorted(neighbor.families, key=list(Family).index)))


def _neighbor_key(
    neighbor: BgpNeighbor, interfaces: Mapping[str, str], places: Mapping[str, int]
) -> tuple[tuple[bool, str], int, tuple[tuple[int, str], ...], int, int]:
    instance = (neighbor.network_instance != DEFAULT_INSTANCE, neighbor.network_instance)
    name, last = interfaces.get(neighbor.key), len(places)
    place = last + 1 if name is None else places.get(name, last)
    if isinstance(neighbor.peer, str):
        return instance, place, natural(neighbor.peer), 0, 0
    return instance, place, (), neighbor.peer.version, int(neighbor.peer)


def _aggregate_key(aggregate: Aggregate) -> tuple[bool, str, tuple[int, int, int]]:
    instance = aggregate.network_instance
    return instance != DEFAULT_INSTANCE, instance, _network_key(aggregate.prefix)


def _qos(qos: Qos, interfaces: Iterable[Interface]) -> Qos:
    order = {interface.name: place for place, interface in enumerate(interfaces)}
    classes = tuple(sorted(qos.classes, key=_class_key))
    places = {traffic_class.name: place for place, traffic_class in enumerate(classes)}
    return replace(
        qos,
        classes=classes,
        classifiers=tuple(
            replace(classifier, dscp=tuple(sorted(classifier.dscp)))
            for classifier in sorted(qos.classifiers, key=lambda classifier: classifier.name)
        ),
        profiles=tuple(_profile(profile, places) for profile in sorted(qos.profiles, key=lambda profile: profile.name)),
        ports=tuple(_port_qos(port, places) for port in sorted(qos.ports, key=lambda port: _port_key(port, order))),
    )


def _port_key(port: PortQos, order: Mapping[str, int]) -> tuple[int, tuple[tuple[int, str], ...]]:
    return order.get(port.interface, len(order)), natural(port.interface)


def _port_qos(port: PortQos, places: Mapping[str, int]) -> PortQos:
    if len(port.pfc) < 2 and len(port.ecn) < 2 and len(port.wred) < 2:
        return port
    marked = sorted(port.ecn, key=lambda name: places.get(name, len(places)))
    dropped = sorted(port.wred, key=lambda name: places.get(name, len(places)))
    return replace(port, pfc=tuple(sorted(port.pfc)), ecn=tuple(marked), wred=tuple(dropped))


def _class_key(traffic_class: TrafficClass) -> tuple[int, str]:
    return traffic_class.queue, traffic_class.name


def _profile(profile: PortProfile, places: Mapping[str, int]) -> PortProfile:
    thresholds = sorted(profile.thresholds, key=lambda entry: places.get(entry.traffic_class, len(places)))
    return replace(profile, thresholds=tuple(thresholds))
