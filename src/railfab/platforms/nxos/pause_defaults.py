"""Buffers of lossless classes that a virtual switch with NX-OS chooses, where its configuration states none.

A switch sets them by itself for cables of up to 100 m (Nexus 9000 QoS guide, Configuring Priority Flow Control,
Guidelines). Which, no document says that could be read: those here are railfab's.
"""

from __future__ import annotations

from dataclasses import replace

from railfab.device import DeviceModel
from railfab.platforms.shared.dynamic_xoff import with_dynamic_xoff
from railfab.qos import ALPHA

HEADROOM_POOL_PERCENT = 10
"""Share of the chip's buffer for packets that arrive after a pause frame was sent."""


def with_own_pauses(model: DeviceModel) -> DeviceModel:
    """The model with headroom, and an XOFF at a share of the free buffer, which is above the end of a marking ramp."""
    qos = model.qos
    if qos is None or not qos.lossless():
        return model
    return replace(model, qos=replace(with_dynamic_xoff(qos, ALPHA), headroom_pool_percent=HEADROOM_POOL_PERCENT))
