"""Threads that read RPCs whose calls block, and the event loop that takes what they have read at common moments."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

MOST_UNREAD = 1 << 18
"""Bytes of an RPC that wait to be taken before it is read no more."""
COALESCE_S = 0.05
"""Time between two moments at which what has been read is taken [s]."""
PAUSE_S = 0.2
"""Pause of a reader whose messages trickle [s]."""
AT_ONCE_S = 0.002
"""A message that comes within this time had arrived before it was asked for [s]."""
TRIED_AFTER = 64
"""Messages after which a pause is tried again, if the last one did not bring several at once: on a slow machine no
message comes at once, and pauses would only delay them."""
END_WITHIN_S, POLL_S = 2.0, 0.002
"""Time for the threads to end, and how often that is looked at [s]."""


class Call:
    """The messages that an RPC sends: an iterator for gRPC, in whose thread it waits."""

    def __init__(self, first: bytes) -> None:
        self._sent: SimpleQueue[bytes | None] = SimpleQueue()
        self.send(first)

    def send(self, content: bytes) -> None:
        self._sent.put(content)

    def end(self) -> None:
        """Send nothing more."""
        self._sent.put(None)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        content = self._sent.get()
        if content is None:
            raise StopIteration
        return content


class RpcReader:
    """Reads one RPC in a thread. started: whether it has answered. error: how it has ended, None for OK.

    What is between the thread and the loop has one writer each: messages, `_read` and `_waited_s` the thread, the
    others the loop.
    """

    def __init__(self, call: Call, begin: Callable[[Call], Any], wake: Callable[[bool], None]) -> None:
        self.started = self.ended = self.reported = False
        self.error: Exception | None = None
        self.call = call
        self._wake = wake
        self._messages: deque[bytes] = deque()
        self._read = self._taken = 0
        self._waited_s = self._told_s = 0.0
        self._has_space, self._stopping = threading.Event(), threading.Event()
        self._responses = begin(call)
        self.thread = threading.Thread(target=self._run, name="railfab-reader", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self._read_all()
        except Exception as error:  # noqa: BLE001 (raised in the loop)
            self.error = error
        self.ended = True
        self.call.end()
        self._wake(True)

    def _read_all(self) -> None:
        """Read until the RPC ends, with pauses: a wake-up for each message costs more than the message."""
        append, wake, now_s = self._messages.append, self._wake, time.monotonic
        read = at_once = 0
        asked_s = now_s()
        for content in self._responses:
            waited = now_s() - asked_s > AT_ONCE_S
            append(content)
            self._read += len(content)
            self.started = True
            read, at_once = read + 1, at_once + (not waited)
            if waited and (at_once > 1 or read > TRIED_AFTER):
                self._stopping.wait(PAUSE_S)  # what comes meanwhile is taken together with this message
                read = at_once = 0
            unread = self._read - self._taken
            wake(unread > MOST_UNREAD // 2)
            if unread > MOST_UNREAD:
                self._wait_for_space()
            asked_s = now_s()

    def _wait_for_space(self) -> None:
        began_s = time.monotonic()
        while self._read - self._taken > MOST_UNREAD and not self._stopping.is_set():
            self._has_space.clear()
            if self._read - self._taken > MOST_UNREAD and not self._stopping.is_set():
                self._has_space.wait()
        self._waited_s += time.monotonic() - began_s

    def take(self) -> list[bytes]:
        """What was read since the last call."""
        found = [self._messages.popleft() for _ in range(len(self._messages))]
        self._taken += sum(map(len, found))
        self._has_space.set()
        return found

    def waited_s(self) -> float:
        """How long nothing was read since there was no space, in all since the last call [s]."""
        total_s = self._waited_s
        waited_s, self._told_s = total_s - self._told_s, total_s
        return waited_s

    def stop(self) -> None:
        """Cancel the RPC; the thread ends soon."""
        self._stopping.set()
        self._has_space.set()
        self._responses.cancel()
        self.call.end()


class Readers:
    """The readers of one connection, by RPC; an async context manager that leaves no thread.

    begin: makes an RPC, of what it sends.
    """

    def __init__(self, begin: Callable[[Call], Any]) -> None:
        self._begin = begin
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._readers: dict[int, RpcReader] = {}
        self._woken = self._hurried = False
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer:
            self._timer.cancel()
        readers = self._readers.values()
        for reader in readers:
            reader.stop()
        until_s = self._loop.time() + END_WITHIN_S
        while any(reader.thread.is_alive() for reader in readers) and self._loop.time() < until_s:
            await asyncio.sleep(POLL_S)

    def add(self, rpc: int, call: Call) -> None:
        """Make an RPC, in place of the one of this number, which has ended."""
        self._readers[rpc] = RpcReader(call, self._begin, self._wake)

    def send(self, rpc: int, content: bytes) -> None:
        """Send a further message of an RPC."""
        self._readers[rpc].call.send(content)

    async def ready(self) -> list[tuple[int, RpcReader, bool]]:
        """Wait until something has been read or has ended: the readers, and whether each has just ended."""
        await self._arrived.wait()
        self._arrived.clear()
        self._woken = self._hurried = False
        found = []
        for rpc, reader in self._readers.items():
            if not reader.reported:
                reader.reported = reader.ended
                found.append((rpc, reader, reader.reported))
        return found

    def _wake(self, hurries: bool) -> None:
        """Have what was read be taken at the next common moment, or now; in the threads of readers."""
        if self._hurried or (self._woken and not hurries):
            return
        self._woken, self._hurried = True, hurries
        with suppress(RuntimeError):  # of a loop that has been closed
            self._loop.call_soon_threadsafe(self._arrived.set if hurries else self._wait)

    def _wait(self) -> None:
        moment_s = (self._loop.time() // COALESCE_S + 1) * COALESCE_S
        self._timer = self._loop.call_at(moment_s, self._arrived.set)
