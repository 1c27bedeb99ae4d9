"""What a request must have before anything answers it, and the headers that every answer has."""

from __future__ import annotations

import hmac
import ipaddress
import json
import math
import socket
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
LOCAL_NAMES = frozenset(("localhost", "localhost.localdomain"))
JSON = "application/json"


class RequestDeclined(Exception):
    """A request is refused. problem: one line."""

    def __init__(self, status: HTTPStatus, problem: str) -> None:
        super().__init__(problem)
        self.status, self.problem = status, problem


def refused(refusal: RequestDeclined) -> JSONResponse:
    """The answer to a refused request."""
    return JSONResponse({"error": refusal.problem}, refusal.status)


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks requests. token: that a change needs; None where nothing can be changed. names: by which this server may
    be addressed beside addresses: a name of another site that was pointed at it (DNS rebinding) is none of them."""

    token: str | None
    names: frozenset[str]

    def check_host(self, host: str) -> None:
        """Raise RequestDeclined for a request that was addressed to another name."""
        name = _host_name(host)
        if name is None or not (name in self.names or _is_address(name)):
            problem = f"this page is not {host[:100]!r}: open it by its address"
            raise RequestDeclined(HTTPStatus.MISDIRECTED_REQUEST, problem)

    def check_change(self, request: Request) -> None:
        """Raise RequestDeclined for a request that may change nothing."""
        if self.token is None:
            raise RequestDeclined(HTTPStatus.NOT_FOUND, "this page changes nothing: actions need a twin")
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            raise RequestDeclined(
                HTTPStatus.UNAUTHORIZED, "the token is missing or wrong: open the URL that railfab printed"
            )
        origin = request.headers.get("origin")
        is_elsewhere = request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        if is_elsewhere or (origin is not None and origin != f"http://{request.headers.get('host', '')}"):
            raise RequestDeclined(HTTPStatus.FORBIDDEN, "the request comes from another site")
        if request.headers.get("content-type", "").partition(";")[0].strip() != JSON:
            raise RequestDeclined(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {JSON}")


def allowed_names(listen: str) -> frozenset[str]:
    """The names of this server. listen: its address; beyond loopback, the name of this machine is one of them."""
    return LOCAL_NAMES if is_loopback(listen) else LOCAL_NAMES | {socket.gethostname().lower(), listen.lower()}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    return host in LOCAL_NAMES or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


class Guarded:
    """An ASGI application behind the check of its host, with the headers in every answer."""

    def __init__(self, application: ASGIApp, guard: Guard) -> None:
        self._application, self._guard = application, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        sends = _with_headers(send)
        try:
            self._guard.check_host(Headers(scope=scope).get("host", ""))
        except RequestDeclined as refusal:
            await refused(refusal)(scope, receive, sends)
            return
        await self._application(scope, receive, sends)


def _with_headers(send: Send) -> Send:
    async def sends(message: Message) -> None:
        if message["type"] == "http.response.start":
            _add_headers(message)
        await send(message)

    return sends


def _add_headers(message: MutableMapping[str, Any]) -> None:
    names = {name.lower() for name, _ in message["headers"]}
    added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    if b"cache-control" not in names:
        added.append((b"cache-control", b"no-store"))
    message["headers"] = [*message["headers"], *added]


def _host_name(host: str) -> str | None:
    """The name of a Host header without its port; None for one that is none."""
    name, bracket, port = host.rpartition("]")
    if bracket:
        return name.removeprefix("[") if host.startswith("[") and port.lstrip(":").isdecimal() | (not port) else None
    name, _, port = host.partition(":")
    return name.lower() if name and (port.isdecimal() or not port) else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def query_number(query: Mapping[str, str], name: str) -> float | None:
    """A finite number of a query; None where it has none. Raises RequestDeclined."""
    text = query.get(name)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RequestDeclined(HTTPStatus.BAD_REQUEST, f"{name}={text[:40]!r} is no number")
    return value


async def json_body(request: Request, most_bytes: int, parse: Callable[[bytes], Any] = json.loads) -> dict[str, Any]:
    """The JSON object of a request. Raises RequestDeclined."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise RequestDeclined(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {most_bytes:,} bytes")
    try:
        document = parse(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise RequestDeclined(HTTPStatus.BAD_REQUEST, "the body is no JSON object")
    return document
