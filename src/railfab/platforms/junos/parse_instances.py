"""Reads the VLANs, VRFs and the VXLAN endpoint of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address

from railfab.device import Interface, Loopback, NetworkInstance, Vlan, Vtep
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE, interface_name
from railfab.platforms.junos.parse_interfaces import vlan_entries
from railfab.platforms.shared.words import Words

TARGET = "target:"
VRF_TYPES = ("vrf", "virtual-router")


def vlans_of(root: Words) -> tuple[Vlan, ...]:
    """The VLANs with a number, each by its description where its name is only that of its number."""
    vlans = []
    for key, words in vlan_entries(root):
        vlan_id = words.number("vlan-id")
        if vlan_id is not None:
            name = words.text("description") if key == f"vlan{vlan_id}" else None
            vlans.append(Vlan(vlan_id=vlan_id, name=name or key, vni=words.number("vxlan", "vni")))
    return tuple(vlans)


def instances_of(root: Words) -> tuple[NetworkInstance, ...]:
    """The VRFs, without the instance of the management port."""
    instances = []
    for name, words in root.entries("routing-instances"):
        if words.text("instance-type") in VRF_TYPES and name != MANAGEMENT_INSTANCE:
            instances.append(_instance(name, words))
    return tuple(instances)


def _instance(name: str, words: Words) -> NetworkInstance:
    return NetworkInstance(
        name=name,
        rd=words.text("route-distinguisher"),
        import_targets=_targets(words, "import"),
        export_targets=_targets(words, "export"),
        vni=words.number("protocols", "evpn", "ip-prefix-routes", "vni"),
        router_id=words.value(IPv4Address, "an IPv4 address", "routing-options", "router-id"),
    )


def _targets(words: Words, direction: str) -> tuple[str, ...]:
    """The route targets of one direction: its own, or the one of both."""
    targets = [words.text("vrf-target", direction)]
    targets += [text for text in words.texts("vrf-target") if text.startswith(TARGET)]
    return tuple(text.removeprefix(TARGET) for text in targets[:1] if text) or tuple(
        text.removeprefix(TARGET) for text in targets[1:2] if text
    )


def vtep_of(root: Words, interfaces: Sequence[Interface]) -> Vtep | None:
    """The endpoint of the MAC-VRF, or of the switch; None while its interface has no address."""
    places = [words for _, words in root.entries("routing-instances")] + [root.at("switch-options")]
    source = next((text for words in places if (text := words.text("vtep-source-interface"))), None)
    name = interface_name(source) if source else ""
    named = (loopback for loopback in interfaces if isinstance(loopback, Loopback) and loopback.name == name)
    return next((Vtep(source=name, address=loopback.addresses[0].ip) for loopback in named if loopback.addresses), None)
