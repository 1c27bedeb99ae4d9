"""The endpoints file: addresses and ports of the switches of a running lab, twin or inventory.

A lab or a twin writes `<state>/<fabric>.<lab|twin>.json`; `deploy`, `verify` and `collect` read it. It refers to
secrets (a file, an environment variable) and never contains one.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from railfab.endpoints.model import Endpoint, Endpoints, faults
from railfab.endpoints.private_files import write_private
from railfab.errors import EndpointError, raise_all

VERSION = 1
STATE_DIR = Path(".railfab")
"""State directory of labs and twins where no other is named."""
MAX_CHARACTERS = 50_000_000
"""Limit of what is read of an endpoints file: more than any fabric needs, and an end for endless files."""
IN_HOST_DATA = (
    "gnmi_port",
    "ca",
    "known_hosts",
    "credentials",
    "skip_verify",
    "owns_system",
    "plaintext",
    "client_cert",
    "client_key",
    "tls_name",
    "gnmi_target",
)
"""Keys that a host of a Nornir hosts.yml has under `data`."""


def state_file(state: Path, fabric: str, kind: str) -> Path:
    """Path of the endpoints file of a lab (`lab`) or a twin (`twin`) of this fabric."""
    return state / f"{fabric}.{kind}.json"


def state_option(state: Path) -> str:
    """The option `--state` of a command, after a space, where the directory is not the default one."""
    return "" if state == STATE_DIR else f" --state {shlex.quote(str(state))}"


def save_endpoints(path: Path, endpoints: Endpoints) -> None:
    """Write the endpoints file."""
    write_private(path, json.dumps({"version": VERSION, **asdict(endpoints)}, indent=2) + "\n")


def load_endpoints(path: Path) -> Endpoints:
    """Read an endpoints file, or a Nornir SimpleInventory `hosts.yml`.

    Raises EndpointError, or Problems, when the file does not exist or is neither.
    """
    document = _document(path)
    try:
        endpoints = _from_document(document) if "nodes" in document else _from_hosts(path.stem, document)
    except (KeyError, TypeError, ValueError) as error:
        remedy = "Each node needs name, platform and host; each host of a hosts.yml hostname and platform"
        raise EndpointError(str(path), f"the file is not a list of endpoints ({error})", remedy) from None
    raise_all([EndpointError(f"{path}: {node.name}", *fault) for node in endpoints.nodes for fault in faults(node)])
    duplicates = sorted(name for name, count in Counter(node.name for node in endpoints.nodes).items() if count > 1)
    if duplicates:
        raise EndpointError(str(path), f"duplicate names: {', '.join(duplicates)}", "Keep one entry of each")
    return endpoints


def _document(path: Path) -> dict[str, Any]:
    """The mapping in a YAML or JSON file."""
    try:
        with path.open(encoding="utf-8") as file:
            document = yaml.safe_load(file.read(MAX_CHARACTERS))
    except FileNotFoundError:
        raise EndpointError(str(path), "no such file", "Start the lab or the twin first, or name a file") from None
    except OSError as error:
        problem = f"the file cannot be read ({(error.strerror or str(error)).lower()})"
        raise EndpointError(str(path), problem, "Check its permissions") from None
    except UnicodeDecodeError:
        remedy = "Name an endpoints file or a Nornir hosts.yml"
        raise EndpointError(str(path), "the file is not UTF-8 text", remedy) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = f"invalid YAML ({str(error).splitlines()[0]})"
        raise EndpointError(str(path), problem, "Correct its syntax") from None
    if not isinstance(document, dict):
        remedy = "Name an endpoints file or a Nornir hosts.yml"
        raise EndpointError(str(path), "the file contains no mapping", remedy)
    return document


def _from_document(document: Mapping[str, Any]) -> Endpoints:
    if document["version"] != VERSION:
        raise ValueError(f"version is {document['version']}, not {VERSION}")
    if not isinstance(document["nodes"], list) or not all(isinstance(node, dict) for node in document["nodes"]):
        raise TypeError("nodes is not a list of mappings")
    nodes = tuple(Endpoint(**node) for node in document["nodes"])
    return Endpoints(fabric=document["fabric"], backend=document["backend"], nodes=nodes)


def _from_hosts(fabric: str, hosts: Mapping[str, Any]) -> Endpoints:
    """The hosts of a Nornir SimpleInventory file; gNMI port, files and credentials are in `data`."""
    nodes = []
    for name, host in hosts.items():
        if not isinstance(host, dict):
            raise TypeError(f"{name} is not a mapping")
        extra = host.get("data") or {}
        if not isinstance(extra, dict):
            raise TypeError(f"data of {name} is not a mapping")
        known = {key: extra[key] for key in IN_HOST_DATA if key in extra}
        nodes.append(
            Endpoint(name=name, platform=host["platform"], host=host["hostname"], ssh_port=host.get("port"), **known)
        )
    return Endpoints(fabric=fabric, backend="inventory", nodes=tuple(nodes))
