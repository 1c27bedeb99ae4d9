"""Laws of taking messages out of what is read: however it is cut, and whatever is wrong with it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.telemetry.receive.peers import HELLO, Recorded, answer, contents, data, read_to_its_end, response, trailers

from railfab.telemetry.receive import frames, http2, inflow, scan
from railfab.telemetry.receive.frames import frame
from railfab.telemetry.receive.http2 import LEAST_READ, Connection, ProtocolViolation
from railfab.telemetry.receive.inflow import Shared
from railfab.telemetry.receive.wire import READ

SHARED = Shared.new()
WINDOW = 1 << 20
SMALL_WINDOW = 200_000
"""Which reads of 30 kB, and messages of 60 kB, never exceed."""


def recording() -> tuple[bytes, list[tuple[int, bytes]]]:
    """A stream of two RPCs with padding, pings and messages of 2 bytes to 60 kB; and its messages."""
    draw = random.Random(1)
    sent = [(draw.randrange(2), response(number, draw.choice((0, 40, 900, 60_000)))) for number in range(60)]
    parts = [HELLO, answer(1), answer(3)]
    for rpc, content in sent:
        whole = frames.message(content)
        cut = draw.randrange(len(whole))
        padding = draw.randrange(200)
        for part in (whole[:cut], whole[cut:]):
            for at in range(0, max(len(part), 1), 16_000):
                padded = bytes((padding,)) + part[at : at + 16_000] + bytes(padding)
                parts.append(frame(frames.DATA, frames.PADDED, 2 * rpc + 1, padded))
        if draw.random() < 0.3:
            parts.append(frame(frames.PING, 0, 0, bytes(8)))
    return b"".join((*parts, trailers(1, 0), trailers(3, 12, "enough"))), sent


RECORDING, SENT = recording()


def played(wire: Recorded, streams: int = 2) -> Iterator[tuple[int, bytes]]:
    """The messages of a recording, as the receiver takes them."""
    connection = Connection(wire, SHARED, streams, WINDOW)
    with suppress(EOFError):
        while True:
            connection.read()
            for batch in connection.batches():
                yield from contents(batch)
            connection.grant()
    assert [status.code for _, _, status in connection.ended()] == ["OK", "UNIMPLEMENTED"]


def by_rpc(messages: Sequence[tuple[int, bytes]]) -> list[list[bytes]]:
    return [[content for rpc, content in messages if rpc == wanted] for wanted in range(2)]


@settings(max_examples=examples(15))
@given(st.lists(st.integers(1000, 1 << 18), min_size=1, max_size=8))
def test_the_messages_are_the_same_however_the_stream_is_cut_into_reads(sizes: list[int]) -> None:
    assert by_rpc(list(played(Recorded(RECORDING, sizes)))) == by_rpc(SENT)


def test_more_is_read_at_once_of_what_is_handled_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a connection is read again soon although those beside it have much to learn."""
    now_s = 0.0
    monkeypatch.setattr(http2, "time", SimpleNamespace(monotonic=lambda: now_s))
    sent = HELLO + answer(1, *[bytes(60_000)] * 40)
    connection = Connection(Recorded(sent, (len(sent),)), SHARED, 1, 1 << 22)
    read = []
    for handled_s in (0.0, 0.0, 0.0, 1.0, http2.TURN_S / 2, 1.0, 1.0, 0.0, 0.0):
        connection.read()
        read.append(connection.received - sum(read))
        now_s += handled_s
        connection.grant()
    least, half = LEAST_READ, READ // 2
    assert half == 2 * least
    assert read == [least, half, READ, READ, half, half, least, least, half]


def test_a_stream_of_single_bytes_has_the_same_messages() -> None:
    short = b"".join((HELLO, answer(1, b"one", b""), answer(3, b"two"), trailers(1, 0), trailers(3, 12)))
    assert by_rpc(list(played(Recorded(short, (1,))))) == [[b"one", b""], [b"two"]]


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_a_corrupt_stream_ends_without_harm(seed: int, faults: int) -> None:
    """It is refused or read to its end, in memory that its length bounds."""
    draw, broken = random.Random(seed), bytearray(RECORDING)
    for _ in range(faults):
        broken[draw.randrange(len(broken))] = draw.randrange(256)
    wire = Recorded(bytes(broken), (draw.randrange(1, 300_000),))
    connection = Connection(wire, SHARED, 2, WINDOW)
    read_to_its_end(connection)
    assert len(connection.inflow.store) <= 2 * (len(broken) + 2 * inflow.REGION)


@settings(max_examples=examples(15))
@given(st.lists(st.integers(1000, 30_000), min_size=1, max_size=8))
def test_what_is_granted_is_what_was_consumed(sizes: list[int]) -> None:
    """Less what is not worth a frame yet, at most half a window."""
    wire = Recorded(RECORDING, sizes)
    connection = Connection(wire, SHARED, 2, SMALL_WINDOW)
    with suppress(EOFError):
        while True:
            connection.read()
            connection.grant()
            total = 0
            for rpc in range(2):
                row = connection.inflow._fields[scan.STREAMS + rpc * scan.ROW :][: scan.ROW]
                consumed = row[scan.RECEIVED] - (row[scan.FILLED] - row[scan.NEXT])
                assert consumed - SMALL_WINDOW // 2 < wire.granted[2 * rpc + 1] <= consumed
                total += consumed
            whole = 2 * SMALL_WINDOW + connection.inflow._spare - frames.INITIAL_WINDOW + total
            assert whole - SMALL_WINDOW // 2 < wire.granted[0] <= whole


def test_a_message_larger_than_the_window_is_granted_whole_and_its_memory_given_back() -> None:
    large = response(1, 20 * inflow.REGION)
    wire = Recorded(HELLO + answer(1, large) + data(1, response(2)), (30_000,))
    connection = Connection(wire, SHARED, 1, SMALL_WINDOW)
    found: list[bytes] = []
    with suppress(EOFError):
        while True:
            connection.read()
            found.extend(content for batch in connection.batches() for _, content in contents(batch))
            connection.grant()
    assert found == [large, response(2)]
    assert wire.granted[1] >= len(large) + 5 - SMALL_WINDOW
    assert len(connection.inflow.store) == inflow.REGION


def test_batches_stay_as_they_are_while_another_connection_reads() -> None:
    first = Connection(Recorded(HELLO + answer(1, b"one") + answer(3, b"two", b"three")), SHARED, 2, WINDOW)
    second = Connection(Recorded(HELLO + answer(1, *[b"another"] * 9)), SHARED, 1, WINDOW)
    first.read()
    batches = first.batches()
    second.read()
    assert [list(contents(batch)) for batch in batches] == [[(0, b"one")], [(1, b"two"), (1, b"three")]]


def test_a_message_that_is_too_large_leaves_a_frame_of_another_stream_alone() -> None:
    begin = HELLO + answer(1) + answer(3) + frame(frames.DATA, 0, 1, b"\0\xff\0\0\0")
    message = data(3, b"complete")
    connection = Connection(Recorded(begin + message, (len(begin) + 11,)), SHARED, 2, WINDOW)
    connection.read()
    assert [(rpc, status.code) for rpc, _, status in connection.ended()] == [(0, "RESOURCE_EXHAUSTED")]
    connection.read()
    assert [list(contents(batch)) for batch in connection.batches()] == [[(1, b"complete")]]


def test_a_target_that_ignores_the_window_is_told_apart() -> None:
    connection = Connection(Recorded(HELLO + answer(1, bytes(3000)), (2000,)), SHARED, 1, 1000)
    connection.read()
    with pytest.raises(ProtocolViolation, match="it sends more than the window of a stream"):
        connection.grant()


def test_the_same_without_a_compiler() -> None:
    program = """
from tests.telemetry.receive.test_framing import *
from railfab.compiled import WHY_INTERPRETED
test_a_stream_of_single_bytes_has_the_same_messages()
assert by_rpc(list(played(Recorded(RECORDING, (7000, 100))))) == by_rpc(SENT)
print(WHY_INTERPRETED)
"""
    environment = {**os.environ, "RAILFAB_INTERPRETED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert (done.stdout, done.stderr) == ("RAILFAB_INTERPRETED is set. Unset it\n", "")
