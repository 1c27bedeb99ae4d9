"""The status of RoCE on the ports of a virtual Cumulus Linux switch, which does what its configuration states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from railfab.device import DeviceModel, EcnRamp, Lag, PortQos, Qos, Scheduling, TrafficClass
from railfab.platforms.cumulus.nodes import at
from railfab.platforms.cumulus.qos import GLOBAL, PRIORITIES
from railfab.platforms.shared.json_tree import Json

TRUST = {"l2": "pcp", "l3": "dscp", "both": "pcp,dscp", "port": "port"}
"""Names in the status of RoCE of what a mapping trusts."""


class QosOfPort(NamedTuple):
    """QoS of a port. lossless, control: its classes of RoCE, and the strict one of congestion notifications."""

    qos: Qos
    port: PortQos
    lossless: tuple[TrafficClass, ...]
    control: tuple[TrafficClass, ...]

    def marked(self) -> Iterator[tuple[TrafficClass, EcnRamp]]:
        """The classes that are marked, with their ramps."""
        profile = next((each for each in self.qos.profiles if each.name == self.port.profile), None)
        for traffic_class in self.qos.classes if profile else ():
            thresholds = profile.of(traffic_class.name) if profile else None
            if traffic_class.name in self.port.ecn and thresholds is not None and thresholds.ecn is not None:
                yield traffic_class, thresholds.ecn

    def points(self, traffic_class: TrafficClass) -> str:
        """The code points of a class."""
        classifier = next((each for each in self.qos.classifiers if each.name == self.port.classifier), None)
        points = [str(point) for point, name in classifier.dscp if name == traffic_class.name] if classifier else []
        return ",".join(points) or "-"


class RoceStatus:
    """The QoS of all ports. tree, model: the running configuration."""

    def __init__(self, tree: Json, model: DeviceModel) -> None:
        self._tree = tree
        stated = at(tree, "qos", "egress-queue-mapping", GLOBAL, "switch-priority")
        stated_queues = {int(priority): int(entry["traffic-class"]) for priority, entry in stated.items() if entry}
        self.queues = {priority: stated_queues.get(priority, priority) for priority in PRIORITIES}
        """The traffic class of each switch priority."""
        self.ports = dict(_ports(model, model.qos)) if model.qos else {}
        """QoS by the name of a port."""

    def status(self, interface: str) -> Json:
        """The status of RoCE on a port that has QoS."""
        held = self.ports[interface]
        pfc = "yes" if held.port.pfc else "no"
        priorities = ",".join(map(str, held.port.pfc)) or "-"
        return {
            **self._congestion([*held.marked()]),
            "pfc": {"pfc-priority": priorities, "rx-enabled": pfc, "tx-enabled": pfc},
            "trust": {"trust-mode": TRUST[self._trust(interface)]},
            "mode": at(self._tree, "qos", "roce").get("mode", "lossless"),
        }

    def maps(self, interface: str) -> dict[str, dict[str, Json]]:
        """Code points, switch priority and queue of the classes of RoCE and of congestion notifications."""
        held = self.ports[interface]
        classes = {"cnp": held.control[:1], "roce": held.lossless[:1]}
        named = [(name, each, self._priority(each)) for name, some in classes.items() for each in some]
        return {
            "prio-map": {
                name: {"pcp": "-", "dscp": held.points(each), "switch-prio": priority} for name, each, priority in named
            },
            "tc-map": {
                name: {"switch-prio": priority, "traffic-class": each.queue, "scheduler-weight": _weight(each)}
                for name, each, priority in named
            },
        }

    def _congestion(self, marked: list[tuple[TrafficClass, EcnRamp]]) -> Json:
        if not marked:
            return {}
        ramp = marked[0][1]
        return {
            "congestion-control": {
                "congestion-mode": "ecn, absolute",
                "enabled-tc": ",".join(str(each.queue) for each, _ in marked),
                "max-threshold": ramp.kmax_bytes,
                "min-threshold": ramp.kmin_bytes,
                "probability": ramp.pmax_percent,
            }
        }

    def _trust(self, interface: str) -> str:
        profile = at(self._tree, "interface", interface, "qos", "mapping").get("profile", GLOBAL)
        return str(at(self._tree, "qos", "mapping", profile).get("trust", "port"))

    def _priority(self, traffic_class: TrafficClass) -> int:
        """The switch priority of a class."""
        if traffic_class.pfc_priority is not None:
            return traffic_class.pfc_priority
        return next((each for each, queue in self.queues.items() if queue == traffic_class.queue), 0)


def _ports(model: DeviceModel, qos: Qos) -> Iterator[tuple[str, QosOfPort]]:
    members = {lag.name: lag.members for lag in model.interfaces if isinstance(lag, Lag)}
    control = tuple(each for each in qos.classes if each.scheduling is Scheduling.STRICT)
    for port in qos.ports:
        lossless = tuple(each for each in qos.classes if each.pfc_priority in port.pfc)
        for name in members.get(port.interface, (port.interface,)):
            yield name, QosOfPort(qos, port, lossless, control)


def _weight(traffic_class: TrafficClass) -> str:
    strict = traffic_class.scheduling is Scheduling.STRICT
    return "strict priority" if strict else f"dwrr-{traffic_class.weight}%"
