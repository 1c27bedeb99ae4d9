"""The features of a device model that a platform may lack: one line each, used by admission, the laws and the docs.

`capabilities.yml` of a platform names those that it supports; it omits the other optional ones and lacks the rest. A
feature that a platform calls `external` or `omitted` is one with `without`: admission leaves it out of the model.
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
    SEVERITIES,
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
    MlagKeepalive,
    NextHop,
    PolicyRule,
    Port,
    PortQos,
    Qos,
    Remote,
    Scheduling,
    Svi,
    interfaces_of_peers,
    lag_name,
    svi_name,
)
from railfab.platforms import removals
from railfab.platforms.hazard_facts import FACTS

T = TypeVar("T")
Used = Callable[[DeviceModel], bool]


@dataclass(frozen=True, slots=True)
class Feature:
    """used: whether a model has it. without: the model with it left out, where the platform omits it or the operating
    system below sets it; None for a feature that cannot be left out. key: of the intent that asks for it; None where
    no intent does. optional: a platform that does not name it omits it."""

    meaning: str
    used: Used
    without: Callable[[DeviceModel], DeviceModel] | None = None
    key: str | None = None
    optional: bool = False


def _any_of(kind: type[T], has: Callable[[T], bool] = lambda _found: True) -> Used:
    """Whether an interface of this kind has it."""
    return lambda model: any(has(found) for found in model.interfaces if isinstance(found, kind))


def _any_neighbor(has: Callable[[BgpNeighbor], bool]) -> Used:
    return lambda model: any(map(has, model.neighbors))


def _any_rule(has: Callable[[PolicyRule], bool]) -> Used:
    return lambda model: any(has(rule) for policy in model.policies for rule in policy.rules)


def _any_qos_port(has: Callable[[PortQos], bool]) -> Used:
    return lambda model: model.qos is not None and any(map(has, model.qos.ports))


def _stated(name: str) -> Used:
    """Whether a class has a threshold of this name."""
    return _any_threshold(lambda found: getattr(found, name) is not None)


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


ADAPTIVE_GBPS = 200, 400
"""Speeds of the ports over which every chip with adaptive routing has it."""


def _adaptive_interfaces(model: DeviceModel) -> tuple[Interface, ...]:
    """The interfaces with a session of a switch with adaptive routing."""
    if model.load_balancing is None or model.load_balancing.mode is not BalancingMode.ADAPTIVE:
        return ()
    used = set(interfaces_of_peers(model).values())
    return tuple(found for found in model.interfaces if found.name in used)


def _routes_adaptively_over_lags(model: DeviceModel) -> bool:
    return any(isinstance(found, Lag) for found in _adaptive_interfaces(model))


def _routes_adaptively_at_other_speeds(model: DeviceModel) -> bool:
    rates = {FACTS["rate_gbps"](model, found.name) for found in _adaptive_interfaces(model)}
    return bool(rates - {None, *ADAPTIVE_GBPS})


def _keepalive(has: Callable[[MlagKeepalive], bool]) -> Used:
    return lambda model: model.mlag is not None and model.mlag.keepalive is not None and has(model.mlag.keepalive)


def _has_bfd_of_a_session(model: DeviceModel) -> bool:
    """Whether a session has BFD without an interface, or other BFD timers than another session of its interface."""
    sessions = [found for found in model.neighbors if found.bfd is not None]
    connected = interfaces_of_peers(model) if sessions else {}
    found = [(connected.get(x.key) or x.update_source, x.bfd) for x in sessions]
    return any(name is None for name, _ in found) or len({*found}) > len({name for name, _ in found})


def _keeps_next_hops_of_some(bgp: Bgp) -> bool:
    """Whether a session keeps next hops that is not an EVPN session, or some EVPN sessions do and others do not."""
    overlay = {found.next_hop is NextHop.UNCHANGED for found in bgp.neighbors if found.families == (Family.EVPN,)}
    others = (found for found in bgp.neighbors if found.families != (Family.EVPN,))
    return len(overlay) > 1 or any(found.next_hop is NextHop.UNCHANGED for found in others)


def _has_source_without_address(model: DeviceModel) -> bool:
    """Whether the source interface of a session has no address of the version of the peer's."""
    versions = {found.name: {address.version for address in found.addresses} for found in model.interfaces}
    return any(
        x.update_source is not None
        and not isinstance(x.peer, str)
        and x.peer.version not in versions.get(x.update_source, ())
        for x in model.neighbors
    )


def _shares_a_priority(qos: Qos) -> bool:
    """Whether several classes send pause frames of one priority, or obey those of one."""
    sent = [found.pfc_priority for found in qos.classes if found.pfc_priority is not None]
    obeyed = [found.obeyed_priority for found in qos.classes if found.obeyed_priority is not None]
    return len({*sent}) < len(sent) or len({*obeyed}) < len(obeyed)


def _has_strict_below_weighted(qos: Qos) -> bool:
    strict = [found.queue for found in qos.classes if found.scheduling is Scheduling.STRICT]
    weighted = [found.queue for found in qos.classes if found.scheduling is Scheduling.WEIGHTED]
    return bool(strict and weighted) and min(strict) < max(weighted)


def _has_pfc_without_class(qos: Qos) -> bool:
    """Whether a port has PFC of a priority that no class sends or obeys."""

    def known(port: PortQos) -> set[int | None]:
        return {one for found in qos.classes_on(port) for one in (found.pfc_priority, found.obeyed_priority)}

    return any({*port.pfc} - known(port) for port in qos.ports)


def _has_pfc_of_some_priorities(qos: Qos) -> bool:
    """Whether a port has PFC, but not of every lossless class."""
    lossless = {found.pfc_priority for found in qos.lossless()}
    return any(port.pfc and lossless - {*port.pfc} for port in qos.ports)


def _has_other_obeyed_priority(qos: Qos) -> bool:
    return any(found.obeyed_priority != found.pfc_priority for found in qos.classes)


def _has_other_connect_retry(model: DeviceModel) -> bool:
    """Whether two sessions of a network instance have different times."""
    found = {(one.network_instance, one.timers.connect_retry_s) for one in model.neighbors}
    return len(found) > len({instance for instance, _ in found})


HASH_FIELD_SETS = (
    frozenset({HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS}),
    frozenset(HashField) - {HashField.QUEUE_PAIR, HashField.FLOW_LABEL, HashField.INGRESS_PORT, HashField.VLAN},
)
"""Fields that every switch hashes: both addresses, and these with the protocol and both ports."""

QUEUE_PAIR_FIELDS = HASH_FIELD_SETS[1] | {HashField.QUEUE_PAIR}
"""Fields of a hash by flows of RDMA: those of a flow of UDP, and the destination queue pair (InfiniBand, BTH)."""


def _has_hash_fields(found: LoadBalancing) -> bool:
    """Fields without the queue pair; with it they are what `hash_queue_pair` asks for."""
    return bool(found.fields) and {*found.fields} != QUEUE_PAIR_FIELDS


def _has_other_hash_fields(found: LoadBalancing) -> bool:
    return _has_hash_fields(found) and {*found.fields} not in HASH_FIELD_SETS


def _has_member_qos(model: DeviceModel) -> bool:
    members = {name for found in model.interfaces if isinstance(found, Lag) for name in found.members}
    return model.qos is not None and any(port.interface in members for port in model.qos.ports)


def _has_other_management_vrf(model: DeviceModel) -> bool:
    """Whether the servers are in a VRF that the model does not have."""
    own = {DEFAULT_INSTANCE, MANAGEMENT_VRF, *(found.name for found in model.network_instances)}
    return model.management is not None and model.management.network_instance not in own


def _has_servers_in_vrf_of_links(model: DeviceModel) -> bool:
    """Whether the servers are in a VRF of the model that is not that of the management port."""
    own = {found.name for found in model.network_instances} - {DEFAULT_INSTANCE, MANAGEMENT_VRF}
    return model.management is not None and model.management.network_instance in own


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
    "static_lag": Feature("LAGs without LACP", _any_of(Lag, lambda lag: not lag.lacp), removals.members),
    "vlan": Feature("VLANs", lambda model: bool(model.vlans), removals.vlans),
    "vlan_names": Feature(
        "names of VLANs",
        lambda model: any(vlan.name != svi_name(vlan.vlan_id) for vlan in model.vlans),
        removals.vlan_names,
        optional=True,
    ),
    "bridged_port": Feature(
        "ports and LAGs in VLANs",
        lambda model: any(x.vlans is not None for x in model.interfaces if isinstance(x, Port | Lag)),
        removals.bridging,
    ),
    "svi": Feature("routed interfaces of VLANs", _any_of(Svi)),
    "anycast_gateway": Feature(
        "gateway that several switches have", _any_of(Svi, lambda svi: bool(svi.gateways)), removals.gateways
    ),
    "mlag": Feature(
        "MLAG pairs",
        lambda model: model.mlag is not None or _any_of(Lag, lambda lag: lag.mlag_id is not None)(model),
        key="hosts.attach",
    ),
    "peer_link_number": Feature(
        f"a LAG of the peer link with another number than {removals.PEER_LINK_NUMBER}",
        lambda model: model.mlag is not None and model.mlag.peer_link != lag_name(removals.PEER_LINK_NUMBER),
        removals.peer_link_number,
        optional=True,
    ),
    "mlag_without_keepalive": Feature(
        "MLAG pairs without a path beside the peer link, as without spines",
        lambda model: model.mlag is not None and model.mlag.keepalive is None,
        key="hosts.attach",
    ),
    "mlag_peer_addresses": Feature(
        "stated addresses of the switches of an MLAG pair on their peer link",
        lambda model: model.mlag is not None and (model.mlag.address, model.mlag.peer) != (None, None),
        removals.mlag_peer_addresses,
        optional=True,
    ),
    "mlag_keepalive_source": Feature(
        "own address of the keepalive of an MLAG pair",
        _keepalive(lambda found: found.source is not None),
        removals.mlag_keepalive_source,
        optional=True,
    ),
    "mlag_system_mac": Feature(
        "MAC address of an MLAG pair",
        lambda model: model.mlag is not None and model.mlag.system_mac is not None,
        removals.mlag_system_mac,
        optional=True,
    ),
    "mlag_vtep": Feature(
        "a VTEP on each switch of an MLAG pair, without an address that both share",
        lambda model: model.mlag is not None and model.vtep is not None,
        key="hosts.attach",
    ),
    "mlag_domain_name": Feature(
        "name of an MLAG pair that is no number",
        lambda model: model.mlag is not None and not model.mlag.domain.isdecimal(),
        removals.mlag_domain_name,
        optional=True,
    ),
    "esi": Feature("EVPN multihoming", _any_of(Lag, lambda lag: lag.esi is not None), key="hosts.attach"),
    "vrf": Feature("VRFs", lambda model: bool(model.network_instances), removals.vrf_members),
    "vrf_without_bgp": Feature(
        "RD, targets and router ID of a VRF on a switch without BGP",
        lambda model: model.bgp is None and any(map(removals.belongs_to_bgp, model.network_instances)),
        removals.vrf_without_bgp,
        optional=True,
    ),
    "vxlan": Feature(
        "VXLAN",
        lambda model: model.vtep is not None or any(vlan.vni is not None for vlan in model.vlans),
        removals.vxlan,
        key="profile.data_plane",
    ),
    "evpn": Feature(
        "BGP EVPN", _any_neighbor(lambda found: Family.EVPN in found.families), key="profile.control_plane"
    ),
    "vtep_loopback": Feature(
        "a loopback of its own for VXLAN",
        lambda model: model.vtep is not None and model.vtep.source != LOOPBACK,
        removals.vxlan,
    ),
    "several_route_targets": Feature(
        "several route targets for one direction",
        lambda model: any(
            max(len(found.import_targets), len(found.export_targets)) > 1 for found in model.network_instances
        ),
    ),
    "connect_retry_per_session": Feature(
        "connect retry times that the sessions of a network instance do not share", _has_other_connect_retry
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
    "update_source_without_address": Feature(
        "source interface of a BGP session without an address of its family", _has_source_without_address
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
        "next hop unchanged of EVPN sessions",
        _any_neighbor(lambda found: found.next_hop is NextHop.UNCHANGED and found.families == (Family.EVPN,)),
        removals.evpn_next_hops,
        key="profile.control_plane",
    ),
    "next_hop_unchanged_per_session": Feature(
        "next hop unchanged of unicast routes, or of some EVPN sessions only",
        _bgp(_keeps_next_hops_of_some),
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
    "keepalive": Feature(
        "keepalive that is not a third of the hold time",
        _any_neighbor(lambda found: found.timers.keepalive_s != found.timers.hold_s // 3),
        key="profile.bgp.keepalive_s",
    ),
    "connect_retry": Feature(
        "time between attempts to connect a session",
        _any_neighbor(lambda found: found.timers.connect_retry_s is not None),
        removals.timer("connect_retry_s"),
        optional=True,
    ),
    "advertisement_interval": Feature(
        "time between updates to a neighbour",
        _any_neighbor(lambda found: found.timers.advertisement_interval_s is not None),
        removals.timer("advertisement_interval_s"),
        optional=True,
    ),
    "max_paths_internal": Feature(
        "another number of paths of internal than of external routes",
        _bgp(lambda bgp: bgp != bgp.with_one_number_of_paths()),
        removals.max_paths_internal,
        optional=True,
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
    "watchdog_recovery": Feature(
        "another time after which the PFC watchdog honours pause frames again than that after which it ignores them",
        _qos(lambda qos: qos.watchdog is not None and qos.watchdog.recover_ms != qos.watchdog.detect_ms),
        removals.watchdog_recovery,
        optional=True,
    ),
    "several_lossless_classes": Feature(
        "several lossless classes", _qos(lambda qos: len(qos.lossless()) > 1), key="profile.storage_class.protocol"
    ),
    "strict_below_weighted": Feature(
        "a queue of strict priority with a lower number than a weighted one",
        _qos(_has_strict_below_weighted),
        key="profile.lossless.cnp_queue",
    ),
    "shared_priority": Feature("several classes with one PFC priority", _qos(_shares_a_priority)),
    "priority_beside_queue": Feature(
        "PFC priority of a class that is not the number of its queue",
        _qos(lambda qos: any(found.pfc_priority not in (None, found.queue) for found in qos.classes)),
    ),
    "pfc_without_class": Feature("PFC of a priority that no class has", _qos(_has_pfc_without_class)),
    "pfc_of_some_priorities": Feature(
        "PFC of some of the lossless classes on a port", _qos(_has_pfc_of_some_priorities)
    ),
    "obeyed_priority": Feature(
        "pause frames obeyed of another priority than sent",
        _qos(_has_other_obeyed_priority),
        removals.obeyed_priority,
        optional=True,
    ),
    "pfc_per_port": Feature(
        "pause frames of a class with another priority on one port", _any_qos_port(lambda port: bool(port.priorities))
    ),
    "several_classifiers": Feature("several DSCP maps", _qos(lambda qos: len(qos.classifiers) > 1)),
    "lag_member_qos": Feature("QoS of a member of a LAG", _has_member_qos),
    "class_names": Feature(
        "names of traffic classes other than those of their queues",
        _qos(lambda qos: any(found.name != removals.queue_class(found.queue) for found in qos.classes)),
        removals.class_names,
        optional=True,
    ),
    "classifier_names": Feature(
        "a name of the only DSCP map",
        _qos(lambda qos: len(qos.classifiers) == 1 and qos.classifiers[0].name != removals.CLASSIFIER),
        removals.classifier_names,
        optional=True,
    ),
    "xoff": Feature("pause threshold in bytes", _stated("xoff_bytes"), removals.threshold("xoff_bytes"), optional=True),
    "xon_offset": Feature(
        "distance of the resume threshold from the pause threshold",
        _stated("xon_offset_bytes"),
        removals.threshold("xon_offset_bytes"),
        optional=True,
    ),
    "separate_pause_thresholds": Feature(
        "some of pause threshold, resume threshold and headroom without the others",
        _any_threshold(removals.has_separate_pause_thresholds),
        removals.separate_pause_thresholds,
        optional=True,
    ),
    "thresholds_per_profile": Feature(
        "alpha, headroom and resume threshold of a class that port profiles do not share",
        lambda model: removals.thresholds_per_profile(model) != model,
        removals.thresholds_per_profile,
        optional=True,
    ),
    "alpha_beside_limit": Feature(
        "alpha of a queue that has a fixed limit",
        _any_threshold(lambda found: found.alpha is not None and found.limit_bytes is not None),
        removals.alpha_beside_limit,
        optional=True,
    ),
    "cable_length": Feature(
        "length of the cables of a port",
        _qos(lambda qos: any(found.cable_m is not None for found in qos.profiles)),
        removals.cable_length,
        optional=True,
    ),
    "headroom_bytes": Feature(
        "headroom of a port in bytes", _stated("headroom_bytes"), removals.threshold("headroom_bytes"), optional=True
    ),
    "headroom_percent": Feature(
        "headroom of a queue as a share of the pool",
        _stated("headroom_percent"),
        removals.threshold("headroom_percent"),
        optional=True,
    ),
    "headroom_pool_bytes": Feature(
        "headroom pool in bytes",
        _qos(lambda qos: qos.headroom_pool_bytes is not None),
        removals.pool("headroom_pool_bytes"),
        optional=True,
    ),
    "headroom_pool_percent": Feature(
        "headroom pool as a share of the buffer",
        _qos(lambda qos: qos.headroom_pool_percent is not None),
        removals.pool("headroom_pool_percent"),
        optional=True,
    ),
    "shared_pool_bytes": Feature(
        "shared buffer of the lossless queues in bytes",
        _qos(lambda qos: qos.shared_pool_bytes is not None),
        removals.pool("shared_pool_bytes"),
        optional=True,
    ),
    "packet_trimming": Feature(
        "packet trimming",
        _qos(lambda qos: qos.trimming is not None),
        key="profile.ultra_ethernet.packet_trimming",
    ),
    "link_level_retry": Feature(
        "link level retry",
        _any_of(Port, lambda port: port.link_level_retry),
        key="profile.ultra_ethernet.link_level_retry",
    ),
    "queue_rate": Feature(
        "largest rate of a queue",
        _qos(lambda qos: any(found.rate_percent is not None for found in qos.classes)),
        key="profile.lossless.cnp_rate_percent",
    ),
    "dynamic_threshold": Feature("alpha of a queue", _stated("alpha"), removals.threshold("alpha"), optional=True),
    "queue_limit": Feature("fixed limit of a queue", _any_threshold(lambda found: found.limit_bytes is not None)),
    "load_balancing_flowlet": Feature(
        "flowlets", _balancing(lambda found: found.mode is BalancingMode.FLOWLET), key="profile.ecmp"
    ),
    "flowlet_gap": Feature(
        "idle time after which a flow may take another path",
        _balancing(lambda found: found.flowlet_gap_us is not None),
        removals.flowlet_gap,
        key="profile.hash.flowlet_gap_us",
        optional=True,
    ),
    "load_balancing_packet": Feature(
        "packet spraying, whatever the load of the paths",
        _balancing(lambda found: found.mode is BalancingMode.PACKET),
        removals.packet_spraying,
        key="profile.ecmp",
    ),
    "load_balancing_adaptive": Feature(
        "adaptive routing",
        _balancing(lambda found: found.mode is BalancingMode.ADAPTIVE),
        key="profile.ecmp",
    ),
    "adaptive_over_lags": Feature("adaptive routing over LAGs", _routes_adaptively_over_lags, key="profile.ecmp"),
    "adaptive_at_other_speeds": Feature(
        "adaptive routing over ports of other speeds than 200 and 400 Gb/s",
        _routes_adaptively_at_other_speeds,
        key="profile.ecmp",
    ),
    "load_balancing_collective": Feature(
        "load balancing by collectives",
        _balancing(lambda found: found.mode is BalancingMode.COLLECTIVE),
        key="profile.ecmp",
    ),
    "hash_fields": Feature(
        "fields of the ECMP hash",
        _balancing(_has_hash_fields),
        removals.hash_fields,
        key="profile.hash.fields",
    ),
    "hash_any_fields": Feature(
        "other fields of the ECMP hash than the addresses, or these with the protocol and the ports",
        _balancing(_has_other_hash_fields),
        key="profile.hash.fields",
    ),
    "hash_queue_pair": Feature(
        "queue pair in the ECMP hash, beside the addresses, the protocol and the ports",
        _balancing(lambda found: HashField.QUEUE_PAIR in found.fields),
        removals.hash_queue_pair,
        key="profile.hash.fields",
    ),
    "hash_ingress_port": Feature(
        "ingress port in the ECMP hash",
        _balancing(lambda found: HashField.INGRESS_PORT in found.fields),
        key="profile.hash.fields",
    ),
    "hash_vlan": Feature(
        "VLAN in the ECMP hash",
        _balancing(lambda found: HashField.VLAN in found.fields),
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
    "servers_in_vrf_of_links": Feature(
        "NTP, syslog and AAA servers in a VRF that is not that of the management port",
        _has_servers_in_vrf_of_links,
        removals.management_vrf,
        key="management.isolation",
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
    "syslog_alerts": Feature(
        "syslog levels above critical",
        _management(lambda found: any(server.level in SEVERITIES[:2] for server in found.syslog)),
        removals.syslog_alerts,
        optional=True,
    ),
    "syslog_levels": Feature(
        "syslog servers with different levels",
        _management(lambda found: len({server.level for server in found.syslog}) > 1),
        removals.syslog_levels,
        optional=True,
    ),
    "syslog_tcp": Feature(
        "syslog over TCP",
        _management(lambda found: any(server.protocol == "tcp" for server in found.syslog)),
        removals.syslog,
        key="management.syslog.protocol",
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
