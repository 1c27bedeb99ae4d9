"""What streams have received and nobody has consumed: its memory, its messages and the flow control that bounds it.

Each stream has a region in one store. Its window is its receive buffer: bytes of messages that the caller has not
finished with are not granted again, nor are those of a message that is incomplete, unless it is larger than the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.telemetry.receive import frames, scan
from railfab.telemetry.receive.contract import Batch
from railfab.telemetry.receive.wire import READ

MAX_MESSAGE = 64 << 20
"""Largest message that is received [bytes]."""
REGION = 2 * READ
"""Space of a stream in the store at first [bytes]. Memory that is not written is not taken from the system."""
KEPT = 16 * READ
"""Space that a stream keeps when a large message is gone [bytes]."""


class WindowExceeded(Exception):
    """The peer sends more than the window of a stream."""


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


class Inflow:
    """The streams 1, 3, 5 ... of a connection, each with this window [bytes]; the connection itself is number 0.

    least: bytes that the stream with the least window may send still. control: where the scan puts a frame that is not
    DATA. initial: what the connection is granted at the begin.
    """

    def __init__(self, shared: Shared, streams: int, window: int) -> None:
        self._shared, self._window = shared, window
        self._state = np.zeros(scan.STREAMS + streams * scan.ROW, np.int64)
        self._state[scan.NEED] = scan.FRAME_HEADER
        self._fields = self._state.data
        self.control = np.empty(scan.FRAME_HEADER + scan.MAX_FRAME, np.uint8)
        self.store = np.empty(streams * REGION, np.uint8)
        self._rows: dict[int, int] = {}
        for slot in range(streams):
            number = 2 * slot + 1
            row = self._rows[number] = scan.STREAMS + slot * scan.ROW
            self._fields[row + scan.ID] = number
            self._place(row, slot * REGION, REGION)
        self._past = 0  # bytes received of streams that have ended
        self._spare = max(window, frames.INITIAL_WINDOW)  # so that only the windows of streams ever hold back
        self.initial = streams * window + self._spare
        self._granted = {0: self.initial, **dict.fromkeys(self._rows, window)}
        self.least = window

    def begin(self) -> None:
        """Take what was read from its start."""
        self._fields[scan.AT] = 0

    def scan(self, count: int) -> int:
        """Take bytes of what was read, up to this one; a result of `scan`, never SPACE."""
        while True:
            result = scan.scan(
                self._shared.incoming, count, self.control, self._state, self.store, self._shared.bounds, MAX_MESSAGE
            )
            if result != scan.SPACE:
                return int(result)
            row = scan.STREAMS + self._fields[scan.SLOT] * scan.ROW
            self._resize(row, min(2 * self._space(row), MAX_MESSAGE + REGION))

    @property
    def has_data(self) -> bool:
        """Whether bytes of DATA have come."""
        fields = self._fields
        received = sum(fields[row + scan.RECEIVED] for row in self._rows.values())
        return received + self._past + fields[scan.DISCARDED] > 0

    @property
    def current(self) -> int:
        """The stream of the DATA frame that was read last; -1 where it is not open."""
        slot = self._fields[scan.SLOT]
        return self._fields[scan.STREAMS + slot * scan.ROW + scan.ID] if slot >= 0 else -1

    def too_large(self) -> list[int]:
        """The streams whose next message is larger than the maximum."""
        most = scan.MESSAGE_HEADER + MAX_MESSAGE
        return [number for number, row in self._rows.items() if self._size_of_first(row) > most]

    def batches(self) -> list[tuple[int, Batch]]:
        """The messages that the last read made complete, by stream."""
        found = []
        for number, row in self._rows.items():
            first, last = self._fields[row + scan.FIRST], self._fields[row + scan.LAST]
            if last > first:
                bounds = self._shared.bounds[2 * first : 2 * last].reshape(-1, 2).copy()
                found.append((number, Batch((row - scan.STREAMS) // scan.ROW, self.store, bounds)))
        return found

    def add(self, slot: int, number: int) -> None:
        """Put a new stream in the place of one that was dropped."""
        row = self._rows[number] = scan.STREAMS + slot * scan.ROW
        self._fields[row + scan.ID], self._fields[row + scan.RECEIVED] = number, 0
        self._granted[number] = self._window
        self._resize(row, REGION)

    def drop(self, number: int) -> None:
        """Forget a stream, which has ended."""
        row = self._rows.pop(number)
        del self._granted[number]
        self._past += self._fields[row + scan.RECEIVED]
        if self.current == number:
            self._fields[scan.SLOT] = -1
        self._fields[row + scan.ID] = -1
        self._place(row, self._fields[row + scan.START], 0)

    def grants(self) -> Iterator[tuple[int, int]]:
        """Streams, and the bytes that each may send from now on besides, in steps of half a window; the caller has
        finished with all batches. Raises WindowExceeded."""
        fields, step = self._fields, self._window // 2
        total = self._spare + self._past + fields[scan.DISCARDED]
        self.least = self._window
        for number, row in self._rows.items():
            held, received = fields[row + scan.FILLED] - fields[row + scan.NEXT], fields[row + scan.RECEIVED]
            granted = self._granted[number]
            if received > granted:
                raise WindowExceeded
            head = self._size_of_first(row)
            limit = received - held + self._window + (head if head > self._window else 0)
            total += limit
            if limit - granted >= step or received - held + head > granted:
                self._granted[number] = limit
                yield number, limit - granted
            self.least = min(self.least, self._granted[number] - received)
            if self._space(row) > KEPT and max(held, head) < REGION:
                self._resize(row, REGION)
        if total - self._granted[0] >= step:
            self._granted[0], granted = total, self._granted[0]
            yield 0, total - granted

    def _size_of_first(self, row: int) -> int:
        """The size of the message that is incomplete, with its header; 0 where the header is."""
        begin, end = self._fields[row + scan.NEXT], self._fields[row + scan.FILLED]
        if end - begin < scan.MESSAGE_HEADER:
            return 0
        return scan.MESSAGE_HEADER + int.from_bytes(self.store[begin + 1 : begin + 5].tobytes(), "big")

    def _space(self, row: int) -> int:
        return self._fields[row + scan.END] - self._fields[row + scan.START]

    def _place(self, row: int, start: int, size: int) -> None:
        fields = self._fields
        fields[row + scan.START] = fields[row + scan.FILLED] = fields[row + scan.NEXT] = start
        fields[row + scan.END] = start + size

    def _resize(self, changed: int, size: int) -> None:
        """Move what is held of all streams to a new store, where one stream has another size."""
        fields, old = self._fields, self.store
        sizes = {row: size if row == changed else self._space(row) for row in self._rows.values()}
        self.store, start = np.empty(sum(sizes.values()), np.uint8), 0
        for row, space in sizes.items():
            begin, filled = fields[row + scan.NEXT], fields[row + scan.FILLED]
            self._place(row, start, space)
            fields[row + scan.FILLED] = start + filled - begin
            self.store[start : start + filled - begin] = old[begin:filled]
            start += space
