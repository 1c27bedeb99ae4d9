"""Features of a device model: ports, LAGs, VLANs, MLAG pairs and Ethernet segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from railfab.device import (
    DeviceModel,
    Fec,
    Interface,
    IpAddress,
    IpInterface,
    IpNetwork,
    Lag,
    Loopback,
    MlagKeepalive,
    Port,
    Svi,
    lag_name,
    svi_name,
)
from railfab.platforms import removals
from railfab.platforms.feature import Feature, Used, any_of


def _keepalive(has: Callable[[MlagKeepalive], bool]) -> Used:
    return lambda model: model.mlag is not None and model.mlag.keepalive is not None and has(model.mlag.keepalive)


def _has_bare_gateway(model: DeviceModel) -> bool:
    """Whether an anycast gateway is the only address of its family, on a switch without Ethernet segments."""
    if any(isinstance(lag, Lag) and lag.esi is not None for lag in model.interfaces):
        return False
    return any(
        {gateway.version for gateway in svi.gateways} - {address.version for address in svi.addresses}
        for svi in model.interfaces
        if isinstance(svi, Svi)
    )


def _addresses(model: DeviceModel) -> Iterator[IpAddress | IpInterface | IpNetwork]:
    """Every address and prefix of interfaces, neighbours, policies and aggregates."""
    for interface in model.interfaces:
        yield from interface.addresses
        yield from interface.gateways if isinstance(interface, Svi) else ()
    for neighbor in model.neighbors:
        if not isinstance(neighbor.peer, str):
            yield neighbor.peer
    for policy in model.policies:
        yield from (prefix_range.prefix for rule in policy.rules for prefix_range in rule.prefixes)
    for aggregate in model.bgp.aggregates if model.bgp else ():
        yield aggregate.prefix


INTERFACE_FEATURES: Mapping[str, Feature] = {
    "numbered": Feature(
        "ports with addresses",
        lambda model: any(interface.addresses for interface in model.interfaces if not isinstance(interface, Loopback)),
        key="profile.underlay",
    ),
    "unnumbered": Feature(
        "BGP sessions over link-local addresses",
        any_of(Interface, lambda interface: interface.unnumbered),
        key="profile.underlay",
    ),
    "mtu": Feature(
        "MTU of an interface",
        any_of(Interface, lambda interface: interface.mtu_bytes is not None),
        removals.mtu,
        key="profile.mtu",
    ),
    "received_mtu": Feature("MTU of received packets", any_of(Port, lambda port: port.received_mtu_bytes is not None)),
    "port_speed": Feature(
        "speed of a port", any_of(Port, lambda port: port.rate_gbps is not None), removals.port_speed
    ),
    "fec": Feature("forward error correction", any_of(Port, lambda port: port.fec is not None), removals.fec),
    "fec_rs_544": Feature("RS(544,514) as a setting", any_of(Port, lambda port: port.fec is Fec.RS_544)),
    "hold_up": Feature(
        "time that a link must stay up before it is used",
        any_of(Port, lambda port: bool(port.hold_up_ms)),
        key="profile.link_hold_up_ms",
    ),
    "breakout": Feature("cages split into ports", lambda model: bool(model.breakouts)),
    "ipv6": Feature(
        "IPv6 addresses and prefixes",
        lambda model: any(address.version == 6 for address in _addresses(model)),
        key="profile.family",
    ),
    "several_loopbacks": Feature(
        "more than one loopback",
        lambda model: sum(isinstance(loopback, Loopback) for loopback in model.interfaces) > 1,
    ),
    "lag": Feature("LAGs", any_of(Lag), removals.members),
    "static_lag": Feature("LAGs without LACP", any_of(Lag, lambda lag: not lag.lacp), removals.members),
    "vlan": Feature("VLANs", lambda model: bool(model.vlans), removals.vlans),
    "vlan_names": Feature(
        "names of VLANs",
        lambda model: any(vlan.name != svi_name(vlan.vlan_id) for vlan in model.vlans),
        removals.vlan_names,
        optional=True,
    ),
    "bridged_port": Feature(
        "ports and LAGs in VLANs",
        lambda model: any(
            interface.vlans is not None for interface in model.interfaces if isinstance(interface, Port | Lag)
        ),
        removals.bridging,
    ),
    "svi": Feature("routed interfaces of VLANs", any_of(Svi)),
    "gateway_addresses": Feature(
        "address of each switch beside a gateway that several switches have",
        any_of(Svi, lambda svi: bool(svi.gateways and svi.addresses)),
        removals.gateway_addresses,
        optional=True,
    ),
    "anycast_gateway": Feature(
        "gateway that several switches have",
        any_of(Svi, lambda svi: bool(svi.gateways)),
        removals.gateways,
        substitutes=True,
    ),
    "gateway_without_address": Feature(
        "gateway that several switches have, without an address of each switch that no host has",
        _has_bare_gateway,
        key="backend.subnets",
        optional=True,
    ),
    "mlag": Feature(
        "MLAG pairs",
        lambda model: model.mlag is not None or any_of(Lag, lambda lag: lag.mlag_id is not None)(model),
        key="hosts.attach",
    ),
    "peer_link_number": Feature(
        f"a LAG of the peer link with another number than {removals.PEER_LINK_NUMBER}",
        lambda model: model.mlag is not None and model.mlag.peer_link != lag_name(removals.PEER_LINK_NUMBER),
        removals.peer_link_number,
        optional=True,
        substitutes=True,
    ),
    "mlag_without_keepalive": Feature(
        "MLAG pairs without a path beside the peer link, as without spines",
        lambda model: model.mlag is not None and model.mlag.keepalive is None,
        key="hosts.attach",
    ),
    "mlag_peer_addresses": Feature(
        "stated addresses of the switches of an MLAG pair on their peer link",
        lambda model: model.mlag is not None and (model.mlag.address, model.mlag.peer) != (None, None),
        removals.mlag_peer_addresses,
        optional=True,
    ),
    "mlag_keepalive_source": Feature(
        "own address of the keepalive of an MLAG pair",
        _keepalive(lambda keepalive: keepalive.source is not None),
        removals.mlag_keepalive_source,
        optional=True,
    ),
    "mlag_system_mac": Feature(
        "MAC address of an MLAG pair",
        lambda model: model.mlag is not None and model.mlag.system_mac is not None,
        removals.mlag_system_mac,
        optional=True,
    ),
    "mlag_vtep": Feature(
        "a VTEP on each switch of an MLAG pair, without an address that both share",
        lambda model: model.mlag is not None and model.vtep is not None,
        key="hosts.attach",
    ),
    "mlag_domain_name": Feature(
        "name of an MLAG pair that is no number",
        lambda model: model.mlag is not None and not model.mlag.domain.isdecimal(),
        removals.mlag_domain_name,
        optional=True,
        substitutes=True,
    ),
    "esi": Feature("EVPN multihoming", any_of(Lag, lambda lag: lag.esi is not None), key="hosts.attach"),
}
