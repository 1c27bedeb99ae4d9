"""The files of a Nornir SimpleInventory as written: hosts.yml, and groups.yml and defaults.yml beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from railfab.endpoints.keys import DATA_KEYS, misspelt, misspelt_key, nearest, unknown_key
from railfab.endpoints.yaml_file import parse_mapping, read_text
from railfab.errors import EndpointError, RailfabError
from railfab.yaml_reader.sections import YamlSection

ATTRIBUTES = ("hostname", "port", "username", "password", "platform")
"""Attributes that Nornir inherits. `port` is that of SSH."""
NORNIR_KEYS = (*ATTRIBUTES, "groups", "data", "connection_options", "name")


class FileLine(NamedTuple):
    """File and line of a value."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class InventoryElement:
    """A host, a group or the defaults, as written. places: of its keys; those in `data` are `data.KEY`."""

    name: str
    place: FileLine
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    groups: tuple[str, ...] = ()
    places: Mapping[str, FileLine] = field(default_factory=dict, repr=False)


class InventoryFile(NamedTuple):
    """A file and its text."""

    path: Path
    text: str


class Files(NamedTuple):
    """The texts of the files of an inventory; groups and defaults may be missing."""

    hosts: InventoryFile
    groups: InventoryFile | None
    defaults: InventoryFile | None


class Inventory(NamedTuple):
    """The elements of the three files."""

    hosts: Mapping[str, InventoryElement]
    groups: Mapping[str, InventoryElement]
    defaults: InventoryElement

    def chain(self, host: InventoryElement) -> tuple[InventoryElement, ...]:
        """A host and what it inherits from, nearest first (Nornir's `extended_groups`, then the defaults)."""
        return (host, *(self.groups[name] for name in self.groups_of(host)), self.defaults)

    def groups_of(self, host: InventoryElement) -> tuple[str, ...]:
        """The names of all groups of a host: each is followed by its own groups, and is there once."""
        names: dict[str, None] = {}
        waiting = list(host.groups)
        while waiting:
            name = waiting.pop(0)
            if name not in names:
                names[name] = None
                waiting = [*self.groups[name].groups, *waiting]
        return tuple(names)


def read_files(hosts: Path) -> Files:
    """The files of an inventory as they are now. Raises EndpointError.

    Those beside `pod1.hosts.yml` are `pod1.groups.yml`, else `groups.yml`, and the same for the defaults.
    """
    beside = [_sibling(hosts, word) for word in ("groups", "defaults")]
    groups, defaults = [None if path is None else InventoryFile(path, read_text(path)) for path in beside]
    return Files(InventoryFile(hosts, read_text(hosts)), groups, defaults)


def _sibling(hosts: Path, word: str) -> Path | None:
    stems = [hosts.stem.replace("hosts", word)] if "hosts" in hosts.stem else []
    paths = [hosts.with_name(f"{stem}{ending}") for stem in (*stems, word) for ending in (".yml", ".yaml")]
    return next((path for path in paths if path.is_file()), None)


def parse_inventory(files: Files) -> tuple[Inventory, list[RailfabError]]:
    """The inventory in these files, and all that is wrong with it. Raises EndpointError for what is no inventory."""
    errors: list[RailfabError] = []
    hosts = _elements(files.hosts, errors)
    groups = {} if files.groups is None else _elements(files.groups, errors)
    defaults = InventoryElement("defaults", FileLine(files.hosts.path, 1))
    if files.defaults is not None:
        path = files.defaults.path
        defaults = _element(path, "defaults", _mapping(files.defaults), errors)
    for element in (*hosts.values(), *tuple(groups.values())):
        for name in element.groups:
            if name in groups:
                continue
            if files.groups is not None:
                errors.append(_unknown_group(element, name, groups, files.groups.path))
            groups[name] = InventoryElement(name, element.place)  # containerlab names groups without a file of them
    return Inventory(hosts, groups, defaults), errors


def _mapping(source: InventoryFile) -> YamlSection:
    """The mapping in a file; empty for an empty file, as for Nornir."""
    return parse_mapping(source.path, source.text if source.text.strip().strip("-").strip() else "{}")


def _elements(source: InventoryFile, errors: list[RailfabError]) -> dict[str, InventoryElement]:
    elements: dict[str, InventoryElement] = {}
    path, mapping = source.path, _mapping(source)
    for name in mapping.values:
        inner = mapping.below(name)
        if inner is None:
            raise _no_inventory(FileLine(path, mapping.lines[name]), f"{name} is not a mapping")
        elements[str(name)] = _element(path, str(name), inner, errors, mapping.lines[name])
    return elements


def _element(
    path: Path, name: str, mapping: YamlSection, errors: list[RailfabError], line: int = 1
) -> InventoryElement:
    """An element with its values and where they are; what is wrong is added to the errors."""
    values, place = mapping.values, FileLine(path, line)
    places = {str(key): FileLine(path, at) for key, at in mapping.lines.items()}
    errors.extend(_unknown_keys(name, mapping, places))
    data = mapping.below("data") if "data" in values else None
    if data is None and values.get("data") is not None:
        raise _no_inventory(places["data"], f"data of {name} is not a mapping")
    if data is not None:
        places |= {f"data.{key}": FileLine(path, at) for key, at in data.lines.items()}
        errors.extend(_misspelt_keys(name, data, places))
    attributes = {key: values[key] for key in ATTRIBUTES if values.get(key) is not None}
    for key in ("username", "password"):
        if isinstance(attributes.get(key), dict | list):
            errors.append(EndpointError(f"{places[key]}: {name}", f"{key} is not a text", "Write a text"))
    return InventoryElement(
        name, place, attributes, data.values if data else {}, _groups(name, values, places, errors), places
    )


def _no_inventory(place: FileLine, problem: str) -> EndpointError:
    remedy = "Each host of a hosts.yml is a mapping with hostname and platform"
    return EndpointError(str(place), f"the file is not a list of endpoints ({problem})", remedy)


def _groups(
    name: str, values: Mapping[str, Any], places: Mapping[str, FileLine], errors: list[RailfabError]
) -> tuple[str, ...]:
    groups = values.get("groups") or []
    if isinstance(groups, list) and all(isinstance(group, str | int) for group in groups):
        return tuple(map(str, groups))
    errors.append(EndpointError(f"{places['groups']}: {name}", "groups is not a list of names", "Write [NAME, ...]"))
    return ()


def _unknown_keys(name: str, mapping: YamlSection, places: Mapping[str, FileLine]) -> Iterator[RailfabError]:
    """Nornir ignores what it does not know, beside `data`."""
    for key in map(str, mapping.values):
        if key in DATA_KEYS:
            yield EndpointError(f"{places[key]}: {name}", f"key {key!r} is beside data", f"Write data: {{{key}: ...}}")
        elif key not in NORNIR_KEYS:
            yield EndpointError(f"{places[key]}: {name}", *unknown_key(key, (*NORNIR_KEYS, *DATA_KEYS)))


def _misspelt_keys(name: str, data: YamlSection, places: Mapping[str, FileLine]) -> Iterator[RailfabError]:
    for key in data.values:
        where = f"{places[f'data.{key}']}: {name}"
        if key == "ssh_port":
            yield EndpointError(where, "key 'ssh_port' is in data", "Write port beside hostname")
        elif meant := misspelt(str(key)):
            yield EndpointError(where, *misspelt_key(str(key), meant, tuple(data.values)))


def _unknown_group(
    element: InventoryElement, name: str, groups: Sequence[str] | Mapping[str, Any], path: Path
) -> EndpointError:
    meant = nearest(name, list(groups))
    remedy = f"Write {meant!r}, or add it there" if meant else "Add it there"
    return EndpointError(f"{element.places['groups']}: {element.name}", f"group {name!r} is not in {path}", remedy)
