"""Rows of the tables that a virtual switch with NX-OS shows as JSON.

Keys: those that NAPALM and telegraf's readers take from switches; a table with one row has it without a list.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from railfab.device import ObservedBgpSession
from railfab.platforms.nxos.names import device_name, vrf_name
from railfab.platforms.nxos.show_ports import NxosPort
from railfab.platforms.twin_face import VirtualArpEntry, VirtualNeighbor, VirtualSession

Json = dict[str, Any]
FIRST_DISCRIMINATOR = 1_090_519_040
"""Discriminators of BFD follow this one, as recorded."""


def table(name: str, rows: list[Json]) -> Json:
    """A table as NX-OS writes it: one row is not in a list, and without rows there is none."""
    if not rows:
        return {}
    return {f"TABLE_{name}": {f"ROW_{name}": rows[0] if len(rows) == 1 else rows}}


def short_name(name: str) -> str:
    """`Eth1/1` of `Ethernet1/1`."""
    return name.replace("Ethernet", "Eth")


def mac_address(*names: str) -> str:
    """A MAC address that is always that of these names, in a range of Cisco's, as NX-OS writes it."""
    digits = sha256(" ".join(names).encode()).hexdigest()[:6]
    return f"5087.89{digits[:2]}.{digits[2:]}"


def interface_row(shown: NxosPort, counters: Json) -> Json:
    """An interface. counters: and the time since its last change, of a port."""
    name, port = shown.name, shown.port
    row: Json = {
        "interface": name,
        "state": "up" if shown.oper_up else "down",
        **({"state_rsn_desc": shown.reason} if shown.reason else {}),
        "admin_state": "up" if shown.enabled else "down",
        **({"desc": shown.description} if shown.description else {}),
        **({"eth_hw_addr": mac_address(name)} if port else {}),
        **_address(shown),
        "eth_mtu": str(mtu_bytes(shown)),
        "eth_bw": str(int(port.rate_gbps * 1_000_000)) if port else "8000000",
    }
    return {**row, **counters}


def _address(shown: NxosPort) -> Json:
    addresses = shown.configured.addresses if shown.configured else ()
    v4 = next((address for address in addresses if address.version == 4), None)
    if v4 is None:
        return {}
    return {
        "eth_ip_addr": str(v4.ip),
        "eth_ip_mask": v4.network.prefixlen,
        "eth_ip_prefix": str(v4.network.network_address),
    }


def mtu_bytes(shown: NxosPort) -> int:
    """1500 is the MTU that NX-OS has without a configured one."""
    return (shown.configured.mtu_bytes if shown.configured else None) or 1500


def status_row(shown: NxosPort) -> Json:
    port = shown.port
    state = "connected" if shown.oper_up else "notconnec" if shown.enabled else "disabled"
    return {
        "interface": shown.name,
        "name": shown.description or "--",
        "state": state,
        "vlan": "routed" if shown.is_routed else "1",
        "duplex": "full",
        "speed": f"{port.rate_gbps:g}G" if port else "--",
        "type": "--",
    }


def lldp_row(port: str, neighbor: VirtualNeighbor) -> Json:
    return {
        "chassis_id": mac_address(neighbor.name, "system"),
        "l_port_id": short_name(port),
        "port_id": neighbor.port,
        "port_desc": neighbor.description,
        "sys_name": neighbor.name,
        "ttl": "120",
    }


def link_local(*names: str) -> str:
    """A link-local address that is always that of these names."""
    low = sha256(" ".join(names).encode()).hexdigest()[:6]
    return f"fe80::5287:89ff:fe{low[:2]}:{low[2:]}"


def address(session: ObservedBgpSession) -> str:
    """The address of a peer; of an unnumbered one a link-local address with the interface."""
    if not isinstance(session.peer, str):
        return str(session.peer)
    return f"{link_local(f'{session.neighbor_device} {session.peer}')}%{device_name(session.peer)}"


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


def bfd_row(session: ObservedBgpSession, timing: VirtualSession | None, number: int) -> Json:
    """A BFD session. timing: of its packets; number: among the sessions of the switch."""
    peer = address(session).partition("%")[0]
    v4, v6 = ("0.0.0.0", peer) if ":" in peer else (peer, "0::")
    state = "Up" if session.bfd_up else "Down"
    interval_ms = (timing and timing.bfd_receive_ms) or 0
    multiplier = (timing and timing.bfd_remote_multiplier) or 0
    return {
        "local_disc": str(FIRST_DISCRIMINATOR + number),
        "vrf_name": vrf_name(session.network_instance),
        "dest_ip_addr": v4,
        "dest_ipv6_addr": v6,
        "remote_disc": str(FIRST_DISCRIMINATOR + number) if session.bfd_up else "0",
        "local_state": state,
        "remote_state": state,
        "holddown": str(interval_ms * multiplier),
        "cur_detect_mult": str(multiplier),
        "intf": device_name(session.interface) if session.interface else "",
    }


def arp_row(key: str, port: str, entry: VirtualArpEntry) -> Json:
    name = device_name(port)
    return {
        key: str(entry.address),
        "mac": mac_address(entry.device, entry.port),
        "intf-out": name,
        "time-stamp": "00:00:00",
    }
