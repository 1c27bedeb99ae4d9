"""Endpoints of a fabric's switches: of a running twin or lab, of a file, or of the intent's `inventory`."""

from __future__ import annotations

import difflib
import socket
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from railfab.endpoints import Endpoint, Endpoints, InventoryEndpoints, load_endpoints, state_file, state_option
from railfab.errors import EndpointError, RailfabError, UnsupportedFeature, one_per_problem, raise_all
from railfab.fabric.design import Design
from railfab.fabric.limit import limited
from railfab.platforms import platform, platforms_called
from railfab.text.counted import LISTED, counted, listed
from railfab.topology import Node

CONNECT_WITHIN_S = 1.0
"""Time that a switch of a twin, on this machine, has to accept a connection."""


def resolve_endpoints(
    fabric: Design, on: str | None, state: Path, limit: str | None = None, *, among: Collection[str] | None = None
) -> Endpoints:
    """The endpoints of the switches of the intent that `--limit` selects: every one of them, in the intent's order.

    on: `twin` or `lab` for the running one, a file, or nothing for the intent's `inventory`. among: names of the
    switches that are concerned, where not all are.
    Raises EndpointError when a switch has no endpoint, or when the endpoints are not of this fabric; RailfabError for
    a limit that selects no switch.
    """
    source, endpoints, expected = _expected(fabric, on, state, limit, among)
    by_name = endpoints.by_name()
    if missing := [node.name for node in expected if node.name not in by_name]:
        problem = f"lacks {counted(len(missing), 'switch')} of {fabric.intent.fabric}: {listed(missing)}"
        raise EndpointError(source, problem, _remedy(fabric, on, missing, _limit_without(missing, expected, limit)))
    return _chosen(fabric, source, endpoints, expected)


def present_endpoints(
    fabric: Design, on: str | None, state: Path, limit: str | None = None
) -> tuple[Endpoints, tuple[Node, ...]]:
    """As `resolve_endpoints`, for a command that does what it can: the endpoints that there are, and all switches that
    the limit selects, also those without an endpoint.
    """
    source, endpoints, expected = _expected(fabric, on, state, limit, None)
    by_name = endpoints.by_name()
    return _chosen(fabric, source, endpoints, [node for node in expected if node.name in by_name]), expected


def _expected(
    fabric: Design, on: str | None, state: Path, limit: str | None, among: Collection[str] | None
) -> tuple[str, Endpoints, tuple[Node, ...]]:
    """Source of the endpoints, all of them, and the switches that are selected."""
    expected = tuple(node for node in limited(fabric.topology, limit) if among is None or node.name in among)
    source, endpoints = _from_intent(fabric) if on is None else _from_file(fabric, on, state)
    by_name = endpoints.by_name()
    switches = [node.name for node in fabric.topology.switches()]
    if not any(name in by_name for name in switches):
        raise EndpointError(source, f"contains no switch of {fabric.intent.fabric}", "Name the file of this fabric")
    raise_all(list(_misspelt_hosts(source, fabric.intent.fabric, switches, by_name)))
    return source, endpoints, expected


def _misspelt_hosts(
    source: str, fabric: str, switches: Sequence[str], names: Collection[str]
) -> Iterator[EndpointError]:
    """Hosts that are no switch, and most like a switch that has no endpoint. A file may have hosts of other fabrics."""
    missing = set(switches) - set(names)
    for name in (name for name in names if missing and name not in switches):
        similar = difflib.get_close_matches(name, switches, n=1)
        if similar and similar[0] in missing:
            problem = f"{name} is no switch of {fabric}, which lacks {similar[0]}"
            yield EndpointError(source, problem, f"Write {similar[0]!r}, or add it")


def _chosen(fabric: Design, source: str, endpoints: Endpoints, expected: Sequence[Node]) -> Endpoints:
    by_name = endpoints.by_name()
    raise_all(one_per_problem([*_other_platforms(source, endpoints, expected)]))
    nodes = tuple(_on_platform(by_name[node.name], node) for node in expected)
    return Endpoints(fabric=fabric.intent.fabric, backend=endpoints.backend, nodes=nodes)


def session_endpoints(
    fabric: Design, on: str | None, state: Path, limit: str | None = None, *, among: Collection[str] | None = None
) -> Endpoints:
    """As `resolve_endpoints`, for a command that logs in to read or change configurations.

    Raises UnsupportedFeature, or Problems, for platforms without sessions, before it looks for any address.
    """
    chosen = [node for node in limited(fabric.topology, limit) if among is None or node.name in among]
    require_sessions((node.name, str(node.platform)) for node in chosen)
    return resolve_endpoints(fabric, on, state, limit, among=among)


def readable_endpoints(
    fabric: Design, on: str | None, state: Path, limit: str | None = None
) -> tuple[Endpoints, tuple[EndpointError, ...]]:
    """As `session_endpoints`, for a command that reads what it can: the endpoints, and the error of each switch without
    one, whose place is its name.
    """
    require_sessions((node.name, str(node.platform)) for node in limited(fabric.topology, limit))
    endpoints, expected = present_endpoints(fabric, on, state, limit)
    present = endpoints.by_name()
    missing = [node.name for node in expected if node.name not in present]
    remedy = _remedy(fabric, on, missing, None)
    return endpoints, tuple(EndpointError(name, "has no address", remedy) for name in missing)


def require_sessions(switches: Iterable[tuple[str, str]]) -> None:
    """Raise UnsupportedFeature, or Problems, for each platform that has no sessions. switches: name and platform."""
    refused: list[RailfabError] = []
    for name, platform_name in switches:
        try:
            platform(platform_name).session_factory(name)
        except UnsupportedFeature as error:
            refused.append(error)
    raise_all(one_per_problem(refused))


def _remedy(fabric: Design, on: str | None, missing: Sequence[str], limit: str | None) -> str:
    """Remedy for switches without an endpoint. limit: one that leaves them out; None when no short one does."""
    command = {"twin": f"railfab twin {fabric.path}", "lab": f"railfab lab up {fabric.path}"}.get(on or "")
    action = f"Stop the {on} and start it again with {command}" if command else "Add what is missing"
    return (
        action
        if limit is None
        else f"{action}, or leave {'it' if len(missing) == 1 else 'them'} out with --limit '{limit}'"
    )


def _limit_without(missing: Sequence[str], expected: Sequence[Node], limit: str | None) -> str | None:
    """The limit that selects what this one does, less the missing switches; None when it is long or selects none."""
    if len(missing) > LISTED or len(missing) == len(expected) or "," in (limit or ""):
        return None
    return "&".join((*([limit] if limit else []), *(f"!{name}" for name in missing)))


def _other_platforms(source: str, endpoints: Endpoints, expected: Sequence[Node]) -> Iterator[EndpointError]:
    """Endpoints whose platform is not that of the intent, by railfab's name or that of another tool."""
    by_name = endpoints.by_name()
    places = endpoints.platform_places if isinstance(endpoints, InventoryEndpoints) else {}
    for node in expected:
        written = by_name[node.name].platform
        if not written or node.platform is None or node.platform in platforms_called(written):
            continue
        place = places.get(node.name, source)
        remedy = f"Write {node.platform}, or correct the intent"
        yield EndpointError(
            f"{place}: {node.name}", f"platform {written!r} is not {node.platform}, that of the intent", remedy
        )


def _on_platform(endpoint: Endpoint, node: Node) -> Endpoint:
    """The endpoint, on the platform of the intent: a containerlab inventory names kinds (`nokia_srlinux`)."""
    return replace(endpoint, platform=node.platform or endpoint.platform)


def _from_file(fabric: Design, on: str, state: Path) -> tuple[str, Endpoints]:
    if not on:
        raise EndpointError("--on", "names nothing", "Use twin, lab or a file")
    path = state_file(state, fabric.intent.fabric, on) if on in {"twin", "lab"} else Path(on)
    if on in {"twin", "lab"} and not path.exists():
        verb = f"railfab twin {fabric.path}" if on == "twin" else f"railfab lab up {fabric.path}"
        problem = f"no {on} of {fabric.intent.fabric} is running"
        raise EndpointError(str(path), problem, f"Start it: {verb}{state_option(state)}")
    endpoints = load_endpoints(path)
    if not endpoints.nodes:
        raise EndpointError(str(path), "lists no switch", "Name a file with switches in it")
    if endpoints.backend != "inventory" and endpoints.fabric != fabric.intent.fabric:
        problem = f"is of fabric {endpoints.fabric}, not of {fabric.intent.fabric}"
        raise EndpointError(str(path), problem, "Name the file of this fabric")
    if on == "twin" and not any(map(_accepts_connections, endpoints.nodes)):
        problem = "no switch of the twin answers; its state file is stale"
        raise EndpointError(
            str(path), problem, f"Start the twin again: railfab twin {fabric.path}{state_option(state)}"
        )
    return str(path), endpoints


def _accepts_connections(node: Endpoint) -> bool:
    """Whether anything listens on the port of a switch: that of gNMI, or of SSH where it has no gNMI."""
    try:
        socket.create_connection((node.host, node.gnmi_port or node.ssh_port or 0), timeout=CONNECT_WITHIN_S).close()
    except OSError:
        return False
    return True


def _from_intent(fabric: Design) -> tuple[str, Endpoints]:
    inventory, source = fabric.intent.inventory, f"{fabric.path}: inventory"
    if not inventory:
        remedy = "Add `inventory` to it, or use --on twin, --on lab or --on FILE"
        raise EndpointError(str(fabric.path), "contains no addresses of switches", remedy)
    unknown = sorted(set(inventory) - {node.name for node in fabric.topology.switches()})
    if unknown:
        problem = f"not in this fabric: {listed(unknown)}"
        raise EndpointError(source, problem, "Correct the names")
    nodes = tuple(Endpoint(name=name, platform="", **target.model_dump()) for name, target in inventory.items())
    return source, Endpoints(fabric=fabric.intent.fabric, backend="inventory", nodes=nodes)
