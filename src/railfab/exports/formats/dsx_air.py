"""NVIDIA DSX Air (Air 2.0): the fabric as a simulation of virtual machines, with Cumulus Linux on its switches.

A port of a host is eth1, eth2, ... in the order of its cables, since the machines of Air have no other names; a table
says which port of the plan each is. Without a management network of its own, a plan has that of Air, whose nodes are
stated: a file without the key `oob` has it too, and says nothing of it.
Sources: NVIDIA Air 2.0, Custom Topology (CumulusNetworks/docs 04aeaff, and its pull request 3206 of April 2026).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from railfab.errors import RailfabError
from railfab.exports.contract import ExportFormat
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.text.folding import folded
from railfab.topology import Link, Topology

PLATFORM = "cumulus"
SWITCH = {"os": "cumulus-vx-5.16.1", "cpu": 2, "memory": 4096, "storage": 20}
HOST = {"os": "generic/ubuntu2404", "cpu": 2, "memory": 2048, "storage": 10}
"""Of a machine: image, cores, memory [MiB] and disk [GB], as in NVIDIA's example."""
OOB_NODES = {
    "oob-mgmt-server": {"cpu": 2, "memory": 2048, "storage": 10},
    "oob-mgmt-switch": {"cpu": 2, "memory": 2048, "storage": 10},
}
MANAGEMENT = "eth0"
"""The management port of a switch."""
Ports = Mapping[tuple[str, str], str]
"""The interface of each port in Air, by the node and the port of the plan."""


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The topology, and the interface of each port of a host. Raises RailfabError for switches that Air cannot run."""
    topology = design.topology
    others = [node.name for node in topology.switches() if node.platform != PLATFORM]
    if others:
        problem = f"{folded(others)} do not run Cumulus Linux, whose image DSX Air has"
        raise RailfabError(str(design.path), problem, f"Plan NVIDIA's switches, with platform: {PLATFORM}")
    ports = _ports(topology)
    yield "dsx-air/topology.json", _topology(topology, names, ports)
    hosts = ((node, port) for node, port in ports if not topology.node(node).is_switch)
    rows = (f"{names[node]},{ports[node, port]},{port}" for node, port in hosts)
    yield "dsx-air/interfaces.csv", "\n".join(("host,interface,port", *rows, ""))


EXPORT = ExportFormat(
    help="the topology of DSX Air, with Cumulus Linux, and the port of the plan that an interface of a host is",
    documents=documents,
)


def _ports(topology: Topology) -> Ports:
    """The interface of each cabled port."""
    ports: dict[tuple[str, str], str] = {}
    count: dict[str, int] = {}
    for link in topology.links:
        for port, _ in link.ends():
            is_switch = topology.node(port.node).is_switch
            if is_switch:
                ports[port.node, port.name] = port.name if port.cage else MANAGEMENT
            else:
                count[port.node] = count.get(port.node, 0) + 1
                ports[port.node, port.name] = f"eth{count[port.node]}"
    return ports


def _topology(topology: Topology, names: HostNames, ports: Ports) -> str:
    """The document, a node or a link a line."""
    own_management = any(topology.manages_switch(link) for link in topology.links)
    nodes = (
        f"{json.dumps(names[node.name])}: {json.dumps(SWITCH if node.is_switch else HOST)}" for node in topology.nodes
    )
    lines = [
        "{",
        f'"format": "JSON", "title": {json.dumps(topology.fabric)}, "ztp": null, "content": {{',
        f'"oob": {json.dumps(False if own_management else {"nodes": OOB_NODES})},',
        f'"nodes": {{{_lines(nodes)}}},',
        f'"links": [{_lines(json.dumps(_link(link, names, ports)) for link in topology.links)}]',
        "}}",
        "",
    ]
    return "\n".join(lines)


def _lines(entries: Iterable[str]) -> str:
    return "\n  " + ",\n  ".join(entries) + "\n"


def _link(link: Link, names: HostNames, ports: Ports) -> list[dict[str, Any]]:
    return [{"node": names[port.node], "interface": ports[port.node, port.name]} for port in (link.a, link.z)]
