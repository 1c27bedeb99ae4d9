"""Renders and parses management access and LLDP: parts of `system`.

Secrets of AAA servers are in no text: `nv set system aaa tacacs server ADDRESS secret` is a command of the operator.
NVUE has no VRF for the gNMI server, but addresses that it listens on: with `0.0.0.0` it is reached in the VRF of the
management port.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    AaaServer,
    DeviceModel,
    GnmiService,
    Lldp,
    ManagementAccess,
    SyslogServer,
)
from railfab.platforms.cumulus.names import device_name, model_name
from railfab.platforms.cumulus.nodes import OFF, ON, entries, is_on, keys, numbers, stated
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

ANY, NOWHERE = "0.0.0.0", "localhost"
SEVERITIES = {
    "critical": "critical",
    "error": "error",
    "warning": "warn",
    "notice": "notice",
    "informational": "info",
    "debug": "debug",
}
"""Names of the levels of RFC 5424 (nvue-reference Syslog, severity)."""
LEVELS = {word: level for level, word in SEVERITIES.items()}
DEFAULT_LEVEL, DEFAULT_PORT, DEFAULT_PROTOCOL = "informational", 514, "udp"


def render_management(model: DeviceModel) -> Json:
    """The parts of `system` that a model states."""
    management = model.management
    if management is None:
        return {}
    vrf = None if management.network_instance == DEFAULT_INSTANCE else management.network_instance
    servers = {address: {"iburst": ON} for address in management.ntp}
    return stated(
        ntp={"server": servers, **stated(vrf=vrf)} if servers else None,
        syslog=_syslog(management, vrf),
        aaa=_aaa(management, vrf),
        gnmi_server=_gnmi(management.gnmi, model) if management.gnmi is not None else None,
        message=stated(pre_login=management.banner),
    )


def _syslog(management: ManagementAccess, vrf: str | None) -> Json | None:
    """The servers, each with a selector of the lowest severity that it gets."""
    if not management.syslog:
        return None
    levels = sorted({server.level for server in management.syslog})
    servers = {
        server.address: {
            "port": server.port,
            "protocol": server.protocol,
            "selector": {"1": {"selector-id": server.level}},
            **stated(vrf=vrf),
        }
        for server in management.syslog
    }
    return {"selector": {level: {"severity": SEVERITIES[level]} for level in levels}, "server": servers}


def _aaa(management: ManagementAccess, vrf: str | None) -> Json | None:
    """The servers of each protocol in the order of their addresses; users of the switch itself come last.

    Since 5.12 a server has its priority below its address, and neither protocol has a setting that turns it on
    (nvue-reference, TACACS and RADIUS; cumulus-linux-517, TACACS).
    """
    if not management.aaa:
        return None
    protocols: Json = {}
    for protocol in ("radius", "tacacs"):
        addresses = [server.address for server in management.aaa if server.protocol == protocol]
        if addresses:
            protocols[protocol] = _radius(addresses, vrf) if protocol == "radius" else _tacacs(addresses, vrf)
    return {**protocols, "authentication": {"order": " ".join([*protocols, "local"])}}


def _tacacs(addresses: list[str], vrf: str | None) -> Json:
    servers = {address: {"priority": place} for place, address in enumerate(addresses, start=1)}
    return {"server": servers, **stated(vrf=vrf)}


def _radius(addresses: list[str], vrf: str | None) -> Json:
    servers = {address: {"priority": place, **stated(vrf=vrf)} for place, address in enumerate(addresses, start=1)}
    return {"server": servers}


def _gnmi(service: GnmiService, model: DeviceModel) -> Json:
    """The server, with its certificate; without one it uses its own, self-signed."""
    loopback = str(model.loopback) if model.loopback is not None else NOWHERE
    in_default = model.management is None or model.management.network_instance == DEFAULT_INSTANCE
    address = loopback if in_default else ANY
    server: Json = {"state": ON, "listening-address": {address: {}}, "port": service.port}
    return {**server, **stated(certificate=service.tls_profile)}


def parse_management(root: ConfigNode) -> ManagementAccess | None:
    """The management access that is stated."""
    system = root.child("system")
    banner = system.child("message").text("pre-login")
    management = ManagementAccess(
        network_instance=_instance(system),
        ntp=keys(system.child("ntp"), "server"),
        syslog=tuple(_servers(system.child("syslog"))),
        aaa=tuple(_aaa_servers(system.child("aaa"))),
        gnmi=_service(system.child("gnmi-server")),
        banner=banner or None,
    )
    return management.stated()


def _instance(system: ConfigNode) -> str:
    """The VRF of the services: that of the first part that states one."""
    aaa = system.child("aaa")
    vrfs = [system.child("ntp").text("vrf")] if keys(system.child("ntp"), "server") else []
    vrfs += [server.text("vrf") for _, server in entries(system.child("syslog"), "server")]
    vrfs += [aaa.child("tacacs").text("vrf")] if keys(aaa.child("tacacs"), "server") else []
    vrfs += [server.text("vrf") for _, server in entries(aaa.child("radius"), "server")]
    if not vrfs and ANY in keys(system.child("gnmi-server"), "listening-address"):
        return MANAGEMENT_VRF
    return next((vrf for vrf in vrfs if vrf is not None), DEFAULT_INSTANCE)


def _servers(syslog: ConfigNode) -> Iterator[SyslogServer]:
    severity = {name: node.text("severity") or "" for name, node in entries(syslog, "selector")}
    for address, node in entries(syslog, "server"):
        selectors = [selector.text("selector-id") or "" for _, selector in numbers(node, "selector")]
        level = LEVELS.get(severity.get(selectors[0], "") if selectors else "", DEFAULT_LEVEL)
        port = node.number("port")
        yield SyslogServer(
            address=address,
            port=DEFAULT_PORT if port is None else port,
            protocol=node.text("protocol") or DEFAULT_PROTOCOL,
            level=level,
        )


def _aaa_servers(aaa: ConfigNode) -> Iterator[AaaServer]:
    for protocol in ("tacacs", "radius"):
        for address in keys(aaa.child(protocol), "server"):
            yield AaaServer(address=address, protocol=protocol)


def _service(node: ConfigNode) -> GnmiService | None:
    """The gNMI server; its port is 9339 where none is stated."""
    if not is_on(node):
        return None
    port, certificate = node.number("port"), node.text("certificate")
    return GnmiService(
        port=9339 if port is None else port, tls_profile=None if certificate == "self-signed" else certificate
    )


def render_lldp(lldp: Lldp, interfaces: Json) -> Json | None:
    """The settings of the switch; those of silent ports are added to the interfaces found so far."""
    for name in lldp.silent:
        entry: dict[str, Any] = interfaces.setdefault(device_name(name), {})
        entry["lldp"] = {"state": OFF}
    usual = Lldp()
    return (
        stated(
            state=None if lldp.enabled else OFF,
            tx_interval=lldp.hello_s if lldp.hello_s != usual.hello_s else None,
            tx_hold_multiplier=lldp.hold_multiplier if lldp.hold_multiplier != usual.hold_multiplier else None,
        )
        or None
    )


def parse_lldp(root: ConfigNode) -> Lldp:
    """LLDP, which announces the name of the switch."""
    node, usual = root.at("system", "lldp"), Lldp()
    silent = (name for name, port in entries(root, "interface") if port.child("lldp").text("state") == OFF)
    hello, hold = node.number("tx-interval"), node.number("tx-hold-multiplier")
    return Lldp(
        enabled=is_on(node, default=True),
        silent=tuple(model_name(name) or name for name in silent),
        hello_s=usual.hello_s if hello is None else hello,
        hold_multiplier=usual.hold_multiplier if hold is None else hold,
    )
