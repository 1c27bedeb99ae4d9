"""Renders a device model to SR Linux configuration."""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.interfaces import render_interfaces
from railfab.platforms.srlinux.policy import render_policies
from railfab.platforms.srlinux.qos import render_qos
from railfab.platforms.srlinux.routing import render_bfd, render_instance
from railfab.platforms.srlinux.tree import CONFIG


def render(model: DeviceModel) -> Json:
    """The configuration that railfab manages: the fabric, without management settings."""
    sections = {
        "system": _system(model.name),
        "interface": render_interfaces(model),
        "network-instance": render_instance(model),
        "routing-policy": render_policies(model.bgp),
        "bfd": render_bfd(model),
        "qos": render_qos(model.qos) if model.qos else None,
    }
    return {CONFIG[name]: section for name, section in sections.items() if section is not None}


def _system(name: str) -> Json:
    return {
        "srl_nokia-system-name:name": {"host-name": name},
        "srl_nokia-lldp:lldp": {"admin-state": "enable"},
    }
