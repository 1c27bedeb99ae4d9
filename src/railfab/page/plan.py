"""The fabric of an intent as the page shows it: switches, ports and sessions by number, with rates and thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab import __version__
from railfab.device import DeviceModel
from railfab.device.plan_qos import ROCE
from railfab.fabric import Design
from railfab.qos import profile_name
from railfab.topology import TIERS, CabledPort, Link, LinkKind, Node, PortKey, Role, link_kind

PAUSES_PER_DECADE = 40
"""Steps of the scale of pause frames for ten times as many a second."""
UNBOUNDED = (150_000, 450_000, 600_000)
"""The scale of a queue without thresholds [bytes]."""


class QueueBounds(NamedTuple):
    """Thresholds of the lossless queue of a port [bytes]."""

    kmin_bytes: int
    kmax_bytes: int
    xoff_bytes: int


@dataclass(frozen=True, slots=True)
class PlannedPort:
    """A switch port of the intent. switch: its number. kind: of its link."""

    switch: int
    interface: str
    rate_gbps: int
    rail: int | None
    peer: str
    peer_interface: str
    network: str
    kind: LinkKind
    cable_m: float

    def document(self) -> dict[str, Any]:
        """The port as the page reads it."""
        return {
            "switch": self.switch,
            "interface": self.interface,
            "rate_gbps": self.rate_gbps,
            "rail": self.rail,
            "peer": {"node": self.peer, "interface": self.peer_interface},
            "network": self.network,
            "kind": str(self.kind),
        }


class PlannedSession(NamedTuple):
    """One end of a BGP session of the intent. port: the number of the port that it needs; None without a single one."""

    switch: int
    peer: str
    port: int | None


class PagePlan:
    """The switches, ports and BGP session ends of an intent, in the order that all arrays of the page have.

    What is not in it is not shown, and what is in it is shown whether it answers or not.
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        self.fabric = design.intent.fabric
        self.switches: tuple[Node, ...] = design.topology.switches()
        self.switch_numbers: Mapping[str, int] = {node.name: number for number, node in enumerate(self.switches)}
        self.ports: tuple[PlannedPort, ...] = tuple(self._ports())
        self.port_numbers: Mapping[PortKey, int] = {
            (self.switches[port.switch].name, port.interface): number for number, port in enumerate(self.ports)
        }
        self.sessions: tuple[PlannedSession, ...] = tuple(self._sessions())
        self.session_numbers: Mapping[tuple[str, str], int] = {
            (self.switches[session.switch].name, session.peer): number for number, session in enumerate(self.sessions)
        }

    @cached_property
    def switch_of_port(self) -> NDArray[np.int64]:
        """The number of the switch of each port."""
        return np.array([port.switch for port in self.ports], np.int64)

    @cached_property
    def rate_gbps(self) -> NDArray[np.float64]:
        """The rate of each port."""
        return np.array([port.rate_gbps for port in self.ports], float)

    @cached_property
    def rails(self) -> tuple[int, ...]:
        """The rails of the fabric, in ascending order."""
        return tuple(sorted({port.rail for port in self.ports if port.rail is not None}))

    @cached_property
    def rail_of_port(self) -> NDArray[np.int64]:
        """The place in `rails` of each port to a host, -1 for the other ports."""
        places = {rail: place for place, rail in enumerate(self.rails)}
        return np.array([-1 if port.rail is None else places[port.rail] for port in self.ports], np.int64)

    @cached_property
    def rail_capacity_gbps(self) -> NDArray[np.float64]:
        """The capacity of the ports to hosts, by rail."""
        of_rails = self.rail_of_port >= 0
        rails = self.rail_of_port[of_rails]
        return np.bincount(rails, self.rate_gbps[of_rails], minlength=len(self.rails)).astype(np.float64)

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """Kmin, Kmax and xoff of the lossless queue of each port, shape (port, 3) [bytes]."""
        known = self._bounds_by_profile()
        bounds = [
            known.get((self.switches[port.switch].name, profile_name(port.rate_gbps, port.cable_m)), UNBOUNDED)
            for port in self.ports
        ]
        return np.array(bounds, float).reshape(len(self.ports), 3)

    @cached_property
    def roce_queues(self) -> Mapping[str, frozenset[str]]:
        """The names of the queues of RoCE, by switch."""
        classes = self.design.traffic_classes
        return {
            name: frozenset(each.name for each in held if each.name == ROCE or each.lossless)
            for name, held in classes.items()
        }

    @cached_property
    def lossless_queues(self) -> Mapping[str, frozenset[str]]:
        """The names of the queues with PFC, by switch."""
        classes = self.design.traffic_classes
        return {name: frozenset(each.name for each in held if each.lossless) for name, held in classes.items()}

    def model(self, switch: str) -> DeviceModel:
        """The model of a switch."""
        return self.design.models[switch]

    def document(self) -> dict[str, Any]:
        """What does not change while the page runs."""
        return {
            "fabric": self.fabric,
            "title": self._title(),
            "version": __version__,
            "networks": self._networks(),
            "switches": [self._switch(node) for node in self.switches],
            "hosts": [self._host(node) for node in self.design.topology.nodes if not TIERS[node.role]],
            "rails": list(self.rails),
            "ports": [port.document() for port in self.ports],
            "bounds": self._bounds_by_rate(),
            "pause_scale": {"kind": "log_frames_per_s", "per_decade": PAUSES_PER_DECADE},
        }

    def _ports(self) -> Iterator[PlannedPort]:
        """The front-panel ports that have a cable, switch by switch."""
        for number, node in enumerate(self.switches):
            for port, peer, link in self.design.topology.ports_of(node.name):
                if port.cage:
                    yield self._port(number, port, peer, link)

    def _port(self, switch: int, port: CabledPort, peer: CabledPort, link: Link) -> PlannedPort:
        node, far = self.switches[switch], self.design.topology.node(peer.node)
        return PlannedPort(
            switch=switch,
            interface=port.name,
            rate_gbps=link.rate_gbps,
            rail=port.rail,
            peer=peer.node,
            peer_interface=peer.name,
            network=_network(node),
            kind=link_kind(node.role, far.role),
            cable_m=link.cable_m,
        )

    def _sessions(self) -> Iterator[PlannedSession]:
        addresses = {
            str(port.address.ip): (port.node, port.name)
            for port, _, _ in self.design.topology.ports()
            if port.address is not None
        }
        near = {
            (port.peer, port.peer_interface): (self.switches[port.switch].name, port.interface) for port in self.ports
        }
        for number, node in enumerate(self.switches):
            speaker = self.model(node.name).bgp
            for neighbor in speaker.neighbors if speaker else ():
                peer = str(neighbor.peer)
                key = (node.name, peer) if neighbor.unnumbered else near.get(addresses.get(peer, ("", "")), ("", ""))
                yield PlannedSession(number, peer, self.port_numbers.get(key))

    def _bounds_by_profile(self) -> dict[tuple[str, str], QueueBounds]:
        """The thresholds of the intent, by switch and by rate and cable."""
        return {
            (node.name, held.name): QueueBounds(held.kmin_bytes, held.kmax_bytes, held.xoff_bytes)
            for kind in self.design.buffers
            for held in kind.thresholds
            for node in kind.switches
        }

    def _bounds_by_rate(self) -> dict[str, dict[str, int]]:
        """The lowest thresholds of the ports of each rate."""
        bounds: dict[str, dict[str, int]] = {}
        for rate_gbps in sorted({port.rate_gbps for port in self.ports}):
            lowest = self.bounds[self.rate_gbps == rate_gbps].min(axis=0)
            bounds[str(rate_gbps)] = QueueBounds(*map(round, lowest.tolist()))._asdict()
        return bounds

    def _networks(self) -> list[dict[str, Any]]:
        tiers: dict[str, dict[Role, list[int]]] = {}
        for number, node in enumerate(self.switches):
            tiers.setdefault(_network(node), {}).setdefault(node.role, []).append(number)
        return [
            {"name": name, "tiers": [{"name": str(role), "switches": held} for role, held in by_role.items()]}
            for name, by_role in tiers.items()
        ]

    def _switch(self, node: Node) -> dict[str, Any]:
        return {
            "name": node.name,
            "role": str(node.role),
            "pod": node.pod,
            "segment": node.segment,
            "plane": node.plane,
            "platform": node.platform,
            "model": node.model,
        }

    def _host(self, node: Node) -> dict[str, Any]:
        gpus = self.design.intent.hosts.gpus if node.role is Role.HOST else 0
        return {"name": node.name, "gpus": gpus, "segment": node.segment, "pod": node.pod, "role": str(node.role)}

    def _title(self) -> str:
        gpus = self.design.intent.hosts.gpus * len(self.design.topology.hosts())
        return f"{gpus:,} GPUs, {len(self.switches):,} switches, {len(self.ports):,} ports"


def _network(node: Node) -> str:
    """The network of a switch, and its plane where that is not the first."""
    return str(node.net) if node.plane == 1 else f"{node.net} plane {node.plane}"
