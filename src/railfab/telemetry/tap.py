"""A tap: writes what targets send, as received, to files that replay.py reads.

A file is one gzip stream of MAGIC and records: HEAD (length of what follows the checksum, CRC-32 of it, arrival as Unix
time [ns], index of the RPC, length of the name), the name of the target in UTF-8, and one SubscribeResponse. It is
flushed at whole records, so that of a collector that was killed at most FLUSH_S are missing.
"""

from __future__ import annotations

import logging
import os
import struct
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, BinaryIO

from railfab.endpoints import Credentials, Endpoint, give_to_caller
from railfab.errors import RailfabError
from railfab.gnmi import messages
from railfab.telemetry.receive.contract import Ask, Batch, Receiver, RpcEnded, ignored

logger = logging.getLogger(__name__)

MAGIC = b"railfab tap 1\n"
HEAD = struct.Struct("<IIqIH")
CHECKED_AT = 8
"""Where in HEAD the bytes begin that length and checksum are about."""
GZIP = 31
"""wbits of zlib for a gzip stream with its header and checksum."""
FLUSH_S = 1.0
MOST_BYTES = 1024 * 1024 * 1024
FILES = 4


class TapError(RailfabError):
    """A recording cannot be written or read."""


class Tap:
    """Writes records to a file; a full one is renamed to FILE.1, the one before to FILE.2, and the oldest is deleted.

    most_bytes: of all the files together. An error of the disk is logged, and ends the recording and nothing else.
    """

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES, files: int = FILES) -> None:
        self._path = path
        self._file_bytes = most_bytes // files
        self._files = files
        try:
            self._open()
        except OSError as error:
            problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
            raise TapError(str(path), problem, "Name a file in a folder that you may write to") from None

    def write(self, target: str, batch: Batch, arrival_ns: int) -> None:
        """Append the messages of a batch. arrival_ns: Unix time [ns]."""
        if self._file is None:
            return
        name = target.encode()
        try:
            for start, end in batch.bounds.tolist():
                self._append(arrival_ns, batch.rpc, name, batch.buffer[start:end].tobytes())
            if time.monotonic() - self._flushed_s >= FLUSH_S:
                self.flush()
            if self._written >= self._file_bytes:
                self._finish()
                self._open()
        except OSError as error:
            logger.error("%s: the recording has ended (%s)", self._path, (error.strerror or str(error)).lower())
            self._abandon()

    def flush(self) -> None:
        """Hand all records to the operating system."""
        if self._file is not None:
            self._put(self._packer.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()
            self._flushed_s = time.monotonic()

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            try:
                self._finish()
            except OSError as error:
                logger.error("%s: the recording is cut off (%s)", self._path, (error.strerror or str(error)).lower())
                self._abandon()

    def _append(self, arrival_ns: int, rpc: int, name: bytes, message: bytes) -> None:
        checked = HEAD.pack(0, 0, arrival_ns, rpc, len(name))[CHECKED_AT:] + name + message
        head = HEAD.pack(len(checked), zlib.crc32(checked), arrival_ns, rpc, len(name))
        self._put(self._packer.compress(head + checked[HEAD.size - CHECKED_AT :]))

    def _put(self, packed: bytes) -> None:
        assert self._file is not None
        self._file.write(packed)
        self._written += len(packed)

    def _open(self) -> None:
        for number in range(self._files - 1, 0, -1):
            with suppress(FileNotFoundError):
                numbered(self._path, number - 1).replace(numbered(self._path, number))
        self._file: BinaryIO | None = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        give_to_caller(self._path)
        self._packer = zlib.compressobj(1, zlib.DEFLATED, GZIP)
        self._written = 0
        self._put(self._packer.compress(MAGIC))
        self.flush()

    def _finish(self) -> None:
        assert self._file is not None
        self._put(self._packer.flush())
        self._file.close()
        self._file = None

    def _abandon(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()


def numbered(path: Path, number: int) -> Path:
    """The file of a recording that is so many files old."""
    return path.with_name(f"{path.name}.{number}") if number else path


class Tapped:
    """A receiver whose batches a tap writes before they are looked at."""

    def __init__(self, receiver: Receiver, tap: Tap) -> None:
        self._receiver = receiver
        self._tap = tap

    @property
    def needs_login(self) -> bool:
        """Whether the receiver uses the credentials."""
        return self._receiver.needs_login

    def name_of(self, endpoint: Endpoint) -> str:
        """The name of the receiver."""
        return self._receiver.name_of(endpoint)

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch | RpcEnded, Any]:
        """Stream what the receiver does."""
        async with aclosing(self._receiver.stream(endpoint, credentials, requests, connected)) as stream:
            async for found in stream:
                if isinstance(found, Batch):
                    self._tap.write(endpoint.name, found, time.time_ns())
                yield found
