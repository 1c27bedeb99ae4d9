"""Buffers of lossless classes on switches that pause at a share of the free buffer where no threshold is stated."""

from __future__ import annotations

from dataclasses import replace

from railfab.device import ClassThresholds, DeviceModel, PortProfile, PortQos, Qos

OWN = "(of the switch)"
"""Profile of a port that has none: a name that no configuration can state."""


def with_own_pauses(model: DeviceModel, *, alpha: float, headroom_pool_percent: int) -> DeviceModel:
    """The model with these buffers, where it has lossless classes. headroom_pool_percent: of the chip's buffer."""
    qos = model.qos
    if qos is None or not qos.lossless():
        return model
    paused = with_dynamic_xoff(qos, alpha)
    return replace(model, qos=replace(paused, headroom_pool_percent=headroom_pool_percent))


def with_dynamic_xoff(qos: Qos, alpha: float) -> Qos:
    """The QoS in which each lossless class of every port without an XOFF pauses at `alpha` times the free buffer."""
    lossless = [traffic_class.name for traffic_class in qos.lossless()]
    profiles = tuple(
        _paused(profile, lossless, alpha) for profile in (*qos.profiles, PortProfile(name=OWN, thresholds=()))
    )
    return replace(qos, profiles=profiles, ports=tuple(map(_with_profile, qos.ports)))


def _paused(profile: PortProfile, lossless: list[str], alpha: float) -> PortProfile:
    stated = (profile.of(name) or ClassThresholds(traffic_class=name) for name in lossless)
    paused = (replace(each, alpha=alpha) if each.xoff_bytes is None else each for each in stated)
    kept = (each for each in profile.thresholds if each.traffic_class not in lossless)
    return replace(profile, thresholds=(*kept, *paused))


def _with_profile(port: PortQos) -> PortQos:
    return replace(port, profile=OWN) if port.profile is None else port
