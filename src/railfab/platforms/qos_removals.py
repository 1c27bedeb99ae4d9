"""Device models without the QoS that a platform omits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from railfab.device import (
    Classifier,
    ClassThresholds,
    DeviceModel,
    PortProfile,
    PortQos,
    Qos,
)

CLASSIFIER = "fabric"
"""Name of the classifier of a switch that has only one, without a name."""


def watchdog_recovery(model: DeviceModel) -> DeviceModel:
    """A PFC watchdog with one time."""
    watchdog = model.qos.watchdog if model.qos is not None else None
    return with_qos(model, watchdog=watchdog and replace(watchdog, recover_ms=watchdog.detect_ms))


def cable_length(model: DeviceModel) -> DeviceModel:
    profiles = model.qos.profiles if model.qos is not None else ()
    return with_qos(model, profiles=tuple(replace(found, cable_m=None) for found in profiles))


def class_names(model: DeviceModel) -> DeviceModel:
    """Classes named after their queues, `queue3`, on a switch where they have no names."""
    if model.qos is None:
        return model
    qos, names = model.qos, {found.name: queue_class(found.queue) for found in model.qos.classes}
    trimming = qos.trimming and replace(qos.trimming, traffic_class=_renamed(qos.trimming.traffic_class, names))
    return replace(
        model,
        qos=replace(
            qos,
            classes=tuple(replace(found, name=names[found.name]) for found in qos.classes),
            default_class=_renamed(qos.default_class, names),
            classifiers=tuple(_of_renamed_classes(found, names) for found in qos.classifiers),
            profiles=tuple(_with_renamed_classes(found, names) for found in qos.profiles),
            ports=tuple(_port_with_renamed_classes(found, names) for found in qos.ports),
            trimming=trimming,
        ),
    )


def queue_class(queue: int) -> str:
    """The name of the class of a queue on a switch where classes have no names."""
    return f"queue{queue}"


def _renamed(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _of_renamed_classes(classifier: Classifier, names: Mapping[str, str]) -> Classifier:
    return replace(classifier, dscp=tuple((point, _renamed(name, names)) for point, name in classifier.dscp))


def _with_renamed_classes(profile: PortProfile, names: Mapping[str, str]) -> PortProfile:
    renamed = (replace(found, traffic_class=_renamed(found.traffic_class, names)) for found in profile.thresholds)
    return replace(profile, thresholds=tuple(renamed))


def _port_with_renamed_classes(port: PortQos, names: Mapping[str, str]) -> PortQos:
    own = (replace(found, traffic_class=_renamed(found.traffic_class, names)) for found in port.priorities)
    return replace(port, ecn=tuple(_renamed(name, names) for name in port.ecn), priorities=tuple(own))


def classifier_names(model: DeviceModel) -> DeviceModel:
    """The only classifier named `fabric`, on a switch where it has no name."""
    if model.qos is None or len(model.qos.classifiers) != 1:
        return model
    (only,) = model.qos.classifiers
    ports = tuple(replace(port, classifier=port.classifier and CLASSIFIER) for port in model.qos.ports)
    return with_qos(model, classifiers=(replace(only, name=CLASSIFIER),), ports=ports)


def obeyed_priority(model: DeviceModel) -> DeviceModel:
    """Classes that obey pause frames of the priority that they send."""
    if model.qos is None:
        return model
    return with_qos(model, classes=tuple(replace(cls, obeyed_priority=cls.pfc_priority) for cls in model.qos.classes))


def has_separate_pause_thresholds(found: ClassThresholds) -> bool:
    """Whether a class has only some of its three pause thresholds, or may never resume."""
    stated = [found.xoff_bytes, found.xon_offset_bytes, found.headroom_bytes]
    if None in stated:
        return any(value is not None for value in stated)
    return (found.xon_offset_bytes or 0) > (found.xoff_bytes or 0)


def separate_pause_thresholds(model: DeviceModel) -> DeviceModel:
    """Classes with all of their pause thresholds, or with those of the platform."""

    def without(found: ClassThresholds) -> ClassThresholds:
        if not has_separate_pause_thresholds(found):
            return found
        return replace(found, xoff_bytes=None, xon_offset_bytes=None, headroom_bytes=None)

    return _each_threshold(model, without)


def thresholds_per_profile(model: DeviceModel) -> DeviceModel:
    """One alpha for each class, and one headroom and resume threshold, in every profile: the safe one of all values.

    That is the smallest alpha, and the largest headroom and distance of the resume threshold, which hold for all
    lossless classes.
    """
    if model.qos is None:
        return model
    qos, lossless = model.qos, {found.name for found in model.qos.lossless()}
    stated = [found for profile in qos.profiles for found in profile.thresholds]
    xon = max((found.xon_offset_bytes for found in stated if found.xon_offset_bytes is not None), default=None)
    headroom = max((found.headroom_bytes for found in stated if found.headroom_bytes is not None), default=None)
    alphas: dict[str, float] = {}
    for found in stated:
        if found.alpha is not None:
            alphas[found.traffic_class] = min(found.alpha, alphas.get(found.traffic_class, found.alpha))

    def changed(profile: PortProfile) -> PortProfile:
        shared = (
            replace(
                profile.of(found.name) or ClassThresholds(traffic_class=found.name),
                alpha=alphas.get(found.name),
                xon_offset_bytes=xon if found.name in lossless else None,
                headroom_bytes=headroom if found.name in lossless else None,
            )
            for found in qos.classes
        )
        return replace(profile, thresholds=tuple(found for found in shared if _states_something(found)))

    return with_qos(model, profiles=tuple(map(changed, qos.profiles)))


def _states_something(found: ClassThresholds) -> bool:
    return found != ClassThresholds(traffic_class=found.traffic_class)


def alpha_beside_limit(model: DeviceModel) -> DeviceModel:
    """Queues with a fixed limit without an alpha."""
    return _each_threshold(model, lambda found: found if found.limit_bytes is None else replace(found, alpha=None))


def threshold(name: str) -> Callable[[DeviceModel], DeviceModel]:
    """A change that removes one field from the thresholds of every class; a class without any other has none."""
    gone: dict[str, Any] = {name: None}
    return lambda model: _each_threshold(model, lambda found: replace(found, **gone))


def _each_threshold(model: DeviceModel, change: Callable[[ClassThresholds], ClassThresholds]) -> DeviceModel:
    """The model with other thresholds of each class; a class that has none left is in no profile."""

    def without(profile: PortProfile) -> PortProfile:
        return replace(profile, thresholds=tuple(filter(_states_something, map(change, profile.thresholds))))

    if model.qos is None:
        return model
    return with_qos(model, profiles=tuple(map(without, model.qos.profiles)))


def pool(name: str) -> Callable[[DeviceModel], DeviceModel]:
    """A change that removes one size of the switch's buffer pools."""
    return lambda model: with_qos(model, **{name: None})


def with_qos(model: DeviceModel, **fields: Any) -> DeviceModel:
    """The model with other fields of its QoS; one without QoS as it is."""
    qos: Qos | None = model.qos
    return model if qos is None else replace(model, qos=replace(qos, **fields))
