"""The intended fabric as info metrics, which dashboards and rules join samples with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from railfab.device import TrafficClass
from railfab.metrics import metric
from railfab.telemetry.series import Series
from railfab.telemetry.traffic_classes import NO_CLASSES, TrafficClasses
from railfab.topology import CabledPort, Link, Node, Role, Topology, link_kind


@dataclass(frozen=True, slots=True)
class IntendedSeries:
    """Known from the intent alone.

    fabric: its name; empty without an intent. series: info metrics by device; speeds_gbps: by device, then interface.
    """

    fabric: str
    series: Mapping[str, Sequence[Series]]
    speeds_gbps: Mapping[str, Mapping[str, float]]

    def of(self, owns: Callable[[str], bool]) -> IntendedSeries:
        """Those of some switches: a series that two shards had would match twice in a join."""
        return replace(self, series={device: found for device, found in self.series.items() if owns(device)})


NOTHING_INTENDED = IntendedSeries("", {}, {})
"""Of targets without an intent."""


def intended_series(topology: Topology, roce: TrafficClasses = NO_CLASSES) -> IntendedSeries:
    """The info series and the port speeds of every switch. roce: the classes of RoCE, by switch."""
    return IntendedSeries(topology.fabric, _info_series(topology, roce), _port_speeds_gbps(topology))


def switch_names(topology: Topology) -> frozenset[str]:
    """The switches of a topology, by name."""
    return frozenset(node.name for node in topology.nodes if node.role is not Role.HOST)


def _info_series(topology: Topology, roce: TrafficClasses) -> dict[str, tuple[Series, ...]]:
    """By switch. All label values are text; an empty `rail` means several or none."""
    nodes = {node.name: node for node in topology.nodes}
    ports: dict[str, list[tuple[CabledPort, CabledPort, Link]]] = {node.name: [] for node in topology.switches()}
    for port, peer, link in topology.ports():
        if port.node in ports:
            ports[port.node].append((port, peer, link))
    return {
        name: (_device(nodes[name], found), *_interfaces(nodes, found), *_queues(roce.get(name, ())))
        for name, found in ports.items()
    }


def _port_speeds_gbps(topology: Topology) -> dict[str, dict[str, float]]:
    """The intended speed of every port, by device, then interface."""
    speeds: dict[str, dict[str, float]] = {node.name: {} for node in topology.nodes}
    for port, _, _ in topology.ports():
        speeds[port.node][port.name] = float(port.rate_gbps)
    return speeds


def _device(node: Node, ports: Iterable[tuple[CabledPort, CabledPort, Link]]) -> Series:
    rails = {port.rail for port, _, _ in ports if port.rail is not None}
    labels = {
        "role": node.role.value,
        "pod": str(node.pod),
        "segment": _text(node.segment),
        "rail": _text(rails.pop() if len(rails) == 1 else None),
        "platform": node.platform or "",
        "model": node.model or "",
    }
    return Series(metric("fabric_device_info"), labels)


def _interfaces(nodes: dict[str, Node], ports: Iterable[tuple[CabledPort, CabledPort, Link]]) -> Iterator[Series]:
    for port, peer, link in ports:
        ends = {"interface": port.name, "peer_device": peer.node, "peer_interface": peer.name}
        kind = link_kind(nodes[port.node].role, nodes[peer.node].role).value
        speed = f"{link.rate_gbps}G"
        yield Series(metric("fabric_interface_info"), {**ends, "link": kind, "rail": _text(port.rail), "speed": speed})
        yield Series(metric("fabric_link_intended_info"), {**ends, "link": kind})


def _queues(classes: Iterable[TrafficClass]) -> Iterator[Series]:
    for each in classes:
        yield Series(metric("fabric_roce_queue_info"), {"queue": each.name, "priority": _text(each.pfc_priority)})


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
