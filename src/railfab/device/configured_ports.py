"""Operation of ports that do what they are configured for with PFC, ECN and DSCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railfab.device.interfaces import Lag
from railfab.device.model import DeviceModel
from railfab.device.qos import PortQos, Qos

CODE_POINTS = range(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortOperation:
    """Operation of a port; see ObservedInterface. dscp: without code points whose class has no queue, a mistake."""

    pfc: frozenset[int]
    ecn: frozenset[int]
    dscp: Mapping[int, int]


def operations(model: DeviceModel) -> Mapping[str, PortOperation]:
    """Operation that each port is configured for, members of LAGs included."""
    if model.qos is None:
        return {}
    members = {lag.name: lag.members for lag in model.interfaces if isinstance(lag, Lag)}
    alike: dict[tuple[object, ...], PortOperation] = {}  # the ports of a switch have few different settings
    ports: dict[str, PortOperation] = {}
    for stated in model.qos.ports:
        settings = (stated.classifier, stated.pfc, stated.ecn)
        if settings not in alike:
            alike[settings] = port_operation(model.qos, stated)
        ports |= dict.fromkeys(members.get(stated.interface, (stated.interface,)), alike[settings])
    return ports


def port_operation(qos: Qos, port: PortQos) -> PortOperation:
    """The operation of a port with these settings."""
    queues = {traffic_class.name: traffic_class.queue for traffic_class in qos.classes}
    classifier = qos.classifier(port.classifier) if port.classifier is not None else None
    classes = dict(classifier.dscp) if classifier is not None else {}
    named = ((point, classes.get(point, qos.default_class)) for point in CODE_POINTS)
    return PortOperation(
        pfc=frozenset(port.pfc),
        ecn=frozenset(queues[name] for name in port.ecn if name in queues),
        dscp={point: queues[name] for point, name in named if name in queues},
    )
