"""Ending of asyncio tasks that cannot hang."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

CANCEL_EVERY_S = 0.2


async def end_tasks(tasks: Iterable[asyncio.Task[Any]], *, within_s: float) -> set[asyncio.Task[Any]]:
    """Cancel tasks until each has ended; return those that still run after within_s.

    One cancel is not enough: on Python 3.11 a task group that is ending because a task of it failed swallows a cancel
    that arrives while it ends, and the task continues (github.com/python/cpython/issues/116720).
    """
    loop = asyncio.get_running_loop()
    until_s = loop.time() + within_s
    running = set(tasks)
    while running and (left_s := until_s - loop.time()) > 0:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=min(CANCEL_EVERY_S, left_s))
    return running


async def end_task(task: asyncio.Future[Any]) -> None:
    """Cancel a task until it has ended. A cancel of the caller ends the task first and is then raised.

    An error of the task is left to the caller; asyncio does not log one that the caller has no use for any more.
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=CANCEL_EVERY_S)
        except asyncio.CancelledError as error:
            cancelled = error
    if not task.cancelled():
        task.exception()
    if cancelled is not None:
        raise cancelled
