"""Validation of a containerlab topology file, with more and earlier errors than containerlab reports."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from railfab.errors import LabError
from railfab.lab.containerlab.model import NODE_KEYS
from railfab.lab.containerlab.names import INTERFACES, interface_error
from railfab.text.counted import counted
from railfab.yaml_reader.sections import Faulty, values_in

TOP_KEYS = ("name", "prefix", "mgmt", "topology", "settings")
MANAGEMENT_KEYS = ("network", "bridge", "ipv4-subnet", "ipv6-subnet", "ipv4-gw", "ipv6-gw", "mtu", "external-access")
TOPOLOGY_KEYS = ("defaults", "kinds", "groups", "nodes", "links")
LINK_KEYS = ("type", "endpoints", "mtu", "labels", "vars")
DEFINITION_KEYS = (
    *NODE_KEYS,
    *("license", "ports", "mgmt-ipv4", "mgmt-ipv6", "enforce-startup-config", "user", "entrypoint"),
    *("restart-policy", "network-mode", "cpu", "memory", "stages", "startup-delay", "certificate"),
)
WITHOUT_IMAGE = ("bridge", "ovs-bridge", "host", "ext-container")
NODE_NAME = r"[a-zA-Z0-9][a-zA-Z0-9._|-]*"
MTU_BYTES = range(68, 65536)

Document = Mapping[str, Any]


def check_file(path: Path) -> list[LabError]:
    """All errors of a topology file. Raises LabError when it cannot be read."""
    try:
        document, _ = values_in(path.read_text())
    except FileNotFoundError:
        raise LabError(str(path), "no such file", "Write it with `railfab lab render`") from None
    except (OSError, UnicodeDecodeError, Faulty) as error:
        raise LabError(str(path), f"cannot be read ({str(error).splitlines()[0]})", "Correct the file") from None
    return list(check(document, str(path), exists=lambda name: (path.parent / name).exists()))


def check(document: Any, where: str, *, exists: Callable[[str], bool] = lambda _: True) -> Iterator[LabError]:
    """Errors of a topology. exists: whether a file that it names exists."""
    if not isinstance(document, dict) or not isinstance(document.get("topology"), dict):
        yield LabError(where, "has no topology", "Add the keys name and topology")
        return
    topology = document["topology"]
    yield from _keys(where, document, TOP_KEYS)
    if not isinstance(document.get("name"), str):
        yield LabError(f"{where}: name", "is missing", "Set the name of the lab")
    yield from _keys(f"{where}: mgmt", document.get("mgmt") or {}, MANAGEMENT_KEYS)
    yield from _keys(f"{where}: topology", topology, TOPOLOGY_KEYS)
    for level in ("kinds", "groups", "nodes"):
        for name, definition in (topology.get(level) or {}).items():
            yield from _keys(f"{where}: {level}.{name}", definition or {}, DEFINITION_KEYS)
    resolved = {
        name: _resolved(topology, definition or {}) for name, definition in (topology.get("nodes") or {}).items()
    }
    for name, node in resolved.items():
        yield from _node_errors(f"{where}: nodes.{name}", name, node, topology, exists)
    yield from _link_errors(where, topology.get("links") or [], resolved)


def _keys(where: str, mapping: Any, known: Iterable[str]) -> Iterator[LabError]:
    if not isinstance(mapping, dict):
        yield LabError(where, "is not a mapping", f"Use the keys {', '.join(known)}")
        return
    for key in mapping:
        if key not in known:
            yield LabError(f"{where}: {key}", "is not a key of containerlab", _nearest(str(key), known))


def _nearest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"Use {near[0]}" if near else f"Use one of {', '.join(known)}"


def _resolved(topology: Document, definition: Document) -> dict[str, Any]:
    """Settings of a node merged with those of its group, its kind and the defaults, in containerlab's order."""
    group = (topology.get("groups") or {}).get(definition.get("group")) or {}
    defaults = topology.get("defaults") or {}
    kind = definition.get("kind") or group.get("kind") or defaults.get("kind")
    of_kind = (topology.get("kinds") or {}).get(kind) or {}
    files = [bind for level in (defaults, of_kind, group, definition) for bind in level.get("binds") or ()]
    return {**defaults, **of_kind, **group, **definition, "kind": kind, "binds": files}


def _node_errors(
    where: str, name: str, node: Document, topology: Document, exists: Callable[[str], bool]
) -> Iterator[LabError]:
    kind, group = node["kind"], node.get("group")
    if re.fullmatch(NODE_NAME, str(name)) is None:
        yield LabError(where, "is not a valid node name", "Use letters, digits, dot, dash and underscore")
    if group is not None and group not in (topology.get("groups") or {}):
        yield LabError(where, f"group {group!r} is not defined", _nearest(str(group), topology.get("groups") or {}))
    if kind is None:
        yield LabError(where, "has no kind", "Set its kind, or that of its group")
    elif kind not in INTERFACES and kind not in WITHOUT_IMAGE:
        yield LabError(where, f"kind {kind!r} is not supported", _nearest(str(kind), INTERFACES))
    if not node.get("image") and kind not in WITHOUT_IMAGE:
        yield LabError(where, "has no image", "Set its image, or that of its group")
    named = [bind.split(":")[0] for bind in node["binds"]] + [node[key] for key in ("startup-config",) if key in node]
    for file in named:
        if not exists(file):
            yield LabError(where, f"file {file} does not exist", "Write it with `railfab lab render`")


def _link_errors(where: str, links: Iterable[Any], nodes: Mapping[str, Document]) -> Iterator[LabError]:
    taken: dict[tuple[str, str], int] = {}
    for index, link in enumerate(links, start=1):
        link_name = f"{where}: link {index}"
        yield from _keys(link_name, link, LINK_KEYS)
        mtu = link.get("mtu")
        if mtu is not None and mtu not in MTU_BYTES:
            yield LabError(link_name, f"mtu {mtu} is out of range", f"Use {MTU_BYTES.start} to {MTU_BYTES.stop - 1}")
        ends = [_end(end) for end in link.get("endpoints") or ()]
        if len(ends) != 2:
            yield LabError(link_name, f"has {counted(len(ends), 'end')}, not 2", "Set two endpoints")
        for node, interface in ends:
            yield from _end_errors(link_name, node, interface, nodes)
            if (first := taken.setdefault((node, interface), index)) != index:
                yield LabError(link_name, f"{node} {interface} is also an end of link {first}", "Use another interface")


def _end(end: Any) -> tuple[str, str]:
    if isinstance(end, dict):
        return str(end.get("node")), str(end.get("interface"))
    node, _, interface = str(end).partition(":")
    return node, interface


def _end_errors(where: str, node: str, interface: str, nodes: Mapping[str, Document]) -> Iterator[LabError]:
    if node not in nodes:
        yield LabError(where, f"node {node!r} is not in the topology", _nearest(node, nodes))
        return
    error = interface_error(str(nodes[node]["kind"]), interface)
    if error is not None:
        yield LabError(f"{where}: {node}", *error)
