"""A leaf that is absent means what Nokia's models have as its default, also for the simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.platforms.srlinux.configuration import interface, mapping, obeyed_pause_frames, parsed, qos, tree, unit

from railfab.device import DeviceModel, Port
from railfab.forwarding.qos import PortEffect, switch_effect
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux import mtu
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


# MTU: in what a switch forwards by, and not in the parsed model

Edit = Callable[[Json], object]


def without_ip_mtu(configuration: Json) -> None:
    del unit(configuration, PORT)["ip-mtu"]


def without_port_mtu(configuration: Json) -> None:
    del interface(configuration, PORT)["mtu"]


def with_system(**leaves: int) -> Edit:
    def edit(configuration: Json) -> None:
        found = {leaf.replace("_", "-"): value for leaf, value in leaves.items()}
        configuration["srl_nokia-system:system"]["srl_nokia-mtu:mtu"] = found

    return edit


MTUS: dict[str, tuple[tuple[Edit, ...], tuple[int, int | None]]] = {
    "as planned": ((), (9216, None)),
    "without ip-mtu": ((without_ip_mtu,), (1500, 9216)),
    "without ip-mtu, another default": ((without_ip_mtu, with_system(default_ip_mtu=9000)), (9000, 9216)),
    "without ip-mtu, a default above the port": ((without_ip_mtu, with_system(default_ip_mtu=9398)), (9216, None)),
    "with ip-mtu, another default": ((with_system(default_ip_mtu=1500),), (9216, None)),
    "without mtu": ((without_port_mtu,), (9216, 9218)),
    "without mtu, another default": ((without_port_mtu, with_system(default_port_mtu=1600)), (1586, None)),
    "without either": ((without_ip_mtu, without_port_mtu), (1500, 9218)),
}
"""What is changed, and the largest IP packets that PORT then sends, and receives where they are larger."""


@pytest.mark.parametrize("name", MTUS)
def test_a_port_without_mtu_has_the_default_of_the_system(name: str) -> None:
    edits, wanted = MTUS[name]
    configuration = tree()
    for edit in edits:
        edit(configuration)
    found = {port.name: port for port in mtu.with_default_mtus(parsed(configuration), configuration).interfaces}[PORT]
    assert isinstance(found, Port)
    assert (found.mtu_bytes, found.received_mtu_bytes) == wanted


def test_a_planned_configuration_needs_no_default_of_an_mtu() -> None:
    planned = parsed(tree())
    assert mtu.with_default_mtus(planned, tree()) is planned


def test_the_defaults_of_mtus_are_those_of_nokias_models() -> None:
    assert {leaf: schema().default(f"/system/mtu/{leaf}") for leaf in mtu.DEFAULTS} == {
        leaf: str(value) for leaf, value in mtu.DEFAULTS.items()
    }
