"""Which ports work: cabled, enabled at both ends, and of one speed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from railfab.device import Fec
from railfab.device import Port as PortConfig
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.links import LinkTable
from railfab.topology import Port, PortKey

Configs = Mapping[str, SwitchConfig]
"""The configured switches, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortState:
    """rate_gbps, fec: what this end is set to; fec None is the default. reason: why it is down, empty when it is up."""

    admin_up: bool
    rate_gbps: float
    fec: Fec | None = None
    reason: str = ""

    @property
    def oper_up(self) -> bool:
        return not self.reason


PortStates = Mapping[str, Mapping[str, PortState]]
"""State of every cabled port, by node, then interface."""


def own_states(links: LinkTable, configs: Configs, node: str) -> dict[str, PortState]:
    """The ports of a node as its own configuration has them, whatever the other end does."""
    config = configs.get(node)
    return {port.name: _own_state(links, port, config) for port in links.ports_of[node]}


def _own_state(links: LinkTable, port: Port, config: SwitchConfig | None) -> PortState:
    if links.is_host(port.node):
        return PortState(admin_up=True, rate_gbps=port.rate_gbps)
    interface = config.interfaces.get(port.name) if config is not None else None
    if config is None or interface is None:
        return PortState(admin_up=False, rate_gbps=port.rate_gbps, reason=f"{port.node} {port.name} is not configured")
    if not interface.enabled:
        return PortState(admin_up=False, rate_gbps=port.rate_gbps, reason=f"{port.node} {port.name} is disabled")
    rate_gbps, fec = (interface.rate_gbps, interface.fec) if isinstance(interface, PortConfig) else (None, None)
    if port.lane is None:
        return PortState(admin_up=True, rate_gbps=float(rate_gbps or port.rate_gbps), fec=fec)
    lane_gbps = _lane_gbps(links, port, config, rate_gbps)
    if lane_gbps is None:
        return PortState(admin_up=True, rate_gbps=port.rate_gbps, reason=f"{port.node} {port.name} is not broken out")
    return PortState(admin_up=True, rate_gbps=lane_gbps, fec=fec)


def _lane_gbps(links: LinkTable, port: Port, config: SwitchConfig, rate_gbps: int | None) -> float | None:
    """The speed of a lane; None when its cage is not broken out."""
    node = links.nodes[port.node]
    if node.model is None or node.platform is None:
        return float(rate_gbps or port.rate_gbps)
    cage = links.topology.model_of(node).interface(node.platform, port.cage, None)
    lanes = [split for split in config.model.breakouts if split.cage == cage and split.lanes >= (port.lane or 0)]
    return float(lanes[0].rate_gbps) if lanes else None


def joint_state(links: LinkTable, own: PortStates, cut: Collection[PortKey], key: PortKey) -> PortState:
    """The state of a port that follows from both ends and the cable."""
    mine, peer = own[key[0]][key[1]], links.far_key(links.egress[key])
    theirs = own[peer[0]][peer[1]]
    if mine.reason:
        return mine
    reason = theirs.reason
    if key in cut or peer in cut:
        reason = f"no light from {peer[0]} {peer[1]}"
    elif not reason and mine.rate_gbps != theirs.rate_gbps:
        reason = f"{peer[0]} {peer[1]} runs at {theirs.rate_gbps:g} Gb/s, {key[0]} {key[1]} at {mine.rate_gbps:g}"
    elif not reason and mine.fec and theirs.fec and mine.fec is not theirs.fec:
        reason = f"{peer[0]} {peer[1]} uses FEC {theirs.fec}, {key[0]} {key[1]} {mine.fec}"
    return PortState(admin_up=True, rate_gbps=mine.rate_gbps, fec=mine.fec, reason=reason)


def port_states(
    links: LinkTable, own: PortStates, cut: Collection[PortKey], touched: Iterable[PortKey], before: PortStates
) -> PortStates:
    """The states with those of the touched ports computed again; the others are those of `before`."""
    states: dict[str, Mapping[str, PortState]] = dict(before)
    fresh: dict[str, dict[str, PortState]] = {}
    for key in touched:
        node, interface = key
        state = joint_state(links, own, cut, key)
        if node in states and states[node].get(interface) == state:
            continue
        if node not in fresh:
            states[node] = fresh[node] = dict(states.get(node, {}))
        fresh[node][interface] = state
    return states
