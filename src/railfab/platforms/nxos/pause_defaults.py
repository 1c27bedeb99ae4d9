"""Buffers of lossless classes that a virtual switch with NX-OS chooses, where its configuration states none.

A switch sets them by itself for cables of up to 100 m (Nexus 9000 QoS guide, Configuring Priority Flow Control,
Guidelines). Which, no document says that could be read: those here are railfab's.
"""

from __future__ import annotations

from dataclasses import replace

from railfab.device import ClassThresholds, DeviceModel, PortProfile, Qos
from railfab.qos import ALPHA

HEADROOM_POOL_PERCENT = 10
"""Share of the chip's buffer for packets that arrive after a pause frame was sent."""


def with_own_pauses(model: DeviceModel) -> DeviceModel:
    """The model with headroom, and an XOFF at a share of the free buffer, which is above the end of a marking ramp."""
    qos = model.qos
    if qos is None or not qos.lossless():
        return model
    profiles = tuple(_paused(profile, qos) for profile in qos.profiles)
    return replace(model, qos=replace(qos, profiles=profiles, headroom_pool_percent=HEADROOM_POOL_PERCENT))


def _paused(profile: PortProfile, qos: Qos) -> PortProfile:
    lossless = [traffic_class.name for traffic_class in qos.lossless()]
    stated = (profile.of(name) or ClassThresholds(traffic_class=name) for name in lossless)
    paused = (replace(each, alpha=ALPHA) if each.xoff_bytes is None else each for each in stated)
    kept = (each for each in profile.thresholds if each.traffic_class not in lossless)
    return replace(profile, thresholds=(*kept, *paused))
