"""The receiver of grpcio: slower by the cost of its calls, for targets that the receiver of our own does not know.

Each RPC is read by a thread of its own: grpcio's calls that block cost half of those for an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

import grpc
import numpy as np

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError
from railfab.gnmi import messages
from railfab.gnmi.client import DIAL_TIMEOUT_S, OPTIONS, channel_to
from railfab.gnmi.first_contact import ClosedPorts
from railfab.gnmi.login import login_metadata, login_name
from railfab.gnmi.statuses import Callee, Status
from railfab.gnmi.tls import address_of
from railfab.gnmi.trust import Trust, trust_of
from railfab.telemetry.receive.contract import ENDS_ONE, POLL, Ask, Batch, RpcEnded, ignored, is_once
from railfab.telemetry.receive.readers import Call, Readers, RpcReader

_SETTLED = (
    grpc.ChannelConnectivity.READY,
    grpc.ChannelConnectivity.TRANSIENT_FAILURE,
    grpc.ChannelConnectivity.SHUTDOWN,
)


class GrpcReceiver:
    """Receives with grpcio, as `contract.Receiver` says: a batch is what has arrived at common moments."""

    needs_login = True

    def __init__(self, *, dial_timeout_s: float = DIAL_TIMEOUT_S) -> None:
        self._dial_timeout_s = dial_timeout_s
        self._closed = ClosedPorts()

    def name_of(self, _: Endpoint) -> str:
        """The name of this receiver."""
        return "grpc"

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, as the contract says."""
        callee = Callee(endpoint.name, address_of(endpoint), login_name(credentials))
        channel = await self._channel(endpoint, callee.address)
        method: Any = channel.stream_stream(messages.METHODS["Subscribe"], None, None)
        try:
            begin = partial(method, metadata=login_metadata(credentials))
            async with aclosing(received(callee, requests, begin, connected)) as events:
                async for event in events:
                    yield event
        finally:
            channel.close()

    async def _channel(self, endpoint: Endpoint, address: str) -> grpc.Channel:
        trust = await trust_of(endpoint, self._dial_timeout_s, self._closed)
        channel = _channel(address, trust, self._dial_timeout_s)
        try:
            await _connected(channel, self._dial_timeout_s)
        except BaseException:
            channel.close()
            raise
        return channel


async def received(
    callee: Callee,
    requests: Sequence[messages.SubscribeRequest],
    begin: Callable[[Call], Any],
    connected: Callable[[Ask], object],
) -> AsyncGenerator[Batch | RpcEnded]:
    """Make an RPC for each request and yield what arrives, as the contract says. begin: makes one, of what it sends."""
    contents = [request.SerializeToString() for request in requests]

    over: set[int] = set()

    def ask(rpc: int) -> None:
        if is_once(requests[rpc]) or rpc in over:
            over.discard(rpc)
            readers.add(rpc, Call(contents[rpc]))
        else:
            readers.send(rpc, POLL)

    async with Readers(begin) as readers:
        for rpc, content in enumerate(contents):
            readers.add(rpc, Call(content))
        connected(ask)
        while True:
            for rpc, reader, ended in await readers.ready():
                if found := reader.take():
                    yield _batch(rpc, found, reader.waited_s())
                if not ended:
                    continue
                error = _error(callee, reader)
                if reader.error is None and reader.started and is_once(requests[rpc]):
                    yield RpcEnded(rpc, None)
                    continue
                over.add(rpc)
                if len(over) == len(requests) or not isinstance(error, ENDS_ONE):
                    raise error
                yield RpcEnded(rpc, error)


def _channel(address: str, trust: Trust | None, dial_timeout_s: float) -> grpc.Channel:
    backoff = ("grpc.min_reconnect_backoff_ms", round(dial_timeout_s * 1000))
    found: grpc.Channel = channel_to(grpc, address, trust, [*OPTIONS, backoff])
    return found


async def _connected(channel: grpc.Channel, timeout_s: float) -> None:
    """Wait until the connection is established or has failed; the first call raises the error."""
    loop, settled = asyncio.get_running_loop(), asyncio.Event()

    def changed(state: grpc.ChannelConnectivity) -> None:
        if state in _SETTLED:
            with suppress(RuntimeError):  # of a loop that has been closed
                loop.call_soon_threadsafe(settled.set)

    channel.subscribe(changed, try_to_connect=True)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(settled.wait(), timeout_s)
    finally:
        channel.unsubscribe(changed)


def _error(callee: Callee, reader: RpcReader) -> Exception:
    """The error of an RPC that has ended."""
    error = reader.error
    if error is None:
        return callee.ended()
    if not isinstance(error, grpc.RpcError):
        return error
    status = Status(error.code().name, error.details())
    found: DeviceError = callee.broken(status) if reader.started else callee.refusal(status, "Subscribe")
    return found


def _batch(rpc: int, contents: list[bytes], waited_s: float) -> Batch:
    ends = np.cumsum([len(content) for content in contents])
    bounds = np.empty((len(contents), 2), np.int64)
    bounds[:, 1] = ends
    bounds[0, 0], bounds[1:, 0] = 0, ends[:-1]
    return Batch(rpc, np.frombuffer(bytearray().join(contents), np.uint8), bounds, waited_s)
