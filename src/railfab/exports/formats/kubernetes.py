"""Kubernetes: labels of nodes, and what Kueue and Volcano make of them.

Labels are Topograph's, nearest tier 0, and railfab's own. Kueue has the widest level first; Volcano's tier 1 is the
nearest.
Sources: Topograph e2b6250, docs/engines/k8s.md; Kueue v1beta2 (ff69552), kueue.x-k8s.io_topologies.yaml and
_resourceflavors.yaml; Volcano ed72c7c, HyperNode v1alpha1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from railfab.errors import RailfabError, raise_all
from railfab.exports.contract import ExportFormat
from railfab.exports.nvidia_objects import nvidia_manifest
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.fabric.segments import HostPlaces, places

TIER = "fabric.topograph.run/tier-"
FABRIC, RAILS, PLANES = "railfab/fabric", "railfab/rails", "railfab/planes"
HOSTNAME = "kubernetes.io/hostname"
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
"""The name of a node and of most objects (RFC 1123 subdomain)."""
MOST_CHARACTERS = 253


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """A script that labels the nodes, the objects of Kueue and Volcano, and of NVIDIA's operators for its NICs.

    Raises RailfabError, or Problems, for names that Kubernetes does not take.
    """
    tree, fabric = places(design), design.topology.fabric
    nodes = {segment.name: names.of(segment.hosts) for segment in tree.segments}
    raise_all(list(_refused(name for hosts in nodes.values() for name in hosts)))
    common = {
        FABRIC: fabric,
        RAILS: str(design.intent.hosts.nics),
        PLANES: str(design.intent.backend.planes),
    }
    yield "kubernetes/label-nodes.sh", _script(tree, nodes, common)
    yield "kubernetes/kueue.yaml", _yaml(_kueue(tree, fabric))
    yield "kubernetes/volcano.yaml", _yaml(_volcano(tree, nodes))
    nvidia = nvidia_manifest(design, names, {FABRIC: fabric})
    if nvidia is not None:
        yield "kubernetes/nvidia.yaml", nvidia


EXPORT = ExportFormat(
    help="labels of Kubernetes nodes, topologies of Kueue and Volcano, and what NVIDIA's operators want",
    documents=documents,
)


def _refused(names: Iterable[str]) -> Iterator[RailfabError]:
    for name in names:
        if SUBDOMAIN.fullmatch(name) is None or len(name) > MOST_CHARACTERS:
            problem = "is no name of Kubernetes: small letters, digits, hyphens and dots, 253 characters at most"
            yield RailfabError(name, problem, "Give the hosts the names of their nodes with --hosts")


def _script(tree: HostPlaces, nodes: Mapping[str, list[str]], common: Mapping[str, str]) -> str:
    """A command a segment. A node that the cluster does not have is an error there, and is not made."""
    lines = [
        "#!/bin/sh",
        "# Labels the nodes of a cluster with their places in the fabric: sh label-nodes.sh",
        "set -eu",
    ]
    for segment in tree.segments:
        tiers = {f"{TIER}{tier}": name for tier, name in enumerate(tree.layers(segment))}
        labels = (f"{key}={value}" for key, value in (tiers | dict(common)).items())
        lines.append(f"kubectl label --overwrite nodes {' '.join(map(quote, (*nodes[segment.name], *labels)))}")
    return "\n".join((*lines, ""))


def _kueue(tree: HostPlaces, fabric: str) -> Iterator[dict[str, Any]]:
    """A topology, and a flavor of the nodes of the fabric, which cannot be changed once it has a topology."""
    tiers = len(tree.layers(tree.segments[0]))
    levels = [*(f"{TIER}{tier}" for tier in reversed(range(tiers))), HOSTNAME]
    yield {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": fabric},
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }
    yield {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": fabric},
        "spec": {"nodeLabels": {FABRIC: fabric}, "topologyName": fabric},
    }


def _volcano(tree: HostPlaces, nodes: Mapping[str, list[str]]) -> Iterator[dict[str, Any]]:
    for segment in tree.segments:
        yield _hyper_node(segment.name, 1, "Node", nodes[segment.name])
    for pod, segments in tree.pods.items():
        yield _hyper_node(pod, 2, "HyperNode", (segment.name for segment in segments))
    if tree.fabric is not None:
        yield _hyper_node(tree.fabric, 3, "HyperNode", tree.pods)


def _hyper_node(name: str, tier: int, kind: str, members: Iterable[str]) -> dict[str, Any]:
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": {
            "tier": tier,
            "members": [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members],
        },
    }


def _yaml(objects: Iterable[dict[str, Any]]) -> str:
    import yaml

    return yaml.safe_dump_all(objects, sort_keys=False, explicit_start=True, width=1_000_000)
