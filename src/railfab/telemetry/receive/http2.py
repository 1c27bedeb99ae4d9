"""HTTP/2 as the client of gRPC's streams: requests, answers and every frame that is not DATA.

It does no input or output but through its `Wire`; DATA frames are those of `inflow`. Source: RFC 9113.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

import hpack

from railfab.gnmi.statuses import Status
from railfab.telemetry.receive import frames, inflow, scan
from railfab.telemetry.receive.contract import Batch
from railfab.telemetry.receive.inflow import Inflow, Shared, WindowExceeded
from railfab.telemetry.receive.wire import READ, Wire

MAX_HEADERS = 1 << 16
"""Largest block of headers [bytes]."""
MOST_FRAMES = 1000
"""Frames of one read that are no DATA, or end a stream: a peer that sends nothing else would take all of a core."""
TURN_S = 0.02
"""Time in which a read should be handled. The connections of a loop take turns, and paths that are new take long: a
target that is read again after 20 s only may have closed the connection (TCP_USER_TIMEOUT of gRPC's C core)."""
LEAST_READ = 1 << 16
"""What is read at once at first, and from a target whose messages take longer [bytes]."""
MOST_WORDS = 200
"""What is kept of words that a peer chooses [characters]."""
_SIZES = {frames.RST_STREAM: 4, frames.PING: 8, frames.GOAWAY: 8, frames.WINDOW_UPDATE: 4}
_EXACT = (frames.RST_STREAM, frames.PING, frames.WINDOW_UPDATE)
"""Sizes of the payload of frames [bytes], at least or exactly."""
_WRONG = {
    scan.FRAME_SIZE: "a frame is larger than 16,384 bytes",
    scan.PROTOCOL: "a DATA frame has no stream, or more padding than payload",
    scan.COMPRESSED: "a message is compressed, which was not offered",
}


class ProtocolViolation(Exception):
    """The peer does what HTTP/2 forbids, or what this client does not know; the connection cannot go on."""


class GoneAway(NamedTuple):
    """What the peer said when it began to end the connection. code: HTTP/2's error."""

    code: int
    reason: str


@dataclass(slots=True)
class _Stream:
    """rpc: index of its request. window: what we may send. started: whether it has answered. status: how it ended."""

    rpc: int
    window: int = frames.INITIAL_WINDOW
    unsent: bytes = b""
    started: bool = False
    status: Status | None = None


class Connection:
    """One connection with a stream for each request. window: receive window of a stream [bytes].

    settled: whether the peer has sent its settings. greeting: its first bytes, up to FRAME_HEADER. is_full: whether
    there may be more to read than was read.
    """

    def __init__(self, wire: Wire, shared: Shared, streams: int, window: int) -> None:
        self._wire, self._incoming = wire, shared.incoming.data
        self.inflow = Inflow(shared, streams, window)
        self._streams = {2 * slot + 1: _Stream(slot) for slot in range(streams)}
        self._next_number = 2 * streams + 1
        self._block: tuple[int, int, bytearray] | None = None  # stream, flags and begin of headers that continue
        self._hpack = hpack.Decoder(MAX_HEADERS)
        self._send_window = self._peer_window = frames.INITIAL_WINDOW
        self.max_streams = frames.MAX_WINDOW
        self.goaway: GoneAway | None = None
        self.settled = self._has_read = False
        self.greeting = b""
        self.received = 0
        self._read_s = self._taken_s = time.monotonic()
        self._waited_s = 0.0
        self._most, self.is_full = LEAST_READ, False
        first = {frames.HEADER_TABLE_SIZE: 0, frames.ENABLE_PUSH: 0, frames.INITIAL_WINDOW_SIZE: window}
        wire.write(frames.PREFACE + frames.settings(first))
        wire.write(frames.window_update(0, self.inflow.initial - frames.INITIAL_WINDOW))

    def request(self, headers: bytes, contents: list[bytes]) -> None:
        """Begin the streams, with this block of headers, and a message for each, after which they stay open."""
        for (number, stream), content in zip(self._streams.items(), contents, strict=True):
            self._headers(number, headers)
            stream.unsent = frames.message(content)
            self._send(number, stream)

    def send(self, rpc: int, content: bytes) -> None:
        """Send a further message of an RPC; nothing where it has ended."""
        for number, stream in self._streams.items():
            if stream.rpc == rpc and not stream.status:
                stream.unsent += frames.message(content)
                self._send(number, stream)

    def renew(self, rpc: int, headers: bytes, content: bytes) -> None:
        """Make an RPC that has ended again."""
        number, self._next_number = self._next_number, self._next_number + 2
        stream = self._streams[number] = _Stream(rpc, self._peer_window, frames.message(content))
        self.inflow.add(rpc, number)
        self._headers(number, headers)
        self._send(number, stream)

    def _headers(self, number: int, block: bytes) -> None:
        kind, size = frames.HEADERS, scan.MAX_FRAME
        for at in range(0, len(block), size):
            last = frames.END_HEADERS if at + size >= len(block) else 0
            self._wire.write(frames.frame(kind, last, number, block[at : at + size]))
            kind = frames.CONTINUATION

    def _send(self, number: int, stream: _Stream) -> None:
        """Send of a request what the peer's windows allow."""
        while stream.unsent and (size := min(len(stream.unsent), stream.window, self._send_window, scan.MAX_FRAME)) > 0:
            self._wire.write(frames.frame(frames.DATA, 0, number, stream.unsent[:size]))
            stream.unsent = stream.unsent[size:]
            stream.window -= size
            self._send_window -= size

    def read(self) -> int:
        """Read what has arrived, and answer it; the number of bytes, 0 when nothing has.

        Raises OSError and EOFError of the wire, or ProtocolViolation.
        """
        self._note_wait()
        count = self._wire.read(self._incoming[: self._most])
        self.is_full = count == self._most
        self.received += count
        self.greeting += self._incoming[: min(count, scan.FRAME_HEADER - len(self.greeting))].tobytes()
        self._has_read = count > 0
        self.inflow.begin()
        if count:
            self._take(count)
        self._taken_s = time.monotonic()
        return count

    def _note_wait(self) -> None:
        """Count the time since the last read where the peer may have waited for this one: what it sends had no space.

        When it began to wait is not known: this is an upper bound. Bytes that have arrived may be of any stream.
        """
        now_s = time.monotonic()
        if self._wire.holds_back(self.inflow.least):
            self._waited_s += now_s - self._read_s
        self._read_s = now_s

    def _take(self, count: int) -> None:
        """Take the frames of a read of so many bytes."""
        for _ in range(MOST_FRAMES):
            result = self.inflow.scan(count)
            if not self.settled and self.inflow.has_data:
                self._violated("its first frame is not SETTINGS")
            if result == scan.CONTROL:
                self._control_frame()
            elif result == scan.ENDED:
                self._end(self.inflow.current, frames.status_of(()))
            elif result == scan.TOO_LARGE:
                self._end_at_large_messages()
                return
            elif result == scan.DONE:
                return
            else:
                self._violated(_WRONG[result])
        self._violated(f"it sends {MOST_FRAMES:,} frames at once that are no messages")

    def _end_at_large_messages(self) -> None:
        status = Status("RESOURCE_EXHAUSTED", f"a message is larger than {inflow.MAX_MESSAGE:,} bytes")
        for number in self.inflow.too_large():
            self._streams[number].started = True
            self._end(number, status, resets=True)

    def batches(self) -> list[Batch]:
        """The messages that the last read made complete."""
        found = self.inflow.batches() if self._has_read else []
        for number, _ in found:
            self._streams[number].started = True
        batches = [batch for _, batch in found]
        if batches and self._waited_s:
            batches[0], self._waited_s = replace(batches[0], waited_s=self._waited_s), 0.0
        return batches

    def ended(self) -> list[tuple[int, bool, Status]]:
        """The RPCs that have ended since the last call: index, whether it had answered, and status."""
        over = [(number, stream, stream.status) for number, stream in self._streams.items() if stream.status]
        for number, _, _ in over:
            del self._streams[number]
            self.inflow.drop(number)
        return [(stream.rpc, stream.started, status) for _, stream, status in over]

    def grant(self) -> bool:
        """Grant the peer what has been consumed: the caller has finished with all batches. Return whether it is
        granted anything, for which it may have waited."""
        granted, handled_s = False, time.monotonic() - self._taken_s
        if handled_s > TURN_S:
            self._most = max(LEAST_READ, self._most // 2)
        elif handled_s < TURN_S / 4:
            self._most = min(READ, 2 * self._most)
        try:
            for number, size in self.inflow.grants():
                self._wire.write(frames.window_update(number, size))
                granted = True
        except WindowExceeded:
            self._violated("it sends more than the window of a stream")
        return granted

    def _control_frame(self) -> None:
        """Take a frame that is not DATA."""
        head = self.inflow.control[: scan.FRAME_HEADER].tobytes()
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        number = int.from_bytes(head[5:], "big") & frames.MAX_WINDOW
        payload = self.inflow.control[scan.FRAME_HEADER : scan.FRAME_HEADER + length].tobytes()
        if not self.settled and (kind != frames.SETTINGS or flags & frames.ACK):
            self._violated("its first frame is not SETTINGS")
        if self._block and (kind != frames.CONTINUATION or number != self._block[0]):
            self._violated("headers are interrupted by another frame")
        if kind in (frames.HEADERS, frames.CONTINUATION):
            self._take_headers(kind, number, flags, payload)
        elif kind == frames.PUSH_PROMISE:
            self._violated("it pushes, which was refused")
        elif length < (size := _SIZES.get(kind, 0)) or (kind in _EXACT and length != size):
            self._violated(f"a frame of type {kind} has {length} bytes")
        elif kind == frames.SETTINGS and not flags & frames.ACK:
            self._take_settings(payload)
        elif kind == frames.PING and not flags & frames.ACK:
            self._wire.write(frames.frame(frames.PING, frames.ACK, 0, payload))
        elif kind == frames.RST_STREAM:
            self._end(number, frames.status_of_reset(int.from_bytes(payload, "big")))
        elif kind == frames.WINDOW_UPDATE:
            self._take_window(number, int.from_bytes(payload, "big") & frames.MAX_WINDOW)
        elif kind == frames.GOAWAY:
            self._take_goaway(int.from_bytes(payload[4:8], "big"), payload[8:])

    def _take_headers(self, kind: int, number: int, flags: int, payload: bytes) -> None:
        block: bytearray | None = None
        if kind == frames.HEADERS:
            block = frames.unpadded(flags, payload)
        elif self._block:
            flags, block = flags | self._block[1], self._block[2]
            block += payload
        if block is None or len(block) > MAX_HEADERS:
            self._violated("headers are too long, too padded, or continue nothing")
        self._block = None if flags & frames.END_HEADERS else (number, flags, block)
        if self._block is None:
            self._answer(number, bool(flags & frames.END_STREAM), self._decoded(bytes(block)))

    def _decoded(self, block: bytes) -> list[tuple[bytes, bytes]]:
        try:
            return [(bytes(name), bytes(text)) for name, text in self._hpack.decode(block, raw=True)]
        except hpack.HPACKError as error:
            self._violated(f"headers cannot be decoded ({str(error)[:MOST_WORDS]})")

    def _answer(self, number: int, ends: bool, headers: list[tuple[bytes, bytes]]) -> None:
        """Take headers or trailers of an answer. Those of HTTP's interim answers (1xx) say nothing."""
        status, kind = (dict(headers).get(name, b"") for name in (b":status", b"content-type"))
        if ends or (status and status[:1] not in b"12"):
            self._end(number, frames.status_of(headers), resets=not ends)
        elif status[:1] == b"2" and not kind.startswith(b"application/grpc"):
            words = f"content type {kind[:80].decode('ascii', 'replace')!r} is not gRPC's"
            self._end(number, Status("UNKNOWN", words), resets=True)

    def _end(self, number: int, status: Status, *, resets: bool = False) -> None:
        """Note how a stream ended, once. resets: it is we who end it."""
        stream = self._streams.get(number)
        if stream and not stream.status:
            stream.status = status
            if resets:
                self._wire.write(frames.reset(number, frames.CANCEL))

    def _take_settings(self, payload: bytes) -> None:
        if len(payload) % 6:
            self._violated("SETTINGS have a part of a setting")
        for key, value in struct.iter_unpack(">HI", payload):
            if key == frames.INITIAL_WINDOW_SIZE:
                if value > frames.MAX_WINDOW:
                    self._violated(f"its initial window is {value:,} bytes")
                for stream in self._streams.values():
                    stream.window += value - self._peer_window
                self._peer_window = value
            elif key == frames.MAX_CONCURRENT_STREAMS:
                self.max_streams = value
        self._wire.write(frames.frame(frames.SETTINGS, frames.ACK, 0))
        self.settled = True
        self._send_all()

    def _take_window(self, number: int, size: int) -> None:
        stream = self._streams.get(number)
        if number == 0:
            self._send_window += size
        elif stream:
            stream.window += size
        if not size or max(self._send_window, stream.window if stream else 0) > frames.MAX_WINDOW:
            self._violated(f"it adds {size:,} bytes to a window")
        self._send_all()

    def _send_all(self) -> None:
        for number, stream in self._streams.items():
            self._send(number, stream)

    def _take_goaway(self, code: int, words: bytes) -> None:
        said = " ".join(words[:MOST_WORDS].decode("ascii", "replace").split())
        self.goaway = GoneAway(code, f"{frames.error_name(code)}{f': {said}' if said else ''}")

    def ping(self) -> None:
        """Ask the peer for a sign of life."""
        self._wire.write(frames.frame(frames.PING, 0, 0, bytes(8)))

    def close(self) -> None:
        """Tell the peer that nothing more is wanted, and close the connection."""
        self._wire.write(frames.goaway(frames.NO_ERROR))
        self._wire.close()

    def _violated(self, problem: str) -> NoReturn:
        self._wire.write(frames.goaway(frames.PROTOCOL_ERROR))
        raise ProtocolViolation(problem)
