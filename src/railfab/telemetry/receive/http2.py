"""HTTP/2 as the client of gRPC's streams: streams, flow control and everything that is not a DATA frame.

It does no input or output but through its `Wire`, and takes what was read through the compiled `scan`. The window of a
stream is its receive buffer: bytes of messages that the caller has not finished with are not granted again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import hpack
import numpy as np
from numpy.typing import NDArray

from railfab.gnmi.statuses import Status
from railfab.telemetry.receive import frames, scan
from railfab.telemetry.receive.contract import Batch
from railfab.telemetry.receive.wire import READ, Wire

MAX_MESSAGE = 64 << 20
"""Largest message that is received [bytes]."""
MAX_HEADERS = 1 << 16
"""Largest block of headers [bytes]."""
REGION = 2 * READ
"""Space of a stream in the store at first [bytes]. Memory that is not written is not taken from the system."""
KEPT = 16 * READ
"""Space that a stream keeps when a large message is gone [bytes]."""
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
class Shared:
    """Memory that the connections of one loop share, since each is done with it before the next one reads."""

    incoming: NDArray[np.uint8]
    cipher: memoryview
    bounds: NDArray[np.int64]

    @classmethod
    def new(cls, streams: int = 1024) -> Shared:
        bounds = np.empty(2 * (READ // scan.MESSAGE_HEADER + streams), np.int64)
        return cls(np.empty(READ, np.uint8), memoryview(bytearray(READ)), bounds)


@dataclass(slots=True)
class _Stream:
    """row: its row in the state. granted: bytes that the peer may have sent since the begin. window: what we may send.

    status: how it ended. started: whether an answer has begun.
    """

    row: int
    granted: int
    window: int
    unsent: bytes
    started: bool = False
    status: Status | None = None


class Connection:
    """One connection with a stream for each request. window: receive window of a stream [bytes]."""

    def __init__(self, wire: Wire, shared: Shared, streams: int, window: int) -> None:
        self._wire, self._shared, self._window = wire, shared, window
        self._incoming = shared.incoming.data
        self._state = np.zeros(scan.STREAMS + streams * scan.ROW, np.int64)
        self._state[scan.NEED] = scan.FRAME_HEADER
        self._fields = self._state.data
        self._control = np.empty(scan.FRAME_HEADER + scan.MAX_FRAME, np.uint8)
        self._store = np.empty(streams * REGION, np.uint8)
        self._streams: dict[int, _Stream] = {}
        for slot in range(streams):
            row = scan.STREAMS + slot * scan.ROW
            self._streams[2 * slot + 1] = _Stream(row, window, frames.INITIAL_WINDOW, b"")
            self._fields[row + scan.ID] = 2 * slot + 1
            self._place(row, slot * REGION, REGION)
        self._block: tuple[int, int, bytes] | None = None  # stream, flags and begin of headers that continue
        self._hpack = hpack.Decoder(MAX_HEADERS)
        self._send_window = self._peer_window = frames.INITIAL_WINDOW
        self._past = 0  # bytes received of streams that have ended
        self._spare = max(window, frames.INITIAL_WINDOW)  # so that only the windows of streams ever hold back
        self._granted = streams * window + self._spare
        self.max_streams = frames.MAX_WINDOW
        self.goaway: GoneAway | None = None
        self.settled = self._has_read = False
        self.received = 0
        wire.write(frames.PREFACE + frames.settings(self._settings()))
        wire.write(frames.window_update(0, self._granted - frames.INITIAL_WINDOW))

    def _settings(self) -> dict[int, int]:
        return {
            frames.HEADER_TABLE_SIZE: 0,
            frames.ENABLE_PUSH: 0,
            frames.INITIAL_WINDOW_SIZE: self._window,
        }

    def _place(self, row: int, start: int, size: int) -> None:
        fields = self._fields
        fields[row + scan.START] = fields[row + scan.FILLED] = fields[row + scan.NEXT] = start
        fields[row + scan.END] = start + size

    def request(self, headers: bytes, contents: list[bytes]) -> None:
        """Begin the streams, with this block of headers, and a message for each, after which they stay open."""
        for (number, stream), content in zip(self._streams.items(), contents, strict=True):
            self._headers(number, headers)
            stream.unsent = frames.message(content)
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
        count = self._wire.read(self._incoming)
        self.received += count
        self._has_read = count > 0
        fields, shared = self._fields, self._shared
        fields[scan.AT] = 0
        while count:
            result = scan.scan(
                shared.incoming, count, self._control, self._state, self._store, shared.bounds, MAX_MESSAGE
            )
            if result == scan.DONE:
                break
            if result == scan.CONTROL:
                self._control_frame()
            elif result == scan.SPACE:
                row = scan.STREAMS + fields[scan.SLOT] * scan.ROW
                self._resize(row, min(2 * (fields[row + scan.END] - fields[row + scan.START]), MAX_MESSAGE + REGION))
            elif result == scan.ENDED:
                self._end(fields[scan.SLOT] * 2 + 1, frames.status_of(()))
            elif result == scan.TOO_LARGE:
                self._end_at_large_message(fields[scan.SLOT] * 2 + 1)
                break
            else:
                self._violated(_WRONG[result])
        return count

    def _end_at_large_message(self, number: int) -> None:
        self._streams[number].started = True
        status = Status("RESOURCE_EXHAUSTED", f"a message is larger than {MAX_MESSAGE:,} bytes")
        self._end(number, status, resets=True)

    def batches(self) -> Iterator[Batch]:
        """The messages that the last read made complete."""
        fields = self._fields
        for number, stream in self._streams.items() if self._has_read else ():
            first, last = fields[stream.row + scan.FIRST], fields[stream.row + scan.LAST]
            if last > first:
                stream.started = True
                bounds = self._shared.bounds[2 * first : 2 * last].reshape(-1, 2).copy()
                yield Batch((number - 1) // 2, self._store, bounds)

    def ended(self) -> list[tuple[int, bool, Status]]:
        """The RPCs that have ended since the last call: index, whether it had answered, and status."""
        fields, over = self._fields, [pair for pair in self._streams.items() if pair[1].status]
        for number, stream in over:
            del self._streams[number]
            self._past += fields[stream.row + scan.RECEIVED]
            fields[stream.row + scan.ID] = -1
            self._place(stream.row, fields[stream.row + scan.START], 0)
            if fields[scan.SLOT] * 2 + 1 == number:
                fields[scan.SLOT] = -1
        return [((number - 1) // 2, stream.started, stream.status) for number, stream in over if stream.status]

    def grant(self) -> None:
        """Grant the peer what has been consumed, in steps of half a window; a message larger than a window at once."""
        fields, step = self._fields, self._window // 2
        total = self._spare + self._past + fields[scan.DISCARDED]
        for number, stream in self._streams.items():
            row = stream.row
            held, received = fields[row + scan.FILLED] - fields[row + scan.NEXT], fields[row + scan.RECEIVED]
            if received > stream.granted:
                self._violated("it sends more than the window of a stream")
            head = self._size_of_first(row) if held >= scan.MESSAGE_HEADER else 0
            limit = received - held + self._window + (head if head > self._window else 0)
            if limit - stream.granted >= step or received - held + head > stream.granted:
                self._wire.write(frames.window_update(number, limit - stream.granted))
                stream.granted = limit
            total += limit
            if fields[row + scan.END] - fields[row + scan.START] > KEPT and max(held, head) < REGION:
                self._resize(row, REGION)
        if total - self._granted >= step:
            self._wire.write(frames.window_update(0, total - self._granted))
            self._granted = total

    def _size_of_first(self, row: int) -> int:
        begin = self._fields[row + scan.NEXT] + 1
        return scan.MESSAGE_HEADER + int.from_bytes(self._store[begin : begin + 4].tobytes(), "big")

    def _resize(self, changed: int, size: int) -> None:
        """Move what is held of all streams to a new store, where one stream has another size."""
        fields, old, rows = self._fields, self._store, [stream.row for stream in self._streams.values()]
        sizes = {row: size if row == changed else fields[row + scan.END] - fields[row + scan.START] for row in rows}
        self._store, start = np.empty(sum(sizes.values()), np.uint8), 0
        for row, space in sizes.items():
            begin, filled = fields[row + scan.NEXT], fields[row + scan.FILLED]
            self._place(row, start, space)
            fields[row + scan.FILLED] = start + filled - begin
            self._store[start : start + filled - begin] = old[begin:filled]
            start += space

    def _control_frame(self) -> None:
        """Take a frame that is not DATA."""
        head = self._control[: scan.FRAME_HEADER].tobytes()
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        number = int.from_bytes(head[5:], "big") & frames.MAX_WINDOW
        payload = self._control[scan.FRAME_HEADER : scan.FRAME_HEADER + length].tobytes()
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
        if kind == frames.HEADERS:
            block = frames.unpadded(flags, payload)
        else:
            number, flags, begin = (number, flags | self._block[1], self._block[2]) if self._block else (0, flags, b"")
            block = begin + payload if self._block else None
        if block is None or len(block) > MAX_HEADERS:
            self._violated("headers are too long, too padded, or continue nothing")
        self._block = None if flags & frames.END_HEADERS else (number, flags, block)
        if self._block is None:
            try:
                headers = self._hpack.decode(block, raw=True)
            except hpack.HPACKError as error:
                self._violated(f"headers cannot be decoded ({error})")
            self._answer(
                number, bool(flags & frames.END_STREAM), [(bytes(name), bytes(text)) for name, text in headers]
            )

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
        said = " ".join(words[:200].decode("ascii", "replace").split())
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
