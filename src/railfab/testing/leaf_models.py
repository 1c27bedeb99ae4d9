"""A small rail switch that every platform supports, and the same switch with one feature more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Interface
from typing import Any

from railfab.device import (
    LOOPBACK,
    VTEP_LOOPBACK,
    AaaServer,
    Action,
    Aggregate,
    BalancingMode,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    BreakoutPort,
    Classifier,
    ClassPriority,
    ClassThresholds,
    DeviceModel,
    EcnRamp,
    Family,
    Fec,
    GnmiService,
    HashField,
    Interface,
    Lag,
    LinkBandwidth,
    Lldp,
    LoadBalancing,
    Loopback,
    ManagementAccess,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    NextHop,
    PacketTrimming,
    PfcWatchdog,
    Policy,
    PolicyRule,
    Port,
    PortProfile,
    PortQos,
    PrefixRange,
    Qos,
    Remote,
    Scheduling,
    SecretReference,
    Svi,
    SyslogServer,
    TrafficClass,
    Vlan,
    VlanMembership,
    Vtep,
    lag_name,
    svi_name,
)
from railfab.platforms.balancing_features import QUEUE_PAIR_FIELDS
from railfab.platforms.removals import PEER_LINK_NUMBER
from railfab.testing.interface_models import port_of

SPINE = IPv4Address("10.32.0.0")
HOSTS = PrefixRange(prefix=IPv4Network("10.16.0.0/12"), ge=31, le=31)
FABRIC = Policy(name="fabric", rules=(PolicyRule(action=Action.PERMIT, prefixes=(HOSTS,)),))


def leaf(name: str, *, feature: str | None = None) -> DeviceModel:
    """A small rail switch with features that every platform has, and one more.

    name: of the platform. feature: by its name in the capabilities; None for no other.
    """
    neighbor = BgpNeighbor(
        peer=SPINE,
        remote_as=65001,
        timers=BgpTimers(keepalive_s=3, hold_s=9),
        import_policies=("fabric",),
        export_policies=("fabric",),
    )
    model = DeviceModel(
        name="pod1-seg1-leaf1",
        platform=name,
        breakouts=(),
        interfaces=(
            Port(name=port_of(name, 1), description="host", addresses=(IPv4Interface("10.16.0.0/31"),)),
            Port(name=port_of(name, 2), description="spine", addresses=(IPv4Interface("10.32.0.1/31"),)),
            Loopback(name=LOOPBACK, addresses=(IPv4Interface("10.255.1.1/32"),)),
        ),
        bgp=BgpSpeaker(asn=4200001001, router_id=IPv4Address("10.255.1.1"), max_paths=64, neighbors=(neighbor,)),
        qos=None,
        policies=(FABRIC,),
    )
    return model if feature is None else ADDED[feature](model)


Change = Callable[[DeviceModel], DeviceModel]


def _port(**fields: Any) -> Change:
    """With another first port."""
    return lambda model: replace(model, interfaces=(replace(model.interfaces[0], **fields), *model.interfaces[1:]))


def _uplink(**fields: Any) -> Change:
    """With another second port."""

    def changed(model: DeviceModel) -> DeviceModel:
        host, spine, loopback = model.interfaces
        return replace(model, interfaces=(host, replace(spine, **fields), loopback))

    return changed


def _interface(*more: Interface) -> Change:
    return lambda model: replace(model, interfaces=(*model.interfaces, *more))


def _bgp(**fields: Any) -> Change:
    def changed(model: DeviceModel) -> DeviceModel:
        assert model.bgp is not None
        return replace(model, bgp=replace(model.bgp, **fields))

    return changed


def _neighbor(**fields: Any) -> Change:
    return lambda model: _bgp(neighbors=(replace(model.neighbors[0], **fields),))(model)


def _rule(**fields: Any) -> Change:
    rule = replace(FABRIC.rules[0], **fields)
    return lambda model: replace(model, policies=(replace(FABRIC, rules=(rule,)),))


def _model(**fields: Any) -> Change:
    return lambda model: replace(model, **fields)


DEFAULT = TrafficClass(name="default", queue=0, scheduling=Scheduling.WEIGHTED, weight=10)
ROCE = TrafficClass(name="roce", queue=3, scheduling=Scheduling.WEIGHTED, weight=50, pfc_priority=3, obeyed_priority=3)
RAMP = EcnRamp(kmin_bytes=150_000, kmax_bytes=450_000, pmax_percent=10)
THRESHOLDS = ClassThresholds(traffic_class="roce", ecn=RAMP, xoff_bytes=600_000, headroom_percent=5)
TRUST = Classifier(name="fabric", dscp=((26, "roce"),))


def _qos(thresholds: ClassThresholds = THRESHOLDS, port: Mapping[str, Any] | None = None, **fields: Any) -> Change:
    """With one lossless class. port, fields: other values of the first port and of the whole."""
    qos = Qos(
        classes=(DEFAULT, ROCE),
        default_class="default",
        classifiers=(TRUST,),
        profiles=(PortProfile(name="fast", thresholds=(thresholds,)),),
        ports=(),
        watchdog=None,
        headroom_pool_percent=5,
    )

    def changed(model: DeviceModel) -> DeviceModel:
        first = PortQos(interface=model.interfaces[0].name, profile="fast", classifier="fabric")
        return replace(model, qos=replace(qos, ports=(replace(first, **(port or {})),), **fields))

    return changed


def _balancing(**fields: Any) -> Change:
    return _model(load_balancing=LoadBalancing(**fields))


def _breakout(model: DeviceModel) -> DeviceModel:
    return replace(model, breakouts=(BreakoutPort(cage=port_of(model.platform, 9), lanes=4, rate_gbps=100),))


def _lag(**fields: Any) -> Change:
    """With the first port as the only member of a LAG."""

    def changed(model: DeviceModel) -> DeviceModel:
        host, *others = model.interfaces
        lag = Lag(name=lag_name(1), members=(host.name,), addresses=host.addresses, **fields)
        return replace(model, interfaces=(replace(host, addresses=(), network_instance=None), *others, lag))

    return changed


def _with_another_connect_retry(model: DeviceModel) -> DeviceModel:
    first = model.neighbors[0]
    other = replace(first, peer=first.peer + 2, timers=replace(first.timers, connect_retry_s=7))  # type: ignore[operator]
    return _bgp(neighbors=(first, other))(model)


def _with_another_session_of_the_loopback(model: DeviceModel) -> DeviceModel:
    """With BFD on two sessions from the loopback, and other timers on each."""
    far = replace(model.neighbors[0], peer=IPv4Address("10.255.9.1"), update_source=LOOPBACK)
    fast, slow = BfdTimers(interval_ms=300, multiplier=3), BfdTimers(interval_ms=900, multiplier=3)
    other = replace(far, peer=IPv4Address("10.255.9.2"), bfd=slow)
    return _bgp(neighbors=(*model.neighbors, replace(far, bfd=fast), other))(model)


def _with_source_without_address(model: DeviceModel) -> DeviceModel:
    host, spine, loopback = model.interfaces
    bare = replace(model, interfaces=(host, spine, replace(loopback, addresses=())))
    return _neighbor(update_source=LOOPBACK)(bare)


def _unnumbered_with_description(model: DeviceModel) -> DeviceModel:
    uplink = model.interfaces[1].name
    unnumbered = _uplink(addresses=(), unnumbered=True)(model)
    return _neighbor(peer=uplink, description="spine")(unnumbered)


def _with_adaptive_routing_over_a_lag(model: DeviceModel) -> DeviceModel:
    """With the port to the spine as the only member of a LAG."""
    host, spine, loopback = model.interfaces
    lag = Lag(name=lag_name(1), members=(spine.name,), addresses=spine.addresses)
    bundled = replace(model, interfaces=(host, replace(spine, addresses=(), network_instance=None), loopback, lag))
    return _balancing(mode=BalancingMode.ADAPTIVE)(bundled)


def _with_member_qos(model: DeviceModel) -> DeviceModel:
    return _lag()(_qos()(model))


KEEPALIVE = IPv4Address("10.255.1.2")


def _mlag(number: int = PEER_LINK_NUMBER, **fields: Any) -> Change:
    """With an MLAG pair, of which the first port is the peer link, and a keepalive unless `fields` say otherwise."""
    pair: dict[str, Any] = {"domain": "1", "keepalive": MlagKeepalive(peer=KEEPALIVE), **fields}

    def changed(model: DeviceModel) -> DeviceModel:
        port, *others = model.interfaces
        member = replace(port, addresses=(), network_instance=None)
        peer_link = Lag(
            name=lag_name(number),
            members=(port.name,),
            network_instance=None,
            vlans=VlanMembership(untagged=None, tagged=(VLAN.vlan_id,)),
        )
        mlag = Mlag(peer_link=peer_link.name, **pair)
        return replace(model, interfaces=(member, *others, peer_link), vlans=(VLAN,), mlag=mlag)

    return changed


VLAN = Vlan(vlan_id=101, name="rail1")
GATEWAY = IPv4Interface("10.96.0.1/24")
SWITCH_ADDRESS = IPv4Interface("10.96.0.254/24")
SECOND_LOOPBACK = Loopback(name=VTEP_LOOPBACK, addresses=(IPv4Interface("10.255.2.1/32"),))
REFERENCE = SecretReference(variable="BGP_PASSWORD")
CNP = TrafficClass(name="cnp", queue=2, scheduling=Scheduling.STRICT)
LOSSLESS_TOO = TrafficClass(
    name="storage", queue=4, scheduling=Scheduling.WEIGHTED, weight=40, pfc_priority=4, obeyed_priority=4
)

ADDED: Mapping[str, Change] = {
    "bfd": _neighbor(bfd=BfdTimers(interval_ms=300, multiplier=3)),
    "bfd_receive": _neighbor(bfd=BfdTimers(interval_ms=300, multiplier=3, receive_ms=600)),
    "bfd_per_session": _with_another_session_of_the_loopback,
    "breakout": _breakout,
    "mtu": _port(mtu_bytes=9216),
    "received_mtu": _port(mtu_bytes=1500, received_mtu_bytes=9216),
    "port_speed": _port(rate_gbps=400),
    "hold_up": _port(hold_up_ms=2000),
    "fec": _port(fec=Fec.RS_528),
    "fec_rs_544": _port(fec=Fec.RS_544),
    "unnumbered": _uplink(addresses=(), unnumbered=True),
    "numbered": _model(),
    "ipv6": _port(addresses=(IPv6Interface("fd00:10::/127"),)),
    "several_loopbacks": _interface(SECOND_LOOPBACK),
    "lag": _lag(),
    "static_lag": _lag(lacp=False),
    "vlan": _model(vlans=(VLAN,)),
    "vlan_names": _model(vlans=(VLAN,)),
    "bridged_port": _port(addresses=(), network_instance=None, vlans=VlanMembership(untagged=101)),
    "svi": _interface(Svi(name=svi_name(101), vlan=101, addresses=(GATEWAY,))),
    "anycast_gateway": _interface(Svi(name=svi_name(101), vlan=101, addresses=(SWITCH_ADDRESS,), gateways=(GATEWAY,))),
    "gateway_addresses": _interface(
        Svi(name=svi_name(101), vlan=101, addresses=(SWITCH_ADDRESS,), gateways=(GATEWAY,))
    ),
    "gateway_without_address": _interface(Svi(name=svi_name(101), vlan=101, gateways=(GATEWAY,))),
    "mlag": _mlag(),
    "mlag_without_keepalive": _mlag(keepalive=None),
    "mlag_peer_addresses": _mlag(address=IPv4Interface("10.255.3.0/31"), peer=IPv4Address("10.255.3.1")),
    "mlag_keepalive_source": _mlag(keepalive=MlagKeepalive(peer=KEEPALIVE, source=IPv4Address("10.255.1.1"))),
    "peer_link_number": _mlag(200),
    "mlag_system_mac": _mlag(system_mac="02:00:01:01:00:01"),
    "esi": _lag(esi="00:00:00:01:00:01:00:01:00:01"),
    "mlag_vtep": lambda model: replace(_mlag()(model), vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.255.1.1"))),
    "mlag_domain_name": _mlag(domain="pair1"),
    "vrf": _model(network_instances=(NetworkInstance(name="tenant1"),)),
    "vrf_without_bgp": _model(bgp=None, network_instances=(NetworkInstance(name="tenant1", rd="65000:1"),)),
    "vxlan": _model(vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.255.1.1"))),
    "vtep_loopback": lambda model: replace(
        _interface(SECOND_LOOPBACK)(model), vtep=Vtep(source=VTEP_LOOPBACK, address=IPv4Address("10.255.2.1"))
    ),
    "several_route_targets": _model(
        network_instances=(NetworkInstance(name="tenant1", import_targets=("65000:1", "65000:2")),)
    ),
    "evpn": _neighbor(families=(Family.EVPN,)),
    "connect_retry_per_session": _with_another_connect_retry,
    "ibgp": _neighbor(remote_as=Remote.INTERNAL),
    "remote_as_external": _neighbor(remote_as=Remote.EXTERNAL),
    "route_reflector": lambda model: _bgp(cluster_id=IPv4Address("10.255.1.1"))(
        _neighbor(remote_as=Remote.INTERNAL, reflector_client=True)(model)
    ),
    "update_source": _neighbor(update_source=LOOPBACK),
    "update_source_without_address": _with_source_without_address,
    "multihop": _neighbor(multihop_ttl=3),
    "next_hop": _neighbor(next_hop=NextHop.SELF),
    "next_hop_unchanged": _neighbor(next_hop=NextHop.UNCHANGED, families=(Family.EVPN,)),
    "next_hop_unchanged_per_session": _neighbor(next_hop=NextHop.UNCHANGED),
    "unnumbered_description": _unnumbered_with_description,
    "bgp_password": _neighbor(password=REFERENCE),
    "no_ipv6_next_hops": _bgp(receive_ipv6_next_hops=False),
    "rapid_withdrawal": _bgp(rapid_withdrawal=True),
    "prefix_limit": _neighbor(prefix_limit=1000),
    "evpn_prefix_limit": _neighbor(prefix_limit=1000, families=(Family.EVPN,)),
    "several_policies": lambda model: replace(
        _neighbor(import_policies=("fabric", "hosts"))(model), policies=(FABRIC, replace(FABRIC, name="hosts"))
    ),
    "policy_without_default": _model(policies=(replace(FABRIC, default=None),)),
    "keepalive": _neighbor(timers=BgpTimers(keepalive_s=2, hold_s=9)),
    "connect_retry": _neighbor(timers=BgpTimers(keepalive_s=3, hold_s=9, connect_retry_s=10)),
    "advertisement_interval": _neighbor(timers=BgpTimers(keepalive_s=3, hold_s=9, advertisement_interval_s=1)),
    "max_paths_internal": _bgp(max_paths_internal=8),
    "aggregate": _bgp(aggregates=(Aggregate(prefix=IPv4Network("10.16.0.0/16")),)),
    "aggregate_contributors": _bgp(
        aggregates=(Aggregate(prefix=IPv4Network("10.16.0.0/16"), contributors=(IPv4Network("10.16.0.0/24"),)),)
    ),
    "not_originated": _bgp(originated=(Family.IPV6,)),
    "policy_communities": _rule(communities=("graceful-shutdown",)),
    "policy_as_path": _rule(as_path="^65001_"),
    "policy_set_communities": _rule(set_communities=("65000:1",)),
    "policy_set_local_preference": _rule(set_local_preference=200),
    "policy_set_med": _rule(set_med=5),
    "policy_set_link_bandwidth": _rule(set_link_bandwidth=LinkBandwidth.CUMULATIVE),
    "policy_prepend": _rule(prepend=3),
    "drain": _model(drain=True),
    "traffic_classes": _qos(),
    "pfc": _qos(port={"pfc": (3,)}),
    "ecn": _qos(port={"ecn": ("roce",)}),
    "wred": _qos(replace(THRESHOLDS, ecn=None, wred=RAMP), port={"wred": ("roce",)}),
    "watchdog_recovery": _qos(watchdog=PfcWatchdog(detect_ms=200, recover_ms=400)),
    "pfc_watchdog": _qos(watchdog=PfcWatchdog(detect_ms=200, recover_ms=400)),
    "several_lossless_classes": _qos(classes=(DEFAULT, ROCE, LOSSLESS_TOO)),
    "strict_below_weighted": _qos(classes=(DEFAULT, CNP, ROCE)),
    "shared_priority": _qos(classes=(DEFAULT, ROCE, replace(LOSSLESS_TOO, obeyed_priority=3))),
    "priority_beside_queue": _qos(classes=(DEFAULT, replace(ROCE, queue=4))),
    "pfc_without_class": _qos(port={"pfc": (5,)}),
    "pfc_of_some_priorities": _qos(port={"pfc": (3,)}, classes=(DEFAULT, ROCE, LOSSLESS_TOO)),
    "obeyed_priority": _qos(classes=(DEFAULT, replace(ROCE, obeyed_priority=None))),
    "pfc_per_port": _qos(
        port={
            "pfc": (3, 4),
            "priorities": (ClassPriority(traffic_class="roce", pfc_priority=3, obeyed_priority=4),),
        }
    ),
    "several_classifiers": _qos(classifiers=(TRUST, replace(TRUST, name="hosts"))),
    "lag_member_qos": _with_member_qos,
    "class_names": _qos(),
    "classifier_names": _qos(port={"classifier": "trust"}, classifiers=(replace(TRUST, name="trust"),)),
    "xoff": _qos(),
    "xon_offset": _qos(replace(THRESHOLDS, xon_offset_bytes=18_432)),
    "separate_pause_thresholds": _qos(),
    "thresholds_per_profile": _qos(
        profiles=(
            PortProfile(name="fast", thresholds=(replace(THRESHOLDS, headroom_bytes=400_000),)),
            PortProfile(name="slow", thresholds=(replace(THRESHOLDS, headroom_bytes=200_000),)),
        )
    ),
    "alpha_beside_limit": _qos(replace(THRESHOLDS, alpha=0.5, limit_bytes=2_000_000)),
    "cable_length": _qos(profiles=(PortProfile(name="fast", thresholds=(THRESHOLDS,), cable_m=5),)),
    "headroom_bytes": _qos(replace(THRESHOLDS, headroom_bytes=400_000)),
    "headroom_percent": _qos(),
    "headroom_pool_bytes": _qos(headroom_pool_bytes=20_000_000),
    "headroom_pool_percent": _qos(),
    "shared_pool_bytes": _qos(shared_pool_bytes=60_000_000),
    "packet_trimming": _qos(trimming=PacketTrimming(size_bytes=256, dscp=20, traffic_class="default")),
    "link_level_retry": _port(link_level_retry=True),
    "queue_rate": lambda model: _qos(classes=(DEFAULT, replace(ROCE, rate_percent=50)))(_port(rate_gbps=400)(model)),
    "dynamic_threshold": _qos(replace(THRESHOLDS, alpha=0.5)),
    "queue_limit": _qos(replace(THRESHOLDS, limit_bytes=2_000_000)),
    "load_balancing_flowlet": _balancing(mode=BalancingMode.FLOWLET),
    "flowlet_gap": _balancing(mode=BalancingMode.FLOWLET, flowlet_gap_us=100),
    "load_balancing_packet": _balancing(mode=BalancingMode.PACKET),
    "load_balancing_adaptive": _balancing(mode=BalancingMode.ADAPTIVE),
    "adaptive_over_lags": _with_adaptive_routing_over_a_lag,
    "adaptive_at_other_speeds": lambda model: _balancing(mode=BalancingMode.ADAPTIVE)(_uplink(rate_gbps=100)(model)),
    "load_balancing_collective": _balancing(mode=BalancingMode.COLLECTIVE),
    "hash_fields": _balancing(fields=(HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS)),
    "hash_any_fields": _balancing(fields=(HashField.SOURCE_PORT,)),
    "hash_queue_pair": _balancing(fields=tuple(field for field in HashField if field in QUEUE_PAIR_FIELDS)),
    "hash_vlan": _balancing(fields=(HashField.VLAN,)),
    "hash_ingress_port": _balancing(fields=(HashField.INGRESS_PORT,)),
    "hash_seed": _balancing(seed=7),
    "management_vrf": _model(management=ManagementAccess(network_instance="oob", ntp=("10.0.0.1",))),
    "servers_in_vrf_of_links": _model(
        network_instances=(NetworkInstance(name="services"),),
        management=ManagementAccess(network_instance="services", ntp=("10.0.0.1",)),
    ),
    "lldp_settings": lambda model: replace(model, lldp=Lldp(silent=(model.interfaces[0].name,), hello_s=10)),
    "ntp": _model(management=ManagementAccess(ntp=("10.0.0.1",))),
    "syslog": _model(management=ManagementAccess(syslog=(SyslogServer(address="10.0.0.1"),))),
    "syslog_alerts": _model(management=ManagementAccess(syslog=(SyslogServer(address="10.0.0.1", level="alert"),))),
    "syslog_levels": _model(
        management=ManagementAccess(
            syslog=(SyslogServer(address="10.0.0.1"), SyslogServer(address="10.0.0.2", level="warning"))
        )
    ),
    "syslog_tcp": _model(management=ManagementAccess(syslog=(SyslogServer(address="10.0.0.1", protocol="tcp"),))),
    "aaa": _model(management=ManagementAccess(aaa=(AaaServer(address="10.0.0.1"),))),
    "gnmi_server": _model(management=ManagementAccess(gnmi=GnmiService(port=57400, tls_profile="fabric"))),
    "banner": _model(management=ManagementAccess(banner="authorised users only")),
}
"""The change that adds each feature to the switch."""
