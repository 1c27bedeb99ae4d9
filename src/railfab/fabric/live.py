"""A design as LLDP shows it: hosts where their cables are, and links that are up.

What no switch says stays as planned, since hosts of GPU clusters seldom send LLDP: railfab stops lldpad on them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from railfab.device import Observed, ObservedInterface
from railfab.fabric.design import Design
from railfab.fabric.host_names import short_name
from railfab.text.counted import counted, listed
from railfab.text.folding import folded_sets
from railfab.topology import CabledPort, Link, Net, Node, PortKey, Topology
from railfab.topology.model import TIERS, link_network

SHOWN = 4
"""Names, or folded sets of them, in a line before the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class LiveDesign:
    """A design with the live topology. differences: from the plan, a line each. links: of the plan, in the backend;
    seen: those that a switch identifies at their far end; unknown: those of which none says anything."""

    design: Design
    differences: tuple[str, ...]
    links: int
    seen: int
    unknown: int

    @property
    def summary(self) -> str:
        """One line."""
        verdict = "not as planned" if self.differences else "as planned"
        if self.unknown and not self.differences:
            verdict = "what is seen is as planned" if self.seen else "no link is proved to be as planned"
        known = f"{self.seen:,} of {counted(self.links, 'link')} of the backend seen"
        return f"{known}, {self.unknown:,} unknown and taken from the plan: {verdict}"


@dataclass(frozen=True, slots=True)
class _Far:
    """Far end of a port of a switch. port: None where the device or the port is not in the plan."""

    device: str
    interface: str
    port: CabledPort | None

    @property
    def text(self) -> str:
        return f"{self.device} {self.interface}".rstrip()


def live_design(design: Design, observed: Mapping[str, Observed]) -> LiveDesign:
    """The design with the links and the places of hosts that the switches show. observed: of those that were read."""
    links = _LiveLinks(design.topology, observed)
    kept = list(links.all())
    placed = {host.name: place for host in design.topology.hosts() if (place := _place(host, kept, design.topology))}
    gone = [host.name for host in design.topology.hosts() if host.name not in placed]
    moved = {name: node for name, node in placed.items() if node != design.topology.node(name)}
    topology = _with(design.topology, placed, [link for link in kept if not {link.a.node, link.z.node} & {*gone}])
    return LiveDesign(
        design=replace(design, topology=topology),
        differences=(*links.differences(), *_host_differences(design, gone, moved)),
        links=links.planned,
        seen=links.seen,
        unknown=links.unknown,
    )


def _host_differences(design: Design, gone: list[str], moved: Mapping[str, Node]) -> Iterator[str]:
    if gone:
        yield f"hosts without a link, left out: {_names(gone)}"
    for name, node in moved.items():
        was, prefix = design.topology.node(name), design.intent.names.prefix
        places = [f"{prefix}pod{place.pod}-seg{place.segment}" for place in (node, was)]
        yield f"{name} is on the rail switches of {places[0]}, not of {places[1]}"


def _with(topology: Topology, hosts: Mapping[str, Node], links: Iterable[Link]) -> Topology:
    """The topology with these hosts, in the order of their segments, and these links."""
    ordered = sorted(hosts.values(), key=lambda host: (host.pod, host.segment or 0))
    planned = {host.name for host in topology.hosts()}
    others = (node for node in topology.nodes if node.name not in planned)
    return replace(topology, nodes=(*ordered, *others), links=tuple(links))


def _place(host: Node, links: Iterable[Link], topology: Topology) -> Node | None:
    """The host in the segment of most of its rail switches, its own among equals; None without any."""
    leaves = [topology.node(link.z.node) for link in links if link.a.node == host.name]
    votes = Counter((leaf.pod, leaf.segment) for leaf in leaves if leaf.net is Net.BACKEND and leaf.segment is not None)
    if not votes:
        return None
    pod, segment = max(votes, key=lambda place: (votes[place], place == (host.pod, host.segment)))
    return replace(host, pod=pod, segment=segment)


class _LiveLinks:
    """The links of a plan beside what their switches see. planned: of the backend; seen, unknown: of these."""

    def __init__(self, topology: Topology, observed: Mapping[str, Observed]) -> None:
        self._topology, self._observed = topology, observed
        self._interfaces: dict[PortKey, ObservedInterface] = {
            (node, interface.name): interface for node, seen in observed.items() for interface in seen.interfaces
        }
        self._ports = {(port.node, port.name): port for port, _, _ in topology.ports()}
        self._kept: list[Link] = []
        self._down: list[str] = []
        self._moved: dict[frozenset[str], tuple[CabledPort, _Far, Link]] = {}
        self.planned = self.seen = self.unknown = 0
        for link in topology.links:
            self._judge(link)

    def all(self) -> Iterator[Link]:
        """The live links: those of the plan, and those that are elsewhere."""
        yield from self._kept
        free: dict[str, list[CabledPort]] = defaultdict(list)
        kept = {port for link in self._kept for port in (link.a, link.z)}
        for port in self._ports.values():
            if port not in kept:
                free[port.node].append(port)
        for port, far, planned in self._moved.values():
            peer = far.port or next(iter(free[far.device]), None)
            if peer is None:
                continue
            free[peer.node] = [each for each in free[peer.node] if each != peer]
            low, high = sorted((port, peer), key=lambda end: TIERS[self._topology.node(end.node).role])
            if TIERS[self._topology.node(low.node).role] < TIERS[self._topology.node(high.node).role]:
                yield replace(planned, a=low, z=high, rate_gbps=min(low.rate_gbps, high.rate_gbps))

    def differences(self) -> Iterator[str]:
        unread = [node.name for node in self._topology.switches() if node.name not in self._observed]
        backend = [name for name in unread if self._topology.node(name).net is Net.BACKEND]
        if backend:
            yield f"switches not read, whose links are as planned: {_names(backend)}"
        if self._down:
            yield f"links that are down, left out: {_names(self._down)}"
        for port, far, planned in self._moved.values():
            peer = planned.z if planned.a == port else planned.a
            yield f"{port.node} {port.name} is cabled to {far.text}, not to {peer.node} {peer.name}"

    def _judge(self, link: Link) -> None:
        """Keep a link unless a switch at one of its ends says that it is down or elsewhere."""
        nodes = self._topology.by_name
        if link_network(nodes[link.a.node], nodes[link.z.node]) is not Net.BACKEND or self._topology.manages_switch(
            link
        ):
            self._kept.append(link)
            return
        self.planned += 1
        ends = [(port, peer) for port, peer in link.ends() if port.node in self._observed]
        if any(not self._is_up(port) for port, _ in ends):
            self._down.append(" ".join(next((port.node, port.name) for port, _ in ends if not self._is_up(port))))
            return
        far = [(port, peer, seen) for port, peer in ends if (seen := self._far(port, peer)) is not None]
        elsewhere = [(port, seen) for port, peer, seen in far if seen.port != peer]
        self.seen, self.unknown = self.seen + bool(far), self.unknown + (not far)
        if not elsewhere:
            self._kept.append(link)
        for port, seen in elsewhere:
            self._moved.setdefault(frozenset((f"{port.node} {port.name}", seen.text)), (port, seen, link))

    def _is_up(self, port: CabledPort) -> bool:
        interface = self._interfaces.get((port.node, port.name))
        return interface is not None and interface.oper_up

    def _far(self, port: CabledPort, peer: CabledPort) -> _Far | None:
        """The far end by LLDP; None where the port hears nothing. A host names its NICs as it likes."""
        interface = self._interfaces[port.node, port.name]
        if interface.neighbor_device is None:
            return None
        known = (interface.neighbor_device, short_name(interface.neighbor_device))
        device = next((name for name in known if name in self._topology.by_name), known[0])
        name = interface.neighbor_interface or ""
        there = self._ports.get((device, name))
        if there is None and device == peer.node:
            there = peer
        return _Far(device, name, there)


def _names(names: Iterable[str]) -> str:
    return listed(tuple(folded_sets(tuple(names))), SHOWN)
