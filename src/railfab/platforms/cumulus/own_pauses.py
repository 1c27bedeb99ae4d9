"""Buffers of lossless classes of a virtual Cumulus Linux switch, whose configuration states none.

A switch derives them from the length of the cable (Quality of Service, Priority Flow Control), in a pool with dynamic
thresholds (RDMA over Converged Ethernet, RoCE Pool Status). Which they are, no document says that could be read: those
here are railfab's.
"""

from __future__ import annotations

from dataclasses import replace

from railfab.device import DeviceModel
from railfab.platforms.shared.dynamic_xoff import with_dynamic_xoff
from railfab.qos import ALPHA

HEADROOM_POOL_PERCENT = 10
"""Share of the chip's buffer for packets that arrive after a pause frame was sent."""


def with_own_pauses(model: DeviceModel) -> DeviceModel:
    """The model with headroom, and an XOFF at a share of the free buffer."""
    qos = model.qos
    if qos is None or not qos.lossless():
        return model
    return replace(model, qos=replace(with_dynamic_xoff(qos, ALPHA), headroom_pool_percent=HEADROOM_POOL_PERCENT))
