"""Receivers by name, and the choice among them for each target."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError
from railfab.gnmi import messages
from railfab.gnmi.statuses import StreamClosed
from railfab.telemetry.receive.contract import Ask, Batch, Receiver, RpcEnded, ignored
from railfab.telemetry.receive.errors import ProtocolError
from railfab.telemetry.receive.fast import DIAL_TIMEOUT_S, FastReceiver
from railfab.telemetry.tasks import end_task

logger = logging.getLogger(__name__)

AGAIN_AFTER_S = 3600.0
"""Time after which the fast receiver is tried again for a target that it did not know [s]: it may be upgraded."""
_Target = tuple[str, str, int | None]
"""Name and address."""


def receiver(name: str, *, dial_timeout_s: float = DIAL_TIMEOUT_S) -> Receiver:
    """The receiver of this name, one of RECEIVERS, for the targets of one event loop. Raises KeyError."""
    return RECEIVERS[name](dial_timeout_s=dial_timeout_s)


def _grpc(*, dial_timeout_s: float) -> Receiver:
    from railfab.telemetry.receive.grpcio import GrpcReceiver  # takes 30 MB that the fast receiver does not need

    return GrpcReceiver(dial_timeout_s=dial_timeout_s)


class AutoReceiver:
    """Receives with the fast receiver, and with grpcio a target that does what the fast one does not know.

    again_after_s: see AGAIN_AFTER_S. fallbacks: the targets that are received with grpcio, each with the time of the
    loop from which on the fast receiver is tried again.
    """

    needs_login = True

    def __init__(self, *, dial_timeout_s: float = DIAL_TIMEOUT_S, again_after_s: float = AGAIN_AFTER_S) -> None:
        self._fast = FastReceiver(dial_timeout_s=dial_timeout_s)
        self._grpc = partial(_grpc, dial_timeout_s=dial_timeout_s)
        self._again_after_s = again_after_s
        self.fallbacks: dict[_Target, float] = {}

    def name_of(self, endpoint: Endpoint) -> str:
        """The receiver with which a target is received now."""
        return "grpc" if _target(endpoint) in self.fallbacks else "fast"

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, as the contract says."""
        started = False
        if self.fallbacks.get(_target(endpoint), 0.0) <= asyncio.get_running_loop().time():
            try:
                async with aclosing(self._fast.stream(endpoint, credentials, requests, connected)) as stream:
                    async for event in stream:
                        started = True
                        self._leave_fallback(endpoint)
                        yield event
            except ProtocolError as error:
                self._fall_back(endpoint, error)
                if started:
                    raise StreamClosed(endpoint.name, error.problem, "It is opened again") from None
        works = partial(self._fast_works, endpoint, credentials, requests)
        stream = self._grpc().stream(endpoint, credentials, requests, connected)
        async with aclosing(stream), aclosing(self._until_fast_works(stream, endpoint, works)) as events:
            async for event in events:
                yield event

    def _fall_back(self, endpoint: Endpoint, error: ProtocolError) -> None:
        target = _target(endpoint)
        if target not in self.fallbacks:
            logger.warning("%s: %s. It is received with grpc from now on.", endpoint.name, error.problem)
        self.fallbacks[target] = asyncio.get_running_loop().time() + self._again_after_s

    def _leave_fallback(self, endpoint: Endpoint) -> None:
        if self.fallbacks and self.fallbacks.pop(_target(endpoint), None) is not None:
            logger.info("%s: It is received with the fast receiver again.", endpoint.name)

    async def _until_fast_works(
        self,
        stream: AsyncGenerator[Batch | RpcEnded],
        endpoint: Endpoint,
        works: Callable[[], Coroutine[Any, Any, bool]],
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Yield what grpcio receives, until a trial beside it shows that the fast receiver can do it as well."""
        loop, target = asyncio.get_running_loop(), _target(endpoint)
        trial: asyncio.Task[bool] | None = None
        try:
            async for event in stream:
                yield event
                if trial is None and self.fallbacks[target] <= loop.time():
                    trial = asyncio.create_task(works(), name=f"{endpoint.name} fast?")
                elif trial and trial.done():
                    if trial.result():
                        self.fallbacks[target] = 0.0
                        problem = "the fast receiver can receive it again"
                        raise StreamClosed(endpoint.name, problem, "It is opened again")
                    self.fallbacks[target], trial = loop.time() + self._again_after_s, None
        finally:
            if trial:
                await end_task(trial)

    async def _fast_works(
        self, endpoint: Endpoint, credentials: Credentials, requests: Sequence[messages.SubscribeRequest]
    ) -> bool:
        """Whether the fast receiver gets messages from a target."""
        try:
            stream = self._fast.stream(endpoint, credentials, requests, partial(_ask_each, requests))
            async with aclosing(stream):
                return isinstance(await anext(stream), Batch)
        except DeviceError:
            return False


def _ask_each(requests: Sequence[messages.SubscribeRequest], ask: Ask) -> None:
    for rpc, request in enumerate(requests):
        if request.subscribe.mode == messages.SubscriptionList.POLL:
            ask(rpc)


def _target(endpoint: Endpoint) -> _Target:
    return endpoint.name, endpoint.host, endpoint.gnmi_port


RECEIVERS: dict[str, Callable[..., Receiver]] = {
    "auto": AutoReceiver,
    "fast": FastReceiver,
    "grpc": _grpc,
}
"""How each receiver is made, by name. auto is the default of a collector."""
