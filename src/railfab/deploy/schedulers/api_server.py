"""Requests to the API server of Kubernetes: HTTPS with a verified certificate, each with a limit of time."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlencode

from railfab import __version__
from railfab.deploy.schedulers.contract import SchedulerError

ANSWER_S = 30.0
"""Limit of a request with its whole answer [s]."""
ATTEMPTS = 6
"""Of a request that the server asks to send again later."""
LONGEST_PAUSE_S = 5.0
MOST_BYTES = 64 << 20
"""Largest answer that is read [bytes]; a page of 500 pods has some 5 million."""
CHUNK_BYTES = 1 << 16
LATER = frozenset((HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE))
MERGE_PATCH = "application/merge-patch+json"


class ApiRefusal(Exception):
    """An answer of the API server other than success. message: that of its Status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServer:
    """An API server. login: its Authorization header, read for each request as tokens change; empty for none.

    tls_name: name in its certificate, where that is not the host. source: the file that names it, for errors.
    """

    host: str
    port: int
    prefix: str = ""
    tls: ssl.SSLContext
    tls_name: str | None = None
    login: Callable[[], str] = field(repr=False)
    source: str
    answer_s: float = ANSWER_S

    def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The object at a path. Raises ApiRefusal, and SchedulerError where the server cannot be asked."""
        return self._answer("GET", f"{path}?{urlencode(query)}" if query else path, None)

    def patch(self, path: str, change: Mapping[str, Any]) -> dict[str, Any]:
        """The object at a path after a merge patch (RFC 7386), all of whose fields the server has to know."""
        query = urlencode({"fieldManager": "railfab", "fieldValidation": "Strict"})
        return self._answer("PATCH", f"{path}?{query}", json.dumps(change).encode())

    def _answer(self, method: str, target: str, body: bytes | None) -> dict[str, Any]:
        for attempt in range(1, ATTEMPTS + 1):
            status, pause_s, content = self._exchange(method, target, body)
            if status not in LATER or attempt == ATTEMPTS:
                break
            sleep(min(pause_s, LONGEST_PAUSE_S))
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if status >= HTTPStatus.MULTIPLE_CHOICES:
            message = answer.get("message") if isinstance(answer, dict) else None
            raise ApiRefusal(status, str(message or http.client.responses.get(status, "no reason given")))
        if not isinstance(answer, dict):
            raise self.error("answers with something other than an object", "Check the address of the API server")
        return answer

    def _exchange(self, method: str, target: str, body: bytes | None) -> tuple[int, float, bytes]:
        """Status, pause that the server asks for [s] and content of the answer to one request."""
        connection = _NamedConnection(self.host, self.port, self.tls, self.tls_name, self.answer_s)
        end = monotonic() + self.answer_s
        try:
            connection.request(method, self.prefix + target, body, self._headers(body))
            answer = connection.getresponse()
            pause = answer.headers.get("Retry-After", "")
            return answer.status, float(pause) if pause.isdecimal() else 1.0, self._content(answer, end)
        except ssl.SSLCertVerificationError as error:
            problem = f"its certificate is not trusted ({error.verify_message.rstrip('.')})"
            raise self.error(problem, "Use the kubeconfig of this cluster, with its CA") from None
        except TimeoutError:
            raise self.error(f"has not answered within {self.answer_s:g} s", "Check it, and the way to it") from None
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "strerror", None) or error or type(error).__name__).splitlines()[0]
            raise self.error(f"cannot be asked ({reason.lower()})", "Check its address, and that it runs") from None
        finally:
            connection.close()

    def _headers(self, body: bytes | None) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"railfab/{__version__}"}
        if login := self.login():
            headers["Authorization"] = login
        if body is not None:
            headers["Content-Type"] = MERGE_PATCH
        return headers

    def _content(self, answer: http.client.HTTPResponse, end: float) -> bytes:
        parts, left = [], MOST_BYTES
        while part := answer.read1(CHUNK_BYTES):
            left -= len(part)
            if left < 0:
                raise self.error(f"answers with more than {MOST_BYTES:,} bytes", "Check the address")
            if monotonic() > end:
                raise TimeoutError
            parts.append(part)
        return b"".join(parts)

    def error(self, problem: str, remedy: str) -> SchedulerError:
        return SchedulerError(f"Kubernetes {self.host}:{self.port}", problem, remedy)


class _NamedConnection(http.client.HTTPConnection):
    """A connection whose certificate may have another name than the host."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext, tls_name: str | None, timeout_s: float) -> None:
        super().__init__(host, port, timeout=timeout_s)
        self._tls, self._tls_name = tls, tls_name or host

    def connect(self) -> None:
        super().connect()
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._tls_name)
