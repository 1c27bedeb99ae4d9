"""QoS that a Junos switch has bound to its ports, which may be less than its configuration states.

`show class-of-service interface` names the objects of each port; what they mean is in the configuration. Objects of the
switch itself, such as its default classifier, are not known here, and members of bundles have those of the bundle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.device import PortQos, Qos, port_operation
from railfab.errors import RailfabError
from railfab.platforms.junos import effective
from railfab.platforms.junos.parse_qos import qos_of
from railfab.platforms.shared.brace_text import Statement
from railfab.platforms.shared.words import Words, words_of

COS = "class-of-service"
DEFAULT_MAP = "<default>"
"""The scheduler map of a port without one, whose schedulers mark nothing."""
_PORT = re.compile(r"^Physical interface: (\S+), Index", re.MULTILINE)
_SCHEDULER_MAP = re.compile(r"^ *Scheduler map: (\S+), Index", re.MULTILINE)
_PROFILE = re.compile(r"^ *Congestion-notification: (?:Disabled|Enabled, Name: (?P<name>[^,\s]+))", re.MULTILINE)
_CLASSIFIER = re.compile(r"^Classifier +(\S+) +dscp +\d+ *$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortQosInEffect:
    """PFC, ECN and DSCP of a port; see ObservedInterface."""

    pfc: frozenset[int] | None = None
    ecn: frozenset[int] | None = None
    dscp: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundObjects:
    """Names of the objects of a port; None where there is none. pauses: whether PFC was reported."""

    port: str
    scheduler_map: str | None
    profile: str | None
    pauses: bool
    classifier: str | None

    def statements(self) -> Iterator[Statement]:
        """The statements that bind them."""
        place = (COS, "interfaces", self.port)
        if self.scheduler_map is not None:
            yield (*place, "scheduler-map", self.scheduler_map)
        if self.profile is not None:
            yield (*place, "congestion-notification-profile", self.profile)
        if self.classifier is not None:
            yield (*place, "unit", "0", "classifiers", "dscp", self.classifier)


def qos_in_effect(configuration: str, shown: str) -> Mapping[str, PortQosInEffect]:
    """The QoS of each port that is shown.

    configuration: what stands below `class-of-service`. shown: the answer to `show class-of-service interface`.
    """
    bound = list(bound_objects(shown))
    stated = effective.read(f"{COS} {{\n{configuration}\n}}\n")
    problems: list[RailfabError] = []
    bindings = (statement for objects in bound for statement in objects.statements())
    root = words_of((*(each for each in stated if each[1:2] != ("interfaces",)), *bindings), problems)
    qos = qos_of(root)
    if qos is None or problems:
        return {}
    ports = {port.interface: port for port in qos.ports}
    return {objects.port: _in_effect(qos, ports, root.at(COS), objects) for objects in bound}


def bound_objects(shown: str) -> Iterator[BoundObjects]:
    """The objects of each port in the answer to `show class-of-service interface`."""
    _, *parts = _PORT.split(shown)
    for port, text in zip(parts[::2], parts[1::2], strict=True):
        profile = _PROFILE.search(text)
        scheduler_map, classifier = (pattern.search(text) for pattern in (_SCHEDULER_MAP, _CLASSIFIER))
        yield BoundObjects(
            port=port,
            scheduler_map=scheduler_map[1] if scheduler_map else None,
            profile=profile["name"] if profile else None,
            pauses=profile is not None,
            classifier=classifier[1] if classifier else None,
        )


def _in_effect(qos: Qos, ports: Mapping[str, PortQos], words: Words, objects: BoundObjects) -> PortQosInEffect:
    """The operation of a port, as far as its objects are known."""
    operation = port_operation(qos, ports.get(objects.port, PortQos(interface=objects.port)))
    knows_profile = objects.profile is None or objects.profile in words.at("congestion-notification-profile")
    knows_map = objects.scheduler_map == DEFAULT_MAP or (objects.scheduler_map or "") in words.at("scheduler-maps")
    knows_classifier = (objects.classifier or "") in words.at("classifiers", "dscp")
    return PortQosInEffect(
        pfc=operation.pfc if objects.pauses and knows_profile else None,
        ecn=operation.ecn if knows_map else None,
        dscp=operation.dscp if knows_classifier else None,
    )
