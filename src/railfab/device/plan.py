"""Topology and intent to device models: what each switch of the fabric is to be told."""

from __future__ import annotations

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
from railfab.intent import FabricIntent, Lossless, Profile
from railfab.qos import Thresholds, lossless_thresholds
from railfab.topology import HOST_LINKS, LOOPBACKS, Link, Node, Port, Role, Topology, switch_model

MAX_PATHS = 64
KEEPALIVE_S, HOLD_S = 3, 9
"""FRR's data centre profile; BFD detects faster, this is the net below it."""

CNP_QUEUE = 6
ROCE_WEIGHT, DEFAULT_WEIGHT = 90, 10
WATCHDOG = PfcWatchdog(detect_ms=200, recover_ms=400)
FABRIC_PREFIXES = (
    PrefixRange(prefix=LOOPBACKS, ge=32, le=32),
    PrefixRange(prefix=HOST_LINKS, ge=31, le=31),
)

Wired = tuple[Port, Port, Link]


def plan(topology: Topology, intent: FabricIntent) -> dict[str, DeviceModel]:
    """The model of every switch, by name, in the order of the topology."""
    roles = {node.name: node for node in topology.nodes}
    wired: dict[str, list[Wired]] = {node.name: [] for node in topology.nodes}
    for port, peer, link in topology.ports():
        wired[port.node].append((port, peer, link))
    for ports in wired.values():
        ports.sort(key=lambda found: (found[0].cage, found[0].lane or 0))
    return {node.name: _device(node, wired[node.name], roles, intent.profile) for node in topology.switches()}


def _device(node: Node, ports: list[Wired], nodes: dict[str, Node], profile: Profile) -> DeviceModel:
    assert node.platform is not None
    assert node.loopback is not None
    return DeviceModel(
        name=node.name,
        platform=node.platform,
        loopback=node.loopback,
        breakouts=tuple(
            BreakoutPort(cage=breakout.cage_name, lanes=breakout.lanes, rate_gbps=breakout.rate_gbps)
            for breakout in node.breakouts
        ),
        interfaces=tuple(_interface(port, peer, nodes, profile) for port, peer, _ in ports),
        bgp=_bgp(node, ports, nodes, profile),
        bfd=BfdTimers(interval_ms=profile.bfd.interval_ms, multiplier=profile.bfd.multiplier) if profile.bfd else None,
        qos=_qos(node, ports, profile, profile.lossless) if profile.lossless else None,
    )


def _interface(port: Port, peer: Port, nodes: dict[str, Node], profile: Profile) -> Interface:
    between_switches = nodes[peer.node].role is not Role.HOST
    return Interface(
        name=port.name,
        description=f"{peer.node} {peer.name}",
        mtu_bytes=profile.mtu,
        rate_gbps=port.rate_gbps if port.lane is None else None,
        address=port.address,
        unnumbered=between_switches and port.address is None,
    )


def _bgp(node: Node, ports: list[Wired], nodes: dict[str, Node], profile: Profile) -> Bgp:
    assert node.asn is not None
    assert node.loopback is not None
    return Bgp(
        asn=node.asn,
        router_id=node.loopback,
        max_paths=MAX_PATHS,
        keepalive_s=KEEPALIVE_S,
        hold_s=HOLD_S,
        import_prefixes=FABRIC_PREFIXES,
        export_prefixes=FABRIC_PREFIXES,
        neighbors=tuple(
            BgpNeighbor(
                interface=port.name,
                remote_as=asn,
                address=peer.address.ip if peer.address else None,
                bfd=profile.bfd is not None,
            )
            for port, peer, _ in ports
            if (asn := nodes[peer.node].asn) is not None
        ),
    )


def _qos(node: Node, ports: list[Wired], profile: Profile, lossless: Lossless) -> Qos:
    """Each port gets the thresholds of its own speed and cable; ports alike share a profile by name."""
    assert node.model is not None
    thresholds = {
        _profile_name(port, link): lossless_thresholds(
            rate_gbps=port.rate_gbps, cable_m=link.cable_m, mtu_bytes=profile.mtu
        )
        for port, _, link in ports
    }
    headroom = sum(thresholds[_profile_name(port, link)].headroom_bytes for port, _, link in ports)
    buffer_bytes = switch_model(node.model).buffer_bytes
    pool_percent = max(1, _percent(headroom, buffer_bytes))
    pool_bytes = pool_percent * buffer_bytes / 100
    return Qos(
        classes=_classes(lossless),
        profiles=tuple(_port_profile(name, thresholds[name], pool_bytes) for name in sorted(thresholds)),
        ports=tuple(PortQos(interface=port.name, profile=_profile_name(port, link)) for port, _, link in ports),
        watchdog=WATCHDOG,
        headroom_pool_percent=pool_percent,
    )


def _profile_name(port: Port, link: Link) -> str:
    """`100g-5m`: what the thresholds follow from."""
    return f"{port.rate_gbps}g-{link.cable_m:g}m".replace(".", "p")


def _port_profile(name: str, thresholds: Thresholds, pool_bytes: float) -> PortProfile:
    return PortProfile(
        name=name,
        kmin_bytes=thresholds.kmin_bytes,
        kmax_bytes=thresholds.kmax_bytes,
        pmax_percent=thresholds.pmax_percent,
        xoff_bytes=thresholds.xoff_bytes,
        headroom_percent=_percent(thresholds.headroom_bytes, pool_bytes),
    )


def _percent(part: float, whole: float) -> int:
    """In whole percent, rounded up: never less than what is needed."""
    return -(-round(100 * part) // round(whole))


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
