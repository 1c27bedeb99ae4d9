"""The gNMI client for threads: each call waits for its answer. All clients share one event loop in one thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc

from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi.client import CALL_TIMEOUT_S, DIAL_TIMEOUT_S, GnmiCapabilities, GnmiClient, SetChanges
from railfab.gnmi.target import Commit, DataType, Found
from railfab.gnmi.trust import Trust, trust_of
from railfab.gnmi.values import JSON_IETF

logger = logging.getLogger(__name__)

T = TypeVar("T")
_STARTING = threading.Lock()


class BlockingGnmiClient:
    """`GnmiClient` as a context manager for one thread at a time; its calls raise the same errors."""

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        *,
        dial_timeout_s: float = DIAL_TIMEOUT_S,
        call_timeout_s: float = CALL_TIMEOUT_S,
    ) -> None:
        self._client = GnmiClient(endpoint, credentials, dial_timeout_s=dial_timeout_s, call_timeout_s=call_timeout_s)

    def __enter__(self) -> Self:
        _wait(self._client.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _wait(self._client.__aexit__(kind, error, trace))

    def capabilities(self) -> GnmiCapabilities:
        return _wait(self._client.capabilities())

    def get(self, paths: Sequence[str], data_type: DataType = DataType.ALL, encoding: int = JSON_IETF) -> list[Found]:
        return _wait(self._client.get(paths, data_type, encoding))

    def set(self, changes: SetChanges, commit: Commit | None = None) -> None:
        _wait(self._client.set(changes, commit))

    def once(self, paths: Sequence[str], encoding: int = JSON_IETF) -> list[Found]:
        return _wait(self._client.once(paths, encoding))


def trust(endpoint: Endpoint, timeout_s: float = DIAL_TIMEOUT_S) -> Trust | None:
    """The certificates with which another gRPC client can connect to this endpoint; see `trust.trust_of`."""
    return _wait(trust_of(endpoint, timeout_s))


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine on the clients' loop; cancelled there when this thread is interrupted."""
    with _STARTING:
        loop = _loop()
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    finally:
        future.cancel()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all clients. Its thread never ends by itself and does not keep the process alive.

    gRPC stays initialised with it: it would otherwise end with the last channel, whichever thread releases that, and
    close the socket on which this loop waits for events. asyncio then reports a bad file descriptor.
    """
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_log_late_event)
    threading.Thread(target=_serve, args=(loop,), name="railfab-gnmi-clients", daemon=True).start()
    return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop in this thread. gRPC looks for the loop of the thread that initialises it, and a worker has none."""
    asyncio.set_event_loop(loop)
    grpc.aio.init_grpc_aio()  # type: ignore[attr-defined]  # public, and missing in the stubs
    loop.run_forever()


def _log_late_event(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log for debugging what is left of another loop's call; report any other error as asyncio does.

    gRPC wakes every loop of the process for each event (github.com/grpc/grpc/pull/23377), also for one of a loop that
    has been closed, such as that of a collector that has ended.
    """
    error = context.get("exception")
    if isinstance(error, RuntimeError) and "PollerCompletionQueue" in str(context.get("message")):
        logger.debug("an event of a closed loop: %s", error)
    else:
        loop.default_exception_handler(dict(context))
