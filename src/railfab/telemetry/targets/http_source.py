"""A list of targets behind a URL, in the format of Prometheus' HTTP service discovery."""

from __future__ import annotations

import asyncio
import base64
import http.client
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from railfab import __version__
from railfab.errors import EndpointError
from railfab.telemetry.sinks.secrets import SecretSource
from railfab.telemetry.targets.loader import LoadFailed
from railfab.telemetry.targets.service_discovery import REMEDY, Discovery, parse_targets
from railfab.telemetry.targets.spec import TargetSpec

INTERVAL_S = 60.0
TIMEOUT_S = 10.0
"""For the whole of a request, however slowly its answer comes."""
MOST_BYTES = 32 << 20
CHUNK_BYTES = 1 << 16


class HttpSource:
    """Polls a URL, with If-None-Match where the last answer had an ETag (RFC 9110, 13.1.2).

    secrets: user name and password or token, and CA, read at each poll. Redirects are not followed: they would send the
    secrets elsewhere. Raises EndpointError for what is no http or https URL, or has a password in it.
    """

    def __init__(
        self,
        url: str,
        secrets: SecretSource,
        discovery: Discovery | None = None,
        *,
        interval_s: float = INTERVAL_S,
        timeout_s: float = TIMEOUT_S,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        parts = urlsplit(url)
        if parts.username or parts.password:
            shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
            problem = "the URL has a login in it"
            raise EndpointError(shown, problem, f"Set {secrets.prefix}_USERNAME and {secrets.prefix}_PASSWORD")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EndpointError(url, "is no http or https URL", "Write for example https://netbox.example/targets")
        self.name = parts._replace(query="", fragment="").geturl()
        self.interval_s = interval_s
        self.discovery = discovery or Discovery()
        self._url, self._secrets = parts, secrets
        self._timeout_s, self._most_bytes = timeout_s, most_bytes
        self._etag = ""

    async def poll(self) -> tuple[TargetSpec, ...] | None:
        """The targets, or None when the list is as before. Raises LoadFailed, or EndpointError for the secrets."""
        return await asyncio.to_thread(self._poll)

    def _poll(self) -> tuple[TargetSpec, ...] | None:
        connection = self._connection()
        late = threading.Event()
        watch = threading.Timer(self._timeout_s, _end, (connection, late))
        watch.daemon = True
        watch.start()
        try:
            return self._answer(connection, late)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                problem = f"no whole answer within {self._timeout_s:g} s"
                raise self._failed("timeout", problem, "Check its server") from None
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            problem = f"cannot be read ({str(reason).splitlines()[0]})"
            raise self._failed("unreachable", problem, "Check the address and its server") from None
        finally:
            watch.cancel()
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=self._secrets.tls())

    def _answer(self, connection: http.client.HTTPConnection, late: threading.Event) -> tuple[TargetSpec, ...] | None:
        path = f"{self._url.path or '/'}{'?' if self._url.query else ''}{self._url.query}"
        connection.request("GET", path, headers=self._headers())
        answer = connection.getresponse()
        if answer.status == http.client.NOT_MODIFIED and self._etag:
            return None
        if answer.status != http.client.OK:
            problem = f"answers {answer.status} {answer.reason}".rstrip()
            raise self._failed(f"http_{answer.status}", problem, "Check the URL, the login and the server")
        found = parse_targets(self.name, self._body(answer, late), self.discovery)
        self._etag = answer.headers.get("ETag") or ""
        return found

    def _body(self, answer: http.client.HTTPResponse, late: threading.Event) -> bytes:
        parts, left = [], self._most_bytes
        while part := answer.read(CHUNK_BYTES):
            left -= len(part)
            if left < 0:
                raise self._failed("too_large", f"is larger than {self._most_bytes:,} bytes", "Serve a part of it")
            parts.append(part)
        if late.is_set():  # what was cut off looks like an end where no length was announced
            raise TimeoutError
        if answer.length:
            raise self._failed("unreachable", "ended in the middle of the list", REMEDY)
        return b"".join(parts)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "User-Agent": f"railfab/{__version__}",
            "X-Prometheus-Refresh-Interval-Seconds": f"{self.interval_s:g}",
        }
        if self._etag:
            headers["If-None-Match"] = self._etag
        secrets = self._secrets.read()
        if secrets.token:
            headers["Authorization"] = f"Bearer {secrets.token}"
        elif secrets.username:
            pair = f"{secrets.username}:{secrets.password}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        return headers

    def _failed(self, reason: str, problem: str, remedy: str) -> LoadFailed:
        error = LoadFailed(self.name, problem, remedy)
        error.reason = reason
        return error


def _end(connection: http.client.HTTPConnection, late: threading.Event) -> None:
    """End a request that takes too long, in the middle of what it waits for."""
    late.set()
    if connection.sock is not None:
        with suppress(OSError):
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)
