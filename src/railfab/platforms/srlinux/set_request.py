"""The configuration that railfab manages on a switch, and the gNMI Set that changes it.

Managed are front-panel ports, the loopback, the default network instance, routing policies, BFD, QoS, the host name and
LLDP's admin-state. Management ports, users, TLS, servers and all other system settings are not.
"""

from __future__ import annotations

from typing import Any

from railfab.gnmi.client import SetChanges
from railfab.platforms.shared.json_tree import Json, bare
from railfab.platforms.srlinux.interfaces import is_managed
from railfab.platforms.srlinux.routing import INSTANCE
from railfab.platforms.srlinux.tree import CONFIG, lines, stripped

HOST_NAME = "/system/name/host-name"
LLDP = "/system/lldp/admin-state"
INSTANCE_PATH = f"/network-instance[name={INSTANCE}]"
PATHS = ("/interface", INSTANCE_PATH, "/routing-policy", "/bfd", "/qos", HOST_NAME, LLDP)
"""Paths to read for the managed part."""


def managed(tree: Json) -> Json:
    """The managed part of a tree, the input of `parse` and `set_request`."""
    found = {bare(name): child for name, child in tree.items()}
    instances = [entry for entry in found.get("network-instance", []) if entry.get("name") == INSTANCE]
    sections = {
        "interface": [entry for entry in found.get("interface", []) if is_managed(str(entry.get("name")))],
        "network-instance": instances,
        **{name: found.get(name) for name in ("routing-policy", "bfd", "qos")},
        "system": _system(stripped(found.get("system", {}))),
    }
    return {CONFIG[name]: section for name, section in sections.items() if section}


def _system(system: Json) -> Json:
    name, lldp = system.get("name", {}).get("host-name"), system.get("lldp", {}).get("admin-state")
    tree: Json = {"srl_nokia-system-name:name": {"host-name": name}} if name else {}
    return tree | ({"srl_nokia-lldp:lldp": {"admin-state": lldp}} if lldp else {})


def set_request(before: Json, after: Json) -> SetChanges:
    """The Set that turns `before` into `after`: replaces changed managed subtrees and deletes removed ones."""
    old, new = _subtrees(before), _subtrees(after)
    changed = {path: value for path, value in new.items() if _lines(value) != _lines(old.get(path))}
    leaves = (HOST_NAME, LLDP)
    return SetChanges(
        delete=tuple(sorted(path for path in old.keys() - new.keys() if path != HOST_NAME)),
        replace=tuple((path, value) for path, value in changed.items() if path not in leaves),
        update=tuple((path, value) for path, value in changed.items() if path in leaves),
    )


def _lines(value: Any) -> list[str]:
    """A subtree as CLI lines, independent of the order of lists and of the spelling of numbers."""
    return sorted(lines({"value": value})) if value is not None else []


def _subtrees(tree: Json) -> dict[str, Any]:
    """The managed subtrees by path; each is replaced as a whole."""
    plain = {bare(name): child for name, child in tree.items()}
    found: dict[str, Any] = {
        f"/interface[name={entry['name']}]": entry
        for entry in plain.get("interface", [])
        if is_managed(str(entry.get("name")))
    }
    instances = [entry for entry in plain.get("network-instance", []) if entry.get("name") == INSTANCE]
    if instances:
        found[INSTANCE_PATH] = instances[0]
    found |= {f"/{name}": plain[name] for name in ("routing-policy", "bfd", "qos") if name in plain}
    system = stripped(plain.get("system", {}))
    leaves = {HOST_NAME: ("name", "host-name"), LLDP: ("lldp", "admin-state")}
    return found | {
        path: system[section][leaf] for path, (section, leaf) in leaves.items() if leaf in system.get(section, {})
    }
