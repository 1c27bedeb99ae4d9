"""Everything that a server may do with HTTP/2 and gRPC, played by a script to the receiver of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.telemetry.receive.peers import (
    ADMIN,
    ANSWER,
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

from railfab.endpoints import Credentials
from railfab.errors import DeviceError, LoginRefused, Unreachable
from railfab.gnmi.statuses import Refused, StreamClosed, Unimplemented
from railfab.telemetry.receive import frames, inflow
from railfab.telemetry.receive.contract import RpcEnded
from railfab.telemetry.receive.errors import ProtocolError
from railfab.telemetry.receive.fast import FastReceiver
from railfab.telemetry.receive.frames import frame

Script = Callable[[Peer], Awaitable[None]]
ONE, TWO, THREE = (response(number) for number in (1, 2, 3))


def playing(*parts: bytes, streams: int = 1) -> Script:
    async def script(peer: Peer) -> None:
        await peer.greet(streams)
        peer.send(*parts)

    return script


def messages_of(*parts: bytes, rpcs: int = 1, count: int = 1) -> list[tuple[int, bytes] | RpcEnded]:
    async def run() -> list[tuple[int, bytes] | RpcEnded]:
        async with serving(playing(*parts, streams=rpcs)) as port:
            return await received(FastReceiver(coalesce_s=0), endpoint(port), count, rpcs=rpcs)

    return asyncio.run(run())


def told(*parts: bytes, held: bool = True, receiver: FastReceiver | None = None) -> Exception:
    async def run() -> Exception:
        async with serving(playing(*parts), held=held) as port:
            return await error_of(receiver or FastReceiver(coalesce_s=0), endpoint(port))

    return asyncio.run(run())


def test_messages_of_several_rpcs_are_told_apart() -> None:
    parts = (answer(1, ONE), answer(3), data(3, TWO), data(1, THREE))
    assert sorted(messages_of(*parts, rpcs=2, count=3)) == [(0, ONE), (0, THREE), (1, TWO)]


def test_a_message_may_be_split_over_frames_and_frames_hold_parts_of_several() -> None:
    whole = frames.message(ONE) + frames.message(TWO)
    parts = [frame(frames.DATA, 0, 1, whole[at : at + 3]) for at in range(0, len(whole), 3)]
    assert messages_of(answer(1), *parts, count=2) == [(0, ONE), (0, TWO)]


def test_messages_after_a_pause_come_once() -> None:
    """The reads in between, at moments that all targets share, find nothing."""

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1, ONE))
        await asyncio.sleep(0.05)
        peer.send(data(1, TWO))

    async def run() -> None:
        async with serving(script) as port:
            assert await received(FastReceiver(coalesce_s=0.01), endpoint(port), 2) == [(0, ONE), (0, TWO)]

    asyncio.run(run())


def test_padding_is_no_content() -> None:
    whole, half = frames.message(ONE), len(frames.message(ONE)) // 2
    padded = b"".join(
        frame(frames.DATA, frames.PADDED, 1, bytes((size,)) + part + bytes(size))
        for part, size in ((whole[:half], 200), (b"", 255), (whole[half:], 0))
    )
    assert messages_of(answer(1), padded, data(1, TWO), count=2) == [(0, ONE), (0, TWO)]


def test_headers_may_be_continued_padded_and_have_a_priority() -> None:
    first = b"\x03" + bytes(5) + ANSWER[:4] + bytes(3)
    headers = frame(frames.HEADERS, frames.PADDED | frames.HAS_PRIORITY, 1, first)
    rest = frame(frames.CONTINUATION, 0, 1, ANSWER[4:9]) + frame(frames.CONTINUATION, frames.END_HEADERS, 1, ANSWER[9:])
    assert messages_of(headers, rest, data(1, ONE)) == [(0, ONE)]


def test_frames_that_say_nothing_to_us_are_ignored() -> None:
    unknown = frame(0xFA, 0xFF, 7, b"grease") + frame(frames.PRIORITY, 0, 1, bytes(5))
    assert messages_of(unknown, frame(frames.PING, frames.ACK, 0, bytes(8)), answer(1, ONE)) == [(0, ONE)]


def test_data_of_a_stream_that_is_not_ours_is_no_message() -> None:
    assert messages_of(answer(1), data(9, TWO), data(1, ONE)) == [(0, ONE)]


def test_a_ping_is_answered_and_settings_are_acknowledged() -> None:
    seen: list[bytes] = []

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(frame(frames.PING, 0, 0, b"question"))
        seen.append((await peer.until(frames.PING)).payload)
        peer.send(answer(1, ONE))
        assert [(f.flags, f.stream) for f in peer.seen if f.kind == frames.SETTINGS] == [(0, 0), (frames.ACK, 0)]

    async def run() -> None:
        async with serving(script) as port:
            await received(FastReceiver(), endpoint(port), 1)

    asyncio.run(run())
    assert seen == [b"question"]


def test_a_request_waits_for_the_window_of_the_target() -> None:
    async def script(peer: Peer) -> None:
        await peer._reader.readexactly(len(frames.PREFACE))
        peer.send(frames.settings({frames.INITIAL_WINDOW_SIZE: 3}))
        assert len((await peer.until(frames.DATA)).payload) == 3
        peer.send(frames.window_update(1, 100))
        begin = next(f for f in peer.seen if f.kind == frames.DATA).payload
        whole = begin + (await peer.until(frames.DATA)).payload
        assert int.from_bytes(whole[1:5], "big") == len(whole) - 5
        peer.send(answer(1, ONE))

    async def run() -> None:
        async with serving(script) as port:
            assert await received(FastReceiver(), endpoint(port), 1) == [(0, ONE)]

    asyncio.run(run())


def test_more_rpcs_than_the_target_allows_are_refused_in_one_line() -> None:
    async def script(peer: Peer) -> None:
        peer.send(frames.settings({frames.MAX_CONCURRENT_STREAMS: 1}))

    async def run() -> Exception:
        async with serving(script) as port:
            return await error_of(FastReceiver(), endpoint(port), rpcs=2)

    error = asyncio.run(run())
    assert isinstance(error, Refused)
    assert str(error) == f"{NAME}: allows 1 RPCs on a connection, and 2 are needed. Raise its limit."


@pytest.mark.parametrize(
    ("parts", "kind", "said"),
    [
        (answer(1) + trailers(1, 12, "no ON%5fCHANGE"), Unimplemented, "refused a gNMI Subscribe (no ON_CHANGE)"),
        (trailers(1, 16, "", (":status", "200")), LoginRefused, "rejects the login of admin (no reason given)"),
        (trailers(1, 3, "bad%20path%0A", (":status", "200")), Refused, "refused a gNMI Subscribe (bad path)"),
        (answer(1) + trailers(1, 14, "going down"), Unreachable, "lost the connection to 127.0.0.1:"),
        (answer(1, ONE) + trailers(1, 14, "going down"), StreamClosed, "the stream broke (UNAVAILABLE: going down)"),
        (answer(1, ONE) + trailers(1, 0), StreamClosed, "the target ended the stream"),
        (answer(1, ONE) + trailers(1, 99, "%zz%ff"), StreamClosed, "the stream broke (UNKNOWN: %zz\ufffd)"),
        (answer(1, ONE) + frame(frames.DATA, 1, 1), StreamClosed, "the stream ended without a status of gRPC"),
        (answer(1, ONE) + frames.reset(1, 8), StreamClosed, "(CANCELLED: the stream was reset with CANCEL)"),
        (frames.reset(1, 2), DeviceError, "INTERNAL: the stream was reset with INTERNAL_ERROR"),
        (answer(1, ONE) + frames.goaway(0), StreamClosed, "the target ends the connection, NO_ERROR"),
        (frames.goaway(2), Unreachable, "(the target ends the connection, INTERNAL_ERROR)"),
        (
            frame(frames.HEADERS, 4, 1, frames.header_block(((":status", "404"), ("content-type", "text/html")))),
            Unimplemented,
            "(HTTP status 404)",
        ),
        (
            frame(frames.HEADERS, 4, 1, frames.header_block(((":status", "200"), ("content-type", "text/html")))),
            DeviceError,
            "content type 'text/html' is not gRPC's",
        ),
    ],
)
def test_each_end_of_a_stream_has_its_error(parts: bytes, kind: type[DeviceError], said: str) -> None:
    error = told(parts)
    assert isinstance(error, kind)
    assert said in str(error)
    assert "\n" not in str(error)


def test_messages_before_an_end_are_yielded_and_the_other_rpcs_go_on() -> None:
    parts = (answer(1, ONE), trailers(1, 12, "not these"), answer(3, TWO))
    found = messages_of(*parts, rpcs=2, count=3)
    assert found[:2] == [(0, ONE), (1, TWO)]
    (end,) = found[2:]
    assert isinstance(end, RpcEnded)
    assert (end.rpc, str(end.error)) == (0, f"{NAME}: the stream broke (UNIMPLEMENTED: not these). It is opened again.")


def test_a_closed_connection_is_told_apart_by_what_came_before() -> None:
    assert isinstance(told(held=False), Unreachable)
    broken = told(answer(1, ONE), held=False)
    assert isinstance(broken, StreamClosed)
    assert "UNAVAILABLE: the target closed the connection" in str(broken)


COMPRESSED = b"\x01" + frames.message(ONE)[1:]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (answer(1) + frame(frames.DATA, 0, 1, COMPRESSED), "a message is compressed, which was not offered"),
        (frame(frames.PUSH_PROMISE, 4, 1, bytes(4)), "it pushes, which was refused"),
        (frame(frames.DATA, 0, 0, b"x"), "a DATA frame has no stream, or more padding than payload"),
        (frame(frames.DATA, frames.PADDED, 1, b"\x05abc"), "more padding than payload"),
        (frame(frames.DATA, frames.PADDED, 1), "more padding than payload"),
        (frame(frames.DATA, 0, 1, bytes(16_385)), "a frame is larger than 16,384 bytes"),
        (frame(frames.HEADERS, 0, 1, ANSWER) + data(1, ONE) + frame(frames.PING, 0, 0, bytes(8)), "interrupted"),
        (frame(frames.CONTINUATION, 4, 1, ANSWER), "headers are too long, too padded, or continue nothing"),
        (frame(frames.HEADERS, frames.PADDED | 4, 1, b"\xff"), "headers are too long, too padded"),
        (frame(frames.HEADERS, 4, 1, b"\xff\xff\xff"), "headers cannot be decoded"),
        (frame(frames.SETTINGS, 0, 0, bytes(5)), "SETTINGS have a part of a setting"),
        (frames.settings({frames.INITIAL_WINDOW_SIZE: 1 << 31}), "its initial window is 2,147,483,648 bytes"),
        (frames.window_update(1, 0), "it adds 0 bytes to a window"),
        (frames.window_update(0, (1 << 31) - 1), "it adds 2,147,483,647 bytes to a window"),
        (frame(frames.PING, 0, 0, b"short"), "a frame of type 6 has 5 bytes"),
    ],
)
def test_what_the_receiver_does_not_know_is_told_apart(parts: bytes, said: str) -> None:
    error = told(parts)
    assert isinstance(error, ProtocolError)
    assert said in str(error)


def test_headers_without_end_are_bounded() -> None:
    more = frame(frames.CONTINUATION, 0, 1, bytes(16_000))
    error = told(frame(frames.HEADERS, 0, 1), *[more] * 5)
    assert "headers are too long" in str(error)


def test_a_message_over_the_limit_ends_its_rpc_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflow, "MAX_MESSAGE", 1000)
    found = messages_of(answer(1, ONE), data(1, bytes(1001)), data(1, TWO), answer(3, THREE), rpcs=2, count=3)
    assert found[:2] == [(0, ONE), (1, THREE)]
    assert "RESOURCE_EXHAUSTED: a message is larger than 1,000 bytes" in str(found[2].error)


def test_the_password_is_sent_per_rpc_and_a_bad_one_is_refused_before() -> None:
    async def script(peer: Peer) -> None:
        await peer.greet()
        headers = next(f for f in peer.seen if f.kind == frames.HEADERS)
        assert b"\x10\x08password\x08a secret" in headers.payload
        peer.send(answer(1, ONE))

    async def run() -> Exception:
        async with serving(script) as port:
            await received(FastReceiver(), endpoint(port), 1)
            return await error_of(FastReceiver(), endpoint(port), login=Credentials("admin", "pass\nword"))

    error = asyncio.run(run())
    assert str(error).startswith(f"{NAME}: the user name, password or token has a character that gRPC does not send.")


def test_a_silent_target_is_pinged_and_then_given_up() -> None:
    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1, ONE))
        await peer.until(frames.PING)
        peer.send(frame(frames.PING, frames.ACK, 0, bytes(8)))
        await peer.until(frames.PING)

    async def run() -> Exception:
        async with serving(script) as port:
            return await error_of(FastReceiver(keepalive_s=0.05, keepalive_timeout_s=0.2), endpoint(port))

    error = asyncio.run(run())
    assert isinstance(error, StreamClosed)
    assert "no answer to a ping within 0.2 s" in str(error)


def test_pings_that_are_too_many_for_a_target_become_half_as_many() -> None:
    receiver = FastReceiver(coalesce_s=0)
    calm = frame(frames.GOAWAY, 0, 0, bytes(4) + (11).to_bytes(4, "big") + b"too_many_pings")

    async def run() -> tuple[str, dict[str, int]]:
        async with serving(playing(answer(1, ONE), calm)) as port:
            return str(await error_of(receiver, endpoint(port))), {f"127.0.0.1:{port}": 1}

    said, doublings = asyncio.run(run())
    assert "the target ends the connection, ENHANCE_YOUR_CALM: too_many_pings" in said
    assert receiver._doublings == doublings


def test_a_slow_reader_holds_the_target_back() -> None:
    """The target can send a window, and no byte more until its messages were taken."""
    window, sent, blocked = 100_000, [0], []

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1))
        may_send = window
        while True:
            while may_send >= 10_000:
                peer.send(data(1, bytes(10_000 - 5)))
                sent[0] += 10_000
                may_send -= 10_000
            blocked.append(sent[0])
            while (await peer.until(frames.WINDOW_UPDATE)).stream != 1:
                pass
            may_send += int.from_bytes(peer.seen[-1].payload, "big")

    async def run() -> None:
        async with serving(script) as port:
            stream = FastReceiver(window=window, coalesce_s=0).stream(endpoint(port), ADMIN, [REQUEST])
            taken = 0
            async for batch in stream:
                await asyncio.sleep(0.02)
                taken += len(batch.bounds) * 10_000
                assert sent[0] <= taken + window
                if taken > 5 * window:
                    break
            await stream.aclose()

    asyncio.run(asyncio.wait_for(run(), 20))
    assert len(blocked) > 3
