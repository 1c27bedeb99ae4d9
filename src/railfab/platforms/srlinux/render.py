"""Renders a device model to SR Linux configuration."""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.balancing import render_balancing
from railfab.platforms.srlinux.bgp import render_bfd
from railfab.platforms.srlinux.drain import drain_communities, drain_policy, is_rendered, render_maintenance
from railfab.platforms.srlinux.interfaces import render_interfaces
from railfab.platforms.srlinux.lldp import render_lldp
from railfab.platforms.srlinux.management import render_management
from railfab.platforms.srlinux.overlay import render_segments, render_tunnels
from railfab.platforms.srlinux.policy import render_policies
from railfab.platforms.srlinux.qos import bridged_units, render_qos
from railfab.platforms.srlinux.routing import render_instances
from railfab.platforms.srlinux.tree import CONFIG, SYSTEM


def render(model: DeviceModel) -> Json:
    """The configuration that railfab manages: the fabric, and the stated parts of the management access."""
    sections = {
        "system": _system(model),
        "interface": render_interfaces(model) or None,
        "network-instance": render_instances(model) or None,
        "routing-policy": _policies(model),
        "bfd": render_bfd(model),
        "tunnel-interface": render_tunnels(model),
        "qos": _qos(model),
    }
    return {CONFIG[name]: section for name, section in sections.items() if section is not None}


def _qos(model: DeviceModel) -> Json | None:
    if model.qos is None:
        return None
    return render_qos(model.qos, bridged_units(model.interfaces), ends_tunnels=model.vtep is not None)


def _policies(model: DeviceModel) -> Json | None:
    """The policies of a model, and that of its drain."""
    policies = render_policies(model)
    if not is_rendered(model):
        return policies
    policies = policies or {"policy": []}
    communities = [*policies.get("community-set", []), drain_communities()]
    return policies | {"policy": [*policies["policy"], drain_policy()], "community-set": communities}


def _system(model: DeviceModel) -> Json:
    sections = {
        "name": {"host-name": model.name} if model.name else None,
        "lldp": render_lldp(model.lldp),
        "load-balancing": render_balancing(model.load_balancing),
        "network-instance": render_segments(model),
        "maintenance": render_maintenance(model),
        **render_management(model.management),
    }
    return {SYSTEM[name]: section for name, section in sections.items() if section is not None}
