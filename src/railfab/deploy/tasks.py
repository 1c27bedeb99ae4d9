"""Nornir tasks. Each opens the platform's own session with its host, does one thing and says what changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from nornir.core.task import Result, Task

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused, DeviceError, NotRolledBack, RailfabError, Unreachable
from railfab.platforms import Session, platform

CONFIRM_WITHIN_S = 120
"""A switch that loses us for so long returns to what it ran before, where its platform can."""
COME_BACK_WITHIN_S, COME_BACK_EVERY_S = 20.0, 1.0
"""How long, and how often, a switch that was lost during a change is asked to return to what it ran before."""

Keep = Callable[[str, str], None]
"""Given a switch and what it runs, just before that is replaced."""


def open_session(task: Task) -> Session:
    """The session of a task's host."""
    endpoint: Endpoint = task.host["endpoint"]
    return platform(endpoint.platform).session(endpoint, read_credentials(endpoint))


def preview(task: Task, configurations: Mapping[str, str]) -> Result:
    """What `reconcile` would change."""
    with open_session(task) as session:
        diff = session.diff(configurations[task.host.name])
    return Result(host=task.host, changed=bool(diff), diff=diff)


def reconcile(
    task: Task,
    configurations: Mapping[str, str],
    confirm_within_s: int = CONFIRM_WITHIN_S,
    approved: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    stop_requested: threading.Event | None = None,
) -> Result:
    """Bring one switch to its configuration: diff, commit, read back, confirm; roll back when it did not take.

    approved: the differences that somebody has looked at, by switch; a switch that would change otherwise is left
    alone.
    stop_requested: once it is set, no change is begun any more.
    Raises DeviceError; the switch is as it was before, unless it is NotRolledBack.
    """
    name, text = task.host.name, configurations[task.host.name]
    with open_session(task) as session:
        diff = session.diff(text)
        if diff and approved is not None and diff != approved.get(name):
            raise DeviceError(name, "has changed since its differences were shown", "Look at them again, then deploy")
        if diff:
            if stop_requested is not None and stop_requested.is_set():
                raise DeviceError(name, "was left as it is, since you asked to stop", "Deploy again for the rest")
            if keep is not None:
                keep(name, session.load())
            commit(session, name, text, confirm_within_s)
    return Result(host=task.host, changed=bool(diff), diff=diff)


def commit(session: Session, name: str, text: str, confirm_within_s: int) -> None:
    """Commit, read back, confirm. Raises DeviceError as `reconcile` does."""
    try:
        session.commit(text, confirm_within_s=confirm_within_s)
        left = session.diff(text)
        if left:
            first = left.splitlines()[-1].strip()
            raise CommitRefused(name, f"did not take all of it ({first}) and was rolled back", "Compare the platforms")
    except RailfabError as error:
        _roll_back(session, name, error)
        raise
    session.confirm()


def _roll_back(session: Session, name: str, why: RailfabError) -> None:
    """Back to what ran before; a switch that is out of reach is asked again until COME_BACK_WITHIN_S have passed."""
    deadline = time.monotonic() + COME_BACK_WITHIN_S
    while True:
        try:
            return session.rollback()
        except RailfabError as error:
            if not isinstance(error, Unreachable) or time.monotonic() >= deadline:
                problem = f"{why.problem}, and could not be rolled back ({error.problem})"
                raise NotRolledBack(name, problem, "Look at what it runs, then deploy again or roll back") from error
            time.sleep(COME_BACK_EVERY_S)


def read_running(task: Task) -> Result:
    """The running configuration, as text."""
    with open_session(task) as session:
        return Result(host=task.host, result=session.load())


def inspect(task: Task) -> Result:
    """The running configuration and the live state, in one session: (text, Observed)."""
    with open_session(task) as session:
        return Result(host=task.host, result=(session.load(), session.observe()))
