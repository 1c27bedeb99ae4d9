"""The nic.json of a plan, as the agent needs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from railfab.errors import RailfabError
from railfab.hosts.nic import Impossible, loaded

REMEDY = "Name the nic.json that `railfab plan INTENT -o DIR` writes into DIR/hosts"
PORT_KEYS = ("name", "nic", "bond", "mtu", "cable_m", "rail", "plane")


class SettingsFileError(RailfabError):
    """A file that is no nic.json."""


def read_settings(path: Path) -> Mapping[str, Any]:
    """The settings that a plan wants. Raises SettingsFileError."""
    try:
        settings = loaded(path)
    except Impossible as error:
        raise SettingsFileError(str(path), str(error).removeprefix(f"{path}: "), REMEDY) from None
    missing = [key for key in ("fabric", "nics", "ports", "facts") if key not in settings]
    if missing:
        raise SettingsFileError(str(path), f"has no {missing[0]}", REMEDY)
    ports = settings["ports"]
    if not isinstance(ports, list) or not all(isinstance(port, dict) for port in ports):
        raise SettingsFileError(str(path), "ports is no list of mappings", REMEDY)
    for number, port in enumerate(ports):
        if lacking := [key for key in PORT_KEYS if key not in port]:
            raise SettingsFileError(str(path), f"port {number + 1} has no {lacking[0]}", REMEDY)
    return settings
