"""Which part of a switch railfab owns, and the Set that turns one such part into another.

Owned are the front-panel ports and the loopback, the default network instance, the routing policies, BFD and QoS as a
whole, the host name and whether LLDP runs. Management ports, users, TLS, servers and all other system settings are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from railfab.platforms.srlinux.interfaces import is_ours
from railfab.platforms.srlinux.routing import INSTANCE
from railfab.platforms.srlinux.tree import CONFIG, Json, bare, lines, stripped

HOST_NAME = "/system/name/host-name"
LLDP = "/system/lldp/admin-state"
INSTANCE_PATH = f"/network-instance[name={INSTANCE}]"
PATHS = ("/interface", INSTANCE_PATH, "/routing-policy", "/bfd", "/qos", HOST_NAME, LLDP)
"""What has to be read to know the owned part."""


@dataclass(frozen=True, slots=True)
class Edits:
    """One Set: paths to delete, and paths with values to replace and to update."""

    delete: tuple[str, ...]
    replace: tuple[tuple[str, Any], ...]
    update: tuple[tuple[str, Any], ...]

    def __bool__(self) -> bool:
        return bool(self.delete or self.replace or self.update)


def owned(tree: Json) -> Json:
    """The owned part of a tree, as `parse` reads it and `edits` takes it."""
    found = {bare(name): child for name, child in tree.items()}
    instances = [entry for entry in found.get("network-instance", []) if entry.get("name") == INSTANCE]
    sections = {
        "interface": [entry for entry in found.get("interface", []) if is_ours(str(entry.get("name")))],
        "network-instance": instances,
        **{name: found.get(name) for name in ("routing-policy", "bfd", "qos")},
        "system": _system(stripped(found.get("system", {}))),
    }
    return {CONFIG[name]: section for name, section in sections.items() if section}


def _system(system: Json) -> Json:
    name, lldp = system.get("name", {}).get("host-name"), system.get("lldp", {}).get("admin-state")
    tree: Json = {"srl_nokia-system-name:name": {"host-name": name}} if name else {}
    return tree | ({"srl_nokia-lldp:lldp": {"admin-state": lldp}} if lldp else {})


def edits(before: Json, after: Json) -> Edits:
    """What turns the owned part `before` into `after`: a replace of each subtree that differs, deletes of what goes."""
    old, new = _subtrees(before), _subtrees(after)
    changed = {path: value for path, value in new.items() if _said(value) != _said(old.get(path))}
    leaves = (HOST_NAME, LLDP)
    return Edits(
        delete=tuple(sorted(path for path in old.keys() - new.keys() if path != HOST_NAME)),
        replace=tuple((path, value) for path, value in changed.items() if path not in leaves),
        update=tuple((path, value) for path, value in changed.items() if path in leaves),
    )


def _said(value: Any) -> list[str]:
    """A subtree as its lines, which do not depend on the order of lists or on how a number is spelt."""
    return sorted(lines({"value": value})) if value is not None else []


def _subtrees(tree: Json) -> dict[str, Any]:
    """The owned subtrees by path, each small enough to be replaced as a whole."""
    plain = {bare(name): child for name, child in tree.items()}
    found: dict[str, Any] = {
        f"/interface[name={entry['name']}]": entry
        for entry in plain.get("interface", [])
        if is_ours(str(entry.get("name")))
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
