"""Renders and parses the management access of a switch: NTP, syslog, AAA, the gNMI server and the banner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from railfab.device import DEFAULT_INSTANCE, AaaServer, GnmiService, ManagementAccess, SyslogServer
from railfab.platforms.shared.config_node import ENABLE, ConfigNode
from railfab.platforms.shared.json_tree import Json

GRPC_SERVER = "mgmt"
"""Name of the gRPC server in Nokia's factory configuration."""
DEFAULT_GNMI_PORT = 57400
"""Default in srl_nokia-grpc, port."""
FACILITY = "local6"
"""Facility of the messages of SR Linux itself (srl_nokia-logging, subsystem-facility)."""
LOCAL = "local"
"""Server group of the local users; srl_nokia-aaa requires this name."""
PROTOCOLS = ("tacacs", "radius")
"""Protocols of AAA servers, which name their server groups too."""


def render_management(management: ManagementAccess | None) -> Mapping[str, Any]:
    """The stated parts, by their names below `/system`."""
    if management is None:
        return {}
    parts: dict[str, Any] = {}
    instance = management.network_instance
    if management.ntp:
        servers = [{"address": address} for address in management.ntp]
        parts["ntp"] = {"admin-state": ENABLE, "network-instance": instance, "server": servers}
    if management.syslog:
        collectors = [_collector(server) for server in management.syslog]
        parts["logging"] = {"network-instance": instance, "remote-server": collectors}
    if management.aaa:
        parts["aaa"] = _aaa(management.aaa, instance)
    if management.banner is not None:
        parts["banner"] = {"login-banner": management.banner}
    if management.gnmi is not None:
        parts["grpc-server"] = [_gnmi(management.gnmi, instance)]
    return parts


def _collector(server: SyslogServer) -> Json:
    """A collector gets the messages of SR Linux; one without a facility would get none."""
    facility = {"facility-name": FACILITY, "priority": {"match-above": server.level}}
    return {
        "host": server.address,
        "transport": server.protocol,
        "remote-port": server.port,
        "facility": [facility],
    }


def _aaa(servers: tuple[AaaServer, ...], instance: str) -> Json:
    """A group for each protocol, and the local users after them, so that a switch without its servers has a login."""
    protocols = [protocol for protocol in PROTOCOLS if any(server.protocol == protocol for server in servers)]
    groups: list[Json] = [
        {
            "name": protocol,
            "type": f"srl_nokia-aaa-types:{protocol}",
            "server": [
                {"address": server.address, "network-instance": instance}
                for server in servers
                if server.protocol == protocol
            ],
        }
        for protocol in protocols
    ]
    return {
        "authentication": {"authentication-method": [*protocols, LOCAL]},
        "server-group": [*groups, {"name": LOCAL, "type": f"srl_nokia-aaa-types:{LOCAL}"}],
    }


def _gnmi(service: GnmiService, instance: str) -> Json:
    server: Json = {
        "name": GRPC_SERVER,
        "admin-state": ENABLE,
        "network-instance": instance,
        "port": service.port,
        "services": ["gnmi"],
    }
    return server if service.tls_profile is None else server | {"tls-profile": service.tls_profile}


def parse_management(system: ConfigNode) -> ManagementAccess | None:
    """The parts that `/system` has in effect; None without any."""
    ntp, logging = system.child("ntp"), system.child("logging")
    grpc = system.entry("grpc-server", "name", GRPC_SERVER)
    servers = tuple(_addresses(ntp.entries("server", "address"))) if ntp.enabled(default=False) else ()
    collectors = tuple(_collectors(logging))
    aaa = tuple(_aaa_servers(system.child("aaa")))
    serves = grpc.enabled(default=False)
    instances = (
        ntp.text("network-instance") if servers else None,
        logging.text("network-instance") if collectors else None,
        *(instance for _, instance in aaa),
        grpc.text("network-instance") if serves else None,
    )
    return ManagementAccess(
        network_instance=next((instance for instance in instances if instance is not None), DEFAULT_INSTANCE),
        ntp=servers,
        syslog=collectors,
        aaa=tuple(server for server, _ in aaa),
        gnmi=_service(grpc) if serves else None,
        banner=system.child("banner").text("login-banner"),
    ).stated()


def _addresses(entries: Iterator[ConfigNode]) -> Iterator[str]:
    return (str(entry.value["address"]) for entry in entries)


def _collectors(logging: ConfigNode) -> Iterator[SyslogServer]:
    """The collectors that get the messages of SR Linux above a severity."""
    for entry in logging.entries("remote-server", "host"):
        priority = entry.entry("facility", "facility-name", FACILITY).child("priority")
        if (level := priority.text("match-above")) is not None:
            yield SyslogServer(
                address=str(entry.value["host"]),
                port=entry.number("remote-port") or 514,
                protocol=entry.text("transport") or "udp",
                level=level,
            )


def _aaa_servers(aaa: ConfigNode) -> Iterator[tuple[AaaServer, str | None]]:
    """The servers that logins use, and the network instance of each."""
    methods = aaa.child("authentication").words("authentication-method")
    for group in aaa.entries("server-group", "name"):
        name = str(group.value["name"])
        if name in methods and name in PROTOCOLS and group.text("type") == name:
            for entry in group.entries("server", "address"):
                server = AaaServer(address=str(entry.value["address"]), protocol=name)
                yield server, entry.text("network-instance")


def _service(grpc: ConfigNode) -> GnmiService:
    return GnmiService(port=grpc.number("port") or DEFAULT_GNMI_PORT, tls_profile=grpc.text("tls-profile"))
