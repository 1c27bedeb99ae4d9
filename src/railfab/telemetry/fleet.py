"""The sessions of all targets in one event loop: targets come, change and go while the others stream."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from railfab.telemetry.budget import SeriesBudget, most_series
from railfab.telemetry.dials import Dials
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.receive.contract import Receiver
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.session import TargetSession
from railfab.telemetry.store import NO_SPEEDS
from railfab.telemetry.targets.spec import Diff, TargetSpec, diff
from railfab.telemetry.tasks import end_tasks

END_WITHIN_S = 10.0
"""Time for the session of a target that was removed to end."""


class Fleet:
    """Sessions by target. `apply` is called in the thread of the loop, or before `start`.

    speeds_gbps: designed speeds of ports, by device, then interface. Sessions that `apply` adds before `start` wait for
    it; their health metrics exist from then on.
    """

    def __init__(
        self,
        receiver: Receiver,
        clock: LoopClock,
        *,
        interval_s: float,
        policy: RetryPolicy,
        speeds_gbps: Mapping[str, Mapping[str, float]],
    ) -> None:
        self._receiver, self._clock = receiver, clock
        self._interval_s, self._policy, self._speeds_gbps = interval_s, policy, speeds_gbps
        self._budget = SeriesBudget(policy.max_series or most_series(0))
        self._dials = Dials(policy.dials, policy.dials_per_s, clock.not_overloaded)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[Any]] = set()
        self._defect: asyncio.Future[None] | None = None
        self.specs: dict[str, TargetSpec] = {}
        self.sessions: tuple[TargetSession, ...] = ()

    def apply(self, specs: Iterable[TargetSpec]) -> Diff:
        """Stream from exactly these targets; what has not changed stays untouched. Return what has.

        The series of a target that is removed, or changed, end at once.
        """
        wanted = {spec.name: spec for spec in specs}
        changes = diff(self.specs.values(), wanted.values())
        kept = {session.name: session for session in self.sessions}
        for spec in (*changes.removed, *changes.changed):
            kept[spec.name].store.release()
            if (task := self._tasks.pop(spec.name, None)) is not None:
                self._finish(task)
        new = {spec.name: self._session(spec) for spec in (*changes.added, *changes.changed)}
        self.specs = wanted
        self._budget.most = self._policy.max_series or most_series(len(wanted))
        self.sessions = tuple(new.get(name) or kept[name] for name in wanted)
        if self._defect is not None:
            for session in new.values():
                self._run(session)
        return changes

    async def start(self) -> asyncio.Future[None]:
        """Run all sessions; return what ends only with the exception of a session that had a defect."""
        self._defect = asyncio.get_running_loop().create_future()
        for session in self.sessions:
            self._run(session)
        return self._defect

    def _session(self, spec: TargetSpec) -> TargetSession:
        return TargetSession(
            spec,
            self._receiver,
            interval_s=self._interval_s,
            policy=self._policy,
            clock=self._clock,
            dials=self._dials,
            budget=self._budget,
            designed_gbps=self._speeds_gbps.get(spec.name, NO_SPEEDS),
        )

    def _run(self, session: TargetSession) -> None:
        task = asyncio.create_task(session.run(), name=session.name)
        self._tasks[session.name] = task
        task.add_done_callback(self._ended)

    def _finish(self, task: asyncio.Task[None]) -> None:
        """Cancel a session until it has ended, since one cancel may be swallowed (see tasks.py)."""
        ending = asyncio.create_task(end_tasks((task,), within_s=END_WITHIN_S), name=f"end of {task.get_name()}")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A session only ends by itself where it has a defect; the traceback of which is wanted."""
        if task.cancelled() or self._defect is None or self._defect.done():
            return
        if (error := task.exception()) is not None:
            self._defect.set_exception(error)
