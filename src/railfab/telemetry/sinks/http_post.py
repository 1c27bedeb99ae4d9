"""HTTP POST over one connection that is kept, with verified TLS."""

from __future__ import annotations

import base64
import http.client
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult

from railfab import __version__
from railfab.endpoints.secrets import Secrets, SecretSource

TIMEOUT_S = 30.0
MOST_ANSWER_BYTES = 65_536
"""Of a longer answer the rest is not read, and the connection is closed."""
MOST_RETRY_AFTER_S = 3600.0


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """Status, the wait that the receiver asks for (0 for none) and the first line of the body."""

    status: int
    retry_after_s: float
    text: str


class HttpPost:
    """Posts bodies to one URL, which holds no secret. One thread posts; another may abort."""

    def __init__(self, url: SplitResult, source: SecretSource, timeout_s: float = TIMEOUT_S) -> None:
        self._url = url
        self._source = source
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None
        self._authorization: dict[str, str] = {}

    def post(self, body: bytes, headers: dict[str, str]) -> PostAnswer:
        """Post once; a kept connection that the server has closed meanwhile is made again.

        Raises OSError, http.client.HTTPException, and EndpointError for credentials that cannot be read.
        """
        kept = self._connection is not None
        try:
            return self._post(body, headers)
        except (ConnectionError, http.client.BadStatusLine):
            if not kept:
                raise
        return self._post(body, headers)

    def abort(self) -> None:
        """End what another thread waits for."""
        connection = self._connection
        waiting = connection.sock if connection is not None else None
        if waiting is not None:
            with suppress(OSError):
                socket.socket.shutdown(waiting, socket.SHUT_RDWR)  # under TLS, which that thread is in

    def close(self) -> None:
        """Close the connection; the next post makes another, with the secrets as they are then."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _post(self, body: bytes, headers: dict[str, str]) -> PostAnswer:
        path = f"{self._url.path or '/'}{'?' if self._url.query else ''}{self._url.query}"
        reusable = False
        try:
            connection = self._connection
            if connection is None or connection.sock is None:  # the last answer said that it closes
                connection = self._connect()
            own = {**self._authorization, "User-Agent": f"railfab/{__version__}"}
            connection.request("POST", path, body, {**headers, **own})
            answer = connection.getresponse()
            text = answer.read(MOST_ANSWER_BYTES)
            reusable = answer.isclosed() and answer.status not in (401, 403)
        finally:
            if not reusable:
                self.close()
        return PostAnswer(answer.status, retry_after_s(answer.headers.get("Retry-After")), _first_line(text))

    def _connect(self) -> http.client.HTTPConnection:
        self._authorization = _authorization(self._source.read())
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            context = self._source.tls()
            self._connection = http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=context)
        else:
            self._connection = http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        self._connection.connect()
        return self._connection


def _authorization(secrets: Secrets) -> dict[str, str]:
    if secrets.token:
        return {"Authorization": f"Bearer {secrets.token}"}
    if secrets.username:
        pair = f"{secrets.username}:{secrets.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _first_line(body: bytes) -> str:
    """What a receiver says, as it may be logged."""
    first = body.decode(errors="replace").strip().partition("\n")[0]
    return "".join(character if character.isprintable() else "?" for character in first[:200])


def retry_after_s(value: str | None) -> float:
    """The wait that a receiver asks for, of seconds or an HTTP date; 0 for none. Source: RFC 9110, section 10.2.3."""
    if value is None:
        return 0.0
    try:
        wait_s = float(value) if value.strip().isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(wait_s, 0.0), MOST_RETRY_AFTER_S)
