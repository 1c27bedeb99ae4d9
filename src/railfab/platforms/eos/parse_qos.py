"""Makes the QoS of a device model of a parsed configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.device import (
    Classifier,
    ClassThresholds,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.eos.draft import Draft, DraftQosProfile, DraftQueue
from railfab.platforms.eos.names import DEFAULT_PROFILE, default_traffic_class, interface_name
from railfab.platforms.qos_removals import queue_class

CLASSIFIER = "fabric"
"""Name of the only classifier of a switch, which has none."""

DEFAULT_CLASS = 1
"""Traffic class of CoS 0 where no line says so (EOS User Manual, Quality of Service, default CoS map)."""

_NUMBERED = re.compile(r"(.+)_\d+")


@dataclass(frozen=True, slots=True)
class _Source:
    """A parsed configuration with its QoS profiles by kind: port profiles, and those of ports that differ from one."""

    draft: Draft
    classes: tuple[TrafficClass, ...]
    profiles: tuple[PortProfile, ...]


def qos_of(draft: Draft) -> Qos | None:
    """The QoS; None without a QoS profile."""
    if not draft.qos_profiles:
        return None
    default = draft.cos_map.get(0, DEFAULT_CLASS)
    classes = tuple(_classes(draft, default))
    names = [name for name in draft.qos_profiles if base_name(draft, name) == name and name != DEFAULT_PROFILE]
    profiles = tuple(_profile(draft, classes, name) for name in names)
    source = _Source(draft, classes, profiles)
    return Qos(
        classes=classes,
        default_class=queue_class(default),
        classifiers=tuple(_classifiers(draft, default)),
        profiles=profiles,
        ports=tuple(_ports(source)),
        watchdog=_watchdog(draft),
        headroom_pool_bytes=draft.headroom_pool_bytes,
    )


def base_name(draft: Draft, name: str) -> str:
    """The port profile of a QoS profile: `400g-5m` of `400g-5m_2`, where there is such a one."""
    found = _NUMBERED.fullmatch(name)
    known = found is not None and (found[1] in draft.qos_profiles or found[1] == DEFAULT_PROFILE)
    return found[1] if found and known else name


def _classes(draft: Draft, default: int) -> Iterator[TrafficClass]:
    """A class for each queue that a QoS profile or the DSCP map names, as the first QoS profile has it."""
    first = next(iter(draft.qos_profiles.values()))
    priorities = {priority for found in draft.qos_profiles.values() for priority in found.priorities}
    queues = {queue for found in draft.qos_profiles.values() for queue in found.queues}
    for number in sorted({default, *queues, *priorities, *_dscp_map(draft).values()}):
        found = first.queues.get(number) or DraftQueue()
        lossless = number if number in priorities else None
        yield TrafficClass(
            name=queue_class(number),
            queue=number,
            scheduling=Scheduling.STRICT if found.strict else Scheduling.WEIGHTED,
            weight=None if found.strict else found.weight,
            pfc_priority=lossless,
            obeyed_priority=lossless,
            rate_percent=found.rate_percent,
        )


def _dscp_map(draft: Draft) -> dict[int, int]:
    """The traffic class of every code point, where a line or the trust of a port says that there is a map."""
    if not draft.dscp_map and not any(found.trust for found in draft.qos_profiles.values()):
        return {}
    return {point: draft.dscp_map.get(point, default_traffic_class(point)) for point in range(64)}


def _classifiers(draft: Draft, default: int) -> Iterator[Classifier]:
    if points := _dscp_map(draft):
        named = ((point, queue_class(queue)) for point, queue in points.items() if queue != default)
        yield Classifier(name=CLASSIFIER, dscp=tuple(named))


def _profile(draft: Draft, classes: tuple[TrafficClass, ...], name: str) -> PortProfile:
    found = draft.qos_profiles[name]
    thresholds = (_thresholds(draft, one, found) for one in classes)
    stated = (one for one in thresholds if one != ClassThresholds(traffic_class=one.traffic_class))
    return PortProfile(name=name, thresholds=tuple(stated))


def _thresholds(draft: Draft, found: TrafficClass, profile: DraftQosProfile) -> ClassThresholds:
    """The ramp of the QoS profile, and the thresholds of the chip."""
    queue = profile.queues.get(found.queue)
    alphas = draft.ingress_alphas if found.lossless else draft.egress_alphas
    return ClassThresholds(
        traffic_class=found.name,
        ecn=queue.ecn if queue else None,
        xon_offset_bytes=draft.resume_bytes if found.lossless else None,
        headroom_bytes=draft.headroom_bytes if found.lossless else None,
        alpha=alphas.get(found.queue),
    )


def _ports(source: _Source) -> Iterator[PortQos]:
    draft = source.draft
    for native, interface in draft.interfaces.items():
        profile = draft.qos_profiles.get(interface.profile or "")
        if interface.profile is None or profile is None:
            continue
        base = base_name(draft, interface.profile)
        yield PortQos(
            interface=interface_name(native),
            profile=None if base == DEFAULT_PROFILE else base,
            classifier=CLASSIFIER if profile.trust else None,
            pfc=tuple(sorted(profile.priorities)) if profile.pfc else (),
            ecn=tuple(found.name for found in source.classes if _is_marked(profile, found)),
        )


def _is_marked(profile: DraftQosProfile, found: TrafficClass) -> bool:
    queue = profile.queues.get(found.queue)
    return queue is not None and queue.ecn is not None


def _watchdog(draft: Draft) -> PfcWatchdog | None:
    if draft.detect_ms is None or draft.recover_ms is None:
        return None
    return PfcWatchdog(detect_ms=draft.detect_ms, recover_ms=draft.recover_ms)
