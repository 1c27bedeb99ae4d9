"""The parts of the management access that railfab manages on a switch only where the intent states them.

A part that a candidate does not have stays as the operator configured it. Of a part that it has, railfab manages what
it renders: all of NTP, the collectors of syslog, the AAA servers of its groups and the order of logins, the banner
before a login, and of the gNMI server its port, network instance and TLS profile. Log files and buffers, users, roles,
secrets, the other services and the limits of the gNMI server stay the operator's in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from railfab.platforms.shared.json_tree import Json, bare, is_list, leaf_text
from railfab.platforms.srlinux.management import DEFAULT_GNMI_PORT, GRPC_SERVER, LOCAL, PROTOCOLS
from railfab.platforms.srlinux.tree import keys_of, lines

if TYPE_CHECKING:
    from railfab.gnmi.client import SetChanges

GNMI = "gnmi"
_LOGGING = ("network-instance", "remote-server")
_GRPC_LEAVES = ("name", "admin-state", "network-instance", "port", "tls-profile")
_ACCESS = {"admin-state": "disable", "network-instance": None, "port": DEFAULT_GNMI_PORT}
"""Leaves of the gNMI server that its clients depend on, with their defaults."""


def parts_of(system: Any) -> frozenset[str]:
    """The parts that a `/system` states; an empty one is stated too, as one that a switch shall not have."""
    return frozenset(map(bare, system)) & PARTS.keys() if isinstance(system, dict) else frozenset()


def without_names(system: Json, parts: Collection[str]) -> Json:
    """A `/system` without these parts."""
    return {name: child for name, child in system.items() if bare(name) not in parts}


def managed_part(name: str, section: Any) -> Any:
    """Content of a part that railfab manages, or empty. Malformed ones stay, for the parser to report."""
    return PARTS[name](_bare_names(section))


def empty_part(name: str) -> Any:
    """A part that states that a switch shall not have it."""
    return [] if name == "grpc-server" else {}


def without_secrets(tree: Json) -> Json:
    """A whole configuration without the secrets of the AAA servers."""
    cleaned = {}
    for name, child in tree.items():
        cleaned[name] = child
        if bare(name) == "system" and isinstance(child, dict):
            cleaned[name] = {
                part: _aaa_without_secrets(content) if bare(part) == "aaa" else content
                for part, content in child.items()
            }
    return cleaned


def _aaa_without_secrets(section: Any) -> Any:
    if not isinstance(section, dict) or not is_list(section.get("server-group")):
        return section
    return section | {"server-group": list(map(_without_secrets, section["server-group"]))}


def _bare_names(value: Any) -> Any:
    """The tree without module prefixes in names; identities keep theirs, which JSON_IETF needs."""
    if isinstance(value, dict):
        return {bare(name): _bare_names(child) for name, child in value.items()}
    return [_bare_names(child) for child in value] if isinstance(value, list) else value


def _logging(section: Any) -> Any:
    if not isinstance(section, dict):
        return section
    return {name: section[name] for name in _LOGGING if name in section} if "remote-server" in section else {}


def _aaa(section: Any) -> Any:
    if not isinstance(section, dict):
        return section
    stated: Json = {}
    authentication, groups = section.get("authentication"), section.get("server-group")
    if isinstance(authentication, dict) and "authentication-method" in authentication:
        stated["authentication"] = {"authentication-method": authentication["authentication-method"]}
    kept = [_without_secrets(group) for group in groups if _is_own(group)] if groups and is_list(groups) else groups
    if kept:
        stated["server-group"] = kept
    return stated


def _is_own(group: Json) -> bool:
    return "name" not in group or group["name"] in (*PROTOCOLS, LOCAL)


def _without_secrets(group: Json) -> Json:
    """A server group without the secrets of its servers, which a switch shows encrypted."""
    servers = group.get("server", [])
    return group | {"server": list(map(_without_secret, servers))} if is_list(servers) else group


def _without_secret(server: Json) -> Json:
    cleaned: Json = {}
    for name, child in server.items():
        if name in PROTOCOLS and isinstance(child, dict):
            child = {leaf: value for leaf, value in child.items() if leaf != "secret-key"}
            if not child:
                continue
        cleaned[name] = child
    return cleaned


def _banner(section: Any) -> Any:
    if not isinstance(section, dict):
        return section
    return {"login-banner": section["login-banner"]} if "login-banner" in section else {}


def _grpc_server(section: Any) -> Any:
    """The server of the factory configuration, with the leaves that railfab sets, and gNMI of its services."""
    if not is_list(section):
        return section
    servers = []
    for entry in section:
        if entry.get("name", GRPC_SERVER) == GRPC_SERVER:
            server = {name: entry[name] for name in _GRPC_LEAVES if name in entry}
            services = entry.get("services", [])
            if isinstance(services, list) and GNMI in {str(name).rpartition(":")[2] for name in services}:
                server["services"] = [GNMI]
            servers.append(server)
    return servers


PARTS: Mapping[str, Callable[[Any], Any]] = {
    "ntp": lambda section: section,
    "logging": _logging,
    "aaa": _aaa,
    "banner": _banner,
    "grpc-server": _grpc_server,
}
"""Containers of `/system`, by name, and what railfab manages of each."""


def changes_of(path: str, old: Any, new: Any) -> SetChanges:
    """The operations that turn one subtree into another, leaf by leaf, so that what railfab does not manage stays."""
    from railfab.gnmi.client import SetChanges

    changes = list(_changes(path, old, new))
    return SetChanges(
        delete=tuple(path for path, value in changes if value is None),
        replace=tuple((path, value) for path, value in changes if isinstance(value, list)),
        update=tuple((path, value) for path, value in changes if value is not None and not isinstance(value, list)),
    )


def _changes(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any]]:
    """Paths with their new values, None for one to delete."""
    before, after = dict(_children(path, old)), dict(_children(path, new))
    yield from ((place, None) for place in before if place not in after)
    for place, value in after.items():
        former = before.get(place)
        if former is None:
            yield place, value
        elif isinstance(value, dict):
            yield from _changes(place, former, value)
        elif lines({"value": value}) != lines({"value": former}):
            yield place, value


def _children(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    """The children of a container by path: containers, entries of lists without their keys, leaf-lists and leaves."""
    entries = {bare(path.rpartition("/")[2]): node} if is_list(node) else node or {}
    above = path.rpartition("/")[0] if is_list(node) else path
    for name, child in entries.items():
        if not is_list(child):
            yield f"{above}/{name}", child
            continue
        for entry in child:
            keys = keys_of(name, entry)
            place = "".join(f"[{key}={leaf_text(entry[key])}]" for key in keys)
            yield f"{above}/{name}{place}", {leaf: value for leaf, value in entry.items() if leaf not in keys}


def new_servers(before: Json, after: Json) -> Iterator[str]:
    """The path of the secret of every AAA server that only the second `/system` has."""
    known = set(_secret_paths(before))
    return (path for path in _secret_paths(after) if path not in known)


def _secret_paths(system: Json) -> Iterator[str]:
    for group in system.get("aaa", {}).get("server-group", ()):
        for server in group.get("server", ()):
            name, address = group["name"], server["address"]
            yield f"/system/aaa/server-group[name={name}]/server[address={address}]/{name}/secret-key"


def lost_access(before: Json, after: Json) -> str | None:
    """The leaf by which a candidate would end the gNMI access to a switch that now has it; None if it would not."""
    old, new = (_server(system) for system in (before, after))
    if old.get("admin-state") != "enable" or "grpc-server" not in after:
        return None
    defaults = _ACCESS.items()
    return next((leaf for leaf, usual in defaults if str(old.get(leaf, usual)) != str(new.get(leaf, usual))), None)


def _server(system: Json) -> Json:
    return next(iter(system.get("grpc-server", ())), {})
