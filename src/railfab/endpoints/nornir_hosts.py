"""Endpoints from the hosts of a Nornir SimpleInventory, inherited as Nornir does (host, its groups in order, defaults).

railfab's own keys are in `data`, among keys of users, which are left alone unless they look like a misspelt one of
railfab's. `connection_options` are for users' own tasks, and railfab uses none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from railfab.endpoints.inventory_files import Files, Inventory, InventoryElement, parse_inventory, read_files
from railfab.endpoints.keys import DATA_KEYS, LABEL_KEYS, METRIC_LABELS
from railfab.endpoints.model import Endpoint, faults
from railfab.errors import EndpointError, RailfabError, one_per_problem, raise_all

IN_FILE = "hosts:"
"""Start of `credentials` that are in a hosts.yml; its path follows."""
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
"""A label name of Prometheus (Prometheus, Data model)."""
WRITTEN = {"host": "hostname", "ssh_port": "port"}
"""Names of fields of an endpoint in hosts.yml, where they differ."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host with all that it inherits. groups: in the order of inheritance; labels: of its metrics; platform_place:
    file and line of its platform, in hosts.yml, groups.yml or defaults.yml."""

    endpoint: Endpoint
    groups: tuple[str, ...]
    labels: Mapping[str, str]
    platform_place: str = field(compare=False)


def load_hosts(path: Path) -> tuple[Host, ...]:
    """The hosts of a hosts.yml. Raises EndpointError, or Problems, with file, line, host and key of what is wrong."""
    inventory, errors = parse_inventory(read_files(path))
    hosts = [_host(path, inventory, host, errors) for host in inventory.hosts.values()]
    raise_all(one_per_problem(errors))
    return tuple(host for host in hosts if host is not None)


def _host(path: Path, inventory: Inventory, host: InventoryElement, errors: list[RailfabError]) -> Host | None:
    chain = inventory.chain(host)
    inherited = {key: _inherited(chain, key) for key in ("hostname", "platform", "port", "username", "password")}
    for key in ("hostname", "platform"):
        if inherited[key] is None:
            errors.append(EndpointError(f"{host.place}: {host.name}", f"has no {key}", f"Add its {key}"))
            return None
    data = {key: value for element in reversed(chain) for key, value in element.data.items()}
    settings = {key: data[key] for key in DATA_KEYS if key in data and key != METRIC_LABELS}
    if inherited["username"] is not None or inherited["password"] is not None:
        settings.setdefault("credentials", f"{IN_FILE}{path}")
    endpoint = Endpoint(
        name=host.name,
        platform=inherited["platform"],
        host=inherited["hostname"],
        ssh_port=inherited["port"],
        **settings,
    )
    for fault in faults(endpoint, WRITTEN):
        errors.append(EndpointError(f"{_place(chain, fault.key)}: {host.name}", fault.problem, fault.remedy))
    labels = dict(_labels(host, chain, data, errors))
    return Host(endpoint, inventory.groups_of(host), labels, _place(chain, "platform"))


def _inherited(chain: tuple[InventoryElement, ...], key: str) -> Any:
    return next((element.attributes[key] for element in chain if key in element.attributes), None)


def _place(chain: tuple[InventoryElement, ...], key: str) -> str:
    """File and line of the value of a field that counts."""
    word = WRITTEN.get(key, key)
    name = word if word in (*WRITTEN.values(), "platform") else f"data.{word}"
    return str(next((element.places[name] for element in chain if name in element.places), chain[0].place))


def _labels(
    host: InventoryElement, chain: tuple[InventoryElement, ...], data: Mapping[str, Any], errors: list[RailfabError]
) -> Iterator[tuple[str, str]]:
    """The labels that `metric_labels` names, else those of LABEL_KEYS that are texts or numbers."""
    wanted = data.get(METRIC_LABELS)
    if wanted is None:
        wanted = [key for key in LABEL_KEYS if isinstance(data.get(key), str | int | float)]
    problem = ""
    if not isinstance(wanted, list) or not all(isinstance(key, str) for key in wanted):
        wanted, problem = [], f"{METRIC_LABELS} is not a list of keys of data"
    for key in wanted:
        value = data.get(key, "")
        if not LABEL.fullmatch(key) or key.startswith("__"):
            problem = f"{METRIC_LABELS}: {key!r} is not the name of a label"
        elif not isinstance(value, str | int | float):
            problem = f"{METRIC_LABELS}: {key} is not a text or a number"
        else:
            yield key, str(value)
    if problem:
        errors.append(EndpointError(f"{_place(chain, METRIC_LABELS)}: {host.name}", problem, "Write [site, rack]"))


def login_in_file(endpoint: Endpoint, path: Path) -> dict[str, str | None]:
    """The user name and the password that a hosts.yml now has for a host. Raises EndpointError."""
    inventory = _parsed(read_files(path))
    host = inventory.hosts.get(endpoint.name)
    if host is None:
        raise EndpointError(endpoint.name, f"is no longer in {path}", "Add it again")
    return {key: _text(_inherited(inventory.chain(host), key)) for key in ("username", "password")}


@lru_cache(maxsize=4)
def _parsed(files: Files) -> Inventory:
    """Parsed once for each content of the files: there are as many logins as hosts."""
    inventory, errors = parse_inventory(files)
    raise_all(one_per_problem(errors))
    return inventory


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
