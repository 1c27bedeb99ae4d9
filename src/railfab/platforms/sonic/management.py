"""Management access and LLDP (sonic-mgmt_vrf, -ntp, -syslog, -system-tacacs, -system-radius, -gnmi, -banner, -lldp).

Secrets are in no text: `TACPLUS|global passkey` and the order of `AAA|authentication`, which needs it, stay the
operator's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    AaaServer,
    GnmiService,
    Lldp,
    ManagementAccess,
    SyslogServer,
)
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.sonic.tables import FALSE, TRUE, Row, Tables, boolean, nodes, row, stated

SERVERS = {"tacacs": "TACPLUS_SERVER", "radius": "RADIUS_SERVER"}
SEVERITIES = {
    "critical": "crit",
    "error": "error",
    "warning": "warn",
    "notice": "notice",
    "informational": "info",
    "debug": "debug",
}
"""sonic-syslog, rsyslog-severity."""

CERTIFICATES = PurePosixPath("/etc/sonic/telemetry")
"""Folder of the certificates of the gNMI server, in files named like the TLS profile (sonic-gnmi, README)."""

PASSWORD = "password"
"""Login at the gNMI server with the user and password of the switch (sonic-gnmi, user_auth)."""

_LEVELS = {text: level for level, text in SEVERITIES.items()}


def render_management(management: ManagementAccess | None) -> Tables:
    if management is None:
        return {}
    vrf = management.network_instance
    vrf_key = None if vrf == DEFAULT_INSTANCE else vrf
    tables: Tables = {
        "MGMT_VRF_CONFIG": {"vrf_global": {"mgmtVrfEnabled": TRUE}} if vrf_key == MANAGEMENT_VRF else {},
        "NTP": {"global": {"vrf": vrf_key}} if vrf_key and management.ntp else {},
        "NTP_SERVER": {address: _time_server(address) for address in management.ntp},
        "SYSLOG_SERVER": {server.address: _collector(server, vrf_key) for server in management.syslog},
        "BANNER_MESSAGE": {"global": _banner(management.banner)} if management.banner is not None else {},
    }
    for protocol, table in SERVERS.items():
        tables[table] = {
            server.address: stated(vrf=vrf_key) for server in management.aaa if server.protocol == protocol
        }
    if management.gnmi is not None:
        tables["GNMI"] = _gnmi(management.gnmi, vrf_key)
    return tables


def _time_server(address: str) -> Row:
    """A row with both fields: images whose NTP client is ntpd leave out a server without them (SONiC,
    doc/ntp/ntp-design.md, ntp.conf.j2)."""
    return {"association_type": "server", "resolve_as": address}


def _collector(server: SyslogServer, vrf: str | None) -> Row:
    return stated(port=server.port, protocol=server.protocol, severity=SEVERITIES[server.level], vrf=vrf)


def _banner(text: str) -> Row:
    return {"state": "enabled", "login": text}


def _gnmi(service: GnmiService, vrf: str | None) -> dict[str, Row]:
    """The server with the certificate of a profile, for clients with a user and a password.

    Without these fields it demands a certificate of its clients, and names of certificates that may log in
    (sonic-buildimage 0367e25, docker-sonic-gnmi, gnmi-native.sh).
    """
    profile = service.tls_profile
    if profile is None:
        return {"gnmi": stated(port=service.port, vrf=vrf)}
    files = {"server_crt": f"{profile}.cer", "server_key": f"{profile}.key"}
    return {
        "gnmi": stated(port=service.port, client_auth=FALSE, user_auth=PASSWORD, vrf=vrf),
        "certs": {field: str(CERTIFICATES / name) for field, name in files.items()},
    }


def parse_management(tree: Tables, problems: list[RailfabError]) -> ManagementAccess | None:
    """Stated parts of the management access. Its VRF is that of the management port wherever that is enabled."""
    enabled = _node(tree, problems, "MGMT_VRF_CONFIG", "vrf_global").flag("mgmtVrfEnabled", default=False)
    return ManagementAccess(
        network_instance=MANAGEMENT_VRF if enabled else DEFAULT_INSTANCE,
        ntp=tuple(tree.get("NTP_SERVER", {})),
        syslog=tuple(_collectors(tree, problems)),
        aaa=tuple(_aaa(tree)),
        gnmi=_service(tree, problems),
        banner=_shown(_node(tree, problems, "BANNER_MESSAGE", "global")),
    ).stated()


def _node(tree: Tables, problems: list[RailfabError], table: str, name: str) -> ConfigNode:
    return ConfigNode(row(tree, table, name), f"{table}|{name}", problems)


def _collectors(tree: Tables, problems: list[RailfabError]) -> Iterator[SyslogServer]:
    for parts, node in nodes(tree, "SYSLOG_SERVER", problems):
        port = node.number("port")
        yield SyslogServer(
            address=parts[0],
            port=514 if port is None else port,
            protocol=node.text("protocol") or "udp",
            level=_LEVELS.get(node.text("severity") or "", "notice"),
        )


def _aaa(tree: Tables) -> Iterator[AaaServer]:
    for protocol, table in SERVERS.items():
        yield from (AaaServer(address=address, protocol=protocol) for address in tree.get(table, {}))


def _service(tree: Tables, problems: list[RailfabError]) -> GnmiService | None:
    port = _node(tree, problems, "GNMI", "gnmi").number("port")
    if port is None:
        return None
    certificate = row(tree, "GNMI", "certs").get("server_crt")
    return GnmiService(port=port, tls_profile=PurePosixPath(str(certificate)).stem if certificate else None)


def _shown(node: ConfigNode) -> str | None:
    return node.text("login") if node.text("state") == "enabled" else None


def render_lldp(lldp: Lldp) -> Tables:
    default = Lldp()
    fields = stated(
        enabled=None if lldp.enabled else FALSE,
        hello_time=lldp.hello_s if lldp.hello_s != default.hello_s else None,
        multiplier=lldp.hold_multiplier if lldp.hold_multiplier != default.hold_multiplier else None,
        system_name=lldp.system_name,
    )
    silent = {port: {"enabled": boolean(False)} for port in lldp.silent}
    return {"LLDP": {"GLOBAL": fields} if fields else {}, "LLDP_PORT": silent}


def parse_lldp(tree: Tables, problems: list[RailfabError]) -> Lldp:
    settings = _node(tree, problems, "LLDP", "GLOBAL")
    hello, multiplier = settings.number("hello_time"), settings.number("multiplier")
    ports = nodes(tree, "LLDP_PORT", problems)
    return Lldp(
        enabled=settings.flag("enabled", default=True),
        silent=tuple(parts[0] for parts, node in ports if not node.flag("enabled", default=True)),
        hello_s=Lldp().hello_s if hello is None else hello,
        hold_multiplier=Lldp().hold_multiplier if multiplier is None else multiplier,
        system_name=settings.text("system_name"),
    )
