"""Which switches a command speaks to, and how they are reached."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

from railfab.endpoints import Endpoint, Endpoints, load_endpoints, state_file
from railfab.errors import EndpointError
from railfab.fabric.design import Design

LOOK_S = 1.0
"""How long a switch of a twin, on this machine, may take to accept a connection."""


def resolve_endpoints(fabric: Design, on: str | None, state: Path) -> Endpoints:
    """The endpoints of a fabric: of its running `twin` or `lab`, of a file, or of the intent's own inventory.

    Raises EndpointError when there are none, when they belong to another fabric, or name switches it does not have.
    """
    if on is None:
        return _from_intent(fabric)
    if on in {"twin", "lab"}:
        path = state_file(state, fabric.intent.fabric, on)
        if not path.exists():
            verb = f"railfab twin {fabric.path}" if on == "twin" else f"railfab lab up {fabric.path}"
            raise EndpointError(str(path), f"no {on} of {fabric.intent.fabric} is running", f"Start it: {verb}")
    else:
        path = Path(on)
    endpoints = load_endpoints(path)
    if not endpoints.nodes:
        raise EndpointError(str(path), "lists no switch", "Name a file with switches in it")
    if endpoints.backend != "inventory" and endpoints.fabric != fabric.intent.fabric:
        problem = f"is of fabric {endpoints.fabric}, not of {fabric.intent.fabric}"
        raise EndpointError(str(path), problem, "Name the file of this fabric")
    if on == "twin" and not any(map(_listens, endpoints.nodes)):
        problem = f"the twin of {fabric.intent.fabric} has ended without a word"
        raise EndpointError(str(path), problem, f"Start it again: railfab twin {fabric.path}")
    unknown = sorted(set(endpoints.by_name()) - set(fabric.models))
    if unknown and len(unknown) == len(endpoints.nodes):
        raise EndpointError(str(path), f"holds no switch of {fabric.intent.fabric}", "Name the file of this fabric")
    nodes = tuple(_in_our_words(fabric, node) for node in endpoints.nodes if node.name in fabric.models)
    return replace(endpoints, nodes=nodes)


def _listens(node: Endpoint) -> bool:
    """Whether anything takes connections at a switch's gNMI port."""
    try:
        socket.create_connection((node.host, node.gnmi_port or 0), timeout=LOOK_S).close()
    except OSError:
        return False
    return True


def _in_our_words(fabric: Design, node: Endpoint) -> Endpoint:
    """A containerlab inventory names kinds (`nokia_srlinux`), the intent names platforms; the intent decides."""
    return replace(node, platform=fabric.models[node.name].platform)


def _from_intent(fabric: Design) -> Endpoints:
    inventory = fabric.intent.inventory
    if not inventory:
        raise EndpointError(
            str(fabric.path),
            "says no address of a switch",
            "Add `inventory` to it, or use --on twin, --on lab or --on FILE",
        )
    unknown = sorted(set(inventory) - set(fabric.models))
    if unknown:
        raise EndpointError(f"{fabric.path}: inventory", f"{', '.join(unknown)} is no switch", "Correct the name")
    nodes = tuple(
        Endpoint(name=name, platform=fabric.models[name].platform, **target.model_dump())
        for name, target in inventory.items()
    )
    return Endpoints(fabric=fabric.intent.fabric, backend="inventory", nodes=nodes)
