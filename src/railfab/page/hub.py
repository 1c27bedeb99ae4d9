"""The browsers that listen, each with a bounded queue of what was encoded once for all of them."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

QUEUED = 8
"""Ticks that a slow browser may be behind; then it begins anew with a whole frame."""
ALIVE_S = 10.0
"""A comment is sent after so long without an event, so that either end notices a connection that is gone [s]."""
RETRY_MS = 1000
"""Time after which a browser connects again."""
ALIVE = b": alive\n\n"


def event(name: str, document: Mapping[str, Any] | str, number: int | None = None) -> bytes:
    """A server-sent event. document: or its JSON. number: for `Last-Event-ID`."""
    text = document if isinstance(document, str) else json.dumps(document, separators=(",", ":"))
    identity = "" if number is None else f"id: {number}\n"
    return f"{identity}event: {name}\ndata: {text}\n\n".encode()


@dataclass(eq=False)
class _Listener:
    """One browser. behind: whether it has missed something, and needs a whole frame."""

    waiting: deque[bytes] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    behind: bool = True


class Hub:
    """Sends the same bytes to every browser. Used in the thread of its event loop alone.

    begin: the first bytes of a connection, and those after a gap: the whole state; empty before there is one.
    """

    def __init__(self, begin: Callable[[], bytes], *, most_listeners: int) -> None:
        self._begin, self._most = begin, most_listeners
        self._listeners: set[_Listener] = set()
        self._ended = False

    @property
    def is_full(self) -> bool:
        """Whether no further browser is taken."""
        return len(self._listeners) >= self._most

    def publish(self, parts: Sequence[bytes]) -> None:
        """Send to all that listen. One that is QUEUED behind loses what it has not taken, and begins anew."""
        joined = b"".join(parts)
        for listener in self._listeners:
            if listener.behind:
                listener.arrived.set()
                continue
            if len(listener.waiting) >= QUEUED:
                listener.waiting.clear()
                listener.behind = True
            else:
                listener.waiting.append(joined)
            listener.arrived.set()

    def close(self) -> None:
        """End every stream."""
        self._ended = True
        for listener in self._listeners:
            listener.arrived.set()

    async def listen(self) -> AsyncGenerator[bytes]:
        """What one browser is sent, until it leaves or the hub is closed."""
        listener = _Listener()
        self._listeners.add(listener)
        try:
            yield f"retry: {RETRY_MS}\n\n".encode()
            while not self._ended:
                if listener.behind and (whole := self._begin()):
                    listener.behind = False
                    yield whole
                while listener.waiting:
                    yield listener.waiting.popleft()
                with suppress(TimeoutError):
                    await asyncio.wait_for(listener.arrived.wait(), ALIVE_S)
                if not listener.arrived.is_set():
                    yield ALIVE
                listener.arrived.clear()
        finally:
            self._listeners.discard(listener)
