"""The receiver of grpcio: slower by the cost of its calls, for targets that the receiver of our own does not know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, nullcontext

import numpy as np

from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi import messages
from railfab.gnmi.client import DIAL_TIMEOUT_S, GnmiClient
from railfab.gnmi.statuses import Refused, StreamClosed
from railfab.telemetry.receive.contract import Batch, RpcEnded, nobody

MOST_UNREAD = 1 << 20
"""Bytes of a target that wait to be consumed before its streams are read no more."""


class GrpcReceiver:
    """Receives with grpcio, as `contract.Receiver` says: what is ready is a batch, and nothing is waited for.

    dials: how many may connect at one time; None for any number.
    """

    def __init__(self, *, dial_timeout_s: float = DIAL_TIMEOUT_S, dials: asyncio.Semaphore | None = None) -> None:
        self._dial_timeout_s, self._dials = dial_timeout_s, dials or nullcontext()

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[], object] = nobody,
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, as the contract says."""
        async with AsyncExitStack() as stack:
            async with self._dials:
                connecting = GnmiClient(endpoint, credentials, dial_timeout_s=self._dial_timeout_s)
                client = await stack.enter_async_context(connecting)
            connected()
            inbox = _Inbox(len(requests))
            tasks = [asyncio.create_task(inbox.fill(client, *numbered)) for numbered in enumerate(requests)]
            try:
                while True:
                    await inbox.arrived.wait()
                    for batch in inbox.batches():
                        yield batch
                    for end in inbox.ends():
                        yield end
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


class _Inbox:
    """What has arrived of each RPC and was not consumed yet."""

    def __init__(self, rpcs: int) -> None:
        self.arrived, self._has_space = asyncio.Event(), asyncio.Event()
        self._messages: list[list[bytes]] = [[] for _ in range(rpcs)]
        self._errors: list[tuple[int, Exception]] = []
        self._ended: list[tuple[int, Exception]] = []
        self._unread, self._left = 0, rpcs

    async def fill(self, client: GnmiClient, rpc: int, request: messages.SubscribeRequest) -> None:
        """Take in what one RPC receives, until it ends."""
        try:
            async for content in client.serialized(request):
                self._messages[rpc].append(content)
                self._unread += len(content)
                self.arrived.set()
                while self._unread > MOST_UNREAD:
                    self._has_space.clear()
                    await self._has_space.wait()
        except Exception as error:  # noqa: BLE001 (raised by ends())
            self._errors.append((rpc, error))
            self.arrived.set()

    def batches(self) -> list[Batch]:
        """What has arrived since the last call."""
        self.arrived.clear()
        self._ended, self._errors = self._errors, []
        ready = [(rpc, contents) for rpc, contents in enumerate(self._messages) if contents]
        for rpc, _ in ready:
            self._messages[rpc] = []
        self._unread = 0
        self._has_space.set()
        return [_batch(rpc, contents) for rpc, contents in ready]

    def ends(self) -> Iterator[RpcEnded]:
        """The RPCs that had ended by then, while others go on. Raises the error of the last one, and one of all."""
        for rpc, error in self._ended:
            self._left -= 1
            if not self._left or not isinstance(error, Refused | StreamClosed):
                raise error
            yield RpcEnded(rpc, error)


def _batch(rpc: int, contents: list[bytes]) -> Batch:
    ends = np.cumsum([len(content) for content in contents])
    bounds = np.empty((len(contents), 2), np.int64)
    bounds[:, 1] = ends
    bounds[0, 0], bounds[1:, 0] = 0, ends[:-1]
    return Batch(rpc, np.frombuffer(bytearray().join(contents), np.uint8), bounds)
