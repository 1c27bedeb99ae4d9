"""Device models as hypothesis draws them: anything a planner could ask of a platform, and no more.

`device_models(platform)` draws within the platform's features, `leaf(platform, wanting=feature)` is one step beyond.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from hypothesis import strategies as st

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
from railfab.platforms import Support, platform
from railfab.platforms.features import FEATURES

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPEEDS = (40, 100, 200, 400)
BREAKOUTS = ((2, 100), (4, 10), (4, 25), (4, 100), (2, 200))

words = st.text(LETTERS, min_size=1, max_size=12)
descriptions = st.lists(words, min_size=1, max_size=3).map(" ".join)
asns = st.integers(1, 4294967294)
addresses = st.integers(0x0A000000, 0x0AFFFFFF).map(IPv4Address)


@dataclass(frozen=True)
class Slot:
    """A port before it has a purpose: its name, and its speed unless the breakout gives it."""

    name: str
    rate_gbps: int | None


def port_of(name: str, cage: int, lane: int | None = None) -> str:
    """The canonical name of a port, counted from 1; that of the cage on a platform without breakout ports."""
    names = platform(name).lab.interfaces
    found = names.port(cage, lane) or names.port(cage)
    assert found is not None
    return found


@st.composite
def device_models(draw: st.DrawFn, name: str) -> DeviceModel:
    """A model within the features of the platform of that name."""
    capabilities = platform(name).capabilities
    able = {feature for feature in FEATURES if capabilities.support(feature) is not Support.NO}
    breakouts, slots = _split(name, draw(st.lists(_cages(able), min_size=1, max_size=5)))
    interfaces: list[Interface] = []
    neighbors: list[BgpNeighbor] = []
    for index, slot in enumerate(slots):
        interface, neighbor = draw(_ports(slot, index, able))
        interfaces.append(interface)
        if neighbor is not None:
            neighbors.append(neighbor)
    timers = draw(bfd_timers()) if neighbors and "bfd" in able and draw(st.booleans()) else None
    return DeviceModel(
        name=draw(words),
        platform=name,
        loopback=draw(addresses),
        breakouts=breakouts,
        interfaces=tuple(interfaces),
        bgp=draw(bgps(_with_bfd(neighbors, timers, draw(st.booleans())))),
        bfd=timers,
        qos=draw(st.none() | qos_of(tuple(slot.name for slot in slots), able)) if "pfc" in able else None,
    )


def _cages(able: set[str]) -> st.SearchStrategy[tuple[int, int]]:
    """Lanes and speed of a cage; one lane is a cage as it is."""
    whole = st.tuples(st.just(1), st.sampled_from(SPEEDS))
    return whole | st.sampled_from(BREAKOUTS) if "breakout" in able else whole


def _split(name: str, cages: list[tuple[int, int]]) -> tuple[tuple[BreakoutPort, ...], tuple[Slot, ...]]:
    breakouts, slots = [], []
    for cage, (lanes, rate) in enumerate(cages, start=1):
        if lanes == 1:
            slots.append(Slot(port_of(name, cage), rate))
            continue
        breakouts.append(BreakoutPort(cage=port_of(name, cage), lanes=lanes, rate_gbps=rate))
        slots += [Slot(port_of(name, cage, lane), None) for lane in range(1, lanes + 1)]
    return tuple(breakouts), tuple(slots)


@st.composite
def _ports(draw: st.DrawFn, slot: Slot, index: int, able: set[str]) -> tuple[Interface, BgpNeighbor | None]:
    """An interface and the session over it: a host's port, a numbered or an unnumbered link, or one just described."""
    purposes = ["described", "host", "numbered", *(["unnumbered"] if "unnumbered" in able else [])]
    purpose = draw(st.sampled_from(purposes))
    own, peer = _link(index, draw(st.sampled_from((30, 31))))
    interface = Interface(
        name=slot.name,
        description=draw(descriptions if purpose == "described" else st.just("") | descriptions),
        enabled=draw(st.booleans()),
        mtu_bytes=draw(st.none() | st.integers(1280, 9398)),
        rate_gbps=slot.rate_gbps,
        address=own if purpose in ("host", "numbered") else None,
        unnumbered=purpose == "unnumbered",
    )
    if purpose not in ("numbered", "unnumbered"):
        return interface, None
    address = peer if purpose == "numbered" else None
    return interface, BgpNeighbor(interface=slot.name, remote_as=draw(asns), address=address, bfd=False)


def _link(index: int, length: int) -> tuple[IPv4Interface, IPv4Address]:
    """Two addresses of the subnet that belongs to this port."""
    network = IPv4Network((int(IPv4Address("10.16.0.0")) + 4 * index, length))
    own, peer, *_ = network.hosts()
    return IPv4Interface((own, length)), peer


def _with_bfd(neighbors: list[BgpNeighbor], timers: BfdTimers | None, some: bool) -> tuple[BgpNeighbor, ...]:
    """With BFD on all sessions, or on every second one."""
    if timers is None:
        return tuple(neighbors)
    return tuple(replace(found, bfd=not (some and index % 2)) for index, found in enumerate(neighbors))


@st.composite
def bfd_timers(draw: st.DrawFn) -> BfdTimers:
    return BfdTimers(interval_ms=draw(st.integers(50, 5000)), multiplier=draw(st.integers(3, 20)))


@st.composite
def prefix_ranges(draw: st.DrawFn) -> PrefixRange:
    length = draw(st.integers(8, 31))
    base = int(draw(addresses)) & ~((1 << (32 - length)) - 1)
    ge = draw(st.integers(length, 32))
    return PrefixRange(prefix=IPv4Network((base, length)), ge=ge, le=draw(st.integers(ge, 32)))


@st.composite
def bgps(draw: st.DrawFn, neighbors: tuple[BgpNeighbor, ...]) -> Bgp:
    keepalive = draw(st.integers(1, 60))
    ranges = st.lists(prefix_ranges(), max_size=3, unique=True).map(tuple)
    return Bgp(
        asn=draw(asns),
        router_id=draw(addresses),
        max_paths=draw(st.integers(1, 64)),
        keepalive_s=keepalive,
        hold_s=3 * keepalive,
        import_prefixes=draw(ranges),
        export_prefixes=draw(ranges),
        neighbors=neighbors,
    )


@st.composite
def qos_of(draw: st.DrawFn, ports: tuple[str, ...], able: set[str]) -> Qos:
    """One lossless class, the default class on queue 0, and perhaps others; some ports lack a binding."""
    classes = draw(_classes())
    profiles = draw(st.lists(_profiles(), min_size=1, max_size=2, unique_by=lambda profile: profile.name))
    names = st.sampled_from([profile.name for profile in profiles])
    bindings = [
        PortQos(interface=port, profile=draw(names), pfc=pfc, ecn=ecn and "ecn" in able, trust_dscp=trust)
        for port in ports
        for pfc, ecn, trust in [draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))]
    ]
    return Qos(
        classes=classes,
        profiles=tuple(profiles),
        ports=tuple(bindings),
        watchdog=draw(st.none() | _watchdogs()) if "pfc_watchdog" in able else None,
        headroom_pool_percent=draw(st.integers(1, 50)),
    )


@st.composite
def _classes(draw: st.DrawFn) -> tuple[TrafficClass, ...]:
    names = draw(st.lists(words, min_size=2, max_size=4, unique=True))
    queues = sorted(draw(st.lists(st.integers(1, 7), min_size=len(names) - 1, max_size=len(names) - 1, unique=True)))
    points = draw(st.lists(st.integers(0, 63), min_size=8, max_size=12, unique=True))
    lossless = draw(st.integers(1, len(names) - 1))
    found = [
        TrafficClass(name=names[0], queue=0, dscp=(), scheduling=Scheduling.WEIGHTED, weight=draw(st.integers(1, 100)))
    ]
    for index in range(1, len(names)):
        strict = index != lossless and draw(st.booleans())
        found.append(
            TrafficClass(
                name=names[index],
                queue=queues[index - 1],
                dscp=tuple(sorted(points[index :: len(names)])),
                scheduling=Scheduling.STRICT if strict else Scheduling.WEIGHTED,
                weight=None if strict else draw(st.integers(1, 100)),
                lossless_priority=draw(st.integers(0, 7)) if index == lossless else None,
            )
        )
    return tuple(found)


@st.composite
def _profiles(draw: st.DrawFn) -> PortProfile:
    kmin = draw(st.integers(1_000, 2_000_000))
    return PortProfile(
        name=draw(words.filter(lambda word: word != "default")),
        kmin_bytes=kmin,
        kmax_bytes=kmin + draw(st.integers(0, 8_000_000)),
        pmax_percent=draw(st.integers(1, 100)),
        xoff_bytes=draw(st.integers(1_000, 20_000_000)),
        headroom_percent=draw(st.integers(1, 100)),
    )


@st.composite
def _watchdogs(draw: st.DrawFn) -> PfcWatchdog:
    return PfcWatchdog(detect_ms=draw(st.integers(10, 1500)), recover_ms=draw(st.integers(100, 1500)))


def leaf(name: str, *, wanting: str | None = None) -> DeviceModel:
    """A small rail switch, all of whose features the platform of that name has; or one that wants one more.

    wanting: a feature by its name in the capabilities.
    """
    host, spine = port_of(name, 1), port_of(name, 2)
    model = DeviceModel(
        name="pod1-seg1-leaf1",
        platform=name,
        loopback=IPv4Address("10.255.1.1"),
        breakouts=(),
        interfaces=(
            Interface(name=host, description="host", address=IPv4Interface("10.16.0.0/31")),
            Interface(name=spine, description="spine", address=IPv4Interface("10.32.0.1/31")),
        ),
        bgp=Bgp(
            asn=4200001001,
            router_id=IPv4Address("10.255.1.1"),
            max_paths=64,
            keepalive_s=3,
            hold_s=9,
            import_prefixes=(PrefixRange(prefix=IPv4Network("10.16.0.0/12"), ge=31, le=31),),
            export_prefixes=(PrefixRange(prefix=IPv4Network("10.16.0.0/12"), ge=31, le=31),),
            neighbors=(BgpNeighbor(interface=spine, remote_as=65001, address=IPv4Address("10.32.0.0"), bfd=False),),
        ),
        bfd=None,
        qos=None,
    )
    return model if wanting is None else dict(_beyond(model))[wanting]


def _beyond(model: DeviceModel) -> Iterator[tuple[str, DeviceModel]]:
    """The same switch with one feature more."""
    host, spine = model.interfaces
    port = PortQos(interface=host.name, profile="fast", pfc=False, ecn=False)
    profile = PortProfile(
        name="fast", kmin_bytes=150_000, kmax_bytes=450_000, pmax_percent=10, xoff_bytes=600_000, headroom_percent=5
    )
    default = TrafficClass(name="default", queue=0, dscp=(), scheduling=Scheduling.WEIGHTED, weight=10)
    roce = TrafficClass(
        name="roce", queue=3, dscp=(26,), scheduling=Scheduling.WEIGHTED, weight=90, lossless_priority=3
    )
    qos = Qos(classes=(default, roce), profiles=(profile,), ports=(port,), watchdog=None, headroom_pool_percent=5)
    ninth = BreakoutPort(cage=port_of(model.platform, 9), lanes=4, rate_gbps=100)
    yield "bfd", replace(model, bfd=BfdTimers(interval_ms=300, multiplier=3))
    yield "breakout", replace(model, breakouts=(ninth,))
    yield "mtu", replace(model, interfaces=(replace(host, mtu_bytes=9216), spine))
    yield "port_speed", replace(model, interfaces=(replace(host, rate_gbps=400), spine))
    yield "unnumbered", replace(model, interfaces=(host, replace(spine, address=None, unnumbered=True)))
    yield "numbered", model
    yield "pfc", replace(model, qos=replace(qos, ports=(replace(port, pfc=True),)))
    yield "ecn", replace(model, qos=replace(qos, ports=(replace(port, ecn=True),)))
    yield "pfc_watchdog", replace(model, qos=replace(qos, watchdog=PfcWatchdog(detect_ms=200, recover_ms=400)))
