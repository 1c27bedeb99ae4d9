"""Device models from topology and intent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device.model import (
    BfdTimers,
    Bgp,
    BgpNeighbor,
    BreakoutPort,
    DeviceModel,
    Interface,
    PfcWatchdog,
    PortProfile,
    PortQos,
    PrefixRange,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.device.supported import refuse
from railfab.intent import FabricIntent, Lossless, Profile
from railfab.qos import Thresholds, lossless_thresholds, percent_of, profile_name
from railfab.topology import Link, Node, Pools, Port, Role, SwitchModel, Topology

MAX_PATHS = 64
KEEPALIVE_S, HOLD_S = 3, 9
"""BGP timers of FRR's data centre profile, for failures that BFD does not detect."""

CNP_QUEUE = 6
ROCE_WEIGHT, DEFAULT_WEIGHT = 90, 10
WATCHDOG = PfcWatchdog(detect_ms=200, recover_ms=400)
ConnectedPort = tuple[Port, Port, Link]


def plan(topology: Topology, intent: FabricIntent, only: Collection[str] | None = None) -> dict[str, DeviceModel]:
    """The model of every switch, or of those in `only`, by name, in the order of the topology.

    Raises UnsupportedFeature or Problems for features that a device model cannot express yet.
    """
    refuse(intent)
    policy = _policy(topology.pools)
    return {
        node.name: _device(node, topology, intent.profile, policy)
        for node in topology.switches()
        if only is None or node.name in only
    }


def _policy(pools: Pools | None) -> tuple[PrefixRange, ...]:
    """Prefixes that every switch accepts and announces: loopbacks and host links."""
    assert pools is not None
    assert isinstance(pools.loopbacks, IPv4Network)
    assert isinstance(pools.hosts, IPv4Network)
    return PrefixRange(prefix=pools.loopbacks, ge=32, le=32), PrefixRange(prefix=pools.hosts, ge=31, le=31)


def _device(node: Node, topology: Topology, profile: Profile, policy: tuple[PrefixRange, ...]) -> DeviceModel:
    assert node.platform is not None
    assert isinstance(node.loopback, IPv4Address)
    ports, nodes = topology.ports_of(node.name), topology.by_name
    return DeviceModel(
        name=node.name,
        platform=node.platform,
        loopback=node.loopback,
        breakouts=tuple(
            BreakoutPort(cage=breakout.cage_name, lanes=breakout.lanes, rate_gbps=breakout.rate_gbps)
            for breakout in node.breakouts
        ),
        interfaces=tuple(_interface(port, peer, nodes, profile) for port, peer, _ in ports),
        bgp=_bgp(node, ports, nodes, profile, policy),
        bfd=BfdTimers(interval_ms=profile.bfd.interval_ms, multiplier=profile.bfd.multiplier) if profile.bfd else None,
        qos=_qos(topology.model_of(node), ports, profile, profile.lossless) if profile.lossless else None,
    )


def _interface(port: Port, peer: Port, nodes: Mapping[str, Node], profile: Profile) -> Interface:
    between_switches = nodes[peer.node].role is not Role.HOST
    return Interface(
        name=port.name,
        description=f"{peer.node} {peer.name}",
        mtu_bytes=profile.mtu,
        rate_gbps=port.rate_gbps if port.lane is None else None,
        address=port.address if isinstance(port.address, IPv4Interface) else None,
        unnumbered=between_switches and port.address is None,
    )


def _bgp(
    node: Node,
    ports: Sequence[ConnectedPort],
    nodes: Mapping[str, Node],
    profile: Profile,
    policy: tuple[PrefixRange, ...],
) -> Bgp:
    assert node.asn is not None
    assert isinstance(node.loopback, IPv4Address)
    return Bgp(
        asn=node.asn,
        router_id=node.loopback,
        max_paths=MAX_PATHS,
        keepalive_s=KEEPALIVE_S,
        hold_s=HOLD_S,
        import_prefixes=policy,
        export_prefixes=policy,
        neighbors=tuple(
            BgpNeighbor(
                interface=port.name,
                remote_as=asn,
                address=peer.address.ip if isinstance(peer.address, IPv4Interface) else None,
                bfd=profile.bfd is not None,
            )
            for port, peer, _ in ports
            if (asn := nodes[peer.node].asn) is not None
        ),
    )


def _qos(model: SwitchModel, ports: Sequence[ConnectedPort], profile: Profile, lossless: Lossless) -> Qos:
    """Thresholds by speed and cable length; ports equal in both share a profile."""
    thresholds = {
        profile_name(port.rate_gbps, link.cable_m): lossless_thresholds(
            rate_gbps=port.rate_gbps, cable_m=link.cable_m, mtu_bytes=profile.mtu, pfc=lossless.pfc
        )
        for port, _, link in ports
    }
    headroom = sum(thresholds[profile_name(port.rate_gbps, link.cable_m)].headroom_bytes for port, _, link in ports)
    pool_percent = max(1, percent_of(headroom, model.buffer_bytes))
    pool_bytes = pool_percent * model.buffer_bytes / 100
    return Qos(
        classes=_classes(lossless),
        profiles=tuple(_port_profile(name, thresholds[name], pool_bytes) for name in sorted(thresholds)),
        ports=tuple(
            PortQos(
                interface=port.name,
                profile=profile_name(port.rate_gbps, link.cable_m),
                pfc=lossless.pfc,
                ecn=lossless.ecn,
            )
            for port, _, link in ports
        ),
        watchdog=WATCHDOG,
        headroom_pool_percent=pool_percent,
    )


def _port_profile(name: str, thresholds: Thresholds, pool_bytes: float) -> PortProfile:
    return PortProfile(
        name=name,
        kmin_bytes=thresholds.kmin_bytes,
        kmax_bytes=thresholds.kmax_bytes,
        pmax_percent=thresholds.pmax_percent,
        xoff_bytes=thresholds.xoff_bytes,
        headroom_percent=percent_of(thresholds.headroom_bytes, pool_bytes),
    )


def _classes(lossless: Lossless) -> tuple[TrafficClass, ...]:
    return (
        TrafficClass(name="default", queue=0, dscp=(), scheduling=Scheduling.WEIGHTED, weight=DEFAULT_WEIGHT),
        TrafficClass(
            name="roce",
            queue=lossless.priority,
            dscp=(lossless.dscp,),
            scheduling=Scheduling.WEIGHTED,
            weight=ROCE_WEIGHT,
            lossless_priority=lossless.priority,
        ),
        TrafficClass(name="cnp", queue=CNP_QUEUE, dscp=(lossless.cnp_dscp,), scheduling=Scheduling.STRICT),
    )
