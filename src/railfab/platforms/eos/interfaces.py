"""Interfaces of EOS: ports, LAGs, loopbacks and SVIs, and the speeds of split cages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Interface, IPv6Interface

from railfab.device import (
    DEFAULT_INSTANCE,
    BreakoutPort,
    DeviceModel,
    Fec,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    VlanMembership,
    lag_name,
    natural,
    number_of,
)
from railfab.platforms.eos.names import (
    CAGE_LANES,
    FECS,
    GATEWAY_MAC,
    PEER_VLAN,
    cage_ports,
    esi_of,
    interface_name,
    native_name,
    segment_identifier,
    segment_target,
    speed_name,
)
from railfab.platforms.shared.native_names import dotted_mac, interface_address, numbers_in, plain_mac
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Word,
    below,
    choice,
    flag,
    integer,
    line,
    lines,
)
from railfab.text.folding import number_ranges

VLAN = integer(1, 4094)
IPV4, IPV6 = (Word(r"\S+/\d+", partial(interface_address, word)) for word in ("ip", "ipv6"))
VLANS: Word[tuple[int, ...]] = Word(
    r"\S+",
    lambda text: () if text == "none" else numbers_in(text, 1, 4094),
    lambda vlans: number_ranges(vlans) or "none",
)
MODE = Word("active|passive|on", str)
_CAGE = re.compile(r"(Ethernet\d+)/\d+")


@dataclass(slots=True, kw_only=True)
class EthernetSegment:
    """EVPN multihoming of a LAG. EOS derives no ES-import route target from an identifier of type 0."""

    esi: str | None = line("identifier {}", Word(r"\S+", esi_of, segment_identifier))
    target: str | None = line("route-target import {}", WORD)


@dataclass(slots=True, kw_only=True)
class NativeInterface:
    """An interface. allowed: tagged VLANs of a trunk. group: number of the LAG of a member, and its mode.

    edge: the port of a host in VLANs, which forwards at once and is shut where a bridge is plugged in (EOS User Manual,
    Spanning Tree, PortFast and BPDU guard).
    """

    description: str = line("description {}", REST, default="")
    enabled: bool = flag("shutdown", default=True)
    mtu_bytes: int | None = line("mtu {}", integer(68, 65535))
    autostate: bool = flag("no autostate", default=True)
    hold_up_ms: int = line("link-debounce time {} 0", integer(0, 30000), default=0)
    speed: str | None = line("speed {}", Word(r"(?:forced )?\d+g(?:-\d|full)?", str))
    fec: Fec | None = line("{}", choice(FECS))
    routed: bool = flag("no switchport")
    access: int | None = line("switchport access vlan {}", VLAN)
    native: int | None = line("switchport trunk native vlan {}", VLAN)
    allowed: tuple[int, ...] | None = line("switchport trunk allowed vlan {}", VLANS)
    trunk: bool = flag("switchport mode trunk")
    peer_link: bool = flag("switchport trunk group MLAG")
    segment: EthernetSegment | None = below("evpn ethernet-segment", EthernetSegment)
    network_instance: str = line("vrf {}", WORD, default=DEFAULT_INSTANCE)
    ipv4: list[IPv4Interface] = lines("ip address {}", IPV4, further="ip address {} secondary")
    unnumbered: bool = flag("ipv6 enable")
    ipv6: list[IPv6Interface] = lines("ipv6 address {}", IPV6)
    ipv4_gateways: list[IPv4Interface] = lines("ip address virtual {}", IPV4)
    ipv6_gateways: list[IPv6Interface] = lines("ipv6 address virtual {}", IPV6)
    group: tuple[int, str] | None = line("channel-group {} mode {}", integer(1, 999999), MODE)
    silent: bool = flag("no lldp transmit", beside=("no lldp receive",))
    system_mac: str | None = line("lacp system-id {}", Word(r"\S+", plain_mac, dotted_mac))
    mlag_id: int | None = line("mlag {}", integer(1, 2000))
    profile: str | None = line("service-profile {}", WORD)
    edge: bool = flag("spanning-tree portfast", beside=("spanning-tree bpduguard enable",))


# To EOS


def native_interfaces(model: DeviceModel, profiles: Mapping[str, str]) -> dict[str, NativeInterface]:
    """Every interface by its name, in EOS's order of kinds, with the unused ports of split cages.

    profiles: name of the QoS profile of each port and LAG that has one.
    """
    lags = [each for each in model.interfaces if isinstance(each, Lag)]
    groups = {name: (number_of(lag.name), "active" if lag.lacp else "on") for lag in lags for name in lag.members}
    speeds, silent, peer_link = _speeds(model), frozenset(model.lldp.silent), model.mlag and model.mlag.peer_link
    ports: dict[str, NativeInterface] = {}
    loopbacks: dict[str, NativeInterface] = {}
    svis: dict[str, NativeInterface] = {}
    for each in model.interfaces:
        if isinstance(each, Port):
            port = ports[each.name] = _port(each, groups.get(each.name), speeds.pop(each.name, None))
            port.silent = each.name in silent
        elif isinstance(each, Svi):
            svis[native_name(each.name)] = _svi(each)
        elif not isinstance(each, Lag):
            loopbacks[native_name(each.name)] = _common(each)
    if speeds:
        ports |= {name: NativeInterface(speed=speed) for name, speed in speeds.items()}
        ports = {name: ports[name] for name in sorted(ports, key=natural)}
    interfaces = {native_name(lag.name): _lag(lag, is_peer_link=lag.name == peer_link) for lag in lags}
    interfaces |= ports | loopbacks | svis
    for name, profile in profiles.items():
        if interface := interfaces.get(native_name(name)):
            interface.profile = profile
    return interfaces


def _speeds(model: DeviceModel) -> dict[str, str]:
    """Speeds of ports by name, of the unused ports of a split cage too."""
    speeds = {
        port.name: speed_name(port.rate_gbps)
        for port in model.interfaces
        if isinstance(port, Port) and port.rate_gbps is not None
    }
    for cage in model.breakouts:
        word = speed_name(cage.rate_gbps, CAGE_LANES // cage.lanes)
        speeds.update(dict.fromkeys(cage_ports(cage.cage, cage.lanes), word))
    return speeds


def _common(interface: Interface) -> NativeInterface:
    native = NativeInterface(
        description=interface.description,
        enabled=interface.enabled,
        mtu_bytes=interface.mtu_bytes,
        network_instance=interface.network_instance or DEFAULT_INSTANCE,
        unnumbered=interface.unnumbered,
    )
    for address in interface.addresses:
        if isinstance(address, IPv4Interface):
            native.ipv4.append(address)
        else:
            native.ipv6.append(address)
    return native


def _port(port: Port, group: tuple[int, str] | None, speed: str | None) -> NativeInterface:
    native = _common(port)
    native.hold_up_ms, native.speed, native.fec, native.group = port.hold_up_ms, speed, port.fec, group
    if group is None:
        _switch(native, port.vlans)
        native.edge = port.vlans is not None
    return native


def _lag(lag: Lag, *, is_peer_link: bool) -> NativeInterface:
    native = _common(lag)
    _switch(native, lag.vlans, (PEER_VLAN,) if is_peer_link else ())
    native.edge = lag.vlans is not None and not is_peer_link
    native.peer_link, native.segment = is_peer_link, _segment(lag.esi) if lag.esi else None
    native.system_mac, native.mlag_id = lag.system_mac, lag.mlag_id
    return native


def _segment(esi: str) -> EthernetSegment:
    return EthernetSegment(esi=esi, target=segment_target(esi))


def _svi(svi: Svi) -> NativeInterface:
    native = _common(svi)
    native.ipv4_gateways = [address for address in svi.gateways if isinstance(address, IPv4Interface)]
    native.ipv6_gateways = [address for address in svi.gateways if isinstance(address, IPv6Interface)]
    return native


def _switch(native: NativeInterface, vlans: VlanMembership | None, more: tuple[int, ...] = ()) -> None:
    """Routed without VLANs; with one untagged VLAN and no other it is an access port, EOS's default mode."""
    if vlans is None:
        native.routed = True
        return
    tagged, untagged = (*vlans.tagged, *more), vlans.untagged
    other_than_default = untagged if untagged != 1 else None
    if not tagged and untagged is not None:
        native.access = other_than_default
        return
    carried = tagged if untagged is None else (*tagged, untagged)
    native.native, native.allowed, native.trunk = other_than_default, tuple(sorted({*carried})), True


# From EOS


def breakouts_of(interfaces: Mapping[str, NativeInterface]) -> tuple[tuple[BreakoutPort, ...], dict[str, int]]:
    """The split cages, and the speeds of other ports by name.

    A cage is split where every port of the split has a speed, the same one: EOS has no other setting for it.
    """
    rates = {name: _rate_gbps(each.speed) for name, each in interfaces.items() if each.speed is not None}
    cages: dict[str, set[str]] = {}
    for name in rates:
        if cage := _CAGE.fullmatch(name):
            cages.setdefault(f"{cage[1]}/1", set()).add(name)
    breakouts = []
    for cage_name, names in cages.items():
        if breakout := _breakout(cage_name, names, rates):
            breakouts.append(breakout)
            for name in names:
                del rates[name]
    return tuple(breakouts), rates


def _rate_gbps(speed: str) -> int:
    """400 of `400g-8` and of `forced 400gfull`."""
    return int(speed.removeprefix("forced ").partition("g")[0])


def _breakout(cage: str, names: set[str], rates: Mapping[str, int]) -> BreakoutPort | None:
    lanes = len(names)
    if lanes < 2 or CAGE_LANES % lanes or names != set(cage_ports(cage, lanes)):
        return None
    rate, *others = {rates[name] for name in names}
    return None if others else BreakoutPort(cage=cage, lanes=lanes, rate_gbps=rate)


def interfaces_of(
    interfaces: Mapping[str, NativeInterface],
    *,
    rates: Mapping[str, int],
    gateway_mac: str | None,
    peer_link: str | None,
) -> Iterator[Interface]:
    """The interfaces; a port with nothing but a speed is one of a split cage that is not used.

    rates: speeds of ports that are in no split cage. gateway_mac: of all anycast gateways. peer_link: LAG to the other
    switch of a pair.
    """
    members: dict[str, list[tuple[str, str]]] = {}
    for name, native in interfaces.items():
        if native.group is not None:
            number, mode = native.group
            members.setdefault(lag_name(number), []).append((name, mode))
    for native_key, native in interfaces.items():
        name = interface_name(native_key)
        if native_key.startswith("Ethernet") and native == NativeInterface(speed=native.speed):
            continue
        if name.startswith("lag"):
            shell: Interface = _lag_of(name, native, members.get(name, []), is_peer_link=name == peer_link)
        elif name.startswith("vlan"):
            shell = _svi_of(name, native, gateway_mac)
        elif name.startswith("loopback"):
            shell = Loopback(name=name)
        else:
            vlans = None if native.group is not None else _membership(native)
            shell = Port(
                name=name, rate_gbps=rates.get(name), hold_up_ms=native.hold_up_ms, fec=native.fec, vlans=vlans
            )
        yield replace(
            shell,
            description=native.description,
            enabled=native.enabled,
            mtu_bytes=native.mtu_bytes,
            network_instance=native.network_instance if _is_routed(shell, native) else None,
            addresses=(*native.ipv4, *native.ipv6),
            unnumbered=native.unnumbered,
        )


def _lag_of(name: str, native: NativeInterface, members: list[tuple[str, str]], *, is_peer_link: bool) -> Lag:
    return Lag(
        name=name,
        members=tuple(member for member, _ in members),
        lacp=not members or any(mode != "on" for _, mode in members),
        mlag_id=native.mlag_id,
        esi=native.segment.esi if native.segment else None,
        system_mac=native.system_mac,
        vlans=_membership(native, peer_link=is_peer_link),
    )


def _svi_of(name: str, native: NativeInterface, gateway_mac: str | None) -> Svi:
    gateways: tuple[IpInterface, ...] = (*native.ipv4_gateways, *native.ipv6_gateways)
    mac = gateway_mac if gateways and gateway_mac != GATEWAY_MAC else None
    return Svi(name=name, vlan=number_of(name), gateways=gateways, gateway_mac=mac)


def _is_routed(shell: Interface, native: NativeInterface) -> bool:
    if isinstance(shell, Port) and native.group is not None:
        return False
    return not isinstance(shell, Port | Lag) or shell.vlans is None


def _membership(native: NativeInterface, *, peer_link: bool = False) -> VlanMembership | None:
    """The VLANs of a port or LAG; an access port without a VLAN has VLAN 1. All VLANs of a trunk without a list are
    unmodelled."""
    if native.routed:
        return None
    if not native.trunk:
        return VlanMembership(untagged=native.access or 1)
    allowed = set(native.allowed or ()) - ({PEER_VLAN} if peer_link else set())
    untagged = native.native if native.native is not None else (1 if 1 in allowed else None)
    return VlanMembership(untagged=untagged, tagged=tuple(sorted(allowed - {untagged})))
