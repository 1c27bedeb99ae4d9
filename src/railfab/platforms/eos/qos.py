"""QoS of EOS: DSCP map, QoS profiles, PFC watchdog, and the buffers of the chip.

A class is a traffic class, its transmit queue and its PFC priority, all with the same number. Each port profile is a
QoS profile of EOS with the same name, as a port has it that trusts DSCP, marks every class with a ramp and has PFC of
every lossless class. A port that differs from it has another QoS profile, `NAME_2` and so on. Headroom and thresholds
of the buffer belong to the chip (`platform trident mmu`), so that all ports have the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from railfab.device import (
    Classifier,
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
from railfab.platforms.eos.names import DEFAULT_PROFILE, default_traffic_class
from railfab.platforms.qos_removals import CLASSIFIER, queue_class
from railfab.platforms.shared.statements import (
    Word,
    flag,
    integer,
    line,
    lines,
    sections,
    table,
    within,
)

WATCHDOG = "priority-flow-control pause watchdog"
MMU = "platform trident mmu"
MMU_PROFILE = f"{MMU} queue profile FABRIC"
LONGEST_S = 600
QUEUE = Word(r"\d", lambda text: within(text, 0, 7))
PERCENT, BYTES = integer(1, 100), Word(r"\d+", int)
THRESHOLD = integer(1, 2**32)
SHARE = Word(r"1/(?:2|4|8|16|32|64|128)|[1248]", lambda text: float(Fraction(text)), lambda alpha: str(Fraction(alpha)))
"""`1/8` of 0.125: EOS takes powers of two from 1/128 to 8."""

COUNTED = "random-detect ecn count"
_OTHER_UNIT = r"\d+ (?:segments|milliseconds|microseconds)"
NATIVE_THRESHOLDS = Word(rf"minimum-threshold {_OTHER_UNIT} maximum-threshold {_OTHER_UNIT}(?: .*)?", str)
"""Thresholds in a unit that is a number of bytes for one chip or one rate of a port only (PyAVD,
uc_tx_queues[].random_detect.ecn.threshold.units)."""


def _ms(text: str) -> int:
    seconds = Decimal(text)
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(f"{text} is not within 0 and {LONGEST_S} s")
    return int(seconds * 1000)


SECONDS = Word(r"\d+(?:\.\d+)?|\.\d+", _ms, lambda ms: f"{ms / 1000:g}")


def numbers(low: int, high: int) -> Word[tuple[int, ...]]:
    """Numbers with blanks between them."""
    return Word(
        r"[\d ]+",
        lambda text: tuple(within(number, low, high) for number in text.split()),
        lambda numbers: " ".join(map(str, numbers)),
    )


def _ramp(kmin_bytes: int, kmax_bytes: int, pmax_percent: int | None, _weight: int) -> EcnRamp:
    return EcnRamp(kmin_bytes=kmin_bytes, kmax_bytes=kmax_bytes, pmax_percent=pmax_percent or 100)


@dataclass(slots=True, kw_only=True)
class TxQueue:
    """A transmit queue of a QoS profile. EOS serves it strictly unless a line says otherwise.

    Weight 0 of a ramp: marks follow the queue itself and not its average, as DCQCN wants (Zhu et al., SIGCOMM 2015).
    """

    states_strict: bool = flag("priority strict")
    weighted: bool = flag("no priority")
    weight: int | None = line("bandwidth percent {}", PERCENT)
    rate_percent: int | None = line("shape rate {} percent", PERCENT)
    ecn: EcnRamp | None = line(
        "random-detect ecn minimum-threshold {} bytes maximum-threshold {} bytes[ max-mark-probability {}][ weight {}]",
        *(THRESHOLD, THRESHOLD, PERCENT, Word(r"\d+", int)),
        make=_ramp,
        parts=lambda ramp: (ramp.kmin_bytes, ramp.kmax_bytes, ramp.pmax_percent, 0),
        beside=(COUNTED,),
    )
    native_ecn: str | None = line("random-detect ecn {}", NATIVE_THRESHOLDS, beside=(COUNTED,))

    @property
    def marks(self) -> bool:
        return self.ecn is not None or self.native_ecn is not None


@dataclass(slots=True, kw_only=True)
class QosProfile:
    """no_drop: priorities without drop, which are paused where PFC is on."""

    trust: bool = flag("qos trust dscp")
    no_trust: bool = flag("no qos trust")
    uc_tx_queues: dict[int, TxQueue] = sections("uc-tx-queue {}", QUEUE, kind=TxQueue)
    tx_queues: dict[int, TxQueue] = sections("tx-queue {}", QUEUE, kind=TxQueue)
    pfc: bool = flag("priority-flow-control on")
    no_drop: list[int] = lines("priority-flow-control priority {} no-drop", QUEUE)
    watchdog: bool = flag(WATCHDOG)

    @property
    def queues(self) -> dict[int, TxQueue]:
        return self.uc_tx_queues or self.tx_queues


@dataclass(slots=True, kw_only=True)
class Buffers:
    """Thresholds of the chip. ingress: by priority group, of lossless classes. egress: by queue, of the others."""

    headroom_bytes: int | None = line("ingress headroom[ bytes] {}", BYTES)
    resume_bytes: int | None = line("ingress resume {}", BYTES)
    ingress: dict[int, float] = table("ingress priority-group {} threshold {}", QUEUE, SHARE)
    egress: dict[int, float] = table("egress unicast queue {} threshold {}", QUEUE, SHARE)


# To EOS


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Settings of a QoS profile besides the thresholds of a port profile."""

    profile: str
    trust: bool
    pfc: tuple[int, ...]
    ecn: tuple[str, ...]


def usual(qos: Qos, profile: PortProfile | None) -> Variant:
    """The QoS profile that has the name of the port profile; `default` for ports without one."""
    marked = () if profile is None else tuple(each.traffic_class for each in profile.thresholds if each.marks)
    priorities = sorted(each.pfc_priority for each in qos.classes if each.pfc_priority is not None)
    name = DEFAULT_PROFILE if profile is None else profile.name
    return Variant(profile=name, trust=bool(qos.classifiers), pfc=tuple(priorities), ecn=marked)


def _variant(port: PortQos) -> Variant:
    name = port.profile or DEFAULT_PROFILE
    return Variant(profile=name, trust=port.classifier is not None, pfc=port.pfc, ecn=port.ecn)


def variants_of(qos: Qos) -> dict[Variant, str]:
    """Every QoS profile and its name: the usual ones, then those of ports that differ, in the order of the ports."""
    names = {usual(qos, profile): profile.name for profile in qos.profiles}
    if not qos.profiles or any(port.profile is None for port in qos.ports):
        names[usual(qos, None)] = DEFAULT_PROFILE
    counts: dict[str, int] = {}
    for port in qos.ports:
        variant = _variant(port)
        if variant not in names:
            counts[variant.profile] = counts.get(variant.profile, 1) + 1
            names[variant] = f"{variant.profile}_{counts[variant.profile]}"
    return names


@lru_cache(maxsize=KINDS)
def service_profiles(qos: Qos | None) -> Mapping[str, str]:
    """The QoS profile of each port and LAG that has one."""
    if qos is None:
        return {}
    names = variants_of(qos)
    return {port.interface: names[_variant(port)] for port in qos.ports}


@lru_cache(maxsize=KINDS)
def native_profiles(qos: Qos, *, virtual_output_queues: bool) -> Mapping[str, QosProfile]:
    """The QoS profiles by name. virtual_output_queues: whether the chip has them, whose queues have another word."""
    thresholds = {profile.name: profile for profile in qos.profiles}
    profiles = {}
    for variant, name in variants_of(qos).items():
        queues = {each.queue: _queue(each, thresholds.get(variant.profile), variant) for each in qos.classes}
        profiles[name] = QosProfile(
            trust=variant.trust,
            no_trust=not variant.trust,
            uc_tx_queues={} if virtual_output_queues else queues,
            tx_queues=queues if virtual_output_queues else {},
            pfc=bool(variant.pfc),
            no_drop=list(variant.pfc),
            watchdog=bool(variant.pfc and qos.watchdog),
        )
    return profiles


def _queue(traffic_class: TrafficClass, profile: PortProfile | None, variant: Variant) -> TxQueue:
    marked = profile.of(traffic_class.name) if profile and traffic_class.name in variant.ecn else None
    strict = traffic_class.scheduling is Scheduling.STRICT
    return TxQueue(
        states_strict=strict,
        weighted=not strict,
        weight=None if strict else traffic_class.weight,
        rate_percent=traffic_class.rate_percent,
        ecn=marked.ecn if marked else None,
        native_ecn=marked.native_ecn if marked else None,
    )


@lru_cache(maxsize=KINDS)
def native_dscp_maps(qos: Qos) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The whole map, since EOS has another default for code points that no line names: code points and their class."""
    classes = {each.name: each.queue for each in qos.classes}
    maps = []
    for classifier in qos.classifiers:
        named = {point: classes[name] for point, name in classifier.dscp}
        points: dict[int, list[int]] = {}
        for point in range(64):
            points.setdefault(named.get(point, classes[qos.default_class]), []).append(point)
        maps += [(tuple(points[traffic_class]), traffic_class) for traffic_class in sorted(points)]
    return tuple(maps)


def polling_ms(watchdog: PfcWatchdog) -> int:
    """Queues are looked at twice within the shorter time, so that a stuck one is seen in time."""
    return max(5, min(watchdog.detect_ms, watchdog.recover_ms) // 2)


def native_buffers(qos: Qos) -> Buffers | None:
    """Buffers of the first port profile; all have the same ones. None where everything is the default."""
    stated = {each.traffic_class: each for each in qos.profiles[0].thresholds} if qos.profiles else {}
    pauses = [stated[each.name] for each in qos.lossless() if each.name in stated]
    buffers = Buffers(
        headroom_bytes=next((each.headroom_bytes for each in pauses), None),
        resume_bytes=next((each.xon_offset_bytes for each in pauses), None),
        ingress=_alphas(qos, stated, lossless=True),
        egress=_alphas(qos, stated, lossless=False),
    )
    return None if buffers == Buffers() else buffers


def _alphas(qos: Qos, stated: Mapping[str, ClassThresholds], *, lossless: bool) -> dict[int, float]:
    return {
        each.queue: alpha
        for each in qos.classes
        if each.lossless is lossless and each.name in stated and (alpha := stated[each.name].alpha) is not None
    }


# From EOS

DEFAULT_CLASS = 1
"""Traffic class of CoS 0 where no line says so (EOS User Manual, Quality of Service, default CoS map)."""

_NUMBERED = re.compile(r"(.+)_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EosQos:
    """Settings of EOS for the QoS of a switch. classes: of DSCP code points. ports: QoS profile of each."""

    profiles: Mapping[str, QosProfile]
    classes: Mapping[int, int]
    default: int
    buffers: Buffers
    ports: Mapping[str, str]

    @property
    def dscp(self) -> Mapping[int, int]:
        """The traffic class of every code point, where a line or the trust of a port says that there is a map."""
        if not self.classes and not any(profile.trust for profile in self.profiles.values()):
            return {}
        return {point: self.classes.get(point, default_traffic_class(point)) for point in range(64)}

    def base_name(self, name: str) -> str:
        """The port profile of a QoS profile: `400g-5m` of `400g-5m_2`, where there is such a one."""
        numbered = _NUMBERED.fullmatch(name)
        known = numbered is not None and (numbered[1] in self.profiles or numbered[1] == DEFAULT_PROFILE)
        return numbered[1] if numbered and known else name


def qos_of(switch: EosQos, watchdog: PfcWatchdog | None, headroom_pool_bytes: int | None) -> Qos | None:
    """The QoS; None without a QoS profile."""
    if not switch.profiles:
        return None
    classes = tuple(_classes(switch))
    names = [name for name in switch.profiles if switch.base_name(name) == name and name != DEFAULT_PROFILE]
    points = ((point, queue_class(queue)) for point, queue in switch.dscp.items() if queue != switch.default)
    return Qos(
        classes=classes,
        default_class=queue_class(switch.default),
        classifiers=(Classifier(name=CLASSIFIER, dscp=tuple(points)),) if switch.dscp else (),
        profiles=tuple(_profile(switch, classes, name) for name in names),
        ports=tuple(_ports(switch, classes)),
        watchdog=watchdog,
        headroom_pool_bytes=headroom_pool_bytes,
    )


def _classes(switch: EosQos) -> Iterator[TrafficClass]:
    """A class for each queue that a QoS profile or the DSCP map names, as the first QoS profile has it."""
    first = next(iter(switch.profiles.values()))
    priorities = {priority for profile in switch.profiles.values() for priority in profile.no_drop}
    queues = {queue for profile in switch.profiles.values() for queue in profile.queues}
    for number in sorted({switch.default, *queues, *priorities, *switch.dscp.values()}):
        queue = first.queues.get(number) or TxQueue()
        lossless = number if number in priorities else None
        yield TrafficClass(
            name=queue_class(number),
            queue=number,
            scheduling=Scheduling.WEIGHTED if queue.weighted else Scheduling.STRICT,
            weight=queue.weight if queue.weighted else None,
            pfc_priority=lossless,
            obeyed_priority=lossless,
            rate_percent=queue.rate_percent,
        )


def _profile(switch: EosQos, classes: tuple[TrafficClass, ...], name: str) -> PortProfile:
    stated = (_thresholds(switch.buffers, each, switch.profiles[name]) for each in classes)
    return PortProfile(
        name=name,
        thresholds=tuple(each for each in stated if each != ClassThresholds(traffic_class=each.traffic_class)),
    )


def _thresholds(buffers: Buffers, traffic_class: TrafficClass, profile: QosProfile) -> ClassThresholds:
    """The ramp of the QoS profile, and the thresholds of the chip."""
    queue, lossless = profile.queues.get(traffic_class.queue), traffic_class.lossless
    return ClassThresholds(
        traffic_class=traffic_class.name,
        ecn=queue.ecn if queue else None,
        native_ecn=queue.native_ecn if queue else None,
        xon_offset_bytes=buffers.resume_bytes if lossless else None,
        headroom_bytes=buffers.headroom_bytes if lossless else None,
        alpha=(buffers.ingress if lossless else buffers.egress).get(traffic_class.queue),
    )


def _ports(switch: EosQos, classes: tuple[TrafficClass, ...]) -> Iterator[PortQos]:
    for interface, name in switch.ports.items():
        if (profile := switch.profiles.get(name)) is None:
            continue
        base = switch.base_name(name)
        marked = {number for number, queue in profile.queues.items() if queue.marks}
        yield PortQos(
            interface=interface,
            profile=None if base == DEFAULT_PROFILE else base,
            classifier=CLASSIFIER if profile.trust else None,
            pfc=tuple(sorted({*profile.no_drop})) if profile.pfc else (),
            ecn=tuple(each.name for each in classes if each.queue in marked),
        )
