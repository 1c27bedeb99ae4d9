"""The state of a fabric: what its switches do, computed from their configurations and the state of the links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_

import numpy as np
from numpy.typing import NDArray

from railfab.device import DEFAULT_INSTANCE, IpAddress, LoadBalancing, Port
from railfab.forwarding.faults import Fibres, SilentFaults, SwitchFaults, silent_faults
from railfab.forwarding.lags import InterfaceLink, InterfaceLinks, LagStates
from railfab.forwarding.links import LinkTable
from railfab.forwarding.optics import loss_per_byte
from railfab.forwarding.pending import NOTHING_PENDING, PendingUpdates
from railfab.forwarding.port_rows import PortRows
from railfab.forwarding.ports import Configs, PortState, PortStates
from railfab.forwarding.qos import SwitchEffect
from railfab.forwarding.route_table import Routes, SessionCounts
from railfab.forwarding.session_counts import session_counts
from railfab.forwarding.sessions import BgpSession, Sessions
from railfab.forwarding.sim_network import NetworkParts, PortUse, network
from railfab.forwarding.sim_routing import routing
from railfab.sim import Network, Routing
from railfab.topology import PortKey

TRAFFIC_CLASSES = ("roce", "cnp", "default")
"""Names of the simulator's traffic classes, by which hosts mark their packets."""

BEST_EFFORT_DSCP = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """DSCPs that hosts send with: of RoCE data and its acknowledgements, and of CNPs. What is best effort has DSCP 0.

    priority: of the pause frames that NICs send for RoCE data, and obey. seed: of the switches' hashes.
    """

    dscp: int = 26
    cnp_dscp: int = 48
    priority: int = 3
    seed: int = 1

    @property
    def classes(self) -> tuple[int, ...]:
        """DSCP of each traffic class of the simulator, in the order of `TRAFFIC_CLASSES`."""
        return self.dscp, self.cnp_dscp, BEST_EFFORT_DSCP


@dataclass(frozen=True, kw_only=True, eq=False)
class ForwardingState:
    """An immutable state; `converge` makes the next one from it. Parts that a change does not concern are shared.

    cut: ports whose cable is broken. dirt: light that is missing at a port [dB]; flapped: ports that have lost their
    lock on it for the moment. fibres: those that do not work, by the port that they lead to. switch_faults: of whole
    switches. own_ports: the ports as each end alone has them; ports: as both ends and the cable have them; lags: of
    these ports. effects: QoS by switch. balancing: what a switch says of load balancing, if it says anything.
    narrow: by switch, why a full packet does not pass a port, by egress link. rows: what the ports do, as numbers.
    pending: what follows from the changes so far, and when.
    slow: host ports whose host takes packets from its NIC at this rate [Gb/s] only. reduced: ports whose cable carries
    at most this rate [Gb/s].
    """

    links: LinkTable
    configs: Configs
    cut: frozenset[PortKey]
    dirt: Mapping[PortKey, float]
    flapped: frozenset[PortKey]
    fibres: Fibres
    switch_faults: SwitchFaults
    own_ports: PortStates
    ports: PortStates
    lags: LagStates
    sessions: Sessions
    routes: Routes
    effects: Mapping[str, SwitchEffect]
    balancing: Mapping[str, LoadBalancing]
    narrow: Mapping[str, Mapping[int, str]]
    rows: PortRows
    slow: Mapping[PortKey, float]
    reduced: Mapping[PortKey, float]
    marking: Marking
    packet_bytes: int
    pending: PendingUpdates = NOTHING_PENDING

    @property
    def interface_links(self) -> InterfaceLinks:
        """The links below IP interfaces."""
        return InterfaceLinks(self.links, self.ports, self.lags)

    @cached_property
    def lag_of_link(self) -> Mapping[int, InterfaceLink]:
        """The state of each LAG, by the link that stands for it."""
        return {lag.link: lag for held in self.lags.values() for lag in held.values()}

    def egress(self, switch: str, address: IpAddress) -> tuple[int, ...]:
        """The links by which a packet to this address may leave; of a LAG that is down, the one that stands for it."""
        hops = self.routes.egress(switch, address)
        members = {link: lag.members for link, lag in self.lag_of_link.items() if lag.members}
        return tuple(dict.fromkeys(link for hop in hops for link in members.get(hop, (hop,))))

    def interface_of(self, hop: int) -> str:
        """The interface over which a next hop is."""
        node, port = self.links.keys[hop]
        lag = self.configs[node].lag_of.get(port) if node in self.configs else None
        return lag.name if lag is not None else port

    @cached_property
    def silent(self) -> SilentFaults:
        """The faults that no port notices."""
        return silent_faults(self.fibres, self.switch_faults)

    def port(self, key: PortKey) -> PortState:
        return self.ports[key[0]][key[1]]

    def sessions_of(self, switch: str) -> tuple[BgpSession, ...]:
        """The configured BGP sessions of a switch, with their numbers of prefixes; of one that hangs, without them, as
        its peers may have no configuration any more."""
        held = self.sessions.get(switch, {})
        answers = switch not in self.silent.hung
        counts = session_counts(self.routes, self.configs, switch) if held and answers else {}
        return tuple(_with_counts(session, counts.get(key, {})) for key, session in held.items())

    def session(self, switch: str, key: str) -> BgpSession:
        """One of the configured BGP sessions of a switch, by its key."""
        return next(session for session in self.sessions_of(switch) if session.key == key)

    @property
    def closed(self) -> tuple[int, ...]:
        """Links that no full packet passes."""
        narrow = [link for found in self.narrow.values() for link in found]
        return (*narrow, *(link ^ 1 for link in narrow if self.refused(link)))

    def refused(self, link: int) -> str:
        """Why the port that sends on a link receives no full packet from its peer; empty when it does."""
        switch, port = self.links.keys[link]
        if not (reason := self.narrow.get(switch, {}).get(link, "")):
            return ""
        own = self.configs[switch].routing_interface(port)
        routes = own.network_instance == DEFAULT_INSTANCE
        larger = own.received_mtu_bytes if routes and isinstance(own, Port) else None
        return "" if larger is not None and larger >= self.packet_bytes else reason

    @cached_property
    def routing(self) -> Routing:
        """The next-hop groups of the simulator, made on first use."""
        return routing(self.links, self.routes, self.lag_of_link, self.closed)

    def same_routing(self, other: ForwardingState) -> bool:
        mine, theirs = self.routes, other.routes
        parts = ((held.programmed, held.groups, held.connected) for held in (mine, theirs))
        return all(map(is_, *parts)) and self.narrow is other.narrow and self.lags is other.lags

    @cached_property
    def network(self) -> Network:
        """The arrays of the simulator, made on first use."""
        return self.network_in_use(None)

    def network_in_use(self, use: PortUse | None) -> Network:
        """These arrays where PCIe is divided among the ports of a NIC for such a use."""
        return network(
            NetworkParts(
                links=self.links,
                rows=self.rows,
                effects=self.effects,
                balancing=self.balancing,
                closed=self.closed,
                slow={self.links.egress[key]: rate_gbps for key, rate_gbps in self.slow.items()},
                reduced={self.links.egress[key]: rate_gbps for key, rate_gbps in self.reduced.items()},
                priority=self.marking.priority,
                loss_per_byte=self._loss_per_byte(),
                losing=[self.links.egress[key] ^ 1 for key in self.silent.losing],
                seed=self.marking.seed,
                use=use,
            )
        )

    def _loss_per_byte(self) -> NDArray[np.float64]:
        """(link,) of the bit errors that remain after FEC where light is missing."""
        found = np.zeros(len(self.links.near))
        for key, loss_db in self.dirt.items():
            found[self.links.egress[key] ^ 1] = loss_per_byte(self.port(key).fec, loss_db)
        return found

    def same_network(self, other: ForwardingState) -> bool:
        """Whether the switches do the same with packets that they have a route for."""
        mine = (self.rows, self.effects, self.balancing, self.narrow, self.slow, self.reduced, self.dirt)
        their = (other.rows, other.effects, other.balancing, other.narrow, other.slow, other.reduced, other.dirt)
        return all(map(is_, mine, their)) and self.fibres is other.fibres


def _with_counts(session: BgpSession, counts: SessionCounts) -> BgpSession:
    return replace(session, prefixes=counts) if counts and session.established else session
