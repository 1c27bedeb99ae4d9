"""Name, management access and LLDP of Junos.

Servers are reached in the instance of the management port, `mgmt_junos`; its routes and the address of the port are the
operator's. Where none are stated, the instance is the operator's too: the statement that makes it moves the port out of
the default table, and without a route in the instance the switch is not reached (Juniper, Management Interface in a
Non-Default Instance). No secret is in the text.
"""

from __future__ import annotations

from dataclasses import dataclass

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    AaaServer,
    GnmiService,
    Lldp,
    ManagementAccess,
    SyslogServer,
)
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE
from railfab.platforms.shared.statements import Word
from railfab.platforms.shared.tree_statements import (
    NUMBER,
    POSITIVE,
    TEXT,
    below,
    flag,
    known,
    leaf,
    sections,
    unread,
    values,
)

LEVELS = {
    "emergency": "emergency",
    "alert": "alert",
    "critical": "critical",
    "error": "error",
    "warning": "warning",
    "notice": "notice",
    "informational": "info",
    "debug": "any",
}
"""Severities of Junos by their names in RFC 5424 (junos-qfx-conf-system, syslog)."""
MANAGEMENT_STATEMENT = "management-instance"
PASSWORD = "password"
"""The passwords of the switch, in the order in which logins are checked."""


def _instance_of(name: str) -> str:
    return MANAGEMENT_VRF if name == MANAGEMENT_INSTANCE else name


def _native_instance(instance: str) -> str:
    return MANAGEMENT_INSTANCE if instance == MANAGEMENT_VRF else TEXT.text(instance)


INSTANCE = Word(".+", _instance_of, _native_instance)


@dataclass(slots=True, kw_only=True)
class Server:
    """A server of NTP, TACACS+ or RADIUS. instance: in which it is reached."""

    instance: str | None = leaf("routing-instance", INSTANCE)


@dataclass(slots=True, kw_only=True)
class JunosSyslog:
    """level: of all facilities; that of single ones is unmodelled."""

    level: str | None = leaf("any", known(LEVELS))
    port: int | None = leaf("port", POSITIVE)
    protocol: str = leaf("transport", known({"udp": "udp", "tcp": "tcp"}), default="udp")
    instance: str | None = leaf("routing-instance", INSTANCE)


@dataclass(slots=True, kw_only=True)
class GrpcTransport:
    port: int | None = leaf("port", NUMBER)
    certificate: str | None = leaf("local-certificate")


@dataclass(slots=True, kw_only=True)
class Grpc:
    """The gNMI server, with or without TLS."""

    tls: GrpcTransport | None = below("ssl", GrpcTransport)
    plain: GrpcTransport | None = below("clear-text", GrpcTransport)
    instance: str | None = leaf("routing-instance", INSTANCE)


@dataclass(slots=True, kw_only=True)
class JunosSystem:
    """The section `system`, which every configuration has."""

    name: str = leaf("host-name", default="")
    banner: str | None = leaf("login/message")
    ssh: bool = unread("services/ssh")
    netconf: bool = unread("services/netconf/ssh")
    grpc: Grpc | None = below("services/extension-service/request-response/grpc", Grpc)
    moves_port: bool = flag(MANAGEMENT_STATEMENT)
    logins: tuple[str, ...] = values("authentication-order")
    tacacs: dict[str, Server] = sections("tacplus-server/", Server)
    radius: dict[str, Server] = sections("radius-server/", Server)
    syslog: dict[str, JunosSyslog] = sections("syslog/host", JunosSyslog)
    ntp: dict[str, Server] = sections("ntp/server", Server, oneline=True)


def native_system(name: str, stated: ManagementAccess | None) -> JunosSystem:
    management = stated or ManagementAccess()
    gnmi, instance = management.gnmi, management.network_instance
    server = Server(instance=None if instance == DEFAULT_INSTANCE else instance)
    tacacs, radius = (
        {each.address: server for each in management.aaa if each.protocol == protocol}
        for protocol in ("tacacs", "radius")
    )
    used = ["tacplus"] * bool(tacacs) + ["radius"] * bool(radius)
    grpc = None
    if gnmi is not None:
        transport = GrpcTransport(port=gnmi.port, certificate=gnmi.tls_profile)
        grpc = Grpc(**{"plain" if gnmi.tls_profile is None else "tls": transport}, instance=server.instance)
    return JunosSystem(
        name=name,
        banner=management.banner or None,
        ssh=True,
        netconf=True,
        grpc=grpc,
        moves_port=instance == MANAGEMENT_VRF and bool(management.ntp or management.syslog or management.aaa or gnmi),
        logins=(*used, PASSWORD) if used else (),
        tacacs=tacacs,
        radius=radius,
        syslog={
            each.address: JunosSyslog(
                level=each.level, port=each.port, protocol=each.protocol, instance=server.instance
            )
            for each in management.syslog
        },
        ntp=dict.fromkeys(management.ntp, server),
    )


def management_of(system: JunosSystem) -> ManagementAccess | None:
    """Management access; None where the configuration states none."""
    servers: list[Server | JunosSyslog | Grpc] = [*system.ntp.values(), *system.syslog.values()]
    servers += [*system.tacacs.values(), *system.radius.values(), *([system.grpc] if system.grpc else [])]
    instances = {each.instance for each in servers if each.instance is not None}
    usual = SyslogServer(address="")
    return ManagementAccess(
        network_instance=min(instances, default=DEFAULT_INSTANCE),
        ntp=tuple(system.ntp),
        syslog=tuple(
            SyslogServer(
                address=address,
                port=each.port or usual.port,
                protocol=each.protocol,
                level=each.level or usual.level,
            )
            for address, each in system.syslog.items()
        ),
        aaa=(
            *(AaaServer(address=address, protocol="tacacs") for address in system.tacacs),
            *(AaaServer(address=address, protocol="radius") for address in system.radius),
        ),
        gnmi=_gnmi_of(system.grpc),
        banner=system.banner,
    ).stated()


def _gnmi_of(grpc: Grpc | None) -> GnmiService | None:
    """None without a port."""
    for transport in (grpc.tls, grpc.plain) if grpc else ():
        if transport is not None and transport.port is not None:
            return GnmiService(port=transport.port, tls_profile=transport.certificate)
    return None


@dataclass(slots=True, kw_only=True)
class LldpInterface:
    silent: bool = flag("disable")


@dataclass(slots=True, kw_only=True)
class NativeLldp:
    """LLDP with the names of interfaces as the other platforms have them; off on a switch that names none for it."""

    enabled: bool = flag("disable", default=True)
    hello_s: int = leaf("advertisement-interval", POSITIVE, default=Lldp().hello_s)
    hold_multiplier: int = leaf("hold-multiplier", POSITIVE, default=Lldp().hold_multiplier)
    names: bool = unread("port-id-subtype interface-name")
    interfaces: dict[str, LldpInterface] = sections("interface", LldpInterface)


def native_lldp(lldp: Lldp) -> NativeLldp:
    return NativeLldp(
        enabled=lldp.enabled,
        hello_s=lldp.hello_s,
        hold_multiplier=lldp.hold_multiplier,
        names=True,
        interfaces={"all": LldpInterface()} | {name: LldpInterface(silent=True) for name in lldp.silent},
    )


def lldp_of(native: NativeLldp) -> Lldp:
    return Lldp(
        enabled=native.enabled and "all" in native.interfaces,
        silent=tuple(name for name, each in native.interfaces.items() if each.silent),
        hello_s=native.hello_s,
        hold_multiplier=native.hold_multiplier,
    )
