"""Common moments of waking up: one for many connections, each of which then has several messages to read."""

from __future__ import annotations

import asyncio


class Ticks:
    """Moments every_s apart, of which a loop has one timer at most, and none while nobody waits."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._waiting: list[asyncio.Future[None]] = []

    async def next(self) -> None:
        """Wait for the next moment."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_at((loop.time() // self._every_s + 1) * self._every_s, self._wake)
        moment = loop.create_future()
        self._waiting.append(moment)
        await moment

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for moment in waiting:
            if not moment.done():
                moment.set_result(None)
