"""Renders name, management access and LLDP of a device model.

Servers are reached in the instance of the management port, `mgmt_junos`; its routes and the address of the port are the
operator's. Where none are stated, the instance is the operator's too: the statement that makes it moves the port out of
the default table, and without a route in the instance the switch is not reached (Juniper, Management Interface in a
Non-Default Instance). No secret is in the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    AaaServer,
    DeviceModel,
    GnmiService,
    Lldp,
    Management,
    SyslogServer,
)
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE
from railfab.platforms.junos.trees import block, entry, flag, leaf, setting
from railfab.platforms.shared.line_tree import Line

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


def instance_of(management: Management) -> str | None:
    """Junos's name of the instance of the servers; None for the default one."""
    name = management.network_instance
    if name == DEFAULT_INSTANCE:
        return None
    return MANAGEMENT_INSTANCE if name == MANAGEMENT_VRF else name


def system_lines(model: DeviceModel) -> Iterator[Line]:
    """The section `system`, which every configuration has."""
    management = model.management or Management()
    instance = instance_of(management)
    yield from block(
        "system",
        setting("host-name", model.name),
        _login(management),
        block("services", _services(management, instance)),
        flag(MANAGEMENT_STATEMENT, instance == MANAGEMENT_INSTANCE and _serves(management)),
        _aaa(management, instance),
        block("syslog", (_syslog(server, instance) for server in management.syslog)),
        block("ntp", (_ntp(address, instance) for address in management.ntp)),
    )


def _serves(management: Management) -> bool:
    """Whether anything is reached in the instance of the management."""
    return bool(management.ntp or management.syslog or management.aaa or management.gnmi)


def _login(management: Management) -> Iterator[Line]:
    """The text before a login."""
    yield from block("login", setting("message", management.banner))


def _services(management: Management, instance: str | None) -> Iterator[Line]:
    """SSH, NETCONF over it, and gNMI (with TLS where it has a certificate)."""
    yield Line("ssh")
    yield from block("netconf", (Line("ssh"),))
    if management.gnmi is not None:
        grpc = block("grpc", _gnmi(management.gnmi, instance))
        yield from block("extension-service", block("request-response", grpc))


def _gnmi(service: GnmiService, instance: str | None) -> Iterator[Line]:
    certificate = setting("local-certificate", service.tls_profile)
    transport = "clear-text" if service.tls_profile is None else "ssl"
    yield from block(transport, (leaf("port", service.port),), certificate)
    yield from setting("routing-instance", instance)


def _aaa(management: Management, instance: str | None) -> Iterator[Line]:
    """TACACS+ and RADIUS servers, before the passwords of the switch; their secrets are set apart."""
    protocols = {"tacacs": "tacplus", "radius": "radius"}
    used = [words for name, words in protocols.items() if any(x.protocol == name for x in management.aaa)]
    if used:
        yield Line(f"authentication-order [ {' '.join([*used, 'password'])} ]")
    for name, words in protocols.items():
        servers = (found for found in management.aaa if found.protocol == name)
        yield from block(f"{words}-server", (_server(found, instance) for found in servers))


def _server(found: AaaServer, instance: str | None) -> Line:
    return entry(found.address, setting("routing-instance", instance))


def _syslog(server: SyslogServer, instance: str | None) -> Line:
    return entry(
        f"host {server.address}",
        (leaf("any", LEVELS[server.level]),),
        (leaf("port", server.port),),
        flag("transport tcp", server.protocol == "tcp"),
        setting("routing-instance", instance),
    )


def _ntp(address: str, instance: str | None) -> Line:
    return Line(f"server {address}" + (f" routing-instance {instance}" if instance else ""))


def lldp_lines(model: DeviceModel) -> Iterator[Line]:
    """LLDP on every port, with the names of interfaces as the other platforms have them."""
    lldp = model.lldp
    default = Lldp()
    yield from block(
        "lldp",
        flag("disable", not lldp.enabled),
        setting("advertisement-interval", lldp.hello_s if lldp.hello_s != default.hello_s else None),
        setting("hold-multiplier", lldp.hold_multiplier if lldp.hold_multiplier != default.hold_multiplier else None),
        (Line("port-id-subtype interface-name"),),
        (Line("interface all"),),
        (entry(f"interface {name}", (Line("disable"),)) for name in lldp.silent),
    )
