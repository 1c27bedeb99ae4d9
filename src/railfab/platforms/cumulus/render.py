"""Renders a device model to the tree of NVUE."""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.cumulus.balancing import render_adaptive, render_forwarding
from railfab.platforms.cumulus.bgp import render_bfd, render_speaker, render_vrfs
from railfab.platforms.cumulus.interfaces import render_bridge, render_interfaces
from railfab.platforms.cumulus.management import render_lldp, render_management
from railfab.platforms.cumulus.nodes import stated
from railfab.platforms.cumulus.overlay import render_evpn, render_mlag, render_nve
from railfab.platforms.cumulus.policy import render_policies
from railfab.platforms.cumulus.qos import render_qos, render_trimming
from railfab.platforms.shared.json_tree import Json


def render(model: DeviceModel) -> Json:
    """The configuration that railfab manages: the fabric, and the stated parts of the management access."""
    interfaces = render_interfaces(model)
    qos = render_qos(model, interfaces)
    router = stated(
        adaptive_routing=render_adaptive(model, interfaces),
        bfd=render_bfd(model.bgp),
        bgp=render_speaker(model),
        policy=render_policies(model),
    )
    system = stated(
        hostname=model.name,
        forwarding={**render_forwarding(model), **stated(packet_trim=render_trimming(model, interfaces))},
        lldp=render_lldp(model.lldp, interfaces),
        **{name.replace("-", "_"): part for name, part in render_management(model).items()},
    )
    return stated(
        bridge=render_bridge(model),
        evpn=render_evpn(model),
        interface=interfaces,
        mlag=render_mlag(model.mlag),
        nve=render_nve(model),
        qos=qos,
        router=router,
        system=system,
        vrf=render_vrfs(model),
    )
