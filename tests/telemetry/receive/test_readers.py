"""Threads that read: bounded, prompt to end, and none is left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import grpc
import pytest
from tests.telemetry.receive.peers import ADMIN, REQUEST, endpoint, response
from tests.telemetry.receive.pygnmi_receiver import PygnmiReceiver
from tests.telemetry.receive.test_servers import Handler

from railfab.telemetry.receive.contract import Batch
from railfab.telemetry.receive.grpcio import GrpcReceiver
from railfab.telemetry.receive.readers import AT_ONCE_S, MOST_UNREAD, PAUSE_S, TRIED_AFTER, Call, RpcReader

LARGE = response(1, 100_000)


class Source:
    """Responses of an RPC, one after the other, each so long after the one before or after it was asked for [s].

    in_time: how many had arrived when they were asked for.
    """

    def __init__(self, count: int, every_s: float, *, asked: bool = False) -> None:
        self._every_s, self._asked = every_s, asked
        self._left, self._due_s = count, time.monotonic()
        self.in_time = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if not self._left:
            raise StopIteration
        self._left -= 1
        self._due_s = (time.monotonic() if self._asked else self._due_s) + self._every_s
        left_s = self._due_s - time.monotonic()
        self.in_time += left_s <= 0
        time.sleep(max(0.0, left_s))
        return bytes(10)

    def cancel(self) -> None:
        """Nothing waits."""


def read(source: Source) -> float:
    """The seconds until all was read."""
    began_s = time.monotonic()
    reader = RpcReader(Call(b""), lambda _: source, lambda _: None)
    reader.thread.join()
    assert reader.ended
    return time.monotonic() - began_s


def test_messages_that_trickle_are_read_together() -> None:
    source = Source(200, 0.005)
    read(source)
    assert source.in_time > 200 / 2


def test_where_no_message_comes_at_once_pauses_do_not_hold_up_the_others() -> None:
    """As on a machine that is so slow that each takes longer than a message that has still to arrive."""
    count = 3 * TRIED_AFTER
    assert read(Source(count, 2 * AT_ONCE_S, asked=True)) < count * PAUSE_S / 4


def test_a_pause_ends_with_its_reader() -> None:
    source = Source(1_000_000, 0.005)
    reader = RpcReader(Call(b""), lambda _: source, lambda _: None)
    time.sleep(3 * PAUSE_S)
    reader.stop()
    source._left = 0
    reader.thread.join(10)
    assert reader.ended


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
