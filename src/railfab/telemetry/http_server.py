"""An HTTP server of a few pages, on a TCP port or on a Unix socket."""

from __future__ import annotations

import errno
import json
import logging
import socket
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, NamedTuple, Protocol
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

from railfab.errors import RailfabError
from railfab.process.background_server import BackgroundServer
from railfab.process.listeners import bind_problem

logger = logging.getLogger(__name__)

OK, UNAVAILABLE = "200 OK", "503 Service Unavailable"
UNIX = "unix:"
"""Before the path of a socket, in the place of a host."""


class Answer(NamedTuple):
    """The answer to a request."""

    status: str
    headers: list[tuple[str, str]]
    body: list[bytes]


class Page(Protocol):
    """Answers the requests of one path."""

    def __call__(self, environ: WSGIEnvironment, /) -> Answer:
        """The answer to a request."""
        ...


class ListenError(RailfabError):
    """The address cannot be listened on."""


class HttpServer(BackgroundServer):
    """Serves pages, by path, from threads of its own; a context manager. Any other path is answered with theirs.

    host: an address, or `unix:` and the path of a socket. port: of an address; 0 is any free one.
    """

    def __init__(self, pages: Mapping[str, Page], *, host: str, port: int) -> None:
        *others, last = pages
        self._pages, self._not_found = pages, f"Not found. Use {', '.join(others)} or {last}.\n"
        self._host = host
        super().__init__(_listening(host, port, self._answer), thread="railfab-metrics")

    @property
    def url(self) -> str:
        """The address; of a socket, `unix:` and its path."""
        return self._host if self._host.startswith(UNIX) else super().url

    def _answer(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        page = self._pages.get(environ.get("PATH_INFO", "/"))
        answer = text_answer("404 Not Found", self._not_found) if page is None else page(environ)
        start(answer.status, list(answer.headers))
        return answer.body


def text_answer(status: str, text: str) -> Answer:
    """An answer that is plain text."""
    return _answer(status, "text/plain; charset=utf-8", text)


def html_answer(text: str, status: str = OK) -> Answer:
    """A page for a browser."""
    return _answer(status, "text/html; charset=utf-8", text)


def json_answer(document: Any, status: str = OK) -> Answer:
    """A document as JSON."""
    return _answer(status, "application/json", json.dumps(document) + "\n")


def _answer(status: str, kind: str, text: str) -> Answer:
    body = text.encode()
    return Answer(status, [("Content-Type", kind), ("Content-Length", str(len(body)))], [body])


def _listening(host: str, port: int, application: Any) -> WSGIServer:
    """A server that listens. Raises ListenError."""
    if not host:
        raise ListenError("--listen", "names no address", "Write 127.0.0.1, or 0.0.0.0 for every network")
    if host.startswith(UNIX):
        return _listening_on_socket(host, application)
    kind = _Server6 if ":" in host else _Server
    try:
        return make_server(host, port, application, kind, handler_class=_Handler)
    except OverflowError:
        raise ListenError(f"{host}:{port}", "is no port", "Choose one from 1 to 65535") from None
    except OSError as error:
        problem = f"cannot be listened on ({bind_problem(error, port)})"
        in_use = error.errno == errno.EADDRINUSE
        remedy = "End what uses it, or choose another --port" if in_use else "Choose another --listen or --port"
        raise ListenError(f"{host}:{port}", problem, remedy) from None


def _listening_on_socket(host: str, application: Any) -> WSGIServer:
    try:
        return make_server(host.removeprefix(UNIX), 0, application, _UnixServer, handler_class=_Handler)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ListenError(host, f"cannot be listened on ({reason})", "Choose another path") from None


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


class _UnixServer(_Server):
    address_family = socket.AF_UNIX
    _is_bound = False

    def __init__(self, address: tuple[str, int], *arguments: Any) -> None:
        super().__init__(address[0], *arguments)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Bind, in the place of a socket that a process which has ended has left."""
        path = Path(str(self.server_address))
        if _is_left(path):
            path.unlink(missing_ok=True)
        TCPServer.server_bind(self)
        self._is_bound = True
        self.server_name, self.server_port = "localhost", 0
        self.setup_environ()

    def get_request(self) -> tuple[socket.socket, Any]:
        """A connection, and an address of the form that the handler reads."""
        return self.socket.accept()[0], ("", 0)

    def server_close(self) -> None:
        super().server_close()
        if self._is_bound:
            Path(str(self.server_address)).unlink(missing_ok=True)


def _is_left(path: Path) -> bool:
    """Whether a socket is there on which no process listens."""
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log requests for debugging only."""
        logger.debug(format, *args)
