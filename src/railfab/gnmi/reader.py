"""Reading of targets for calls on an event loop, which must not wait for a device or a lock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import NamedTuple, TypeVar

from railfab.gnmi.paths import Element
from railfab.gnmi.target import PartialTarget, Readable, TargetView

T = TypeVar("T")


class _Refresh(NamedTuple):
    """A refresh in a worker thread. began_s: monotonic time of its start [s]."""

    began_s: float
    future: asyncio.Future[TargetView]


class ViewReader:
    """The views of one target for all calls on one event loop; calls at the same time share a refresh."""

    def __init__(self, target: Readable, workers: Executor, *, answering: asyncio.Event | None = None) -> None:
        self._target = target
        self._workers = workers
        self._refresh: _Refresh | None = None
        self._parts: dict[int, ViewReader] = {}
        self._answering = answering or asyncio.Event()
        if answering is None:
            self._answering.set()

    def part(self, paths: Sequence[tuple[Element, ...]]) -> ViewReader:
        """The reader of what is asked for at these paths: this one, or that of a part of its target."""
        part = self._target.part(paths) if isinstance(self._target, PartialTarget) else self._target
        if part is self._target:
            return self
        if id(part) not in self._parts:
            self._parts[id(part)] = ViewReader(part, self._workers, answering=self._answering)
        return self._parts[id(part)]

    def hang(self) -> None:
        """Answer nothing from now on, until `resume`; on the loop."""
        self._answering.clear()

    def resume(self) -> None:
        """Answer again what waits and what comes; on the loop."""
        self._answering.set()

    @property
    def hanging(self) -> bool:
        return not self._answering.is_set()

    async def answering(self) -> None:
        """Wait while the target hangs."""
        await self._answering.wait()

    @property
    def change_age_s(self) -> float:
        return self._target.change_age_s

    async def view(self, max_age_s: float) -> TargetView:
        """A view of the target that is no older than this and shows every change before the call.

        While the target hangs, there is none.
        """
        await self.answering()
        asked_s = time.monotonic()
        held = self._target.view(max_age_s)
        while held is None and (running := self._refresh) is not None and not running.future.done():
            newest = await asyncio.shield(running.future)
            waited_s = time.monotonic() - asked_s
            held = newest if running.began_s >= asked_s else self._target.view(max_age_s + waited_s)
        return held if held is not None else await self._refreshed()

    async def work(self, task: Callable[[], T]) -> T:
        """Run a task that takes milliseconds in a worker thread; its result."""
        return await asyncio.get_running_loop().run_in_executor(self._workers, task)

    async def _refreshed(self) -> TargetView:
        future = asyncio.ensure_future(self.work(self._target.refresh))
        self._refresh = _Refresh(time.monotonic(), future)
        future.add_done_callback(self._ended)
        return await asyncio.shield(future)

    def _ended(self, future: asyncio.Future[TargetView]) -> None:
        if self._refresh is not None and self._refresh.future is future:
            self._refresh = None
        if not future.cancelled():
            future.exception()  # mark it as retrieved: the waiting calls may have been cancelled
