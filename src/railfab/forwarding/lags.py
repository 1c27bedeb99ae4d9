"""LAGs with LACP between switches, and the links below IP interfaces: of a port, or of the members of a LAG in use.

All members in use lead to one LAG of one switch (IEEE 802.1AX: a LAG has one partner). Which one, where cables lead to
several, switches settle by the order of events; here it is that of the first cable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import NamedTuple

from railfab.device import Lag
from railfab.forwarding.faults import NO_SILENT_FAULTS, SilentFaults
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import Configs, PortStates
from railfab.topology import PortKey


class InterfaceLink(NamedTuple):
    """The link below an IP interface. link: the egress link that stands for it in next-hop groups: of the port, or of
    the first cabled member of the LAG. members: those over which packets leave. peer: the interface at the other end.
    reason: why it is down, empty when it is up.
    """

    link: int
    members: tuple[int, ...]
    peer: PortKey
    reason: str = ""

    @property
    def oper_up(self) -> bool:
        return not self.reason


LagStates = Mapping[str, Mapping[str, InterfaceLink]]
"""State of every LAG with a cabled member, by switch, then name."""


@dataclass(frozen=True, slots=True)
class InterfaceLinks:
    """The links below the IP interfaces of a state."""

    links: LinkTable
    ports: PortStates
    lags: LagStates = field(default_factory=dict)

    def of(self, interface: PortKey) -> InterfaceLink | None:
        """The link below an interface; None without a cable."""
        node, name = interface
        link = self.links.egress.get(interface)
        if link is None:
            return self.lags.get(node, {}).get(name)
        return InterfaceLink(link, (link,), self.links.far_key(link), self.ports[node][name].reason)


def spread(group: Sequence[int], lags: Mapping[int, InterfaceLink]) -> tuple[int, ...]:
    """The egress links of a next-hop group, each as often as its weight. lags: by the link that stands for each.

    A switch hashes twice: a LAG has its share of the group whatever members it has left, and these have equal shares of
    that. -1 stands for a LAG without members, until the routes over it are gone.
    """
    if not lags:
        return tuple(group)
    hops = [(lags[link].members or (-1,)) if link in lags else (link,) for link in group]
    size = lcm(*map(len, hops))
    return tuple(link for members in hops for link in members for _ in range(size // len(members)))


@dataclass(frozen=True, slots=True)
class LagInputs:
    """Inputs of the states of LAGs, as they are after a change."""

    links: LinkTable
    configs: Configs
    ports: PortStates
    silent: SilentFaults = NO_SILENT_FAULTS

    def lag_of(self, port: PortKey) -> PortKey | None:
        """The LAG that a port is a member of."""
        config = self.configs.get(port[0])
        lag = config.lag_of.get(port[1]) if config is not None else None
        return (port[0], lag.name) if lag is not None else None

    def members(self, lag: PortKey) -> list[int]:
        """The egress links of the cabled members of a LAG, in front-panel order."""
        keys = ((lag[0], member) for member in self._settings(lag).members)
        return [link for key in keys if (link := self.links.egress.get(key)) is not None]

    def fault(self, link: int) -> str:
        """Why the member that a link leaves exchanges no LACP with a member of another LAG; empty when it does."""
        near, far = self.links.keys[link], self.links.far_key(link)
        return next(self._faults(near, far), "")

    def _faults(self, near: PortKey, far: PortKey) -> Iterator[str]:
        if near[0] == far[0]:
            yield f"{near[0]} {near[1]} and {far[1]} are connected to each other"
        for end in (near, far):
            lag = self.lag_of(end)
            if lag is None:
                yield f"{end[0]} {end[1]} is in no LAG"
            elif not self._settings(lag).enabled:
                yield f"{lag[0]} {lag[1]} is disabled"
            elif not self._settings(lag).lacp:
                yield f"{lag[0]} {lag[1]} has no LACP"
        if reason := self.ports[near[0]][near[1]].reason or self.silent.loss_between(near, far):
            yield reason

    def _settings(self, lag: PortKey) -> Lag:
        interface = self.configs[lag[0]].interfaces[lag[1]]
        assert isinstance(interface, Lag)
        return interface


def connected_lags(now: LagInputs, touched: Iterable[PortKey]) -> tuple[PortKey, ...]:
    """The LAGs of which these ports are members, and all that cables connect with them, directly or over others."""
    left = [lag for port in touched if (lag := now.lag_of(port)) is not None]
    connected: dict[PortKey, None] = {}
    while left:
        lag = left.pop()
        if lag not in connected:
            connected[lag] = None
            far = (now.lag_of(now.links.far_key(link)) for link in now.members(lag))
            left += [end for end in far if end is not None]
    return tuple(connected)


def lag_states(now: LagInputs, touched: Collection[PortKey], changed: Collection[str], before: LagStates) -> LagStates:
    """The states with those of touched LAGs computed again, and without those that changed switches have no more.

    touched: with each LAG all that are connected with it. The same object as before when nothing differs; that of a
    switch too.
    """
    partners = _partners(now, touched)
    states = {node: {} if node in changed else dict(held) for node, held in before.items()}
    for lag in touched:
        if members := now.members(lag):
            states.setdefault(lag[0], {})[lag[1]] = _state(now, members, partners.get(lag))
    kept = {node: before[node] if held == before.get(node) else held for node, held in states.items() if held}
    return before if kept == before else kept


def _partners(now: LagInputs, lags: Iterable[PortKey]) -> dict[PortKey, PortKey]:
    """The LAG with which each of these is bundled: each with one, and in the order of their cables."""
    links = sorted(link for lag in lags for link in now.members(lag) if not now.fault(link))
    partners: dict[PortKey, PortKey] = {}
    for link in links:
        near, far = now.lag_of(now.links.keys[link]), now.lag_of(now.links.far_key(link))
        assert near is not None
        assert far is not None
        if near not in partners and far not in partners:
            partners |= {near: far, far: near}
    return partners


def _state(now: LagInputs, members: Sequence[int], partner: PortKey | None) -> InterfaceLink:
    """The state of a LAG with these cabled members. partner: None where it is bundled with none."""
    first = now.links.far_key(members[0])
    if partner is None:
        far = now.lag_of(first) or first
        return InterfaceLink(
            members[0], (), far, now.fault(members[0]) or f"{' '.join(far)} is bundled with another LAG"
        )
    used = (link for link in members if now.lag_of(now.links.far_key(link)) == partner and not now.fault(link))
    return InterfaceLink(members[0], tuple(used), partner)
