"""Planned models of small fabrics, and copies of them with one thing changed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.topology.fabric_intents import fabric

from railfab.device import DeviceModel, Qos, plan
from railfab.intent import FabricIntent, load_intent
from railfab.topology import Topology, wire

ROOT = Path(__file__).parents[2]
POD64 = ROOT / "inventory" / "fabrics" / "pod64.yml"
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
Models = dict[str, DeviceModel]


@cache
def pod64() -> tuple[Topology, Models]:
    """The topology of pod64 and its models."""
    return planned(load_intent(POD64))


def planned(intent: FabricIntent) -> tuple[Topology, Models]:
    topology = wire(intent)
    return topology, plan(topology, intent)


def planned_with(**changes: Any) -> tuple[Topology, Models]:
    """A small pod of four leaves and four spines; `changes` by dotted key, with two underscores for a dot."""
    return planned(fabric(**changes))


def with_port(model: DeviceModel, place: int = 0, **fields: Any) -> DeviceModel:
    """With another interface at that place."""
    interfaces = list(model.interfaces)
    interfaces[place] = replace(interfaces[place], **fields)
    return replace(model, interfaces=tuple(interfaces))


def with_bgp(model: DeviceModel, **fields: Any) -> DeviceModel:
    assert model.bgp is not None
    return replace(model, bgp=replace(model.bgp, **fields))


def with_neighbor(model: DeviceModel, place: int = 0, **fields: Any) -> DeviceModel:
    """With another neighbour at that place."""
    neighbors = list(model.neighbors)
    neighbors[place] = replace(neighbors[place], **fields)
    return with_bgp(model, neighbors=tuple(neighbors))


def qos_of(model: DeviceModel) -> Qos:
    assert model.qos is not None
    return model.qos


def with_qos(model: DeviceModel, **fields: Any) -> DeviceModel:
    return replace(model, qos=replace(qos_of(model), **fields))


def with_port_qos(model: DeviceModel, **fields: Any) -> DeviceModel:
    """With other QoS on the first port."""
    first, *others = qos_of(model).ports
    return with_qos(model, ports=(replace(first, **fields), *others))


def with_class(model: DeviceModel, name: str, **fields: Any) -> DeviceModel:
    """With another class of that name."""
    classes = qos_of(model).classes
    return with_qos(model, classes=tuple(replace(one, **fields) if one.name == name else one for one in classes))
