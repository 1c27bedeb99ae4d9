"""Recordings of a tap: read their records, and stream them as a receiver does."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import Unreachable
from railfab.gnmi import messages
from railfab.gnmi.statuses import StreamClosed
from railfab.telemetry.receive.contract import Ask, Batch, ignored
from railfab.telemetry.tap import CHECKED_AT, GZIP, HEAD, MAGIC, TapError, numbered

CHUNK_BYTES = 65_536
MOST_RECORD_BYTES = 80 * 1024 * 1024
"""More than a message of the largest size that receivers take."""


class Record(NamedTuple):
    """One SubscribeResponse as received. arrival_ns: Unix time [ns]. rpc: index of the RPC in the requests."""

    target: str
    arrival_ns: int
    rpc: int
    message: bytes


def recording(path: Path) -> list[Path]:
    """The files of a recording, the oldest first. Raises TapError where there is none."""
    files = list(takewhile(Path.is_file, (numbered(path, number) for number in count())))
    if not files:
        raise TapError(str(path), "no such recording", "Name the file that a tap wrote")
    if not _begins_as_a_recording(path):
        raise TapError(str(path), "is not a recording", "Name the file that a tap wrote")
    return files[::-1]


def _begins_as_a_recording(path: Path) -> bool:
    """Whether the first bytes of a file are those of a recording; also of one that was cut off before them."""
    try:
        with path.open("rb") as file:
            begin = zlib.decompressobj(GZIP).decompress(file.read(CHUNK_BYTES), len(MAGIC))
    except zlib.error:
        return False
    except OSError as error:
        raise _unreadable(path, error) from None
    return MAGIC.startswith(begin)


def records(path: Path) -> Iterator[Record]:
    """The records of one file. Raises TapError after the last whole one where the file is cut off or damaged."""
    found = 0
    buffer = bytearray()
    chunks = _unpacked(path)
    try:
        while len(buffer) < len(MAGIC):
            buffer += next(chunks)
        if not buffer.startswith(MAGIC):
            raise TapError(str(path), "is not a recording", "Name the file that a tap wrote")
        del buffer[: len(MAGIC)]
        while True:
            for record in _whole(buffer):
                found += 1
                yield record
            buffer += next(chunks)
    except (_Damaged, StopIteration) as error:
        if isinstance(error, _Damaged) or buffer:
            problem = str(error) or "is cut off within a record"
            remedy = f"The {found:,} records before are whole and were read" if found else "Nothing of it can be read"
            raise TapError(str(path), problem, remedy) from None


class _Damaged(Exception):
    """What is wrong with a file, without its name."""


def _whole(buffer: bytearray) -> Iterator[Record]:
    """Take the whole records from the front of a buffer."""
    at = 0
    try:
        while len(buffer) - at >= HEAD.size:
            length, checksum, arrival_ns, rpc, name_length = HEAD.unpack_from(buffer, at)
            end = at + CHECKED_AT + length
            if not HEAD.size - CHECKED_AT + name_length <= length <= MOST_RECORD_BYTES:
                raise _Damaged("is damaged: a length is impossible")
            if end > len(buffer):
                return
            if zlib.crc32(memoryview(buffer)[at + CHECKED_AT : end]) != checksum:
                raise _Damaged("is damaged: a checksum is wrong")
            name_at, message_at = at + HEAD.size, at + HEAD.size + name_length
            at = end
            yield Record(_name(buffer[name_at:message_at]), arrival_ns, rpc, bytes(buffer[message_at:end]))
    finally:
        del buffer[:at]


def _name(raw: bytearray) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise _Damaged("is damaged: the name of a target is not text") from None


def _unpacked(path: Path) -> Iterator[bytes]:
    """What the gzip stream of a file contains, up to where it is damaged."""
    unpacker = zlib.decompressobj(GZIP)
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                before = unpacker.copy()
                try:
                    yield unpacker.decompress(chunk)
                except zlib.error:
                    yield from _up_to_the_damage(before, chunk)
    except OSError as error:
        raise _unreadable(path, error) from None
    if not unpacker.eof:
        raise _Damaged("is cut off")
    if unpacker.unused_data:
        raise _Damaged("has bytes after its end")


def _unreadable(path: Path, error: OSError) -> TapError:
    problem = f"cannot be read ({(error.strerror or str(error)).lower()})"
    return TapError(str(path), problem, "Check its name and permissions")


def _up_to_the_damage(unpacker: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    """What a chunk contains before the byte at which it is no gzip any more."""
    for byte in range(len(chunk)):
        try:
            yield unpacker.decompress(chunk[byte : byte + 1])
        except zlib.error as error:
            raise _Damaged(f"is damaged ({str(error).partition(': ')[2]})") from None


class RecordingReplay:
    """A receiver that streams a recording, for each target once.

    speed: 1 is the pace of the recording, 2 twice of it, and None as fast as it is taken. Each target reads the whole
    recording. At its end, or where a file is damaged, the stream breaks, and the target is unreachable from then on.
    """

    needs_login = False

    def __init__(self, files: Iterable[Path], *, speed: float | None = 1.0) -> None:
        self._files = tuple(files)
        self._speed = speed
        self._began_s = 0.0
        self._first_ns: int | None = None
        self._streamed: set[str] = set()

    def name_of(self, _: Endpoint) -> str:
        """The name of this receiver."""
        return "replay"

    async def stream(
        self,
        endpoint: Endpoint,
        _credentials: Credentials,
        _requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch, Any]:
        """Yield what the target of this name sent, batch by batch. Raises StreamClosed at the end, then Unreachable."""
        if endpoint.name in self._streamed:
            raise Unreachable(endpoint.name, "the recording has ended", "Start again to replay it again")
        self._streamed.add(endpoint.name)
        connected(lambda _: None)
        try:
            for found in self._together(endpoint.name):
                await asyncio.sleep(self._wait_s(found[0].arrival_ns))
                yield _batch(found)
        except TapError as error:
            raise StreamClosed(error.where, error.problem, error.remedy) from None
        raise StreamClosed(endpoint.name, "the recording has ended", "Start again to replay it again")

    def _together(self, target: str) -> Iterator[list[Record]]:
        """The records of a target that arrived together. Raises TapError after those before the damage."""
        found: list[Record] = []
        try:
            for record in self._records(target):
                if found and (record.arrival_ns, record.rpc) != (found[0].arrival_ns, found[0].rpc):
                    yield found
                    found = []
                found.append(record)
        except TapError:
            if found:
                yield found
            raise
        if found:
            yield found

    def _records(self, target: str) -> Iterator[Record]:
        for file in self._files:
            for record in records(file):
                if self._first_ns is None:
                    self._first_ns, self._began_s = record.arrival_ns, time.monotonic()
                if record.target == target:
                    yield record

    def _wait_s(self, arrival_ns: int) -> float:
        """Time until a record is due."""
        if self._speed is None or self._first_ns is None:
            return 0.0
        due_s = self._began_s + (arrival_ns - self._first_ns) / 1e9 / self._speed
        return max(0.0, due_s - time.monotonic())


def _batch(found: Sequence[Record]) -> Batch:
    ends = np.cumsum([len(record.message) for record in found], dtype=np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    buffer = np.frombuffer(bytearray().join(record.message for record in found), np.uint8)
    return Batch(found[0].rpc, buffer, np.stack((starts, ends), axis=1))
