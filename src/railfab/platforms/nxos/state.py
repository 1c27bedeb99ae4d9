"""Live state of a switch with NX-OS, from the JSON of its show commands, and of PFC from its text.

No command shows which queues are marked or how code points are mapped other than by the configuration.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

from railfab.device import DEFAULT_INSTANCE, IpAddress, Observed, ObservedBgpSession, ObservedInterface
from railfab.platforms.nxos.names import instance_name, interface_name

Json = Mapping[str, Any]

_SHORT = {"Eth": "Ethernet", "Po": "port-channel", "Lo": "loopback"}
_PFC = re.compile(r"^(Ethernet\S+) +(?:On|Off|Auto) +(?:Off|On +\(([0-9a-f]+)\)) +\d+ +\d+ *$", re.MULTILINE)
"""PFC of a port: how it is configured, and the bitmap of the priorities with which it runs, in hexadecimal."""
_BEST_PATHS = re.compile(r"ubest/mbest: (\d+)/")
_SHORTENED = re.compile(r"(Eth|Po|Lo)(\d\S*)")


def observed_state(answers: Mapping[str, Json], pfc: str = "") -> Observed:
    """Interfaces with their neighbours, and BGP sessions.

    answers: by name of the verb in `dialect.yml`; without `arp` no resolved addresses are reported. pfc: text of
    `show interface priority-flow-control`.
    """
    paused = _pfc(pfc)
    heard = {_name(row["l_port_id"]): row for row in _rows(answers["lldp"], "nbor_detail")}
    resolved = _resolved(answers["arp"], answers["nd"]) if "arp" in answers else None
    return Observed(
        interfaces=tuple(
            replace(
                _interface(name, row, heard.get(name, {})),
                resolved_addresses=None if resolved is None else resolved.get(name, frozenset()),
                pfc=paused.get(name),
            )
            for row in _rows(answers["interfaces"], "interface")
            for name in (_name(row["interface"]),)
        ),
        sessions=tuple(_sessions(answers["sessions"], answers["bfd"])),
    )


def next_hop_widths(*tables: str) -> Counter[int]:
    """Number of prefixes by the number of their best paths. tables: of `show ip route bgp`, lines of prefixes."""
    return Counter(int(match[1]) for table in tables for match in _BEST_PATHS.finditer(table))


def _pfc(text: str) -> dict[str, frozenset[int]]:
    """The priorities with which each port runs PFC, by its name."""
    bitmaps = {_name(match[1]): int(match[2] or "0", 16) for match in _PFC.finditer(text)}
    return {name: frozenset(bit for bit in range(8) if bitmap >> bit & 1) for name, bitmap in bitmaps.items()}


def _rows(answer: Json, name: str) -> list[Json]:
    """The rows of a table: none where it is missing, and one that is in no list."""
    rows = (answer.get(f"TABLE_{name}") or {}).get(f"ROW_{name}", [])
    return rows if isinstance(rows, list) else [rows]


def _name(interface: str) -> str:
    """The name of an interface in the model, of its name in full or short: `Eth1/1`."""
    match = _SHORTENED.fullmatch(interface)
    return interface_name(f"{_SHORT[match[1]]}{match[2]}" if match else interface)


def _interface(name: str, row: Json, heard: Json) -> ObservedInterface:
    """An interface; an SVI has keys of its own (NAPALM)."""
    return ObservedInterface(
        name=name,
        oper_up=row.get("svi_line_proto", row.get("state")) == "up",
        enabled=row.get("svi_admin_state", row.get("admin_state", "up")) == "up",
        mtu_bytes=_number(row.get("svi_mtu", row.get("eth_mtu"))),
        neighbor_device=heard.get("sys_name"),
        neighbor_interface=heard.get("port_id"),
    )


def _resolved(arp: Json, nd: Json) -> dict[str, frozenset[IpAddress]]:
    """Addresses by interface."""
    addresses: dict[str, frozenset[IpAddress]] = {}
    entries = [(row, "ip-addr-out") for vrf in _rows(arp, "vrf") for row in _rows(vrf, "adj")]
    for vrf in _rows(nd, "vrf"):
        entries += [(row, "ipv6-addr") for family in _rows(vrf, "afi") for row in _rows(family, "adj")]
    for row, key in entries:
        if key in row and "intf-out" in row:
            name = _name(row["intf-out"])
            addresses[name] = addresses.get(name, frozenset()) | {ip_address(row[key])}
    return addresses


def _sessions(answer: Json, bfd: Json) -> Iterator[ObservedBgpSession]:
    states = {_bfd_key(row): row.get("local_state") == "Up" for row in _rows(bfd, "bfdNeighbor")}
    for vrf in _rows(answer, "vrf"):
        for row in _rows(vrf, "neighbor"):
            yield _session(vrf["vrf-name-out"], row, states)


def _session(vrf: str, row: Json, bfd: Mapping[tuple[str, str], bool]) -> ObservedBgpSession:
    address, _, interface = row["neighbor-id"].partition("%")
    name = _name(interface) if interface else None
    return ObservedBgpSession(
        peer=name or ip_address(address),
        state=row["state"].lower(),
        network_instance=DEFAULT_INSTANCE if vrf == "default" else instance_name(vrf),
        interface=name,
        remote_as=_number(row.get("remoteas")),
        bfd_up=bfd.get((vrf, address)),
    )


def _bfd_key(row: Json) -> tuple[str, str]:
    """VRF and address of the peer of a BFD session; an IPv6 session has no IPv4 address."""
    v6 = row.get("dest_ipv6_addr", "0::")
    return row.get("vrf_name", ""), row.get("dest_ip_addr", "") if v6 in ("0::", "::") else v6


def _number(value: object) -> int | None:
    """A number, which NX-OS may show as text; an AS number in dotted form too. None for what is none."""
    high, _, low = str(value).partition(".")
    if low.isdecimal() and high.isdecimal():
        return (int(high) << 16) + int(low)
    return int(high) if high.isdecimal() and not low else None
