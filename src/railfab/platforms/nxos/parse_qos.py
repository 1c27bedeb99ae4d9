"""Puts class maps, policy maps and PFC of a parsed configuration together to the QoS of a switch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

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
from railfab.platforms.nxos.draft import NxosDraft, NxosInterface
from railfab.platforms.nxos.draft_qos import DraftPause, DraftQueue
from railfab.platforms.nxos.names import interface_name, kind_of
from railfab.platforms.nxos.render_qos import QueuingPolicy, group_of
from railfab.platforms.qos_removals import queue_class

_POLICY = re.compile(r"(.+?)(?:_(\d+)g)?(?:_no-ecn(\d+))?")
DEFAULT_QUEUE = 0
DEFAULT_QUEUES = {7: DraftQueue(strict=True), DEFAULT_QUEUE: DraftQueue(weight=100)}
"""Queues of `default-8q-out-policy`, which a switch without an output policy has (Nexus 9000 QoS guide, Configuring
Queuing and Scheduling, default system classes)."""


def qos_of(draft: NxosDraft) -> Qos | None:
    """The QoS of a switch that states any; None of another one."""
    if not (draft.qos.outputs or draft.qos.network or draft.qos.groups or draft.qos.watchdog):
        return None
    base = _base(draft)
    classes = tuple(_classes(draft, base))
    queues = {traffic_class.queue for traffic_class in classes}
    profiles = tuple(
        PortProfile(name=profile, thresholds=tuple(_thresholds(draft, policy, classes)))
        for profile, policy in _profiles(draft, base).items()
    )
    qos = Qos(
        classes=classes,
        default_class=queue_class(DEFAULT_QUEUE),
        classifiers=tuple(_classifiers(draft, queues)),
        profiles=profiles,
        ports=(),
        watchdog=_watchdog(draft),
    )
    return replace(qos, ports=tuple(_ports(draft, qos, base)))


def _base(draft: NxosDraft) -> str:
    """The output policy with the shares of the queues: that of the switch, or the one that most of its ports have."""
    system = draft.qos.system.get("queuing output", "")
    if system in draft.qos.outputs:
        return system
    outputs = (interface.output for interface in draft.interfaces.values())
    used = Counter(output for output in outputs if output in draft.qos.outputs)
    return next((name for name, _ in used.most_common(1) if name), "")


def _profiles(draft: NxosDraft, base: str) -> dict[str, str]:
    """The policy of each profile: its own, or the first with a rate that marks all of its classes."""
    whole = ((_used(name, base), name) for name in draft.qos.outputs)
    policies: dict[str, str] = {}
    for used, name in whole:
        if used.profile is not None and not used.unmarked and (used.rate_gbps is None or used.profile not in policies):
            policies[used.profile] = name
    if _is_profile(draft, base):
        policies[base] = base
    return policies


def _is_profile(draft: NxosDraft, base: str) -> bool:
    """Whether the policy of the switch has thresholds, as those of other writers have; railfab's has only shares."""
    queues = draft.qos.outputs.get(base, {}).values()
    return any(queue.ecn or queue.native_ecn or queue.limit_bytes is not None for queue in queues)


def _used(name: str, base: str) -> QueuingPolicy:
    """Policy that the name of an output policy states; without a name the switch's own."""
    if (match := _POLICY.fullmatch(name)) is None:
        return QueuingPolicy()
    unmarked = tuple(map(int, match[3] or ""))
    profile = None if match[1] == base else match[1]
    return QueuingPolicy(profile=profile, rate_gbps=int(match[2]) if match[2] else None, unmarked=unmarked)


def _classes(draft: NxosDraft, base: str) -> Iterator[TrafficClass]:
    """The queues that have a share or strict priority, that are paused, or that a classifier names."""
    pauses = draft.qos.network.get(draft.qos.system.get("network-qos", ""), {})
    named = set(_named_groups(draft))
    paused = {group for group, pause in pauses.items() if pause.priority is not None}
    queues = draft.qos.outputs.get(base) or DEFAULT_QUEUES
    used = [group for group, queue in queues.items() if queue.strict or queue.weight or group in named | paused]
    for group in [*used, *sorted(({DEFAULT_QUEUE} | named | paused) - set(used))]:
        queue = queues.get(group, DraftQueue())
        priority = pauses.get(group, DraftPause()).priority
        yield TrafficClass(
            name=queue_class(group_of(group)),
            queue=group_of(group),
            scheduling=Scheduling.STRICT if queue.strict else Scheduling.WEIGHTED,
            weight=None if queue.strict else queue.weight or 0,
            pfc_priority=priority,
            obeyed_priority=priority,
            rate_percent=_rate_percent(draft, base, group),
        )


def _named_groups(draft: NxosDraft) -> Iterator[int]:
    """The QoS groups of the classifiers that the switch or a port uses; of all where none is used."""
    used = {draft.qos.system.get("qos input"), *(interface.classifier for interface in draft.interfaces.values())}
    for groups in [groups for name, groups in draft.qos.groups.items() if name in used] or draft.qos.groups.values():
        yield from groups.values()


def _rate_percent(draft: NxosDraft, base: str, group: int) -> int | None:
    """The largest rate of a queue, from the first policy with a rate in its name, or that of a port that has it."""
    rates = {interface.output: interface.rate_gbps for interface in draft.interfaces.values() if interface.output}
    for name, queues in draft.qos.outputs.items():
        rate_gbps, queue = _used(name, base).rate_gbps or rates.get(name), queues.get(group, DraftQueue())
        if rate_gbps and queue.shape_mbps is not None:
            return queue.shape_mbps // (10 * rate_gbps)
    return None


def _thresholds(draft: NxosDraft, name: str, classes: tuple[TrafficClass, ...]) -> Iterator[ClassThresholds]:
    """The thresholds of a profile: its own, and those of the switch's pause frames."""
    pauses = draft.qos.network.get(draft.qos.system.get("network-qos", ""), {})
    for traffic_class in sorted(classes, key=lambda traffic_class: traffic_class.queue):
        queue = draft.qos.outputs[name].get(group_of(traffic_class.queue), DraftQueue())
        pause = pauses.get(group_of(traffic_class.queue), DraftPause()).thresholds
        buffer, xoff, xon = pause or (None, None, None)
        thresholds = ClassThresholds(
            traffic_class=traffic_class.name,
            ecn=queue.ecn,
            native_ecn=queue.native_ecn,
            xoff_bytes=xoff,
            xon_offset_bytes=None if xoff is None or xon is None else xoff - xon,
            headroom_bytes=None if buffer is None or xoff is None else buffer - xoff,
            limit_bytes=queue.limit_bytes,
        )
        if thresholds != ClassThresholds(traffic_class=traffic_class.name):
            yield thresholds


def _classifiers(draft: NxosDraft, queues: set[int]) -> Iterator[Classifier]:
    """The classifiers. Of several classes that match a code point the first one has it (Nexus 9000 QoS guide,
    Configuring Classification)."""
    for name, groups in draft.qos.groups.items():
        points = {
            point: queue_class(group_of(group))
            for class_map, group in reversed(groups.items())
            for point in draft.qos.class_maps.get(class_map, ())
            if group_of(group) in queues
        }
        yield Classifier(name=name, dscp=tuple(sorted(points.items())))


def _ports(draft: NxosDraft, qos: Qos, base: str) -> Iterator[PortQos]:
    """The ports with QoS of their own; where the classifier is the switch's, all ports and LAGs."""
    everywhere = "qos input" in draft.qos.system
    for name, interface in draft.interfaces.items():
        is_port = kind_of(name) in ("", "lag") and interface.lag is None
        if (interface.pfc, interface.classifier, interface.output) != (None, None, None) or (everywhere and is_port):
            yield _port(draft, name, interface, qos, base)


def _port(draft: NxosDraft, name: str, interface: NxosInterface, qos: Qos, base: str) -> PortQos:
    output = interface.output or base
    used = QueuingPolicy(profile=base) if output == base and _is_profile(draft, base) else _used(output, base)
    profile = qos.profile(used.profile) if used.profile else None
    ramps = {thresholds.traffic_class for thresholds in profile.thresholds if thresholds.marks} if profile else set()
    unmarked = {queue_class(queue) for queue in used.unmarked}
    classifier = interface.classifier or draft.qos.system.get("qos input", "")
    return PortQos(
        interface=interface_name(name),
        profile=profile.name if profile else None,
        classifier=classifier if qos.classifier(classifier) else None,
        pfc=tuple(traffic_class.pfc_priority for traffic_class in qos.classes if traffic_class.pfc_priority is not None)
        if interface.pfc
        else (),
        ecn=tuple(traffic_class.name for traffic_class in qos.classes if traffic_class.name in ramps - unmarked),
    )


def _watchdog(draft: NxosDraft) -> PfcWatchdog | None:
    qos = draft.qos
    if not qos.watchdog:
        return None
    return PfcWatchdog(detect_ms=qos.interval_ms * qos.shutdown, recover_ms=qos.interval_ms * qos.restore)
