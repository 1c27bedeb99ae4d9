"""Which receiver a target is received with."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.telemetry.receive.peers import (
    ADMIN,
    NAME,
    REQUEST,
    Peer,
    answer,
    data,
    endpoint,
    error_of,
    received,
    response,
    serving,
    trailers,
)
from tests.telemetry.receive.test_servers import SENT, Handler, grpc_aio

from railfab.gnmi.statuses import StreamClosed
from railfab.telemetry.receive import frames
from railfab.telemetry.receive.choice import RECEIVERS, AutoReceiver, receiver
from railfab.telemetry.receive.fast import FastReceiver

LARGE = response(1, 100_000)


def test_a_server_that_compresses_is_received_with_grpc_and_said_so_once(caplog: pytest.LogCaptureFixture) -> None:
    auto = AutoReceiver()

    async def compressed(requests: object, context: grpc.aio.ServicerContext) -> object:
        context.set_compression(grpc.Compression.Gzip)
        yield LARGE

    async def run() -> None:
        handler = Handler(compressed)
        server = grpc.aio.server(handlers=[handler])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        target = endpoint(port)
        for _ in range(2):
            assert await received(auto, target, 1) == [(0, LARGE)]
        assert auto.name_of(target) == "grpc"
        await server.stop(0)

    asyncio.run(run())


def test_a_target_that_breaks_http2_is_received_with_grpc_from_the_next_session_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    auto, ends = AutoReceiver(), [frames.frame(frames.PUSH_PROMISE, 4, 1, bytes(4))]
    taken = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1, LARGE))
        await taken.wait()
        peer.send(ends.pop() if ends else trailers(1, 0))

    async def ended(port: int) -> Exception:
        taken.clear()
        stream = auto.stream(endpoint(port), ADMIN, [REQUEST])
        await anext(stream)
        taken.set()
        with pytest.raises(StreamClosed) as caught:
            await anext(stream)
        return caught.value

    async def run() -> tuple[Exception, Exception]:
        async with serving(script) as port:
            return await ended(port), await ended(port)

    first, second = asyncio.run(run())
    assert "it pushes, which was refused" in str(first)
    assert "the target ended the stream" in str(second)
    said = [record.message for record in caplog.records if "It is received with grpc from now on" in record.message]
    assert len(said) == 1


def test_the_fast_receiver_is_tried_again_beside_grpc_and_takes_over_where_it_works() -> None:
    auto, wrong = AutoReceiver(again_after_s=0.3), [frames.frame(frames.PUSH_PROMISE, 4, 1, bytes(4))] * 2

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(*(wrong.pop() for _ in wrong[:1]))
        for number in range(200):
            peer.send(answer(1, LARGE) if not number else data(1, LARGE))
            await asyncio.sleep(0.1)

    async def run() -> None:
        async with serving(script) as port:
            target = endpoint(port)
            assert auto.name_of(target) == "fast"
            error = await error_of(auto, target)  # of the first trial beside grpc nothing is seen
            assert str(error) == f"{NAME}: the fast receiver can receive it again. It is opened again."
            assert not wrong
            assert auto.name_of(target) == "grpc"
            assert await received(auto, target, 1) == [(0, LARGE)]
            assert auto.name_of(target) == "fast"

    asyncio.run(run())


def test_receivers_have_names() -> None:
    assert list(RECEIVERS) == ["auto", "fast", "grpc"]
    assert isinstance(receiver("fast"), FastReceiver)

    async def run() -> None:
        async with grpc_aio() as port:
            for name in RECEIVERS:
                found = await received(receiver(name), endpoint(port), len(SENT))
                assert [content for _, content in found] == SENT

    asyncio.run(run())
