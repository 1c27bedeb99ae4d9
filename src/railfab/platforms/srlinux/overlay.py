"""Renders and parses what connects VLANs: mac-vrfs, VXLAN, EVPN and Ethernet segments.

A VLAN is a network instance of type mac-vrf named `vlan10`. A VXLAN interface has its VNI as index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Interface

from railfab.device import (
    LOOPBACK,
    DeviceModel,
    Interface,
    Lag,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    Vtep,
    number_of,
    svi_name,
    vlan_target,
)
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.interfaces import BRIDGED, ROUTED
from railfab.platforms.srlinux.names import is_svi, model_lag, subinterface

TUNNEL = "vxlan1"
INSTANCE_ID = 1
"""SR Linux has one BGP VPN instance in a network instance with VXLAN."""

VPN = "srl_nokia-bgp-vpn:bgp-vpn"
MAX_EVI = 65_535
"""EVIs go from 1 (srl_nokia-common, evi), VNIs of VRFs beyond them; EVIs of VLANs are those of the VLANs."""

PATHS = 8
"""VTEPs of an Ethernet segment among which a switch balances."""


def mac_vrf_name(vlan_id: int) -> str:
    return svi_name(vlan_id)


def render_mac_vrfs(model: DeviceModel) -> list[Json]:
    """One network instance for each VLAN, with the ports and LAGs in it and its SVI."""
    return [_mac_vrf(vlan, model.interfaces) for vlan in model.vlans]


def _mac_vrf(vlan: Vlan, interfaces: tuple[Interface, ...]) -> Json:
    attached = [
        {"name": f"{interface.name}.{vlan.vlan_id}"} for interface in interfaces if _is_in(interface, vlan.vlan_id)
    ]
    svis = [svi.name for svi in interfaces if isinstance(svi, Svi) and svi.vlan == vlan.vlan_id]
    attached += [{"name": subinterface(name)} for name in svis]
    tree: Json = {
        "name": mac_vrf_name(vlan.vlan_id),
        "type": "srl_nokia-network-instance:mac-vrf",
        "admin-state": "enable",
    }
    if vlan.name:
        tree["description"] = vlan.name
    if attached:
        tree["interface"] = attached
    if vlan.vni is None:
        return tree
    target = f"target:{vlan_target(vlan.vni)}"
    return tree | _vxlan(vlan.vni, vlan.vlan_id, {"route-target": {"export-rt": target, "import-rt": target}})


def _is_in(interface: Interface, vlan_id: int) -> bool:
    vlans = interface.vlans if isinstance(interface, Port | Lag) else None
    return vlans is not None and vlan_id in (vlans.untagged, *vlans.tagged)


def render_vrf_overlay(instance: NetworkInstance) -> Json:
    """The VXLAN interface and the EVPN of a VRF with a VNI; its RD and targets."""
    vpn: Json = {}
    if instance.rd is not None:
        vpn["route-distinguisher"] = {"rd": instance.rd}
    targets = {"export-rt": instance.export_targets, "import-rt": instance.import_targets}
    if any(targets.values()):
        vpn["route-target"] = {leaf: f"target:{target[0]}" for leaf, target in targets.items() if target}
    if instance.vni is not None:
        return _vxlan(instance.vni, instance.vni, vpn)
    return {"protocols": {VPN: {"bgp-instance": [{"id": INSTANCE_ID} | vpn]}}} if vpn else {}


def _vxlan(vni: int, evi: int, vpn: Json) -> Json:
    name = f"{TUNNEL}.{vni}"
    number = (evi - 1) % MAX_EVI + 1
    evpn = {"id": INSTANCE_ID, "admin-state": "enable", "vxlan-interface": name, "evi": number, "ecmp": PATHS}
    return {
        "vxlan-interface": [{"name": name}],
        "protocols": {
            "bgp-evpn": {"srl_nokia-bgp-evpn:bgp-instance": [evpn]},
            VPN: {"bgp-instance": [{"id": INSTANCE_ID} | vpn]},
        },
    }


def render_tunnels(model: DeviceModel) -> list[Json] | None:
    """The tunnel interface, where the switch is a VTEP, with a VXLAN interface for each VNI."""
    bridged = [(vlan.vni, BRIDGED) for vlan in model.vlans if vlan.vni is not None]
    routed = [(instance.vni, ROUTED) for instance in model.network_instances if instance.vni is not None]
    if model.vtep is None and not bridged and not routed:
        return None
    interfaces = [{"index": vni, "type": kind, "ingress": {"vni": vni}} for vni, kind in (*bridged, *routed)]
    return [{"name": TUNNEL} | ({"vxlan-interface": interfaces} if interfaces else {})]


def render_segments(model: DeviceModel) -> Json | None:
    """The Ethernet segments of the LAGs that several switches share."""
    lags = [lag for lag in model.interfaces if isinstance(lag, Lag) and lag.esi is not None]
    if not lags:
        return None
    segments = [
        {
            "name": lag.name,
            "admin-state": "enable",
            "esi": lag.esi,
            "multi-homing-mode": "all-active",
            "interface": [{"ethernet-interface": lag.name}],
        }
        for lag in lags
    ]
    instance = {"id": INSTANCE_ID, "ethernet-segment": segments}
    ethernet = "srl_nokia-system-network-instance-bgp-evpn-ethernet-segments:ethernet-segments"
    return {
        "protocols": {
            "evpn": {ethernet: {"bgp-instance": [instance]}},
            "srl_nokia-system-network-instance-bgp-vpn:bgp-vpn": {"bgp-instance": [{"id": INSTANCE_ID}]},
        }
    }


def parse_vlans(instances: list[ConfigNode], vnis: Mapping[str, int]) -> Iterator[Vlan]:
    """The VLANs: every mac-vrf with the name of one. vnis: by VXLAN interface."""
    for node in instances:
        name = str(node.value["name"])
        if node.value.get("type") == "mac-vrf" and is_svi(name):
            yield Vlan(vlan_id=number_of(name), name=node.text("description") or "", vni=_vni(node, vnis))


def _vni(node: ConfigNode, vnis: Mapping[str, int]) -> int | None:
    names = (str(entry.value["name"]) for entry in node.entries("vxlan-interface", "name"))
    return next((vnis[name] for name in names if name in vnis), None)


def parse_vrf(node: ConfigNode, vnis: Mapping[str, int]) -> NetworkInstance:
    """A VRF with its route distinguisher and targets."""
    vpn = node.at("protocols", "bgp-vpn").entry("bgp-instance", "id", INSTANCE_ID)
    targets = vpn.child("route-target")
    return NetworkInstance(
        name=str(node.value["name"]),
        rd=vpn.child("route-distinguisher").text("rd"),
        import_targets=_target(targets, "import-rt"),
        export_targets=_target(targets, "export-rt"),
        vni=_vni(node, vnis),
        router_id=node.router_id("router-id"),
    )


def _target(node: ConfigNode, leaf: str) -> tuple[str, ...]:
    target = node.text(leaf)
    return () if target is None else (target.removeprefix("target:"),)


def parse_vnis(root: ConfigNode) -> dict[str, int]:
    """VNI of each VXLAN interface, by name: `vxlan1.10100`."""
    return {
        f"{tunnel.value['name']}.{entry.value['index']}": vni
        for tunnel in root.entries("tunnel-interface", "name")
        for entry in tunnel.entries("vxlan-interface", "index")
        if (vni := entry.child("ingress").number("vni")) is not None
    }


def parse_vtep(root: ConfigNode, interfaces: tuple[Interface, ...]) -> Vtep | None:
    """The VTEP: SR Linux sends VXLAN from the IPv4 address of system0."""
    if not any(True for _ in root.entries("tunnel-interface", "name")):
        return None
    system = next((interface for interface in interfaces if interface.name == LOOPBACK), None)
    addresses = [address for address in system.addresses if isinstance(address, IPv4Interface)] if system else []
    return Vtep(source=LOOPBACK, address=addresses[0].ip) if addresses else None


def parse_segments(root: ConfigNode) -> dict[str, str]:
    """Ethernet segment identifier of each LAG in an enabled segment."""
    segments = root.at("system", "network-instance", "protocols", "evpn", "ethernet-segments")
    esis: dict[str, str] = {}
    for instance in segments.entries("bgp-instance", "id"):
        for segment in instance.entries("ethernet-segment", "name"):
            esi = segment.text("esi")
            for entry in segment.entries("interface", "ethernet-interface"):
                name = str(entry.value["ethernet-interface"])
                if esi is not None and model_lag(name) and segment.enabled(default=False):
                    esis[name] = esi
    return esis
