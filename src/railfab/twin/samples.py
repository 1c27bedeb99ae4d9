"""Canonical samples of one switch, from the simulator's counters and the state of the fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import is_
from typing import NamedTuple

import numpy as np

from railfab.device import DEFAULT_INSTANCE
from railfab.forwarding import BgpSession, ForwardingState, LinkTable
from railfab.forwarding.optics import pre_fec_ber
from railfab.forwarding.qos import SwitchEffect
from railfab.forwarding.sessions import PrefixCounts
from railfab.platforms import QueueNames, VirtualChassis, VirtualPort, platform
from railfab.sim import QUEUES
from railfab.topology import CabledPort, Node
from railfab.twin.attempts import Values
from railfab.twin.lldp import Neighbors
from railfab.twin.readings import Arrays
from railfab.twin.transitions import TransitionCounters
from railfab.twin.tries import OPENING, Trying
from railfab.twin.virtual_ports import virtual_chassis, virtual_ports

Labels = Mapping[str, str]

BGP_STATES = {"idle": 1, "connect": 2, "active": 3, "opensent": 4, "openconfirm": 5, "established": 6}
"""As in BGP4-MIB (RFC 4273)."""


Series = tuple[str, Labels]
"""A canonical metric and its labels without `device`."""


class TwinSample(NamedTuple):
    """One value of a canonical metric; labels are without `device`."""

    metric: str
    labels: Labels
    value: float


@dataclass(frozen=True, slots=True)
class SampleFamily:
    """Samples of one metric: for each set of labels the place of its value in the array `source`.

    summed: one set of labels, whose value is the sum over all places.
    """

    metric: str
    source: str
    labels: tuple[Labels, ...]
    places: np.ndarray[tuple[int], np.dtype[np.int64]]
    summed: bool = False

    def values(self, arrays: Arrays) -> Values:
        found = arrays[self.source][self.places]
        return found.sum(keepdims=True) if self.summed else found

    def read(self, arrays: Arrays) -> Iterator[TwinSample]:
        return map(TwinSample, repeat(self.metric), self.labels, self.values(arrays).tolist())


_EGRESS = {
    "fabric_interface_transmit_bytes_total": "octets",
    "fabric_interface_transmit_discards_total": "out_discards",
    "fabric_interface_transmit_errors_total": "out_errors",
    "fabric_interface_oper_up": "oper_up",
    "fabric_interface_admin_up": "admin_up",
    "fabric_interface_speed_bytes_per_second": "speed",
    "fabric_interface_carrier_transitions_total": "transitions",
    "fabric_interface_last_change_timestamp_seconds": "last_change",
}
_INGRESS = {
    "fabric_interface_receive_bytes_total": "in_octets",
    "fabric_interface_receive_discards_total": "in_discards",
    "fabric_interface_receive_errors_total": "in_errors",
    "fabric_interface_receive_fcs_errors_total": "corrupted",
    "fabric_interface_fec_uncorrected_codewords_total": "fec_uncorrected",
}
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
_DROPS = "fabric_device_dropped_packets_total"
_DROP_REASONS = {"no_route": "no_route", "packet_processing": "not_forwarded"}
_OTHER_DROP_REASONS = ("congestion", "adverse")
"""Limits inside the chip, and its defects, which the simulator does not have."""
_HEADROOM = {
    "fabric_buffer_headroom_used_bytes": "headroom",
    "fabric_buffer_headroom_peak_bytes": "headroom_peak",
    "fabric_buffer_headroom_size_bytes": "headroom_size",
}


class ObservedSwitch(NamedTuple):
    """The present state of a switch. series: the same object as long as it has the same series.

    simulated_ns: simulated time of the counters. state: of the fabric, from which its routes are read when asked for.
    """

    series: tuple[Series, ...]
    values: Values
    sessions: tuple[BgpSession, ...]
    simulated_ns: int
    ports: tuple[VirtualPort, ...]
    chassis: VirtualChassis
    state: ForwardingState


class ObservedDevice(NamedTuple):
    """A switch as a device alone, without its ports and counters. simulated_ns: simulated time of the reading."""

    chassis: VirtualChassis
    simulated_ns: int


class SampleSource(NamedTuple):
    """What samples are made from that changes with convergence only, or rarely.

    started_s: Unix time of the start. booted_s: of the last boot, of switches that have booted since then.
    """

    state: ForwardingState
    transitions: TransitionCounters
    neighbors: Neighbors
    trying: Trying
    started_s: float
    booted_s: Mapping[str, float]

    def parts(self, name: str) -> tuple[object, ...]:
        """The parts that a switch's samples depend on; each is another object when it has changed."""
        state = self.state
        return (
            state.links,
            state.ports[name],
            state.sessions.get(name),
            state.routes,
            state.configs.get(name),
            state.dirt,
            self.transitions.sessions.get(name),
            self.neighbors.ports.get(name),
            self.booted_s.get(name),
            state.fibres,
            self.trying.get(name),
        )


@dataclass(slots=True)
class SwitchSamples:
    """The samples of one switch: counters, and values that change with convergence only.

    made_from: the parts of a state that the latter depend on; each is another object when it has changed.
    """

    effect: SwitchEffect
    families: tuple[SampleFamily, ...]
    made_from: tuple[object, ...]
    sessions: tuple[BgpSession, ...]
    ports: tuple[VirtualPort, ...]
    chassis: VirtualChassis
    state: ForwardingState
    states: tuple[TwinSample, ...]
    series: tuple[Series, ...]

    def samples(self, arrays: Arrays) -> list[TwinSample]:
        return [*(sample for family in self.families for sample in family.read(arrays)), *self.states]

    def observed(self, arrays: Arrays, simulated_ns: int) -> ObservedSwitch:
        counted = [family.values(arrays) for family in self.families]
        stated = np.array([sample.value for sample in self.states])
        values = np.concatenate([*counted, stated])
        return ObservedSwitch(self.series, values, self.sessions, simulated_ns, self.ports, self.chassis, self.state)


def switch_samples(source: SampleSource, name: str, held: SwitchSamples | None) -> SwitchSamples:
    """The samples of a switch in this state. held: those before, whose parts are used where nothing has changed."""
    state = source.state
    effect, made_from = state.effects[name], source.parts(name)
    same_effect = held is not None and held.effect is effect and held.made_from[0] is state.links
    if held is not None and same_effect and all(map(is_, made_from, held.made_from)):
        return held
    counted = held.families if held is not None and same_effect else families(state.links, effect, name)
    # The metrics of a session have no label for a VRF, in which a session carries nothing.
    sessions = tuple(
        _shown(source, found) for found in state.sessions_of(name) if found.network_instance == DEFAULT_INSTANCE
    )
    ports = tuple(virtual_ports(state, source.neighbors, name))
    states = tuple(state_samples(state, source.transitions, name, sessions, ports))
    series = (
        *((family.metric, labels) for family in counted for labels in family.labels),
        *((sample.metric, sample.labels) for sample in states),
    )
    if held is not None and series == held.series:
        series = held.series
    chassis = virtual_chassis(state, name, source.booted_s.get(name, source.started_s))
    return SwitchSamples(effect, counted, made_from, sessions, ports, chassis, state, states, series)


def _shown(source: SampleSource, session: BgpSession) -> BgpSession:
    """A session in the state that it shows at the moment."""
    trying = session.key in source.trying.get(session.device, ())
    return replace(session, state=OPENING) if trying else session


def families(table: LinkTable, effect: SwitchEffect, name: str) -> tuple[SampleFamily, ...]:
    """The counters of a switch with this effective QoS."""
    ports, links = table.ports_of[name], np.array(table.links_of[name], np.int64)
    names = queue_names(table.nodes[name])
    plain = tuple({"interface": port.name} for port in ports)
    return (
        *_each(_EGRESS, plain, links),
        *_each(_INGRESS, plain, links ^ 1),
        *_cast_families(ports, links),
        *_queue_families(effect, names, ports, links),
        *_pfc_families(ports, links),
        *_headroom_families(effect, names, ports, links),
        *(
            SampleFamily(_DROPS, source, ({"reason": reason},), links, summed=True)
            for reason, source in _DROP_REASONS.items()
        ),
    )


def _cast_families(
    ports: Sequence[CabledPort], links: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Iterator[SampleFamily]:
    """Packets by what they are sent to: the simulator's are unicast."""
    for cast, source in _CASTS.items():
        labels = tuple({"interface": port.name, "cast": cast} for port in ports)
        yield SampleFamily("fabric_interface_transmit_packets_total", source, labels, links)
        yield SampleFamily("fabric_interface_receive_packets_total", f"in_{source}", labels, links ^ 1)


def _each(
    metrics: Mapping[str, str], labels: tuple[Labels, ...], places: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Iterator[SampleFamily]:
    return (SampleFamily(metric, source, labels, places) for metric, source in metrics.items())


def queue_names(node: Node) -> QueueNames:
    """How the platform of a switch names queues; the names of classes where that is not known."""
    return (platform(node.platform).telemetry.queues if node.platform else None) or QueueNames()


def _queue_families(
    effect: SwitchEffect,
    names: QueueNames,
    ports: Sequence[CabledPort],
    links: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> Iterator[SampleFamily]:
    classes = effect.classes
    labels = tuple({"interface": port.name, "queue": names.of("queue", cls)} for port in ports for cls in classes)
    places = np.array([link * QUEUES + cls.queue for link in links for cls in classes], np.int64)
    return _each(_QUEUE, labels, places)


def _pfc_families(
    ports: Sequence[CabledPort], links: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Iterator[SampleFamily]:
    """PFC by priority: each port counts all of them, whatever is configured."""
    priorities = np.arange(QUEUES)
    labels = tuple({"interface": port.name, "priority": str(priority)} for port in ports for priority in priorities)
    yield from _each(_PFC_EGRESS, labels, (links[:, None] * QUEUES + priorities).ravel())
    yield from _each(_PFC_INGRESS, labels, ((links ^ 1)[:, None] * QUEUES + priorities).ravel())


def _headroom_families(
    effect: SwitchEffect,
    names: QueueNames,
    ports: Sequence[CabledPort],
    links: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> Iterator[SampleFamily]:
    """Headroom of each priority group, which several lossless classes may share."""
    groups = {names.of("priority_group", cls): cls for cls in effect.lossless}
    labels = tuple({"interface": port.name, "priority_group": group} for port in ports for group in groups)
    places = []
    for port, link in zip(ports, links, strict=True):
        priorities = {found.name: found.pfc_priority for found in effect.port(port.name).own}
        places += [(link ^ 1) * QUEUES + (priorities.get(cls.name) or 0) for cls in groups.values()]
    into = np.array(places, np.int64)
    return _each(_HEADROOM, labels, into) if groups else iter(())


def state_samples(
    state: ForwardingState,
    counters: TransitionCounters,
    name: str,
    sessions: Sequence[BgpSession],
    ports: Sequence[VirtualPort],
) -> Iterator[TwinSample]:
    """Sessions, neighbours, optics and the switch itself; they change with convergence, or rarely."""
    links = state.links
    yield TwinSample("fabric_device_info", _device_labels(links.topology.fabric, links.nodes[name]), 1.0)
    for reason in _OTHER_DROP_REASONS:
        yield TwinSample(_DROPS, {"reason": reason}, 0.0)
    for port in ports:
        yield from _port_samples(port, state.dirt.get((name, port.name), 0.0))
    for session in sessions:
        yield from _session_samples(session, counters)


def _port_samples(port: VirtualPort, loss_db: float) -> Iterator[TwinSample]:
    """What is heard on a port, and the light of each lane of it."""
    here = {"interface": port.name}
    for neighbor in port.neighbors:
        labels = {**here, "peer_device": neighbor.name, "peer_interface": neighbor.port}
        yield TwinSample("fabric_lldp_neighbor_info", labels, 1.0)
    if not port.fault:
        yield TwinSample("fabric_interface_pre_fec_ber_ratio", here, pre_fec_ber(port.fec, loss_db))
    for lane in range(1, port.lanes + 1):
        labels = {**here, "lane": str(lane)}
        yield TwinSample("fabric_optic_receive_power_dbm", labels, port.optics.receive_dbm)
        yield TwinSample("fabric_optic_transmit_power_dbm", labels, port.optics.transmit_dbm)


def _device_labels(fabric: str, node: Node) -> Labels:
    return {
        "fabric": fabric,
        "role": node.role.value,
        "pod": str(node.pod),
        "segment": "" if node.segment is None else str(node.segment),
        "rail": "",
        "platform": node.platform or "",
        "model": node.model or "",
    }


def _session_samples(session: BgpSession, counters: TransitionCounters) -> Iterator[TwinSample]:
    peer, counted = {"peer": session.peer}, counters.session(session)
    yield TwinSample("fabric_bgp_session_up", peer, float(session.established))
    yield TwinSample("fabric_bgp_session_state", peer, float(BGP_STATES[session.state]))
    yield TwinSample("fabric_bgp_established_transitions_total", peer, float(counted.established))
    if counted.established_s is not None:
        yield TwinSample("fabric_bgp_last_established_timestamp_seconds", peer, counted.established_s)
    for family in session.families:
        for direction, count in session.prefixes.get(family, PrefixCounts())._asdict().items():
            labels = {**peer, "afi_safi": family.value, "direction": direction}
            yield TwinSample("fabric_bgp_prefixes", labels, float(count))
    if session.bfd_up is not None:
        yield TwinSample("fabric_bfd_session_up", peer, float(session.bfd_up))
        yield TwinSample("fabric_bfd_failure_transitions_total", peer, float(counted.bfd_failures))
