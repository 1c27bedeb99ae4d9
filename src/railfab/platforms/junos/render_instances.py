"""Renders the VLANs and VRFs of a device model; with VXLAN all VLANs are in one MAC-VRF.

Sources: Juniper/jvd, data_center/aidc/aiml_multitenancy_backend (type-5 routes of VRFs);
junos-qfx-conf-routing-instances 24.4R1 (mac-vrf, vlan-aware).
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import (
    DeviceModel,
    Interface,
    Lag,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    svi_name,
    vlan_target,
)
from railfab.platforms.junos.names import MAC_VRF, TYPE_5, unit_name
from railfab.platforms.junos.render_bgp import aggregate_lines, protocol_lines
from railfab.platforms.junos.render_interfaces import vlan_keys
from railfab.platforms.junos.trees import block, entry, leaf, setting
from railfab.platforms.shared.line_tree import Line

OVERLAY_TARGET = "target:1:1"
"""Route target of the MAC-VRF; each VLAN has one of its VNI besides."""


def has_overlay(model: DeviceModel) -> bool:
    return model.vtep is not None or any(vlan.vni is not None for vlan in model.vlans)


def vlan_lines(model: DeviceModel) -> Iterator[Line]:
    """The VLANs of a switch without VXLAN."""
    if not has_overlay(model):
        yield from _vlans(model)


def _vlans(model: DeviceModel) -> Iterator[Line]:
    keys = vlan_keys(model.vlans)
    yield from (_vlan(vlan, keys[vlan.vlan_id], model) for vlan in model.vlans)


def _vlan(vlan: Vlan, key: str, model: DeviceModel) -> Line:
    routed = model.interface(svi_name(vlan.vlan_id))
    gateway = unit_name(routed.name) if isinstance(routed, Svi) else None
    vni = (leaf("vni", vlan.vni),) if vlan.vni is not None else ()
    return entry(
        key,
        setting("description", vlan.name if vlan.name != key else None),
        (leaf("vlan-id", vlan.vlan_id),),
        setting("l3-interface", gateway),
        block("vxlan", vni),
    )


def instance_lines(model: DeviceModel) -> Iterator[Line]:
    """The MAC-VRF, then the VRFs by name."""
    if has_overlay(model):
        yield _mac_vrf(model)
    yield from (_vrf(instance, model) for instance in model.network_instances)


def _mac_vrf(model: DeviceModel) -> Line:
    bridged = (
        interface for interface in model.interfaces if isinstance(interface, Port | Lag) and interface.vlans is not None
    )
    evpn = (
        leaf("encapsulation", "vxlan"),
        leaf("default-gateway", "do-not-advertise"),
        leaf("extended-vni-list", "all"),
        *block("vni-options", (_vni(vlan) for vlan in model.vlans if vlan.vni is not None)),
    )
    router = model.bgp.router_id if model.bgp else None
    administrator = router or (model.vtep.address if model.vtep else None)
    return entry(
        MAC_VRF,
        (leaf("instance-type", "mac-vrf"),),
        block("protocols", block("evpn", evpn)),
        setting("vtep-source-interface", unit_name(model.vtep.source) if model.vtep else None),
        (leaf("service-type", "vlan-aware"),),
        (_member(interface) for interface in bridged),
        setting("route-distinguisher", f"{administrator}:1" if administrator is not None else None),
        (leaf("vrf-target", OVERLAY_TARGET),),
        block("vlans", _vlans(model)),
    )


def _vni(vlan: Vlan) -> Line:
    assert vlan.vni is not None
    return entry(f"vni {vlan.vni}", (leaf("vrf-target", f"target:{vlan_target(vlan.vni)}"),))


def _member(interface: Interface) -> Line:
    return Line(f"interface {unit_name(interface.name)}")


def _vrf(instance: NetworkInstance, model: DeviceModel) -> Line:
    """A VRF; one without RD and VNI is a virtual router, which exchanges no VPN routes."""
    is_vpn = (
        instance.rd is not None or instance.vni is not None or bool(instance.import_targets or instance.export_targets)
    )
    members = (interface for interface in model.interfaces if interface.network_instance == instance.name)
    options = (*aggregate_lines(model, instance.name), *setting("router-id", instance.router_id))
    prefixes = (
        *(Line(words) for words in ("advertise direct-nexthop", "encapsulation vxlan")),
        *setting("vni", instance.vni),
        leaf("export", TYPE_5),
    )
    evpn = block("evpn", block("ip-prefix-routes", prefixes)) if instance.vni is not None else ()
    return entry(
        instance.name,
        (leaf("instance-type", "vrf" if is_vpn else "virtual-router"),),
        block("routing-options", options),
        block("protocols", protocol_lines(model, instance.name), evpn),
        map(_member, members),
        setting("route-distinguisher", instance.rd),
        _targets(instance),
    )


def _targets(instance: NetworkInstance) -> Iterator[Line]:
    imported, exported = (
        [f"target:{target}" for target in targets] for targets in (instance.import_targets, instance.export_targets)
    )
    if imported == exported:
        yield from setting("vrf-target", imported[0] if imported else None)
    else:
        one_each = (
            *setting("import", imported[0] if imported else None),
            *setting("export", exported[0] if exported else None),
        )
        yield from block("vrf-target", one_each)
