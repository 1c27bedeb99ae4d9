"""The info series that dashboards and rules join samples with."""

from collections import Counter
from pathlib import Path

from railfab.device import TrafficClass
from railfab.device.qos import Scheduling
from railfab.intent import FabricIntent, Hosts, Segments, load_intent
from railfab.telemetry.intended import intended_series
from railfab.topology import Role, Topology, wire

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"


def rail_optimised() -> FabricIntent:
    """pod64 with a rail switch for each rail."""
    intent = load_intent(POD64)
    fields = intent.backend.segments.model_dump() | {"rail_switches": 8}
    backend = intent.backend.model_copy(update={"segments": Segments(**fields)})
    return intent.model_copy(update={"hosts": Hosts(gpus=8, nic_ports=1, rate_gbps=100), "backend": backend})


def info(topology: Topology, name: str) -> list[dict[str, str]]:
    return [
        {"device": device, **dict(series.labels)}
        for device, found in intended_series(topology).series.items()
        for series in found
        if series.metric.name == name
    ]


def test_a_port_has_one_info_series_so_that_joins_on_device_and_interface_find_one() -> None:
    topology = wire(load_intent(POD64))
    for name in ("fabric_interface_info", "fabric_link_intended_info"):
        ports = Counter((labels["device"], labels["interface"]) for labels in info(topology, name))
        assert set(ports.values()) == {1}
        assert len(ports) == sum(len(topology.ports_of(node.name)) for node in topology.switches())
    assert set(Counter(labels["device"] for labels in info(topology, "fabric_device_info")).values()) == {1}


def test_rails_are_those_of_the_wiring() -> None:
    topology = wire(load_intent(POD64))
    rails = {
        (labels["device"], labels["interface"]): labels["rail"] for labels in info(topology, "fabric_interface_info")
    }
    for port, _, _ in topology.ports():
        if topology.node(port.node).role is not Role.HOST:
            assert rails[port.node, port.name] == ("" if port.rail is None else str(port.rail))


def test_a_switch_has_a_rail_only_where_it_serves_one() -> None:
    of_pod64 = {labels["device"]: labels["rail"] for labels in info(wire(load_intent(POD64)), "fabric_device_info")}
    assert set(of_pod64.values()) == {""}
    of_rails = {labels["device"]: labels["rail"] for labels in info(wire(rail_optimised()), "fabric_device_info")}
    assert [of_rails[f"pod1-seg2-leaf{number}"] for number in range(1, 9)] == [str(rail) for rail in range(1, 9)]
    assert of_rails["pod1-spine1"] == ""


def test_intended_speeds_are_those_of_the_ports() -> None:
    speeds = intended_series(wire(load_intent(POD64))).speeds_gbps["pod1-seg1-leaf1"]
    assert (speeds["ethernet-1/1/1"], speeds["ethernet-1/32"]) == (100.0, 400.0)


def test_the_queues_of_roce_are_series_of_their_switch_with_the_priority_that_pauses_them() -> None:
    classes = (
        TrafficClass(name="roce", queue=3, pfc_priority=3, obeyed_priority=3, scheduling=Scheduling.STRICT),
        TrafficClass(name="storage", queue=4, scheduling=Scheduling.STRICT),
    )
    series = intended_series(wire(load_intent(POD64)), {"pod1-spine1": classes}).series
    queues = [
        (device, dict(each.labels))
        for device in series
        for each in series[device]
        if each.metric.name == "fabric_roce_queue_info"
    ]
    assert queues == [
        ("pod1-spine1", {"queue": "roce", "priority": "3"}),
        ("pod1-spine1", {"queue": "storage", "priority": ""}),
    ]
