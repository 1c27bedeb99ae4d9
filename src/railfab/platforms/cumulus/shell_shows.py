"""Show commands of a virtual Cumulus Linux switch: of NVUE, and in the JSON of FRR, iproute2 and lldpd."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from railfab.device import ObservedBgpSession, ObservedInterface
from railfab.platforms.cumulus.names import device_name
from railfab.platforms.cumulus.parse import tree_of
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.virtual_shell import VirtualShell
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

DEFAULT_MTU = 9216
"""MTU of a port that states none (cumulus-linux-517, Switch Port Attributes) [bytes]."""
RELEASE, MODEL = "5.15.0", "VX"
LOOPBACK = {"ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "operstate": "UNKNOWN", "mtu": 65536}


class CumulusShows(VirtualShell):
    """The commands that change nothing."""

    @property
    def device(self) -> VirtualDevice:
        return self.host.device

    def show_system(self) -> str:
        name = _dict(tree_of(self.device.running()), "system").get("hostname", "")
        rows = (("hostname", name, name), ("product-name", "Cumulus Linux", ""), ("product-release", RELEASE, ""))
        return table(("", "operational", "applied"), rows)

    def show_interfaces(self) -> str:
        header = ("Interface", "Admin Status", "Oper Status", "Speed", "MTU", "Type", "Remote Host", "Remote Port")
        mtus = {interface.name: interface.mtu_bytes for interface in self.device.observe().interfaces}
        return table(header, [_row(port, mtus.get(port.name)) for port in self.device.ports()])

    def vtysh(self, command: str) -> str:
        if command != "show bgp vrf all neighbors json":
            raise CommandFailed(f"% Unknown command: {command}")
        return json.dumps(_neighbors(self.device.observe().sessions))

    def addresses(self) -> str:
        """Devices of Linux with their addresses, as iproute2 shows them."""
        configured = _dict(tree_of(self.device.running()), "interface")
        links = [_link(interface, configured) for interface in self.device.observe().interfaces]
        return json.dumps([LOOPBACK, *(link for link in links if link["ifname"] != "lo")])

    def resolved(self) -> str:
        entries = [
            {"dst": str(entry.address), "dev": port.name, "lladdr": "02:00:00:00:00:02", "state": ["REACHABLE"]}
            for port in self.device.ports()
            for entry in port.resolved
        ]
        return json.dumps(entries)

    def heard(self) -> str:
        """Neighbours of LLDP, in the JSON of lldpcli."""
        shown = [
            {
                port.name: {
                    "via": "LLDP",
                    "chassis": {neighbor.name: {"capability": [{"type": "Router", "enabled": True}]}},
                    "port": {"id": {"type": "ifname", "value": neighbor.port}, "descr": neighbor.description},
                }
            }
            for port in self.device.ports()
            for neighbor in port.neighbors
        ]
        return json.dumps({"lldp": {"interface": shown} if shown else {}})


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in the style of NVUE: a line of dashes, and columns as wide as their longest cell."""
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)


def _row(port: VirtualPort, mtu_bytes: int | None) -> tuple[str, ...]:
    admin, oper = ("down" if port.fault == "disabled" else "up"), ("down" if port.fault else "up")
    neighbor = port.neighbors[0] if port.neighbors else None
    heard = (neighbor.name, neighbor.port) if neighbor else ("", "")
    return (port.name, admin, oper, f"{port.rate_gbps:.0f}G", str(mtu_bytes or DEFAULT_MTU), "swp", *heard)


def _neighbors(sessions: Sequence[ObservedBgpSession]) -> Json:
    """The sessions by VRF, as `show bgp vrf all neighbors json` of FRR."""
    shown: Json = {}
    for session in sessions:
        vrf = shown.setdefault(session.network_instance, {"vrfName": session.network_instance})
        peer: Json = {"remoteAs": session.remote_as, "bgpState": session.state.capitalize()}
        if session.neighbor_device:
            peer["hostname"] = session.neighbor_device
        if session.bfd_up is not None:
            peer["peerBfdInfo"] = {"type": "single hop", "status": "Up" if session.bfd_up else "Down"}
        vrf[device_name(session.peer) if isinstance(session.peer, str) else str(session.peer)] = peer
    return shown


def _link(interface: ObservedInterface, configured: Json) -> Json:
    name = device_name(interface.name)
    flags = ["BROADCAST", "MULTICAST", *(["UP"] if interface.enabled is not False else [])]
    return {
        "ifname": name,
        "flags": [*flags, *(["LOWER_UP"] if interface.oper_up else [])],
        "mtu": interface.mtu_bytes or DEFAULT_MTU,
        "operstate": "UP" if interface.oper_up else "DOWN",
        "addr_info": list(_addresses(_dict(configured, name))),
    }


def _addresses(settings: Json) -> Iterator[Json]:
    for family, kind in (("ipv4", "inet"), ("ipv6", "inet6")):
        for prefix in _dict(_dict(settings, family), "address"):
            address, _, length = prefix.partition("/")
            yield {"family": kind, "local": address, "prefixlen": int(length or 32), "scope": "global"}


def _dict(tree: Any, name: str) -> Json:
    child = tree.get(name)
    return child if isinstance(child, dict) else {}
