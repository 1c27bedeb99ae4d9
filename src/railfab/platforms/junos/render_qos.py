"""Renders QoS and load balancing of a device model.

Each class has a scheduler of its name; one with the ECN ramp of a port profile is named `PROFILE_CLASS`, as is its drop
profile. The scheduler map `PROFILE` marks all classes with a ramp; a port that marks fewer has a map of its
own. Every map has a scheduler for the packets of the switch itself, because a class without one has too little buffer
(Juniper, Configuring Forwarding Classes); it is that of Juniper/jvd, data_center/adc/5stage_evpn_vxlan (QFX5220).
Sources: Juniper/jvd, data_center/aidc/aiml_multitenancy_backend (QFX5240); junos-qfx-conf-class-of-service 24.4R1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from railfab.device import (
    BalancingMode,
    Classifier,
    DeviceModel,
    EcnRamp,
    HashField,
    LoadBalancing,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.device.qos import KINDS
from railfab.platforms.junos.fill_levels import Levels, queue_bytes
from railfab.platforms.junos.names import (
    LOSSLESS_BY_DEFAULT,
    NETWORK_CONTROL,
    NETWORK_CONTROL_QUEUE,
    device_name,
)
from railfab.platforms.junos.trees import block, entry, flag, leaf, listed, setting
from railfab.platforms.shared.line_tree import Line

NO_PROFILE = "NO-PROFILE"
"""Scheduler map of ports without a profile."""
ONLY = "_only"
"""In the name of a scheduler map that marks only the classes after it."""
PFC = "pfc"
"""Beginning of the name of a congestion notification profile, before the priorities that it pauses."""

POLL_MS = 100
"""Default interval at which the watchdog looks at the queues (Juniper, PFC Watchdog)."""
CONTROL_PERCENT = 5
"""The most that network control may take before other queues: what it has without configuration (Juniper, Understanding
Default CoS Scheduling and Classification)."""
LOSSY_PERCENT = 10
LOSSLESS_THRESHOLD = 10
"""Share of the buffer for lossy packets, and the largest dynamic threshold of lossless ones, as in Juniper's design."""

FIVE_TUPLE = (
    *(HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS),
    *(HashField.PROTOCOL, HashField.SOURCE_PORT, HashField.DESTINATION_PORT),
)
EXCLUSIONS = {
    "inet": dict(
        zip(
            FIVE_TUPLE,
            (
                *("no-ipv4-source-address", "no-ipv4-destination-address"),
                *("no-protocol", "no-l4-source-port", "no-l4-destination-port"),
            ),
            strict=True,
        )
    ),
    "inet6": dict(
        zip(
            FIVE_TUPLE,
            (
                *("no-ipv6-source-address", "no-ipv6-destination-address"),
                *("no-next-header", "no-l4-source-port", "no-l4-destination-port"),
            ),
            strict=True,
        )
    ),
}
"""Statements of enhanced-hash-key that leave a field out of the hash, which has all of these by default."""

BOTH_LAYERS = ("layer-3", "layer-4")
NO_PORT = "no-incoming-port"
FLOW_LABEL = "ipv6-flow-label"
VLAN = "vlan-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseProfile:
    """A congestion notification profile, of the ports of a port profile with the same priorities and classifier."""

    profile: str | None = None
    priorities: tuple[int, ...] = ()
    classifier: str | None = None

    @property
    def name(self) -> str:
        pauses = "".join((PFC, *(f"-{priority}" for priority in self.priorities)))
        return "_".join(part for part in (self.profile, pauses, self.classifier) if part)


@lru_cache(maxsize=KINDS)
def qos_lines(qos: Qos | None) -> tuple[Line, ...]:
    """The class of service of a switch with QoS, made once for all switches with the same."""
    return tuple(_qos_lines(qos)) if qos else ()


def _qos_lines(qos: Qos) -> Iterator[Line]:
    yield from block("classifiers", (_classifier(classifier, qos) for classifier in qos.classifiers))
    yield from block("drop-profiles", _drop_profiles(qos))
    yield from block("shared-buffer", _buffers(qos))
    yield from block("forwarding-classes", map(_class, qos.classes), _lossy_defaults(qos))
    yield from (_pause(profile, qos) for profile in sorted(_pause_profiles(qos), key=lambda profile: profile.name))
    yield from block("interfaces", (_port(port, qos) for port in qos.ports))
    maps = _scheduler_maps(qos)
    yield from block("scheduler-maps", _maps(qos, maps))
    yield from block("schedulers", _schedulers(qos, maps))


def bits(number: int, width: int) -> str:
    """A code point as Junos shows it: `011010` of 26."""
    return f"{number:0{width}b}"


def _classifier(classifier: Classifier, qos: Qos) -> Line:
    points: dict[str, list[str]] = {}
    for point, name in classifier.dscp:
        points.setdefault(name, []).append(bits(point, 6))
    ordered = (cls.name for cls in qos.classes if cls.name in points)
    classes = (entry(f"forwarding-class {name}", _points(points[name])) for name in ordered)
    return entry(f"dscp {classifier.name}", classes)


def _points(points: Iterable[str]) -> Iterator[Line]:
    yield from listed("loss-priority low code-points", points)


def _class(traffic_class: TrafficClass) -> Line:
    """A class; a lossless one has buffer of its own and a priority for the pause frames that it sends."""
    lossless = f" no-loss pfc-priority {traffic_class.pfc_priority}" if traffic_class.pfc_priority is not None else ""
    return Line(f"class {traffic_class.name} queue-num {traffic_class.queue}{lossless}")


def _lossy_defaults(qos: Qos) -> Iterator[Line]:
    """The classes that are lossless by default, made lossy in the queue of a lossy class, because the classes of a
    queue have one drop attribute (Juniper, Understanding CoS Forwarding Classes)."""
    names = {traffic_class.name for traffic_class in qos.classes}
    lossy = {traffic_class.queue for traffic_class in qos.classes if not traffic_class.lossless}
    for queue, name in LOSSLESS_BY_DEFAULT.items():
        if queue in lossy and name not in names:
            yield leaf("class", name, "queue-num", queue)


def ramps(profile: PortProfile) -> Mapping[str, EcnRamp]:
    """The ECN ramps of a profile by class."""
    return {thresholds.traffic_class: thresholds.ecn for thresholds in profile.thresholds if thresholds.ecn is not None}


def _drop_profiles(qos: Qos) -> Iterator[Line]:
    """The ramps as shares of the largest queue; the exact values are in a macro where these shares round them."""
    size = queue_bytes(qos.shared_pool_bytes)
    for profile in qos.profiles:
        for name, ramp in ramps(profile).items():
            levels = Levels.of(ramp, size)
            points = (
                Line(f"fill-level [ {levels.low} {levels.high} ]"),
                Line(f"drop-probability [ 0 {ramp.pmax_percent} ]"),
            )
            exact = () if levels.ramp(ramp.pmax_percent, size) == ramp else _exact(ramp)
            yield entry(f"{profile.name}_{name}", exact, block("interpolate", points))


EXACT = "BYTES"
"""Macro with the thresholds of the intent in bytes; Junos keeps macros without looking at them."""


def _exact(ramp: EcnRamp) -> Iterator[Line]:
    yield from block(f"apply-macro {EXACT}", (leaf("kmax", ramp.kmax_bytes), leaf("kmin", ramp.kmin_bytes)))


def _buffers(qos: Qos) -> Iterator[Line]:
    """The partitions of the buffer, each side of which is shared out completely (Juniper, buffer-partition)."""
    if qos.shared_pool_bytes is not None:
        yield from block(f"apply-macro {EXACT}", (leaf("shared-pool", qos.shared_pool_bytes),))
    if qos.headroom_pool_percent is None:
        return
    lossless = max(0, 100 - LOSSY_PERCENT - qos.headroom_pool_percent)
    yield from block(
        "ingress",
        block(
            "buffer-partition lossless",
            (leaf("percent", lossless), leaf("dynamic-threshold", LOSSLESS_THRESHOLD)),
        ),
        block("buffer-partition lossless-headroom", (leaf("percent", qos.headroom_pool_percent),)),
        block("buffer-partition lossy", (leaf("percent", 100 - lossless - qos.headroom_pool_percent),)),
    )
    yield from block(
        "egress",
        block("buffer-partition lossless", (leaf("percent", 100 - LOSSY_PERCENT),)),
        block("buffer-partition lossy", (leaf("percent", LOSSY_PERCENT),)),
    )


def _pause_profiles(qos: Qos) -> set[PauseProfile]:
    """The congestion notification profiles of ports with PFC, and one for the cables of each other port profile; at
    least one where queues obey pause frames or the watchdog is on, which are settings of all of them."""
    used = {pause_profile(port) for port in qos.ports if port.pfc}
    named = {pause.profile for pause in used}
    used |= {
        PauseProfile(profile=profile.name)
        for profile in qos.profiles
        if profile.cable_m is not None and profile.name not in named
    }
    if not used and (qos.watchdog or any(traffic_class.obeyed_priority is not None for traffic_class in qos.classes)):
        used.add(PauseProfile())
    return used


def pause_profile(port: PortQos) -> PauseProfile:
    return PauseProfile(profile=port.profile, priorities=port.pfc, classifier=port.classifier)


def _pause(pause: PauseProfile, qos: Qos) -> Line:
    """Code points whose packets make the switch send pause frames, and the queues that obey those it receives."""
    classifier = qos.classifier(pause.classifier) if pause.classifier else None
    profile = qos.profile(pause.profile) if pause.profile else None
    paused = {cls.name for cls in qos.classes if cls.pfc_priority in pause.priorities}
    points = [bits(point, 6) for point, name in (classifier.dscp if classifier else ()) if name in paused]
    obeying = sorted((cls.obeyed_priority, cls.queue) for cls in qos.classes if cls.obeyed_priority is not None)
    return entry(
        f"congestion-notification-profile {pause.name}",
        _watchdog(qos.watchdog),
        block(
            "input",
            setting("cable-length", profile.cable_m if profile else None),
            block("dscp", (entry(f"code-point {point}", (Line("pfc"),)) for point in points)),
        ),
        block(
            "output",
            block(
                "ieee-802.1",
                (
                    entry(f"code-point {bits(priority, 3)}", (leaf("flow-control-queue", queue),))
                    for priority, queue in obeying
                ),
            ),
        ),
    )


def _watchdog(watchdog: PfcWatchdog | None) -> Iterator[Line]:
    """The watchdog; a time of detection is a number of polls."""
    if watchdog is None:
        return
    poll = POLL_MS if watchdog.detect_ms % POLL_MS == 0 else watchdog.detect_ms
    yield from block(
        "pfc-watchdog",
        (
            leaf("poll-interval", poll),
            leaf("detection", watchdog.detect_ms // poll),
            leaf("recovery", watchdog.recover_ms),
            Line("watchdog-action drop"),
        ),
    )


def map_name(port: PortQos, qos: Qos) -> str:
    """The scheduler map of a port."""
    profile = qos.profile(port.profile) if port.profile else None
    if profile is None:
        return NO_PROFILE
    marked = [name for name in ramps(profile) if name in port.ecn]
    if len(marked) == len(ramps(profile)):
        return profile.name
    return "_".join((f"{profile.name}{ONLY}", *marked))


def _port(port: PortQos, qos: Qos) -> Line:
    """The QoS of a port or LAG; the classifier is that of its unit."""
    classifier = block("unit 0", block("classifiers", setting("dscp", port.classifier)))
    pause = pause_profile(port).name if port.pfc else None
    return entry(
        device_name(port.interface),
        setting("congestion-notification-profile", pause),
        (leaf("scheduler-map", map_name(port, qos)),),
        classifier,
    )


Maps = Mapping[str, tuple[str, frozenset[str]]]


def _scheduler_maps(qos: Qos) -> Maps:
    """Profile and marked classes of each scheduler map: one for each profile, and for each set of marked classes of a
    port that is not that of its profile."""
    maps = {profile.name: (profile.name, frozenset(ramps(profile))) for profile in qos.profiles}
    for port in qos.ports:
        maps.setdefault(map_name(port, qos), (port.profile or NO_PROFILE, frozenset(port.ecn)))
    return maps


def _maps(qos: Qos, maps: Maps) -> Iterator[Line]:
    control = flag(f"forwarding-class {NETWORK_CONTROL} scheduler {NETWORK_CONTROL}", _controls(qos))
    lines = tuple(control)
    for name, (profile, marked) in sorted(maps.items()):
        yield entry(name, (_mapped(traffic_class.name, profile, marked) for traffic_class in qos.classes), lines)


def _controls(qos: Qos) -> bool:
    """Whether the packets of the switch itself are in a class that is not the model's."""
    return all(
        traffic_class.queue != NETWORK_CONTROL_QUEUE and traffic_class.name != NETWORK_CONTROL
        for traffic_class in qos.classes
    )


def _mapped(name: str, profile: str, marked: frozenset[str]) -> Line:
    scheduler = f"{profile}_{name}" if name in marked else name
    return Line(f"forwarding-class {name} scheduler {scheduler}")


def _schedulers(qos: Qos, maps: Maps) -> Iterator[Line]:
    """The schedulers that a map has; those of all classes where there is no map."""
    for traffic_class in qos.classes:
        if not maps or any(traffic_class.name not in marked for _, marked in maps.values()):
            yield entry(traffic_class.name, _scheduler(traffic_class))
    if maps and _controls(qos):
        yield entry(NETWORK_CONTROL, (leaf("shaping-rate", "percent", CONTROL_PERCENT), Line("priority strict-high")))
    for profile in qos.profiles:
        for name in ramps(profile):
            ecn = (
                Line(f"drop-profile-map loss-priority any protocol any drop-profile {profile.name}_{name}"),
                Line("explicit-congestion-notification"),
            )
            yield entry(f"{profile.name}_{name}", _scheduler(qos.traffic_class(name)), ecn)


def _scheduler(traffic_class: TrafficClass) -> Iterator[Line]:
    if traffic_class.weight is not None:
        yield leaf("transmit-rate", "percent", traffic_class.weight)
    if traffic_class.rate_percent is not None:
        yield leaf("shaping-rate", "percent", traffic_class.rate_percent)
    yield from flag("priority strict-high", traffic_class.scheduling is Scheduling.STRICT)


def balancing_lines(model: DeviceModel) -> Iterator[Line]:
    """The hash of equal paths, and dynamic load balancing over them (Juniper, DLB: flowlets or packets).

    QFX switches choose the fields in `enhanced-hash-key` (Juniper, enhanced-hash-key, with a syntax of Junos OS Evolved
    on QFX5220 and QFX5130); `hash-key` is documented for routers. Juniper's design of QFX5240 has `hash-key` with both
    layers, which names the fields that are hashed anyway: so has railfab for these, and for no others.
    """
    balancing = model.load_balancing
    if balancing is None:
        return
    if balancing.fields == FIVE_TUPLE:
        yield from block("hash-key", block("family inet", map(Line, BOTH_LAYERS)))
    yield from block("enhanced-hash-key", block("ecmp-dlb", _dynamic(balancing)), _fields(balancing))


def _fields(balancing: LoadBalancing) -> Iterator[Line]:
    """Other fields than the usual ones: what the hash leaves out and adds (Juniper, enhanced-hash-key); also the port,
    which is in it by default (Juniper, Configuring the Fields in the Algorithm Used To Hash)."""
    if not balancing.fields or balancing.fields == FIVE_TUPLE:
        return
    for family, words in EXCLUSIONS.items():
        more = ((HashField.VLAN, VLAN), *([(HashField.FLOW_LABEL, FLOW_LABEL)] if family == "inet6" else []))
        added = (word for field, word in more if field in balancing.fields)
        left_out = (word for field, word in words.items() if field not in balancing.fields)
        yield from block(family, map(Line, (NO_PORT, *left_out, *added)))


def _dynamic(balancing: LoadBalancing) -> Iterator[Line]:
    """The mode; `per-packet` is by the load of the paths. IPv4 and IPv6 are named, as in Juniper's design."""
    if balancing.mode is BalancingMode.FLOWLET:
        yield entry("flowlet", setting("inactivity-interval", balancing.flowlet_gap_us))
    elif balancing.mode is BalancingMode.ADAPTIVE:
        yield Line("per-packet")
    else:
        return
    yield from block("ether-type", map(Line, ("ipv4", "ipv6")))
