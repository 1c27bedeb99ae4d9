"""Renders what concerns the whole switch: features, LLDP, load balancing and management."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    BalancingMode,
    DeviceModel,
    Family,
    HashField,
    Lag,
    LoadBalancing,
    ManagementAccess,
    Svi,
)
from railfab.platforms.nxos.names import vrf_name
from railfab.platforms.shared.line_tree import Line

SEVERITIES = ("emergency", "alert", "critical", "error", "warning", "notice", "informational", "debug")
"""By their number (RFC 5424)."""
SYSLOG_PORT = 514
GRPC_PORT = 50051
"""Default (Nexus 9000 Programmability guide, gNMI, Configuring gNMI)."""
AAA_GROUPS = {"tacacs": ("tacacs+", "RAILFAB-TACACS"), "radius": ("radius", "RAILFAB-RADIUS")}
"""NX-OS's word and the name of the group of the servers of each protocol."""
LLDP_HELLO_S, LLDP_HOLD_S = 30, 120
DELIMITERS = "^#%~@|$"
HASHES = {
    frozenset({HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS}): "address source-destination",
    frozenset(
        {
            HashField.SOURCE_ADDRESS,
            HashField.DESTINATION_ADDRESS,
            HashField.PROTOCOL,
            HashField.SOURCE_PORT,
            HashField.DESTINATION_PORT,
        }
    ): "address source-destination port source-destination",
}
"""`ip load-sharing` (Nexus 9000 Command Reference 9.3(x), I Commands)."""
DLB_MODES = {BalancingMode.FLOWLET: "flowlet", BalancingMode.PACKET: "per-packet"}


def features(model: DeviceModel) -> Iterator[Line]:
    """The features that the rest of the configuration needs, in NX-OS's order.

    Anycast gateways are part of those of EVPN (VXLAN guide, Configuring VXLAN BGP EVPN, Fabric Forwarding).
    """
    management, interfaces = model.management or ManagementAccess(), model.interfaces
    gateways = any(isinstance(svi, Svi) and bool(svi.gateways) for svi in interfaces)
    overlaid = _is_overlaid(model)
    needed = {
        "nv overlay evpn": overlaid or gateways,
        "feature grpc": management.gnmi is not None,
        "feature tacacs+": any(server.protocol == "tacacs" for server in management.aaa),
        "feature bgp": model.bgp is not None,
        "feature fabric forwarding": gateways,
        "feature interface-vlan": any(isinstance(svi, Svi) for svi in interfaces),
        "feature vn-segment-vlan-based": overlaid,
        "feature lacp": any(isinstance(lag, Lag) and lag.lacp for lag in interfaces),
        "feature vpc": model.mlag is not None,
        "feature lldp": model.lldp.enabled,
        "feature bfd": any(neighbor.bfd is not None for neighbor in model.neighbors),
        "feature nv overlay": overlaid or gateways,
    }
    return (Line(line) for line, used in needed.items() if used)


def _is_overlaid(model: DeviceModel) -> bool:
    vnis = [*(vlan.vni for vlan in model.vlans), *(instance.vni for instance in model.network_instances)]
    sessions = any(Family.EVPN in neighbor.families for neighbor in model.neighbors)
    return model.vtep is not None or any(vni is not None for vni in vnis) or sessions


def lldp(model: DeviceModel) -> Iterator[Line]:
    if model.lldp.hello_s != LLDP_HELLO_S:
        yield Line(f"lldp timer {model.lldp.hello_s}")
    if model.lldp.hold_s != LLDP_HOLD_S:
        yield Line(f"lldp holdtime {model.lldp.hold_s}")


def balancing(settings: LoadBalancing | None) -> Iterator[Line]:
    """The hash of equal paths, and dynamic load balancing on all ports (Nexus 9000 Unicast Routing guide 10.5(x),
    Configure Dynamic Load Balancing)."""
    if settings is None:
        return
    hashed = HASHES.get(frozenset(settings.fields))
    if hashed is not None:
        seed = "" if settings.seed is None else f" universal-id {settings.seed}"
        yield Line(f"ip load-sharing {hashed}{seed}")
    if settings.mode in DLB_MODES:
        gap = () if settings.flowlet_gap_us is None else (Line(f"flowlet-aging {settings.flowlet_gap_us}"),)
        yield Line("hardware profile dlb", (Line("dlb-interface all"), Line(f"mode {DLB_MODES[settings.mode]}"), *gap))


def management(settings: ManagementAccess | None) -> Iterator[Line]:
    """NTP, syslog, AAA and gNMI in their VRF. The secrets of the AAA servers are in no text."""
    if settings is None:
        return
    vrf = vrf_name(settings.network_instance)
    in_vrf = "" if settings.network_instance == DEFAULT_INSTANCE else f" use-vrf {vrf}"
    if settings.banner is not None:
        yield _banner(settings.banner)
    yield from (Line(f"ntp server {address}{in_vrf}") for address in settings.ntp)
    for server in settings.syslog:
        port = "" if server.port == SYSLOG_PORT else f" port {server.port}"
        yield Line(f"logging server {server.address} {SEVERITIES.index(server.level)}{port}{in_vrf}")
    yield from _aaa(settings, vrf)
    if settings.gnmi is not None:
        if settings.gnmi.port != GRPC_PORT:
            yield Line(f"grpc port {settings.gnmi.port}")
        if settings.gnmi.tls_profile is not None:
            yield Line(f"grpc certificate {settings.gnmi.tls_profile}")
        if settings.network_instance != MANAGEMENT_VRF:
            yield Line(f"grpc use-vrf {vrf}")


def _aaa(settings: ManagementAccess, vrf: str) -> Iterator[Line]:
    """The servers, a group of those of each protocol, and logins by these groups, before local users."""
    used = [protocol for protocol in AAA_GROUPS if any(server.protocol == protocol for server in settings.aaa)]
    for server in settings.aaa:
        radius = " authentication accounting" if server.protocol == "radius" else ""
        yield Line(f"{server.protocol}-server host {server.address}{radius}")
    for protocol in used:
        word, group = AAA_GROUPS[protocol]
        members = [f"server {server.address}" for server in settings.aaa if server.protocol == protocol]
        members += [f"use-vrf {vrf}"] * (settings.network_instance != DEFAULT_INSTANCE)
        yield Line(f"aaa group server {word} {group}", tuple(map(Line, members)))
    if used:
        yield Line(f"aaa authentication login default group {' '.join(AAA_GROUPS[protocol][1] for protocol in used)}")


def _banner(text: str) -> Line:
    """The banner between two characters that it does not contain."""
    mark = next(mark for mark in DELIMITERS if mark not in text)
    return Line(f"banner motd {mark}{text}{mark}")
