"""Peers that waste memory or time within the grammar of HTTP/2: each costs its own connection and nothing else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from tests.telemetry.receive.peers import (
    ANSWER,
    HELLO,
    Peer,
    Recorded,
    answer,
    contents,
    data,
    endpoint,
    error_of,
    received,
    response,
    serving,
    trailers,
)

from railfab.gnmi.statuses import StreamClosed
from railfab.telemetry.receive import frames, http2, inflow, wire
from railfab.telemetry.receive.errors import ProtocolError
from railfab.telemetry.receive.fast import FastReceiver
from railfab.telemetry.receive.frames import frame
from railfab.telemetry.receive.http2 import Connection, ProtocolViolation
from railfab.telemetry.receive.inflow import Shared

SHARED = Shared.new()
WINDOW = 1 << 20
ONE, TWO = response(1), response(2)
PING = frame(frames.PING, 0, 0, bytes(8))


def connection(*parts: bytes, sizes: Sequence[int] = (1 << 18,), streams: int = 1) -> Connection:
    return Connection(Recorded(b"".join(parts), sizes), SHARED, streams, WINDOW)


def played(tested: Connection) -> list[tuple[int, bytes]]:
    """Every message up to the end of the recording."""
    found: list[tuple[int, bytes]] = []
    with suppress(EOFError):
        while True:
            tested.read()
            found.extend(message for batch in tested.batches() for message in contents(batch))
            tested.grant()
    return found


def statuses(tested: Connection) -> list[tuple[str, str | None]]:
    return [(status.code, status.details) for _, _, status in tested.ended()]


# Before the first frame


def test_data_before_the_settings_is_refused_and_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that is too large, of which the peer sends more than the space of a stream ever is."""
    monkeypatch.setattr(inflow, "MAX_MESSAGE", inflow.REGION)
    flood = frame(frames.DATA, 0, 1, b"\0\xff\xff\xff\xff") + frame(frames.DATA, 0, 1, bytes(16_384)) * 80
    tested = connection(flood)
    with pytest.raises(ProtocolViolation, match="its first frame is not SETTINGS"):
        tested.read()


@pytest.mark.parametrize("first", [data(1, ONE), data(9, ONE), frame(frames.DATA, 0, 1, b"\0")])
def test_any_data_before_the_settings_is_refused(first: bytes) -> None:
    with pytest.raises(ProtocolViolation, match="its first frame is not SETTINGS"):
        connection(first, HELLO).read()


# Frames without end


def test_a_message_in_frames_of_one_byte_and_empty_ones_between_arrives() -> None:
    empty = frame(frames.DATA, 0, 1) + frame(frames.DATA, frames.PADDED, 1, bytes(1))
    parts = [frame(frames.DATA, 0, 1, bytes((byte,))) + empty * 5 for byte in frames.message(ONE)]
    assert played(connection(HELLO, answer(1), *parts, sizes=(1, 7, 100))) == [(0, ONE)]


def test_empty_data_frames_without_end_take_no_memory_and_hold_nothing_up() -> None:
    tested = connection(HELLO, answer(1), frame(frames.DATA, 0, 1) * 200_000, data(1, ONE))
    assert played(tested) == [(0, ONE)]
    assert len(tested.inflow.store) == inflow.REGION


FLOODS = {
    "pings": PING,
    "settings": frames.settings({}),
    "settings of a window": frames.settings({frames.INITIAL_WINDOW_SIZE: 1 << 20}),
    "resets": frames.reset(7, 8),
    "window updates": frames.window_update(0, 1),
    "priorities": frame(frames.PRIORITY, 0, 1, bytes(5)),
    "ends of a stream": frame(frames.DATA, 1, 7),
    "trailers": trailers(7, 0),
    "unknown frames": frame(0xFA, 0, 0),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_frames_that_are_no_messages_ends_the_connection(flood: bytes) -> None:
    tested = connection(HELLO, flood * 2000)
    with pytest.raises(ProtocolViolation, match="it sends 1,000 frames at once that are no messages"):
        tested.read()


def test_a_thousand_pings_in_several_reads_are_answered() -> None:
    recorded = Recorded(b"".join((HELLO, answer(1), PING * 3000, data(1, ONE))), (10_000,))
    tested = Connection(recorded, SHARED, 1, WINDOW)
    assert played(tested) == [(0, ONE)]
    assert recorded.written > 3000 * len(PING)


def test_headers_continued_by_empty_frames_without_end_are_refused() -> None:
    tested = connection(HELLO, frame(frames.HEADERS, 0, 1), frame(frames.CONTINUATION, 0, 1) * 20_000)
    with pytest.raises(ProtocolViolation, match="it sends 1,000 frames at once"):
        tested.read()


def test_a_peer_that_asks_and_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_UNSENT", 20_000)

    async def run() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            full = wire.Wire(ours, memoryview(bytearray(1)), None)
            for _ in range(2000):
                full.write(PING)
            with pytest.raises(ConnectionAbortedError, match="it does not read what it is sent"):
                full.read(memoryview(bytearray(1)))
            assert len(full._unsent) < 20_000 + 2 * len(PING)
            full.close()

    asyncio.run(run())


# Statuses and header blocks


def test_a_status_of_many_digits_is_unknown() -> None:
    """Python refuses to read a number of more than 4,300 digits, with an error that would end the collector."""
    block = frames.header_block((("grpc-status", "9" * 5000),))
    tested = connection(HELLO, answer(1, ONE), frame(frames.HEADERS, 5, 1, block))
    assert played(tested) == [(0, ONE)]
    assert statuses(tested) == [("UNKNOWN", None)]


@pytest.mark.parametrize("number", ["-1", "17", "", "1e1", "\u00b2", "0x1", "٣"])
def test_a_status_that_is_no_code_is_unknown(number: str) -> None:
    block = frames.header_block((("grpc-status", number),))
    tested = connection(HELLO, answer(1), frame(frames.HEADERS, 5, 1, block))
    played(tested)
    assert statuses(tested) == [("UNKNOWN", None)]


def test_words_of_the_peer_are_cut_off() -> None:
    long = "x" * 12_000
    tested = connection(HELLO, answer(1), trailers(1, 13, long))
    played(tested)
    assert statuses(tested) == [("INTERNAL", "x" * frames.MOST_MESSAGE)]
    tested = connection(HELLO, answer(1), frame(frames.HEADERS, 5, 1, frames.header_block(((":status", long),))))
    played(tested)
    assert statuses(tested) == [("UNKNOWN", f"HTTP status {'x' * 9}")]
    with pytest.raises(ProtocolViolation, match="headers cannot be decoded") as found:
        connection(HELLO, frame(frames.HEADERS, 4, 1, b"\x7f" + b"\xff" * 16_000)).read()
    assert len(str(found.value)) < http2.MOST_WORDS + 50


def test_a_block_in_the_smallest_frames_is_read_in_time_that_its_length_bounds() -> None:
    block = frames.header_block(((":status", "200"), ("content-type", "application/grpc"), ("x", "y" * 50_000)))
    rest = b"".join(frame(frames.CONTINUATION, 0, 1, block[at : at + 1]) for at in range(len(block)))
    end = frame(frames.CONTINUATION, frames.END_HEADERS, 1)
    tested = connection(HELLO, frame(frames.HEADERS, 0, 1), rest, end, data(1, ONE), sizes=(9_000,))
    assert played(tested) == [(0, ONE)]


def test_a_block_that_unpacks_to_more_than_the_limit_is_refused() -> None:
    """A table entry of 4,000 bytes, named again and again with a byte each (RFC 7541, 7.3)."""
    entry = b"\x40" + frames._literal("x") + frames._literal("y" * 4000)
    with pytest.raises(ProtocolViolation, match="headers cannot be decoded"):
        connection(HELLO, frame(frames.HEADERS, 4, 1, entry + b"\xbe" * 10_000)).read()


# Settings while streams are open

CHANGES: dict[str, tuple[dict[int, int], Callable[[Connection], bool]]] = {
    "a smaller window makes that of a stream negative": (
        {frames.INITIAL_WINDOW_SIZE: 0},
        lambda tested: tested._streams[1].window < 0,
    ),
    "the largest window": ({frames.INITIAL_WINDOW_SIZE: frames.MAX_WINDOW}, lambda tested: not tested.goaway),
    "the largest frame": ({5: (1 << 24) - 1}, lambda tested: not tested.goaway),
    "no table": ({frames.HEADER_TABLE_SIZE: 0}, lambda tested: not tested.goaway),
    "a large table": ({frames.HEADER_TABLE_SIZE: frames.MAX_WINDOW}, lambda tested: not tested.goaway),
    "no more streams": ({frames.MAX_CONCURRENT_STREAMS: 0}, lambda tested: tested.max_streams == 0),
    "an unknown one": ({0xABCD: 1}, lambda tested: not tested.goaway),
}


@pytest.mark.parametrize(("change", "holds"), CHANGES.values(), ids=CHANGES)
def test_settings_that_change_while_a_message_is_half_received(
    change: dict[int, int], holds: Callable[[Connection], bool]
) -> None:
    whole = frames.message(ONE)
    half = frame(frames.DATA, 0, 1, whole[:3]) + frames.settings(change) + frame(frames.DATA, 0, 1, whole[3:])
    tested = connection(HELLO, answer(1), half, data(1, TWO), sizes=(5,))
    tested.request(b"", [bytes(100)])
    assert played(tested) == [(0, ONE), (0, TWO)]
    assert holds(tested)


def test_a_request_waits_while_its_window_is_negative() -> None:
    """100 bytes are sent of 1,000; the window shrinks to 50, so that 50 more must be granted before the next byte."""
    small, smaller = (
        frames.settings({frames.INITIAL_WINDOW_SIZE: 100}),
        frames.settings({frames.INITIAL_WINDOW_SIZE: 50}),
    )
    tested = connection(small, smaller, frames.window_update(1, 50), frames.window_update(1, 7), sizes=(15, 15, 13, 13))
    tested.read()
    tested.request(b"", [bytes(995)])
    unsent = []
    with suppress(EOFError):
        while True:
            unsent.append(len(tested._streams[1].unsent))
            tested.read()
    assert unsent == [900, 900, 900, 893]


# One stream of several


def test_a_stream_that_ends_badly_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflow, "MAX_MESSAGE", 1000)
    wrong = frame(frames.DATA, 0, 1, b"\0\xff\xff\xff\xff" + bytes(100)) + frame(frames.HEADERS, 4, 5, ANSWER)
    reset = frames.reset(5, 8) + frame(frames.DATA, 0, 5, b"\0\xff\xff\xff\xff" + bytes(16_000))
    tested = connection(HELLO, answer(1), wrong, answer(3, ONE), reset, data(3, TWO), sizes=(700,), streams=3)
    found: list[tuple[int, bytes]] = []
    ended: list[tuple[int, str]] = []
    with suppress(EOFError):
        while True:
            tested.read()
            found.extend(message for batch in tested.batches() for message in contents(batch))
            ended.extend((rpc, status.code) for rpc, _, status in tested.ended())
            tested.grant()
    assert found == [(1, ONE), (1, TWO)]
    assert ended == [(0, "RESOURCE_EXHAUSTED"), (2, "CANCELLED")]


def test_two_messages_of_one_read_that_are_too_large_end_both_streams() -> None:
    """None is left, whose length would be granted: 4 GiB, which a WINDOW_UPDATE does not hold."""
    wrong = [frame(frames.DATA, 0, stream, b"\0\xff\xff\xff\xff") for stream in (1, 5)]
    tested = connection(HELLO, answer(1), answer(3), answer(5), *wrong, data(3, ONE), streams=3)
    tested.read()
    assert [message for batch in tested.batches() for message in contents(batch)] == [(1, ONE)]
    assert statuses(tested) == [("RESOURCE_EXHAUSTED", "a message is larger than 67,108,864 bytes")] * 2
    tested.grant()


@pytest.mark.parametrize("compressed", [1, 3])
def test_a_compressed_message_beside_one_that_is_too_large_is_refused(compressed: int) -> None:
    wrong = [frame(frames.DATA, 0, stream, bytes((stream == compressed,)) + b"\xff\xff\xff\xff") for stream in (1, 3)]
    with pytest.raises(ProtocolViolation, match="a message is compressed"):
        connection(HELLO, answer(1), answer(3), *wrong, streams=2).read()


def test_a_flood_costs_only_the_connection_that_it_came_over() -> None:
    """Another target in the same loop receives meanwhile, and the one that floods is told apart."""

    async def flooding(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1, ONE), PING * 5000)

    async def steady(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1))
        for _ in range(20):
            peer.send(data(1, TWO))
            await asyncio.sleep(0.005)

    async def run() -> tuple[Exception, list[object]]:
        receiver = FastReceiver(coalesce_s=0)
        async with serving(flooding) as first, serving(steady) as second:
            return await asyncio.gather(error_of(receiver, endpoint(first)), received(receiver, endpoint(second), 20))

    error, found = asyncio.run(run())
    assert isinstance(error, ProtocolError | StreamClosed)
    assert found == [(0, TWO)] * 20
