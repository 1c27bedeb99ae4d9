"""NVIDIA Topograph: a model that its provider `test` reads, and what its engine `graph` writes.

A switch of the model is a segment, a pod, or what connects the pods, nearest to the hosts first.
Sources: Topograph e2b6250 (21 August 2026), pkg/models/model.go, internal/cluset and pkg/topology/instances.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from railfab.exports.contract import ExportFormat
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.fabric.segments import HostPlaces, places
from railfab.text.hostlist import hostlists


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The files of Topograph."""
    tree = places(design)
    yield "topograph/model.yaml", _model(tree, names, design.topology.fabric)
    yield "topograph/graph.json", _graph(tree, names)


EXPORT = ExportFormat(
    help="a model of Topograph for its engines, and the layers of each host as JSON", documents=documents
)


def _model(tree: HostPlaces, names: HostNames, fabric: str) -> str:
    """The switches with those below them, and the hosts of each segment.

    A switch of a block is stated also where it has none below it, since Topograph looks for it among them; its hosts
    are texts with one bracket each.
    """
    import yaml

    switches: dict[str, Any] = {tree.fabric: {"switches": [*tree.pods]}} if tree.fabric is not None else {}
    switches |= {pod: {"switches": [segment.name for segment in within]} for pod, within in tree.pods.items()}
    switches |= {segment.name: {} for segment in tree.segments}
    blocks = [{"switch": segment.name, "nodes": hostlists(names.of(segment.hosts))} for segment in tree.segments]
    heading = f"# {fabric}: model of Topograph, for its provider `test` (parameter modelFileName: a path).\n"
    return heading + yaml.safe_dump({"switches": switches, "blocks": blocks}, sort_keys=False, width=1_000_000)


def _graph(tree: HostPlaces, names: HostNames) -> str:
    """The layers above each host, closest first; one host a line."""
    lines = [
        json.dumps({"id": names[host], "network_layers": tree.layers(segment)})
        for segment in tree.segments
        for host in segment.hosts
    ]
    return '{"instances": [\n' + ",\n".join(lines) + "\n]}\n"
