"""QoS of a switch as hypothesis draws it: classes, classifiers, thresholds per class, and what each port uses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from railfab.device import (
    Classifier,
    ClassThresholds,
    EcnRamp,
    PacketTrimming,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.testing.able import least, most
from railfab.testing.reuse import optional, reused
from railfab.testing.words import words

T = TypeVar("T")
MOST_CLASSES = 4
_PROFILE_NAMES = words.filter(lambda word: word != "default")
_ALPHAS = st.none() | st.sampled_from((0.125, 0.25, 0.5, 1.0, 2.0))


@st.composite
def qos_models(draw: st.DrawFn, ports: Sequence[str], able: Collection[str]) -> Qos:
    """The default class on queue 0, lossless and lossy ones; ports with and without each setting."""
    classes = draw(_classes(able))
    names = [found.name for found in classes]
    most = 2 if "several_classifiers" in able else 1
    classifiers = draw(st.lists(_classifiers(names), max_size=most, unique_by=lambda found: found.name))
    profiles = draw(st.lists(_profiles(classes, able), max_size=2, unique_by=lambda found: found.name))
    return Qos(
        classes=classes,
        default_class=names[0],
        classifiers=tuple(classifiers),
        profiles=tuple(profiles),
        ports=tuple(draw(_ports(port, classes, classifiers, profiles, able)) for port in ports),
        watchdog=draw(optional(_watchdogs(able))) if "pfc_watchdog" in able else None,
        headroom_pool_percent=draw(st.integers(1, 50)),
        headroom_pool_bytes=draw(optional(st.integers(1_000, 100_000_000))),
        shared_pool_bytes=draw(optional(st.integers(1_000, 200_000_000))),
        trimming=draw(st.none() | _trimmings(names, able)) if "packet_trimming" in able else None,
    )


@reused
@st.composite
def _classes(draw: st.DrawFn, able: Collection[str]) -> tuple[TrafficClass, ...]:
    names = draw(st.lists(words, min_size=2, max_size=MOST_CLASSES, unique=True))
    others = len(names) - 1
    queues = sorted(draw(st.lists(st.integers(1, 7), min_size=others, max_size=others, unique=True)))
    paused = others if "several_lossless_classes" in able else 1
    lossless = draw(st.sets(st.integers(1, others), max_size=paused))
    priorities = draw(st.lists(st.integers(0, 7), min_size=others, max_size=others, unique=True))
    if "priority_beside_queue" not in able:
        priorities = queues
    weights = st.integers(1, most(able, "queue_weights", 100 * MOST_CLASSES) // MOST_CLASSES)
    default = TrafficClass(name=names[0], queue=0, scheduling=Scheduling.WEIGHTED, weight=draw(weights))
    beside_default = [
        draw(_class(names[place], queues[place - 1], priorities[place - 1] if place in lossless else None, weights))
        for place in range(1, len(names))
    ]
    if "strict_below_weighted" not in able:
        highest = max((cls.queue for cls in beside_default if cls.weight is not None), default=0)
        beside_default = [
            replace(cls, scheduling=Scheduling.WEIGHTED, weight=draw(weights)) if cls.queue < highest else cls
            for cls in beside_default
        ]
    if "queue_rate" in able:
        beside_default = [replace(cls, rate_percent=draw(optional(st.integers(1, 99)))) for cls in beside_default]
    return (default, *(beside_default if "shared_priority" in able else _obeying_apart(beside_default)))


def _obeying_apart(classes: Sequence[TrafficClass]) -> Iterator[TrafficClass]:
    """The classes, of which only the first obeys a priority."""
    seen: set[int] = set()
    for found in classes:
        taken = found.obeyed_priority in seen
        seen.update([] if found.obeyed_priority is None else [found.obeyed_priority])
        yield replace(found, obeyed_priority=None) if taken else found


@st.composite
def _class(
    draw: st.DrawFn, name: str, queue: int, priority: int | None, weights: st.SearchStrategy[int]
) -> TrafficClass:
    """A class; one that is lossless may by mistake obey no pause frames, or those of another priority."""
    strict = priority is None and draw(st.booleans())
    obeyed = priority if priority is None or draw(st.integers(0, 3)) else draw(optional(st.integers(0, 7)))
    return TrafficClass(
        name=name,
        queue=queue,
        scheduling=Scheduling.STRICT if strict else Scheduling.WEIGHTED,
        weight=None if strict else draw(weights),
        pfc_priority=priority,
        obeyed_priority=obeyed,
    )


@st.composite
def _classifiers(draw: st.DrawFn, names: Sequence[str]) -> Classifier:
    points = draw(st.dictionaries(st.integers(0, 63), st.sampled_from(names[1:]), max_size=6))
    return Classifier(name=draw(words), dscp=tuple(sorted(points.items())))


@st.composite
def _profiles(draw: st.DrawFn, classes: Sequence[TrafficClass], able: Collection[str]) -> PortProfile:
    thresholds = [found for cls in classes if (found := draw(_thresholds(cls, able))) is not None]
    name = draw(_PROFILE_NAMES)
    cables = optional(st.integers(1, most(able, "cable_m", 1000)))
    return PortProfile(name=name, thresholds=tuple(thresholds), cable_m=draw(cables))


@st.composite
def _thresholds(draw: st.DrawFn, found: TrafficClass, able: Collection[str]) -> ClassThresholds | None:
    """The thresholds of a class; a lossy one has no XOFF and no headroom. None for a class that has none."""
    lossless = found.pfc_priority is not None
    thresholds = ClassThresholds(
        traffic_class=found.name,
        ecn=draw(optional(_ramps())) if "ecn" in able else None,
        xoff_bytes=draw(optional(st.integers(1_000, 20_000_000))) if lossless else None,
        xon_offset_bytes=draw(optional(st.integers(1_000, 100_000))) if lossless else None,
        headroom_bytes=draw(optional(st.integers(1_000, 2_000_000))) if lossless else None,
        headroom_percent=draw(optional(st.integers(1, 100))) if lossless else None,
        alpha=draw(_ALPHAS) if "dynamic_threshold" in able else None,
        limit_bytes=draw(optional(st.integers(1_000, 20_000_000))) if "queue_limit" in able else None,
    )
    if "wred" in able and thresholds.ecn is not None and draw(st.booleans()):
        thresholds = replace(thresholds, ecn=None, wred=thresholds.ecn)
    return None if thresholds == ClassThresholds(traffic_class=found.name) else thresholds


@reused
@st.composite
def _ramps(draw: st.DrawFn) -> EcnRamp:
    kmin = draw(st.integers(1_000, 2_000_000))
    kmax = kmin + draw(st.integers(0, 8_000_000))
    return EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=draw(st.integers(1, 100)))


@st.composite
def _trimmings(draw: st.DrawFn, names: Sequence[str], able: Collection[str]) -> PacketTrimming:
    return PacketTrimming(
        size_bytes=draw(st.integers(least(able, "trimmed_bytes", 128), 1024)),
        dscp=draw(st.integers(0, 63)),
        traffic_class=draw(st.sampled_from(names)),
    )


@st.composite
def _ports(
    draw: st.DrawFn,
    name: str,
    classes: Sequence[TrafficClass],
    classifiers: Sequence[Classifier],
    profiles: Sequence[PortProfile],
    able: Collection[str],
) -> PortQos:
    """A port; PFC of any lossless priority, ECN of any class with a ramp in its profile."""
    profile = draw(st.sampled_from([None, *profiles]))
    classifier = draw(st.sampled_from([None, *classifiers]))
    priorities = [found.pfc_priority for found in classes if found.pfc_priority is not None]
    marked = [found.traffic_class for found in profile.thresholds if found.ecn] if profile else []
    dropped = [found.traffic_class for found in profile.thresholds if found.wred] if profile else []
    return PortQos(
        interface=name,
        profile=profile.name if profile else None,
        classifier=classifier.name if classifier else None,
        pfc=draw(_priorities(priorities, able)) if "pfc" in able else (),
        ecn=draw(_subset(marked)) if "ecn" in able else (),
        wred=draw(_subset(dropped)) if "wred" in able else (),
    )


def _priorities(priorities: Sequence[int], able: Collection[str]) -> st.SearchStrategy[tuple[int, ...]]:
    """Priorities with PFC on a port."""
    if "pfc_of_some_priorities" in able or len(priorities) < 2:
        return _subset(priorities)
    return st.sampled_from([(), tuple(priorities)])


def _subset(elements: Sequence[T]) -> st.SearchStrategy[tuple[T, ...]]:
    """Some of the elements, in their order."""
    chosen = st.lists(st.booleans(), min_size=len(elements), max_size=len(elements))
    return chosen.map(lambda flags: tuple(found for found, flag in zip(elements, flags, strict=True) if flag))


@reused
@st.composite
def _watchdogs(draw: st.DrawFn, able: Collection[str]) -> PfcWatchdog:
    detect = st.integers(least(able, "watchdog_detect_ms", 10), most(able, "watchdog_detect_ms", 1500))
    recover = st.integers(least(able, "watchdog_recover_ms", 100), most(able, "watchdog_recover_ms", 1500))
    return PfcWatchdog(detect_ms=draw(detect), recover_ms=draw(recover))
