"""Families of counters of a switch: where the values of its ports, LAGs, queues and priorities are in the arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

import numpy as np

from railfab.forwarding import LinkTable
from railfab.forwarding.qos import SwitchEffect
from railfab.platforms import QueueNames, platform
from railfab.sim import QUEUES
from railfab.topology import Node
from railfab.twin.attempts import Values
from railfab.twin.readings import Arrays

Labels = Mapping[str, str]
Places = np.ndarray[tuple[int], np.dtype[np.int64]]
Members = Mapping[str, Sequence[int]]
"""The egress links of interfaces, by name: the one of a port, those of the members of a LAG."""


class TwinSample(NamedTuple):
    """One value of a canonical metric; labels are without `device`."""

    metric: str
    labels: Labels
    value: float


@dataclass(frozen=True, slots=True)
class SampleFamily:
    """Samples of one metric: for each set of labels the place of its value in the array `source`.

    begins: where the places of each set of labels begin; None: each has one. The values of a counter are added up, of a
    gauge it is the largest.
    """

    metric: str
    source: str
    labels: tuple[Labels, ...]
    places: Places
    begins: Places | None = None

    def values(self, arrays: Arrays) -> Values:
        found = arrays[self.source][self.places]
        if self.begins is None:
            return found
        combine = np.add if self.metric.endswith("_total") else np.maximum
        return np.asarray(combine.reduceat(found, self.begins))

    def read(self, arrays: Arrays) -> Iterator[TwinSample]:
        return map(TwinSample, repeat(self.metric), self.labels, self.values(arrays).tolist())


_SENT = {
    "fabric_interface_transmit_bytes_total": "octets",
    "fabric_interface_transmit_discards_total": "out_discards",
    "fabric_interface_transmit_errors_total": "out_errors",
}
_RECEIVED = {
    "fabric_interface_receive_bytes_total": "in_octets",
    "fabric_interface_receive_discards_total": "in_discards",
    "fabric_interface_receive_errors_total": "in_errors",
}
_PORT = {
    "fabric_interface_oper_up": "oper_up",
    "fabric_interface_admin_up": "admin_up",
    "fabric_interface_speed_bytes_per_second": "speed",
    "fabric_interface_carrier_transitions_total": "transitions",
    "fabric_interface_last_change_timestamp_seconds": "last_change",
}
_RECEIVER = {
    "fabric_interface_receive_fcs_errors_total": "corrupted",
    "fabric_interface_fec_uncorrected_codewords_total": "fec_uncorrected",
}
"""Of the optics of a port, at the end that receives."""
_CASTS = {"unicast": "packets", "multicast": "multicast", "broadcast": "broadcast"}
_QUEUE = {
    "fabric_queue_transmit_bytes_total": "queue_octets",
    "fabric_queue_transmit_packets_total": "queue_packets",
    "fabric_queue_dropped_bytes_total": "queue_dropped_octets",
    "fabric_queue_dropped_packets_total": "queue_dropped",
    "fabric_queue_ecn_marked_packets_total": "queue_marked",
    "fabric_queue_ecn_marked_bytes_total": "queue_marked_octets",
    "fabric_queue_depth_bytes": "queue_depth",
    "fabric_queue_depth_peak_bytes": "queue_peak",
}
_PFC_EGRESS = {
    "fabric_pfc_watchdog_storms_detected_total": "storms",
    "fabric_pfc_receive_frames_total": "frames_received",
    "fabric_pfc_receive_transitions_total": "xoffs",
    "fabric_pfc_receive_pause_seconds_total": "paused",
}
_PFC_INGRESS = {
    "fabric_pfc_transmit_frames_total": "frames_sent",
    "fabric_pfc_dropped_packets_total": "priority_refused",
}
DROPS = "fabric_device_dropped_packets_total"
_DROP_REASONS = {"no_route": "no_route", "packet_processing": "not_forwarded"}
_HEADROOM = {
    "fabric_buffer_headroom_used_bytes": "headroom",
    "fabric_buffer_headroom_peak_bytes": "headroom_peak",
    "fabric_buffer_headroom_size_bytes": "headroom_size",
}


def families(table: LinkTable, effect: SwitchEffect, name: str, lags: Members) -> tuple[SampleFamily, ...]:
    """The counters of a switch with this effective QoS. A LAG counts what its members do, and has their queues."""
    pairs = zip(table.ports_of[name], table.links_of[name], strict=True)
    ports: Members = {port.name: (link,) for port, link in pairs}
    counting = {**ports, **lags}
    bundled = frozenset(link for links in lags.values() for link in links)
    queueing = {**{port: links for port, links in ports.items() if bundled.isdisjoint(links)}, **lags}
    names, every = queue_names(table.nodes[name]), [table.links_of[name]]
    return (
        *_families(_PORT, _of(ports), ports.values()),
        *_families(_RECEIVER, _of(ports), _into(ports)),
        *_families(_SENT, _of(counting), counting.values()),
        *_families(_RECEIVED, _of(counting), _into(counting)),
        *_cast_families(counting),
        *_queue_families(effect, names, queueing),
        *_pfc_families(queueing),
        *_headroom_families(effect, names, queueing),
        *(
            family
            for reason, source in _DROP_REASONS.items()
            for family in _families({DROPS: source}, ({"reason": reason},), every)
        ),
    )


def _of(interfaces: Members) -> tuple[Labels, ...]:
    return tuple({"interface": name} for name in interfaces)


def _into(interfaces: Members) -> list[list[int]]:
    """The ingress links of interfaces."""
    return [[link ^ 1 for link in links] for links in interfaces.values()]


def _families(
    metrics: Mapping[str, str], labels: Iterable[Labels], places: Iterable[Sequence[int]]
) -> Iterator[SampleFamily]:
    """Families with the same labels. places: of each set of labels."""
    held = tuple(places)
    lengths = np.array([len(each) for each in held], np.int64)
    flat = np.array([place for each in held for place in each], np.int64)
    begins = None if (lengths == 1).all() else np.cumsum(lengths) - lengths
    shared = tuple(labels)
    return (SampleFamily(metric, source, shared, flat, begins) for metric, source in metrics.items())


def _cast_families(interfaces: Members) -> Iterator[SampleFamily]:
    """Packets by what they are sent to: the simulator's are unicast."""
    for cast, source in _CASTS.items():
        labels = [{"interface": name, "cast": cast} for name in interfaces]
        yield from _families({"fabric_interface_transmit_packets_total": source}, labels, interfaces.values())
        yield from _families({"fabric_interface_receive_packets_total": f"in_{source}"}, labels, _into(interfaces))


def queue_names(node: Node) -> QueueNames:
    """How the platform of a switch names queues; the names of classes where that is not known."""
    return (platform(node.platform).telemetry.queues if node.platform else None) or QueueNames()


def _queue_families(effect: SwitchEffect, names: QueueNames, interfaces: Members) -> Iterator[SampleFamily]:
    classes = effect.classes
    labels = [{"interface": name, "queue": names.of("queue", cls)} for name in interfaces for cls in classes]
    places = [[link * QUEUES + cls.queue for link in links] for links in interfaces.values() for cls in classes]
    return _families(_QUEUE, labels, places)


def _pfc_families(interfaces: Members) -> Iterator[SampleFamily]:
    """PFC by priority: each port counts all of them, whatever is configured."""
    labels = [{"interface": name, "priority": str(priority)} for name in interfaces for priority in range(QUEUES)]
    for metrics, ends in ((_PFC_EGRESS, interfaces.values()), (_PFC_INGRESS, _into(interfaces))):
        places = [[link * QUEUES + priority for link in links] for links in ends for priority in range(QUEUES)]
        yield from _families(metrics, labels, places)


def _headroom_families(effect: SwitchEffect, names: QueueNames, interfaces: Members) -> Iterator[SampleFamily]:
    """Headroom of each priority group, which several lossless classes may share."""
    groups = {names.of("priority_group", cls): cls for cls in effect.lossless}
    labels = [{"interface": name, "priority_group": group} for name in interfaces for group in groups]
    places = []
    for name, links in interfaces.items():
        priorities = {found.name: found.pfc_priority for found in effect.port(name).own}
        for cls in groups.values():
            places.append([(link ^ 1) * QUEUES + (priorities.get(cls.name) or 0) for link in links])
    return _families(_HEADROOM, labels, places)
