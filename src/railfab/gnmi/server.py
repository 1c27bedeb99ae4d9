"""A gNMI server for a target. All servers of a process share one event loop in one thread.

The loop only handles messages. Reading and changing of devices runs in worker threads: a few that read, and others for
Sets, each of which may wait for seconds until its change has taken effect.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import logging
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc

from railfab.endpoints import Credentials
from railfab.errors import DeviceError, RailfabError
from railfab.gnmi import messages
from railfab.gnmi.answers import get_response, set_response, status_code, status_text
from railfab.gnmi.certificates import TlsIdentity
from railfab.gnmi.extensions import refuse_extensions
from railfab.gnmi.reader import ViewReader
from railfab.gnmi.requests import state_paths
from railfab.gnmi.streams import SubscriptionError, Subscriptions, snapshot, stream, subscriptions
from railfab.gnmi.target import GnmiTarget, SwitchableTarget, offer_of
from railfab.process.listeners import bind_problem

GET_AGE_S = 0.5
"""Maximum age of the values of a Get [s]."""

READING_THREADS = 4
"""More would compete for the interpreter; with one, a device that does not answer would delay all others."""

SET_THREADS = 256
"""Maximum number of Sets in progress on all targets together; further ones are queued."""

GRACE_S = 0.1
"""Time that running calls have to end when a server stops; a stream does not end by itself [s]."""

START_TIMEOUT_S = 30

_OPTIONS = (
    ("grpc.so_reuseport", 0),  # else two servers could listen on one port without an error
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
)

T = TypeVar("T")


def _is_failure(record: logging.LogRecord) -> bool:
    """Whether a record of gRPC is about more than a client that left before its response or status was sent."""
    return not (record.exc_info and isinstance(record.exc_info[1], grpc.aio.InternalError))


logging.getLogger("grpc._cython.cygrpc").addFilter(_is_failure)


ANSWERING_THREADS = 32
"""Commands of CLIs that are answered at the same time; some of them wait for input."""


class ServerLoop:
    """The event loop that servers run on, in its own thread, and their worker threads.

    A context manager; leaving it stops the servers that still run.
    """

    def __init__(self) -> None:
        self.reading: Executor = ThreadPoolExecutor(READING_THREADS, "railfab-gnmi-read")
        self.setting: Executor = ThreadPoolExecutor(SET_THREADS, "railfab-gnmi-set")
        self._servers: set[Any] = set()
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(ANSWERING_THREADS, "railfab-answer"))
        self._thread = threading.Thread(target=self._loop.run_forever, name="railfab-gnmi", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self._stop_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        for workers in (self.reading, self.setting):
            workers.shutdown(wait=False, cancel_futures=True)
        self._loop.close()

    async def started(self, server: Any) -> None:
        """Start a gRPC server, which ends with the loop unless it is stopped before."""
        await server.start()
        self._servers.add(server)

    async def stopped(self, server: Any, grace_s: float) -> None:
        """Stop a gRPC server."""
        self._servers.discard(server)
        await server.stop(grace_s)

    async def _stop_all(self) -> None:
        """Stop the remaining servers at the same time: each waits for its streams."""
        await asyncio.gather(*[self.stopped(server, GRACE_S) for server in tuple(self._servers)])

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result; from any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(START_TIMEOUT_S)


class GnmiServer:
    """One target on one port.

    port: 0 is any free one. credentials: None accepts every client. identity: the certificate; None is plaintext.
    answers_after_s: time before every answer [s].
    """

    def __init__(
        self,
        target: GnmiTarget,
        loop: ServerLoop,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        credentials: Credentials | None,
        identity: TlsIdentity | None,
    ) -> None:
        self.target = target
        self.host = host
        self.port = port
        self._loop = loop
        self._identity = identity
        self._service = _Service(target, loop, credentials)
        self._server: Any = None

    @property
    def running(self) -> bool:
        return self._server is not None

    @property
    def answers_after_s(self) -> float:
        return self._service.answers_after_s

    @answers_after_s.setter
    def answers_after_s(self, seconds: float) -> None:
        self._service.answers_after_s = seconds

    @property
    def answering(self) -> bool:
        """Whether it runs, and does not hang."""
        return self.running and not self._service.reader.hanging

    def hang(self) -> None:
        """Accept connections and calls, and answer none; streams that are open send nothing."""
        self._loop.run(self._set_hanging(True))

    def resume(self) -> None:
        """Answer again, also what waits."""
        self._loop.run(self._set_hanging(False))

    async def _set_hanging(self, hanging: bool) -> None:
        (self._service.reader.hang if hanging else self._service.reader.resume)()

    def start(self) -> int:
        """Listen on the port, and return it. Raises DeviceError when it is in use."""
        self._loop.run(self._start())
        return self.port

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Refuse new calls, cancel those that still run after `grace_s`, and end; nothing when it is not running."""
        server, self._server = self._server, None
        if server is not None:
            self._loop.run(self._loop.stopped(server, grace_s))

    async def _start(self) -> None:
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers((self._service.handlers(),))
        address = f"{self.host}:{self.port}"
        try:
            self.port = self._bind(server, address)
        except RuntimeError:
            remedy = "End what uses the port, or choose another with --port"
            raise DeviceError(self.target.name, f"cannot listen on {address}, {self._bind_problem()}", remedy) from None
        await self._loop.started(server)
        self._server = server

    def _bind_problem(self) -> str:
        """The operating system's reason why the address cannot be used; gRPC does not give it."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                reason = bind_problem(error, self.port)
                return f"it is {reason}" if error.errno == errno.EADDRINUSE else reason
        return "it was in use"

    def _bind(self, server: Any, address: str) -> int:
        if self._identity is None:
            plain_port: int = server.add_insecure_port(address)
            return plain_port
        pair = (self._identity.key, self._identity.certificate)
        secure_port: int = server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
        return secure_port


class _Service:
    """The four calls of gNMI, for one target."""

    def __init__(self, target: GnmiTarget, loop: ServerLoop, credentials: Credentials | None) -> None:
        self._target = target
        self._switchable = target if isinstance(target, SwitchableTarget) else None
        self.reader = ViewReader(target, loop.reading)
        self._setting = loop.setting
        self._credentials = credentials
        self.answers_after_s = 0.0

    def handlers(self) -> grpc.GenericRpcHandler[Any, Any]:
        """The calls by name. Subscribe responses are bytes already: see `railfab.gnmi.bundles`."""
        unary, stream_stream = grpc.unary_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
        calls = {
            "Capabilities": unary(
                self.Capabilities,
                messages.CapabilityRequest.FromString,
                messages.CapabilityResponse.SerializeToString,
            ),
            "Get": unary(self.Get, messages.GetRequest.FromString, messages.GetResponse.SerializeToString),
            "Set": unary(self.Set, messages.SetRequest.FromString, messages.SetResponse.SerializeToString),
            "Subscribe": stream_stream(self.Subscribe, messages.SubscribeRequest.FromString),
        }
        return grpc.method_handlers_generic_handler(messages.SERVICE, calls)

    async def Capabilities(self, _: messages.CapabilityRequest, context: Any) -> Any:  # noqa: N802
        await self._login(context)
        models = [messages.ModelData(**model._asdict()) for model in self._target.models()]
        encodings = offer_of(self._target).announced
        return messages.CapabilityResponse(
            supported_models=models, supported_encodings=encodings, gNMI_version=messages.VERSION
        )

    async def Get(self, request: messages.GetRequest, context: Any) -> Any:  # noqa: N802
        await self._login(context)
        return await self._answer(context, self._get(request))

    async def Set(self, request: messages.SetRequest, context: Any) -> Any:  # noqa: N802
        await self._login(context)
        loop = asyncio.get_running_loop()
        return await self._answer(context, loop.run_in_executor(self._setting, set_response, self._target, request))

    async def Subscribe(self, requests: Any, context: Any) -> None:  # noqa: N802
        async with aclosing(self._responses(requests, context)) as responses:
            async for response in responses:
                await context.write(response)

    async def _responses(self, requests: Any, context: Any) -> AsyncGenerator[bytes]:
        """The responses of a Subscribe; aborts the call when it is not valid."""
        await self._login(context)
        first = await anext(requests, messages.SubscribeRequest())
        if first.WhichOneof("request") != "subscribe":
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be a subscription")
        mode = first.subscribe.mode
        wanted = await self._checked(context, first)
        if mode == messages.SubscriptionList.STREAM:
            async for response in self._stream(context, requests, wanted):
                yield response
            return
        reader = self.reader.part([pattern for pattern, _ in wanted.wanted])
        async for response in snapshot(reader, wanted):
            yield response
        if mode == messages.SubscriptionList.POLL:
            async for request in requests:
                if request.WhichOneof("request") != "poll":
                    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "only polls may follow the subscription")
                async for response in snapshot(reader, wanted):
                    yield response

    async def _stream(self, context: Any, requests: Any, wanted: Subscriptions) -> AsyncGenerator[bytes]:
        """The responses of a STREAM; a further message of the client ends it (specification, 3.5.1.1 and 3.5.2)."""
        further = asyncio.ensure_future(_message(requests))
        try:
            async for response in stream(self.reader, wanted, further):
                yield response
        finally:
            further.cancel()
        text = f"{self._target.name}: a stream takes one subscription and no poll"
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)

    async def _checked(self, context: Any, request: messages.SubscribeRequest) -> Subscriptions:
        """The checked subscriptions; aborts the call when they cannot be served."""
        await self._answer(context, self._no_extensions(request))
        try:
            return subscriptions(self._target, request.subscribe)
        except SubscriptionError as error:
            codes = grpc.StatusCode
            await context.abort(codes.UNIMPLEMENTED if error.unimplemented else codes.INVALID_ARGUMENT, str(error))
            raise
        except RailfabError as error:
            await context.abort(status_code(error), status_text(error))
            raise

    async def _no_extensions(self, request: Any) -> None:
        refuse_extensions(self._target.name, request.extension)

    async def _get(self, request: messages.GetRequest) -> messages.GetResponse:
        await self._no_extensions(request)
        view = await self.reader.part(state_paths(request)).view(GET_AGE_S)
        return await self.reader.work(lambda: get_response(self._target, view, request))

    async def _answer(self, context: Any, result: Awaitable[T]) -> T:
        """The result of a call; a refusal becomes a status."""
        try:
            return await result
        except RailfabError as error:
            await context.abort(status_code(error), status_text(error))
            raise

    async def _login(self, context: Any) -> None:
        """Check that the server runs, and the user name and the password in the call's metadata.

        While the target hangs, this waits, and before every answer of one that is slow.
        """
        await self.reader.answering()
        await asyncio.sleep(self.answers_after_s)
        if self._switchable is not None and not self._switchable.answers:
            await context.abort(grpc.StatusCode.UNAVAILABLE, f"{self._target.name}: the gNMI server does not run")
        if self._credentials is None:
            return
        given = dict(context.invocation_metadata())
        pairs = (("username", self._credentials.username), ("password", self._credentials.password))
        right = [hmac.compare_digest(str(given.get(name, "")).encode(), value.encode()) for name, value in pairs]
        if not all(right):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, f"{self._target.name}: wrong user or password")


async def _message(requests: Any) -> None:
    """Wait for a further message of a client; for ever when it sends none."""
    async for _ in requests:
        return
    await asyncio.Event().wait()
