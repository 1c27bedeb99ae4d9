"""The limit of dials: so many connections in the making, so many begun in a second, and none in an overload."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from types import TracebackType

BURST_S = 0.5
"""So many seconds' worth of dials may begin at once after a pause."""


async def at_once() -> None:
    """Wait for nothing."""


class Dials:
    """An asynchronous context manager around each dial, shared by the targets of one event loop.

    most: connections in the making at one time. per_s: dials that begin in a second, so that all targets which come
    back at once are no storm of connections. allowed: returns once one may begin.
    """

    def __init__(self, most: int, per_s: float = math.inf, allowed: Callable[[], Awaitable[None]] = at_once) -> None:
        self._places, self._allowed = asyncio.Semaphore(most), allowed
        self._every_s = 1.0 / per_s
        self._next_s = -math.inf

    async def __aenter__(self) -> None:
        await self._places.acquire()
        try:
            await self._allowed()
            await asyncio.sleep(self._wait_s(asyncio.get_running_loop().time()))
        except asyncio.CancelledError:
            self._places.release()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._places.release()

    def _wait_s(self, now_s: float) -> float:
        """The time until a dial may begin, which is counted as begun then."""
        begins_s = max(self._next_s, now_s - BURST_S)
        self._next_s = begins_s + self._every_s
        return max(0.0, begins_s - now_s)
