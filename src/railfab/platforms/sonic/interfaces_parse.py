"""Parses the tables of ports, breakouts, LAGs, loopbacks, SVIs and VLANs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
    BreakoutPort,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    Vlan,
    VlanMembership,
)
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.sonic.interfaces import ENABLE, FEC, GATEWAY_MAC, ROUTED, SAG
from railfab.platforms.sonic.names import instance_name, interface_name, number_in
from railfab.platforms.sonic.tables import DOWN, TRUE, UP, Tables, nodes, row

MODE = re.compile(r"(\d+)x(\d+)G(\[.*\])?")
"""Breakout mode: ports, their speed, and other speeds that they could have (platform.json)."""
_FECS = {text: fec for fec, text in FEC.items()}


@dataclass(frozen=True, slots=True)
class IpParts:
    """The IP interface of a device: its row, None without one, and its addresses."""

    node: ConfigNode | None
    addresses: tuple[IpInterface, ...]

    @property
    def instance(self) -> str:
        vrf = self.node.text("vrf_name") if self.node else None
        return DEFAULT_INSTANCE if vrf is None else instance_name(vrf)

    @property
    def unnumbered(self) -> bool:
        return self.node is not None and self.node.text("ipv6_use_link_local_only") == ENABLE


class InterfaceReader:
    """The interfaces of a configuration. transit: VLANs of layer 3 VNIs, which are no VLANs of the model."""

    def __init__(self, tree: Tables, problems: list[RailfabError], transit: Collection[int]) -> None:
        self._tree, self._problems, self._transit = tree, problems, transit
        self._members = {parts[1]: parts[0] for parts, _ in self._rows("PORTCHANNEL_MEMBER") if len(parts) == 2}
        self._vlans = self._memberships()
        self._ips = self._ip_interfaces()
        self._split_indexes = self._indexes_of_split_cages()

    def breakouts(self) -> Iterator[BreakoutPort]:
        """The split cages; a mode of one port leaves a cage as it is."""
        for parts, node in self._rows("BREAKOUT_CFG"):
            mode = MODE.fullmatch(node.text("brkout_mode") or "")
            if mode is None:
                node.problem(f"{node.value.get('brkout_mode')!r} is no breakout mode", "Use one such as 2x400G")
            elif int(mode[1]) > 1:
                yield BreakoutPort(cage=parts[0], lanes=int(mode[1]), rate_gbps=int(mode[2]))

    def interfaces(self) -> Iterator[Interface]:
        yield from (self._port(parts[0], node) for parts, node in self._rows("PORT"))
        yield from (self._loopback(parts[0]) for parts, _ in self._rows("LOOPBACK_INTERFACE") if len(parts) == 1)
        yield from (self._lag(parts[0], node) for parts, node in self._rows("PORTCHANNEL"))
        for parts, _ in self._rows("VLAN_INTERFACE"):
            vlan = number_in(parts[0])
            if len(parts) == 1 and vlan is not None and vlan not in self._transit:
                yield self._svi(parts[0], vlan)

    def vlans(self, vnis: Mapping[int, int]) -> Iterator[Vlan]:
        """The VLANs. vnis: of VLANs."""
        for parts, node in self._rows("VLAN"):
            vlan = number_in(parts[0])
            if vlan is not None and "vlanid" in node.value and vlan not in self._transit:
                yield Vlan(vlan_id=vlan, name=node.text("alias") or "", vni=vnis.get(vlan))

    def _rows(self, table: str) -> Iterator[tuple[tuple[str, ...], ConfigNode]]:
        return nodes(self._tree, table, self._problems)

    def _port(self, name: str, node: ConfigNode) -> Port:
        """A port; one of a broken-out cage has the speed of the mode."""
        speed = node.number("speed")
        ip, vlans = self._ip("INTERFACE", name), self._vlans.get(name)
        return Port(
            name=name,
            description=node.text("description") or "",
            enabled=node.text("admin_status") == UP,
            mtu_bytes=node.number("mtu"),
            rate_gbps=None if speed is None or self._is_split(node) else speed // 1000,
            fec=_FECS.get(node.text("fec") or ""),
            network_instance=None if vlans or name in self._members else ip.instance,
            addresses=ip.addresses,
            unnumbered=ip.unnumbered,
            vlans=vlans,
        )

    def _is_split(self, node: ConfigNode) -> bool:
        """Whether a port is one of a broken-out cage, which the switch shows by the index that they share."""
        return node.value.get("index") in self._split_indexes

    def _indexes_of_split_cages(self) -> frozenset[str]:
        ports = self._tree.get("PORT", {})
        cages = (ports.get(breakout.cage, {}).get("index") for breakout in self.breakouts())
        return frozenset(index for index in cages if index is not None)

    def _lag(self, device: str, node: ConfigNode) -> Lag:
        ip, vlans = self._ip("PORTCHANNEL_INTERFACE", device), self._vlans.get(device)
        return Lag(
            name=interface_name(device),
            description=node.text("description") or "",
            enabled=node.text("admin_status") == UP,
            mtu_bytes=node.number("mtu"),
            network_instance=None if vlans else ip.instance,
            addresses=ip.addresses,
            unnumbered=ip.unnumbered,
            members=tuple(port for port, lag in self._members.items() if lag == device),
            esi=row(self._tree, "EVPN_ETHERNET_SEGMENT", device).get("esi"),
            system_mac=node.text("system_mac"),
            mlag_id=self._mlag_id(device),
            vlans=vlans,
        )

    def _mlag_id(self, device: str) -> int | None:
        """A LAG of an MLAG pair has the same number on both switches."""
        members = (parts for parts, _ in self._rows("MCLAG_INTERFACE") if parts[1:] == (device,))
        return number_in(device) if next(members, None) else None

    def _loopback(self, device: str) -> Loopback:
        ip = self._ip("LOOPBACK_INTERFACE", device)
        return Loopback(name=interface_name(device), network_instance=ip.instance, addresses=ip.addresses)

    def _svi(self, device: str, vlan: int) -> Svi:
        ip = self._ip("VLAN_INTERFACE", device)
        node = ConfigNode(row(self._tree, "VLAN", device), f"VLAN|{device}", self._problems)
        anycast = ip.node is not None and ip.node.value.get("static_anycast_gateway") == TRUE
        mac = row(self._tree, "SAG", SAG).get("gateway_mac")
        return Svi(
            name=interface_name(device),
            vlan=vlan,
            description=node.text("description") or "",
            enabled=node.text("admin_status") != DOWN,
            mtu_bytes=node.number("mtu"),
            network_instance=ip.instance,
            unnumbered=ip.unnumbered,
            addresses=() if anycast else ip.addresses,
            gateways=ip.addresses if anycast else (),
            gateway_mac=mac if anycast and mac != GATEWAY_MAC else None,
        )

    def _ip(self, table: str, device: str) -> IpParts:
        return self._ips.get((table, device), IpParts(None, ()))

    def _ip_interfaces(self) -> dict[tuple[str, str], IpParts]:
        """The IP interfaces by table and device."""
        parts_of: dict[tuple[str, str], IpParts] = {}
        for table in ROUTED.values():
            for parts, node in self._rows(table):
                before = parts_of.get((table, parts[0]), IpParts(None, ()))
                if len(parts) == 1:
                    parts_of[table, parts[0]] = IpParts(node, before.addresses)
                    continue
                address = ConfigNode({"key": parts[1]}, node.path, self._problems).interface("key")
                if address is not None:
                    parts_of[table, parts[0]] = IpParts(before.node, (*before.addresses, address))
        return parts_of

    def _memberships(self) -> dict[str, VlanMembership]:
        """The VLANs of ports and LAGs, by device."""
        memberships: dict[str, list[tuple[int, Any]]] = {}
        for parts, node in self._rows("VLAN_MEMBER"):
            vlan = number_in(parts[0])
            if vlan is not None and len(parts) == 2:
                memberships.setdefault(parts[1], []).append((vlan, node.text("tagging_mode")))
        return {device: _membership(vlans) for device, vlans in memberships.items()}


def _membership(vlans: list[tuple[int, Any]]) -> VlanMembership:
    untagged = next((vlan for vlan, mode in vlans if mode != "tagged"), None)
    return VlanMembership(untagged=untagged, tagged=tuple(sorted({vlan for vlan, _ in vlans} - {untagged})))
