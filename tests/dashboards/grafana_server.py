"""A small real HTTP server that answers like Grafana's API (dashboards, folders, data sources, annotations), and holds
each request and answer against the published description of it (`grafana_operations`)."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from tests.dashboards.grafana_operations import problem_of, problem_of_rules

TOKEN = "glsa_of-the-test"
PASSWORD = "of-the-test"
LOGINS = {f"Bearer {TOKEN}", "Basic " + base64.b64encode(f"admin:{PASSWORD}".encode()).decode()}

Answer = tuple[int, Any]


class Grafana:
    """Grafana's memory: what was made through the API. page: answer this to everything, as a proxy would.

    problems: what was not as its API is described.
    """

    def __init__(self) -> None:
        self.folders: dict[str, dict[str, Any]] = {}
        self.datasources: dict[str, dict[str, Any]] = {}
        self.dashboards: dict[str, dict[str, Any]] = {}
        self.placed: dict[str, str] = {}
        self.rules: dict[str, dict[str, Any]] = {}
        self.annotations: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.page: tuple[int, str] | None = None
        self.before_saving: Callable[[], None] = lambda: None
        self.url = ""

    def save_by_hand(self, uid: str, **changes: Any) -> None:
        """Somebody else saves a dashboard in the browser."""
        old = self.dashboards[uid]
        self.dashboards[uid] = {**old, **changes, "version": old["version"] + 1}

    def answer(self, method: str, path: str, body: Any) -> Answer:
        path, _, query = path.partition("?")
        match (method, path.strip("/").split("/")):
            case "GET", ["folders", uid]:
                return _one(self.folders.get(uid), "folder not found")
            case "POST", ["folders"]:
                self.folders[body["uid"]] = body
                return 200, {"id": len(self.folders), **body, "version": 1}
            case "GET", ["datasources", "name", name]:
                return _one(self.datasources.get(name), "Data source not found")
            case "POST", ["datasources"]:
                return self._source(body, {"id": len(self.datasources) + 1, "readOnly": False}, "Datasource added")
            case "PUT", ["datasources", "uid", uid]:
                old = next(one for one in self.datasources.values() if one["uid"] == uid)
                return self._source(body, {"id": old["id"], "readOnly": False}, "Datasource updated")
            case "GET", ["dashboards", "uid", uid]:
                board = self.dashboards.get(uid)
                return _one(board and {"dashboard": board, "meta": {"slug": uid}}, "Dashboard not found")
            case "POST", ["dashboards", "db"]:
                return self._saved(body)
            case "GET", ["v1", "provisioning", "folder", _, "rule-groups", group]:
                return _one(self.rules.get(group), "alert rule group not found")
            case "PUT", ["v1", "provisioning", "folder", folder, "rule-groups", group]:
                return self._ruled(folder, group, body)
            case "GET", ["annotations"]:
                wanted = set(parse_qs(query).get("tags", ()))
                return 200, [each for each in self.annotations if wanted <= {*each["tags"]}]
            case "POST", ["annotations"]:
                self.annotations.append({"id": len(self.annotations) + 1, "dashboardId": 0, "alertId": 0, **body})
                return 200, {"message": "Annotation added", "id": len(self.annotations)}
            case "PATCH", ["annotations", number]:
                self.annotations[int(number) - 1].update(body)
                return 200, {"message": "Annotation patched"}
        return 404, {"message": "Not found"}

    def _source(self, body: dict[str, Any], given: dict[str, Any], message: str) -> Answer:
        source = self.datasources[body["name"]] = {**body, **given}
        return 200, {"id": source["id"], "message": message, "name": source["name"], "datasource": source}

    def _ruled(self, folder: str, group: str, body: dict[str, Any]) -> Answer:
        sources = {source["uid"] for source in self.datasources.values()} | {"__expr__"}
        used = {entry["datasourceUid"] for rule in body["rules"] for entry in rule["data"]}
        problem = problem_of_rules(body)
        if problem or folder not in self.folders or used - sources:
            return 400, {"message": problem or "unknown folder or datasource"}
        kept = {"provenance": "api", "updated": "2026-12-01T00:00:00Z"}
        rules = [{**rule, "id": number, **kept} for number, rule in enumerate(body["rules"], start=1)]
        self.rules[group] = {**body, "rules": rules}
        return 200, self.rules[group]

    def _saved(self, body: dict[str, Any]) -> Answer:
        self.before_saving()
        board = body["dashboard"]
        old = self.dashboards.get(board["uid"])
        if body["folderUid"] not in self.folders:
            return 400, {"message": "folder not found", "status": "not-found"}
        if old and not body["overwrite"] and board.get("version") != old["version"]:
            return 412, {"message": "The dashboard has been changed by someone else", "status": "version-mismatch"}
        version = old["version"] + 1 if old else 1
        number = old["id"] if old else len(self.dashboards) + 1
        self.dashboards[board["uid"]] = {**board, "id": number, "version": version}
        self.placed[board["uid"]] = body["folderUid"]
        where = {"title": board["title"], "url": f"/d/{board['uid']}/{board['uid']}"}
        return 200, {"id": number, "uid": board["uid"], "status": "success", "version": version, **where}


def _one(found: Any, message: str) -> Answer:
    return (200, found) if found else (404, {"message": message})


def _handler(grafana: Grafana) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
            grafana.requests.append(f"{self.command} {self.path}")
            if grafana.page:
                self._send(grafana.page[0], grafana.page[1].encode(), "text/html")
            elif self.headers.get("Authorization") not in LOGINS:
                self._send(401, json.dumps({"message": "Invalid API key"}).encode(), "application/json")
            else:
                path = self.path.removeprefix("/api")
                status, answer = grafana.answer(self.command, path, body)
                problem = problem_of(self.command, path, body, status, answer)
                if problem and path != self.path:  # one of another path is no request to the API
                    grafana.problems.append(problem)
                self._send(status, json.dumps(answer).encode(), "application/json")

        def _send(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = _serve  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


@contextmanager
def serve(grafana: Grafana, tls: ssl.SSLContext | None = None) -> Iterator[None]:
    """On a free port of this machine until left."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(grafana))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    grafana.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
