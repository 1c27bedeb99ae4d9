"""The server of the page: its files, its events, its questions and its actions, from a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from railfab.errors import RailfabError
from railfab.page.details import Details
from railfab.page.hub import Hub
from railfab.page.live_state import LiveState, Ticker, TickOutput
from railfab.page.security import Guard, Guarded, RequestDeclined, allowed_names, json_body, query_number, refused
from railfab.page.series import SeriesQuestion
from railfab.page.static_files import INDEX, StaticFile, static_files
from railfab.process.listeners import bind_problem

logger = logging.getLogger(__name__)

MOST_BROWSERS = 64
MOST_BODY_BYTES = 64 << 10
POLL_S = 0.1
ENDS_WITHIN_S = 2
FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"

Act = Callable[[dict[str, Any]], dict[str, Any]]
"""Carries out an action; its answer has the command that does the same. Raises RailfabError."""


class PageListenError(RailfabError):
    """The address of the page cannot be listened on."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What the page can be asked beside its own numbers. doctor: None where it cannot diagnose."""

    details: Details
    series: Callable[[SeriesQuestion], dict[str, Any]]
    doctor: Callable[[], dict[str, Any]] | None = None


class PageServer:
    """Serves the page; a context manager. listener: of `page_listener`. actions: by kind; none without a token."""

    def __init__(
        self, state: LiveState, ask: Ask, listener: socket.socket, *, actions: Mapping[str, Act], token: str | None
    ) -> None:
        self._state, self._ask, self._actions, self._token = state, ask, actions, token
        self._listener = listener
        self._address: str = listener.getsockname()[0]
        self._guard = Guard(token, allowed_names(self._address))
        self._begin = b""
        self._hub = Hub(lambda: self._begin, most_listeners=MOST_BROWSERS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._application(),
                lifespan="on",
                ws="none",
                access_log=False,  # its lines would have the addresses that are asked for
                log_config=None,
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=ENDS_WITHIN_S,
            )
        )
        self._thread = threading.Thread(target=self._run, name="railfab-page-server", daemon=True)
        self._ticker = Ticker(state, self._publish)

    @property
    def url(self) -> str:
        """The address for a browser, with the token where something can be changed."""
        host, port = self._listener.getsockname()[:2]
        host = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host
        where = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        return where if self._token is None else f"{where}#token={self._token}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._ready.wait(POLL_S):
            if not self._thread.is_alive():
                raise PageListenError(self.url.partition("#")[0], "the page did not start", "Start it again")
        self._ticker.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ticker.__exit__()
        self._server.should_exit = True
        self._on_loop(self._hub.close)
        self._thread.join(ENDS_WITHIN_S + 1.0)
        self._listener.close()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._loop = None

    def _publish(self, published: TickOutput) -> None:
        def publish() -> None:
            self._begin = published.begin
            self._hub.publish(published.parts)

        self._on_loop(publish)

    def _on_loop(self, action: Callable[[], None]) -> None:
        if (loop := self._loop) is not None and not loop.is_closed():
            loop.call_soon_threadsafe(action)

    def _application(self) -> Guarded:
        routes = [
            Route("/", lambda request: _file_answer(request, INDEX, ASK_AGAIN)),
            Route("/assets/{name:path}", _asset),
            Route("/events", self._events),
            Route("/api/fabric", self._fabric),
            Route("/api/series", self._series),
            Route("/api/log", self._log),
            Route("/api/doctor", self._doctor),
            Route("/api/{kind:str}/{name:path}", self._details),
            Route("/api/actions/{kind:str}", self._act, methods=["POST"]),
        ]
        handlers: dict[Any, Any] = {RequestDeclined: _refusal, HTTPException: _http_error, RailfabError: _problem}
        return Guarded(Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan), self._guard)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        yield

    async def _events(self, request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if self._hub.is_full:
            problem = f"{MOST_BROWSERS} browsers listen already: close one of them"
            raise RequestDeclined(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._hub.listen(), media_type="text/event-stream", headers=headers)

    def _fabric(self, _: Request) -> Response:
        state = self._state
        live = {
            "source": state.source.name,
            "interval_s": state.source.interval_s,
            "tick_s": state.tick_s,
            "history_s": state.history.row_s * state.history.rows,
            "has_actions": self._token is not None,
            "has_doctor": self._ask.doctor is not None,
            "jobs": self._ask.details.jobs(),
        }
        return JSONResponse({**state.plan.document(), **live})

    def _series(self, request: Request) -> Response:
        return JSONResponse(self._ask.series(SeriesQuestion.of(request.query_params)))

    def _log(self, request: Request) -> Response:
        bounds = [query_number(request.query_params, name) for name in ("from", "to")]
        from_s, to_s = bounds[0] or 0.0, float("inf") if bounds[1] is None else bounds[1]
        return JSONResponse({"entries": self._state.log.between(from_s, to_s)})

    def _doctor(self, _: Request) -> Response:
        if self._ask.doctor is None:
            raise RequestDeclined(HTTPStatus.NOT_FOUND, "this page has no doctor")
        return JSONResponse(self._ask.doctor())

    def _details(self, request: Request) -> Response:
        document = self._ask.details.of(request.path_params["kind"], request.path_params["name"])
        if document is None:
            raise RequestDeclined(HTTPStatus.NOT_FOUND, f"{request.path_params['name'][:100]!r} is not of this fabric")
        return JSONResponse(document)

    async def _act(self, request: Request) -> Response:
        self._guard.check_change(request)
        act = self._actions.get(request.path_params["kind"])
        if act is None:
            raise RequestDeclined(HTTPStatus.NOT_FOUND, f"no such action: use one of {', '.join(self._actions)}")
        body = await json_body(request, MOST_BODY_BYTES)
        return JSONResponse(await asyncio.to_thread(act, body))


def page_listener(host: str, port: int) -> socket.socket:
    """A socket that listens for the page. port: 0 is any free one. Raises PageListenError."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        problem = f"cannot be listened on ({bind_problem(error, port)})"
        raise PageListenError(where, problem, "Use --listen 127.0.0.1:0, which takes any free port") from None


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    held = static_files().get(name)
    is_pinned = held is not None and request.query_params.get("v") == held.digest
    return _file_answer(request, name, FOREVER if is_pinned else ASK_AGAIN)


def _file_answer(request: Request, name: str, caching: str) -> Response:
    held: StaticFile | None = static_files().get(name)
    if held is None:
        raise RequestDeclined(HTTPStatus.NOT_FOUND, f"the page has no file {name[:100]!r}")
    headers: dict[str, str] = {"Cache-Control": caching, "ETag": f'"{held.digest}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(held.body, media_type=held.kind, headers=headers)


async def _refusal(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, RequestDeclined)
    return refused(refusal)


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


async def _problem(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
