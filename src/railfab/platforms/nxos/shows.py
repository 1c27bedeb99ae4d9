"""State of a virtual switch with NX-OS as it shows it, as text and as JSON.

Keys of JSON: those that NAPALM and telegraf's readers take from switches; a table with one row has it without a list.
Texts: as ntc-templates has them.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

from railfab.device import DEFAULT_INSTANCE, ObservedBgpSession, ObservedInterface
from railfab.platforms.nxos.names import device_name, vrf_name
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.twin_face import VirtualArpEntry, VirtualDevice, VirtualNeighbor, VirtualPort

Json = dict[str, Any]

VERSION = "10.5(3)"
_SECTION = re.compile(r"^interface (\S+)\n((?:  .*\n)*)", re.MULTILINE)
_DESCRIPTION = re.compile(r"^  description (.*)$", re.MULTILINE)
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
        _require_json(form)
        descriptions, ports = self._descriptions(), {port.name: port for port in self.device.ports()}
        counters = self._counters()
        rows = [
            _interface(each, ports.get(each.name), descriptions, counters.get(each.name, {}))
            for each in self.device.observe().interfaces
        ]
        return _text(_table("interface", rows))

    def show_status(self, form: str = "text") -> str:
        descriptions, ports = self._descriptions(), self.device.ports()
        if form == "json":
            return _text(_table("interface", [_status_row(port, descriptions) for port in ports]))
        head = "Port          Name               Status    Vlan      Duplex  Speed   Type"
        lines = ["", _RULE, head, _RULE]
        for port in ports:
            name, vlan = descriptions.get(port.name, "--")[:18], "routed" if port.routed else "1"
            speed = f"{port.rate_gbps:g}G"
            lines.append(f"{_short(port.name):<13} {name:<18} {_status(port):<9} {vlan:<9} full    {speed:<7} --")
        return _lines(lines)

    def show_lldp(self, form: str = "text") -> str:
        heard = [(port, neighbor) for port in self.device.ports() for neighbor in port.neighbors]
        if form == "json":
            return _text(_table("nbor", [_lldp_row(port.name, each) for port, each in heard]))
        lines = [_CAPABILITIES]
        for port, each in heard:
            name = f"{each.name:<20} " if len(each.name) <= 20 else f"{each.name}\n{'':<21}"
            lines.append(f"{name}{_short(port.name):<15} {120:<10} {'BR':<11} {each.port}")
        return _lines([*lines, f"Total entries displayed: {len(heard)}"])

    def show_lldp_detail(self, form: str = "text") -> str:
        _require_json(form)
        rows = [_lldp_row(port.name, each) for port in self.device.ports() for each in port.neighbors]
        return _text({**_table("nbor_detail", rows), "neigh_count": len(rows)})

    def show_bgp_sessions(self, form: str = "text") -> str:
        _require_json(form)
        asn, router_id = self._speaker()
        vrfs = self._by_vrf(lambda sessions: _table("neighbor", list(map(_session_row, sessions))))
        rows = [{"vrf-name-out": name, "local-as": asn, "router-id": router_id, **table} for name, table in vrfs]
        return _text({"localas": asn, **_table("vrf", rows)})

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
            lines.append(f"{_address(each):<15} 4 {each.remote_as!s:>5} {counted} {state}")
        return _lines(lines)

    def show_bfd(self, form: str = "text") -> str:
        sessions = [each for each in self.device.observe().sessions if each.bfd_up is not None]
        if form == "json":
            return _text(_table("bfdNeighbor", list(map(_bfd_row, sessions))))
        lines = [
            "OurAddr         NeighAddr       LD/RD                 RH/RS           Holdown(mult)     State       "
            "Int                   Vrf"
        ]
        for each in sessions:
            row, state = _bfd_row(each), "Up" if each.bfd_up else "Down"
            lines.append(
                f"{'0.0.0.0':<15} {_address(each):<15} {'1/1':<21} {state:<15} {'0(3)':<17} {state:<11} "
                f"{row['intf']:<21} {row['vrf_name']}"
            )
        return _lines(lines)

    def show_arp(self, form: str = "text") -> str:
        _require_json(form)
        rows = [_arp_row("ip-addr-out", name, entry) for name, entry in self._resolved(4)]
        vrf = {"vrf-name-out": "default", "cnt-total": len(rows), **_table("adj", rows)}
        return _text(_table("vrf", [vrf]))

    def show_nd(self, form: str = "text") -> str:
        _require_json(form)
        rows = [_arp_row("ipv6-addr", name, entry) for name, entry in self._resolved(6)]
        family = {"afi": "ipv6", "count": len(rows), **_table("adj", rows)}
        return _text(_table("vrf", [{"vrf-name-out": "default", **_table("afi", [family])}]))

    def _speaker(self) -> tuple[str, str]:
        """The AS number and the router ID; empty without BGP."""
        running = self.device.running()
        return _first(_AS_NUMBER, running), _first(_ROUTER_ID, running)

    def _resolved(self, version: int) -> list[tuple[str, VirtualArpEntry]]:
        entries = [(port.name, entry) for port in self.device.ports() for entry in port.resolved]
        return [(name, entry) for name, entry in entries if entry.address.version == version]

    def _by_vrf(self, table: Callable[[list[ObservedBgpSession]], Json]) -> list[tuple[str, Json]]:
        vrfs: dict[str, list[ObservedBgpSession]] = {DEFAULT_INSTANCE: []}
        for session in self.device.observe().sessions:
            vrfs.setdefault(session.network_instance, []).append(session)
        return [(vrf_name(instance), table(sessions)) for instance, sessions in vrfs.items()]

    def _descriptions(self) -> dict[str, str]:
        sections = _SECTION.finditer(self.device.running())
        return {match[1]: text[1] for match in sections if (text := _DESCRIPTION.search(match[2]))}

    def _counters(self) -> dict[str, dict[str, int]]:
        """Counters of each port, by NX-OS's names."""
        counters: dict[str, dict[str, int]] = {}
        for metric, labels, value in self.device.readings():
            if (name := COUNTERS.get(metric)) is not None:
                of_port = counters.setdefault(labels["interface"], dict.fromkeys(COUNTERS.values(), 0))
                of_port[name] += int(value)
        return counters


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


def _table(name: str, rows: list[Json]) -> Json:
    """A table as NX-OS writes it: one row is not in a list, and without rows there is none."""
    if not rows:
        return {}
    return {f"TABLE_{name}": {f"ROW_{name}": rows[0] if len(rows) == 1 else rows}}


def _short(name: str) -> str:
    """`Eth1/1` of `Ethernet1/1`."""
    return name.replace("Ethernet", "Eth")


def _mac(*names: str) -> str:
    """A MAC address that is always that of these names, in a range of Cisco's, as NX-OS writes it."""
    digits = sha256(" ".join(names).encode()).hexdigest()[:6]
    return f"5087.89{digits[:2]}.{digits[2:]}"


def _interface(
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


def _status(port: VirtualPort) -> str:
    if port.fault == "disabled":
        return "disabled"
    return "notconnec" if port.fault else "connected"


def _status_row(port: VirtualPort, descriptions: Mapping[str, str]) -> Json:
    return {
        "interface": port.name,
        "name": descriptions.get(port.name, "--"),
        "state": _status(port),
        "vlan": "routed" if port.routed else "1",
        "duplex": "full",
        "speed": f"{port.rate_gbps:g}G",
        "type": "--",
    }


def _lldp_row(port: str, neighbor: VirtualNeighbor) -> Json:
    return {
        "chassis_id": _mac(neighbor.name, "system"),
        "l_port_id": _short(port),
        "port_id": neighbor.port,
        "port_desc": neighbor.description,
        "sys_name": neighbor.name,
        "ttl": "120",
    }


def _address(session: ObservedBgpSession) -> str:
    """The address of a peer; of an unnumbered one a link-local address with the interface."""
    if not isinstance(session.peer, str):
        return str(session.peer)
    low = sha256(f"{session.neighbor_device} {session.peer}".encode()).hexdigest()[:6]
    return f"fe80::5287:89ff:fe{low[:2]}:{low[2:]}%{device_name(session.peer)}"


def _session_row(session: ObservedBgpSession) -> Json:
    return {
        "neighbor-id": _address(session),
        "remoteas": str(session.remote_as),
        "state": session.state.capitalize(),
        "connectionsdropped": "0",
        "lastflap": "00:00:00",
        "localport": "179",
        "remoteport": "179",
    }


def _bfd_row(session: ObservedBgpSession) -> Json:
    address = _address(session).partition("%")[0]
    v4, v6 = ("0.0.0.0", address) if ":" in address else (address, "0::")
    state = "Up" if session.bfd_up else "Down"
    return {
        "vrf_name": vrf_name(session.network_instance),
        "dest_ip_addr": v4,
        "dest_ipv6_addr": v6,
        "local_state": state,
        "remote_state": state,
        "intf": device_name(session.interface) if session.interface else "",
    }


def _arp_row(key: str, port: str, entry: VirtualArpEntry) -> Json:
    name = device_name(port)
    return {key: str(entry.address), "mac": _mac(entry.device, entry.port), "intf-out": name, "time-stamp": "00:00:00"}


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
