"""The state of a fabric: what its switches do, computed from their configurations and the state of the links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from railfab.device import LoadBalancing
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import Configs, PortState, PortStates
from railfab.forwarding.qos import SwitchEffect
from railfab.forwarding.route_table import Routes, SessionCounts
from railfab.forwarding.session_counts import session_counts
from railfab.forwarding.sessions import BgpSession, Sessions
from railfab.sim import Network
from railfab.topology import PortKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """DSCPs that hosts send with. seed: of the switches' ECMP hashes."""

    dscp: int = 26
    cnp_dscp: int = 48
    seed: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ForwardingState:
    """An immutable state; `converge` makes the next one from it. Parts that a change does not concern are shared.

    cut: ports whose cable is broken. own_ports: the ports as each end alone has them; ports: as both ends and the
    cable have them. effects: QoS by switch. narrow: by switch, why a full packet does not pass a port, by egress link.
    network: the simulator's arrays.
    """

    links: LinkTable
    configs: Configs
    cut: frozenset[PortKey]
    own_ports: PortStates
    ports: PortStates
    sessions: Sessions
    routes: Routes
    effects: Mapping[str, SwitchEffect]
    narrow: Mapping[str, Mapping[int, str]]
    network: Network
    marking: Marking
    packet_bytes: int

    def port(self, key: PortKey) -> PortState:
        return self.ports[key[0]][key[1]]

    def sessions_of(self, switch: str) -> tuple[BgpSession, ...]:
        """The configured BGP sessions of a switch, with their numbers of prefixes."""
        held = self.sessions.get(switch, {})
        counts = session_counts(self.routes, self.configs, switch) if held else {}
        return tuple(_with_counts(session, counts.get(key, {})) for key, session in held.items())

    def session(self, switch: str, key: str) -> BgpSession:
        """One of the configured BGP sessions of a switch, by its key."""
        return next(session for session in self.sessions_of(switch) if session.key == key)

    def load_balancing(self, switch: str) -> LoadBalancing | None:
        """The load balancing configured on a switch; None for the defaults."""
        config = self.configs.get(switch)
        return config.model.load_balancing if config else None

    def forwards_otherwise(self, before: ForwardingState) -> frozenset[str]:
        """Nodes that may forward a packet otherwise than before: by ports, routes, hashes, QoS or MTU."""
        parts = ((self.ports, before.ports), (self.effects, before.effects), (self.narrow, before.narrow))
        found = {name for now, then in parts for name in now if now[name] is not then.get(name)}
        hashing = {name for name in self.configs if self.load_balancing(name) != before.load_balancing(name)}
        return frozenset(found | hashing | self._routed_otherwise(before))

    def _routed_otherwise(self, before: ForwardingState) -> set[str]:
        mine, theirs = self.routes, before.routes
        if mine is theirs:
            return set()
        if mine.groups.numbers != theirs.groups.numbers:
            return set(mine.rows)
        rows = np.flatnonzero((mine.hops != theirs.hops).any(axis=1))
        names = list(mine.rows)
        own = {name for name in mine.rows if mine.connected.get(name) != theirs.connected.get(name)}
        return own | {names[row] for row in rows}


def _with_counts(session: BgpSession, counts: SessionCounts) -> BgpSession:
    return replace(session, prefixes=counts) if counts and session.established else session
