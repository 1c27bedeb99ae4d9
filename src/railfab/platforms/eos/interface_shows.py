"""Show commands of a virtual switch with EOS about its interfaces, as text and as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from ipaddress import ip_interface
from typing import Any

from railfab.platforms.eos.answers import answer, json_text, require_json, table, unknown
from railfab.platforms.eos.port_state import ShownInterface, short_name, shown_interfaces
from railfab.platforms.twin_face import VirtualDevice

Json = dict[str, Any]

COUNTERS = {
    "inOctets": ("receive_bytes", ""),
    "inUcastPkts": ("receive_packets", "unicast"),
    "inMulticastPkts": ("receive_packets", "multicast"),
    "inBroadcastPkts": ("receive_packets", "broadcast"),
    "inDiscards": ("receive_discards", ""),
    "outOctets": ("transmit_bytes", ""),
    "outUcastPkts": ("transmit_packets", "unicast"),
    "outMulticastPkts": ("transmit_packets", "multicast"),
    "outBroadcastPkts": ("transmit_packets", "broadcast"),
    "outDiscards": ("transmit_discards", ""),
}
"""Counters of a port by EOS's names (NAPALM's recordings)."""
ERRORS = {
    "totalInErrors": ("receive_errors", ""),
    "totalOutErrors": ("transmit_errors", ""),
    "fcsErrors": ("receive_fcs_errors", ""),
}
STATUS_HEAD = (
    "Port       Name                   Status       Vlan        Duplex  Speed Type         Flags Encapsulation"
)


class EosInterfaceShows:
    """Commands that show interfaces. interface: the only one that is asked for; empty for all."""

    device: VirtualDevice

    def _interfaces(self, interface: str) -> list[ShownInterface]:
        interfaces = shown_interfaces(self.device, interface)
        if interface and not interfaces:
            raise unknown()
        return interfaces

    def _ports(self, interface: str) -> list[ShownInterface]:
        return [each for each in self._interfaces(interface) if each.port is not None]

    def show_interfaces(self, interface: str = "", form: str = "text") -> str:
        interfaces = self._interfaces(interface)
        if form == "json":
            return json_text({"interfaces": {each.name: _interface_json(each) for each in interfaces}})
        return "".join(f"{line}\n" for each in interfaces for line in _interface_text(each))

    def show_status(self, interface: str = "", form: str = "text") -> str:
        ports = self._ports(interface)
        return answer(
            form,
            lambda: {"interfaceStatuses": {each.name: _status_json(each) for each in ports}},
            lambda: [STATUS_HEAD, *map(_status_text, ports)],
        )

    def show_descriptions(self, interface: str = "", form: str = "text") -> str:
        interfaces = self._interfaces(interface)
        return answer(
            form,
            lambda: {"interfaceDescriptions": {each.name: _description_json(each) for each in interfaces}},
            lambda: table(
                "{:<30} {:<14} {:<18} {}",
                ("Interface", "Status", "Protocol", "Description"),
                [(short_name(each.name), _admin(each), each.protocol, each.description) for each in interfaces],
            ),
        )

    def show_counters(self, interface: str = "", form: str = "text") -> str:
        require_json(form)
        return json_text({"interfaces": {each.name: counters(each, COUNTERS) for each in self._ports(interface)}})

    def show_counters_errors(self, interface: str = "", form: str = "text") -> str:
        require_json(form)
        return json_text({"interfaceErrorCounters": {each.name: _errors_json(each) for each in self._ports(interface)}})

    def show_ip_interface(self, interface: str = "", form: str = "text") -> str:
        require_json(form)
        interfaces = [each for each in self._interfaces(interface) if each.addresses(4)]
        return json_text({"interfaces": {each.name: _ipv4_json(each) for each in interfaces}})

    def show_ipv6_interface(self, interface: str = "", form: str = "text") -> str:
        require_json(form)
        interfaces = [each for each in self._interfaces(interface) if each.has_ipv6]
        return json_text({"interfaces": {each.name: _ipv6_json(each) for each in interfaces}})

    def show_ip_brief(self, form: str = "text") -> str:
        routed = [each for each in self._interfaces("") if each.routed]
        return answer(
            form,
            None,
            lambda: table(
                "{:<22} {:<18} {:<10} {:<14} {:>5}",
                ("Interface", "IP Address", "Status", "Protocol", "MTU"),
                [
                    (
                        each.name,
                        next(iter(each.addresses(4)), "unassigned"),
                        each.protocol,
                        each.protocol,
                        each.mtu_bytes,
                    )
                    for each in routed
                ],
            ),
        )


def counters(interface: ShownInterface, names: dict[str, tuple[str, str]]) -> dict[str, int]:
    """Counters of an interface by EOS's names; none for one that is no port."""
    held = interface.counters
    return {} if held is None else {name: held.get(key, 0) for name, key in names.items()}


def _interface_json(shown: ShownInterface) -> Json:
    counted = counters(shown, COUNTERS | ERRORS)
    fcs = counted.pop("fcsErrors", 0)
    changed = {} if shown.changed_s is None else {"lastStatusChangeTimestamp": shown.changed_s}
    detail = {"linkStatusChanges": shown.transitions, "inputErrorsDetail": {"fcsErrors": fcs}} if counted else {}
    return {
        "name": shown.name,
        "description": shown.description,
        "interfaceStatus": shown.status,
        "lineProtocolStatus": shown.protocol,
        "mtu": shown.mtu_bytes,
        "bandwidth": shown.bandwidth_bps,
        "forwardingModel": "routed" if shown.routed else "bridged",
        "hardware": "ethernet" if shown.port else "loopback",
        **({"physicalAddress": shown.mac, "burnedInAddress": shown.mac, "duplex": "duplexFull"} if shown.port else {}),
        "interfaceAddress": [_address_json(shown)] if shown.addresses(4) else [],
        **changed,
        "interfaceCounters": {**counted, **detail},
    }


def _interface_text(shown: ShownInterface) -> Iterator[str]:
    words = {"notconnect": "down", "disabled": "administratively down"}
    yield f"{shown.name} is {words.get(shown.status, 'up')}, line protocol is {shown.protocol} ({shown.status})"
    if shown.port is None:
        yield "  Hardware is Loopback"
    else:
        yield f"  Hardware is Ethernet, address is {shown.mac} (bia {shown.mac})"
    if shown.description:
        yield f"  Description: {shown.description}"
    for address in shown.addresses(4)[:1]:
        yield f"  Internet address is {address}"
        yield "  Broadcast address is 255.255.255.255"
    width = f", BW {shown.bandwidth_bps // 1000} kbit" if shown.port else ""
    yield f"  {'IP' if shown.routed else 'Ethernet'} MTU {shown.mtu_bytes} bytes{width}"
    if shown.port is not None:
        yield from _port_text(shown, shown.port.rate_gbps)


def _port_text(shown: ShownInterface, rate_gbps: float) -> Iterator[str]:
    held = counters(shown, COUNTERS | ERRORS)
    yield f"  Full-duplex, {rate_gbps:g}Gb/s"
    if shown.changed_s is not None:
        yield f"  {'Up' if shown.oper_up else 'Down'} {_duration(time.time() - shown.changed_s)}"
    yield f"  {shown.transitions} link status changes since last clear"
    for way, verb, octets in (("in", "Received", "input"), ("out", "Sent", "output")):
        packets = sum(held[f"{way}{cast}Pkts"] for cast in ("Ucast", "Multicast", "Broadcast"))
        yield f"     {packets} packets {octets}, {held[f'{way}Octets']} bytes"
        yield f"     {verb} {held[f'{way}BroadcastPkts']} broadcasts, {held[f'{way}MulticastPkts']} multicast"
        if way == "in":
            yield (
                f"     {held['totalInErrors']} input errors, {held['fcsErrors']} CRC, 0 alignment, 0 symbol, "
                f"{held['inDiscards']} input discards"
            )
    yield f"     {held['totalOutErrors']} output errors, 0 collisions"
    yield f"     0 late collision, 0 deferred, {held['outDiscards']} output discards"


def _duration(seconds: float) -> str:
    """`21 minutes, 40 seconds`."""
    left = max(0, int(seconds))
    parts = []
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        number, left = divmod(left, length)
        if number or unit == "second":
            parts.append(f"{number} {unit}{'' if number == 1 else 's'}")
    return ", ".join(parts)


def _status_json(shown: ShownInterface) -> Json:
    mode = "routed" if shown.routed else "bridged"
    return {
        "linkStatus": shown.status,
        "lineProtocolStatus": shown.protocol,
        "description": shown.description,
        "bandwidth": shown.bandwidth_bps,
        "duplex": "duplexFull",
        "vlanInformation": {"interfaceMode": mode, "interfaceForwardingModel": mode},
    }


def _status_text(shown: ShownInterface) -> str:
    assert shown.port is not None
    short, speed, vlan = short_name(shown.name), f"{shown.port.rate_gbps:g}G", "routed" if shown.routed else "1"
    return f"{short:<10} {shown.description[:22]:<22} {shown.status:<12} {vlan:<11} full    {speed:<5} EbraTestPhyPort"


def _admin(shown: ShownInterface) -> str:
    return {"disabled": "admin down", "notconnect": "down"}.get(shown.status, "up")


def _description_json(shown: ShownInterface) -> Json:
    status = {"disabled": "adminDown", "notconnect": "down"}.get(shown.status, "up")
    return {"description": shown.description, "interfaceStatus": status, "lineProtocolStatus": shown.protocol}


def _errors_json(shown: ShownInterface) -> Json:
    held = counters(shown, ERRORS)
    return {"inErrors": held["totalInErrors"], "outErrors": held["totalOutErrors"], "fcsErrors": held["fcsErrors"]}


def _address_json(shown: ShownInterface) -> Json:
    primary, *rest = [ip_interface(each) for each in shown.addresses(4)]
    return {
        "primaryIp": {"address": str(primary.ip), "maskLen": primary.network.prefixlen},
        "secondaryIps": {},
        "secondaryIpsOrderedList": [{"address": str(each.ip), "maskLen": each.network.prefixlen} for each in rest],
        "broadcastAddress": "255.255.255.255",
        "virtualIp": {"address": "0.0.0.0", "maskLen": 0},
    }


def _ip_json(shown: ShownInterface) -> Json:
    states = {"interfaceStatus": shown.status, "lineProtocolStatus": shown.protocol}
    return {"name": shown.name, "vrf": shown.vrf, **states}


def _ipv4_json(shown: ShownInterface) -> Json:
    facts = {"mtu": shown.mtu_bytes, "description": shown.description, "enabled": shown.status != "disabled"}
    return {**_ip_json(shown), **facts, "interfaceAddress": _address_json(shown)}


def _ipv6_json(shown: ShownInterface) -> Json:
    addresses = [ip_interface(each) for each in shown.addresses(6)]
    listed = [{"address": str(each.ip), "subnet": f"{each.network}", "active": shown.oper_up} for each in addresses]
    return {**_ip_json(shown), "state": "enabled", "addresses": listed}
