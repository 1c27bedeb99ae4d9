"""Cabling of a fabric as its switches observe it: each link of the intent is proved, wrong, or unknown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from nornir.core import Nornir

from railfab.deploy.run import OnDone, readings_of
from railfab.deploy.tasks import observe
from railfab.device import IpAddress, Observed, ObservedBgpSession, ObservedInterface
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.findings import DifferenceCode, Finding, error
from railfab.text.counted import counted, listed
from railfab.text.folding import folded_sets
from railfab.topology import CabledPort, Link, PortKey, Topology
from railfab.topology.swaps import Cable, plugs_to_swap, port_text, swap_problem, swapped_cable

SHOWN = 4
"""Ports, or folded sets of them, that the summary names before it counts the rest."""


class CablingState(StrEnum):
    PROVED = "proved"
    WRONG = "wrong"
    UNKNOWN = "unknown"
    """No source says which port is at the far end. It is no error, and not known to be right."""


class CablingSource(StrEnum):
    LLDP = "lldp"
    BGP = "bgp"
    ARP = "arp"
    """ARP, and neighbour discovery of IPv6: an address of another host."""


class CablingGap(StrEnum):
    """Why nothing is known of the far end of a port."""

    UNREAD = "switches not read"
    DOWN = "ports that are down"
    HOST = "hosts without LLDP"
    UNRESOLVED = "hosts that ARP has not resolved"
    """An idle host is not resolved either, and nor is one whose address is in no subnet of the port."""
    NIC = "hosts that ARP identifies, but not their NIC"
    """A host may answer for any of its addresses on any of its NICs, as Linux does unless arp_ignore is set."""
    SWITCH = "switches that neither LLDP nor BGP identifies"


class _Judgement(NamedTuple):
    """far: port of the plan at the far end of a wrong link, where the source names it or only one can be meant."""

    state: CablingState
    source: CablingSource | None = None
    gap: CablingGap | None = None
    seen: str | None = None
    far: PortKey | None = None


@dataclass(frozen=True, slots=True)
class LinkCabling:
    """The cabling of one link. interface: a front-panel port of the switch. source: by which it is proved or wrong.

    gap: why it is unknown. seen: what is at the far end of a wrong one, as the source names it.
    """

    switch: str
    interface: str
    peer: str
    peer_interface: str
    state: CablingState
    source: CablingSource | None
    gap: CablingGap | None
    seen: str | None


@dataclass(frozen=True, slots=True)
class Cabling:
    """The cabling of every link of the switches that were to be read, in the order of the topology.

    swaps: pairs of wrong cables, from the two plugs that are to be swapped.
    """

    links: tuple[LinkCabling, ...]
    swaps: tuple[tuple[Cable, Cable], ...] = ()

    def of(self, state: CablingState) -> tuple[LinkCabling, ...]:
        return tuple(link for link in self.links if link.state is state)

    @property
    def summary(self) -> str:
        """One line: `cabling: 62 of 64 links proved, 2 unknown (hosts without LLDP: leaf1 ethernet-1/3, ...)`."""
        proved, wrong, unknown = (self.of(state) for state in CablingState)
        parts = [f"cabling: {len(proved):,} of {counted(len(self.links), 'link')} proved"]
        if wrong:
            parts.append(f"{len(wrong):,} wrong")
        if unknown:
            parts.append(f"{len(unknown):,} unknown ({'; '.join(_reasons(unknown))})")
        return ", ".join(parts)

    def findings(self) -> Iterator[Finding]:
        """What to do: a finding for each pair of plugs to swap, and for each other wrong cable."""
        swapped = {port for pair in self.swaps for cable in pair for port in cable}
        for first, second in self.swaps:
            where = f"{port_text(first[0])} and {port_text(second[0])}"
            yield error(DifferenceCode.CABLES_SWAPPED, where, swap_problem(first, second), "Swap the two plugs")
        for link in self.of(CablingState.WRONG):
            if (link.switch, link.interface) not in swapped:
                where = f"{link.switch} {link.interface}"
                problem = f"is cabled to {link.seen}, the intent says {link.peer} {link.peer_interface}"
                yield error(DifferenceCode.MISCABLED, where, problem, "Move the cable")


def _reasons(unknown: Sequence[LinkCabling]) -> Iterator[str]:
    for gap in CablingGap:
        ports = [f"{link.switch} {link.interface}" for link in unknown if link.gap is gap]
        if ports:
            yield f"{gap}: {listed(tuple(folded_sets(ports)), SHOWN)}"


def read_cabling(
    nornir: Nornir,
    fabric: Design,
    switches: Collection[str],
    *,
    without_address: Sequence[RailfabError] = (),
    on_done: OnDone = lambda _name: None,
) -> tuple[Cabling, Mapping[str, RailfabError]]:
    """The cabling of each link of these switches, and the error of each switch that could not be read.

    without_address: the error of each switch that no endpoint has, by its place.
    """
    read = readings_of(nornir, observe, on_done)
    unread = {**{error.where: error for error in without_address}, **read.unread}
    return cabling_of(fabric.topology, switches, read.answers), unread


def cabling_of(topology: Topology, switches: Collection[str], observed: Mapping[str, Observed]) -> Cabling:
    """The cabling of each link with a front-panel port on one of the switches. observed: of those that were read.

    A link is wrong where either end says so, and proved where either end does.
    """
    evidence = _Evidence(topology, observed)
    links = tuple(cabling for link in topology.links for cabling in _link(evidence, link, switches))
    return Cabling(links, tuple(_swaps(topology, evidence.misplaced)))


def _swaps(topology: Topology, misplaced: Mapping[PortKey, PortKey]) -> Iterator[tuple[Cable, Cable]]:
    """Pairs of misplaced cables whose plugs are swapped. misplaced: far ends that switches see, by port."""
    planned = {(port.node, port.name): (peer.node, peer.name) for port, peer, _ in topology.ports()}
    peers: dict[PortKey, set[PortKey]] = defaultdict(set)
    for a, z in misplaced.items():
        peers[a].add(z)
        peers[z].add(a)
    seen = {port: tuple(far) for port, far in peers.items()}
    reported: set[PortKey] = set()
    for cable in misplaced.items():
        other = swapped_cable(cable, planned, seen)
        if other is not None and reported.isdisjoint(cable):
            reported.update((*cable, *other))
            first, second = sorted(plugs_to_swap(cable, other))
            yield first, second


def _link(evidence: _Evidence, link: Link, switches: Collection[str]) -> Iterator[LinkCabling]:
    """The cabling of a link as the end with most to say observes it; nothing for a link of other switches."""
    order = (CablingState.WRONG, CablingState.PROVED, CablingState.UNKNOWN)
    ends = [(port, peer) for port, peer in link.ends() if port.cage and port.node in switches]
    judged = [(port, peer, evidence.judge(port, peer)) for port, peer in ends]
    for port, _, judgement in judged:
        if judgement.far is not None:
            evidence.misplaced[port.node, port.name] = judgement.far
    if judged:
        port, peer, (state, source, gap, seen, _) = min(judged, key=lambda end: order.index(end[2].state))
        yield LinkCabling(port.node, port.name, peer.node, peer.name, state, source, gap, seen)


class _Evidence:
    """The interfaces and the established sessions of the switches that were read, by node and interface.

    misplaced: the far ends of wrong links, by port, as they are judged.
    """

    def __init__(self, topology: Topology, observed: Mapping[str, Observed]) -> None:
        self._topology, self._read = topology, observed.keys()
        self._interfaces: dict[PortKey, ObservedInterface] = {
            (node, interface.name): interface for node, seen in observed.items() for interface in seen.interfaces
        }
        self._sessions: dict[PortKey, ObservedBgpSession] = {
            (node, session.interface or str(session.peer)): session
            for node, seen in observed.items()
            for session in seen.sessions
            if session.established
        }
        self.misplaced: dict[PortKey, PortKey] = {}
        self._hosts: dict[IpAddress, PortKey] = {
            port.address.ip: (port.node, port.name)
            for port, _, _ in topology.ports()
            if port.address is not None and not topology.node(port.node).is_switch
        }

    def judge(self, port: CabledPort, peer: CabledPort) -> _Judgement:
        """Compare what one end observes with the far end of the intent."""
        interface = self._interfaces.get((port.node, port.name))
        if port.node not in self._read:
            return _unknown(CablingGap.UNREAD)
        if interface is None or not interface.oper_up:
            return _unknown(CablingGap.DOWN)
        device, name = interface.neighbor_device, interface.neighbor_interface
        if (device or peer.node, name or peer.name) != (peer.node, peer.name):
            far = device or peer.node, name or peer.name
            return _Judgement(CablingState.WRONG, CablingSource.LLDP, seen=port_text(far), far=far)
        if device is not None and name is not None:
            return _Judgement(CablingState.PROVED, CablingSource.LLDP)
        if self._topology.node(peer.node).is_switch:
            return self._by_session(port, peer)
        return self._by_addresses(interface, peer)

    def _by_addresses(self, interface: ObservedInterface, peer: CabledPort) -> _Judgement:
        """Compare the addresses that a port has resolved with the hosts to which the intent gives them.

        Beside an address of the host of the intent, one of another host says nothing: an entry outlives an address that
        the host no longer has.
        """
        resolved = interface.resolved_addresses
        if resolved is None or peer.address is None:
            return _unknown(CablingGap.HOST)
        hosts = {address: self._hosts[address] for address in resolved if address in self._hosts}
        if any(node == peer.node for node, _ in hosts.values()):
            return _unknown(CablingGap.NIC)
        if not hosts:
            return _unknown(CablingGap.UNRESOLVED)
        address = min(hosts, key=lambda address: (address.version, address))
        far = hosts[address]
        return _Judgement(CablingState.WRONG, CablingSource.ARP, seen=f"{address} of {far[0]}", far=far)

    def _by_session(self, port: CabledPort, peer: CabledPort) -> _Judgement:
        """A session with the address of the far end, or, of the only link between two switches, one that each end has
        with the other: a name without a port does not distinguish two links."""
        unknown = _unknown(CablingGap.SWITCH)
        session = self._sessions.get((port.node, port.name))
        if session is None:
            return unknown
        if session.neighbor_device not in (None, peer.node):
            far_end = self._only_session(session.neighbor_device, port.node)
            return _Judgement(CablingState.WRONG, CablingSource.BGP, seen=session.neighbor_device, far=far_end)
        far = self._sessions.get((peer.node, peer.name))
        by_address = peer.address is not None and session.peer == peer.address.ip
        both = session.neighbor_device == peer.node and far is not None and far.neighbor_device == port.node
        if by_address or (both and self._is_only_link(port, peer)):
            return _Judgement(CablingState.PROVED, CablingSource.BGP)
        return unknown

    def _only_session(self, device: str | None, peer: str) -> PortKey | None:
        """The port of a device over which its only session with a peer runs; None without one, or of several."""
        ports = [
            port for port, session in self._sessions.items() if port[0] == device and session.neighbor_device == peer
        ]
        return ports[0] if len(ports) == 1 else None

    def _is_only_link(self, port: CabledPort, peer: CabledPort) -> bool:
        return sum(far.node == peer.node for _, far, _ in self._topology.ports_of(port.node)) == 1


def _unknown(gap: CablingGap) -> _Judgement:
    return _Judgement(CablingState.UNKNOWN, gap=gap)
