"""Show commands of a virtual switch with EOS, as text and as JSON.

Keys of JSON: those that ANTA and NAPALM read from switches. Texts: as ntc-templates has them.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

from railfab.device import DEFAULT_INSTANCE, ObservedBgpSession, ObservedInterface
from railfab.platforms.eos.names import native_name
from railfab.platforms.shared.port_facts import port_counters, port_descriptions
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.twin_face import VirtualArpEntry, VirtualDevice, VirtualNeighbor, VirtualPort

Json = dict[str, Any]

VERSION = "4.33.1F"
_SHORT = re.compile(r"([A-Z][a-z])[a-z-]*(\d\S*)")
_AS_NUMBER = re.compile(r"^router bgp (\S+)$", re.MULTILINE)
_ROUTER_ID = re.compile(r"^   router-id (\S+)$", re.MULTILINE)
_NO_TEXT = "% Unavailable command (a virtual switch has it with | json)"


class EosShows:
    """Commands that show state; EosCli derives from it."""

    VERSION = VERSION
    device: VirtualDevice

    def uptime_s(self) -> float:
        """Time since the switch booted [s]."""
        return time.time() - self.device.chassis().started_s

    def show_version(self, form: str = "text") -> str:
        chassis = self.device.chassis()
        mac = mac_address(chassis.name, "system")
        facts = {
            "mfgName": "Arista",
            "modelName": chassis.model,
            "hardwareRevision": "",
            "serialNumber": "",
            "systemMacAddress": mac,
            "version": VERSION,
            "architecture": "x86_64",
            "internalVersion": VERSION,
            "bootupTimestamp": chassis.started_s,
            "uptime": self.uptime_s(),
            "memTotal": 0,
            "memFree": 0,
        }
        if form == "json":
            return _text(facts)
        hours, minutes = divmod(int(self.uptime_s()) // 60, 60)
        return (
            f"Arista {chassis.model}\nHardware version:    \nSerial number:       \n"
            f"System MAC address:  {mac}\n\nSoftware image version: {VERSION}\nArchitecture:           x86_64\n"
            f"\nUptime:                 {hours} hours and {minutes} minutes\n"
        )

    def show_hostname(self, form: str = "text") -> str:
        name = self.device.chassis().system_name
        return _text({"hostname": name, "fqdn": name}) if form == "json" else f"Hostname: {name}\nFQDN:     {name}\n"

    def show_interfaces(self, form: str = "text") -> str:
        _require_json(form)
        descriptions, ports = (
            port_descriptions(self.device.running()),
            {port.name: port for port in self.device.ports()},
        )
        counters = port_counters(self.device, COUNTERS)
        interfaces = {
            native_name(each.name): _interface(each, ports.get(each.name), descriptions, counters.get(each.name, {}))
            for each in self.device.observe().interfaces
        }
        return _text({"interfaces": interfaces})

    def show_status(self, form: str = "text") -> str:
        descriptions = port_descriptions(self.device.running())
        if form == "json":
            statuses = {port.name: _status_json(port, descriptions.get(port.name, "")) for port in self.device.ports()}
            return _text({"interfaceStatuses": statuses})
        lines = [
            "Port       Name                   Status       Vlan        Duplex  Speed Type         Flags Encapsulation"
        ]
        for port in self.device.ports():
            name, vlan = descriptions.get(port.name, "")[:22], "routed" if port.routed else "1"
            short, speed = short_name(port.name), f"{port.rate_gbps:g}G"
            lines.append(f"{short:<10} {name:<22} {_status(port):<12} {vlan:<11} full    {speed:<5} EbraTestPhyPort")
        return _lines(lines)

    def show_lldp(self, form: str = "text") -> str:
        heard = [(port, neighbor) for port in self.device.ports() for neighbor in port.neighbors]
        if form == "json":
            entries = [
                {"port": port.name, "neighborDevice": each.name, "neighborPort": each.port, "ttl": 120}
                for port, each in heard
            ]
            return _text({"tablesInserts": len(heard), "lldpNeighbors": entries})
        lines = [
            "Last table change time   : 0:00:02 ago",
            f"Number of table inserts  : {len(heard)}",
            "Number of table deletes  : 0",
            "Number of table drops    : 0",
            "Number of table age-outs : 0",
            "",
            "Port       Neighbor Device ID             Neighbor Port ID           TTL",
        ]
        lines += [f"{short_name(port.name):<10} {each.name:<30} {each.port:<26} 120" for port, each in heard]
        return _lines(lines)

    def show_lldp_detail(self, form: str = "text") -> str:
        _require_json(form)
        ports = {port.name: {"lldpNeighborInfo": [*map(_lldp_json, port.neighbors)]} for port in self.device.ports()}
        return _text({"lldpNeighbors": ports})

    def show_bgp_neighbors(self, form: str = "text") -> str:
        _require_json(form)
        return _text({"vrfs": self._by_vrf(lambda peers: {"peerList": [_peer(*each) for each in peers]})})

    def show_bgp_summary(self, form: str = "text") -> str:
        running = self.device.running()
        asn, router_id = (_first(pattern, running) for pattern in (_AS_NUMBER, _ROUTER_ID))
        if form == "json":
            facts = {"routerId": router_id, "asn": asn}
            summary = self._by_vrf(
                lambda peers: {**facts, "peers": {_address(each): _summary(each) for each, _ in peers}}
            )
            return _text({"vrfs": {vrf: {"vrf": vrf, **entry} for vrf, entry in summary.items()}})
        lines = [
            "BGP summary information for VRF default",
            f"Router identifier {router_id}, local AS number {asn}",
            "Neighbor Status Codes: m - Under maintenance",
            "  Neighbor                 V AS           MsgRcvd   MsgSent  InQ OutQ  Up/Down State   PfxRcd PfxAcc",
        ]
        for each in self.device.observe().sessions:
            state = "Estab   0      0" if each.established else each.state.capitalize()
            lines.append(
                f"  {_address(each):<24} 4 {each.remote_as!s:<12}       0         0    0    0 00:00:00 {state}"
            )
        return _lines(lines)

    def show_bfd(self, form: str = "text") -> str:
        _require_json(form)
        return _text({"vrfs": self._by_vrf(_bfd)})

    def show_arp(self, form: str = "text") -> str:
        _require_json(form)
        return _text({"vrfs": {"default": {"ipV4Neighbors": self._resolved(4)}}})

    def show_nd(self, form: str = "text") -> str:
        _require_json(form)
        return _text({"vrfs": {"default": {"ipV6Neighbors": self._resolved(6)}}})

    def _resolved(self, version: int) -> list[Json]:
        entries = [(port.name, entry) for port in self.device.ports() for entry in port.resolved]
        return [_arp(name, entry) for name, entry in entries if entry.address.version == version]

    def _by_vrf(self, shown: Callable[[list[tuple[ObservedBgpSession, str]]], Json]) -> dict[str, Json]:
        """By VRF, what is shown of its sessions, each with the router ID of its peer."""
        vrfs: dict[str, list[tuple[ObservedBgpSession, str]]] = {DEFAULT_INSTANCE: []}
        for session, known in zip(self.device.observe().sessions, self.device.sessions(), strict=False):
            peer_id = known.peer_router_id or "0.0.0.0"
            vrfs.setdefault(session.network_instance, []).append((session, peer_id))
        return {vrf: shown(sessions) for vrf, sessions in vrfs.items()}


COUNTERS: Mapping[str, str] = {
    "fabric_interface_receive_bytes_total": "inOctets",
    "fabric_interface_receive_packets_total": "inTotalPkts",
    "fabric_interface_receive_errors_total": "totalInErrors",
    "fabric_interface_receive_discards_total": "inDiscards",
    "fabric_interface_transmit_bytes_total": "outOctets",
    "fabric_interface_transmit_packets_total": "outTotalPkts",
    "fabric_interface_transmit_errors_total": "totalOutErrors",
    "fabric_interface_transmit_discards_total": "outDiscards",
}
"""Names of counters in `interfaceCounters` of `show interfaces | json`."""


def short_name(name: str) -> str:
    """`Et1/1` of `Ethernet1/1`."""
    match = _SHORT.fullmatch(native_name(name))
    return f"{match[1]}{match[2]}" if match else name


def mac_address(*names: str) -> str:
    """A MAC address that is always that of these names, in Arista's range, as EOS writes it."""
    digits = sha256(" ".join(names).encode()).hexdigest()[:6]
    return f"001c.73{digits[:2]}.{digits[2:]}"


def _interface(
    interface: ObservedInterface, port: VirtualPort | None, descriptions: Mapping[str, str], counters: Json
) -> Json:
    name = native_name(interface.name)
    status = _status(port) if port else "connected"
    return {
        "name": name,
        "description": descriptions.get(name, ""),
        "interfaceStatus": status,
        "lineProtocolStatus": "up" if interface.oper_up else "down",
        "mtu": interface.mtu_bytes or 1500,
        "bandwidth": int(port.rate_gbps * 1_000_000_000) if port else 0,
        "forwardingModel": "routed" if port is None or port.routed else "bridged",
        "hardware": "ethernet" if port else "loopback",
        "physicalAddress": mac_address(name),
        "interfaceCounters": counters,
    }


def _status(port: VirtualPort) -> str:
    if port.fault == "disabled":
        return "disabled"
    return "notconnect" if port.fault else "connected"


def _status_json(port: VirtualPort, description: str) -> Json:
    return {
        "linkStatus": _status(port),
        "lineProtocolStatus": "down" if port.fault else "up",
        "description": description,
        "bandwidth": int(port.rate_gbps * 1_000_000_000),
        "duplex": "duplexFull",
    }


def _lldp_json(neighbor: VirtualNeighbor) -> Json:
    interface = {
        "interfaceIdType": "interfaceName",
        "interfaceId": f'"{neighbor.port}"',
        "interfaceId_v2": neighbor.port,
        "interfaceDescription": neighbor.description,
    }
    return {"systemName": neighbor.name, "neighborInterfaceInfo": interface}


def _address(session: ObservedBgpSession) -> str:
    """The address of a peer; of an unnumbered one a link-local address with the interface."""
    if not isinstance(session.peer, str):
        return str(session.peer)
    low = sha256(f"{session.neighbor_device} {session.peer}".encode()).hexdigest()[:6]
    return f"fe80::21c:73ff:fe{low[:2]}:{low[2:]}%{short_name(session.peer)}"


def _peer(session: ObservedBgpSession, peer_id: str) -> Json:
    interface = {} if session.interface is None else {"ifName": native_name(session.interface)}
    return {
        "peerAddress": _address(session),
        **interface,
        "asn": str(session.remote_as),
        "routerId": peer_id,
        "state": session.state.capitalize(),
        "vrf": session.network_instance,
    }


def _summary(session: ObservedBgpSession) -> Json:
    return {"peerState": session.state.capitalize(), "asn": str(session.remote_as), "peerAsn": str(session.remote_as)}


def _bfd(peers: list[tuple[ObservedBgpSession, str]]) -> Json:
    shown: Json = {"ipv4Neighbors": {}, "ipv6Neighbors": {}}
    for session, _ in peers:
        if session.bfd_up is not None:
            address = _address(session).partition("%")[0]
            stats = {
                native_name(session.interface) if session.interface else "": {
                    "status": "up" if session.bfd_up else "down"
                }
            }
            family = "ipv6Neighbors" if ":" in address else "ipv4Neighbors"
            shown[family].setdefault(address, {"peerStats": {}})["peerStats"].update(stats)
    return shown


def _arp(port: str, entry: VirtualArpEntry) -> Json:
    mac = mac_address(entry.device, entry.port)
    return {"hwAddress": mac, "address": str(entry.address), "interface": native_name(port), "age": 0}


def _require_json(form: str) -> None:
    if form != "json":
        raise CliRefusal(_NO_TEXT)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


def _text(value: Json) -> str:
    return json.dumps(value, indent=4) + "\n"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
