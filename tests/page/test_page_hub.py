"""Browsers that listen: each gets the same bytes, a slow one begins anew, and all end with the server."""

from __future__ import annotations

import asyncio

from railfab.page.hub import QUEUED, Hub, event


def test_every_browser_gets_the_state_and_then_the_same_bytes() -> None:
    async def run() -> None:
        hub = Hub(lambda: b"whole", most_listeners=2)
        streams = [hub.listen(), hub.listen()]
        for stream in streams:
            assert (await anext(stream)).startswith(b"retry:")
            assert await anext(stream) == b"whole"
        assert hub.is_full
        hub.publish((b"a", b"b"))
        first, second = [await anext(stream) for stream in streams]
        assert first == b"ab"
        assert first is second, "it is encoded once"
        await streams[0].aclose()
        assert not hub.is_full

    asyncio.run(run())


def test_a_slow_browser_begins_anew_and_does_not_fill_memory() -> None:
    async def run() -> None:
        state = [b"old"]
        hub = Hub(lambda: state[0], most_listeners=1)
        stream = hub.listen()
        assert [await anext(stream) for _ in range(2)][1] == b"old"
        state[0] = b"new"
        for tick in range(10 * QUEUED):
            hub.publish((b"%d" % tick,))
        assert await anext(stream) == b"new"
        hub.publish((b"next",))
        assert await anext(stream) == b"next"

    asyncio.run(run())


def test_a_browser_that_is_early_waits_for_the_whole_state() -> None:
    async def run() -> None:
        state = [b""]
        hub = Hub(lambda: state[0], most_listeners=1)
        stream = hub.listen()
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        state[0] = b"whole"
        hub.publish((b"difference",))
        assert await waiting == b"whole"
        await stream.aclose()

    asyncio.run(run())


def test_streams_end_with_the_hub() -> None:
    async def run() -> None:
        hub = Hub(lambda: b"whole", most_listeners=1)
        stream = hub.listen()
        for _ in range(2):
            await anext(stream)
        asyncio.get_running_loop().call_later(0.01, hub.close)
        assert [part async for part in stream] in ([], [b": alive\n\n"])

    asyncio.run(run())


def test_an_event_is_one_that_a_browser_reads() -> None:
    assert event("totals", {"a": None}, 7) == b'id: 7\nevent: totals\ndata: {"a":null}\n\n'
