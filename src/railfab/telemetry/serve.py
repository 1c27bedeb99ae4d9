"""The HTTP side of the collector: /metrics, /healthz and an index."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

from prometheus_client.exposition import choose_encoder, gzip_accepted

from railfab.background_server import BackgroundServer
from railfab.errors import RailfabError
from railfab.listeners import bind_problem
from railfab.telemetry.compression import compressed
from railfab.telemetry.exposition import Exposition
from railfab.telemetry.status import TargetStatus, as_html, as_json
from railfab.units import COLLECTOR_PORT

logger = logging.getLogger(__name__)

INDEX = """<!doctype html>
<title>railfab collector</title>
<h1>railfab collector</h1>
<p><a href="/metrics">/metrics</a> for Prometheus, <a href="/targets">/targets</a> for each target and its state,
<a href="/healthz">/healthz</a> for liveness and <a href="/readyz">/readyz</a> for readiness probes.</p>
"""


ANSWER_DEPENDS_ON = ("REQUEST_METHOD", "HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "QUERY_STRING")
"""The WSGI variables that the answer to a scrape depends on."""


NOT_FOUND = "Not found. Use /, /metrics, /targets, /healthz or /readyz.\n"


class _Answer(NamedTuple):
    status: str
    headers: list[tuple[str, str]]
    body: list[bytes]


@dataclass(slots=True)
class _Scrape:
    """One that is being rendered. answer: None until it has ended, and after an error."""

    ended: threading.Event = field(default_factory=threading.Event)
    answer: _Answer | None = None


class ListenError(RailfabError):
    """The address cannot be listened on."""


class Served(Protocol):
    """Whom the server asks besides the exposition."""

    def healthy(self) -> Mapping[str, bool]:
        """Whether each part works, for /healthz."""
        ...

    def ready(self) -> Mapping[str, bool]:
        """Whether each part has begun, for /readyz."""
        ...

    def targets(self) -> list[TargetStatus]:
        """The targets and their states, for /targets."""
        ...


class MetricsServer(BackgroundServer):
    """Serves an exposition over HTTP from its own threads; a context manager. port 0 is any free one.

    served: the answers of /healthz and /readyz, with status 200 when every value is true, else 503, and of /targets.
    """

    def __init__(
        self,
        exposition: Exposition,
        served: Served,
        *,
        host: str = "127.0.0.1",
        port: int = COLLECTOR_PORT,
    ) -> None:
        if not host:
            raise ListenError("--listen", "names no address", "Write 127.0.0.1, or 0.0.0.0 for every network")
        self._served = served
        self._exposition = exposition
        self._scrapes: dict[tuple[str, ...], _Scrape] = {}
        self._scrapes_lock = threading.Lock()
        kind = _Server6 if ":" in host else _Server
        try:
            server = make_server(host, port, self._answer, kind, handler_class=_Handler)
        except OverflowError:
            raise ListenError(f"{host}:{port}", "is no port", "Choose one from 1 to 65535") from None
        except OSError as error:
            problem = f"cannot be listened on ({bind_problem(error, port)})"
            raise ListenError(f"{host}:{port}", problem, "End what uses it, or choose another --port") from None
        super().__init__(server, thread="railfab-metrics")

    def _answer(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
                return _body(start, "405 Method Not Allowed", "text/plain; charset=utf-8", "Use GET.\n")
            answer = self._scrape(environ)
            start(answer.status, list(answer.headers))
            return answer.body
        if path in ("/healthz", "/readyz"):
            parts = self._served.healthy() if path == "/healthz" else self._served.ready()
            status = "200 OK" if all(parts.values()) else "503 Service Unavailable"
            return _body(start, status, "application/json", json.dumps(dict(parts)) + "\n")
        if path == "/targets":
            return self._targets(environ, start)
        if path == "/":
            return _body(start, "200 OK", "text/html; charset=utf-8", INDEX)
        return _body(start, "404 Not Found", "text/plain; charset=utf-8", NOT_FOUND)

    def _targets(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """The targets as JSON, and as a page for a browser."""
        statuses = self._served.targets()
        if "text/html" in environ.get("HTTP_ACCEPT", ""):
            return _body(start, "200 OK", "text/html; charset=utf-8", as_html(statuses))
        return _body(start, "200 OK", "application/json", json.dumps(as_json(statuses)) + "\n")

    def _scrape(self, environ: WSGIEnvironment) -> _Answer:
        """Render a scrape, or wait for the same one that is being rendered.

        A Prometheus that gives up on a scrape sends the next one: rendered side by side they would only take longer.
        """
        wanted = tuple(environ.get(name, "") for name in ANSWER_DEPENDS_ON)
        with self._scrapes_lock:
            others = self._scrapes.get(wanted)
            ours = self._scrapes.setdefault(wanted, _Scrape())
        if others is not None:
            others.ended.wait()
            return self._scrape(environ) if others.answer is None else others.answer
        try:
            ours.answer = self._render(environ)
        finally:
            with self._scrapes_lock:
                del self._scrapes[wanted]
            ours.ended.set()
        return ours.answer

    def _render(self, environ: WSGIEnvironment) -> _Answer:
        """Render all families, or those that `?name[]=` asks for, as text or OpenMetrics."""
        _, kind = choose_encoder(environ.get("HTTP_ACCEPT", ""))
        names = parse_qs(environ.get("QUERY_STRING", "")).get("name[]")
        parts = self._exposition.parts(openmetrics="openmetrics" in kind, names=names)
        headers = [("Content-Type", kind)]
        if gzip_accepted(environ.get("HTTP_ACCEPT_ENCODING", "")):
            headers.append(("Content-Encoding", "gzip"))
            body = compressed(parts)
        else:
            body = b"".join(parts)
        return _Answer("200 OK", [*headers, ("Content-Length", str(len(body)))], [body])


def _body(start: StartResponse, status: str, kind: str, text: str) -> Iterable[bytes]:
    body = text.encode()
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without the DNS lookup of our own name that the standard library does, which may take seconds."""
        TCPServer.server_bind(self)
        host, self.server_port = self.server_address[:2]
        self.server_name = str(host)
        self.setup_environ()


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log requests for debugging only."""
        logger.debug(format, *args)
