"""The features of a device model that a platform may lack: one line each, used by admission, the laws and the docs.

`capabilities.yml` of a platform names those that it supports; it lacks all others. A feature that a platform calls
`external` is one with `without`, because admission leaves it out of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from railfab.device import (
    DEFAULT_INSTANCE,
    LOOPBACK,
    MANAGEMENT_VRF,
    BalancingMode,
    Bgp,
    BgpNeighbor,
    ClassThresholds,
    DeviceModel,
    Family,
    Fec,
    HashField,
    Interface,
    IpAddress,
    IpInterface,
    IpNetwork,
    Lag,
    Lldp,
    LoadBalancing,
    Loopback,
    Management,
    NextHop,
    PolicyRule,
    Port,
    PortQos,
    Qos,
    Remote,
    Svi,
    interfaces_of_peers,
)
from railfab.platforms import removals

T = TypeVar("T")
Used = Callable[[DeviceModel], bool]


@dataclass(frozen=True, slots=True)
class Feature:
    """used: whether a model has it. without: the model with what the operating system below the platform sets left out;
    None for a feature that cannot be left out. key: of the intent that asks for it; None where no intent does."""

    meaning: str
    used: Used
    without: Callable[[DeviceModel], DeviceModel] | None = None
    key: str | None = None


def _any_of(kind: type[T], has: Callable[[T], bool] = lambda _found: True) -> Used:
    """Whether an interface of this kind has it."""
    return lambda model: any(has(found) for found in model.interfaces if isinstance(found, kind))


def _any_neighbor(has: Callable[[BgpNeighbor], bool]) -> Used:
    return lambda model: any(map(has, model.neighbors))


def _any_rule(has: Callable[[PolicyRule], bool]) -> Used:
    return lambda model: any(has(rule) for policy in model.policies for rule in policy.rules)


def _any_qos_port(has: Callable[[PortQos], bool]) -> Used:
    return lambda model: model.qos is not None and any(map(has, model.qos.ports))


def _any_threshold(has: Callable[[ClassThresholds], bool]) -> Used:
    return _qos(lambda qos: any(map(has, chain.from_iterable(profile.thresholds for profile in qos.profiles))))


def _qos(has: Callable[[Qos], bool]) -> Used:
    return lambda model: model.qos is not None and has(model.qos)


def _bgp(has: Callable[[Bgp], bool]) -> Used:
    return lambda model: model.bgp is not None and has(model.bgp)


def _management(has: Callable[[Management], bool]) -> Used:
    return lambda model: model.management is not None and has(model.management)


def _balancing(has: Callable[[LoadBalancing], bool]) -> Used:
    return lambda model: model.load_balancing is not None and has(model.load_balancing)


def _has_bfd_of_a_session(model: DeviceModel) -> bool:
    """Whether a session has BFD without an interface, or other BFD timers than another session of its interface."""
    connected = interfaces_of_peers(model)
    found = [(connected.get(x.key) or x.update_source, x.bfd) for x in model.neighbors if x.bfd is not None]
    return any(name is None for name, _ in found) or len({*found}) > len({name for name, _ in found})


def _shares_a_priority(qos: Qos) -> bool:
    """Whether several classes send pause frames of one priority, or obey those of one."""
    sent = [found.pfc_priority for found in qos.classes if found.pfc_priority is not None]
    obeyed = [found.obeyed_priority for found in qos.classes if found.obeyed_priority is not None]
    return len({*sent}) < len(sent) or len({*obeyed}) < len(obeyed)


def _has_pfc_without_class(qos: Qos) -> bool:
    """Whether a port has PFC of a priority that no class sends or obeys."""

    def known(port: PortQos) -> set[int | None]:
        return {one for found in qos.classes_on(port) for one in (found.pfc_priority, found.obeyed_priority)}

    return any({*port.pfc} - known(port) for port in qos.ports)


def _has_member_qos(model: DeviceModel) -> bool:
    members = {name for found in model.interfaces if isinstance(found, Lag) for name in found.members}
    return model.qos is not None and any(port.interface in members for port in model.qos.ports)


def _has_other_management_vrf(model: DeviceModel) -> bool:
    """Whether the servers are in a VRF that the model does not have."""
    own = {DEFAULT_INSTANCE, MANAGEMENT_VRF, *(found.name for found in model.network_instances)}
    return model.management is not None and model.management.network_instance not in own


def _addresses(model: DeviceModel) -> Iterator[IpAddress | IpInterface | IpNetwork]:
    """Every address and prefix of interfaces, neighbours, policies and aggregates."""
    for interface in model.interfaces:
        yield from interface.addresses
        yield from interface.gateways if isinstance(interface, Svi) else ()
    for neighbor in model.neighbors:
        if not isinstance(neighbor.peer, str):
            yield neighbor.peer
    for policy in model.policies:
        yield from (found.prefix for rule in policy.rules for found in rule.prefixes)
    for aggregate in model.bgp.aggregates if model.bgp else ():
        yield aggregate.prefix


FEATURES: Mapping[str, Feature] = {
    "bfd": Feature("BFD on BGP sessions", _any_neighbor(lambda found: found.bfd is not None), key="profile.bfd"),
    "bfd_per_session": Feature("BFD timers that the sessions of an interface do not share", _has_bfd_of_a_session),
    "bfd_receive": Feature(
        "BFD with another interval of receiving than of sending",
        _any_neighbor(lambda found: found.bfd is not None and found.bfd.receive_ms is not None),
    ),
    "numbered": Feature(
        "ports with addresses",
        lambda model: any(x.addresses for x in model.interfaces if not isinstance(x, Loopback)),
        key="profile.underlay",
    ),
    "unnumbered": Feature(
        "BGP sessions over link-local addresses", _any_of(Interface, lambda x: x.unnumbered), key="profile.underlay"
    ),
    "mtu": Feature(
        "MTU of an interface",
        _any_of(Interface, lambda found: found.mtu_bytes is not None),
        removals.mtu,
        key="profile.mtu",
    ),
    "received_mtu": Feature(
        "MTU of received packets", _any_of(Port, lambda found: found.received_mtu_bytes is not None)
    ),
    "port_speed": Feature(
        "speed of a port", _any_of(Port, lambda port: port.rate_gbps is not None), removals.port_speed
    ),
    "fec": Feature("forward error correction", _any_of(Port, lambda port: port.fec is not None), removals.fec),
    "fec_rs_544": Feature("RS(544,514) as a setting", _any_of(Port, lambda port: port.fec is Fec.RS_544)),
    "hold_up": Feature(
        "time that a link must stay up before it is used",
        _any_of(Port, lambda port: bool(port.hold_up_ms)),
        key="profile.link_hold_up_ms",
    ),
    "breakout": Feature("cages split into ports", lambda model: bool(model.breakouts)),
    "ipv6": Feature(
        "IPv6 addresses and prefixes",
        lambda model: any(x.version == 6 for x in _addresses(model)),
        key="profile.family",
    ),
    "several_loopbacks": Feature(
        "more than one loopback", lambda model: sum(isinstance(found, Loopback) for found in model.interfaces) > 1
    ),
    "lag": Feature("LAGs", _any_of(Lag), removals.members),
    "vlan": Feature("VLANs", lambda model: bool(model.vlans), removals.vlans),
    "bridged_port": Feature(
        "ports and LAGs in VLANs",
        lambda model: any(x.vlans is not None for x in model.interfaces if isinstance(x, Port | Lag)),
        removals.bridging,
    ),
    "svi": Feature("routed interfaces of VLANs", _any_of(Svi)),
    "anycast_gateway": Feature("gateway that several switches have", _any_of(Svi, lambda svi: bool(svi.gateways))),
    "mlag": Feature(
        "MLAG pairs",
        lambda model: model.mlag is not None or _any_of(Lag, lambda lag: lag.mlag_id is not None)(model),
        key="hosts.attach",
    ),
    "esi": Feature("EVPN multihoming", _any_of(Lag, lambda lag: lag.esi is not None), key="hosts.attach"),
    "vrf": Feature("VRFs", lambda model: bool(model.network_instances)),
    "vxlan": Feature(
        "VXLAN",
        lambda model: model.vtep is not None or any(vlan.vni is not None for vlan in model.vlans),
        key="profile.data_plane",
    ),
    "evpn": Feature(
        "BGP EVPN", _any_neighbor(lambda found: Family.EVPN in found.families), key="profile.control_plane"
    ),
    "vtep_loopback": Feature(
        "a loopback of its own for VXLAN", lambda model: model.vtep is not None and model.vtep.source != LOOPBACK
    ),
    "several_route_targets": Feature(
        "several route targets for one direction",
        lambda model: any(
            max(len(found.import_targets), len(found.export_targets)) > 1 for found in model.network_instances
        ),
    ),
    "ibgp": Feature(
        "internal BGP sessions",
        _bgp(lambda bgp: any(found.is_internal(bgp.asn) for found in bgp.neighbors)),
        key="profile.control_plane",
    ),
    "remote_as_external": Feature("any external AS", _any_neighbor(lambda found: found.remote_as is Remote.EXTERNAL)),
    "route_reflector": Feature(
        "route reflection", _any_neighbor(lambda found: found.reflector_client), key="profile.control_plane"
    ),
    "update_source": Feature(
        "source interface of a BGP session",
        _any_neighbor(lambda found: found.update_source is not None),
        key="profile.control_plane",
    ),
    "multihop": Feature(
        "external BGP over several hops",
        _any_neighbor(lambda found: found.multihop_ttl is not None),
        key="profile.control_plane",
    ),
    "next_hop": Feature(
        "next hop other than the default",
        _any_neighbor(lambda found: found.next_hop is not NextHop.DEFAULT),
        key="profile.control_plane",
    ),
    "next_hop_unchanged": Feature(
        "next hop unchanged",
        _any_neighbor(lambda found: found.next_hop is NextHop.UNCHANGED),
        key="profile.control_plane",
    ),
    "unnumbered_description": Feature(
        "description of an unnumbered session",
        _any_neighbor(lambda found: found.unnumbered and bool(found.description)),
    ),
    "bgp_password": Feature("password of a BGP session", _any_neighbor(lambda found: found.password is not None)),
    "no_ipv6_next_hops": Feature(
        "IPv4 routes that do not take IPv6 next hops, in one direction or both",
        _bgp(lambda bgp: not (bgp.advertise_ipv6_next_hops and bgp.receive_ipv6_next_hops)),
    ),
    "rapid_withdrawal": Feature(
        "withdrawals that do not wait for the advertisement interval",
        _bgp(lambda bgp: bgp.rapid_withdrawal is not None),
    ),
    "prefix_limit": Feature(
        "limit of the prefixes of a neighbour",
        _any_neighbor(lambda found: found.prefix_limit is not None),
        key="profile.bgp.prefix_limit",
    ),
    "evpn_prefix_limit": Feature(
        "limit of the EVPN routes of a neighbour",
        _any_neighbor(lambda found: found.prefix_limit is not None and Family.EVPN in found.families),
    ),
    "several_policies": Feature(
        "several policies for one direction",
        _any_neighbor(lambda found: max(len(found.import_policies), len(found.export_policies)) > 1),
    ),
    "policy_without_default": Feature(
        "policies that leave routes to the next one", lambda model: any(x.default is None for x in model.policies)
    ),
    "aggregate": Feature("aggregates", _bgp(lambda bgp: bool(bgp.aggregates))),
    "aggregate_contributors": Feature(
        "stated contributors of an aggregate", _bgp(lambda bgp: any(found.contributors for found in bgp.aggregates))
    ),
    "policy_communities": Feature("match of communities", _any_rule(lambda rule: bool(rule.communities))),
    "policy_as_path": Feature("match of the AS path", _any_rule(lambda rule: rule.as_path is not None)),
    "policy_set_communities": Feature("setting of communities", _any_rule(lambda rule: bool(rule.set_communities))),
    "policy_set_local_preference": Feature(
        "setting of the local preference", _any_rule(lambda rule: rule.set_local_preference is not None)
    ),
    "policy_set_med": Feature("setting of the MED", _any_rule(lambda rule: rule.set_med is not None)),
    "policy_set_link_bandwidth": Feature(
        "link bandwidth of announced routes, for weighted ECMP",
        _any_rule(lambda rule: rule.set_link_bandwidth is not None),
        key="profile.bgp.weighted_ecmp",
    ),
    "policy_prepend": Feature("AS path prepending", _any_rule(lambda rule: bool(rule.prepend))),
    "drain": Feature("maintenance drain", lambda model: model.drain),
    "pfc": Feature("priority flow control", _any_qos_port(lambda port: bool(port.pfc)), key="profile.lossless.pfc"),
    "ecn": Feature("ECN marking", _any_qos_port(lambda port: bool(port.ecn)), key="profile.lossless.ecn"),
    "pfc_watchdog": Feature(
        "PFC watchdog", _qos(lambda qos: qos.watchdog is not None), key="profile.lossless.watchdog"
    ),
    "several_lossless_classes": Feature("several lossless classes", _qos(lambda qos: len(qos.lossless()) > 1)),
    "shared_priority": Feature("several classes with one PFC priority", _qos(_shares_a_priority)),
    "pfc_without_class": Feature("PFC of a priority that no class has", _qos(_has_pfc_without_class)),
    "pfc_per_port": Feature(
        "pause frames of a class with another priority on one port", _any_qos_port(lambda port: bool(port.priorities))
    ),
    "several_classifiers": Feature("several DSCP maps", _qos(lambda qos: len(qos.classifiers) > 1)),
    "lag_member_qos": Feature("QoS of a member of a LAG", _has_member_qos),
    "queue_rate": Feature(
        "largest rate of a queue",
        _qos(lambda qos: any(found.rate_percent is not None for found in qos.classes)),
        key="profile.lossless.cnp_rate_percent",
    ),
    "dynamic_threshold": Feature("alpha of a queue", _any_threshold(lambda found: found.alpha is not None)),
    "queue_limit": Feature("fixed limit of a queue", _any_threshold(lambda found: found.limit_bytes is not None)),
    "load_balancing_flowlet": Feature(
        "flowlets", _balancing(lambda found: found.mode is BalancingMode.FLOWLET), key="profile.ecmp"
    ),
    "load_balancing_packet": Feature(
        "packet spraying", _balancing(lambda found: found.mode is BalancingMode.PACKET), key="profile.ecmp"
    ),
    "load_balancing_adaptive": Feature(
        "adaptive routing", _balancing(lambda found: found.mode is BalancingMode.ADAPTIVE)
    ),
    "hash_fields": Feature(
        "fields of the ECMP hash",
        _balancing(lambda found: bool(found.fields)),
        removals.hash_fields,
        key="profile.hash.fields",
    ),
    "hash_queue_pair": Feature(
        "queue pair in the ECMP hash",
        _balancing(lambda found: HashField.QUEUE_PAIR in found.fields),
        key="profile.hash.fields",
    ),
    "hash_ingress_port": Feature(
        "ingress port in the ECMP hash",
        _balancing(lambda found: HashField.INGRESS_PORT in found.fields),
        key="profile.hash.fields",
    ),
    "hash_seed": Feature(
        "seed of the ECMP hash",
        _balancing(lambda found: found.seed is not None),
        removals.hash_seed,
        key="profile.hash.seed",
    ),
    "management_vrf": Feature(
        "VRF of the management port with another name than mgmt",
        _has_other_management_vrf,
        removals.management_vrf,
        key="management.vrf",
    ),
    "lldp_settings": Feature(
        "LLDP disabled, or with other intervals",
        lambda model: model.lldp != Lldp(system_name=model.lldp.system_name),
    ),
    "ntp": Feature(
        "NTP servers", _management(lambda found: bool(found.ntp)), removals.ntp, key="management.services.ntp"
    ),
    "syslog": Feature(
        "syslog servers",
        _management(lambda found: bool(found.syslog)),
        removals.syslog,
        key="management.services.syslog",
    ),
    "aaa": Feature(
        "TACACS+ and RADIUS servers",
        _management(lambda found: bool(found.aaa)),
        removals.aaa,
        key="management.services.aaa",
    ),
    "gnmi_server": Feature(
        "gNMI server with a TLS profile",
        _management(lambda found: found.gnmi is not None),
        removals.gnmi_server,
        key="management.gnmi",
    ),
    "banner": Feature(
        "banner before a login",
        _management(lambda found: found.banner is not None),
        removals.banner,
        key="management.banner",
    ),
}
"""By name, in the order of the docs."""
