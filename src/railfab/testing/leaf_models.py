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
    Bgp,
    BgpNeighbor,
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
    Management,
    Mlag,
    NetworkInstance,
    NextHop,
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
        bgp=Bgp(asn=4200001001, router_id=IPv4Address("10.255.1.1"), max_paths=64, neighbors=(neighbor,)),
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
ROCE = TrafficClass(name="roce", queue=3, scheduling=Scheduling.WEIGHTED, weight=90, pfc_priority=3, obeyed_priority=3)
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


def _with_another_session_of_the_loopback(model: DeviceModel) -> DeviceModel:
    """With BFD on two sessions from the loopback, and other timers on each."""
    far = replace(model.neighbors[0], peer=IPv4Address("10.255.9.1"), update_source=LOOPBACK)
    fast, slow = BfdTimers(interval_ms=300, multiplier=3), BfdTimers(interval_ms=1000, multiplier=3)
    other = replace(far, peer=IPv4Address("10.255.9.2"), bfd=slow)
    return _bgp(neighbors=(*model.neighbors, replace(far, bfd=fast), other))(model)


def _unnumbered_with_description(model: DeviceModel) -> DeviceModel:
    uplink = model.interfaces[1].name
    unnumbered = _uplink(addresses=(), unnumbered=True)(model)
    return _neighbor(peer=uplink, description="spine")(unnumbered)


def _with_member_qos(model: DeviceModel) -> DeviceModel:
    return _lag()(_qos()(model))


VLAN = Vlan(vlan_id=101, name="rail1")
GATEWAY = IPv4Interface("10.96.0.1/24")
REFERENCE = SecretReference(variable="BGP_PASSWORD")
LOSSLESS_TOO = TrafficClass(
    name="storage", queue=4, scheduling=Scheduling.WEIGHTED, weight=50, pfc_priority=4, obeyed_priority=4
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
    "several_loopbacks": _interface(Loopback(name=VTEP_LOOPBACK, addresses=(IPv4Interface("10.255.2.1/32"),))),
    "lag": _lag(),
    "vlan": _model(vlans=(VLAN,)),
    "bridged_port": _port(addresses=(), network_instance=None, vlans=VlanMembership(untagged=101)),
    "svi": _interface(Svi(name=svi_name(101), vlan=101, addresses=(GATEWAY,))),
    "anycast_gateway": _interface(Svi(name=svi_name(101), vlan=101, gateways=(GATEWAY,))),
    "mlag": _model(mlag=Mlag(domain="pair1", peer_link=lag_name(1000))),
    "esi": _lag(esi="00:00:00:01:00:01:00:01:00:01"),
    "vrf": _model(network_instances=(NetworkInstance(name="tenant1"),)),
    "vxlan": _model(vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.255.1.1"))),
    "vtep_loopback": _model(vtep=Vtep(source=VTEP_LOOPBACK, address=IPv4Address("10.255.2.1"))),
    "several_route_targets": _model(
        network_instances=(NetworkInstance(name="tenant1", import_targets=("65000:1", "65000:2")),)
    ),
    "evpn": _neighbor(families=(Family.EVPN,)),
    "ibgp": _neighbor(remote_as=Remote.INTERNAL),
    "remote_as_external": _neighbor(remote_as=Remote.EXTERNAL),
    "route_reflector": _neighbor(reflector_client=True),
    "update_source": _neighbor(update_source=LOOPBACK),
    "multihop": _neighbor(multihop_ttl=3),
    "next_hop": _neighbor(next_hop=NextHop.SELF),
    "next_hop_unchanged": _neighbor(next_hop=NextHop.UNCHANGED),
    "unnumbered_description": _unnumbered_with_description,
    "bgp_password": _neighbor(password=REFERENCE),
    "no_ipv6_next_hops": _bgp(receive_ipv6_next_hops=False),
    "rapid_withdrawal": _bgp(rapid_withdrawal=True),
    "prefix_limit": _neighbor(prefix_limit=1000),
    "evpn_prefix_limit": _neighbor(prefix_limit=1000, families=(Family.EVPN,)),
    "several_policies": _neighbor(import_policies=("fabric", "fabric-too")),
    "policy_without_default": _model(policies=(replace(FABRIC, default=None),)),
    "aggregate": _bgp(aggregates=(Aggregate(prefix=IPv4Network("10.16.0.0/16")),)),
    "aggregate_contributors": _bgp(
        aggregates=(Aggregate(prefix=IPv4Network("10.16.0.0/16"), contributors=(IPv4Network("10.16.0.0/24"),)),)
    ),
    "policy_communities": _rule(communities=("graceful-shutdown",)),
    "policy_as_path": _rule(as_path="^65001_"),
    "policy_set_communities": _rule(set_communities=("65000:1",)),
    "policy_set_local_preference": _rule(set_local_preference=200),
    "policy_set_med": _rule(set_med=5),
    "policy_set_link_bandwidth": _rule(set_link_bandwidth=LinkBandwidth.CUMULATIVE),
    "policy_prepend": _rule(prepend=3),
    "drain": _model(drain=True),
    "pfc": _qos(port={"pfc": (3,)}),
    "ecn": _qos(port={"ecn": ("roce",)}),
    "pfc_watchdog": _qos(watchdog=PfcWatchdog(detect_ms=200, recover_ms=400)),
    "several_lossless_classes": _qos(classes=(DEFAULT, ROCE, LOSSLESS_TOO)),
    "shared_priority": _qos(classes=(DEFAULT, ROCE, replace(LOSSLESS_TOO, obeyed_priority=3))),
    "pfc_without_class": _qos(port={"pfc": (5,)}),
    "pfc_per_port": _qos(
        port={
            "pfc": (3, 4),
            "priorities": (ClassPriority(traffic_class="roce", pfc_priority=3, obeyed_priority=4),),
        }
    ),
    "several_classifiers": _qos(classifiers=(TRUST, replace(TRUST, name="hosts"))),
    "lag_member_qos": _with_member_qos,
    "queue_rate": _qos(classes=(DEFAULT, replace(ROCE, rate_percent=50))),
    "dynamic_threshold": _qos(replace(THRESHOLDS, alpha=0.5)),
    "queue_limit": _qos(replace(THRESHOLDS, limit_bytes=2_000_000)),
    "load_balancing_flowlet": _balancing(mode=BalancingMode.FLOWLET),
    "load_balancing_packet": _balancing(mode=BalancingMode.PACKET),
    "load_balancing_adaptive": _balancing(mode=BalancingMode.ADAPTIVE),
    "hash_fields": _balancing(fields=(HashField.SOURCE_PORT,)),
    "hash_queue_pair": _balancing(fields=(HashField.QUEUE_PAIR,)),
    "hash_ingress_port": _balancing(fields=(HashField.INGRESS_PORT,)),
    "hash_seed": _balancing(seed=7),
    "management_vrf": _model(management=Management(network_instance="oob", ntp=("10.0.0.1",))),
    "lldp_settings": _model(lldp=Lldp(silent=("loopback9",), hello_s=10)),
    "ntp": _model(management=Management(ntp=("10.0.0.1",))),
    "syslog": _model(management=Management(syslog=(SyslogServer(address="10.0.0.1"),))),
    "aaa": _model(management=Management(aaa=(AaaServer(address="10.0.0.1"),))),
    "gnmi_server": _model(management=Management(gnmi=GnmiService(port=57400, tls_profile="fabric"))),
    "banner": _model(management=Management(banner="authorised users only")),
}
"""The change that adds each feature to the switch."""
