"""Renders the QoS of a device model: the Modular QoS CLI, in its form with eight queues.

A class is the queue with its number, and a profile of ports is an output queuing policy. Network QoS, which has the
pause thresholds, is one for the switch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.device import (
    Classifier,
    ClassThresholds,
    DeviceModel,
    EcnRamp,
    Lag,
    PfcWatchdog,
    Port,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.shared.line_tree import Line

BASE = "RAILFAB"
"""The network QoS policy, and the output queuing policy of ports without a profile."""
QUEUES = (7, 6, 5, 4, 3, 2, 1, 0)
GROUPS = {6: 7, 7: 6}
"""QoS groups that are not the queue of the model: strict priority belongs to the highest ones (Nexus 9000 QoS guide,
Configuring Queuing and Scheduling, Guidelines), and CNPs have queue 6 in every fabric that does not say otherwise."""
NETWORK_MTU = 9216
"""MTU of the classes of network QoS, the largest of an interface: with less, the headroom is for short packets only."""
WATCHDOG_MS = 100
"""Polling interval of the watchdog, the shortest one; its times are multiples of it (Nexus 9000 QoS guide, Configuring
Priority Flow Control, Watchdog)."""
PFC = {True: "priority-flow-control mode on", False: "priority-flow-control mode off"}
WATCHED = "priority-flow-control watch-dog-interval on"


def group_of(queue: int) -> int:
    """The QoS group of a queue, and the queue of a QoS group."""
    return GROUPS.get(queue, queue)


def queue_class(prefix: str, queue: int) -> str:
    """The system-defined class of a queue: `c-out-8q-q3`, `c-8q-nq3`; that of group 0 is the default one."""
    group = group_of(queue)
    return f"{prefix}{group}" if group else f"{prefix}-default"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuingPolicy:
    """An output queuing policy. profile: None for ports without one. rate_gbps: of its ports, where a class has a rate.

    unmarked: queues that have a ramp in the profile, which these ports do not use.
    """

    profile: str | None = None
    rate_gbps: int | None = None
    unmarked: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        rate = "" if self.rate_gbps is None else f"_{self.rate_gbps}g"
        unmarked = f"_no-ecn{''.join(map(str, self.unmarked))}" if self.unmarked else ""
        return f"{self.profile or BASE}{rate}{unmarked}"


def qos_lines(model: DeviceModel) -> Iterator[Line]:
    """Class maps and policy maps."""
    if (qos := model.qos) is None:
        return
    for classifier in qos.classifiers:
        yield from _class_maps(classifier, qos)
    for classifier in qos.classifiers:
        yield _qos_policy(classifier, qos)
    yield Line(f"policy-map type network-qos {BASE}", tuple(_network_classes(qos)))
    for policy in _policies(qos, model):
        yield Line(f"policy-map type queuing {policy.name}", tuple(_queues(policy, qos)))


def _class_maps(classifier: Classifier, qos: Qos) -> Iterator[Line]:
    for traffic_class in qos.classes:
        points = [str(point) for point, name in classifier.dscp if name == traffic_class.name]
        if points:
            name = class_map(classifier, traffic_class)
            yield Line(f"class-map type qos match-any {name}", (Line(f"match dscp {','.join(points)}"),))


def class_map(classifier: Classifier, traffic_class: TrafficClass) -> str:
    """The class map of the code points of a class in a classifier."""
    return f"{classifier.name}_{traffic_class.name}"


def _qos_policy(classifier: Classifier, qos: Qos) -> Line:
    """The QoS group of each class map; all other packets are in that of the default class."""
    named = {name for _, name in classifier.dscp}
    lines = [
        Line(f"class {class_map(classifier, traffic_class)}", (Line(f"set qos-group {group_of(traffic_class.queue)}"),))
        for traffic_class in qos.classes
        if traffic_class.name in named
    ]
    default = group_of(qos.traffic_class(qos.default_class).queue)
    lines.append(Line("class class-default", (Line(f"set qos-group {default}"),)))
    return Line(f"policy-map type qos {classifier.name}", tuple(lines))


def _network_classes(qos: Qos) -> Iterator[Line]:
    """The weighted classes, with their MTU and the pause thresholds of lossless ones.

    A class that is not stated has an MTU of its own, which a Nexus 5000 enforces (its NX-OS QoS guide, policies of type
    network-qos); that a Nexus 9000 does not, no document says that could be read.
    """
    mtu = Line(f"mtu {NETWORK_MTU}")
    for traffic_class in reversed(qos.classes):
        paused = traffic_class.pfc_priority is not None
        pause = (Line(f"pause {_pause(traffic_class, qos)}pfc-cos {traffic_class.pfc_priority}"),) if paused else ()
        if group_of(traffic_class.queue) and (paused or traffic_class.scheduling is Scheduling.WEIGHTED):
            yield Line(f"class type network-qos {queue_class('c-8q-nq', traffic_class.queue)}", (mtu, *pause))
    yield Line("class type network-qos c-8q-nq-default", (mtu,))


def _pause(traffic_class: TrafficClass, qos: Qos) -> str:
    """The pause thresholds of a class, which all profiles share; buffer-size is the whole buffer of a port."""
    thresholds = next((stated for profile in qos.profiles if (stated := profile.of(traffic_class.name))), None)
    if thresholds is None or thresholds.xoff_bytes is None:
        return ""
    xoff, offset, headroom = thresholds.xoff_bytes, thresholds.xon_offset_bytes or 0, thresholds.headroom_bytes or 0
    return f"buffer-size {xoff + headroom} pause-threshold {xoff} resume-threshold {xoff - offset} "


def _policies(qos: Qos, model: DeviceModel) -> Iterator[QueuingPolicy]:
    """Policies that the ports use, with their rate and marked classes, and those of profiles that none uses whole."""
    used = {policy_of(port, qos, model) for port in qos.ports}
    whole = {policy.profile for policy in used if policy.rate_gbps is not None and not policy.unmarked}
    kept = (QueuingPolicy(profile=profile.name) for profile in qos.profiles)
    base = [QueuingPolicy(), *(policy for policy in kept if policy in used or policy.profile not in whole)]
    yield from base
    yield from sorted(used - set(base), key=lambda policy: policy.name)


def policy_of(port: PortQos, qos: Qos, model: DeviceModel) -> QueuingPolicy:
    """The output queuing policy of a port."""
    profile = qos.profile(port.profile) if port.profile else None
    ramps = {thresholds.traffic_class for thresholds in profile.thresholds if thresholds.marks} if profile else set()
    unmarked = tuple(traffic_class.queue for traffic_class in qos.classes if traffic_class.name in ramps - {*port.ecn})
    limited = any(traffic_class.rate_percent is not None for traffic_class in qos.classes)
    rate = rate_of(model, port.interface) if limited else None
    return QueuingPolicy(profile=port.profile, rate_gbps=rate, unmarked=unmarked)


def rate_of(model: DeviceModel, name: str) -> int | None:
    """The rate of a port, also of a split cage, and of the members of a LAG [Gb/s]; None where it is not stated."""
    interface = model.interface(name)
    if isinstance(interface, Lag):
        return rate_of(model, interface.members[0]) if interface.members else None
    if isinstance(interface, Port) and interface.rate_gbps is not None:
        return interface.rate_gbps
    cage = name.rpartition("/")[0]
    return next((breakout.rate_gbps for breakout in model.breakouts if breakout.cage == cage), None)


def _queues(policy: QueuingPolicy, qos: Qos) -> Iterator[Line]:
    """All eight queues; those without a class have no share."""
    by_queue = {traffic_class.queue: traffic_class for traffic_class in qos.classes}
    strict = [traffic_class.queue for traffic_class in qos.classes if traffic_class.scheduling is Scheduling.STRICT]
    profile = qos.profile(policy.profile) if policy.profile else None
    for group in QUEUES:
        traffic_class = by_queue.get(group_of(group))
        header = f"class type queuing {queue_class('c-out-8q-q', group_of(group))}"
        if traffic_class is None:
            yield Line(header, (Line("bandwidth remaining percent 0"),))
            continue
        thresholds = profile.of(traffic_class.name) if profile else None
        lines = [*_share(traffic_class, strict), *_rate(traffic_class, policy.rate_gbps)]
        if thresholds is not None:
            lines += _thresholds(thresholds, marked=traffic_class.queue not in policy.unmarked)
        yield Line(header, tuple(map(Line, lines)))


def _share(traffic_class: TrafficClass, strict: Sequence[int]) -> Iterator[str]:
    """Strict priority, the highest group first, or a share of what strict queues leave."""
    if traffic_class.scheduling is Scheduling.STRICT:
        groups = sorted(map(group_of, strict), reverse=True)
        yield f"priority level {groups.index(group_of(traffic_class.queue)) + 1}"
    else:
        yield f"bandwidth remaining percent {traffic_class.weight}"


def _rate(traffic_class: TrafficClass, rate_gbps: int | None) -> Iterator[str]:
    """The largest rate of a queue; NX-OS takes no share of the port's rate."""
    if traffic_class.rate_percent is not None and rate_gbps is not None:
        yield f"shape min 0 mbps max {10 * traffic_class.rate_percent * rate_gbps} mbps"


def _thresholds(thresholds: ClassThresholds, *, marked: bool) -> Iterator[str]:
    if thresholds.ecn is not None and marked:
        yield _ramp(thresholds.ecn)
    if thresholds.native_ecn is not None and marked:
        yield f"random-detect {thresholds.native_ecn}"
    if thresholds.limit_bytes is not None:
        yield f"queue-limit {thresholds.limit_bytes} bytes"


def _ramp(ramp: EcnRamp) -> str:
    """The marking ramp; weight 0 is the length of the queue itself, without an average."""
    return (
        f"random-detect minimum-threshold {ramp.kmin_bytes} bytes maximum-threshold {ramp.kmax_bytes} bytes "
        f"drop-probability {ramp.pmax_percent} weight 0 ecn"
    )


def system_qos(model: DeviceModel) -> Iterator[Line]:
    if model.qos is not None:
        policies = (f"service-policy type network-qos {BASE}", f"service-policy type queuing output {BASE}")
        yield Line("system qos", tuple(map(Line, policies)))


def watchdog(model: DeviceModel) -> Iterator[Line]:
    """The PFC watchdog of the switch; its ports have it too."""
    settings: PfcWatchdog | None = model.qos.watchdog if model.qos else None
    if settings is not None:
        yield Line(f"priority-flow-control auto-restore multiplier {settings.recover_ms // WATCHDOG_MS}")
        yield Line(WATCHED)
        yield Line(f"priority-flow-control watch-dog interval {WATCHDOG_MS}")
        yield Line(f"priority-flow-control watch-dog shutdown-multiplier {settings.detect_ms // WATCHDOG_MS}")


def port_lines(port: Port | Lag, model: DeviceModel) -> Iterator[str]:
    """QoS of a port or LAG."""
    qos = model.qos
    port_qos = next((candidate for candidate in qos.ports if candidate.interface == port.name), None) if qos else None
    if port_qos is None or qos is None:
        return
    yield PFC[bool(port_qos.pfc)]
    if port_qos.pfc and qos.watchdog is not None:
        yield WATCHED
    if port_qos.classifier is not None:
        yield f"service-policy type qos input {port_qos.classifier}"
    policy = policy_of(port_qos, qos, model)
    if policy != QueuingPolicy():
        yield f"service-policy type queuing output {policy.name}"
