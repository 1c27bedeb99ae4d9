"""The configuration that railfab manages on a switch, and the gNMI Set that changes it.

Managed are front-panel ports, loopbacks, LAGs and SVIs, every network instance but that of the management port, routing
policies, BFD, QoS, tunnel interfaces, load balancing, Ethernet segments, the host name and LLDP's admin-state.
Management ports, users, TLS, servers and all other system settings are not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from railfab.platforms.shared.json_tree import Json, bare
from railfab.platforms.srlinux.names import is_managed
from railfab.platforms.srlinux.tree import CONFIG, SYSTEM, lines, stripped

if TYPE_CHECKING:
    from railfab.gnmi.client import SetChanges

HOST_NAME = "/system/name/host-name"
LLDP = "/system/lldp/admin-state"
MANAGEMENT_INSTANCE = "mgmt"
"""Network instance of the management port in the factory configuration."""

WHOLE = ("routing-policy", "bfd", "qos", "tunnel-interface")
"""Top-level sections that railfab manages as a whole."""

WHOLE_OF_SYSTEM = ("load-balancing", "network-instance")
"""Containers of `/system` that railfab manages as a whole; of the name and of LLDP it manages one leaf each."""

SECTIONS = tuple(f"/{name}" for name in WHOLE) + tuple(f"/system/{name}" for name in WHOLE_OF_SYSTEM)
PATHS = ("/interface", "/network-instance", *SECTIONS, HOST_NAME, LLDP)
"""Paths to read for the managed part."""


def managed(tree: Json) -> Json:
    """The managed part of a tree, the input of `parse` and `set_request`."""
    found = {bare(name): child for name, child in tree.items()}
    sections = {
        "interface": _entries(found.get("interface"), is_managed),
        "network-instance": _entries(found.get("network-instance"), is_managed_instance),
        **{name: found.get(name) for name in WHOLE},
        "system": _system(stripped(found.get("system", {}))),
    }
    return {CONFIG[name]: section for name, section in sections.items() if section}


def is_managed_instance(name: str) -> bool:
    """Whether railfab manages a network instance: all but the one of the management port."""
    return name != MANAGEMENT_INSTANCE


def _entries(section: Any, wanted: Callable[[str], bool]) -> Any:
    """The entries of a list with a wanted name; malformed ones stay, for the parser to report."""
    if not isinstance(section, list):
        return section
    return [
        entry for entry in section if not isinstance(entry, dict) or "name" not in entry or wanted(str(entry["name"]))
    ]


def _system(system: Any) -> Any:
    """The managed parts of `/system`."""
    if not isinstance(system, dict):
        return system
    parts = {name: system[name] for name in SYSTEM if name in system}
    for name, leaf in (("name", "host-name"), ("lldp", "admin-state")):
        if isinstance(parts.get(name), dict):
            parts[name] = {leaf: parts[name][leaf]} if leaf in parts[name] else {}
    return {SYSTEM[name]: part for name, part in parts.items() if part}


def set_request(before: Json, after: Json) -> SetChanges:
    """The Set that turns `before` into `after`: replaces changed managed subtrees and deletes removed ones."""
    from railfab.gnmi.client import SetChanges

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
    plain = {bare(name): child for name, child in managed(tree).items()}
    found: dict[str, Any] = {
        f"/{section}[name={entry['name']}]": entry
        for section in ("interface", "network-instance")
        for entry in plain.get(section, [])
        if "name" in entry
    }
    found |= {f"/{name}": plain[name] for name in WHOLE if name in plain}
    system = stripped(plain.get("system", {}))
    found |= {f"/system/{name}": system[name] for name in WHOLE_OF_SYSTEM if name in system}
    leaves = {HOST_NAME: ("name", "host-name"), LLDP: ("lldp", "admin-state")}
    return found | {
        path: system[section][leaf] for path, (section, leaf) in leaves.items() if leaf in system.get(section, {})
    }
