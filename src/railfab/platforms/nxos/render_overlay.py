"""Renders VLANs, VRFs, the VXLAN tunnel endpoint, EVPN and the vPC pair of a device model."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DeviceModel, Lag, Mlag, NetworkInstance, Svi, Vlan, vlan_target
from railfab.platforms.nxos.names import device_name, vrf_name
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import dotted_mac

MULTIHOMING = "evpn multihoming"
GATEWAY_MAC = "02:00:5e:00:01:01"
"""MAC address of anycast gateways where a model states none; NX-OS has no default, and asks for one."""
VPC = ("peer-switch", "peer-gateway", "ip arp synchronize", "ipv6 nd synchronize")
"""Lines of every vPC domain (Nexus 9000 Interfaces guide, vPC: both switches are one bridge and one gateway, and learn
each other's neighbours)."""


def default_vlan_name(vlan_id: int) -> str:
    """The name that NX-OS gives a VLAN by itself."""
    return f"VLAN{vlan_id:04d}"


def vlans(model: DeviceModel) -> Iterator[Line]:
    for vlan in model.vlans:
        lines = [f"name {vlan.name}"] * (vlan.name != default_vlan_name(vlan.vlan_id))
        lines += [f"vn-segment {vlan.vni}"] if vlan.vni is not None else []
        yield Line(f"vlan {vlan.vlan_id}", tuple(map(Line, lines)))


def gateway_mac(model: DeviceModel) -> Iterator[Line]:
    """The MAC address of all anycast gateways of a switch, which has one."""
    macs = {svi.gateway_mac for svi in model.interfaces if isinstance(svi, Svi) and svi.gateways}
    if macs:
        stated = sorted(mac for mac in macs if mac is not None)
        yield Line(f"fabric forwarding anycast-gateway-mac {dotted_mac(stated[0] if stated else GATEWAY_MAC)}")


def multihoming(model: DeviceModel) -> Iterator[Line]:
    """Ethernet segments of LAGs are announced (VXLAN guide 10.6(x), Configuring EVPN ESI Multihoming)."""
    if has_segments(model):
        yield Line(MULTIHOMING)


def has_segments(model: DeviceModel) -> bool:
    return any(isinstance(lag, Lag) and lag.esi is not None for lag in model.interfaces)


def vrfs(model: DeviceModel) -> Iterator[Line]:
    for instance in model.network_instances:
        yield Line(f"vrf context {vrf_name(instance.name)}", tuple(_vrf(instance)))


def _vrf(instance: NetworkInstance) -> Iterator[Line]:
    """A VRF. `l3`: its VNI needs no VLAN and no SVI (Nexus 9000 VXLAN guide 10.2(3)F, New L3VNI Mode)."""
    if instance.vni is not None:
        yield Line(f"vni {instance.vni} l3")
    if instance.rd is not None:
        yield Line(f"rd {instance.rd}")
    targets = [f"route-target import {target} evpn" for target in instance.import_targets]
    targets += [f"route-target export {target} evpn" for target in instance.export_targets]
    if targets:
        yield Line("address-family ipv4 unicast", tuple(map(Line, targets)))


def tunnel(model: DeviceModel) -> Iterator[Line]:
    """The VXLAN tunnel endpoint, with the VNIs of all VLANs and VRFs."""
    if model.vtep is None:
        return
    members = [Line(f"member vni {vlan.vni}", (Line("ingress-replication protocol bgp"),)) for vlan in _bridged(model)]
    members += [
        Line(f"member vni {instance.vni} associate-vrf")
        for instance in model.network_instances
        if instance.vni is not None
    ]
    lines = ("no shutdown", "host-reachability protocol bgp", f"source-interface {device_name(model.vtep.source)}")
    yield Line("interface nve1", (*map(Line, lines), *members))


def evpn(model: DeviceModel) -> Iterator[Line]:
    """The route targets of the VNIs of VLANs."""
    vnis = (vlan.vni for vlan in model.vlans if vlan.vni is not None)
    sections = tuple(Line(f"vni {vni} l2", tuple(map(Line, _targets(vni)))) for vni in vnis)
    if sections:
        yield Line("evpn", sections)


def _targets(vni: int) -> tuple[str, ...]:
    target = vlan_target(vni)
    return "rd auto", f"route-target import {target}", f"route-target export {target}"


def _bridged(model: DeviceModel) -> list[Vlan]:
    return [vlan for vlan in model.vlans if vlan.vni is not None]


def vpc(model: DeviceModel) -> Iterator[Line]:
    """The vPC pair of a switch."""
    if model.mlag is not None:
        yield Line(f"vpc domain {model.mlag.domain}", tuple(map(Line, _vpc(model.mlag))))


def _vpc(mlag: Mlag) -> Iterator[str]:
    if mlag.system_mac is not None:
        yield f"system-mac {mlag.system_mac}"
    if mlag.keepalive is not None:
        keepalive = mlag.keepalive
        source = "" if keepalive.source is None else f" source {keepalive.source}"
        vrf = vrf_name(keepalive.network_instance)
        yield f"peer-keepalive destination {keepalive.peer}{source} vrf {vrf}"
    yield from VPC
