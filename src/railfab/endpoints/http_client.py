"""Requests to a server of HTTP, each within a bound of time and of size, with a login and a verified certificate."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import SplitResult, urlencode, urlsplit

from railfab import __version__
from railfab.endpoints.secrets import SecretSource
from railfab.errors import EndpointError

TIMEOUT_S = 10.0
"""Limit of a whole request, however slowly its answer comes [s]."""
MOST_BYTES = 32 << 20
CHUNK_BYTES = 1 << 16
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class HttpFailed(EndpointError):
    """A request without a whole answer of a status that was expected.

    reason: `timeout`, `too_large`, `unreachable`, or `http_500` and the like.
    """

    reason = ""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole answer. headers: without regard to the case of their names."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class HttpClient:
    """Sends requests to the server of a URL. name: the URL without its query.

    secrets: user name and password or token, and CA, read for each request. Redirects are not followed: they would send
    the secrets elsewhere. Raises EndpointError for what is no http or https URL, or has a login in it.
    """

    def __init__(
        self,
        url: str,
        secrets: SecretSource,
        *,
        timeout_s: float = TIMEOUT_S,
        most_bytes: int = MOST_BYTES,
        example: str = "https://prometheus.example",
    ) -> None:
        parts = urlsplit(url)
        if parts.username or parts.password:
            shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
            problem = "the URL has a login in it"
            raise EndpointError(shown, problem, f"Set {secrets.prefix}_USERNAME and {secrets.prefix}_PASSWORD")
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_port(parts):
            raise EndpointError(url, "is no http or https URL", f"Write for example {example}")
        self.name = parts._replace(query="", fragment="").geturl()
        self._url, self._secrets = parts, secrets
        self._timeout_s, self._most_bytes = timeout_s, most_bytes

    def request(
        self,
        path: str | None = None,
        *,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
        expected: Collection[int] = (http.client.OK,),
    ) -> HttpAnswer:
        """Get a path, or that of the URL; with a form, post it. Raises HttpFailed, or EndpointError for the secrets."""
        connection = self._connection()
        late = threading.Event()
        watch = threading.Timer(self._timeout_s, _end, (connection, late))
        watch.daemon = True
        watch.start()
        try:
            self._send(connection, path, form, headers)
            return self._answer(connection, late, expected)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                problem = f"no whole answer within {self._timeout_s:g} s"
                raise self.failed("timeout", problem, "Check its server") from None
            if isinstance(error, ssl.SSLCertVerificationError):
                problem = f"its certificate is not trusted ({error.verify_message})"
                remedy = f"Name the PEM file of its CA in {self._secrets.prefix}_CA, or renew its certificate"
                raise self.failed("unreachable", problem, remedy) from None
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            problem = f"cannot be read ({str(reason).splitlines()[0]})"
            raise self.failed("unreachable", problem, "Check the address and its server") from None
        finally:
            watch.cancel()
            connection.close()

    def failed(self, reason: str, problem: str, remedy: str) -> HttpFailed:
        """The error of a request."""
        error = HttpFailed(self.name, problem, remedy)
        error.reason = reason
        return error

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=self._secrets.tls())

    def _send(
        self,
        connection: http.client.HTTPConnection,
        path: str | None,
        form: Mapping[str, str] | None,
        headers: Mapping[str, str],
    ) -> None:
        here = f"{self._url.path or '/'}{'?' if self._url.query else ''}{self._url.query}"
        given = {"Accept": "application/json", "User-Agent": f"railfab/{__version__}", **headers, **self._login()}
        if form is None:
            connection.request("GET", path or here, headers=given)
        else:
            given["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request("POST", path or here, body=urlencode(form), headers=given)

    def _answer(
        self, connection: http.client.HTTPConnection, late: threading.Event, expected: Collection[int]
    ) -> HttpAnswer:
        answer = connection.getresponse()
        if answer.status not in expected:
            problem = f"answers {answer.status} {answer.reason}".rstrip()
            raise self.failed(f"http_{answer.status}", problem, "Check the URL, the login and the server")
        return HttpAnswer(answer.status, answer.headers, self._body(answer, late))

    def _body(self, answer: http.client.HTTPResponse, late: threading.Event) -> bytes:
        parts, left = [], self._most_bytes
        while part := answer.read(CHUNK_BYTES):
            left -= len(part)
            if left < 0:
                raise self.failed("too_large", f"is larger than {self._most_bytes:,} bytes", "Serve a part of it")
            parts.append(part)
        if late.is_set():  # what was cut off looks like an end where no length was announced
            raise TimeoutError
        if answer.length:
            raise self.failed("unreachable", "ended in the middle of its answer", "Check its server")
        return b"".join(parts)

    def _login(self) -> dict[str, str]:
        secrets = self._secrets.read()
        if secrets.token:
            return {"Authorization": f"Bearer {secrets.token}"}
        if secrets.username:
            pair = f"{secrets.username}:{secrets.password}".encode()
            return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        return {}


def _has_port(parts: SplitResult) -> bool:
    """Whether the port is a number, or is not stated."""
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def _end(connection: http.client.HTTPConnection, late: threading.Event) -> None:
    """End a request that takes too long, in the middle of what it waits for."""
    late.set()
    if connection.sock is not None:
        with suppress(OSError):
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)
