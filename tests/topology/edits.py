"""Topologies changed by hand: what nobody would wire, and checks must see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from railfab.findings import Finding
from railfab.intent import FabricIntent
from railfab.topology import Link, Topology, findings


def with_node(topology: Topology, name: str, **changes: Any) -> Topology:
    nodes = tuple(replace(node, **changes) if node.name == name else node for node in topology.nodes)
    return replace(topology, nodes=nodes)


def with_links(topology: Topology, change: Callable[[Link], Link | None]) -> Topology:
    """Each link as `change` leaves it; None takes it away."""
    return replace(topology, links=tuple(link for old in topology.links if (link := change(old)) is not None))


def between(link: Link, one: str, other: str) -> bool:
    """The link joins two nodes whose names begin so."""
    return link.a.node.startswith(one) and link.z.node.startswith(other)


def end(link: Link, *, a: dict[str, Any] | None = None, z: dict[str, Any] | None = None) -> Link:
    """The link with changed ports."""
    return replace(link, a=replace(link.a, **(a or {})), z=replace(link.z, **(z or {})))


def said(topology: Topology, intent: FabricIntent) -> list[str]:
    """`SEVERITY TEXT` of every finding."""
    return [shown(found) for found in findings(topology, intent)]


def shown(found: Finding) -> str:
    return f"{found.severity} {found}"
