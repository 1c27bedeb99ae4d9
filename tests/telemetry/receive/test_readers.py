"""Threads that read: bounded, prompt to end, and none is left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing

import grpc
import pytest
from tests.telemetry.receive.peers import ADMIN, REQUEST, endpoint, response
from tests.telemetry.receive.test_servers import Handler

from railfab.telemetry.receive.contract import Batch
from railfab.telemetry.receive.grpcio import GrpcReceiver
from railfab.telemetry.receive.pygnmi import PygnmiReceiver
from railfab.telemetry.receive.readers import MOST_UNREAD

LARGE = response(1, 100_000)


class Target:
    """A server that sends as much as is taken. sent: messages."""

    def __init__(self) -> None:
        self.sent = 0

    async def answer(self, _: AsyncIterator[bytes], __: object) -> AsyncIterator[bytes]:
        while True:
            yield LARGE
            self.sent += 1

    async def __aenter__(self) -> int:
        self._server = grpc.aio.server(handlers=[Handler(self.answer)])
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return port

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(0)


@pytest.mark.parametrize("kind", [GrpcReceiver, PygnmiReceiver])
def test_a_reader_that_is_not_taken_from_holds_its_target_back(kind: type[GrpcReceiver | PygnmiReceiver]) -> None:
    async def run() -> None:
        target = Target()
        async with target as port, aclosing(kind().stream(endpoint(port), ADMIN, [REQUEST])) as stream:
            await anext(stream)
            before = -1
            while before != target.sent:
                assert target.sent < 1000
                before = target.sent
                await asyncio.sleep(0.3)
            held = await anext(stream)
            assert isinstance(held, Batch)
            assert len(held.buffer) <= MOST_UNREAD + len(LARGE)
            while target.sent < before + 40:
                await anext(stream)

    asyncio.run(run())


@pytest.mark.parametrize("kind", [GrpcReceiver, PygnmiReceiver])
def test_no_thread_of_a_stream_outlives_it_though_it_is_held_back(kind: type[GrpcReceiver | PygnmiReceiver]) -> None:
    def readers() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "railfab-reader"]

    async def run() -> None:
        async with Target() as port:
            async with aclosing(kind().stream(endpoint(port), ADMIN, [REQUEST] * 3)) as stream:
                await anext(stream)
                assert len(readers()) == 3
                await asyncio.sleep(0.3)
            assert not readers()

    asyncio.run(run())
