"""Canonical samples of one switch, from the simulator's counters and the state of the fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import NamedTuple

import numpy as np

from railfab.device import DEFAULT_INSTANCE
from railfab.forwarding import BgpSession, ForwardingState
from railfab.forwarding.optics import pre_fec_ber
from railfab.forwarding.qos import SwitchEffect
from railfab.forwarding.sessions import PrefixCounts
from railfab.platforms import VirtualChassis, VirtualLag, VirtualPort
from railfab.topology import Node
from railfab.twin.attempts import Values
from railfab.twin.counters import DROPS, Labels, Members, SampleFamily, TwinSample, families
from railfab.twin.lldp import Neighbors
from railfab.twin.readings import Arrays
from railfab.twin.transitions import TransitionCounters
from railfab.twin.tries import OPENING, Trying
from railfab.twin.virtual_ports import virtual_chassis, virtual_lags, virtual_ports
from railfab.units import NS_PER_S

BGP_STATES = {"idle": 1, "connect": 2, "active": 3, "opensent": 4, "openconfirm": 5, "established": 6}
"""As in BGP4-MIB (RFC 4273)."""


Series = tuple[str, Labels]
"""A canonical metric and its labels without `device`."""


_OTHER_DROP_REASONS = ("congestion", "adverse")
"""Limits inside the chip, and its defects, which the simulator does not have."""


class ObservedSwitch(NamedTuple):
    """The present state of a switch. series: the same object as long as it has the same series.

    simulated_ns: simulated time of the counters. state: of the fabric, from which its routes are read when asked for.
    """

    series: tuple[Series, ...]
    values: Values
    sessions: tuple[BgpSession, ...]
    simulated_ns: int
    ports: tuple[VirtualPort, ...]
    lags: tuple[VirtualLag, ...]
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
            state.lags.get(name),
        )


@dataclass(slots=True)
class SwitchSamples:
    """The samples of one switch: counters, and values that change with convergence only.

    members: of its LAGs. made_from: the parts of a state that the latter depend on; each is another object when it has
    changed.
    """

    effect: SwitchEffect
    members: Members
    families: tuple[SampleFamily, ...]
    made_from: tuple[object, ...]
    sessions: tuple[BgpSession, ...]
    ports: tuple[VirtualPort, ...]
    lags: tuple[VirtualLag, ...]
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
        return ObservedSwitch(
            self.series, values, self.sessions, simulated_ns, self.ports, self.lags, self.chassis, self.state
        )


def switch_samples(source: SampleSource, name: str, held: SwitchSamples | None) -> SwitchSamples:
    """The samples of a switch in this state. held: those before, whose parts are used where nothing has changed."""
    state = source.state
    effect, made_from = state.effects[name], source.parts(name)
    same_effect = held is not None and held.effect is effect and held.made_from[0] is state.links
    if held is not None and same_effect and all(map(is_, made_from, held.made_from)):
        return held
    lags = tuple(virtual_lags(state, name))
    members = {lag.name: [state.links.egress[name, member.port] for member in lag.members] for lag in lags}
    if held is not None and same_effect and members == held.members:
        counted = held.families
    else:
        counted = families(state.links, effect, name, members)
    # The metrics of a session have no label for a VRF, in which a session carries nothing.
    sessions = tuple(
        _shown(source, found) for found in state.sessions_of(name) if found.network_instance == DEFAULT_INSTANCE
    )
    ports = tuple(virtual_ports(state, source.neighbors, name))
    states = tuple(state_samples(state, source.transitions, name, sessions, ports, lags))
    series = (
        *((family.metric, labels) for family in counted for labels in family.labels),
        *((sample.metric, sample.labels) for sample in states),
    )
    if held is not None and series == held.series:
        series = held.series
    chassis = virtual_chassis(state, name, source.booted_s.get(name, source.started_s))
    return SwitchSamples(effect, members, counted, made_from, sessions, ports, lags, chassis, state, states, series)


def _shown(source: SampleSource, session: BgpSession) -> BgpSession:
    """A session in the state that it shows at the moment."""
    trying = session.key in source.trying.get(session.device, ())
    return replace(session, state=OPENING) if trying else session


def state_samples(
    state: ForwardingState,
    counters: TransitionCounters,
    name: str,
    sessions: Sequence[BgpSession],
    ports: Sequence[VirtualPort],
    lags: Sequence[VirtualLag],
) -> Iterator[TwinSample]:
    """Sessions, neighbours, optics and the switch itself; they change with convergence, or rarely."""
    links = state.links
    yield TwinSample("fabric_device_info", _device_labels(links.topology.fabric, links.nodes[name]), 1.0)
    for reason in _OTHER_DROP_REASONS:
        yield TwinSample(DROPS, {"reason": reason}, 0.0)
    for port in ports:
        yield from _port_samples(port, state.dirt.get((name, port.name), 0.0))
    for lag in lags:
        yield from _lag_samples(lag)
    for session in sessions:
        yield from _session_samples(session, counters)


def _lag_samples(lag: VirtualLag) -> Iterator[TwinSample]:
    here = {"interface": lag.name}
    yield TwinSample("fabric_interface_oper_up", here, float(lag.oper_up))
    yield TwinSample("fabric_interface_admin_up", here, float(lag.enabled))
    yield TwinSample("fabric_interface_speed_bytes_per_second", here, lag.rate_gbps * NS_PER_S / 8)


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
