"""Renders a device model to NX-OS configuration, as a tree of lines.

Every line is written as NX-OS shows it, and a value that is its default is omitted, because NX-OS does not show it. No
templates: a change to one changes all sessions that inherit from it.
"""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.nxos import render_overlay as overlay
from railfab.platforms.nxos import render_system as system
from railfab.platforms.nxos.render_bgp import router
from railfab.platforms.nxos.render_interfaces import DEFAULT_JUMBO_BYTES, breakouts, interfaces, jumbo_bytes
from railfab.platforms.nxos.render_policy import policy_lines
from railfab.platforms.nxos.render_qos import qos_lines, system_qos, watchdog
from railfab.platforms.shared.line_tree import Line


def render(model: DeviceModel) -> tuple[Line, ...]:
    """The whole configuration of one switch, in the order of `show running-config`."""
    jumbo = jumbo_bytes(model)
    return (
        *((Line(f"hostname {model.name}"),) if model.name else ()),
        *qos_lines(model),
        *system.features(model),
        *((Line(f"system jumbomtu {jumbo}"),) if jumbo != DEFAULT_JUMBO_BYTES else ()),
        *system.management(model.management),
        *system.lldp(model),
        *overlay.gateway_mac(model),
        *overlay.multihoming(model),
        *system_qos(model),
        *watchdog(model),
        *system.balancing(model.load_balancing),
        *overlay.vlans(model),
        *policy_lines(model),
        *overlay.vrfs(model),
        *overlay.vpc(model),
        *breakouts(model),
        *interfaces(model),
        *overlay.tunnel(model),
        *router(model),
        *overlay.evpn(model),
    )
