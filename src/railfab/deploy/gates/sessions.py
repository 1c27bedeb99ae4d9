"""Sessions that stay open from the reading before a wave to that after it, since a login costs as much as a reading."""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress

from nornir.core.task import Result, Task

from railfab.deploy.tasks import open_session
from railfab.device import Observed
from railfab.errors import RailfabError
from railfab.platforms import Session

MOST_KEPT = 128
"""Sessions that are kept at a time, beside those of the deploy; each has an open file, and over SSH a thread."""


class GateSessions:
    """The open sessions of a gate, by switch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: dict[str, tuple[Session, ExitStack]] = {}

    def observe(self, task: Task) -> Result:
        """Nornir task: the live state, Observed, by the session that was kept, else by a new one; it is closed then."""
        return self._result(task, keep=False)

    def observe_and_keep(self, task: Task) -> Result:
        """Nornir task: the same; the session stays open for the next reading."""
        return self._result(task, keep=True)

    def _result(self, task: Task, *, keep: bool) -> Result:
        """The live state; a session that was lost since it was kept is opened again."""
        with self._lock:
            kept = self._opened.pop(task.host.name, None)
        if kept is not None:
            with suppress(RailfabError, OSError):
                return Result(host=task.host, result=self._read(task.host.name, *kept, keep=keep))
        opened = ExitStack()
        session = opened.enter_context(open_session(task))
        return Result(host=task.host, result=self._read(task.host.name, session, opened, keep=keep))

    def _read(self, name: str, session: Session, opened: ExitStack, *, keep: bool) -> Observed:
        """The live state; the session is kept or closed."""
        with ExitStack() as closed:
            closed.callback(opened.close)
            observed = session.observe()
            with self._lock:
                if keep and len(self._opened) < MOST_KEPT:
                    self._opened[name] = session, opened
                    closed.pop_all()
        return observed

    def close(self) -> None:
        """Close the sessions that are left."""
        with self._lock:
            opened, self._opened = self._opened, {}
        for _, stack in opened.values():
            with suppress(RailfabError, OSError):
                stack.close()
