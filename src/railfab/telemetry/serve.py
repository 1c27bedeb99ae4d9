"""The HTTP side of the collector: /metrics, /healthz and an index."""

from __future__ import annotations

import html
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol
from urllib.parse import parse_qs
from wsgiref.types import WSGIEnvironment

from prometheus_client.exposition import choose_encoder, gzip_accepted

from railfab.telemetry.compression import compressed
from railfab.telemetry.exposition import Exposition
from railfab.telemetry.http_server import (
    OK,
    UNAVAILABLE,
    Answer,
    HttpServer,
    Page,
    html_answer,
    json_answer,
    text_answer,
)
from railfab.telemetry.status import UNKNOWN, Parts, TargetStatus, as_html, as_json
from railfab.units import COLLECTOR_PORT

INDEX = """<!doctype html>
<title>railfab collector</title>
<h1>railfab collector</h1>
<p><a href="/metrics">/metrics</a> for Prometheus, <a href="/targets">/targets</a> for each target and its state,
<a href="/healthz">/healthz</a> for liveness and <a href="/readyz">/readyz</a> for readiness probes.</p>
"""


ANSWER_DEPENDS_ON = ("REQUEST_METHOD", "HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "QUERY_STRING")
"""The WSGI variables that the answer to a scrape depends on."""


NO_PAGES: Mapping[str, Page] = MappingProxyType({})


@dataclass(slots=True)
class _Scrape:
    """One that is being rendered. answer: None until it has ended, and after an error."""

    ended: threading.Event = field(default_factory=threading.Event)
    answer: Answer | None = None


class Served(Protocol):
    """Whom the server asks besides the exposition."""

    def healthy(self) -> Parts:
        """Whether each part works, for /healthz."""
        ...

    def ready(self) -> Parts:
        """Whether each part has begun, for /readyz."""
        ...

    def targets(self) -> list[TargetStatus]:
        """The targets and their states, for /targets."""
        ...


class MetricsServer(HttpServer):
    """Serves an exposition over HTTP from its own threads; a context manager. host, port: as of `HttpServer`.

    served: the answers of /healthz and /readyz, with status 503 when a value is false, else 200, and of /targets,
    with 503 when one of them is not known. further: more pages.
    """

    def __init__(
        self,
        exposition: Exposition,
        served: Served,
        *,
        host: str = "127.0.0.1",
        port: int = COLLECTOR_PORT,
        further: Mapping[str, Page] = NO_PAGES,
    ) -> None:
        self._served = served
        self._exposition = exposition
        self._scrapes: dict[tuple[str, ...], _Scrape] = {}
        self._scrapes_lock = threading.Lock()
        pages: dict[str, Page] = {
            "/": lambda _: _index(served.healthy()),
            "/metrics": self._metrics,
            "/targets": self._targets,
            "/healthz": lambda _: _parts(served.healthy()),
            "/readyz": lambda _: _parts(served.ready()),
        }
        super().__init__({**pages, **further}, host=host, port=port)

    def _metrics(self, environ: WSGIEnvironment) -> Answer:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return text_answer("405 Method Not Allowed", "Use GET.\n")
        return self._scrape(environ)

    def _targets(self, environ: WSGIEnvironment) -> Answer:
        """The targets as JSON, and as a page for a browser."""
        statuses = self._served.targets()
        status = UNAVAILABLE if any(one.state == UNKNOWN for one in statuses) else OK
        if "text/html" in environ.get("HTTP_ACCEPT", ""):
            return html_answer(as_html(statuses), status)
        return json_answer(as_json(statuses), status)

    def _scrape(self, environ: WSGIEnvironment) -> Answer:
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

    def _render(self, environ: WSGIEnvironment) -> Answer:
        """Render all families, or those that `?name[]=` asks for, as text or OpenMetrics."""
        _, kind = choose_encoder(environ.get("HTTP_ACCEPT", ""))
        names = parse_qs(environ.get("QUERY_STRING", "")).get("name[]")
        parts = self._exposition.parts(openmetrics="openmetrics" in kind, names=names)
        headers = [("Content-Type", kind)]
        if gzip_accepted(environ.get("HTTP_ACCEPT_ENCODING", "")):
            headers.append(("Content-Encoding", "gzip"))
            body = compressed(parts)
        else:
            body = b"".join(map(bytes, parts))
        return Answer(OK, [*headers, ("Content-Length", str(len(body)))], [body])


def _parts(parts: Parts) -> Answer:
    """Each part and whether it is as it should be. One that is overloaded is: a restart would make it later."""
    return json_answer(dict(parts), UNAVAILABLE if any(part is False for part in parts.values()) else OK)


def _index(parts: Parts) -> Answer:
    """Links to the other pages, and what is overloaded."""
    lines = [
        f"<p>{html.escape(name)} since {html.escape(str(part['since']))}, up to {part['lag_s']} s late</p>\n"
        for name, part in parts.items()
        if isinstance(part, Mapping)
    ]
    return html_answer(INDEX + "".join(lines))
