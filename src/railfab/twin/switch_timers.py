"""Jobs of a virtual switch that run at a later time, such as the rollback of a change that nobody confirms."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from railfab.errors import RailfabError

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    """One job. due_s: when it runs, monotonic [s]. overdue: its time came while the switch hung."""

    due_s: float
    action: Callable[[], None]
    timer: threading.Timer
    overdue: bool = False


class SwitchTimers:
    """The jobs of one switch, by name. Thread-safe; an action runs in a thread of its own, without a lock held.

    They end with the power of the switch, and wait while it hangs.
    """

    def __init__(self, switch: str) -> None:
        self._switch = switch
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._hangs = False

    def schedule(self, name: str, within_s: float, action: Callable[[], None]) -> None:
        """Run an action after this time; in place of the job of that name."""
        timer = threading.Timer(within_s, lambda: self._run(name, timer))
        timer.daemon = True
        with self._lock:
            self._remove(name)
            self._jobs[name] = _Job(time.monotonic() + within_s, action, timer)
            timer.start()

    def cancel(self, name: str) -> bool:
        """Remove a job; whether there was one that had not begun."""
        with self._lock:
            return self._remove(name)

    def left_s(self, name: str) -> float | None:
        """Time until a job runs [s]; None when there is none."""
        job = self._jobs.get(name)
        return None if job is None else max(job.due_s - time.monotonic(), 0.0)

    def clear(self) -> None:
        """Remove all jobs."""
        with self._lock:
            self._hangs = False
            for name in tuple(self._jobs):
                self._remove(name)

    def hang(self) -> None:
        """Let jobs whose time comes wait until `resume`."""
        with self._lock:
            self._hangs = True

    def resume(self) -> None:
        """Run the jobs whose time came meanwhile."""
        with self._lock:
            self._hangs = False
            overdue = [(name, job.timer) for name, job in self._jobs.items() if job.overdue]
        for name, timer in overdue:
            self._run(name, timer)

    def _remove(self, name: str) -> bool:
        job = self._jobs.pop(name, None)
        if job is not None:
            job.timer.cancel()
        return job is not None

    def _run(self, name: str, timer: threading.Timer) -> None:
        """Run a job, unless it has been removed or replaced meanwhile."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None or job.timer is not timer:
                return
            if self._hangs:
                job.overdue = True
                return
            del self._jobs[name]
        try:
            job.action()
        except RailfabError as error:
            logger.error("%s: job %s failed: %s", self._switch, name, error)
