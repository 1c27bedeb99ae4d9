"""The configuration that railfab manages on a switch, and the gNMI Set that changes it.

Managed are front-panel ports, loopbacks, LAGs and SVIs, every network instance but that of the management port, routing
policies, BFD, QoS, tunnel interfaces, load balancing, Ethernet segments, the host name, LLDP's admin-state, intervals
and ports, the maintenance group of a drain; and the parts of `stated` that a candidate has. Management ports, users,
TLS, all other system settings, and the routing policies of the operator's maintenance profiles are not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from railfab.platforms.shared.json_tree import Json, bare, is_list, member_of, text
from railfab.platforms.srlinux.drain import own_entries
from railfab.platforms.srlinux.lldp import LEAVES
from railfab.platforms.srlinux.names import is_managed
from railfab.platforms.srlinux.operator_policies import (
    Entry,
    entries_in_use,
    entries_of,
    operator_entries,
    without_entries,
)
from railfab.platforms.srlinux.stated import PARTS, changes_of, empty_part, managed_part, parts_of, without_names
from railfab.platforms.srlinux.tree import CONFIG, SYSTEM, lines, stripped, tree_of

if TYPE_CHECKING:
    from railfab.gnmi.client import SetChanges

MANAGEMENT_INSTANCE = "mgmt"
"""Network instance of the management port in the factory configuration."""

POLICIES = "routing-policy"
"""Top-level section of which railfab manages all entries but the operator's, and replaces one by one."""

WHOLE = ("bfd", "qos", "tunnel-interface")
"""Top-level sections that railfab manages as a whole."""

WHOLE_OF_SYSTEM = ("load-balancing", "network-instance")
"""Containers of `/system` that railfab manages as a whole."""

BY_LEAF = ("name", "lldp", "maintenance", *PARTS)
"""Containers of `/system` that railfab manages in part, and changes leaf by leaf."""

WITH_PRESENCE = ("lldp",)
"""Parts of them that have an effect when they are empty: LLDP runs (srl_nokia-lldp)."""

REMOVED_WHOLE = ("lldp", "ntp")
"""Parts of them that are deleted as a whole where a candidate has none of them."""

PATHS = ("/interface", "/network-instance", f"/{POLICIES}", *(f"/{name}" for name in WHOLE), "/system")
"""Paths to read for the managed part."""


def managed(tree: Json, like: Json | None = None) -> Json:
    """The managed part of a tree, which a Set turns into that of a candidate.

    like: the candidate. Of the management access, only the parts that it states are managed; of the policies of the
    operator's maintenance profiles, those that it has. None for all of them.
    """
    return _managed(tree, like, frozenset() if like is None else operator_entries(tree) - entries_of(like))


def effective(tree: Json, like: Json | None = None) -> Json:
    """The input of `parse`: the managed part of a tree by itself.

    Of the policies of the operator's maintenance profiles, it has those that something else uses. like: see `managed`.
    """
    if operators := operator_entries(tree):
        operators -= entries_in_use(tree) | entries_of(like or {})
    return _managed(tree, like, operators)


def _managed(tree: Json, like: Json | None, left: Collection[Entry]) -> Json:
    """left: the policies and sets that are the operator's."""
    plain = {bare(name): child for name, child in tree.items()}
    parts = PARTS.keys() if like is None else parts_of(_system_of(like))
    sections = {
        "interface": _entries(plain.get("interface"), is_managed),
        "network-instance": _entries(plain.get("network-instance"), is_managed_instance),
        POLICIES: without_entries(plain.get(POLICIES), left),
        **{name: plain.get(name) for name in WHOLE},
        "system": _system(plain.get("system", {}), parts),
    }
    return {CONFIG[name]: section for name, section in sections.items() if section}


def restorable(tree: Json, like: Json) -> Json:
    """The managed part of a tree, as a candidate that undoes another one.

    Parts of the management access that only the other one has are stated as empty.
    """
    restored = managed(tree, like)
    system = restored.get(CONFIG["system"], {})
    missing = parts_of(_system_of(like)) - parts_of(system)
    return (
        restored | {CONFIG["system"]: system | {SYSTEM[name]: empty_part(name) for name in missing}}
        if missing
        else restored
    )


def scoped(tree: Json, like: Json) -> Json:
    """A tree without the parts of the management access that another one does not state: they are the operator's.

    Nor has it an empty container of maintenance groups, which stays when a drain ends.
    """
    left = {"maintenance"} if _is_left(tree) else set()
    return _without(tree, left | (PARTS.keys() - parts_of(_system_of(like))))


def scoped_text(configuration: str, intended: str) -> str:
    """A configuration text, likewise by the text of the intent."""
    return text(scoped(tree_of(configuration), tree_of(intended)))


def without_empty_parts(tree: Json) -> Json:
    """A tree without the parts of the management access that only state that a switch shall not have them."""
    system = _system_of(tree)
    if not isinstance(system, dict):
        return tree
    empty = [bare(name) for name, child in system.items() if bare(name) in PARTS and child in ({}, [])]
    empty += ["maintenance"] * _is_left(tree)
    return _without(tree, empty) if empty else tree


def _is_left(tree: Json) -> bool:
    """Whether there is an empty container of maintenance groups."""
    system = _system_of(tree)
    return isinstance(system, dict) and {} in (child for name, child in system.items() if bare(name) == "maintenance")


def _without(tree: Json, parts: Collection[str]) -> Json:
    """A tree without these parts of the management access."""
    return {
        name: without_names(child, parts) if bare(name) == "system" and isinstance(child, dict) else child
        for name, child in tree.items()
    }


def _system_of(tree: Json) -> Any:
    return member_of(tree, "system", {})


def system_of(tree: Json) -> Json:
    """`/system` of a managed part, by the names of its containers."""
    return {bare(name): child for name, child in _system_of(tree).items()}


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


def _system(system: Any, parts: Collection[str]) -> Any:
    """The managed parts of `/system`, with these parts of the management access."""
    if not isinstance(system, dict):
        return system
    plain = {bare(name): child for name, child in system.items()}
    sections: Json = {name: stripped(plain[name]) for name in SYSTEM if name in plain and name not in PARTS}
    if isinstance(sections.get("name"), dict):
        sections["name"] = {leaf: value for leaf, value in sections["name"].items() if leaf == "host-name"}
    if isinstance(sections.get("lldp"), dict):
        sections["lldp"] = _lldp(sections["lldp"])
    if "maintenance" in sections:
        sections["maintenance"] = own_entries(sections["maintenance"])
    sections |= {name: managed_part(name, plain[name]) for name in PARTS if name in parts and name in plain}
    return {SYSTEM[name]: part for name, part in sections.items() if part or (part == {} and name in WITH_PRESENCE)}


def _lldp(lldp: Json) -> Json:
    """Whether LLDP runs, its intervals, and the managed ports on which it does not."""
    leaves = {leaf: value for leaf, value in lldp.items() if leaf in LEAVES}
    ports = _entries(lldp.get("interface", []), is_managed)
    if not is_list(ports):
        return leaves
    silent = [{"name": port.get("name"), "admin-state": "disable"} for port in ports if _is_disabled(port)]
    return leaves | ({"interface": silent} if silent else {})


def _is_disabled(entry: Json) -> bool:
    return bool(entry.get("admin-state") == "disable")


def set_request(before: Json, after: Json) -> SetChanges:
    """The Set that turns `before` into `after`: replaces changed managed subtrees and deletes removed ones.

    In `/system`, where the operator has settings beside them, it changes leaves.
    """
    from railfab.gnmi.client import SetChanges

    old, new = managed(before, after), managed(after, after)
    former, wanted = _subtrees(old), _subtrees(new)
    changed = {path: value for path, value in wanted.items() if _is_changed(former.get(path), value)}
    leaves = _system_changes(system_of(old), system_of(new))
    return SetChanges(
        delete=tuple(sorted(former.keys() - wanted.keys())) + leaves.delete,
        replace=tuple(changed.items()) + leaves.replace,
        update=leaves.update,
    )


def _system_changes(old: Json, new: Json) -> SetChanges:
    """The changes of the name, of LLDP and of the management access. A name is never deleted."""
    from railfab.gnmi.client import SetChanges

    if "host-name" not in new.get("name", {}):
        old = {name: child for name, child in old.items() if name != "name"}
    by_leaf = [changes_of(f"/system/{name}", old.get(name), new.get(name)) for name in BY_LEAF]
    gone = tuple(f"/system/{name}" for name in REMOVED_WHOLE if name in old and name not in new)
    return SetChanges(
        delete=tuple(path for changes in by_leaf for path in changes.delete if not path.startswith(gone)) + gone,
        replace=tuple(change for changes in by_leaf for change in changes.replace),
        update=tuple(change for changes in by_leaf for change in changes.update),
    )


def _is_changed(former: Any, value: Any) -> bool:
    """Whether two subtrees differ as CLI lines: the order of lists and the spelling of numbers have no meaning."""
    return former is None or (former != value and _lines(former) != _lines(value))


def _lines(value: Any) -> list[str]:
    return sorted(lines({"value": value}))


def _subtrees(tree: Json) -> dict[str, Any]:
    """The subtrees of a managed part that are replaced as a whole, by path."""
    plain = {bare(name): child for name, child in tree.items()}
    subtrees: dict[str, Any] = {
        f"/{section}[name={entry['name']}]": entry
        for section in ("interface", "network-instance")
        for entry in plain.get(section, [])
        if "name" in entry
    }
    subtrees |= {
        f"/{POLICIES}/{bare(kind)}[name={entry['name']}]": entry
        for kind, entries in plain.get(POLICIES, {}).items()
        for entry in entries
    }
    subtrees |= {f"/{name}": plain[name] for name in WHOLE if name in plain}
    system = system_of(tree)
    return subtrees | {f"/system/{name}": system[name] for name in WHOLE_OF_SYSTEM if name in system}
