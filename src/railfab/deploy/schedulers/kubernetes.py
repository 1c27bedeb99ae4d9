"""Kubernetes as a gate: nodes are cordoned and tainted with an annotation of ours, and uncordoned where it is theirs.

Source: the OpenAPI description of the API server (`/api/v1/nodes/{name}`, `/api/v1/pods`), Kubernetes 1.37.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from railfab.deploy.schedulers.api_server import ATTEMPTS, ApiRefusal, ApiServer
from railfab.deploy.schedulers.contract import SchedulerError
from railfab.fabric.host_names import HostNames
from railfab.text.counted import listed

MAINTENANCE = "railfab.io/maintenance"
"""Key of our annotation and our taint; the value of both is the ID of the deploy."""
PAGE = 500
Node = dict[str, Any]
NodeChange = dict[str, Any]
ChangeOf = Callable[[Node], NodeChange | None]
"""The merge patch that a node needs; None where it is as it should be."""


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """The nodes of a cluster by its API server. names: of the hosts in it."""

    server: ApiServer
    names: HostNames = field(default_factory=HostNames)
    name: str = "kubernetes"

    def hold(self, hosts: Sequence[str], reason: str) -> Mapping[str, str]:
        left_alone: dict[str, str] = {}
        for host, node in self._nodes(hosts).items():
            _, held = self._update(host, node, lambda node: _cordoned(node, reason))
            if (who := _holder(held)) != reason:
                left_alone[host] = "cordoned" if who is None else f"railfab {who}"
        return left_alone

    def busy(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """The pods with devices (GPUs, NICs: resources with a domain) on these hosts, but those of DaemonSets."""
        self._nodes(hosts)
        jobs = {host: [words for pod in self._pods(self.names[host]) if (words := _job(pod))] for host in hosts}
        return {host: listed(pods, most=3) for host, pods in jobs.items() if pods}

    def held(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return {host: who for host, node in self._nodes(hosts).items() if (who := _holder(node)) is not None}

    def release(self, hosts: Sequence[str], reason: str) -> tuple[str, ...]:
        return tuple(
            host
            for host, node in self._nodes(hosts).items()
            if self._update(host, node, lambda node: _uncordoned(node, reason))[0]
        )

    def _nodes(self, hosts: Sequence[str]) -> dict[str, Node]:
        """The nodes by host. Raises SchedulerError for hosts that the cluster does not have, before any is changed."""
        nodes: dict[str, Node] = {}
        missing: list[str] = []
        for host in hosts:
            try:
                nodes[host] = self.server.get(self._path(host))
            except ApiRefusal as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND:
                    raise self._error(refusal) from None
                missing.append(self.names[host])
        if missing:
            remedy = "Name the nodes of the hosts in a file, and the file in change.scheduler.hosts"
            raise self.server.error(f"knows no node {listed(missing)}", remedy)
        return nodes

    def _path(self, host: str) -> str:
        return f"/api/v1/nodes/{quote(self.names[host], safe='')}"

    def _update(self, host: str, node: Node, change_of: ChangeOf) -> tuple[bool, Node]:
        """Change a node as it is now; whether that was needed, and the node then.

        A patch names the version that it is made for, so that the server refuses it where somebody else was faster.
        """
        for _ in range(ATTEMPTS):
            change = change_of(node)
            if change is None:
                return False, node
            try:
                return True, self.server.patch(self._path(host), change)
            except ApiRefusal as refusal:
                if refusal.status != HTTPStatus.CONFLICT:
                    raise self._error(refusal) from None
            node = self._nodes((host,))[host]
        problem = f"node {self.names[host]} was changed by others {ATTEMPTS} times while railfab changed it"
        raise self.server.error(problem, "Try again")

    def _pods(self, node: str) -> Iterator[dict[str, Any]]:
        """The pods on a node that have not ended, page by page."""
        query = {
            "fieldSelector": f"spec.nodeName={node},status.phase!=Succeeded,status.phase!=Failed",
            "limit": str(PAGE),
        }
        while True:
            try:
                page = self.server.get("/api/v1/pods", query)
            except ApiRefusal as refusal:
                raise self._error(refusal) from None
            yield from page.get("items") or ()
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return
            query["continue"] = following

    def _error(self, refusal: ApiRefusal) -> SchedulerError:
        problem = f"answers {refusal.status} ({refusal.message.rstrip('.')})"
        remedies: dict[int, str] = {
            HTTPStatus.UNAUTHORIZED: f"Check the token or the certificate of {self.server.source}",
            HTTPStatus.FORBIDDEN: "Grant its user get and patch of nodes, and list of pods",
        }
        return self.server.error(problem, remedies.get(refusal.status, "Check the log of the API server"))


def _holder(node: Node) -> str | None:
    """The ID of the deploy that cordoned a node; None for one that railfab did not."""
    annotations = node["metadata"].get("annotations") or {}
    return annotations.get(MAINTENANCE) if _spec(node).get("unschedulable") else None


def _spec(node: Node) -> dict[str, Any]:
    return node.get("spec") or {}


def _cordoned(node: Node, reason: str) -> NodeChange | None:
    if _spec(node).get("unschedulable"):
        return None  # ours, or somebody else's
    taint = {"key": MAINTENANCE, "value": reason, "effect": "NoSchedule"}
    return _change(node, reason, unschedulable=True, taints=[*_other_taints(node), taint])


def _uncordoned(node: Node, reason: str) -> NodeChange | None:
    if (node["metadata"].get("annotations") or {}).get(MAINTENANCE) != reason:
        return None
    return _change(node, None, unschedulable=None, taints=_other_taints(node) or None)


def _other_taints(node: Node) -> list[dict[str, Any]]:
    return [taint for taint in _spec(node).get("taints") or () if taint["key"] != MAINTENANCE]


def _change(node: Node, annotation: str | None, **spec: object) -> NodeChange:
    """A merge patch, in which null removes a key and a list replaces the present one."""
    version = node["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version, "annotations": {MAINTENANCE: annotation}}, "spec": spec}


def _job(pod: Mapping[str, Any]) -> str:
    """A pod with its devices, in words; empty for one without, and for one of a DaemonSet, which does not end."""
    metadata, spec = pod["metadata"], pod["spec"]
    if any(owner.get("kind") == "DaemonSet" for owner in metadata.get("ownerReferences") or ()):
        return ""
    devices = list(dict.fromkeys(_devices(spec)))
    return f"pod {metadata['namespace']}/{metadata['name']} ({listed(devices, most=3)})" if devices else ""


def _devices(spec: Mapping[str, Any]) -> Iterator[str]:
    """Devices that a pod asks for: extended resources, whose names have a domain, and claims of resources."""
    users = [spec, *(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    for user in users:
        resources = user.get("resources") or {}
        for amounts in (resources.get("limits"), resources.get("requests")):
            yield from (f"{amount} {name}" for name, amount in (amounts or {}).items() if "/" in name)
    yield from (f"claim {claim['name']}" for claim in spec.get("resourceClaims") or ())
