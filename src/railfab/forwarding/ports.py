"""Which ports work: cabled, enabled at both ends, and of one speed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from railfab.device import DeviceModel, Interface
from railfab.forwarding.wiring import Wiring
from railfab.topology import Port, PortKey

Models = Mapping[str, DeviceModel]
"""The configured switches, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortState:
    """rate_gbps: what this end is set to. reason: why it is down, empty when it is up."""

    admin_up: bool
    rate_gbps: float
    reason: str = ""

    @property
    def oper_up(self) -> bool:
        return not self.reason


def port_states(wiring: Wiring, models: Models, cut: Collection[PortKey]) -> dict[PortKey, PortState]:
    """The state of every cabled port. cut: ports whose cable is broken, named at either end or both."""
    interfaces = {name: {interface.name: interface for interface in model.interfaces} for name, model in models.items()}
    own = {
        (port.node, port.name): _own_state(wiring, port, models.get(port.node), interfaces.get(port.node, {}))
        for port in wiring.near
    }
    return {key: _joint_state(wiring, key, own, cut) for key in own}


def _own_state(wiring: Wiring, port: Port, model: DeviceModel | None, interfaces: Mapping[str, Interface]) -> PortState:
    """What one end alone says."""
    if wiring.is_host(port.node):
        return PortState(admin_up=True, rate_gbps=port.rate_gbps)
    interface = interfaces.get(port.name)
    if model is None or interface is None:
        return PortState(admin_up=False, rate_gbps=port.rate_gbps, reason=f"{port.node} {port.name} is not configured")
    if not interface.enabled:
        return PortState(admin_up=False, rate_gbps=port.rate_gbps, reason=f"{port.node} {port.name} is disabled")
    rate_gbps = _rate_gbps(wiring, port, model, interface)
    if rate_gbps is None:
        return PortState(admin_up=True, rate_gbps=port.rate_gbps, reason=f"{port.node} {port.name} is not broken out")
    return PortState(admin_up=True, rate_gbps=rate_gbps)


def _rate_gbps(wiring: Wiring, port: Port, model: DeviceModel, interface: Interface) -> float | None:
    """The speed a switch port is set to; None for the lane of a cage that is not broken out."""
    node = wiring.nodes[port.node]
    if port.lane is None or node.model is None or node.platform is None:
        return float(interface.rate_gbps or port.rate_gbps)
    cage = wiring.topology.model_of(node).interface(node.platform, port.cage, None)
    lanes = [breakout for breakout in model.breakouts if breakout.cage == cage and breakout.lanes >= port.lane]
    return float(lanes[0].rate_gbps) if lanes else None


def _joint_state(wiring: Wiring, key: PortKey, own: Mapping[PortKey, PortState], cut: Collection[PortKey]) -> PortState:
    """What both ends and the cable make of it."""
    mine, far = own[key], wiring.far(wiring.egress[key])
    peer = (far.node, far.name)
    theirs = own[peer]
    if mine.reason:
        return mine
    reason = theirs.reason
    if key in cut or peer in cut:
        reason = f"no light from {peer[0]} {peer[1]}"
    elif not reason and mine.rate_gbps != theirs.rate_gbps:
        reason = f"{peer[0]} {peer[1]} runs at {theirs.rate_gbps:g} Gb/s, {key[0]} {key[1]} at {mine.rate_gbps:g}"
    return PortState(admin_up=True, rate_gbps=mine.rate_gbps, reason=reason)
