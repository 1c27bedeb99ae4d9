"""Renders a device model to a Junos configuration, as a tree of lines in the order of `show configuration`.

Every statement is written as Junos shows it. Sessions share a group by kind only, because a change of a group resets
all of its sessions, a change of a neighbour its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DEFAULT_INSTANCE, DeviceModel, Lag, number_of
from railfab.platforms.junos.render_bgp import path_limit, protocol_lines, routing_lines
from railfab.platforms.junos.render_instances import instance_lines, vlan_lines
from railfab.platforms.junos.render_interfaces import interface_lines
from railfab.platforms.junos.render_policy import policy_lines
from railfab.platforms.junos.render_qos import balancing_lines, qos_lines
from railfab.platforms.junos.system import native_lldp, native_system
from railfab.platforms.junos.trees import Lines, block, leaf
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.tree_statements import tree_written


def render(model: DeviceModel) -> tuple[Line, ...]:
    """The whole configuration of one switch."""
    sections: tuple[Lines, ...] = (
        block("system", tree_written(native_system(model.name, model.management))),
        block("chassis", _chassis(model)),
        block("interfaces", interface_lines(model)),
        block("forwarding-options", balancing_lines(model)),
        block("policy-options", policy_lines(model)),
        block("class-of-service", qos_lines(model.qos)),
        block("routing-instances", instance_lines(model)),
        block("routing-options", routing_lines(model)),
        block(
            "protocols", protocol_lines(model, DEFAULT_INSTANCE), block("lldp", tree_written(native_lldp(model.lldp)))
        ),
        block("vlans", vlan_lines(model)),
    )
    return tuple(line for lines in sections for line in lines)


def _chassis(model: DeviceModel) -> Iterator[Line]:
    """The number of LAGs that the switch prepares, and the largest group of equal next hops."""
    lags = [number_of(lag.name) for lag in model.interfaces if isinstance(lag, Lag)]
    if lags:
        ethernet = block("ethernet", (leaf("device-count", max(lags) + 1),))
        yield from block("aggregated-devices", ethernet)
    if model.bgp is not None and model.bgp.max_paths > 1:
        yield leaf("maximum-ecmp", path_limit(model.bgp.max_paths))
