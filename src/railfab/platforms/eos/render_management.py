"""Renders the management access of a device model: gNMI, NTP, syslog, TACACS+ and RADIUS, the banner, and LLDP.

No secret is in a text: the key of a server is the operator's, and a parsed line has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DEFAULT_INSTANCE, Lldp, Management, SyslogServer
from railfab.platforms.eos.names import SEVERITIES
from railfab.platforms.shared.line_tree import Line

SERVERS = {"tacacs": "tacacs-server host", "radius": "radius-server host"}
GROUPS = {"tacacs": "group tacacs+", "radius": "group radius"}
"""Groups of all servers of a protocol, which EOS has by itself."""

PROVIDER = "provider eos-native"
"""Also serves the paths of EOS itself besides those of OpenConfig."""

SYSLOG_PORT = 514


def _vrf(management: Management) -> str:
    instance = management.network_instance
    return "" if instance == DEFAULT_INSTANCE else f" vrf {instance}"


def lldp_lines(lldp: Lldp) -> Iterator[Line]:
    """EOS sends every 30 s, and a neighbour expires after 120 s, unless a line says otherwise."""
    if lldp.hello_s != Lldp().hello_s:
        yield Line(f"lldp timer {lldp.hello_s}")
    if lldp.hold_s != Lldp().hold_s:
        yield Line(f"lldp hold-time {lldp.hold_s}")
    if not lldp.enabled:
        yield Line("no lldp run")


def syslog_lines(management: Management) -> Iterator[Line]:
    """One level for all servers."""
    if management.syslog and (level := management.syslog[0].level) != "informational":
        yield Line(f"logging trap {SEVERITIES[level]}")
    for server in management.syslog:
        yield Line(f"logging{_vrf(management)} host {server.address}{_transport(server)}")


def _transport(server: SyslogServer) -> str:
    port = f" {server.port}" if server.port != SYSLOG_PORT else ""
    return f"{port}{' protocol tcp' if server.protocol == 'tcp' else ''}"


def banner_lines(management: Management) -> Iterator[Line]:
    if management.banner is not None:
        yield Line(f"banner login\n{management.banner}\nEOF")


def gnmi_lines(management: Management) -> Iterator[Line]:
    """The transport `default`. Its TLS profile, of `management security`, and the certificate are the operator's."""
    if management.gnmi is None:
        return
    lines = []
    if management.gnmi.tls_profile is not None:
        lines.append(f"ssl profile {management.gnmi.tls_profile}")
    lines.append(f"port {management.gnmi.port}")
    if management.network_instance != DEFAULT_INSTANCE:
        lines.append(f"vrf {management.network_instance}")
    transport = Line("transport grpc default", tuple(map(Line, lines)))
    yield Line("management api gnmi", (transport, Line(PROVIDER)))


def ssh_lines(management: Management) -> Iterator[Line]:
    """SSH in the VRF of the servers: by itself EOS serves it in the default one alone."""
    served = management.ntp or management.syslog or management.aaa or management.gnmi
    if served and management.network_instance != DEFAULT_INSTANCE:
        vrf = Line(f"vrf {management.network_instance}", (Line("no shutdown"),))
        yield Line("management ssh", (vrf,))


def aaa_lines(management: Management) -> Iterator[Line]:
    """The servers, and that they are asked before local users, which remain when no server answers."""
    for protocol in ("radius", "tacacs"):
        for server in management.aaa:
            if server.protocol == protocol:
                yield Line(f"{SERVERS[protocol]} {server.address}{_vrf(management)}")
    if management.aaa:
        used = {server.protocol for server in management.aaa}
        groups = " ".join(word for protocol, word in GROUPS.items() if protocol in used)
        yield Line(f"aaa authentication login default {groups} local")


def ntp_lines(management: Management) -> Iterator[Line]:
    yield from (Line(f"ntp server{_vrf(management)} {server}") for server in management.ntp)
