"""A leaf that is absent means what Nokia's models have as its default, also for the simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.platforms.srlinux.configuration import mapping, obeyed_pause_frames, parsed, qos, tree

from railfab.device import DeviceModel
from railfab.forwarding.qos import PortEffect, switch_effect
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.schema import schema

BUFFER_BYTES = 132_000_000
PORT = "ethernet-1/10"


def headroom_pool(configuration: Json) -> Any:
    return qos(configuration)["linecard"][0]["forwarding-complex"][0]["input"]


def pfc_queue(configuration: Json) -> Any:
    return qos(configuration)["buffer-management"]["buffer-allocation-profile"][0]["queues"]["pfc-queue"][0]


def deadlock(configuration: Json) -> Any:
    return mapping(configuration)["received-pfc-pause-frames"]["deadlock"]


def scheduler_input(configuration: Json) -> Any:
    """Of a weighted queue."""
    return qos(configuration)["scheduler-policies"]["scheduler-policy"][0]["scheduler"][1]["input"][0]


PROFILES, QUEUES = "/qos/pfc-mapping-profile", "/qos/buffer-management/buffer-allocation-profile/queues/pfc-queue"
DEADLOCK = f"{PROFILES}/received-pfc-pause-frames/deadlock"
DEFAULTS: dict[str, tuple[Callable[[Json], Any], object]] = {
    f"{QUEUES}/maximum-burst-size": (pfc_queue, 70_000),
    f"{QUEUES}/maximum-pfc-reserved-share-percentage": (pfc_queue, 7),
    "/qos/linecard/forwarding-complex/input/pfc-buffer-reservation": (headroom_pool, 5),
    f"{DEADLOCK}/enable": (deadlock, True),
    f"{DEADLOCK}/detection-timer": (deadlock, 100),
    f"{DEADLOCK}/recovery-timer": (deadlock, 200),
    f"{PROFILES}/received-pfc-pause-frames/queue/enable-pfc": (obeyed_pause_frames, True),
    "/qos/scheduler-policies/scheduler-policy/scheduler/input/peak-rate-percent": (scheduler_input, 50),
}
"""Where the leaf is, and another value than its default."""


def seen(configuration: Json) -> object:
    """The model but for what it has for thresholds that are left out, and what these amount to."""
    model: DeviceModel = parsed(configuration)
    effect = switch_effect(model, BUFFER_BYTES)
    ports: list[PortEffect] = [effect.port(port.interface) for port in model.qos.ports] if model.qos else []
    return effect, ports


@pytest.mark.parametrize("path", DEFAULTS)
def test_an_absent_leaf_acts_as_its_default(path: str) -> None:
    at, other = DEFAULTS[path]
    leaf, default = path.rpartition("/")[2], schema().default(path)
    assert default is not None
    stated, absent, changed = tree(), tree(), tree()
    at(stated)[leaf] = default == "true" if default in {"true", "false"} else int(default)
    at(absent).pop(leaf, None)
    at(changed)[leaf] = other
    assert seen(stated) == seen(absent) != seen(changed)
