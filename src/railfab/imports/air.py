"""Read a topology of NVIDIA DSX Air: nodes, and the links between two of them.

The file is one that Air exports or imports, or the content of one, which its API takes. Links to the outside are
ignored, and so is the management network that Air adds. Source: NVIDIA Air 2.0, Custom Topology (April 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from railfab.bounded_json import load_json
from railfab.imports.document import read_text
from railfab.imports.existing import (
    ExistingLink,
    ExistingNode,
    ExistingPort,
    ExistingTopology,
    SourceError,
    raise_first,
)
from railfab.topology.networks.describe import MANAGED_PORTS
from railfab.yaml_reader.files import Unread

MAX_BYTES = 200_000_000
OTHER_FILE = "Name a topology that DSX Air has exported"
REMEDIES = dict.fromkeys(Unread, OTHER_FILE)
OUTSIDE = ("outbound", "exit")
"""In place of the second end of a link."""
IMAGES = {"cumulus": "cumulus", "sonic": "sonic"}
"""Platforms by the beginning of the names of their images."""
MANAGEMENT = "eth0"
"""The management port of a switch, which has another name in a plan."""


def is_air(path: Path) -> bool:
    """Whether a file is a topology of Air, not one of containerlab."""
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        document = _document(path)
    except SourceError:
        return False
    links = document.get("links")
    return "content" in document or (bool(links) and isinstance(links, list) and isinstance(links[0], list))


def read_air(path: Path) -> ExistingTopology:
    """The topology in a file. Raises SourceError, or Problems, with the place in it."""
    document = _document(path)
    content = document.get("content", document)
    nodes, links = (content.get("nodes"), content.get("links")) if isinstance(content, dict) else (None, None)
    if not isinstance(nodes, dict) or not all(isinstance(node, dict) for node in nodes.values()):
        raise SourceError(f"{path}: nodes", "is no mapping of nodes", OTHER_FILE)
    if not isinstance(links, list):
        raise SourceError(f"{path}: links", "is no list", OTHER_FILE)
    platforms = {name: _platform(node.get("os")) for name, node in nodes.items()}
    faults: list[SourceError] = []
    wired = tuple(_links(path, links, platforms, faults))
    raise_first(str(path), faults)
    return ExistingTopology(
        source=path.name,
        nodes=tuple(ExistingNode(name=name, platform=platform) for name, platform in platforms.items()),
        links=wired,
        manages_switches=content.get("oob") is False,
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        document = load_json(read_text(path, MAX_BYTES, REMEDIES))
    except ValueError as error:
        raise SourceError(str(path), f"is not JSON ({error})", OTHER_FILE) from None
    if not isinstance(document, dict):
        raise SourceError(str(path), "is no topology", OTHER_FILE)
    return document


def _platform(image: Any) -> str | None:
    """The platform of an image; None for one of a host, and for one that is known by its number."""
    return next((name for start, name in IMAGES.items() if str(image).startswith(start)), None)


def _links(
    path: Path, links: list[Any], platforms: dict[str, str | None], faults: list[SourceError]
) -> Iterator[ExistingLink]:
    taken: dict[tuple[str, str], int] = {}
    for number, link in enumerate(links):
        where = f"{path}: links[{number}]"
        pair = link if isinstance(link, list) else []
        if len(pair) == 2 and pair[1] in OUTSIDE:
            continue
        ends = [_port(end, platforms) for end in pair]
        if len(ends) != 2 or None in ends:
            faults.append(SourceError(where, "is no pair of ports of nodes", "Give node and interface of both"))
            continue
        a, z = (end for end in ends if end is not None)
        for port in dict.fromkeys((a, z)):
            before = taken.setdefault((port.node, port.name), number)
            if before != number or a == z:
                problem = f"{port.node} {port.name} is also an end of links[{before}]"
                faults.append(SourceError(where, problem, "Give each link interfaces of its own"))
        yield ExistingLink(a, z)


def _port(end: Any, platforms: dict[str, str | None]) -> ExistingPort | None:
    """A port of a node of the file; None for anything else."""
    node, name = (end.get("node"), end.get("interface")) if isinstance(end, dict) else (None, None)
    if node not in platforms or not isinstance(name, str) or not name.isprintable():
        return None
    managed = platforms[node] is not None and name == MANAGEMENT
    return ExistingPort(node=node, name=MANAGED_PORTS[0] if managed else name)
