"""A collector ends in time, whatever its tasks do with a cancel."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable

import pytest
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack

from railfab.errors import RailfabError
from railfab.telemetry import fabric_collector
from railfab.telemetry.collector import END_WITHIN_S
from railfab.telemetry.session import TargetSession
from railfab.telemetry.tasks import end_task, end_tasks
from railfab.topology import Topology

LEAF = "pod1-seg1-leaf1"


async def fail() -> None:
    raise RailfabError("stream", "has failed", "Try again")


class Retrying:
    """A task like a target's session: a task group that fails, and another one after it."""

    def __init__(self) -> None:
        self.group_is_ending = asyncio.Event()
        self.group_may_end = asyncio.Event()
        self.groups = 0

    async def run(self) -> None:
        while True:
            self.groups += 1
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._end_when_allowed())
                    tasks.create_task(fail())
            except* RailfabError:
                pass
            await asyncio.sleep(0)

    async def _end_when_allowed(self) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.group_is_ending.set()
            await self.group_may_end.wait()
            raise


@pytest.mark.asyncio
async def test_a_cancel_that_arrives_while_a_task_group_ends_is_repeated() -> None:
    retrying = Retrying()
    task = asyncio.create_task(retrying.run())
    await retrying.group_is_ending.wait()
    ending = asyncio.create_task(end_tasks([task], within_s=30))
    await asyncio.sleep(0)
    retrying.group_may_end.set()
    assert await ending == set()
    assert task.cancelled()
    if sys.version_info < (3, 13):
        assert retrying.groups > 1, "this Python does not swallow the cancel: the test proves nothing"


@pytest.mark.asyncio
async def test_a_task_that_ignores_every_cancel_is_returned_when_the_time_is_over() -> None:
    ended = asyncio.Event()

    async def ignore_cancels() -> None:
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                continue

    task = asyncio.create_task(ignore_cancels(), name="deaf")
    await asyncio.sleep(0)
    assert await end_tasks([task], within_s=0.3) == {task}
    ended.set()
    await task


def ignoring(awaited: Callable[[TargetSession], Awaitable[None]]) -> Callable[[TargetSession], Awaitable[None]]:
    """Run a coroutine function again whenever it is cancelled."""

    async def run(session: TargetSession) -> None:
        while True:
            try:
                await awaited(session)
            except asyncio.CancelledError:
                continue

    return run


def test_what_does_not_end_in_time_is_named_and_left(
    topology: Topology, rack: Rack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(TargetSession, "_watch", ignoring(TargetSession._watch))
    with fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK) as collector:
        assert collector.wait_until_up(10)
        began_s = time.monotonic()
    assert time.monotonic() - began_s < END_WITHIN_S + 1
    left = f"{LEAF}, {LEAF} watch, pod1-spine1, pod1-spine1 watch: still running after 2 s, and left"
    assert left in caplog.text
    assert "Traceback" not in caplog.text
    assert collector.healthy() == {"collecting": False}


@pytest.mark.asyncio
async def test_a_task_that_failed_before_it_was_ended_leaves_no_line(caplog: pytest.LogCaptureFixture) -> None:
    """As the first event of a stream whose session is stopped in the moment in which its target is refused."""

    async def refused() -> None:
        raise ValueError("not trusted")

    task = asyncio.create_task(refused())
    await asyncio.wait({task})
    await end_task(task)
    del task
    gc.collect()
    assert caplog.records == []
