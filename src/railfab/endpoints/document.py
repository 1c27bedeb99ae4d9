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

from railfab.endpoints.keys import NODE_KEYS, unknown_key
from railfab.endpoints.model import Endpoint, Endpoints, InventoryEndpoints, faults
from railfab.endpoints.nornir_hosts import load_hosts
from railfab.endpoints.private_files import write_private
from railfab.endpoints.state_directory import STATE_DIR
from railfab.endpoints.yaml_file import parse_mapping, read_text
from railfab.errors import EndpointError, raise_all

VERSION = 1


def state_file(state: Path, fabric: str, kind: str) -> Path:
    """Path of the endpoints file of a lab (`lab`) or a twin (`twin`) of this fabric."""
    return state / f"{fabric}.{kind}.json"


def state_option(state: Path) -> str:
    """The option `--state` of a command, after a space, where the directory is not the default one."""
    return "" if state == STATE_DIR else f" --state {shlex.quote(str(state))}"


def save_endpoints(path: Path, endpoints: Endpoints) -> None:
    """Write the endpoints file."""
    document = {"version": VERSION, "fabric": endpoints.fabric, "backend": endpoints.backend}
    nodes = [asdict(node) for node in endpoints.nodes]
    write_private(path, json.dumps({**document, "nodes": nodes}, indent=2) + "\n")


def load_endpoints(path: Path) -> Endpoints:
    """Read an endpoints file, or a Nornir SimpleInventory `hosts.yml` with the groups and defaults beside it.

    Raises EndpointError, or Problems, when the file does not exist or is neither.
    """
    document = parse_mapping(path, read_text(path)).values
    if "nodes" not in document:
        hosts = load_hosts(path)
        nodes = tuple(host.endpoint for host in hosts)
        places = {host.endpoint.name: host.platform_place for host in hosts}
        return InventoryEndpoints(fabric=path.stem, backend="inventory", nodes=nodes, platform_places=places)
    try:
        endpoints = _from_document(path, document)
    except (KeyError, TypeError, ValueError) as error:
        remedy = "Each node needs name, platform and host; each host of a hosts.yml hostname and platform"
        raise EndpointError(str(path), f"the file is not a list of endpoints ({error})", remedy) from None
    raise_all(
        [
            EndpointError(f"{path}: {node.name}", fault.problem, fault.remedy)
            for node in endpoints.nodes
            for fault in faults(node)
        ]
    )
    duplicates = sorted(name for name, count in Counter(node.name for node in endpoints.nodes).items() if count > 1)
    if duplicates:
        raise EndpointError(str(path), f"duplicate names: {', '.join(duplicates)}", "Keep one entry of each")
    return endpoints


def _from_document(path: Path, document: Mapping[str, Any]) -> Endpoints:
    if document["version"] != VERSION:
        raise ValueError(f"version is {document['version']}, not {VERSION}")
    nodes = document["nodes"]
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        raise TypeError("nodes is not a list of mappings")
    for node in nodes:
        for key in (str(key) for key in node if key not in NODE_KEYS):
            raise EndpointError(f"{path}: {node.get('name')}", *unknown_key(key, NODE_KEYS))
    return Endpoints(
        fabric=document["fabric"], backend=document["backend"], nodes=tuple(Endpoint(**node) for node in nodes)
    )
