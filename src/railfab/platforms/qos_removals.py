"""QoS without what a platform omits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from railfab.device import (
    Classifier,
    ClassThresholds,
    DeviceModel,
    PortProfile,
    PortQos,
    Qos,
)
from railfab.device.qos import KINDS

CLASSIFIER = "fabric"
"""Name of the classifier of a switch that has only one, without a name."""


def watchdog_recovery(qos: Qos) -> Qos:
    """A PFC watchdog with one time."""
    watchdog = qos.watchdog
    return replace(qos, watchdog=watchdog and replace(watchdog, recover_ms=watchdog.detect_ms))


def cable_length(qos: Qos) -> Qos:
    return replace(qos, profiles=tuple(replace(profile, cable_m=None) for profile in qos.profiles))


def class_names(qos: Qos) -> Qos:
    """Classes named after their queues, `queue3`, on a switch where they have no names."""
    names = {traffic_class.name: queue_class(traffic_class.queue) for traffic_class in qos.classes}
    return replace(
        qos,
        classes=tuple(replace(traffic_class, name=names[traffic_class.name]) for traffic_class in qos.classes),
        default_class=_renamed(qos.default_class, names),
        classifiers=tuple(_of_renamed_classes(classifier, names) for classifier in qos.classifiers),
        profiles=tuple(_with_renamed_classes(profile, names) for profile in qos.profiles),
        ports=tuple(_port_with_renamed_classes(port, names) for port in qos.ports),
        trimming=qos.trimming and replace(qos.trimming, traffic_class=_renamed(qos.trimming.traffic_class, names)),
    )


def queue_class(queue: int) -> str:
    """The name of the class of a queue on a switch where classes have no names."""
    return f"queue{queue}"


def _renamed(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _of_renamed_classes(classifier: Classifier, names: Mapping[str, str]) -> Classifier:
    return replace(classifier, dscp=tuple((point, _renamed(name, names)) for point, name in classifier.dscp))


def _with_renamed_classes(profile: PortProfile, names: Mapping[str, str]) -> PortProfile:
    renamed = (
        replace(thresholds, traffic_class=_renamed(thresholds.traffic_class, names))
        for thresholds in profile.thresholds
    )
    return replace(profile, thresholds=tuple(renamed))


def _port_with_renamed_classes(port: PortQos, names: Mapping[str, str]) -> PortQos:
    renamed = (replace(priority, traffic_class=_renamed(priority.traffic_class, names)) for priority in port.priorities)
    return replace(port, ecn=tuple(_renamed(name, names) for name in port.ecn), priorities=tuple(renamed))


def classifier_names(qos: Qos) -> Qos:
    """The only classifier named `fabric`, on a switch where it has no name."""
    if len(qos.classifiers) != 1:
        return qos
    (only,) = qos.classifiers
    ports = tuple(replace(port, classifier=port.classifier and CLASSIFIER) for port in qos.ports)
    return replace(qos, classifiers=(replace(only, name=CLASSIFIER),), ports=ports)


def obeyed_priority(qos: Qos) -> Qos:
    """Classes that obey pause frames of the priority that they send."""
    return replace(qos, classes=tuple(replace(cls, obeyed_priority=cls.pfc_priority) for cls in qos.classes))


def has_separate_pause_thresholds(thresholds: ClassThresholds) -> bool:
    """Whether a class has only some of its three pause thresholds, or may never resume."""
    stated = [thresholds.xoff_bytes, thresholds.xon_offset_bytes, thresholds.headroom_bytes]
    if None in stated:
        return any(value is not None for value in stated)
    return (thresholds.xon_offset_bytes or 0) > (thresholds.xoff_bytes or 0)


def separate_pause_thresholds(qos: Qos) -> Qos:
    """Classes with all of their pause thresholds, or with those of the platform."""

    def without(thresholds: ClassThresholds) -> ClassThresholds:
        if not has_separate_pause_thresholds(thresholds):
            return thresholds
        return replace(thresholds, xoff_bytes=None, xon_offset_bytes=None, headroom_bytes=None)

    return _each_threshold(qos, without)


def thresholds_per_profile(qos: Qos) -> Qos:
    """One alpha for each class, and one headroom and resume threshold, in every profile: the safe one of all values.

    That is the smallest alpha, and the largest headroom and distance of the resume threshold, which hold for all
    lossless classes.
    """
    lossless = {traffic_class.name for traffic_class in qos.lossless()}
    stated = [thresholds for profile in qos.profiles for thresholds in profile.thresholds]
    xon = max(
        (thresholds.xon_offset_bytes for thresholds in stated if thresholds.xon_offset_bytes is not None), default=None
    )
    headroom = max(
        (thresholds.headroom_bytes for thresholds in stated if thresholds.headroom_bytes is not None), default=None
    )
    alphas: dict[str, float] = {}
    for thresholds in stated:
        if thresholds.alpha is not None:
            alphas[thresholds.traffic_class] = min(
                thresholds.alpha, alphas.get(thresholds.traffic_class, thresholds.alpha)
            )

    def changed(profile: PortProfile) -> PortProfile:
        shared = (
            replace(
                profile.of(traffic_class.name) or ClassThresholds(traffic_class=traffic_class.name),
                alpha=alphas.get(traffic_class.name),
                xon_offset_bytes=xon if traffic_class.name in lossless else None,
                headroom_bytes=headroom if traffic_class.name in lossless else None,
            )
            for traffic_class in qos.classes
        )
        return replace(profile, thresholds=tuple(thresholds for thresholds in shared if _states_something(thresholds)))

    return replace(qos, profiles=tuple(map(changed, qos.profiles)))


def _states_something(thresholds: ClassThresholds) -> bool:
    return thresholds != ClassThresholds(traffic_class=thresholds.traffic_class)


def alpha_beside_limit(qos: Qos) -> Qos:
    """Queues with a fixed limit without an alpha."""
    return _each_threshold(
        qos, lambda thresholds: thresholds if thresholds.limit_bytes is None else replace(thresholds, alpha=None)
    )


def threshold(name: str) -> Callable[[Qos], Qos]:
    """A change that removes one field from the thresholds of every class; a class without any other has none."""
    gone: dict[str, Any] = {name: None}
    return lambda qos: _each_threshold(qos, lambda thresholds: replace(thresholds, **gone))


def _each_threshold(qos: Qos, change: Callable[[ClassThresholds], ClassThresholds]) -> Qos:
    """The QoS with other thresholds of each class; a class that has none left is in no profile."""

    def without(profile: PortProfile) -> PortProfile:
        return replace(profile, thresholds=tuple(filter(_states_something, map(change, profile.thresholds))))

    return replace(qos, profiles=tuple(map(without, qos.profiles)))


def pool(name: str) -> Callable[[Qos], Qos]:
    """A change that removes one size of the switch's buffer pools."""
    gone: dict[str, Any] = {name: None}
    return lambda qos: replace(qos, **gone)


def changed_qos(change: Callable[[Qos], Qos]) -> Callable[[DeviceModel], DeviceModel]:
    """A change of a model's QoS; a model without QoS as it is."""
    known = lru_cache(maxsize=KINDS)(change)
    return lambda model: model if model.qos is None else replace(model, qos=known(model.qos))


def with_qos(model: DeviceModel, **fields: Any) -> DeviceModel:
    """The model with other fields of its QoS; one without QoS as it is."""
    qos: Qos | None = model.qos
    return model if qos is None else replace(model, qos=replace(qos, **fields))
