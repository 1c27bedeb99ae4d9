"""Features of a device model: traffic classes, PFC, ECN, buffers and the link layer of Ultra Ethernet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import chain

from railfab.device import (
    ClassThresholds,
    DeviceModel,
    Lag,
    Port,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.device.qos import KINDS
from railfab.platforms import qos_removals
from railfab.platforms.feature import Feature, Used, any_of
from railfab.platforms.qos_removals import changed_qos


def _any_qos_port(has: Callable[[PortQos], bool]) -> Used:
    return _qos(lambda qos: any(map(has, qos.ports)))


def _stated(name: str) -> Used:
    """Whether a class has a threshold of this name."""
    return _any_threshold(lambda thresholds: getattr(thresholds, name) is not None)


def _drops(profile: PortProfile) -> bool:
    return any(thresholds.wred is not None for thresholds in profile.thresholds)


def _any_threshold(has: Callable[[ClassThresholds], bool]) -> Used:
    return _qos(lambda qos: any(map(has, chain.from_iterable(profile.thresholds for profile in qos.profiles))))


def _qos(has: Callable[[Qos], bool]) -> Used:
    known = lru_cache(maxsize=KINDS)(has)
    return lambda model: model.qos is not None and known(model.qos)


def _shares_a_priority(qos: Qos) -> bool:
    """Whether several classes send pause frames of one priority, or obey those of one."""
    sent = [traffic_class.pfc_priority for traffic_class in qos.classes if traffic_class.pfc_priority is not None]
    obeyed = [
        traffic_class.obeyed_priority for traffic_class in qos.classes if traffic_class.obeyed_priority is not None
    ]
    return len({*sent}) < len(sent) or len({*obeyed}) < len(obeyed)


def _has_strict_below_weighted(qos: Qos) -> bool:
    strict = [traffic_class.queue for traffic_class in qos.classes if traffic_class.scheduling is Scheduling.STRICT]
    weighted = [traffic_class.queue for traffic_class in qos.classes if traffic_class.scheduling is Scheduling.WEIGHTED]
    return bool(strict and weighted) and min(strict) < max(weighted)


def _has_pfc_without_class(qos: Qos) -> bool:
    """Whether a port has PFC of a priority that no class sends or obeys."""

    def known(classes: Iterable[TrafficClass]) -> set[int | None]:
        return {
            priority
            for traffic_class in classes
            for priority in (traffic_class.pfc_priority, traffic_class.obeyed_priority)
        }

    usual = known(qos.classes)
    return any({*port.pfc} - (known(qos.classes_on(port)) if port.priorities else usual) for port in qos.ports)


def _has_pfc_of_some_priorities(qos: Qos) -> bool:
    """Whether a port has PFC, but not of every lossless class."""
    lossless = {traffic_class.pfc_priority for traffic_class in qos.lossless()}
    return any(port.pfc and lossless - {*port.pfc} for port in qos.ports)


def _has_other_obeyed_priority(qos: Qos) -> bool:
    return any(traffic_class.obeyed_priority != traffic_class.pfc_priority for traffic_class in qos.classes)


def _has_member_qos(model: DeviceModel) -> bool:
    members = {name for lag in model.interfaces if isinstance(lag, Lag) for name in lag.members}
    return model.qos is not None and any(port.interface in members for port in model.qos.ports)


QOS_FEATURES: Mapping[str, Feature] = {
    "traffic_classes": Feature(
        "traffic classes and their queues, without PFC and ECN",
        _qos(lambda qos: not any(port.pfc or port.ecn for port in qos.ports)),
        key="profile.lossless",
    ),
    "pfc": Feature("priority flow control", _any_qos_port(lambda port: bool(port.pfc)), key="profile.lossless.pfc"),
    "ecn": Feature("ECN marking", _any_qos_port(lambda port: bool(port.ecn)), key="profile.lossless.ecn"),
    "wred": Feature(
        "packets dropped by a ramp instead of marked",
        _qos(lambda qos: any(port.wred for port in qos.ports) or any(map(_drops, qos.profiles))),
    ),
    "pfc_watchdog": Feature(
        "PFC watchdog", _qos(lambda qos: qos.watchdog is not None), key="profile.lossless.watchdog"
    ),
    "watchdog_recovery": Feature(
        "another time after which the PFC watchdog honours pause frames again than that after which it ignores them",
        _qos(lambda qos: qos.watchdog is not None and qos.watchdog.recover_ms != qos.watchdog.detect_ms),
        changed_qos(qos_removals.watchdog_recovery),
        optional=True,
    ),
    "several_lossless_classes": Feature(
        "several lossless classes", _qos(lambda qos: len(qos.lossless()) > 1), key="profile.storage_class.protocol"
    ),
    "strict_below_weighted": Feature(
        "a queue of strict priority with a lower number than a weighted one",
        _qos(_has_strict_below_weighted),
        key="profile.lossless.cnp_queue",
    ),
    "shared_priority": Feature("several classes with one PFC priority", _qos(_shares_a_priority)),
    "priority_beside_queue": Feature(
        "PFC priority of a class that is not the number of its queue",
        _qos(
            lambda qos: any(
                traffic_class.pfc_priority not in (None, traffic_class.queue) for traffic_class in qos.classes
            )
        ),
    ),
    "pfc_without_class": Feature("PFC of a priority that no class has", _qos(_has_pfc_without_class)),
    "pfc_of_some_priorities": Feature(
        "PFC of some of the lossless classes on a port", _qos(_has_pfc_of_some_priorities)
    ),
    "obeyed_priority": Feature(
        "pause frames obeyed of another priority than sent",
        _qos(_has_other_obeyed_priority),
        changed_qos(qos_removals.obeyed_priority),
        optional=True,
    ),
    "pfc_per_port": Feature(
        "pause frames of a class with another priority on one port", _any_qos_port(lambda port: bool(port.priorities))
    ),
    "several_classifiers": Feature("several DSCP maps", _qos(lambda qos: len(qos.classifiers) > 1)),
    "lag_member_qos": Feature("QoS of a member of a LAG", _has_member_qos),
    "class_names": Feature(
        "names of traffic classes other than those of their queues",
        _qos(
            lambda qos: any(
                traffic_class.name != qos_removals.queue_class(traffic_class.queue) for traffic_class in qos.classes
            )
        ),
        changed_qos(qos_removals.class_names),
        optional=True,
        substitutes=True,
    ),
    "classifier_names": Feature(
        "a name of the only DSCP map",
        _qos(lambda qos: len(qos.classifiers) == 1 and qos.classifiers[0].name != qos_removals.CLASSIFIER),
        changed_qos(qos_removals.classifier_names),
        optional=True,
        substitutes=True,
    ),
    "xoff": Feature(
        "pause threshold in bytes",
        _stated("xoff_bytes"),
        changed_qos(qos_removals.threshold("xoff_bytes")),
        optional=True,
    ),
    "xon_offset": Feature(
        "distance of the resume threshold from the pause threshold",
        _stated("xon_offset_bytes"),
        changed_qos(qos_removals.threshold("xon_offset_bytes")),
        optional=True,
    ),
    "separate_pause_thresholds": Feature(
        "some of pause threshold, resume threshold and headroom without the others",
        _any_threshold(qos_removals.has_separate_pause_thresholds),
        changed_qos(qos_removals.separate_pause_thresholds),
        optional=True,
    ),
    "thresholds_per_profile": Feature(
        "alpha, headroom and resume threshold of a class that port profiles do not share",
        _qos(lambda qos: qos_removals.thresholds_per_profile(qos) != qos),
        changed_qos(qos_removals.thresholds_per_profile),
        optional=True,
        substitutes=True,
    ),
    "alpha_beside_limit": Feature(
        "alpha of a queue that has a fixed limit",
        _any_threshold(lambda thresholds: thresholds.alpha is not None and thresholds.limit_bytes is not None),
        changed_qos(qos_removals.alpha_beside_limit),
        optional=True,
    ),
    "cable_length": Feature(
        "length of the cables of a port",
        _qos(lambda qos: any(profile.cable_m is not None for profile in qos.profiles)),
        changed_qos(qos_removals.cable_length),
        optional=True,
    ),
    "headroom_bytes": Feature(
        "headroom of a port in bytes",
        _stated("headroom_bytes"),
        changed_qos(qos_removals.threshold("headroom_bytes")),
        optional=True,
    ),
    "headroom_percent": Feature(
        "headroom of a queue as a share of the pool",
        _stated("headroom_percent"),
        changed_qos(qos_removals.threshold("headroom_percent")),
        optional=True,
    ),
    "headroom_pool_bytes": Feature(
        "headroom pool in bytes",
        _qos(lambda qos: qos.headroom_pool_bytes is not None),
        changed_qos(qos_removals.pool("headroom_pool_bytes")),
        optional=True,
    ),
    "headroom_pool_percent": Feature(
        "headroom pool as a share of the buffer",
        _qos(lambda qos: qos.headroom_pool_percent is not None),
        changed_qos(qos_removals.pool("headroom_pool_percent")),
        optional=True,
    ),
    "shared_pool_bytes": Feature(
        "shared buffer of the lossless queues in bytes",
        _qos(lambda qos: qos.shared_pool_bytes is not None),
        changed_qos(qos_removals.pool("shared_pool_bytes")),
        optional=True,
    ),
    "packet_trimming": Feature(
        "packet trimming",
        _qos(lambda qos: qos.trimming is not None),
        key="profile.ultra_ethernet.packet_trimming",
    ),
    "link_level_retry": Feature(
        "link level retry",
        any_of(Port, lambda port: port.link_level_retry),
        key="profile.ultra_ethernet.link_level_retry",
    ),
    "queue_rate": Feature(
        "largest rate of a queue",
        _qos(lambda qos: any(traffic_class.rate_percent is not None for traffic_class in qos.classes)),
        key="profile.lossless.cnp_rate_percent",
    ),
    "dynamic_threshold": Feature(
        "alpha of a queue", _stated("alpha"), changed_qos(qos_removals.threshold("alpha")), optional=True
    ),
    "queue_limit": Feature(
        "fixed limit of a queue", _any_threshold(lambda thresholds: thresholds.limit_bytes is not None)
    ),
}
