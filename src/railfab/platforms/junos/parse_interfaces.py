"""Reads the interfaces of a configuration: cages that are split, ports, LAGs, SVIs and the loopback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_interface
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
    VlanMembership,
    lag_name,
    loopback_name,
    svi_name,
)
from railfab.platforms.junos.names import (
    ANYCAST_MAC,
    ETHERNET_HEADER_BYTES,
    LAG_DEVICE,
    LOOPBACK_DEVICE,
    PORT,
    SUB_PORTS,
    SVI_DEVICE,
    WILDCARD,
)
from railfab.platforms.junos.render_interfaces import FAMILIES, FECS, VIRTUAL_MAC
from railfab.platforms.shared.words import Words


@dataclass(frozen=True, slots=True)
class Places:
    """Uses of interfaces: VRFs and VLANs by the name of a unit, and VLANs by the name in the configuration."""

    instances: Mapping[str, str]
    advertising: frozenset[str]
    vlan_ids: Mapping[str, int]


def vlan_entries(root: Words) -> Iterator[tuple[str, Words]]:
    """The VLANs of the switch and of its MAC-VRFs."""
    yield from root.entries("vlans")
    for _, instance in root.entries("routing-instances"):
        yield from instance.entries("vlans")


def places_of(root: Words) -> Places:
    instances: dict[str, str] = {}
    advertising = root.texts("protocols", "router-advertisement", "interface")
    for name, instance in root.entries("routing-instances"):
        if instance.text("instance-type") != "mac-vrf":
            instances |= dict.fromkeys(instance.texts("interface"), name)
    ids = {name: vlan_id for name, vlan in vlan_entries(root) if (vlan_id := vlan.number("vlan-id")) is not None}
    return Places(instances, frozenset(advertising), ids)


def breakouts_of(root: Words) -> tuple[BreakoutPort, ...]:
    """The cages that are split, each with the speed of its ports."""
    breakouts = []
    for name, words in root.entries("interfaces"):
        lanes, rate = words.number(SUB_PORTS), _rate(words)
        if lanes is not None and rate is not None:
            breakouts.append(BreakoutPort(cage=name, lanes=lanes, rate_gbps=rate))
    return tuple(breakouts)


def _rate(words: Words) -> int | None:
    """The speed of a port [Gb/s]; None for one that is not a number of them."""
    speed = words.text("speed") or ""
    return int(speed[:-1]) if speed.endswith("g") and speed[:-1].isdecimal() else None


def interfaces_of(root: Words) -> tuple[Interface, ...]:
    """Every interface; one that others only refer to is there too."""
    places = places_of(root)
    members: dict[str, list[str]] = {}
    interfaces: list[Interface] = []
    for name, words in root.entries("interfaces"):
        bundle = words.text("ether-options", "802.3ad") or words.text("gigether-options", "802.3ad")
        if bundle is not None and PORT.fullmatch(name):
            members.setdefault(bundle, []).append(name)
        interfaces += _interfaces(name, words, places, is_member=bundle is not None)
    lags = [_with_members(interface, members) if isinstance(interface, Lag) else interface for interface in interfaces]
    return tuple(lags)


def _with_members(lag: Lag, members: Mapping[str, list[str]]) -> Lag:
    return replace(lag, members=tuple(members.get(f"{LAG_DEVICE}{lag.name.removeprefix('lag')}", ())))


def _interfaces(name: str, words: Words, places: Places, *, is_member: bool) -> Iterator[Interface]:
    if name == SVI_DEVICE:
        for unit, below in words.entries("unit"):
            if unit.isdecimal():
                yield _svi(int(unit), below, places)
    elif name == LOOPBACK_DEVICE:
        yield _loopback(words, places)
    elif name.startswith(LAG_DEVICE) and name.removeprefix(LAG_DEVICE).isdecimal():
        yield _lag(name, words, places)
    elif PORT.fullmatch(name) and not WILDCARD.search(name) and SUB_PORTS not in words:
        yield _port(name, words, places, is_member=is_member)


def _port(name: str, words: Words, places: Places, *, is_member: bool) -> Port:
    """A port; a speed or FEC that the model does not know is unmodelled."""
    fecs = {text: fec for fec, text in FECS.items()}
    port = Port(
        name=name,
        rate_gbps=_rate(words),
        hold_up_ms=words.number("hold-time", "up") or 0,
        fec=fecs.get(words.text("ether-options", "fec") or words.text("gigether-options", "fec") or ""),
        vlans=_membership(words, places),
        **_routed(name, words, places),
    )
    return replace(port, network_instance=None) if is_member else port


def _lag(name: str, words: Words, places: Places) -> Lag:
    options = words.at("aggregated-ether-options", "lacp")
    esi = next((text for text in words.texts("esi") if ":" in text), None)
    return Lag(
        name=lag_name(int(name.removeprefix(LAG_DEVICE))),
        members=(),
        lacp="active" in options or "passive" in options,
        esi=esi,
        system_mac=options.text("system-id"),
        vlans=_membership(words, places),
        **_routed(name, words, places),
    )


def _routed(name: str, words: Words, places: Places) -> dict[str, Any]:
    """Settings that ports and LAGs have in common: those of the physical interface and of its only unit."""
    unit, below = f"{name}.0", words.at("unit", "0")
    bridged = "ethernet-switching" in below.at("family")
    return {
        "description": words.text("description") or "",
        "enabled": "disable" not in words,
        "mtu_bytes": min(_ip_mtus(words, below), default=None),
        "network_instance": None if bridged or "disable" in below else places.instances.get(unit, DEFAULT_INSTANCE),
        "addresses": tuple(_addresses(below)),
        "unnumbered": unit in places.advertising,
    }


def _ip_mtus(interface: Words, unit: Words) -> Iterator[int]:
    """The largest IP packets of an interface and of the families of its unit."""
    mtu = interface.number("mtu")
    if mtu is not None:
        yield mtu - ETHERNET_HEADER_BYTES
    of_families = (unit.number("family", family, "mtu") for family in FAMILIES.values())
    yield from (limit for limit in of_families if limit is not None)


def _addresses(unit: Words) -> Iterator[IpInterface]:
    """The addresses of a unit; a bad one is a problem."""
    for family in FAMILIES.values():
        for text, words in unit.entries("family", family, "address"):
            try:
                yield ip_interface(text)
            except ValueError:
                words.problem("is not an IP address with prefix length", "Use one")


def _membership(words: Words, places: Places) -> VlanMembership | None:
    """The VLANs of a bridged port; a name that no VLAN has is unmodelled."""
    switching = words.at("unit", "0", "family", "ethernet-switching")
    if "ethernet-switching" not in words.at("unit", "0", "family"):
        return None
    texts = switching.texts("vlan", "members")
    ids = {places.vlan_ids.get(text) or (int(text) if text.isdecimal() else None) for text in texts} - {None}
    vlan_ids = sorted(vlan_id for vlan_id in ids if vlan_id is not None)
    if switching.text("interface-mode") != "trunk":
        return VlanMembership(untagged=vlan_ids[0] if vlan_ids else None)
    native = words.number("native-vlan-id")
    return VlanMembership(untagged=native, tagged=tuple(vlan_id for vlan_id in vlan_ids if vlan_id != native))


def _svi(number: int, words: Words, places: Places) -> Svi:
    """The unit of a VLAN. With a MAC address of its own, its addresses are anycast gateways, except those that have a
    virtual gateway."""
    addresses = tuple(_addresses(words))
    virtual = [gateway for family in FAMILIES.values() for gateway in _virtual(words.at("family", family))]
    with_gateway = [address for address in addresses if any(address.network == gateway.network for gateway in virtual)]
    mac = words.text("mac")
    macs = (mac, *(words.text(name) for name in VIRTUAL_MAC.values()))
    anycast = [] if mac is None else [address for address in addresses if address not in with_gateway]
    return Svi(
        name=svi_name(number),
        vlan=number,
        description=words.text("description") or "",
        enabled="disable" not in words,
        mtu_bytes=next((mtu for name in FAMILIES.values() if (mtu := words.number("family", name, "mtu"))), None),
        network_instance=places.instances.get(f"{SVI_DEVICE}.{number}", DEFAULT_INSTANCE),
        addresses=tuple(address for address in addresses if address not in anycast),
        gateways=(*anycast, *virtual),
        gateway_mac=next((mac for mac in macs if mac is not None and mac != ANYCAST_MAC), None),
        unnumbered=f"{SVI_DEVICE}.{number}" in places.advertising,
    )


def _virtual(family: Words) -> Iterator[IpInterface]:
    for text, words in family.entries("address"):
        for gateway in words.texts("virtual-gateway-address"):
            try:
                yield ip_interface(f"{gateway}/{text.partition('/')[2]}")
            except ValueError:
                words.problem(f"{gateway} is not an address", "Use one", "virtual-gateway-address")


def _loopback(words: Words, places: Places) -> Loopback:
    unit = words.at("unit", "0")
    return Loopback(
        name=loopback_name(0),
        description=unit.text("description") or "",
        enabled="disable" not in unit,
        mtu_bytes=next((mtu for name in FAMILIES.values() if (mtu := unit.number("family", name, "mtu"))), None),
        network_instance=places.instances.get(f"{LOOPBACK_DEVICE}.0", DEFAULT_INSTANCE),
        addresses=tuple(_addresses(unit)),
    )
