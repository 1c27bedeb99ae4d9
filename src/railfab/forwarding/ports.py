"""Which ports work: cabled, enabled at both ends, of one speed and one forward error correction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from railfab.device import BreakoutPort, Fec, Port
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.links import LinkTable
from railfab.topology import CabledPort, PortKey

Configs = Mapping[str, SwitchConfig]
"""The configured switches, by name."""


PAM4_CAGE_GBPS = 400
"""Cages of this speed and above have lanes with PAM4, and so do the breakout ports of them."""


class PortFault(StrEnum):
    """The kind of reason for which a port is down."""

    NONE = ""
    DISABLED = "disabled"
    BREAKOUT = "breakout"
    FEC = "fec"
    NO_SIGNAL = "no-signal"


@dataclass(frozen=True, slots=True, kw_only=True)
class PortState:
    """rate_gbps, fec: what this end runs with; fec None of a port that takes the one of the far end.

    reason: why it is down, empty when it is up; fault: the kind of it.
    """

    admin_up: bool
    rate_gbps: float
    fec: Fec | None = None
    reason: str = ""
    fault: PortFault = PortFault.NONE

    @property
    def oper_up(self) -> bool:
        return not self.reason


PortStates = Mapping[str, Mapping[str, PortState]]
"""State of every cabled port, by node, then interface."""


def own_states(links: LinkTable, configs: Configs, node: str, off: Collection[str] = ()) -> dict[str, PortState]:
    """The ports of a node as its own configuration has them, whatever the other end does.

    off: switches without power.
    """
    if node in off:
        reason = f"{node} has no power"
        return {port.name: _down(port, reason, PortFault.DISABLED, admin_up=False) for port in links.ports_of[node]}
    config = configs.get(node)
    return {port.name: _own_state(links, port, config) for port in links.ports_of[node]}


def _own_state(links: LinkTable, port: CabledPort, config: SwitchConfig | None) -> PortState:
    if links.is_host(port.node):
        return PortState(admin_up=True, rate_gbps=port.rate_gbps)
    interface = config.interfaces.get(port.name) if config is not None else None
    where = f"{port.node} {port.name}"
    if config is None or interface is None:
        return _down(port, f"{where} is not configured", PortFault.DISABLED, admin_up=False)
    if not interface.enabled:
        return _down(port, f"{where} is disabled", PortFault.DISABLED, admin_up=False)
    rate_gbps, fec = (interface.rate_gbps, interface.fec) if isinstance(interface, Port) else (None, None)
    node = links.nodes[port.node]
    if port.lane is None or node.model is None or node.platform is None:
        return _with_fec(where, rate_gbps or port.rate_gbps, fec)
    split = _breakout(links, port, config)
    if split is None:
        return _down(port, f"{where} is not broken out", PortFault.BREAKOUT)
    return _with_fec(where, split.rate_gbps, fec, split.rate_gbps * split.lanes)


def _down(port: CabledPort, reason: str, fault: PortFault, *, admin_up: bool = True) -> PortState:
    return PortState(admin_up=admin_up, rate_gbps=port.rate_gbps, reason=reason, fault=fault)


def _breakout(links: LinkTable, port: CabledPort, config: SwitchConfig) -> BreakoutPort | None:
    """How the cage of a breakout port is broken out; None when it is not, or has fewer lanes."""
    node = links.nodes[port.node]
    assert node.platform is not None
    cage = links.topology.model_of(node).interface(node.platform, port.cage, None)
    found = (split for split in config.model.breakouts if split.cage == cage and split.lanes >= (port.lane or 0))
    return next(found, None)


def _with_fec(where: str, rate_gbps: float, fec: Fec | None, cage_gbps: float = 0) -> PortState:
    """An enabled port: down when it has lanes with PAM4 and another FEC than the one of these is configured.

    cage_gbps: of the cage of a breakout port.
    """
    usual = usual_fec(rate_gbps, cage_gbps)
    if usual is Fec.RS_544 and fec not in (None, usual):
        reason = f"{where} cannot use FEC {fec}: a port of {rate_gbps:g} Gb/s with PAM4 has {usual}"
        return PortState(admin_up=True, rate_gbps=float(rate_gbps), fec=fec, reason=reason, fault=PortFault.FEC)
    return PortState(admin_up=True, rate_gbps=float(rate_gbps), fec=fec or usual)


def usual_fec(rate_gbps: float, cage_gbps: float = 0) -> Fec | None:
    """The FEC of a port that configures none; None where the cable decides (25 Gb/s), or there is no FEC.

    IEEE 802.3: clause 119 (RS-544) of 200 Gb/s and above, clause 91 of 100 Gb/s: RS-544 with PAM4, else RS-528.
    srl_nokia-interfaces, fec-option: PAM4 always has RS-544, and another setting keeps the port down (unsupported-fec).
    """
    if rate_gbps > 100 or (rate_gbps >= 50 and cage_gbps >= PAM4_CAGE_GBPS):
        return Fec.RS_544
    return Fec.RS_528 if rate_gbps == 100 else None


def joint_state(links: LinkTable, own: PortStates, dark: Collection[PortKey], key: PortKey) -> PortState:
    """The state of a port that follows from both ends and the cable. dark: ports whose receiver has no signal."""
    mine, peer = own[key[0]][key[1]], links.far_key(links.egress[key])
    theirs = own[peer[0]][peer[1]]
    if mine.reason:
        return mine
    reason = theirs.reason
    if key in dark:
        reason = f"no light from {peer[0]} {peer[1]}"
    elif peer in dark:
        reason = f"{peer[0]} {peer[1]} signals that it receives no light"
    elif not reason and mine.rate_gbps != theirs.rate_gbps:
        reason = f"{peer[0]} {peer[1]} runs at {theirs.rate_gbps:g} Gb/s, {key[0]} {key[1]} at {mine.rate_gbps:g}"
    elif not reason and mine.fec and theirs.fec and mine.fec is not theirs.fec:
        reason = f"{peer[0]} {peer[1]} uses FEC {theirs.fec}, {key[0]} {key[1]} {mine.fec}"
    fault = PortFault.NO_SIGNAL if reason else PortFault.NONE
    return PortState(admin_up=True, rate_gbps=mine.rate_gbps, fec=mine.fec or theirs.fec, reason=reason, fault=fault)


def port_states(
    links: LinkTable, own: PortStates, dark: Collection[PortKey], touched: Iterable[PortKey], before: PortStates
) -> PortStates:
    """The states with those of the touched ports computed again; the others are those of `before`."""
    states: dict[str, Mapping[str, PortState]] = dict(before)
    fresh: dict[str, dict[str, PortState]] = {}
    for key in touched:
        node, interface = key
        state = joint_state(links, own, dark, key)
        if node in states and states[node].get(interface) == state:
            continue
        if node not in fresh:
            states[node] = fresh[node] = dict(states.get(node, {}))
        fresh[node][interface] = state
    return states
