"""Neighbours of a virtual Junos switch: `show lldp neighbors`, `show arp`, `show ipv6 neighbors`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from railfab.platforms.junos.answers import Tree
from railfab.platforms.junos.port_state import mac_address
from railfab.platforms.twin_face import VirtualArpEntry, VirtualDevice, VirtualNeighbor

UNIT = ".0"
LLDP_HEADER = "Local Interface    Parent Interface    Chassis Id          Port info          System Name"
ARP_HEADER = "MAC Address       Address         Interface     Flags"


class Heard(NamedTuple):
    """A neighbour that LLDP has heard, and the port on which it did."""

    port: str
    neighbor: VirtualNeighbor


def heard(device: VirtualDevice, wanted: str | None = None) -> list[Heard]:
    """The neighbours of all ports with LLDP, or of one."""
    ports = (port for port in device.ports() if port.lldp and wanted in (None, port.name))
    return [Heard(port.name, neighbor) for port in ports for neighbor in port.neighbors]


def lldp_tree(entries: list[Heard]) -> Tree:
    return {"lldp-neighbor-information": list(map(_lldp, entries))}


def _lldp(entry: Heard) -> Tree:
    return {
        "lldp-local-port-id": entry.port,
        "lldp-local-parent-interface-name": "-",
        "lldp-remote-chassis-id-subtype": "Mac address",
        "lldp-remote-chassis-id": mac_address(entry.neighbor.name),
        "lldp-remote-port-id-subtype": "Interface name",
        "lldp-remote-port-id": entry.neighbor.port,
        "lldp-remote-system-name": entry.neighbor.name,
    }


def lldp_text(entries: list[Heard]) -> Iterator[str]:
    yield LLDP_HEADER
    for port, neighbor in entries:
        yield f"{port:<19}{'-':<20}{mac_address(neighbor.name):<20}{neighbor.port:<19}{neighbor.name}"


def lldp_detail_tree(entries: list[Heard]) -> Tree:
    """`show lldp neighbors interface NAME`, in which the local port has another name than in the list."""
    return {"lldp-neighbor-information": [_lldp_detail(entry) for entry in entries]}


def _lldp_detail(entry: Heard) -> Tree:
    tree = dict(_lldp(entry))
    del tree["lldp-local-port-id"]
    return {
        "lldp-local-interface": entry.port,
        **tree,
        "lldp-remote-port-description": entry.neighbor.description,
    }


def resolved(device: VirtualDevice, version: int) -> list[tuple[str, VirtualArpEntry]]:
    """Addresses of a version of IP that ports have resolved, with the unit of each."""
    return [
        (f"{port.name}{UNIT}", entry)
        for port in device.ports()
        for entry in port.resolved
        if entry.address.version == version
    ]


def arp_tree(device: VirtualDevice) -> Tree:
    """`show arp no-resolve`."""
    entries = resolved(device, 4)
    return {
        "arp-table-entry": [
            {"mac-address": _mac(entry), "ip-address": entry.address, "interface-name": unit} for unit, entry in entries
        ],
        "arp-entry-count": len(entries),
    }


def arp_text(device: VirtualDevice) -> Iterator[str]:
    yield ARP_HEADER
    entries = resolved(device, 4)
    yield from (f"{_mac(entry):<18}{entry.address!s:<16}{unit:<14}none" for unit, entry in entries)
    yield f"Total entries: {len(entries)}"


def nd_tree(device: VirtualDevice) -> Tree:
    """`show ipv6 neighbors`."""
    return {
        "ipv6-nd-entry": [
            {
                "ipv6-nd-neighbor-address": entry.address,
                "ipv6-nd-neighbor-l2-address": _mac(entry),
                "ipv6-nd-interface-name": unit,
            }
            for unit, entry in resolved(device, 6)
        ]
    }


def _mac(entry: VirtualArpEntry) -> str:
    return mac_address(entry.device, entry.port)
