"""Settings of ports that Linux has and FRR has not, as comments of a configuration: MTU, and whether a port is enabled.

    ! ip link set dev swp1 mtu 9000 up

FRR and frr-reload.py skip these lines; without `! ` they are commands. So one text holds all that a switch should run,
and a configuration that was read from a switch can be restored with them. Uses the standard library of Python 3.8
only, because it also runs on switches.
"""

from __future__ import annotations

import json
import re
from collections import namedtuple

HEADING = "! Linux settings of the ports, which FRR does not have:"
_COMMAND = re.compile(r"(?m)^! ip link set dev (?P<port>\S+) mtu (?P<mtu>\d+) (?P<state>up|down)$\n?")
_HEADING = re.compile(rf"(?m)^{HEADING}$\n?")


class PortSettings(namedtuple("PortSettings", ["mtu_bytes", "enabled"], defaults=[True])):
    """Settings of one port. mtu_bytes: largest IP packet."""


def comments(settings: dict[str, PortSettings]) -> str:
    """The lines of a configuration with these settings; empty for none."""
    lines = [f"! {command(port, wanted)}\n" for port, wanted in settings.items()]
    return "".join([f"{HEADING}\n", *lines]) if lines else ""


def command(port: str, wanted: PortSettings) -> str:
    """The command that gives a port these settings."""
    return f"ip link set dev {port} mtu {wanted.mtu_bytes} {'up' if wanted.enabled else 'down'}"


def settings_in(text: str) -> dict[str, PortSettings]:
    """The settings in the comments of a configuration."""
    matches = _COMMAND.finditer(text)
    return {match["port"]: PortSettings(int(match["mtu"]), match["state"] == "up") for match in matches}


def without_settings(text: str) -> str:
    """A configuration without these comments, for a switch whose operating system railfab does not configure."""
    return _COMMAND.sub("", _HEADING.sub("", text))


def running_settings(links: str) -> dict[str, PortSettings]:
    """The settings that ports have, from the output of `ip -j link show`, without the loopback."""
    return {
        link["ifname"]: PortSettings(link["mtu"], "UP" in link["flags"])
        for link in json.loads(links)
        if "LOOPBACK" not in link["flags"]
    }


def with_running_settings(text: str, links: str, like: str) -> str:
    """A running configuration with the settings of the ports that another configuration, `like`, has settings of.

    links: output of `ip -j link show`.
    """
    running, ports = running_settings(links), settings_in(like)
    return comments({port: running[port] for port in ports if port in running}) + without_settings(text)


def pending_commands(text: str, links: str) -> list[str]:
    """The commands that give the ports the settings of a configuration; none when they have them.

    links: output of `ip -j link show`. A port that does not exist is left out: a command cannot create it.
    """
    running = running_settings(links)
    return [
        command(port, wanted)
        for port, wanted in settings_in(text).items()
        if port in running and running[port] != wanted
    ]
