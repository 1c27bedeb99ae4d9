"""Show commands for BGP and the neighbours of a virtual SONiC switch. Layouts: sonic-utilities, FRR and iproute2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from railfab.device import IpInterface
from railfab.platforms.shared import virtual_lldpd
from railfab.platforms.shared.virtual_frr import Speaker, VirtualFrr
from railfab.platforms.shared.virtual_frr_peers import FrrPeer, uptime_text
from railfab.platforms.sonic.shell_login import SonicLogin, addresses
from railfab.platforms.sonic.shell_ports import DEFAULT_MTU
from railfab.platforms.sonic.tables import SEPARATOR, Tables, row
from railfab.platforms.sonic.tabulated import table
from railfab.platforms.twin_face import VirtualPort

UNNAMED = "NotAvailable"
"""Name of a neighbour of which CONFIG_DB has none (sonic-utilities, bgp_util.py)."""
PEERS = ("Neighbhor", "V", "AS", "MsgRcvd", "MsgSent", "TblVer", "InQ", "OutQ", "Up/Down", "State/PfxRcd")
"""Columns of a summary; the first is spelt so."""
LLDP = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
LOOPBACK = {"ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "operstate": "UNKNOWN", "mtu": 65536}


class SonicRoutingShows(SonicLogin):
    """The commands for neighbours of LLDP and BGP, and for addresses."""

    def lldp_table(self) -> str:
        """Neighbours of LLDP, one a row."""
        rows = [
            (port.name, neighbor.name, neighbor.port, "BR", neighbor.description)
            for port in self.ports()
            for neighbor in port.neighbors
        ]
        codes = "Capability codes: (R) Router, (B) Bridge, (O) Other"
        return f"{codes}\n{table(LLDP, rows)}{'-' * 50}\nTotal entries displayed:  {len(rows)}"

    def lldp_neighbors(self, interface: str | None = None) -> str:
        return virtual_lldpd.details(self.ports(interface), "local")

    def bgp_summary(self) -> str:
        return self._bgp_summary("ipv4-unicast", "v4")

    def bgp_summary_ipv6(self) -> str:
        return self._bgp_summary("ipv6-unicast", "v6")

    def _bgp_summary(self, family: str, version: str) -> str:
        tables = self.tables()
        speaker, names = _speaker(tables), _names(tables)
        rows = [(*_peer(peer, family), names.get(peer.name, UNNAMED)) for peer in self.frr(tables).peers(family)]
        identity = f"BGP router identifier {speaker.router_id}, local AS number {speaker.asn} vrf-id 0"
        shown = table((*PEERS, "NeighborName"), rows)
        return f"\nIP{version} Unicast Summary:\n{identity}\n\n\n{shown}\nTotal number of neighbors {len(rows)}"

    def vtysh(self, command: str) -> str:
        return self.frr(self.tables()).answer(command)

    def ip_route(self) -> str:
        return self.vtysh("show ip route")

    def ipv6_route(self) -> str:
        return self.vtysh("show ipv6 route")

    def linux_routes(self) -> str:
        return self.frr(self.tables()).routes().linux()

    def frr(self, tables: Tables) -> VirtualFrr:
        return VirtualFrr(self.device, _speaker(tables), [*addresses(tables)])

    def links(self) -> list[dict[str, Any]]:
        tables = self.tables()
        ports = {port.name: port for port in self.ports()}
        configured = [*addresses(tables)]
        mtus = {name: int(fields.get("mtu", DEFAULT_MTU)) for name, fields in tables.get("PORT", {}).items()}
        devices = {**dict.fromkeys(ports), **dict.fromkeys(name for name, _ in configured)}
        links = [
            _link(
                name,
                mtus.get(name, DEFAULT_MTU),
                ports.get(name),
                [held for owner, held in configured if owner == name],
            )
            for name in devices
        ]
        return [LOOPBACK, *links]


def _of(name: str, configured: Sequence[tuple[str, IpInterface]]) -> list[IpInterface]:
    return [address for device, address in configured if device == name]


def _speaker(tables: Tables) -> Speaker:
    fields = row(tables, "BGP_GLOBALS", "default")
    return Speaker(fields.get("router_id", ""), int(fields.get("local_asn", 0)))


def _names(tables: Tables) -> dict[str, str]:
    """The names that CONFIG_DB gives neighbours."""
    neighbors = tables.get("BGP_NEIGHBOR", {}).items()
    return {key.split(SEPARATOR)[-1]: fields["name"] for key, fields in neighbors if "name" in fields}


def _peer(peer: FrrPeer, family: str) -> tuple[str, ...]:
    """The columns of a neighbour. Messages, table versions and queues of a session are not counted."""
    state = str(peer.prefixes[family][0]) if peer.session.established else peer.state
    return (peer.name, "4", str(peer.session.remote_as), *["0"] * 5, uptime_text(peer.uptime_s), state)


def _link(name: str, mtu_bytes: int, port: VirtualPort | None, configured: Sequence[IpInterface]) -> dict[str, Any]:
    up = port is None or not port.fault
    enabled = port is None or port.fault != "disabled"
    flags = ["BROADCAST", "MULTICAST", *(["UP"] if enabled else []), *(["LOWER_UP"] if up else [])]
    return {
        "ifname": name,
        "flags": flags,
        "mtu": mtu_bytes,
        "operstate": "UP" if up else "DOWN",
        "addr_info": [
            {
                "family": "inet" if address.version == 4 else "inet6",
                "local": str(address.ip),
                "prefixlen": address.network.prefixlen,
                "scope": "global",
            }
            for address in configured
        ],
    }
