"""Renders the interfaces of a device model: cages that are split, ports, LAGs, SVIs and the loopback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from railfab.device import (
    BreakoutPort,
    DeviceModel,
    Fec,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    number_of,
)
from railfab.platforms.junos.names import ANYCAST_MAC, ETHERNET_HEADER_BYTES, SVI_DEVICE, device_name
from railfab.platforms.junos.trees import block, entry, flag, leaf, listed, setting
from railfab.platforms.shared.line_tree import Line

FECS = {Fec.OFF: "none", Fec.BASE_R: "fec74", Fec.RS_528: "fec91", Fec.RS_544: "fec119"}
"""Names of Junos (junos-qfx-conf-interfaces, fec, for the first three; Junos OS Evolved, fec, for `fec119`)."""
FAMILIES = {4: "inet", 6: "inet6"}
VIRTUAL_MAC = {4: "virtual-gateway-v4-mac", 6: "virtual-gateway-v6-mac"}
"""Statements of the MAC address of virtual gateways, by IP version."""
VLAN_NAME = re.compile(r"[\w.-]{2,64}")


def interface_lines(model: DeviceModel) -> Iterator[Line]:
    """Ports and cages in front-panel order, then LAGs, SVIs and the loopback."""
    ports = [port for port in model.interfaces if isinstance(port, Port)]
    split = {breakout.cage: breakout for breakout in model.breakouts}
    lag_of = {name: lag.name for lag in model.interfaces if isinstance(lag, Lag) for name in lag.members}
    yield from map(_cage, model.breakouts)
    for port in ports:
        if port.name not in split:
            yield _port(port, lag_of.get(port.name), model)
    yield from (_lag(lag, model) for lag in model.interfaces if isinstance(lag, Lag))
    svis = [svi for svi in model.interfaces if isinstance(svi, Svi)]
    yield from block(SVI_DEVICE, _svi_mtu(svis), map(_svi, svis))
    yield from (_loopback(loopback) for loopback in model.interfaces if isinstance(loopback, Loopback))


def _cage(breakout: BreakoutPort) -> Line:
    return entry(breakout.cage, (leaf("number-of-sub-ports", breakout.lanes), leaf("speed", f"{breakout.rate_gbps}g")))


def _port(port: Port, lag: str | None, model: DeviceModel) -> Line:
    fec = (leaf("fec", FECS[port.fec]),) if port.fec is not None else ()
    bundle = (leaf("802.3ad", device_name(lag)),) if lag is not None else ()
    speed = None if port.rate_gbps is None else f"{port.rate_gbps}g"
    return entry(
        port.name,
        _common(port),
        setting("speed", speed),
        flag(f"hold-time up {port.hold_up_ms} down 0", bool(port.hold_up_ms)),
        _native_vlan(port.vlans),
        block("ether-options", fec, bundle),
        _unit(port, port.vlans, model.vlans),
    )


def _lag(lag: Lag, model: DeviceModel) -> Line:
    """A LAG; the statement of its options is there also without any, so that the LAG is."""
    lacp = block("lacp", flag("active", lag.lacp), setting("system-id", lag.system_mac))
    options = tuple(block("aggregated-ether-options", lacp)) or (Line("aggregated-ether-options"),)
    segment = (leaf(lag.esi), Line("all-active")) if lag.esi is not None else ()
    return entry(
        device_name(lag.name),
        _common(lag),
        _native_vlan(lag.vlans),
        block("esi", segment),
        options,
        _unit(lag, lag.vlans, model.vlans),
    )


def _common(interface: Interface) -> Iterator[Line]:
    """Settings of a physical interface. Its MTU is that of the frame without checksum."""
    yield from setting("description", interface.description)
    yield from flag("disable", not interface.enabled)
    if interface.mtu_bytes is not None:
        yield leaf("mtu", interface.mtu_bytes + ETHERNET_HEADER_BYTES)


def _native_vlan(vlans: VlanMembership | None) -> Iterator[Line]:
    """The VLAN of frames without a tag, on a trunk."""
    if vlans is not None and vlans.tagged and vlans.untagged is not None:
        yield leaf("native-vlan-id", vlans.untagged)


def _unit(interface: Interface, vlans: VlanMembership | None, known: Iterable[Vlan]) -> Iterator[Line]:
    if vlans is not None:
        yield from block("unit 0", block("family ethernet-switching", _switching(vlans, known)))
    else:
        lines = tuple(family_lines(interface.addresses, interface.unnumbered))
        is_off = bool(lines) and interface.network_instance is None
        yield from block("unit 0", flag("disable", is_off), lines)


def _switching(vlans: VlanMembership, known: Iterable[Vlan]) -> Iterator[Line]:
    names = vlan_keys(known)
    members = [*([vlans.untagged] if vlans.untagged is not None else []), *vlans.tagged]
    yield leaf("interface-mode", "trunk" if vlans.tagged else "access")
    yield from block("vlan", listed("members", (names.get(vlan_id, vlan_id) for vlan_id in sorted(members))))


def family_lines(
    addresses: Iterable[IpInterface],
    unnumbered: bool = False,
    mtu: int | None = None,
    virtual: Sequence[IpInterface] = (),
) -> Iterator[Line]:
    """The address families; both of an unnumbered interface, which forwards IPv4 to IPv6 next hops (RFC 8950).

    virtual: gateways, each below the address of its subnet.
    """
    known = tuple(addresses)
    versions = {address.version for address in known}
    only_mtu = mtu is not None and not versions
    for version, family in FAMILIES.items():
        if version in versions or unnumbered or (only_mtu and version == 4):
            lines = (_address(address, virtual) for address in known if address.version == version)
            yield entry(f"family {family}", setting("mtu", mtu), lines)


def _address(address: IpInterface, virtual: Sequence[IpInterface]) -> Line:
    gateways = (
        leaf("virtual-gateway-address", gateway.ip) for gateway in virtual if gateway.network == address.network
    )
    return entry(f"address {address}", gateways)


def _svi_mtu(svis: Iterable[Svi]) -> Iterator[Line]:
    """The MTU of irb, which holds the largest one of its units and the Ethernet header: a family may not have a larger
    MTU than its interface (Juniper, Media MTU Overview), and that of irb is 1514 by default."""
    largest = max((svi.mtu_bytes for svi in svis if svi.mtu_bytes is not None), default=None)
    if largest is not None:
        yield leaf("mtu", largest + ETHERNET_HEADER_BYTES)


def _svi(svi: Svi) -> Line:
    """The unit of a VLAN. Anycast gateways have a MAC address that every switch with them has too; one beside an own
    address of its subnet is a virtual gateway."""
    subnets = {address.network for address in svi.addresses}
    virtual = [gateway for gateway in svi.gateways if gateway.network in subnets]
    anycast = [gateway for gateway in svi.gateways if gateway.network not in subnets]
    families = family_lines((*svi.addresses, *anycast), mtu=svi.mtu_bytes, virtual=virtual)
    versions = sorted({gateway.version for gateway in virtual})
    return entry(
        f"unit {number_of(svi.name)}",
        setting("description", svi.description),
        flag("disable", not svi.enabled),
        families,
        setting("mac", (svi.gateway_mac or ANYCAST_MAC) if anycast else None),
        (leaf(VIRTUAL_MAC[version], svi.gateway_mac) for version in versions if svi.gateway_mac),
    )


def _loopback(loopback: Loopback) -> Line:
    unit = (
        *setting("description", loopback.description),
        *flag("disable", not loopback.enabled),
        *family_lines(loopback.addresses, loopback.unnumbered, loopback.mtu_bytes),
    )
    return entry(device_name(loopback.name), block("unit 0", unit))


def vlan_keys(vlans: Iterable[Vlan]) -> dict[int, str]:
    """The name of each VLAN in the configuration: its own, or one of its number where Junos takes that of its own not
    or another VLAN has it (junos-qfx-conf-vlans, vlan: 2 to 64 characters)."""
    known = tuple(vlans)
    names = [vlan.name for vlan in known]
    return {
        vlan.vlan_id: vlan.name
        if names.count(vlan.name) == 1 and VLAN_NAME.fullmatch(vlan.name)
        else f"vlan{vlan.vlan_id}"
        for vlan in known
    }
