"""Queues and priority groups in series have the names that the intent gives their classes, on every platform."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.device import TrafficClass
from railfab.device.qos import Scheduling
from railfab.endpoints import Endpoint, Endpoints
from railfab.fabric import design
from railfab.gnmi.paths import elements
from railfab.platforms import platform, platform_names
from railfab.telemetry import fabric_collector
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.traffic_classes import named_by_classes, roce_classes

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
CLASSES = (
    TrafficClass(name="default", queue=0, scheduling=Scheduling.WEIGHTED, weight=50),
    TrafficClass(name="roce", queue=3, pfc_priority=4, obeyed_priority=4, scheduling=Scheduling.WEIGHTED, weight=50),
    TrafficClass(name="cnp", queue=6, scheduling=Scheduling.STRICT),
)
OCTETS = {
    "eos": "/qos/interfaces/interface[interface-id=P]/output/queues/queue[name=P-{}]/state/transmit-octets",
    "junos": "/qos/interfaces/interface[interface-id=P]/output/queues/queue[name={}]/state/transmit-octets",
    "cumulus": "/qos/interfaces/interface[interface-id=P]/output/queues/queue[name={}]/state/transmit-octets",
    "sonic": "/COUNTERS/P/Queues/P:{}/SAI_QUEUE_STAT_BYTES",
    "nxos": (
        "/System/ipqos-items/queuing-items/policy-items/out-items/intf-items/If-list[name=eth1/1]"
        "/queCmap-items/QueuingStats-list[cmapName=c-out-8q-q{}][statType=none]/txBytes"
    ),
}
GROUPS = {
    "sonic": (
        "/PERIODIC_WATERMARKS/P/PriorityGroups/P:{}:periodic/SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"
    ),
    "srlinux": "/qos/interfaces/interface[interface-id=P]/pfc/pfc-queue[pfc-queue-name={}]/pfc-buffer-used",
}


def label_of(name: str, path: str, label: str, classes: tuple[TrafficClass, ...] = CLASSES) -> str:
    (match,) = PathMap(named_by_classes(platform(name).telemetry, classes)).matches(elements(path))
    return match.labels[label]


@pytest.mark.parametrize("name", OCTETS)
def test_a_number_of_a_queue_becomes_the_class_that_the_intent_gives_it(name: str) -> None:
    numbers = ("-default", 3, 7) if name == "nxos" else (0, 3, 6)  # its class map 7 is that of queue 6
    queues = [label_of(name, OCTETS[name].format(number), "queue") for number in numbers]
    assert queues == ["default", "roce", "cnp"]


@pytest.mark.parametrize(("name", "group"), [("sonic", "4"), ("srlinux", "pfc-roce")])
def test_a_priority_group_becomes_the_class_that_it_is_the_buffer_of(name: str, group: str) -> None:
    """Its number is that of the priority, which may differ from that of the queue."""
    assert label_of(name, GROUPS[name].format(group), "priority_group") == "roce"


def test_a_queue_of_no_class_keeps_the_name_that_the_switch_gives_it() -> None:
    assert label_of("sonic", OCTETS["sonic"].format(5), "queue") == "5"
    assert label_of("sonic", OCTETS["sonic"].format(3), "queue", ()) == "3"


def test_the_queues_of_roce_are_classes_and_none_where_a_platform_does_not_state_its_names() -> None:
    assert roce_classes(platform("sonic").telemetry, CLASSES) == (CLASSES[1],)
    assert roce_classes(platform("frr").telemetry, CLASSES) == ()
    assert named_by_classes(platform("frr").telemetry, CLASSES) == platform("frr").telemetry


def test_every_platform_whose_queues_are_counted_states_their_names() -> None:
    counted = {
        name
        for name in platform_names()
        if any(rule.metric.startswith("fabric_queue_") for rule in platform(name).telemetry.rules)
    }
    assert counted == {name for name in platform_names() if platform(name).telemetry.queues is not None}


def test_the_switches_of_two_vendors_have_one_name_for_the_queue_of_roce(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILFAB_USERNAME", "admin")
    monkeypatch.setenv("RAILFAB_PASSWORD", "a secret")
    fabric = design(FABRICS / "mixed-sonic-leaf.yml")
    nodes = tuple(
        Endpoint(name=node.name, platform=str(node.platform), host="::1", gnmi_port=1)
        for node in fabric.topology.switches()
    )
    endpoints = Endpoints(fabric=fabric.intent.fabric, backend="twin", nodes=nodes)
    collector = fabric_collector(fabric.topology, endpoints, classes=fabric.traffic_classes)
    queues = collector.snapshot().select("fabric_roce_queue_info")
    assert {labels["device"]: labels["queue"] for labels, _ in queues} == dict.fromkeys(fabric.models, "roce")
    assert {
        spec.platform: dict(spec.telemetry.classes.get("queue", {})) for spec in collector.fleet.specs.values()
    } == {
        "sonic": {"0": "default", "3": "roce", "6": "cnp"},
        "srlinux": {},
    }
