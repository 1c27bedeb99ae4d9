"""Queues and priority groups in series, named by the traffic classes of the intent on a switch of any platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from railfab.device import TrafficClass
from railfab.device.plan_qos import ROCE
from railfab.platforms import QueueNames, TelemetryMap

TrafficClasses = Mapping[str, tuple[TrafficClass, ...]]
"""Those of the intent, by switch."""
NO_CLASSES: TrafficClasses = MappingProxyType({})


@lru_cache(maxsize=64)
def named_by_classes(telemetry: TelemetryMap, classes: tuple[TrafficClass, ...]) -> TelemetryMap:
    """The map whose labels `queue` and `priority_group` are names of these classes.

    What is of no class keeps the name that the switch gives it, and so does all where the names are not known.
    """
    if telemetry.queues is None:
        return telemetry
    named = {
        "queue": dict(_named(telemetry.queues, "queue", classes)),
        "priority_group": dict(_named(telemetry.queues, "priority_group", [each for each in classes if each.lossless])),
    }
    return replace(telemetry, classes={label: names for label, names in named.items() if names})


def _named(queues: QueueNames, label: str, classes: Sequence[TrafficClass]) -> Iterator[tuple[str, str]]:
    """(name in the counters, class) of the classes that have another name there."""
    for traffic_class in classes:
        if (name := queues.of(label, traffic_class)) != traffic_class.name:
            yield name, traffic_class.name


def roce_classes(telemetry: TelemetryMap, classes: Sequence[TrafficClass]) -> tuple[TrafficClass, ...]:
    """The class of RoCE and lossless classes; none where the names of their queues in the counters are not known."""
    if telemetry.queues is None:
        return ()
    return tuple(each for each in classes if each.name == ROCE or each.lossless)
