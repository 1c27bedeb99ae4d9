"""Buffers of lossless classes of a virtual Junos switch, which states shares where the model has bytes.

A port pauses at `dynamic-threshold` of the lossless partition, a step of the scale of Broadcom's chips: 10 is eight
times the free buffer, and each step below is half of it. Juniper does not publish the step of a partition that states
none; it is railfab's. A headroom that is not stated is Juniper's default (buffer-partition, ingress).
"""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.junos import effective
from railfab.platforms.shared.dynamic_xoff import with_own_pauses
from railfab.platforms.shared.words import words_of
from railfab.qos import ALPHA

UNIT_STEP = 7
"""The step at which a port may take as much as is free."""
HEADROOM_POOL_PERCENT = 45


def with_partitions(model: DeviceModel, configuration: str) -> DeviceModel:
    """The model with the XOFF and the headroom that follow from the partitions of its configuration."""
    partitions = words_of(effective.read(configuration), []).at("class-of-service", "shared-buffer", "ingress")
    step = partitions.number("buffer-partition", "lossless", "dynamic-threshold")
    stated = model.qos.headroom_pool_percent if model.qos else None
    return with_own_pauses(
        model,
        alpha=ALPHA if step is None else 2.0 ** (step - UNIT_STEP),
        headroom_pool_percent=HEADROOM_POOL_PERCENT if stated is None else stated,
    )
