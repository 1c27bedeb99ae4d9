"""A timeout for answers of a peer that a late event loop does not shorten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

COUNT_EVERY_S = 0.5
"""Interval at which the time is counted; a loop that is later than this is not listening [s]."""


@asynccontextmanager
async def listening_timeout(timeout_s: float, every_s: float = COUNT_EVERY_S) -> AsyncIterator[None]:
    """`asyncio.timeout` of which only the time counts in which the loop ran: what arrives while it is late is read
    before the time ends. every_s: how often the time is counted."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer: asyncio.Handle | None = None

        def count(left_s: float, due_s: float) -> None:
            nonlocal timer
            if left_s <= 0 and loop.time() - due_s < every_s:
                return limit.reschedule(loop.time())
            step_s = min(left_s, every_s) if left_s > 0 else every_s
            timer = loop.call_later(step_s, count, left_s - step_s, loop.time() + step_s)
            return None

        timer = loop.call_soon(count, timeout_s, loop.time())
        try:
            yield
        finally:
            timer.cancel()
