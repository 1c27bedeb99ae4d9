"""Show commands of a virtual SONiC switch, in the layouts of sonic-utilities, FRR and iproute2."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from ipaddress import ip_interface
from typing import Any

from railfab.device import ObservedBgpSession
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.virtual_shell import VirtualShell
from railfab.platforms.sonic.tables import SEPARATOR, Tables, row, tree_of
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

DEFAULT_MTU = 9100
"""MTU of a port that states none (sonic-port, default of the switch's own CLI) [bytes]."""
PADDING = 2
"""Blanks by which a column is at least wider than its title, in the tables of sonic-utilities."""
ADDRESSED = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE")
SPEEDS = {"40000": "40G", "100000": "100G", "200000": "200G", "400000": "400G", "800000": "800G"}
STATES = {True: "up", False: "down"}


class SonicShows(VirtualShell):
    """The commands that change nothing."""

    @property
    def device(self) -> VirtualDevice:
        return self.host.device

    def version(self) -> str:
        host = row(tree_of(self.device.running()), "DEVICE_METADATA", "localhost")
        return (
            f"\nSONiC Software Version: SONiC.railfab-twin\nDistribution: Debian\n\n"
            f"Platform: {host.get('platform', '')}\nHwSKU: {host.get('hwsku', '')}\nASIC: vs\nASIC Count: 1\n"
        )

    def lldp_table(self) -> str:
        """Neighbours of LLDP, one a row."""
        rows = [
            (port.name, neighbor.name, neighbor.port, "BR", neighbor.description)
            for port in self.device.ports()
            for neighbor in port.neighbors
        ]
        header = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
        shown = _simple_table(header, rows)
        codes = "Capability codes: (R) Router, (B) Bridge, (O) Other"
        return f"{codes}\n{shown}{'-' * 50}\nTotal entries displayed:  {len(rows)}"

    def interface_status(self) -> str:
        tables = tree_of(self.device.running())
        header = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
        return _simple_table(header, [_status(tables, port) for port in self.device.ports()], right=True)

    def pfc_counters(self) -> str:
        """Pause frames by priority, received and sent."""
        counters: dict[tuple[str, str, str], float] = {}
        for reading in self.device.readings():
            if reading.metric.startswith("fabric_pfc_") and reading.metric.endswith("_frames_total"):
                direction = reading.metric.split("_")[2]
                counters[direction, reading.labels["interface"], reading.labels["priority"]] = reading.value
        ports = [port.name for port in self.device.ports()]
        return "\n".join(_pfc_table(direction, counters, ports) for direction in ("receive", "transmit"))

    def bgp_summary(self) -> str:
        sessions = self.device.observe().sessions
        speaker = row(tree_of(self.device.running()), "BGP_GLOBALS", "default")
        identifier, asn = speaker.get("router_id", ""), speaker.get("local_asn", "")
        header = ("Neighbor", "V", "AS", "State/PfxRcd", "NeighborName")
        rows = [
            (str(session.peer), "4", str(session.remote_as), session.state.capitalize(), session.neighbor_device or "")
            for session in sessions
        ]
        begin = f"\nIPv4 Unicast Summary:\nBGP router identifier {identifier}, local AS number {asn} vrf-id 0\n"
        return f"{begin}\n{_simple_table(header, rows)}\nTotal number of neighbors {len(rows)}"

    def vtysh(self, command: str) -> str:
        sessions = self.device.observe().sessions
        if command == "show bgp vrf all neighbors json":
            return json.dumps(_neighbors(sessions))
        if command == "show bgp summary json":
            return json.dumps({"ipv4Unicast": self._summary(sessions)})
        raise CommandFailed(f"% Unknown command: {command}")

    def _summary(self, sessions: Sequence[ObservedBgpSession]) -> dict[str, Any]:
        speaker = row(tree_of(self.device.running()), "BGP_GLOBALS", "default")
        peers = {
            str(session.peer): {"remoteAs": session.remote_as, "version": 4, "state": session.state.capitalize()}
            for session in sessions
            if session.network_instance == "default"
        }
        failed = sum(peer["state"] != "Established" for peer in peers.values())
        return {
            "routerId": speaker.get("router_id"),
            "as": int(speaker.get("local_asn", 0)),
            "vrfName": "default",
            "peerCount": len(peers),
            "peers": peers,
            "failedPeers": failed,
            "totalPeers": len(peers),
        }

    def addresses(self) -> str:
        """Devices of Linux with their addresses, as iproute2 shows them."""
        tables = tree_of(self.device.running())
        ports = {port.name: port for port in self.device.ports()}
        mtus = {name: int(fields.get("mtu", DEFAULT_MTU)) for name, fields in tables.get("PORT", {}).items()}
        devices = {**dict.fromkeys(ports), **dict.fromkeys(name for name, _ in _addresses(tables))}
        links = [_link(name, mtus.get(name, DEFAULT_MTU), ports.get(name), tables) for name in devices]
        return json.dumps([LOOPBACK, *links])

    def resolved(self) -> str:
        entries = [
            {"dst": str(entry.address), "dev": port.name, "lladdr": "02:00:00:00:00:02", "state": ["REACHABLE"]}
            for port in self.device.ports()
            for entry in port.resolved
        ]
        return json.dumps(entries)


LOOPBACK = {"ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "operstate": "UNKNOWN", "mtu": 65536}


def _addresses(tables: Tables) -> Iterator[tuple[str, str]]:
    """Interfaces with an address, and the address with its length."""
    for table in ADDRESSED:
        for key in tables.get(table, {}):
            name, _, prefix = key.partition(SEPARATOR)
            if prefix:
                yield name, prefix


def _link(name: str, mtu_bytes: int, port: VirtualPort | None, tables: Tables) -> dict[str, Any]:
    up = port is None or not port.fault
    enabled = port is None or port.fault != "disabled"
    flags = ["BROADCAST", "MULTICAST", *(["UP"] if enabled else []), *(["LOWER_UP"] if up else [])]
    configured = [ip_interface(prefix) for device, prefix in _addresses(tables) if device == name]
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


def _neighbors(sessions: Sequence[ObservedBgpSession]) -> dict[str, Any]:
    """Neighbours by VRF, with the keys of FRR."""
    shown: dict[str, Any] = {}
    for session in sessions:
        vrf = shown.setdefault(session.network_instance, {"vrfId": 0, "vrfName": session.network_instance})
        peer: dict[str, Any] = {"remoteAs": session.remote_as, "bgpState": session.state.capitalize()}
        if session.neighbor_device is not None:
            peer["hostname"] = session.neighbor_device
        if session.bfd_up is not None:
            peer["peerBfdInfo"] = {"type": "single hop", "status": "Up" if session.bfd_up else "Down"}
        vrf[str(session.peer)] = peer
    return shown


def _status(tables: Tables, port: VirtualPort) -> tuple[str, ...]:
    fields = row(tables, "PORT", port.name)
    speed = str(fields.get("speed", int(port.rate_gbps * 1000)))
    mode = "routed" if any(name == port.name for name, _ in _addresses(tables)) else "trunk"
    texts = (fields.get("lanes", ""), SPEEDS.get(speed, f"{speed}M"), fields.get("mtu", str(DEFAULT_MTU)))
    alias = fields.get("alias", port.name)
    admin = STATES[fields.get("admin_status") == "up"]
    return (port.name, *texts, fields.get("fec", "N/A"), alias, mode, STATES[not port.fault], admin, "N/A", "N/A")


def _pfc_table(direction: str, counters: dict[tuple[str, str, str], float], ports: Sequence[str]) -> str:
    header = (f"Port {'Rx' if direction == 'receive' else 'Tx'}", *(f"PFC{priority}" for priority in range(8)))
    rows = [
        (port, *(f"{counters.get((direction, port, str(priority)), 0):,.0f}" for priority in range(8)))
        for port in ports
    ]
    return _simple_table(header, rows, right=True)


def _simple_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = False) -> str:
    """A table of the style `simple` of python-tabulate, which sonic-utilities uses; right: columns end together."""
    columns = zip(header, *rows, strict=True)
    widths = [max([len(title) + PADDING, *map(len, cells)]) for title, *cells in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    return "".join(f"{'  '.join(_padded(line, widths, right=right)).rstrip()}\n" for line in lines)


def _padded(line: Sequence[str], widths: Sequence[int], *, right: bool) -> Iterator[str]:
    for text, width in zip(line, widths, strict=True):
        yield text.rjust(width) if right else text.ljust(width)
