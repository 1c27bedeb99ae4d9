"""Renders a device model to CONFIG_DB."""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.sonic.balancing import render_balancing
from railfab.platforms.sonic.bgp import render_bgp
from railfab.platforms.sonic.buffers import render_buffers
from railfab.platforms.sonic.interfaces import render_interfaces
from railfab.platforms.sonic.management import render_lldp, render_management
from railfab.platforms.sonic.overlay import render_overlay
from railfab.platforms.sonic.policy import render_policies
from railfab.platforms.sonic.qos import render_qos
from railfab.platforms.sonic.tables import TRUE, Tables, merged, stated

UNIFIED = "unified"
"""Mode in which FRR is configured from CONFIG_DB, by frrcfgd (sonic-device_metadata, docker_routing_config_mode)."""


def render(model: DeviceModel) -> Tables:
    """The configuration that railfab manages, to be laid over the factory's."""
    host = stated(hostname=model.name or None, docker_routing_config_mode=UNIFIED, frr_mgmt_framework_config=TRUE)
    return merged(
        (
            {"DEVICE_METADATA": {"localhost": host}},
            render_interfaces(model),
            render_overlay(model),
            render_bgp(model),
            render_policies(model),
            render_qos(model),
            render_buffers(model),
            render_balancing(model.load_balancing),
            render_management(model.management),
            render_lldp(model.lldp),
        )
    )
