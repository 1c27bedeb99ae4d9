"""Two small switches that use every feature of a fabric: a rail switch with a breakout, and a spine."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import (
    LOOPBACK,
    Action,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    BreakoutPort,
    Classifier,
    ClassThresholds,
    DeviceModel,
    EcnRamp,
    Loopback,
    PfcWatchdog,
    Policy,
    PolicyRule,
    Port,
    PortProfile,
    PortQos,
    PrefixRange,
    Qos,
    Scheduling,
    TrafficClass,
)

RULES = tuple(
    PolicyRule(action=Action.PERMIT, prefixes=(PrefixRange(prefix=IPv4Network(prefix), ge=length, le=length),))
    for prefix, length in (("10.254.0.0/15", 32), ("10.16.0.0/12", 31))
)
POLICIES = (Policy(name="fabric-export", rules=RULES), Policy(name="fabric-import", rules=RULES))
TIMERS = BgpTimers(keepalive_s=3, hold_s=9)
BFD = BfdTimers(interval_ms=300, multiplier=3)
CLASSES = (
    TrafficClass(name="default", queue=0, scheduling=Scheduling.WEIGHTED, weight=10),
    TrafficClass(name="roce", queue=3, scheduling=Scheduling.WEIGHTED, weight=90, pfc_priority=3, obeyed_priority=3),
    TrafficClass(name="cnp", queue=6, scheduling=Scheduling.STRICT),
)
CLASSIFIER = Classifier(name="fabric", dscp=((26, "roce"), (48, "cnp")))


def profile(name: str, ramp: EcnRamp, *, xoff_bytes: int, headroom_percent: int) -> PortProfile:
    roce = ClassThresholds(traffic_class="roce", ecn=ramp, xoff_bytes=xoff_bytes, headroom_percent=headroom_percent)
    return PortProfile(name=name, thresholds=(roce,))


HOST_PROFILE = profile(
    "100g-5m",
    EcnRamp(kmin_bytes=150_000, kmax_bytes=450_000, pmax_percent=10),
    xoff_bytes=575_000,
    headroom_percent=2,
)
SPINE_PROFILE = profile(
    "400g-40m",
    EcnRamp(kmin_bytes=500_000, kmax_bytes=1_500_000, pmax_percent=10),
    xoff_bytes=2_000_000,
    headroom_percent=4,
)


def rail_switch() -> DeviceModel:
    """Two hosts on the lanes of a broken-out cage, an unnumbered and a numbered uplink."""
    hosts = [
        Port(
            name=f"ethernet-1/1/{lane}",
            description=f"pod1-seg1-host{lane} rail1-p0",
            mtu_bytes=9216,
            addresses=(IPv4Interface((f"10.16.0.{2 * lane - 2}", 31)),),
        )
        for lane in (1, 2)
    ]
    uplinks = [
        Port(
            name="ethernet-1/9", description="pod1-spine1 ethernet-1/1", mtu_bytes=9216, rate_gbps=400, unnumbered=True
        ),
        Port(name="ethernet-1/10", mtu_bytes=9216, rate_gbps=400, addresses=(IPv4Interface("10.32.0.1/31"),)),
    ]
    return DeviceModel(
        name="pod1-seg1-leaf1",
        platform="srlinux",
        breakouts=(BreakoutPort(cage="ethernet-1/1", lanes=2, rate_gbps=100),),
        interfaces=(*hosts, *uplinks, loopback("10.255.1.1")),
        policies=POLICIES,
        bgp=speaker(
            4200001001,
            "10.255.1.1",
            (neighbor("ethernet-1/9", 65001), neighbor(IPv4Address("10.32.0.0"), 65001, bfd=None)),
        ),
        qos=qos(
            (HOST_PROFILE, SPINE_PROFILE),
            (
                port_qos("ethernet-1/1/1", "100g-5m"),
                port_qos("ethernet-1/1/2", "100g-5m", pfc=()),
                port_qos("ethernet-1/9", "400g-40m", ecn=()),
                port_qos("ethernet-1/10", "400g-40m", classifier=None),
            ),
        ),
    )


def spine() -> DeviceModel:
    """Two unnumbered downlinks."""
    names = ("ethernet-1/1", "ethernet-1/2")
    ports = tuple(
        Port(
            name=name, description=f"pod1-seg1-leaf{index} ethernet-1/9", mtu_bytes=9216, rate_gbps=400, unnumbered=True
        )
        for index, name in enumerate(names, start=1)
    )
    neighbors = tuple(neighbor(name, 4200001000 + index) for index, name in enumerate(names, start=1))
    return DeviceModel(
        name="pod1-spine1",
        platform="srlinux",
        breakouts=(),
        interfaces=(*ports, loopback("10.254.1.1")),
        policies=POLICIES,
        bgp=speaker(65001, "10.254.1.1", neighbors),
        qos=qos((SPINE_PROFILE,), tuple(port_qos(name, "400g-40m") for name in names)),
    )


def loopback(address: str) -> Loopback:
    return Loopback(name=LOOPBACK, addresses=(IPv4Interface((address, 32)),))


def neighbor(peer: IPv4Address | str, remote_as: int, bfd: BfdTimers | None = BFD) -> BgpNeighbor:
    return BgpNeighbor(
        peer=peer,
        remote_as=remote_as,
        timers=TIMERS,
        import_policies=("fabric-import",),
        export_policies=("fabric-export",),
        bfd=bfd,
    )


def speaker(asn: int, router_id: str, neighbors: tuple[BgpNeighbor, ...]) -> BgpSpeaker:
    return BgpSpeaker(asn=asn, router_id=IPv4Address(router_id), max_paths=64, neighbors=neighbors)


def port_qos(
    interface: str,
    profile: str,
    *,
    classifier: str | None = "fabric",
    pfc: tuple[int, ...] = (3,),
    ecn: tuple[str, ...] = ("roce",),
) -> PortQos:
    return PortQos(interface=interface, profile=profile, classifier=classifier, pfc=pfc, ecn=ecn)


def qos(profiles: tuple[PortProfile, ...], ports: tuple[PortQos, ...]) -> Qos:
    return Qos(
        classes=CLASSES,
        default_class="default",
        classifiers=(CLASSIFIER,),
        profiles=profiles,
        ports=ports,
        watchdog=PfcWatchdog(detect_ms=200, recover_ms=400),
        headroom_pool_percent=10,
    )
