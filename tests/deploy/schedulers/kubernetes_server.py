"""A small HTTPS server that keeps nodes and pods as the API server of Kubernetes does, and holds each request and
answer against the published description of its API: paths, parameters, content types, and definitions of the objects.

Operations: those of the OpenAPI description of Kubernetes 1.37, from which the PyPI package kubernetes 37.0.2 is
generated, here in our own words. Definitions: `kubernetes_schema`.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft202012Validator
from tests.deploy.schedulers.kubernetes_schema import CORE, META, schema_of

from railfab.gnmi.certificates import Authority

TOKEN = "of-the-test"
REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 422: "Invalid"}
COMMON = frozenset(("pretty",))
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
KEY = re.compile(rf"(?:[a-z0-9.-]{{1,253}}/)?{LABEL.pattern}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesOperation:
    """parameters: of its query. patches: content types that it takes. answer: the definition of its success."""

    path: str
    parameters: frozenset[str]
    patches: frozenset[str] = frozenset()
    answer: str


OPERATIONS = {
    "GET node": KubernetesOperation(path=r"/api/v1/nodes/([^/]+)", parameters=COMMON, answer=f"{CORE}Node"),
    "PATCH node": KubernetesOperation(
        path=r"/api/v1/nodes/([^/]+)",
        parameters=COMMON | {"dryRun", "fieldManager", "fieldValidation", "force"},
        patches=frozenset(
            f"application/{kind}-patch+{form}"
            for kind, form in (("json", "json"), ("merge", "json"), ("strategic-merge", "json"), ("apply", "yaml"))
        ),
        answer=f"{CORE}Node",
    ),
    "GET pods": KubernetesOperation(
        path=r"/api/v1/pods",
        parameters=COMMON
        | {"allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion"}
        | {"resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch"},
        answer=f"{CORE}PodList",
    ),
}
POD_FIELDS = {
    "spec.nodeName": lambda pod: pod["spec"].get("nodeName", ""),
    "status.phase": lambda pod: pod["status"]["phase"],
}
"""Some of the fields that pods can be selected by."""


@dataclass
class ApiMemory:
    """Nodes and pods, and what was asked. problems: what was not as the API is described.

    meddle: a change that somebody else makes before the next patches of a node. answers: statuses of the next requests.
    """

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    pods: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    meddle: list[dict[str, Any]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    page: int = 2
    port: int = 0
    version: int = 100

    def add_node(self, name: str, **spec: Any) -> None:
        self.nodes[name] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec}
        self._changed(name)

    def add_pod(self, node: str, name: str, phase: str = "Running", owner: str = "Job", **spec: Any) -> None:
        owners = [{"apiVersion": "v1", "kind": owner, "name": "owner", "uid": "1"}]
        metadata = {"name": name, "namespace": "train", "ownerReferences": owners}
        containers = [{"name": "main", "resources": spec.pop("resources", {})}]
        self.pods.append(
            {
                "metadata": metadata,
                "spec": {"nodeName": node, "containers": containers, **spec},
                "status": {"phase": phase},
            }
        )

    def _changed(self, name: str) -> dict[str, Any]:
        self.version += 1
        self.nodes[name]["metadata"]["resourceVersion"] = str(self.version)
        return self.nodes[name]

    def answer(self, operation: str, name: str, query: dict[str, str], body: Any) -> tuple[int, dict[str, Any]]:
        if operation == "GET pods":
            return 200, self._pods(query)
        if name not in self.nodes:
            return _status(404, f'nodes "{name}" not found')
        return (200, self.nodes[name]) if operation == "GET node" else self._patched(name, body)

    def _patched(self, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        if self.meddle:
            self.nodes[name] = merged(self.nodes[name], self.meddle.pop())
            self._changed(name)
        version = body["metadata"].pop("resourceVersion", None)
        if version not in (None, self.nodes[name]["metadata"]["resourceVersion"]):
            return _status(409, f'Operation cannot be fulfilled on nodes "{name}": the object has been modified')
        changed = merged(self.nodes[name], body)
        taints = changed["spec"].get("taints", [])
        labels = [taint["value"] for taint in taints] + [key.rpartition("/")[2] for key in _keys(changed)]
        if not all(map(LABEL.fullmatch, labels)) or not all(map(KEY.fullmatch, _keys(changed))):
            return _status(422, "a name is no label")
        if len({(taint["key"], taint["effect"]) for taint in taints}) < len(taints):
            return _status(422, "a taint is there twice")
        self.nodes[name] = changed
        return 200, self._changed(name)

    def _pods(self, query: dict[str, str]) -> dict[str, Any]:
        chosen = [pod for pod in self.pods if _selected(pod, query.get("fieldSelector", ""))]
        start = int(query.get("continue", 0))
        end = start + min(self.page, int(query.get("limit", 500)))
        following = {"continue": str(end)} if end < len(chosen) else {}
        metadata = {"resourceVersion": str(self.version), **following}
        return {"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": chosen[start:end]}


def merged(target: Any, patch: Any) -> Any:
    """A merge patch (RFC 7386, 2)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _keys(node: dict[str, Any]) -> list[str]:
    return [*(taint["key"] for taint in node["spec"].get("taints", [])), *node["metadata"].get("annotations", {})]


def _selected(pod: dict[str, Any], selector: str) -> bool:
    terms = (re.fullmatch(r"([\w.]+)(!?=)(.*)", term) for term in selector.split(",") if term)
    return all((POD_FIELDS[term[1]](pod) == term[3]) is (term[2] == "=") for term in terms)


def _status(code: int, message: str) -> tuple[int, dict[str, Any]]:
    reason = REASONS.get(code, "InternalError")
    return code, {
        **{"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure"},
        **{"message": message, "reason": reason, "code": code},
    }


def _handler(memory: ApiMemory) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[-1] for key, values in parse_qs(parts.query, strict_parsing=bool(parts.query)).items()}
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
            memory.requests.append(f"{self.command} {parts.path}")
            name, operation = self._operation(parts.path, query, body)
            certificate = self.connection.getpeercert()
            if self.headers.get("Authorization") != f"Bearer {TOKEN}" and not certificate:
                status, answer = _status(401, "Unauthorized")
            elif memory.answers:
                status, answer = _status(memory.answers.pop(0), "as the test says")
            else:
                status, answer = memory.answer(operation, name, query, body)
                self._hold("answer", OPERATIONS[operation].answer if status == 200 else f"{META}Status", answer)
            self._send(status, json.dumps(answer).encode())

        def _operation(self, path: str, query: dict[str, str], body: Any) -> tuple[str, str]:
            for name, operation in OPERATIONS.items():
                match = re.fullmatch(operation.path, path)
                if match and name.startswith(f"{self.command} "):
                    if unknown := query.keys() - operation.parameters:
                        memory.problems.append(f"{name} takes no {unknown}")
                    if operation.patches:
                        if self.headers["Content-Type"] not in operation.patches:
                            memory.problems.append(f"{name} takes no {self.headers['Content-Type']}")
                        self._hold("request", f"{CORE}Node", body)
                    return match[1] if match.groups() else "", name
            memory.problems.append(f"{self.command} {path} is no operation")
            return "", "GET pods"

        def _hold(self, what: str, definition: str, value: Any) -> None:
            for error in Draft202012Validator(schema_of(definition)).iter_errors(value):
                memory.problems.append(f"{what}: {error.json_path}: {error.message}")

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PATCH = _serve  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


@contextmanager
def serve_api(memory: ApiMemory, authority: Authority, folder: Path, *addresses: str) -> Iterator[None]:
    """On a free port of this machine, with a certificate for `api.example` and these addresses, until left."""
    identity = authority.issue("api.example", addresses)
    (folder / "server.pem").write_bytes(identity.certificate + identity.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    context.load_verify_locations(cadata=authority.certificate.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(memory))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    memory.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
