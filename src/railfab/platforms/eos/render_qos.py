"""Renders the QoS of a device model: DSCP map, QoS profiles, PFC watchdog, and the buffers of the chip.

A class is a traffic class, its transmit queue and its PFC priority, all with the same number. Each port profile is a
QoS profile of EOS with the same name, as a port has it that trusts DSCP, marks every class with a ramp and has PFC of
every lossless class. A port that differs from it has another QoS profile, `NAME_2` and so on. Headroom and thresholds
of the buffer belong to the chip (`platform trident mmu`), so that all ports have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from railfab.device import (
    ClassThresholds,
    EcnRamp,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.device.qos import KINDS
from railfab.platforms.eos.names import DEFAULT_PROFILE, queue_section
from railfab.platforms.shared.line_tree import Line

MMU_PROFILE = "FABRIC"
MMU = "platform trident mmu"
WATCHDOG = "priority-flow-control pause watchdog"
MARKED_COUNT = "random-detect ecn count"
NO_TRUST = "no qos trust"
TRUST = "qos trust dscp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What a QoS profile says besides the thresholds of a port profile."""

    profile: str
    trust: bool
    pfc: tuple[int, ...]
    ecn: tuple[str, ...]


def usual(qos: Qos, profile: PortProfile | None) -> Variant:
    """The QoS profile that has the name of the port profile; `default` for ports without one."""
    marked = () if profile is None else tuple(found.traffic_class for found in profile.thresholds if found.ecn)
    priorities = sorted(found.pfc_priority for found in qos.classes if found.pfc_priority is not None)
    name = DEFAULT_PROFILE if profile is None else profile.name
    return Variant(profile=name, trust=bool(qos.classifiers), pfc=tuple(priorities), ecn=marked)


def _variant(port: PortQos) -> Variant:
    name = port.profile or DEFAULT_PROFILE
    return Variant(profile=name, trust=port.classifier is not None, pfc=port.pfc, ecn=port.ecn)


def variants_of(qos: Qos) -> dict[Variant, str]:
    """Every QoS profile and its name: the usual ones, then those of ports that differ, in the order of the ports."""
    found = {usual(qos, profile): profile.name for profile in qos.profiles}
    if not qos.profiles or any(port.profile is None for port in qos.ports):
        found[usual(qos, None)] = DEFAULT_PROFILE
    counts: dict[str, int] = {}
    for port in qos.ports:
        variant = _variant(port)
        if variant not in found:
            counts[variant.profile] = counts.get(variant.profile, 1) + 1
            found[variant] = f"{variant.profile}_{counts[variant.profile]}"
    return found


@lru_cache(maxsize=KINDS)
def service_profiles(qos: Qos | None) -> Mapping[str, str]:
    """The QoS profile of each port and LAG that has one."""
    if qos is None:
        return {}
    names = variants_of(qos)
    return {port.interface: names[_variant(port)] for port in qos.ports}


@lru_cache(maxsize=KINDS)
def profile_lines(qos: Qos, silicon: str) -> tuple[Line, ...]:
    """The QoS profiles. silicon: chip of the switch."""
    profiles, section = {found.name: found for found in qos.profiles}, queue_section(silicon)

    def queues(variant: Variant) -> tuple[Line, ...]:
        profile = profiles.get(variant.profile)
        return tuple(_queue(section, found, _ramp(profile, found, variant)) for found in qos.classes)

    return tuple(_profile(qos, queues(variant), variant, name) for variant, name in variants_of(qos).items())


def _profile(qos: Qos, queues: tuple[Line, ...], variant: Variant, name: str) -> Line:
    pfc = [*(["priority-flow-control on"] if variant.pfc else [])]
    pfc += [f"priority-flow-control priority {priority} no-drop" for priority in variant.pfc]
    pfc += [WATCHDOG] if variant.pfc and qos.watchdog else []
    trust = Line(TRUST if variant.trust else NO_TRUST)
    return Line(f"qos profile {name}", (trust, *queues, *map(Line, pfc)))


def _ramp(profile: PortProfile | None, found: TrafficClass, variant: Variant) -> EcnRamp | None:
    thresholds = profile.of(found.name) if profile and found.name in variant.ecn else None
    return thresholds.ecn if thresholds else None


def _queue(section: str, found: TrafficClass, ramp: EcnRamp | None) -> Line:
    """A transmit queue. Without `no priority` EOS serves it strictly."""
    lines = []
    if found.scheduling is Scheduling.STRICT:
        lines.append("priority strict")
    else:
        lines += ["no priority", f"bandwidth percent {found.weight}"]
    if found.rate_percent is not None:
        lines.append(f"shape rate {found.rate_percent} percent")
    if ramp is not None:
        lines += [MARKED_COUNT, ramp_line(ramp)]
    return Line(f"{section} {found.queue}", tuple(map(Line, lines)))


def ramp_line(ramp: EcnRamp) -> str:
    """Weight 0: marks follow the queue itself and not its average, as DCQCN wants (Zhu et al., SIGCOMM 2015)."""
    return (
        f"random-detect ecn minimum-threshold {ramp.kmin_bytes} bytes maximum-threshold {ramp.kmax_bytes} bytes "
        f"max-mark-probability {ramp.pmax_percent} weight 0"
    )


@lru_cache(maxsize=KINDS)
def map_lines(qos: Qos) -> tuple[Line, ...]:
    """The whole DSCP map, since EOS has another default for code points that no line names; and the class of packets
    on a port that trusts nothing, that of CoS 0."""
    classes = {found.name: found.queue for found in qos.classes}
    default = classes[qos.default_class]
    lines = [Line(f"qos map cos 0 to traffic-class {default}")]
    for classifier in qos.classifiers:
        named = {point: classes[name] for point, name in classifier.dscp}
        of_class: dict[int, list[int]] = {}
        for point in range(64):
            of_class.setdefault(named.get(point, default), []).append(point)
        for traffic_class in sorted(of_class):
            points = " ".join(map(str, of_class[traffic_class]))
            lines.append(Line(f"qos map dscp {points} to traffic-class {traffic_class}"))
    return tuple(lines)


def watchdog_lines(qos: Qos) -> Iterator[Line]:
    """Times in seconds. It drops what is in a queue that is stuck; EOS's default action disables the port."""
    if qos.watchdog is None:
        return
    yield Line(f"{WATCHDOG} default timeout {_seconds(qos.watchdog.detect_ms)}")
    yield Line(f"{WATCHDOG} default recovery-time {_seconds(qos.watchdog.recover_ms)}")
    yield Line(f"{WATCHDOG} default polling-interval {_seconds(polling_ms(qos.watchdog))}")
    yield Line(f"{WATCHDOG} action drop")


def polling_ms(watchdog: PfcWatchdog) -> int:
    """Queues are looked at twice within the shorter time, so that a stuck one is found in time."""
    return max(5, min(watchdog.detect_ms, watchdog.recover_ms) // 2)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffers:
    """Thresholds of the chip. alphas: by queue, of a lossless class at the ingress and of another one at the egress."""

    headroom_bytes: int | None
    resume_bytes: int | None
    lossless: Mapping[int, float]
    lossy: Mapping[int, float]


def buffers_of(qos: Qos) -> Buffers:
    """Those of the first port profile; all have the same ones."""
    stated = {found.traffic_class: found for found in qos.profiles[0].thresholds} if qos.profiles else {}
    pauses = [stated[found.name] for found in qos.lossless() if found.name in stated]
    return Buffers(
        headroom_bytes=next((found.headroom_bytes for found in pauses), None),
        resume_bytes=next((found.xon_offset_bytes for found in pauses), None),
        lossless=_alphas(qos, stated, lossless=True),
        lossy=_alphas(qos, stated, lossless=False),
    )


def _alphas(qos: Qos, stated: Mapping[str, ClassThresholds], *, lossless: bool) -> dict[int, float]:
    return {
        found.queue: alpha
        for found in qos.classes
        if found.lossless is lossless and found.name in stated and (alpha := stated[found.name].alpha) is not None
    }


def buffer_lines(qos: Qos) -> tuple[Line, ...]:
    """The queue profile of the chip; none where everything is the default."""
    found = buffers_of(qos)
    lines = []
    if found.headroom_bytes is not None:
        lines.append(f"ingress headroom bytes {found.headroom_bytes}")
    if found.resume_bytes is not None:
        lines.append(f"ingress resume {found.resume_bytes}")
    lines += [f"ingress priority-group {queue} threshold {_share(alpha)}" for queue, alpha in found.lossless.items()]
    lines += [f"egress unicast queue {queue} threshold {_share(alpha)}" for queue, alpha in found.lossy.items()]
    return (Line(f"{MMU} queue profile {MMU_PROFILE}", tuple(map(Line, lines))),) if lines else ()


def applied_buffer_lines(qos: Qos) -> Iterator[Line]:
    if buffer_lines(qos):
        yield Line(f"{MMU} queue profile {MMU_PROFILE} apply")
    if qos.headroom_pool_bytes is not None:
        yield Line(f"{MMU} headroom-pool limit bytes {qos.headroom_pool_bytes}")


def _share(alpha: float) -> str:
    """`1/8` of 0.125: EOS takes powers of two from 1/128 to 8."""
    return str(Fraction(alpha))
