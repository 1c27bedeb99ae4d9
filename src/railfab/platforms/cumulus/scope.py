"""Settings of a switch that are the operator's: user accounts, the management port and its VRF, and services that the
intent does not state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from railfab.platforms.cumulus.spelling import merged
from railfab.platforms.shared.json_tree import Json

FABRIC = frozenset(("interface", "router", "vrf", "qos", "bridge", "nve", "evpn", "mlag"))
"""Parts of the configuration that are the fabric's, but for the ports and the VRF of the management."""
FABRIC_SYSTEM = frozenset(("hostname", "forwarding", "global", "lldp"))
"""Likewise below `system`."""
MANAGEMENT_PORT = re.compile(r"eth\d+")
MANAGEMENT_VRF = "mgmt"
SECRET = "secret"


def operators(running: Json, wanted: Json) -> Json:
    """The settings of a tree that are the operator's, where the intent has this one."""
    kept = {name: child for name, child in running.items() if name not in (*FABRIC, "system") and name not in wanted}
    ports = {name: port for name, port in _dict(running, "interface").items() if MANAGEMENT_PORT.fullmatch(name)}
    vrfs = {name: vrf for name, vrf in _dict(running, "vrf").items() if name == MANAGEMENT_VRF}
    system = _system(_dict(running, "system"), _dict(wanted, "system"))
    parts = {"interface": ports, "vrf": vrfs, "system": system}
    return copied({**kept, **{name: part for name, part in parts.items() if part}})


def _system(running: Json, wanted: Json) -> Json:
    """Services that the intent does not state; where it states servers of logins, the accounts and the secrets."""
    kept = {name: child for name, child in running.items() if name not in FABRIC_SYSTEM and name not in wanted}
    logins, stated = _dict(running, "aaa"), _dict(wanted, "aaa")
    if stated:
        accounts = {name: child for name, child in logins.items() if name not in stated}
        kept["aaa"] = accounts | _secrets(logins, stated)
    return {name: child for name, child in kept.items() if name != "aaa" or child}


def _secrets(logins: Json, stated: Json) -> Json:
    """The secrets of the servers that the intent states."""
    protocols: Json = {}
    for protocol, settings in stated.items():
        servers = {
            address: {SECRET: server[SECRET]}
            for address, server in _dict(_dict(logins, protocol), "server").items()
            if address in _dict(settings, "server") and SECRET in server
        }
        if servers:
            protocols[protocol] = {"server": servers}
    return protocols


def candidate(running: Json, wanted: Json) -> Json:
    """The tree of the intent with what is the operator's on the switch."""
    return merged(operators(running, wanted), copied(wanted))


def without(tree: Json, removed: Mapping[str, Any]) -> Json:
    """The tree without the leaves of another one, nor the containers that this empties."""
    left: Json = {}
    for name, child in tree.items():
        if name not in removed:
            left[name] = child
        elif (
            isinstance(child, dict) and isinstance(removed[name], Mapping) and (below := without(child, removed[name]))
        ):
            left[name] = below
    return left


def copied(tree: Mapping[str, Any]) -> Json:
    """A copy down to the leaves."""
    return {name: copied(child) if isinstance(child, Mapping) else child for name, child in tree.items()}


def _dict(tree: Mapping[str, Any], name: str) -> Json:
    child = tree.get(name)
    return child if isinstance(child, dict) else {}
