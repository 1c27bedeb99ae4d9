"""Reads management access and LLDP of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    AaaServer,
    GnmiService,
    Lldp,
    Management,
    SyslogServer,
)
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE
from railfab.platforms.junos.render_system import LEVELS
from railfab.platforms.junos.words import Words

DEFAULT_SYSLOG_PORT = 514


def management_of(root: Words) -> Management | None:
    """Management access; None where the configuration states none."""
    system = root.at("system")
    instances = set(_instances(system))
    return Management(
        network_instance=_instance(min(instances)) if instances else DEFAULT_INSTANCE,
        ntp=system.texts("ntp", "server"),
        syslog=tuple(_syslog(address, words) for address, words in system.entries("syslog", "host")),
        aaa=tuple(
            AaaServer(address=address, protocol=protocol)
            for protocol, words in (("tacacs", "tacplus-server"), ("radius", "radius-server"))
            for address in system.texts(words)
        ),
        gnmi=_gnmi(_grpc(system)),
        banner=system.text("login", "message"),
    ).stated()


def _grpc(system: Words) -> Words:
    return system.at("services", "extension-service", "request-response", "grpc")


def _instances(system: Words) -> Iterator[str]:
    """The routing instance of each server that states one."""
    lists = (("ntp", "server"), ("syslog", "host"), ("tacplus-server",), ("radius-server",))
    servers = [words for names in lists for _, words in system.entries(*names)]
    found = (words.text("routing-instance") for words in (*servers, _grpc(system)))
    yield from (name for name in found if name is not None)


def _instance(name: str) -> str:
    return MANAGEMENT_VRF if name == MANAGEMENT_INSTANCE else name


def _syslog(address: str, words: Words) -> SyslogServer:
    """A server with the level of all facilities; that of single ones is unmodelled."""
    levels = {junos: level for level, junos in LEVELS.items()}
    return SyslogServer(
        address=address,
        port=words.number("port") or DEFAULT_SYSLOG_PORT,
        protocol=words.text("transport") or "udp",
        level=levels.get(words.text("any") or "", SyslogServer(address=address).level),
    )


def _gnmi(grpc: Words) -> GnmiService | None:
    """The gNMI server, with or without TLS; None without a port."""
    for transport in ("ssl", "clear-text"):
        port = grpc.number(transport, "port")
        if port is not None:
            return GnmiService(port=port, tls_profile=grpc.text(transport, "local-certificate"))
    return None


def lldp_of(root: Words) -> Lldp:
    """LLDP; off on a switch that names no interface for it."""
    words, default = root.at("protocols", "lldp"), Lldp()
    silent = (name for name, below in words.entries("interface") if "disable" in below)
    return Lldp(
        enabled="disable" not in words and "all" in words.at("interface"),
        silent=tuple(silent),
        hello_s=words.number("advertisement-interval") or default.hello_s,
        hold_multiplier=words.number("hold-multiplier") or default.hold_multiplier,
    )
