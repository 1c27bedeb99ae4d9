"""Renders the QoS of a device model: `qos`, what each port uses of it, and packet trimming.

`qos roce` makes the lossless pools of ingress and egress, of which the one of egress has no limit, and announces the
priority of RoCE in LLDP. Its classes are those of NVIDIA's hosts (priority 3, DSCP 24 to 31), so every value of the
intent is stated beside it, in profiles of the ports: they replace the values of `qos roce` there. The pause thresholds
follow from the length of the cable, as NVIDIA advises (cumulus-linux-517, Quality of Service, Priority Flow Control),
because the switch knows its own delays.

A class is a traffic class, by the number of its queue, and a switch priority: that of its pause frames where it has
some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from railfab.device import (
    Classifier,
    ClassThresholds,
    DeviceModel,
    Lag,
    PfcWatchdog,
    Port,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.cumulus.names import allowed, cage_of, device_name
from railfab.platforms.cumulus.nodes import ON, stated
from railfab.platforms.cumulus.schema import DISABLE, ENABLE
from railfab.platforms.shared.json_tree import Json
from railfab.text.folding import number_ranges

GLOBAL = "default-global"
"""The profile of ports that have no other one."""
UNPROFILED = "unprofiled"
"""The profile of PFC of ports without thresholds."""
LOSSY_POOL, LOSSLESS_POOL = "default-lossy", "roce-lossless"
POLL_MS = 100
"""Time between two looks of the PFC watchdog, also that after which it honours pause frames again [ms]."""
PRIORITIES = range(8)
CODE_POINTS = range(64)
KBPS_PER_PERCENT = 10_000
"""One percent of 1 Gb/s [kb/s]."""


def priorities(classes: Sequence[TrafficClass]) -> dict[str, int]:
    """The switch priority of each class: that of its pause frames, else the number of its queue, where that is free."""
    by_name = {
        traffic_class.name: traffic_class.pfc_priority
        for traffic_class in classes
        if traffic_class.pfc_priority is not None
    }
    lossy = [traffic_class for traffic_class in classes if traffic_class.pfc_priority is None]
    taken = {*by_name.values()}
    spare = iter(sorted(set(PRIORITIES) - taken - {traffic_class.queue for traffic_class in lossy}))
    for traffic_class in lossy:
        by_name[traffic_class.name] = traffic_class.queue if traffic_class.queue not in taken else next(spare)
    return by_name


def render_qos(model: DeviceModel, interfaces: Json) -> Json | None:
    """`qos`; what the ports use is added to the interfaces."""
    qos = model.qos
    if qos is None:
        return None
    for port in qos.ports:
        for name in _physical(model, port.interface):
            if settings := _port(qos, port, port_rate_gbps(model, name)):
                interfaces[device_name(name)]["qos"] = settings
    lossless = sorted(
        traffic_class.pfc_priority for traffic_class in qos.classes if traffic_class.pfc_priority is not None
    )
    return {
        **stated(
            roce={"state": ON, "mode": "lossless"} if lossless else None,
            traffic_pool=_pools(lossless) if lossless else None,
            pfc_watchdog=_watchdog(qos.watchdog) if qos.watchdog is not None else None,
            egress_shaper=dict(_shapers(model, qos)),
        ),
        "mapping": _mappings(qos),
        "egress-queue-mapping": {GLOBAL: {"switch-priority": _queues(qos)}},
        "egress-scheduler": {
            GLOBAL: {
                "traffic-class": {str(traffic_class.queue): _share(traffic_class) for traffic_class in qos.classes}
            }
        },
        "congestion-control": dict(_congestion(qos)),
        "pfc": dict(_pause(qos)),
    }


def _physical(model: DeviceModel, name: str) -> tuple[str, ...]:
    """The ports that have the QoS of a port or LAG; NVUE binds profiles to ports, not to bonds."""
    interface = model.interface(name)
    if isinstance(interface, Lag):
        return interface.members
    return (name,) if isinstance(interface, Port) else ()


def port_rate_gbps(model: DeviceModel, name: str) -> int | None:
    """The speed of a port, also of one of a broken-out cage."""
    port = model.interface(name)
    if isinstance(port, Port) and port.rate_gbps is not None:
        return port.rate_gbps
    return next((breakout.rate_gbps for breakout in model.breakouts if breakout.cage == cage_of(name)), None)


def _pools(lossless: Sequence[int]) -> Json:
    """The traffic pool of each priority."""
    lossy = [priority for priority in PRIORITIES if priority not in lossless]
    return {
        LOSSY_POOL: {"switch-priority": {number_ranges(lossy): {}}} if lossy else {},
        LOSSLESS_POOL: {"switch-priority": {number_ranges(lossless): {}}},
    }


def _watchdog(watchdog: PfcWatchdog) -> Json:
    return {"polling-interval": POLL_MS, "robustness": watchdog.detect_ms // POLL_MS}


def _mappings(qos: Qos) -> Json:
    """A map for each classifier. Ports without one, and code points that it does not have, use the default class."""
    of_class = priorities(qos.classes)
    default = of_class[qos.default_class]
    maps: Json = {GLOBAL: {"trust": "port", "port-default-sp": default}}
    for classifier in qos.classifiers:
        maps[allowed(classifier.name)] = {
            "trust": "l3",
            "port-default-sp": default,
            "dscp": _points(classifier, of_class, default),
        }
    return maps


def _points(classifier: Classifier, of_class: Mapping[str, int], default: int) -> Json:
    """All code points, those of one priority together."""
    named = dict(classifier.dscp)
    by_priority: dict[int, list[int]] = {}
    for point in CODE_POINTS:
        priority = of_class[named[point]] if point in named else default
        by_priority.setdefault(priority, []).append(point)
    return {number_ranges(sorted(points)): {"switch-priority": priority} for priority, points in by_priority.items()}


def _queues(qos: Qos) -> Json:
    """The queue of every priority; one that no class has is sent with the default class."""
    queues = {priority: qos.traffic_class(name).queue for name, priority in priorities(qos.classes).items()}
    default = qos.traffic_class(qos.default_class).queue
    return {str(priority): {"traffic-class": queues.get(priority, default)} for priority in PRIORITIES}


def _share(traffic_class: TrafficClass) -> Json:
    if traffic_class.scheduling is Scheduling.STRICT:
        return {"mode": "strict"}
    return {"mode": "dwrr", **stated(bw_percent=traffic_class.weight)}


def _shapers(model: DeviceModel, qos: Qos) -> Iterator[tuple[str, Json]]:
    """The largest rates of queues, for each speed of a port, since NVUE states them in kb/s."""
    limited = [traffic_class for traffic_class in qos.classes if traffic_class.rate_percent is not None]
    names = {name for port in qos.ports for name in _physical(model, port.interface)}
    for rate in sorted({port_rate_gbps(model, name) or 0 for name in names} - {0}) if limited else ():
        rates = {
            str(traffic_class.queue): {"max-rate": _kbps(rate, traffic_class.rate_percent or 0)}
            for traffic_class in limited
        }
        yield shaper_name(rate), {"traffic-class": rates}


def _kbps(rate_gbps: int, percent: int) -> int:
    return rate_gbps * percent * KBPS_PER_PERCENT


def shaper_name(rate_gbps: int) -> str:
    """The name of the shaper of ports of a speed."""
    return f"rate-{rate_gbps}g"


def _congestion(qos: Qos) -> Iterator[tuple[str, Json]]:
    """ECN of each profile of thresholds, and of each set of classes that a port with it marks."""
    yield GLOBAL, {"traffic-class": {str(traffic_class.queue): {"ecn": DISABLE} for traffic_class in qos.classes}}
    for profile in qos.profiles:
        yield allowed(profile.name), _marking(qos, profile, _ramped(profile))
    for port in qos.ports:
        profile_of = qos.profile(port.profile) if port.profile is not None else None
        if profile_of is not None and port.ecn != _ramped(profile_of):
            yield congestion_name(qos, profile_of, port), _marking(qos, profile_of, port.ecn)


def _ramped(profile: PortProfile) -> tuple[str, ...]:
    """The classes of a profile with an ECN ramp."""
    return tuple(thresholds.traffic_class for thresholds in profile.thresholds if thresholds.ecn is not None)


def congestion_name(qos: Qos, profile: PortProfile, port: PortQos) -> str:
    """The profile of congestion control of a port: that of its thresholds, or one that marks other classes."""
    if port.ecn == _ramped(profile):
        return allowed(profile.name)
    return f"{allowed(profile.name)}_ecn{'-'.join(str(qos.traffic_class(name).queue) for name in port.ecn)}"


def _marking(qos: Qos, profile: PortProfile, marked: Sequence[str]) -> Json:
    """Every class is named, because one that is not keeps what it had. RED would drop lossless packets."""
    return {
        "traffic-class": {
            str(traffic_class.queue): _ramp(profile.of(traffic_class.name), marked=traffic_class.name in marked)
            for traffic_class in qos.classes
        }
    }


def _ramp(thresholds: ClassThresholds | None, *, marked: bool) -> Json:
    if thresholds is None or thresholds.ecn is None:
        return {"ecn": DISABLE}
    ramp = thresholds.ecn
    return {
        "ecn": ENABLE if marked else DISABLE,
        "red": DISABLE,
        "min-threshold": ramp.kmin_bytes,
        "max-threshold": ramp.kmax_bytes,
        "probability": ramp.pmax_percent,
    }


def _pause(qos: Qos) -> Iterator[tuple[str, Json]]:
    """PFC of each profile of thresholds, and of each set of priorities that a port with it has."""
    lossless = _lossless(qos)
    for profile in qos.profiles:
        if lossless or profile.name != GLOBAL:
            yield allowed(profile.name), _flow_control(lossless, profile.cable_m)
    for port in qos.ports:
        if port.profile is None or port.pfc != lossless:
            profile_of = qos.profile(port.profile) if port.profile is not None else None
            yield pause_name(qos, port), _flow_control(port.pfc, profile_of.cable_m if profile_of else None)


def _lossless(qos: Qos) -> tuple[int, ...]:
    return tuple(
        sorted(traffic_class.pfc_priority for traffic_class in qos.classes if traffic_class.pfc_priority is not None)
    )


def pause_name(qos: Qos, port: PortQos) -> str:
    """The profile of PFC of a port: that of its thresholds, or one for other priorities."""
    name = allowed(port.profile) if port.profile else UNPROFILED
    return name if port.pfc == _lossless(qos) else f"{name}_pfc{'-'.join(map(str, port.pfc))}"


def _flow_control(priorities_on: Sequence[int], cable_m: int | None) -> Json:
    """Both directions are stated, because both are on where a profile states none."""
    state = ENABLE if priorities_on else DISABLE
    paused: Json | None = {number_ranges(sorted(priorities_on)): {}} if priorities_on else None
    return {"tx": state, "rx": state, **stated(switch_priority=paused, cable_length=cable_m)}


def _port(qos: Qos, port: PortQos, rate_gbps: int | None) -> Json:
    """Profiles that a port uses. The watchdog can only be on where PFC is."""
    profile = qos.profile(port.profile) if port.profile is not None else None
    limited = any(traffic_class.rate_percent is not None for traffic_class in qos.classes) and rate_gbps is not None
    return stated(
        pfc=_bound(pause_name(qos, port)),
        mapping=_bound(allowed(port.classifier) if port.classifier is not None else None),
        congestion_control=_bound(congestion_name(qos, profile, port) if profile is not None else None),
        egress_shaper=_bound(shaper_name(rate_gbps or 0) if limited else None),
        pfc_watchdog={"state": ENABLE} if qos.watchdog is not None and port.pfc else None,
    )


def _bound(profile: str | None) -> Json | None:
    """The setting by which a port uses a profile; none for that which it has without."""
    return None if profile in (None, GLOBAL) else {"profile": profile}


def render_trimming(model: DeviceModel, interfaces: Json) -> Json | None:
    """`system forwarding packet-trim`. Ports cut the packets of lossy queues that have a share of the bandwidth."""
    if model.qos is None or model.qos.trimming is None:
        return None
    qos, trimming = model.qos, model.qos.trimming
    eligible: Json = {
        str(traffic_class.queue): {}
        for traffic_class in qos.classes
        if is_trimmed(traffic_class, trimming.traffic_class)
    }
    for port in qos.ports if eligible else ():
        for name in _physical(model, port.interface):
            interfaces[device_name(name)]["packet-trim"] = {"egress-eligibility": {"traffic-class": eligible}}
    return {
        "state": ON,
        "size": trimming.size_bytes,
        "remark": {"dscp": trimming.dscp},
        "switch-priority": priorities(qos.classes)[trimming.traffic_class],
    }


def is_trimmed(traffic_class: TrafficClass, trimmed: str) -> bool:
    """Whether packets of a class are cut. trimmed: the class of packets that have been."""
    return (
        not traffic_class.lossless and traffic_class.scheduling is Scheduling.WEIGHTED and traffic_class.name != trimmed
    )
