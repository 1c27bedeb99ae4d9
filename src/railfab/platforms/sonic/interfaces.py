"""Renders ports, breakouts, LAGs, loopbacks and SVIs (sonic-port, -breakout_cfg, -portchannel, -interface, -vlan).

A port has no `lanes`, `alias` and `index` here, which depend on the hardware: the switch makes its rows of PORT from
the port_config.ini of its hardware SKU, and a breakout from platform.json. What is rendered is laid over them.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DEFAULT_INSTANCE, DeviceModel, Fec, Interface, Lag, Loopback, Port, Svi, VlanMembership
from railfab.platforms.sonic.names import device_name, vrf_name
from railfab.platforms.sonic.tables import DOWN, TRUE, UP, Row, Tables, key, merged, stated

FEC = {Fec.OFF: "none", Fec.BASE_R: "fc", Fec.RS_528: "rs"}
"""`rs` is RS(528,514) or RS(544,514), as the speed of a lane needs it (sonic-port, fec)."""

ENABLE = "enable"
TYPE_0 = "TYPE_0_OPERATOR_CONFIGURED"
"""Type of an Ethernet segment whose identifier is configured (sonic-evpn, esi-type)."""

GATEWAY_MAC = "00:00:5e:00:01:01"
"""MAC address of anycast gateways where the intent states none; SONiC has no default. The first one of VRRP (RFC 5798,
section 7.3), which is also that of SR Linux (srl_nokia-interfaces, virtual-router-id)."""

SAG = "GLOBAL"
ROUTED = {Port: "INTERFACE", Lag: "PORTCHANNEL_INTERFACE", Loopback: "LOOPBACK_INTERFACE", Svi: "VLAN_INTERFACE"}
"""Table of the IP interface of each kind."""


def render_interfaces(model: DeviceModel) -> Tables:
    """All tables of interfaces and VLANs."""
    return merged((_breakouts(model), *map(_interface, model.interfaces), _vlans(model)))


def _breakouts(model: DeviceModel) -> Tables:
    rows = {breakout.cage: {"brkout_mode": f"{breakout.lanes}x{breakout.rate_gbps}G"} for breakout in model.breakouts}
    return {"BREAKOUT_CFG": rows}


def _interface(interface: Interface) -> Tables:
    if isinstance(interface, Port):
        tables = {"PORT": {interface.name: _port(interface)}}
    elif isinstance(interface, Lag):
        tables = _lag(interface)
    elif isinstance(interface, Svi):
        tables = _svi(interface)
    else:
        tables = {}
    vlans = interface.vlans if isinstance(interface, Port | Lag) else None
    return merged((tables, _routed(interface), _members(device_name(interface.name), vlans)))


def _port(port: Port) -> Row:
    """The row of a port; one of a breakout has the speed of its mode."""
    return stated(
        admin_status=UP if port.enabled else DOWN,
        description=port.description or None,
        mtu=port.mtu_bytes,
        speed=None if port.rate_gbps is None else port.rate_gbps * 1000,
        fec=None if port.fec is None else FEC[port.fec],
    )


def _lag(lag: Lag) -> Tables:
    name = device_name(lag.name)
    tables: Tables = {
        "PORTCHANNEL": {
            name: stated(
                admin_status=UP if lag.enabled else DOWN,
                description=lag.description or None,
                mtu=lag.mtu_bytes,
                system_mac=lag.system_mac,
            )
        },
        "PORTCHANNEL_MEMBER": {key(name, member): {} for member in lag.members},
    }
    if lag.esi is not None:
        tables["EVPN_ETHERNET_SEGMENT"] = {name: {"type": TYPE_0, "esi": lag.esi}}
    return tables


def _svi(svi: Svi) -> Tables:
    """Settings of an SVI in the row of its VLAN, and the MAC address that all anycast gateways of a switch share."""
    fields = stated(admin_status=None if svi.enabled else DOWN, description=svi.description or None, mtu=svi.mtu_bytes)
    tables: Tables = {"VLAN": {device_name(svi.name): fields}}
    if svi.gateways:
        tables["SAG"] = {SAG: {"gateway_mac": svi.gateway_mac or GATEWAY_MAC}}
    return tables


def _routed(interface: Interface) -> Tables:
    """The IP interface. A port or LAG without address, VRF and link-local session has none."""
    table = next(name for kind, name in ROUTED.items() if isinstance(interface, kind))
    device, gateways = device_name(interface.name), interface.gateways if isinstance(interface, Svi) else ()
    row = stated(
        vrf_name=None
        if interface.network_instance in (None, DEFAULT_INSTANCE)
        else vrf_name(interface.network_instance or ""),
        ipv6_use_link_local_only=ENABLE if interface.unnumbered else None,
        static_anycast_gateway=TRUE if gateways else None,
    )
    addresses = (*interface.addresses, *gateways)
    if not (row or addresses or isinstance(interface, Loopback | Svi)):
        return {}
    return {table: {device: row, **{key(device, address): {} for address in addresses}}}


def _members(device: str, vlans: VlanMembership | None) -> Tables:
    """The VLANs of a bridged port or LAG."""
    if vlans is None:
        return {}
    modes = dict.fromkeys(vlans.tagged, "tagged")
    if vlans.untagged is not None:
        modes[vlans.untagged] = "untagged"
    return {"VLAN_MEMBER": {key(f"Vlan{vlan}", device): {"tagging_mode": mode} for vlan, mode in modes.items()}}


def _vlans(model: DeviceModel) -> Tables:
    return {"VLAN": dict(_vlan_rows(model))}


def _vlan_rows(model: DeviceModel) -> Iterator[tuple[str, Row]]:
    for vlan in model.vlans:
        yield f"Vlan{vlan.vlan_id}", stated(vlanid=vlan.vlan_id, alias=vlan.name or None)
