"""Class of service of a virtual Junos switch: what its ports are bound to, and its forwarding classes.

Forms: Junos OS Evolved 23.2 in a public guide of class of service, and a reader of QFX switches in a public repository.
The objects that a switch has by itself have the names of those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from railfab.platforms.junos.port_state import FIRST_INDEX, ShownPort, forwarding_classes
from railfab.platforms.junos.show_interfaces import UNIT_INDEX
from railfab.platforms.junos.show_queues import MOST_QUEUES
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import Statement
from railfab.platforms.twin_face import VirtualDevice

COS = "class-of-service"
OBJECTS_HEADER = "Object                  Name                   Type                    Index"
CLASSES_HEADER = "Forwarding class                       ID      Queue  Policing priority  No-Loss   PFC priority"
DEFAULT_CLASSIFIER = "dscp-default"


def interfaces_text(device: VirtualDevice, states: Sequence[ShownPort]) -> Iterator[str]:
    """`show class-of-service interface` of these ports."""
    statements = [each[2:] for each in read(device.running()) if each[:2] == (COS, "interfaces")]
    bound: dict[str, list[Statement]] = {state.port.name: [] for state in states}
    for name, *rest in statements:
        if name in bound:
            bound[name].append(tuple(rest))
    for place, state in enumerate(states):
        if place:
            yield ""
        yield from _interface(state, bound[state.port.name])


def _interface(state: ShownPort, bound: Sequence[Statement]) -> Iterator[str]:
    settings = {statement[0]: statement[-1] for statement in bound if len(statement) == 2}
    profile = settings.get("congestion-notification-profile")
    yield f"Physical interface: {state.port.name}, Index: {FIRST_INDEX + state.index}"
    yield f"Maximum usable queues: {MOST_QUEUES}, Queues in use: {len(state.queues)}"
    yield "Exclude aggregate overhead bytes: disabled"
    yield "Logical interface aggregate statistics: disabled"
    yield f"  Scheduler map: {settings.get('scheduler-map', '<default>')}, Index: 0"
    enabled = f"Enabled, Name: {profile}, Index: 0" if profile is not None else "Disabled"
    yield f"  Congestion-notification: {enabled}"
    classifiers = _classifiers(bound)
    for unit in state.addresses:
        yield ""
        yield f"  Logical interface: {state.port.name}.{unit}, Index: {UNIT_INDEX + state.index}"
        yield OBJECTS_HEADER
        yield f"{'Classifier':<24}{classifiers.get(unit, DEFAULT_CLASSIFIER):<22} {'dscp':<22}{0:>7}"


def _classifiers(bound: Sequence[Statement]) -> Mapping[str, str]:
    """The DSCP classifiers of units."""
    return {each[1]: each[4] for each in bound if each[:1] == ("unit",) and each[2:4] == ("classifiers", "dscp")}


def classes_text(device: VirtualDevice) -> Iterator[str]:
    """`show class-of-service forwarding-class`."""
    prefix = (COS, "forwarding-classes", "class")
    stated = [each[3:] for each in read(device.running()) if each[:3] == prefix]
    priorities = {name: rest[1] for name, *rest in stated if rest[:1] == ["pfc-priority"]}
    lossless = {name for name, *rest in stated if rest == ["no-loss"]}
    yield CLASSES_HEADER
    for place, (name, queue) in enumerate(forwarding_classes(device)):
        loss = "enabled" if name in lossless else "disabled"
        yield f"  {name:<38}{place:<8}{queue:<8}{'normal':<15}{loss:<10}{priorities.get(name, 0)}"
