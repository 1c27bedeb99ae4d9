"""The HTTP server of /metrics, which keeps connections open; that of Python's library has the memory of three."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LONGEST_LINE = 8192
MOST_HEADERS = 100
IDLE_S = 120
"""Time after which a connection without requests is closed [s]."""


class AgentServer(ThreadingTCPServer):
    """Listens on an address. text: gives the exposition. Raises OSError where it cannot listen."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, text: Callable[[], bytes]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.text = text
        super().__init__((host, port), AgentRequests)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave a connection that broke."""


class AgentRequests(StreamRequestHandler):
    """Answers the requests of one connection."""

    timeout = IDLE_S
    server: AgentServer

    def handle(self) -> None:
        """Answer until the client, or a malformed request, ends the connection."""
        with suppress(OSError):
            while self._answer():
                pass

    def _answer(self) -> bool:
        """Answer a request; whether the connection stays open."""
        words = self.rfile.readline(LONGEST_LINE).split()
        headers = self._headers()
        if len(words) != 3 or headers is None:
            if words:
                self._send(b"400 Bad Request", b"malformed request\n")
            return False
        method, path, version = words
        if method != b"GET":
            self._send(b"405 Method Not Allowed", b"only GET is answered\n")
            return False
        if path.partition(b"?")[0] == b"/metrics":
            self._send(b"200 OK", self.server.text())
        else:
            self._send(b"404 Not Found", b"Not found. Use /metrics.\n")
        return version == b"HTTP/1.1" and b"connection: close" not in headers

    def _headers(self) -> list[bytes] | None:
        """The header lines in lower case; None of too many, or of a connection that ended between them."""
        headers: list[bytes] = []
        while len(headers) < MOST_HEADERS:
            line = self.rfile.readline(LONGEST_LINE)
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                return headers
            headers.append(line.strip().lower())
        return None

    def _send(self, status: bytes, body: bytes) -> None:
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
        self.wfile.write(head % (status, CONTENT_TYPE.encode(), len(body)) + body)
