"""Rows of the tables that a virtual switch with NX-OS shows as JSON.

Keys: those that NAPALM and telegraf's readers take from switches; a table with one row has it without a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from railfab.device import ObservedBgpSession, ObservedInterface
from railfab.platforms.nxos.names import device_name, vrf_name
from railfab.platforms.twin_face import VirtualArpEntry, VirtualNeighbor, VirtualPort

Json = dict[str, Any]


def table(name: str, rows: list[Json]) -> Json:
    """A table as NX-OS writes it: one row is not in a list, and without rows there is none."""
    if not rows:
        return {}
    return {f"TABLE_{name}": {f"ROW_{name}": rows[0] if len(rows) == 1 else rows}}


def short_name(name: str) -> str:
    """`Eth1/1` of `Ethernet1/1`."""
    return name.replace("Ethernet", "Eth")


def _mac(*names: str) -> str:
    """A MAC address that is always that of these names, in a range of Cisco's, as NX-OS writes it."""
    digits = sha256(" ".join(names).encode()).hexdigest()[:6]
    return f"5087.89{digits[:2]}.{digits[2:]}"


def interface_row(
    interface: ObservedInterface, port: VirtualPort | None, descriptions: Mapping[str, str], counters: Json
) -> Json:
    name = device_name(interface.name)
    return {
        "interface": name,
        "state": "up" if interface.oper_up else "down",
        "admin_state": "down" if (port.fault == "disabled" if port else interface.enabled is False) else "up",
        "desc": descriptions.get(name, ""),
        "eth_hw_addr": _mac(name),
        "eth_mtu": str(interface.mtu_bytes or 1500),
        "eth_bw": int(port.rate_gbps * 1_000_000) if port else 0,
        **counters,
    }


def status(port: VirtualPort) -> str:
    if port.fault == "disabled":
        return "disabled"
    return "notconnec" if port.fault else "connected"


def status_row(port: VirtualPort, descriptions: Mapping[str, str]) -> Json:
    return {
        "interface": port.name,
        "name": descriptions.get(port.name, "--"),
        "state": status(port),
        "vlan": "routed" if port.routed else "1",
        "duplex": "full",
        "speed": f"{port.rate_gbps:g}G",
        "type": "--",
    }


def lldp_row(port: str, neighbor: VirtualNeighbor) -> Json:
    return {
        "chassis_id": _mac(neighbor.name, "system"),
        "l_port_id": short_name(port),
        "port_id": neighbor.port,
        "port_desc": neighbor.description,
        "sys_name": neighbor.name,
        "ttl": "120",
    }


def address(session: ObservedBgpSession) -> str:
    """The address of a peer; of an unnumbered one a link-local address with the interface."""
    if not isinstance(session.peer, str):
        return str(session.peer)
    low = sha256(f"{session.neighbor_device} {session.peer}".encode()).hexdigest()[:6]
    return f"fe80::5287:89ff:fe{low[:2]}:{low[2:]}%{device_name(session.peer)}"


def session_row(session: ObservedBgpSession) -> Json:
    return {
        "neighbor-id": address(session),
        "remoteas": str(session.remote_as),
        "state": session.state.capitalize(),
        "connectionsdropped": "0",
        "lastflap": "00:00:00",
        "localport": "179",
        "remoteport": "179",
    }


def bfd_row(session: ObservedBgpSession) -> Json:
    peer = address(session).partition("%")[0]
    v4, v6 = ("0.0.0.0", peer) if ":" in peer else (peer, "0::")
    state = "Up" if session.bfd_up else "Down"
    return {
        "vrf_name": vrf_name(session.network_instance),
        "dest_ip_addr": v4,
        "dest_ipv6_addr": v6,
        "local_state": state,
        "remote_state": state,
        "intf": device_name(session.interface) if session.interface else "",
    }


def arp_row(key: str, port: str, entry: VirtualArpEntry) -> Json:
    name = device_name(port)
    return {key: str(entry.address), "mac": _mac(entry.device, entry.port), "intf-out": name, "time-stamp": "00:00:00"}
