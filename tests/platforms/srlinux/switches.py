"""Two small switches that use every feature: a rail switch with a breakout, and a spine."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import (
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

PREFIXES = (
    PrefixRange(prefix=IPv4Network("10.254.0.0/15"), ge=32, le=32),
    PrefixRange(prefix=IPv4Network("10.16.0.0/12"), ge=31, le=31),
)
CLASSES = (
    TrafficClass(name="default", queue=0, dscp=(), scheduling=Scheduling.WEIGHTED, weight=10),
    TrafficClass(name="roce", queue=3, dscp=(26,), scheduling=Scheduling.WEIGHTED, weight=90, lossless_priority=3),
    TrafficClass(name="cnp", queue=6, dscp=(48,), scheduling=Scheduling.STRICT),
)
HOST_PROFILE = PortProfile(
    name="100g-5m", kmin_bytes=150_000, kmax_bytes=450_000, pmax_percent=10, xoff_bytes=575_000, headroom_percent=2
)
SPINE_PROFILE = PortProfile(
    name="400g-40m", kmin_bytes=500_000, kmax_bytes=1_500_000, pmax_percent=10, xoff_bytes=2_000_000, headroom_percent=4
)


def rail_switch() -> DeviceModel:
    """Two hosts on the lanes of a broken-out cage, an unnumbered and a numbered uplink."""
    hosts = [
        Interface(
            name=f"ethernet-1/1/{lane}",
            description=f"pod1-seg1-host{lane} rail1-p0",
            mtu_bytes=9216,
            address=IPv4Interface((f"10.16.0.{2 * lane - 2}", 31)),
        )
        for lane in (1, 2)
    ]
    uplinks = [
        Interface(
            name="ethernet-1/9", description="pod1-spine1 ethernet-1/1", mtu_bytes=9216, rate_gbps=400, unnumbered=True
        ),
        Interface(name="ethernet-1/10", mtu_bytes=9216, rate_gbps=400, address=IPv4Interface("10.32.0.1/31")),
    ]
    neighbors = (
        BgpNeighbor(interface="ethernet-1/9", remote_as=65001),
        BgpNeighbor(interface="ethernet-1/10", remote_as=65001, address=IPv4Address("10.32.0.0"), bfd=False),
    )
    return DeviceModel(
        name="pod1-seg1-leaf1",
        platform="srlinux",
        loopback=IPv4Address("10.255.1.1"),
        breakouts=(BreakoutPort(cage="ethernet-1/1", lanes=2, rate_gbps=100),),
        interfaces=(*hosts, *uplinks),
        bgp=speaker(4200001001, "10.255.1.1", neighbors),
        bfd=BfdTimers(interval_ms=300, multiplier=3),
        qos=qos(
            (HOST_PROFILE, SPINE_PROFILE),
            (
                PortQos(interface="ethernet-1/1/1", profile="100g-5m"),
                PortQos(interface="ethernet-1/1/2", profile="100g-5m", pfc=False),
                PortQos(interface="ethernet-1/9", profile="400g-40m", ecn=False),
                PortQos(interface="ethernet-1/10", profile="400g-40m", trust_dscp=False),
            ),
        ),
    )


def spine() -> DeviceModel:
    """Two unnumbered downlinks."""
    names = ("ethernet-1/1", "ethernet-1/2")
    return DeviceModel(
        name="pod1-spine1",
        platform="srlinux",
        loopback=IPv4Address("10.254.1.1"),
        breakouts=(),
        interfaces=tuple(
            Interface(
                name=name,
                description=f"pod1-seg1-leaf{index} ethernet-1/9",
                mtu_bytes=9216,
                rate_gbps=400,
                unnumbered=True,
            )
            for index, name in enumerate(names, start=1)
        ),
        bgp=speaker(
            65001,
            "10.254.1.1",
            tuple(
                BgpNeighbor(interface=name, remote_as=4200001000 + index) for index, name in enumerate(names, start=1)
            ),
        ),
        bfd=BfdTimers(interval_ms=300, multiplier=3),
        qos=qos((SPINE_PROFILE,), tuple(PortQos(interface=name, profile="400g-40m") for name in names)),
    )


def speaker(asn: int, router_id: str, neighbors: tuple[BgpNeighbor, ...]) -> Bgp:
    return Bgp(
        asn=asn,
        router_id=IPv4Address(router_id),
        max_paths=64,
        keepalive_s=3,
        hold_s=9,
        import_prefixes=PREFIXES,
        export_prefixes=PREFIXES,
        neighbors=neighbors,
    )


def qos(profiles: tuple[PortProfile, ...], ports: tuple[PortQos, ...]) -> Qos:
    watchdog = PfcWatchdog(detect_ms=200, recover_ms=400)
    return Qos(classes=CLASSES, profiles=profiles, ports=ports, watchdog=watchdog, headroom_pool_percent=10)
