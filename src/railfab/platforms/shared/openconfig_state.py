"""OpenConfig's state of virtual switches: modules, and the keys that a device chooses."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.gnmi.target import YangModel
from railfab.platforms.shared.virtual_addresses import discriminator, is_address, link_local, mac_address

MODULES = ("interfaces", "network-instance", "qos", "platform", "lldp")
ORIGINS = ("openconfig",)


def models(release: str) -> tuple[YangModel, ...]:
    """The modules that a gNMI server names. release: of the switch."""
    return tuple(YangModel(f"openconfig-{module}", "OpenConfig working group", release) for module in MODULES)


def key(device: str, name: str, _pattern: str, labels: Mapping[str, str]) -> str | None:
    """The value for the `*` in a key, `1` where any will do; None for the link-local address of a numbered peer."""
    peer = labels.get("peer", "")
    if name == "neighbor-address":
        return None if is_address(peer) else str(link_local(device, peer))
    if name == "local-discriminator":
        return discriminator(device, peer)
    return mac_address(labels.get("peer_device", "")) if name == "id" else "1"
