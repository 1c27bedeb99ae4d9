"""State of a virtual switch with NX-OS as it shows it, as text and as JSON.

Texts: as ntc-templates reads them.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping

from railfab.device import DEFAULT_INSTANCE, ObservedBgpSession
from railfab.platforms.nxos.interface_text import interface_text
from railfab.platforms.nxos.names import vrf_name
from railfab.platforms.nxos.show_rows import (
    Json,
    address,
    arp_row,
    bfd_row,
    interface_row,
    lldp_row,
    session_row,
    short_name,
    status,
    status_row,
    table,
)
from railfab.platforms.shared.port_facts import port_counters, port_descriptions
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.twin_face import VirtualArpEntry, VirtualDevice

VERSION = "10.5(3)"
MOST_BEFORE_COUNTERS = 23
"""Columns of the neighbour and its AS number; counters of a longer row stand in the next one."""
_AS_NUMBER = re.compile(r"^router bgp (\S+)$", re.MULTILINE)
_ROUTER_ID = re.compile(r"^  router-id (\S+)$", re.MULTILINE)
_NO_TEXT = "% Unavailable command (a virtual switch has it with | json)"
_CAPABILITIES = """Capability codes:
  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other
Device ID            Local Intf      Hold-time  Capability  Port ID  """
_RULE = "-" * 80


class NxosShows:
    """Commands that show state; NxosCli derives from it."""

    device: VirtualDevice

    def uptime_s(self) -> float:
        """Time since the switch booted [s]."""
        return time.time() - self.device.chassis().started_s

    def show_version(self, form: str = "text") -> str:
        chassis = self.device.chassis()
        minutes, seconds = divmod(int(self.uptime_s()), 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        if form == "json":
            return _text(
                {
                    "header_str": "Cisco Nexus Operating System (NX-OS) Software\n",
                    "nxos_ver_str": VERSION,
                    "chassis_id": f"Nexus9000 {chassis.model}",
                    "host_name": chassis.system_name,
                    "kern_uptm_days": days,
                    "kern_uptm_hrs": hours,
                    "kern_uptm_mins": minutes,
                    "kern_uptm_secs": seconds,
                    "manufacturer": "Cisco Systems, Inc.",
                }
            )
        return (
            "Cisco Nexus Operating System (NX-OS) Software\n\nSoftware\n"
            f"  NXOS: version {VERSION}\n\nHardware\n  cisco Nexus9000 {chassis.model} Chassis \n"
            f"  Device name: {chassis.system_name}\n\n"
            f"Kernel uptime is {days} day(s), {hours} hour(s), {minutes} minute(s), {seconds} second(s)\n"
        )

    def show_hostname(self, form: str = "text") -> str:
        name = self.device.chassis().system_name
        return _text({"hostname": name}) if form == "json" else f"{name} \n"

    def show_interfaces(self, form: str = "text") -> str:
        descriptions, ports = (
            port_descriptions(self.device.running()),
            {port.name: port for port in self.device.ports()},
        )
        counters = port_counters(self.device, COUNTERS)
        rows = [
            interface_row(each, ports.get(each.name), descriptions, counters.get(each.name, {}))
            for each in self.device.observe().interfaces
        ]
        if form == "text":
            return "\n".join(map(interface_text, rows))
        return _text(table("interface", rows))

    def show_status(self, form: str = "text") -> str:
        descriptions, ports = port_descriptions(self.device.running()), self.device.ports()
        if form == "json":
            return _text(table("interface", [status_row(port, descriptions) for port in ports]))
        head = "Port          Name               Status    Vlan      Duplex  Speed   Type"
        lines = ["", _RULE, head, _RULE]
        for port in ports:
            name, vlan = descriptions.get(port.name, "--")[:18], "routed" if port.routed else "1"
            speed = f"{port.rate_gbps:g}G"
            lines.append(f"{short_name(port.name):<13} {name:<18} {status(port):<9} {vlan:<9} full    {speed:<7} --")
        return _lines(lines)

    def show_lldp(self, form: str = "text") -> str:
        heard = [(port, neighbor) for port in self.device.ports() for neighbor in port.neighbors]
        if form == "json":
            return _text(table("nbor", [lldp_row(port.name, each) for port, each in heard]))
        lines = [_CAPABILITIES]
        for port, each in heard:
            name = f"{each.name:<20} " if len(each.name) <= 20 else f"{each.name}\n{'':<21}"
            lines.append(f"{name}{short_name(port.name):<15} {120:<10} {'BR':<11} {each.port}")
        return _lines([*lines, f"Total entries displayed: {len(heard)}"])

    def show_lldp_detail(self, form: str = "text") -> str:
        _require_json(form)
        rows = [lldp_row(port.name, each) for port in self.device.ports() for each in port.neighbors]
        return _text({**table("nbor_detail", rows), "neigh_count": len(rows)})

    def show_bgp_sessions(self, form: str = "text") -> str:
        _require_json(form)
        asn, router_id = self._speaker()
        vrfs = self._by_vrf(lambda sessions: table("neighbor", list(map(session_row, sessions))))
        rows = [{"vrf-name-out": name, "local-as": asn, "router-id": router_id, **entries} for name, entries in vrfs]
        return _text({"localas": asn, **table("vrf", rows)})

    def show_bgp_summary(self, form: str = "text") -> str:
        if form == "json":
            return self.show_bgp_sessions(form)
        asn, router_id = self._speaker()
        lines = [
            "BGP summary information for VRF default, address family IPv4 Unicast",
            f"BGP router identifier {router_id}, local AS number {asn}",
            "",
            "Neighbor        V    AS MsgRcvd MsgSent   TblVer  InQ OutQ Up/Down  State/PfxRcd",
        ]
        for each in self.device.observe().sessions:
            state = "0" if each.established else each.state.capitalize()
            counted = f"{0:>7} {0:>7} {0:>8} {0:>4} {0:>4} 00:00:00"
            lines.append(f"{address(each):<15} 4 {each.remote_as!s:>5}")
            if len(lines[-1]) > MOST_BEFORE_COUNTERS:
                lines.append(" " * MOST_BEFORE_COUNTERS)
            lines[-1] += f" {counted} {state}"
        return _lines(lines)

    def show_bfd(self, form: str = "text") -> str:
        sessions = [each for each in self.device.observe().sessions if each.bfd_up is not None]
        if form == "json":
            return _text(table("bfdNeighbor", list(map(bfd_row, sessions))))
        lines = [
            "OurAddr         NeighAddr       LD/RD                 RH/RS           Holdown(mult)     State       "
            "Int                   Vrf                              Type"
        ]
        for each in sessions:
            row, state = bfd_row(each), "Up" if each.bfd_up else "Down"
            lines.append(
                f"{'0.0.0.0':<15} {address(each):<15} {'1/1':<21} {state:<15} {'0(3)':<17} {state:<11} "
                f"{row['intf']:<21} {row['vrf_name']:<32} SH"
            )
        return _lines(lines)

    def show_arp(self, form: str = "text") -> str:
        _require_json(form)
        rows = [arp_row("ip-addr-out", name, entry) for name, entry in self._resolved(4)]
        vrf = {"vrf-name-out": "default", "cnt-total": len(rows), **table("adj", rows)}
        return _text(table("vrf", [vrf]))

    def show_nd(self, form: str = "text") -> str:
        _require_json(form)
        rows = [arp_row("ipv6-addr", name, entry) for name, entry in self._resolved(6)]
        family = {"afi": "ipv6", "count": len(rows), **table("adj", rows)}
        return _text(table("vrf", [{"vrf-name-out": "default", **table("afi", [family])}]))

    def _speaker(self) -> tuple[str, str]:
        """The AS number and the router ID; empty without BGP."""
        running = self.device.running()
        return _first(_AS_NUMBER, running), _first(_ROUTER_ID, running)

    def _resolved(self, version: int) -> list[tuple[str, VirtualArpEntry]]:
        entries = [(port.name, entry) for port in self.device.ports() for entry in port.resolved]
        return [(name, entry) for name, entry in entries if entry.address.version == version]

    def _by_vrf(self, shown: Callable[[list[ObservedBgpSession]], Json]) -> list[tuple[str, Json]]:
        vrfs: dict[str, list[ObservedBgpSession]] = {DEFAULT_INSTANCE: []}
        for session in self.device.observe().sessions:
            vrfs.setdefault(session.network_instance, []).append(session)
        return [(vrf_name(instance), shown(sessions)) for instance, sessions in vrfs.items()]


COUNTERS: Mapping[str, str] = {
    "fabric_interface_receive_bytes_total": "eth_inbytes",
    "fabric_interface_receive_packets_total": "eth_inpkts",
    "fabric_interface_receive_errors_total": "eth_inerr",
    "fabric_interface_receive_discards_total": "eth_indiscard",
    "fabric_interface_transmit_bytes_total": "eth_outbytes",
    "fabric_interface_transmit_packets_total": "eth_outpkts",
    "fabric_interface_transmit_errors_total": "eth_outerr",
    "fabric_interface_transmit_discards_total": "eth_outdiscard",
}
"""Names of counters in `show interface | json`."""


def _require_json(form: str) -> None:
    if form not in ("json", "json-pretty"):
        raise CliRefusal(_NO_TEXT)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


def _text(value: Json) -> str:
    return json.dumps(value) + "\n"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
